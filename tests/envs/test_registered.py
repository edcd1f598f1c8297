"""Every registered task through the checkers of Gymnasium and Stable-Baselines3, and through copies of itself."""

from __future__ import annotations

import copy
import multiprocessing
import pickle
import warnings
from collections.abc import Iterator
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from env_helpers import NEWEST, TASK_IDS, follow, play_in_child, same, small
from gymnasium.utils.env_checker import check_env

DEPTHS = ("float32", "uint8")


def test_there_are_tasks() -> None:
    assert {"granular_gym/Bulldozer-v0", "granular_gym/Bulldozer-v1"} <= set(TASK_IDS)


@pytest.mark.parametrize("depth", DEPTHS)
@pytest.mark.parametrize("name", NEWEST)
def test_gymnasium_checker_finds_nothing(name: str, depth: str) -> None:
    env = gym.make(name, depth=depth, **small(name))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", ".*is out of date", DeprecationWarning)  # of an older version
        # pictures do not depend on how observations are encoded
        check_env(env.unwrapped, skip_render_check=depth != DEPTHS[0])
    env.close()


@pytest.mark.parametrize("depth", DEPTHS)
@pytest.mark.parametrize("name", TASK_IDS)
def test_sb3_checker_finds_nothing(name: str, depth: str) -> None:
    checker = pytest.importorskip("stable_baselines3.common.env_checker", reason="Stable-Baselines3 is not installed")
    env = gym.make(name, depth=depth, **small(name))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        checker.check_env(env.unwrapped)
    env.close()
    messages = [str(warning.message) for warning in caught]
    if depth == "float32":
        # SB3 supports images of bytes and vectors; of a matrix of metres it warns that it will be flattened
        messages = [message for message in messages if "unconventional shape" not in message]
    assert messages == []


@pytest.mark.parametrize("name", NEWEST)
def test_two_envs_agree_for_fifty_steps(name: str) -> None:
    envs = [gym.make(name, **small(name)) for _ in range(2)]
    for env in envs:
        env.action_space.seed(5)
    assert same(*[env.reset(seed=11) for env in envs])
    for _ in range(50):
        actions = [env.action_space.sample() for env in envs]
        assert same(*[env.step(action) for env, action in zip(envs, actions, strict=True)])
    for env in envs:
        env.close()


@pytest.mark.parametrize("name", NEWEST)
@pytest.mark.parametrize("clone", [copy.deepcopy, lambda env: pickle.loads(pickle.dumps(env))], ids=["copy", "pickle"])
def test_copies_carry_on_from_where_the_original_is(name: str, clone: Any) -> None:
    """Before a reset, after it and after steps; each copy is what the next one is made of."""
    env = gym.make(name, **small(name))
    for steps in (None, 0, 7):
        if steps is not None:
            env.reset(seed=4)
            follow(env, steps)
        twin = clone(env)
        if steps is None:
            assert same(env.reset(seed=4), twin.reset(seed=4))
        assert same(follow(env, 5), follow(twin, 5))
        # the generators are copied, too: the next episodes agree without a seed
        assert same(env.reset(), twin.reset())
        env.close()
        assert same(follow(twin, 1)[0][0].keys(), follow(twin, 1)[0][0].keys())
        env = twin
    env.close()


@pytest.fixture(scope="module")
def played() -> Iterator[list[Any]]:
    """Three steps of each task in this process, whose envs stay open."""
    envs = [gym.make(name, **small(name)) for name in TASK_IDS]
    for env in envs:
        env.reset(seed=9)
    yield [follow(env, 3) for env in envs]
    for env in envs:
        env.close()


@pytest.mark.parametrize("method", ["spawn", "fork"])
def test_another_process_sees_the_same(method: str, played: list[Any]) -> None:
    context = multiprocessing.get_context(method)
    ours, theirs = context.Pipe()
    child = context.Process(target=play_in_child, args=(theirs,))
    child.start()
    for name, expected in zip(TASK_IDS, played, strict=True):
        assert ours.poll(60), f"{name}: the child process did not answer"
        assert same(expected, ours.recv()), name
    child.join(60)
    assert child.exitcode == 0


@pytest.mark.parametrize("name", NEWEST)
def test_worker_processes_of_gymnasium(name: str) -> None:
    envs = gym.vector.AsyncVectorEnv([lambda: gym.make(name, **small(name))] * 2)
    single = gym.make(name, **small(name))
    observations, _ = envs.reset(seed=21)
    alone, _ = single.reset(seed=22)
    assert all(same(observations[key][1], alone[key]) for key in alone)
    envs.close()
    single.close()


@pytest.mark.parametrize("name", NEWEST)
def test_pictures(name: str) -> None:
    env = gym.make(name, render_mode="rgb_array", **small(name))
    env.reset(seed=0)
    frame = env.render()
    assert frame.dtype == np.uint8 and frame.ndim == 3 and frame.shape[2] == 3
    assert len(np.unique(frame)) > 20, "an empty picture"
    env.close()
    env = gym.make(name, render_mode="depth_array", **small(name))
    env.reset(seed=0)
    depth = env.render()
    assert depth.dtype == np.float32 and depth.ndim == 2 and np.isfinite(depth).all() and depth.min() < depth.max()
    env.close()
