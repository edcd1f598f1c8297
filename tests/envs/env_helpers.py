"""env_helpers.py: helpers of the tests of tasks: the registered tasks, small arguments, comparison."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np
import pytest

import granular_gym as gg
from granular_gym.tasks.registry import newest_ids, unversioned

TASK_IDS = sorted(name for name in gym.registry if name.startswith(gg.__name__ + "/"))
#: the same as cases: older versions, which share all but observations and rewards with the newest, with --full alone
NEWEST = [pytest.param(name, marks=() if name in newest_ids() else pytest.mark.full) for name in TASK_IDS]
#: arguments for cheap steps
SMALL: dict[str, Any] = {"grain_count": 60, "num_threads": 1}
#: further arguments of some tasks: 60 grains are too large to fit between gears, heap up above the rim of a cup, and
#: are as large as the torso of the Ant
ALSO_SMALL: dict[str, dict[str, Any]] = {
    "granular_gym/GearTower": {"gear_count": 2, "grain_count": 250},
    "granular_gym/Pour": {"grain_count": 200},
    "granular_gym/AntOnSand": {"grain_count": 400},
}
#: tasks of continuous matter: it is stepped implicitly, is no clump, and has no materials "sand" and "steel"
CONTINUOUS = ["granular_gym/Dough-v0"]
#: and those of grains
OF_GRAINS = [name for name in TASK_IDS if name not in CONTINUOUS]
BULLDOZER = "granular_gym/Bulldozer-v1"


def small(name: str) -> dict[str, Any]:
    """Arguments for cheap steps of a task."""
    return {**SMALL, **ALSO_SMALL.get(unversioned(name), {})}


def same(a: Any, b: Any) -> bool:
    """Whether values are equal bit for bit, with equal dtypes, through dicts and sequences."""
    if isinstance(a, dict):
        return isinstance(b, dict) and a.keys() == b.keys() and all(same(a[key], b[key]) for key in a)
    if isinstance(a, (list, tuple)):
        return len(a) == len(b) and all(same(x, y) for x, y in zip(a, b, strict=True))
    if isinstance(a, np.ndarray):
        if a.dtype == object:
            return a.shape == b.shape and all(same(x, y) for x, y in zip(a, b, strict=True))
        return a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()
    return type(a) is type(b) and a == b


def follow(env: Any, steps: int) -> list[Any]:
    """The results of `steps` random actions."""
    rng = np.random.default_rng(3)
    return [env.step(rng.uniform(-1, 1, env.action_space.shape)) for _ in range(steps)]


def play_in_child(connection: Any) -> None:
    """Target of a child process: takes three steps of each task and sends the results."""
    for name in TASK_IDS:
        env = gym.make(name, **small(name))
        env.reset(seed=9)
        connection.send(follow(env, 3))
        env.close()
    connection.close()
