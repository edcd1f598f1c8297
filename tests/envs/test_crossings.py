"""An env step calls C only a few times: actions, the step with its kinematics, its results, infos, what is observed."""

from __future__ import annotations

from typing import Any

import pytest

from benchmarks.crossings import TASKS, step_crossings

#: besides: how a vehicle sees its goal; heights, their errors, and sines of what is observed; boxes of the cup, and
#: sums of counts; the programme now and ahead, its rate, a second vector, sums of counts; the mixing index; a check,
#: the loads of the arm and their largest share, sums of counts, three more vectors
MORE = {"Bulldozer-v1": 1, "Level-v0": 3, "Pour-v0": 2, "Silo-v1": 5, "GearTower-v1": 1, "Excavator-v0": 7}


@pytest.mark.parametrize("name", TASKS)
def test_a_step_calls_c_a_few_times(make_vec: Any, name: str) -> None:
    envs = make_vec(f"granular_gym/{name}", 2, grain_count=60, **TASKS[name])
    envs.reset(seed=0)
    calls = step_crossings(envs.unwrapped)
    assert calls.total() <= 6 + MORE[name], dict(calls)
    assert all(calls[f"World.{method}"] == 1 for method in ("step_driven", "read_results"))
