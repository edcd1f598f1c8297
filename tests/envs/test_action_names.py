"""Names, units and keys of actions: one for each dimension of every task, with the figures of the tasks' pages."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import gymnasium as gym
import pytest
from env_helpers import small

from granular_gym.tasks.action_names import KEY_PAIRS, ZERO_KEY, action_axes, action_names
from granular_gym.tasks.registry import newest_ids, short_name, task_ids

PAGES = Path(__file__).parents[2] / "docs" / "tasks"
#: the view's camera moves by these
CAMERA = set("WASDQE")
#: pages that leave the speeds of joints to another's
ALSO = {"granular_gym/ExcavatorForce-v0": "Excavator-v1"}


def _axes(name: str, **arguments: Any) -> tuple:
    if name.startswith(("granular_gym/Ant", "granular_gym/ExcavatorForce")):
        pytest.importorskip("mujoco", reason="mujoco is not installed")
    env = gym.make(name, **{**small(name), **arguments})
    try:
        axes = action_axes(env)
        assert action_names(env) == tuple(axis.label for axis in axes)
        assert len(axes) == env.action_space.shape[0]
    finally:
        env.close()
    return axes


@pytest.mark.parametrize("name", task_ids())
def test_every_action_has_a_name_a_unit_and_keys_of_its_own(name: str) -> None:
    axes = _axes(name)
    assert all(axis.name and axis.full and axis.keys for axis in axes)
    assert len({axis.name for axis in axes}) == len(axes)
    keys = [key for axis in axes for key in axis.keys]
    assert len(set(keys)) == len(keys), "one key moves two actions"
    assert not CAMERA & set(keys) and ZERO_KEY not in keys


@pytest.mark.parametrize("name", newest_ids())
def test_figures_are_those_of_the_page(name: str) -> None:
    pages = "".join((PAGES / f"{page}.md").read_text() for page in (short_name(name), ALSO.get(name)) if page)
    for axis in _axes(name):
        assert axis.full in pages, axis


def test_arguments_that_change_the_actions() -> None:
    assert len(_axes("granular_gym/Silo-v1")) == 2
    assert _axes("granular_gym/Silo-v1", shaker=True)[2].full == "8 mm"
    assert _axes("granular_gym/ExcavatorForce-v0", control="torque")[6].full == "12 N m"
    gears = _axes("granular_gym/GearTower-v1", gear_count=9, grain_count=600)
    assert [axis.keys for axis in gears] == [*KEY_PAIRS, None]
