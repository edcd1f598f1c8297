"""An env step calls C only a few times: actions, kinematics, the step, its results, what is observed."""

from __future__ import annotations

from typing import Any

import pytest

from benchmarks.crossings import TASKS, step_crossings

KINEMATICS = {"Bulldozer-v0": 1, "Level-v0": 2, "Pour-v0": 1, "Silo-v0": 0, "GearTower-v0": 1, "Excavator-v0": 2}


@pytest.mark.parametrize("name", TASKS)
def test_a_step_calls_c_a_few_times(make_vec: Any, name: str) -> None:
    envs = make_vec(f"granular_gym/{name}", 2, grain_count=60, **TASKS[name])
    envs.reset(seed=0)
    calls = step_crossings(envs.unwrapped)
    assert calls.total() <= 4 + KINEMATICS[name], dict(calls)
    assert all(calls[f"World.{method}"] == 1 for method in ("step", "read_results"))
