"""The native batch: autoreset modes, final observations, time limit, seeds, masks, independence of envs."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from env_helpers import same
from gymnasium.error import ClosedEnvironmentError, ResetNeeded

import granular_gym as gg
from granular_gym.tasks.gym_envs import AutoresetMode

MODES = ("NextStep", "SameStep", "Disabled")


def actions_of(rng: np.random.Generator, count: int) -> np.ndarray:
    return rng.uniform(-1.0, 1.0, (count, 2)).astype(np.float32)


def row(observations: dict[str, np.ndarray], env: int) -> dict[str, np.ndarray]:
    return {key: values[env] for key, values in observations.items()}


@pytest.mark.parametrize("mode", MODES)
def test_mode_is_announced(make_vec: Any, mode: str) -> None:
    envs = make_vec(autoreset_mode=mode)
    assert envs.metadata["autoreset_mode"] is AutoresetMode(mode)
    assert envs.num_envs == 3 and envs.spec.id == "granular_gym/Bulldozer-v1"
    observations, infos = envs.reset(seed=0)
    assert envs.observation_space.contains(observations)
    assert infos["goal_share"].shape == (3,) and infos["_goal_share"].all()


def test_next_step_ignores_the_action_that_follows_an_end(make_vec: Any) -> None:
    envs = make_vec(max_episode_steps=4)
    rng = np.random.default_rng(0)
    envs.reset(seed=7)
    for step in range(1, 5):
        last, _, terminated, truncated, _ = envs.step(actions_of(rng, 3))
        assert truncated.all() == (step == 4) and not terminated.any()
    # even NaN is ignored here
    observations, rewards, terminated, truncated, infos = envs.step(np.full((3, 2), np.nan))
    assert not rewards.any() and not terminated.any() and not truncated.any()
    assert not same(last, observations)
    assert infos["contact_count"].tolist() == [0, 0, 0], "a counter of the old episode leaked"
    # the new episode has its full length
    for step in range(1, 5):
        truncated = envs.step(actions_of(rng, 3))[3]
        assert truncated.all() == (step == 4)


def test_same_step_keeps_the_final_observation(make_vec: Any) -> None:
    rng = np.random.default_rng(0)
    plan = [actions_of(rng, 3) for _ in range(6)]
    plain, envs = make_vec(max_episode_steps=4), make_vec(max_episode_steps=4, autoreset_mode="SameStep")
    assert same(plain.reset(seed=7), envs.reset(seed=7))
    for step in range(3):
        assert same(plain.step(plan[step]), envs.step(plan[step]))
    last, rewards, _, truncated, infos = plain.step(plan[3])
    new, new_rewards, _, new_truncated, new_infos = envs.step(plan[3])
    assert truncated.all() and same(rewards, new_rewards) and same(truncated, new_truncated)
    assert new_infos["_final_obs"].all() and new_infos["_final_info"].all()
    for env in range(3):
        assert same(new_infos["final_obs"][env], row(last, env))
    assert same(new_infos["final_info"], infos)
    # the observation is already that of the next episode, which the other mode starts a step later
    started = plain.step(plan[4])
    assert same(started[0], new)
    assert same(started[4]["goal"], new_infos["goal"])
    assert same(plain.step(plan[5])[:4], envs.step(plan[5])[:4])


def test_same_step_mixes_ended_and_running_envs(make_vec: Any) -> None:
    envs = make_vec(max_episode_steps=5, autoreset_mode="SameStep")
    rng = np.random.default_rng(1)
    envs.reset(seed=7)
    for _ in range(2):
        envs.step(actions_of(rng, 3))
    envs.reset(seed=[None, 3, None], options={"reset_mask": np.array([False, True, False])})
    for _ in range(2):
        envs.step(actions_of(rng, 3))
    _, _, _, truncated, infos = envs.step(actions_of(rng, 3))
    assert truncated.tolist() == [True, False, True]
    assert infos["_final_obs"].tolist() == [True, False, True] and infos["final_obs"][1] is None
    assert infos["_goal_share"].all(), "every env has an info, ended or not"


def test_disabled_waits_for_the_user(make_vec: Any) -> None:
    envs = make_vec(max_episode_steps=3, autoreset_mode=AutoresetMode.DISABLED)
    rng = np.random.default_rng(2)
    envs.reset(seed=7)
    envs.step(actions_of(rng, 3))
    mask = np.array([True, False, False])
    before = copy.deepcopy(envs.step(actions_of(rng, 3))[0])
    options = {"reset_mask": mask}
    after, infos = envs.reset(options=options)
    assert options.keys() == {"reset_mask"}, "the user's dict was changed"
    assert infos["_goal_share"].tolist() == mask.tolist()
    assert not same(row(before, 0), row(after, 0))
    assert same(row(before, 1), row(after, 1)) and same(row(before, 2), row(after, 2))
    truncated = envs.step(actions_of(rng, 3))[3]
    assert truncated.tolist() == [False, True, True]
    with pytest.raises(ResetNeeded, match=r"\[1, 2\]"):
        envs.step(actions_of(rng, 3))
    envs.reset(options={"reset_mask": truncated})
    envs.step(actions_of(rng, 3))


@pytest.mark.parametrize("mode", MODES)
def test_mask_leaves_the_neighbours_bits_alone(make_vec: Any, mode: str) -> None:
    disturbed, calm = make_vec(autoreset_mode=mode), make_vec(autoreset_mode=mode)
    rng = np.random.default_rng(3)
    for envs in (disturbed, calm):
        envs.reset(seed=7)
    for step in range(6):
        if step == 3:
            disturbed.reset(seed=99, options={"reset_mask": np.array([False, True, False])})
        actions = actions_of(rng, 3)
        ours, theirs = disturbed.step(actions), calm.step(actions)
        for env in (0, 2):
            assert same(row(ours[0], env), row(theirs[0], env)) and ours[1][env] == theirs[1][env]


@pytest.mark.parametrize(
    "mask, word",
    [
        ([True, False, False], "numpy array of bool"),
        (np.array([1, 0, 0]), "numpy array of bool"),
        (np.array([True, False]), "shape"),
        (np.zeros(3, bool), "at least one True"),
    ],
)
def test_bad_masks_are_refused(make_vec: Any, mask: Any, word: str) -> None:
    envs = make_vec(autoreset_mode="Disabled")
    envs.reset(seed=0)
    with pytest.raises(gg.ArgumentError, match=word):
        envs.reset(options={"reset_mask": mask})


def test_an_env_is_the_same_alone_and_in_a_batch(make: Any, make_vec: Any) -> None:
    envs, env = make_vec(num_envs=5), make()
    batch, batch_infos = envs.reset(seed=40)
    alone, info = env.reset(seed=43)
    rng = np.random.default_rng(4)
    for step in range(25):
        assert same(row(batch, 3), alone), f"step {step}"
        for key, value in info.items():
            assert np.array_equal(batch_infos[key][3], value), key
        actions = actions_of(rng, 5)
        batch, rewards, _, _, batch_infos = envs.step(actions)
        alone, reward, _, _, info = env.step(actions[3])
        assert rewards[3] == reward
    # unseeded episodes follow from the env's own generator
    envs.reset(options={"reset_mask": np.array([False, False, False, True, False])})
    env.reset()
    actions = actions_of(rng, 5)
    assert same(row(envs.step(actions)[0], 3), env.step(actions[3])[0])


def test_seeds(make_vec: Any) -> None:
    envs = make_vec()
    first = envs.reset(seed=5)
    assert same(first, envs.reset(seed=[5, 6, 7])) and same(first, envs.reset(seed=np.int64(5)))
    assert envs.np_random_seed == (5, 6, 7) and len(envs.np_random) == 3
    assert not same(first[0]["sky"], envs.reset()[0]["sky"]), "without a seed the generators run on"
    assert not same(*(first[0]["pose"][env] for env in (0, 1)))
    envs.reset(seed=2**64)
    for seed, name in ((-1, "seed"), (1.5, "seed"), ("a", "seed"), ([1, 2], "seed"), ([1, -2, 3], r"seed\[1\]")):
        with pytest.raises(gg.ArgumentError, match=name):
            envs.reset(seed=seed)


def test_step_needs_a_reset_and_an_open_env(make_vec: Any) -> None:
    envs = make_vec()
    with pytest.raises(ResetNeeded):
        envs.step(np.zeros((3, 2)))
    envs.reset(seed=0)
    envs.step(np.zeros((3, 2)))
    envs.close()
    envs.close()
    for call in (lambda: envs.step(np.zeros((3, 2))), envs.reset):
        with pytest.raises(ClosedEnvironmentError):
            call()


def test_observations_are_not_reused(make_vec: Any) -> None:
    envs = make_vec()
    observations, _ = envs.reset(seed=0)
    kept = copy.deepcopy(observations)
    for _ in range(5):
        later, rewards, _, _, infos = envs.step(np.ones((3, 2)))
        assert same(observations, kept)
        assert not any(np.shares_memory(later[key], observations[key]) for key in later)
        observations, kept = later, copy.deepcopy(later)
    for array in (*later.values(), rewards, infos["goal"]):
        array.fill(0)  # users may write into returned arrays
    twin = make_vec()
    twin.reset(seed=0)
    for _ in range(5):
        twin.step(np.ones((3, 2)))
    assert same(envs.step(np.ones((3, 2))), twin.step(np.ones((3, 2))))


@pytest.mark.parametrize("clone", [copy.deepcopy, lambda env: pickle.loads(pickle.dumps(env))], ids=["copy", "pickle"])
def test_copies_carry_on(make_vec: Any, clone: Any) -> None:
    envs = make_vec(max_episode_steps=6)
    envs.reset(seed=1)
    rng = np.random.default_rng(5)
    for _ in range(4):
        envs.step(actions_of(rng, 3))
    twin = clone(envs)
    for _ in range(6):
        actions = actions_of(rng, 3)
        assert same(envs.step(actions), twin.step(actions))
    twin.close()


def test_a_diverged_env_is_truncated_alone(make_vec: Any) -> None:
    envs, calm = make_vec(), make_vec()
    for each in (envs, calm):
        each.reset(seed=1)
    world = envs.unwrapped.task.world
    # fast enough to overflow within a step: the engine accepts finite numbers only
    velocities = world.velocities[1:2].copy()
    velocities[0, 0] = 3e38
    world.set_grains(velocities=velocities, envs=[1])
    rng = np.random.default_rng(6)
    actions = actions_of(rng, 3)
    observations, rewards, terminated, truncated, infos = envs.step(actions)
    expected = calm.step(actions)
    assert infos["diverged"].tolist() == [False, True, False] == truncated.tolist() and not terminated.any()
    assert rewards[1] == 0.0 and envs.observation_space.contains(observations)
    for env in (0, 2):
        assert same(row(observations, env), row(expected[0], env)) and rewards[env] == expected[1][env]
    actions = actions_of(rng, 3)
    observations, rewards, _, truncated, infos = envs.step(actions)
    expected = calm.step(actions)
    assert not infos["diverged"].any() and not truncated.any()
    for env in (0, 2):
        assert same(row(observations, env), row(expected[0], env)) and rewards[env] == expected[1][env]
    assert np.isfinite(world.positions).all()


def test_gymnasium_vector_wrappers_fit(make_vec: Any) -> None:
    envs = gym.wrappers.vector.RecordEpisodeStatistics(make_vec(max_episode_steps=3))
    envs.reset(seed=0)
    for _ in range(3):
        infos = envs.step(np.zeros((3, 2)))[4]
    assert infos["episode"]["l"].tolist() == [3, 3, 3]


def test_render_and_call(make_vec: Any) -> None:
    envs = make_vec(num_envs=2, render_mode="rgb_array")
    envs.reset(seed=0)
    frames = envs.call("render")
    assert len(frames) == 2 and frames[0].dtype == np.uint8 and not np.array_equal(*frames)
    assert envs.get_attr("render_mode") == ("rgb_array", "rgb_array")


@pytest.mark.parametrize("render_mode", [None, "rgb_array", "depth_array"])
def test_each_image_is_drawn_once(make_vec: Any, render_mode: str | None) -> None:
    """A step draws the cameras of the observation once, a reset those of its envs, whatever can be rendered."""
    cameras = len(make_vec().task.images)
    envs = make_vec(max_episode_steps=2, autoreset_mode="SameStep", render_mode=render_mode)
    envs.reset(seed=0)
    world = envs.task.world
    counts = [world.info["drawn"]]

    def act(call: Callable[[], Any]) -> int:
        call()
        counts.append(world.info["drawn"])
        return (counts[-1] - counts[-2]) // cameras

    assert counts == [3 * cameras]
    assert act(lambda: envs.step(np.zeros((3, 2)))) == 3
    assert act(lambda: envs.reset(options={"reset_mask": np.array([False, True, False])})) == 1
    # two of three episodes end: their last images and their first ones
    assert act(lambda: envs.step(np.zeros((3, 2)))) == 3 + 2
    assert act(envs.render) == 0
    assert act(lambda: envs.step(np.zeros((3, 2)))) == 3 + 1
    following = make_vec(max_episode_steps=1)
    following.reset(seed=0)
    world = following.task.world
    counts.append(world.info["drawn"])
    assert act(lambda: following.step(np.zeros((3, 2)))) == 3
    assert act(lambda: following.step(np.zeros((3, 2)))) == 3, "all episodes begin"


@pytest.mark.parametrize(
    "kwargs, word",
    [
        ({"num_envs": 0}, "num_envs: expected"),
        ({"num_envs": 2.5}, "num_envs: expected"),
        ({"autoreset_mode": "sometimes"}, "autoreset_mode"),
        ({"max_episode_steps": 0}, "max_episode_steps"),
        ({"render_mode": "human"}, "render_mode"),
        ({"grain_count": 0}, "grain_count"),
        ({"preset": "slow"}, "preset"),
        ({"depth": "uint16"}, "depth"),
        ({"reward": "none"}, "reward"),
        ({"friction_range": (0.5, 0.1)}, "friction_range"),
        ({"num_threads": 0}, "num_threads"),
        ({"device": "abacus"}, "device"),
    ],
)
def test_bad_arguments_name_themselves(kwargs: dict[str, Any], word: str) -> None:
    with pytest.raises(gg.ArgumentError, match=word):
        gym.make_vec("granular_gym/Bulldozer-v1", **{"num_envs": 2, **kwargs})
