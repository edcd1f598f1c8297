"""frame_skip: an env step of several control periods is that many steps, seen once."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from env_helpers import small

from granular_gym.errors import ArgumentError
from granular_gym.tasks.registry import entry_of, newest_ids

FEW = {"grain_count": 200, "num_threads": 1}


@pytest.mark.parametrize("task", newest_ids())
def test_three_control_periods_in_a_step_are_three_steps(task: str) -> None:
    one, three = (gym.make_vec(task, num_envs=2, frame_skip=skip, **small(task)) for skip in (1, 3))
    one.reset(seed=3)
    three.reset(seed=3)
    draw = np.random.default_rng(0)
    for _ in range(3):
        action = draw.uniform(-1.0, 1.0, one.action_space.shape).astype(np.float32)
        total = np.zeros(2)
        for _ in range(3):
            seen, reward, _, _, _ = one.step(action)
            total += reward
        seen_once, reward, terminated, truncated, _ = three.step(action)
        assert np.allclose(reward, total, rtol=1e-12, atol=1e-12) and not (terminated | truncated).any()
        assert all(np.array_equal(seen[name], seen_once[name]) for name in seen)
    one.close()
    three.close()


@pytest.mark.parametrize("skip", [1, 7])
def test_an_episode_lasts_as_long_whatever_the_frame_skip(skip: int) -> None:
    task = "granular_gym/GearTower-v1"
    limit = entry_of(task).steps
    expected = -(-limit // skip)
    one = gym.make(task, frame_skip=skip, **FEW)
    many = gym.make_vec(task, num_envs=2, frame_skip=skip, **FEW)
    one.reset(seed=0)
    many.reset(seed=0)
    still: Any = np.zeros(one.action_space.shape, np.float32)
    for step in range(1, expected + 1):
        over = one.step(still)[3], bool(many.step(np.stack([still, still]))[3].all())
        assert over == ((step == expected),) * 2
    one.close()
    many.close()


@pytest.mark.parametrize("arguments, message", [
    ({"frame_skip": 0}, "frame_skip"),
    ({"frame_skip": 1.5}, "frame_skip"),
    ({"observation": "sound"}, "observation"),
])  # fmt: skip
def test_arguments_that_make_no_sense_are_named(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(ArgumentError, match=message):
        gym.make("granular_gym/Bulldozer-v1", **arguments)
