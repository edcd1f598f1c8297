"""env_helpers.py: what the tests of tasks share: the registered tasks, arguments that keep a step cheap, comparison."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np

import granular_gym as gg

TASK_IDS = sorted(name for name in gym.registry if name.startswith(gg.__name__ + "/"))
#: keeps a step cheap
SMALL: dict[str, Any] = {"grain_count": 60, "num_threads": 1}
#: what some tasks need besides: 60 grains are too coarse to fit between gears
ALSO_SMALL: dict[str, dict[str, Any]] = {"granular_gym/GearTower-v0": {"gear_count": 2, "grain_count": 250}}
BULLDOZER = "granular_gym/Bulldozer-v0"


def small(name: str) -> dict[str, Any]:
    """Arguments that keep a step of a task cheap."""
    return {**SMALL, **ALSO_SMALL.get(name, {})}


def same(a: Any, b: Any) -> bool:
    """Equal to the bit, dtypes included, through dicts and sequences."""
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
    """The answers to `steps` random actions."""
    rng = np.random.default_rng(3)
    return [env.step(rng.uniform(-1, 1, env.action_space.shape)) for _ in range(steps)]


def play_in_child(name: str, connection: Any) -> None:
    """Target of a child process: plays three steps and sends the answers."""
    env = gym.make(name, **small(name))
    env.reset(seed=9)
    connection.send(follow(env, 3))
    connection.close()
    env.close()
