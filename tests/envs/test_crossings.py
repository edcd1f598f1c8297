"""An env step calls C only a few times: actions, the step with its kinematics, its results, infos, what is observed."""

from __future__ import annotations

from typing import Any

import pytest

from benchmarks.crossings import TASKS, step_crossings

#: besides: how a vehicle sees its goal; heights, and sines of what is observed; sines of what is counted; the programme
#: now and ahead, its rate, a second vector; the mixing index; a check and the loads of the arm, three more vectors
MORE = {"Bulldozer-v1": 1, "Level-v0": 2, "Pour-v0": 1, "Silo-v1": 4, "GearTower-v1": 1, "Excavator-v0": 5}


@pytest.mark.parametrize("name", TASKS)
def test_a_step_calls_c_a_few_times(make_vec: Any, name: str) -> None:
    envs = make_vec(f"granular_gym/{name}", 2, grain_count=60, **TASKS[name])
    envs.reset(seed=0)
    calls = step_crossings(envs.unwrapped)
    assert calls.total() <= 6 + MORE[name], dict(calls)
    assert all(calls[f"World.{method}"] == 1 for method in ("step_driven", "read_results"))
