"""An env step calls C only a few times: actions, the step with its kinematics, its results, what is observed."""

from __future__ import annotations

from typing import Any

import pytest

from benchmarks.crossings import TASKS, step_crossings

#: besides: how a vehicle sees its goal; heights, and sines of what is observed; sines of what is counted; a second
#: vector; the mixing index; the Jacobian of the arm
MORE = {"Bulldozer-v1": 1, "Level-v0": 2, "Pour-v0": 1, "Silo-v1": 1, "GearTower-v1": 1, "Excavator-v0": 1}


@pytest.mark.parametrize("name", TASKS)
def test_a_step_calls_c_a_few_times(make_vec: Any, name: str) -> None:
    envs = make_vec(f"granular_gym/{name}", 2, grain_count=60, **TASKS[name])
    envs.reset(seed=0)
    calls = step_crossings(envs.unwrapped)
    assert calls.total() <= 5 + MORE[name], dict(calls)
    assert all(calls[f"World.{method}"] == 1 for method in ("step_driven", "read_results"))
