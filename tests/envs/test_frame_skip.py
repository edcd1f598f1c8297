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


def test_pictures_per_second_are_real_time() -> None:
    for skip, wanted in ((1, 20), (5, 4)):
        one = gym.make("granular_gym/Silo-v1", frame_skip=skip, **FEW)
        many = gym.make_vec("granular_gym/Silo-v1", num_envs=2, frame_skip=skip, **FEW)
        assert one.metadata["render_fps"] == many.metadata["render_fps"] == wanted
        one.close()
        many.close()


def test_counters_are_of_all_control_periods() -> None:
    """A grain that is thrown at the wall in the first of them is told of, too."""
    told = []
    for skip in (1, 5):
        envs = gym.make_vec("granular_gym/Level-v1", num_envs=1, frame_skip=skip, observation="state", **FEW)
        envs.reset(seed=1)
        world = envs.unwrapped.task.world
        velocities = world.velocities
        velocities[0, world.positions[0, :, 2].argmax()] = (25.0, 0.0, 0.0)
        world.set_grains(velocities=velocities)
        still = np.zeros(envs.action_space.shape, np.float32)
        infos = [envs.step(still)[4] for _ in range(5 // skip)]
        told.append([sum(each["fast_count"][0] for each in infos), max(each["overlap_max"][0] for each in infos)])
        envs.close()
    assert told[0] == told[1] and told[0][0] > 0


@pytest.mark.parametrize("mode", ["NextStep", "SameStep"])
def test_what_a_step_earns_does_not_depend_on_envs_that_are_reset_in_it(mode: str) -> None:
    """An env of a batch whose other env begins an episode earns what it earns alone."""
    arguments: dict[str, Any] = {"grain_count": 60, "num_threads": 1, "observation": "state", "frame_skip": 3}
    task = "granular_gym/Silo-v1"
    pair = gym.make_vec(task, num_envs=2, autoreset_mode=mode, max_episode_steps=7, **arguments)
    alone = gym.make_vec(task, num_envs=1, autoreset_mode="Disabled", max_episode_steps=7, **arguments)
    draw = np.random.default_rng(0)
    actions = draw.uniform(-1.0, 1.0, (12, *pair.action_space.shape)).astype(np.float32)
    pair.reset(seed=[5, 6])
    for action in actions[:4]:
        pair.step(action)
    # from here on the envs end their episodes in different steps
    pair.reset(seed=[5, None], options={"reset_mask": np.array([True, False])})
    alone.reset(seed=[5])
    ends = 0
    for action in actions[4:11]:
        _, earned, _, truncated, _ = pair.step(action)
        _, wanted, _, over, _ = alone.step(action[:1])
        assert earned[0] == wanted[0] and truncated[0] == over[0]
        ends += int(truncated[1])
    assert ends == 1 and over[0]
    pair.close()
    alone.close()


def test_an_env_that_the_caller_registered_takes_a_frame_skip() -> None:
    arguments = {"grain_count": 60, "num_threads": 1, "observation": "state", "frame_skip": 2}
    name = "OwnSilo-v0"
    gym.register(name, "granular_gym.envs.silo:SiloV1Env", kwargs=arguments, max_episode_steps=3)
    try:
        env = gym.make(name)
        env.reset(seed=0)
        over = [env.step(np.zeros(env.action_space.shape or (), np.float32))[3] for _ in range(3)]
        assert over == [False, False, True]
        env.close()
    finally:
        del gym.registry[name]
