"""Observations as vectors, and buffers of the caller."""

from __future__ import annotations

import copy
import importlib.util
import pickle
import warnings
from multiprocessing.shared_memory import SharedMemory
from typing import Any

import numpy as np
import pytest
from env_helpers import follow, same
from gymnasium import spaces
from gymnasium.utils.env_checker import check_env

from granular_gym.errors import ArgumentError

#: a task whose envs are quickly made
LEVEL = "granular_gym/Level-v1"


def buffers(envs: Any, rewards: str = "float64") -> dict[str, Any]:
    """Empty buffers for a batch."""
    space, n = envs.observation_space, envs.num_envs
    empty = lambda part: np.full(part.shape, 7, part.dtype)  # noqa: E731
    shown = {key: empty(part) for key, part in space.items()} if isinstance(space, spaces.Dict) else empty(space)
    flags = {name: np.ones(n, bool) for name in ("terminated", "truncated")}
    return {"observations": shown, "rewards": np.full(n, 7, rewards), **flags}


@pytest.mark.parametrize("kind", [{}, {"depth": "uint8"}, {"observation": "state"}])
def test_vectors_are_those_of_gymnasium(make: Any, make_vec: Any, kind: dict[str, Any]) -> None:
    plain, flat, batch = make(**kind), make(flat=True, **kind), make_vec(flat=True, **kind)
    assert flat.observation_space == spaces.flatten_space(plain.observation_space) == batch.single_observation_space
    expected, (shown, _), (many, _) = plain.reset(seed=5)[0], flat.reset(seed=5), batch.reset(seed=4)
    for _ in range(3):
        assert same(spaces.flatten(plain.observation_space, expected), shown) and same(many[1], shown)
        assert flat.observation_space.contains(shown) and batch.observation_space.contains(many)
        action = np.array([0.4, 0.2])
        expected, shown, many = (plain.step(action)[0], flat.step(action)[0], batch.step(np.tile(action, (3, 1)))[0])


def test_the_checker_finds_nothing(make: Any) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_env(make(flat=True).unwrapped)


@pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="torch is not installed")
def test_vectors_may_be_tensors(make_vec: Any) -> None:
    host, tensors = (make_vec(flat=True, depth="uint8", output=output) for output in ("numpy", "torch"))
    assert same(host.reset(seed=1)[0], tensors.reset(seed=1)[0].numpy())


@pytest.mark.parametrize("rewards", ["float64", "float32"])
@pytest.mark.parametrize("flat", [False, True])
@pytest.mark.parametrize("mode", ["NextStep", "SameStep"])
def test_buffers_hold_what_fresh_arrays_hold(make_vec: Any, mode: str, flat: bool, rewards: str) -> None:
    settings = {"flat": flat, "autoreset_mode": mode, "max_episode_steps": 3}
    plain = make_vec(LEVEL, **settings)
    out = buffers(plain, rewards)
    envs = make_vec(LEVEL, out=out, **settings)
    first, expected = envs.reset(seed=3), plain.reset(seed=3)
    assert same(first, expected)
    for _ in range(5):
        action = np.full(envs.action_space.shape, 0.5)
        answer, expected = envs.step(action), plain.step(action)
        assert same(answer[0], expected[0]) and same(answer[2:], expected[2:])
        assert np.array_equal(answer[1], expected[1].astype(rewards))
        assert answer[1] is out["rewards"] and answer[2] is out["terminated"] and answer[3] is out["truncated"]
        shown = out["observations"]
        held = [answer[0] is shown] if flat else [answer[0][key] is array for key, array in shown.items()]
        assert all(held)


def test_some_buffers_in_shared_memory(make_vec: Any) -> None:
    plain = make_vec(flat=True)
    shape = plain.observation_space.shape
    memory = SharedMemory(create=True, size=4 * int(np.prod(shape)))
    try:
        shared = np.ndarray(shape, np.float32, memory.buf)
        envs = make_vec(flat=True, out={"observations": shared})
        envs.reset(seed=2)
        assert np.array_equal(shared, plain.reset(seed=2)[0])
        first, second = envs.step(np.ones((3, 2))), envs.step(np.ones((3, 2)))
        assert first[0] is second[0] is shared and first[1] is not second[1]
        del first, second, shared
        envs.close()
        del envs
    finally:
        memory.unlink()


@pytest.mark.parametrize(
    "clone", [copy.deepcopy, lambda envs: pickle.loads(pickle.dumps(envs))], ids=["copy", "pickle"]
)
def test_copies_have_buffers_of_their_own(make_vec: Any, clone: Any) -> None:
    out = buffers(make_vec(flat=True))
    envs = make_vec(flat=True, out=out)
    envs.reset(seed=1)
    twin, before = clone(envs), out["observations"].copy()
    other = follow(twin, 1)[0][0]
    assert other is not out["observations"] and np.array_equal(out["observations"], before)
    assert same(follow(envs, 1)[0][0], other)
    twin.close()


def test_refusals(make: Any, make_vec: Any) -> None:
    with pytest.raises(ArgumentError, match=r"^flat: expected"):
        make(flat="yes")
    with pytest.raises(ArgumentError, match=r"^flat: expected"):
        make_vec(flat=2)
    good = buffers(make_vec())
    wrong = {
        r"out: expected a dict": [],
        r"out: expected .*, got 'reward'": {"reward": good["rewards"]},
        r"out\['rewards'\]: expected .* float64 or float32 \(3,\), got int64": {"rewards": np.zeros(3, int)},
        r"out\['terminated'\]: expected .*, got list": {"terminated": [False] * 3},
        r"out\['rewards'\]: .*not contiguous": {"rewards": np.zeros(6)[::2]},
        r"out\['observations'\]: expected the entries": {"observations": {"sky": good["observations"]["sky"]}},
        r"out\['observations'\]: expected a dict": {"observations": good["rewards"]},
        r"out\['observations'\]\['sky'\]: expected": {
            "observations": {**good["observations"], "sky": np.zeros((3, 36, 72))}
        },
    }
    for message, out in wrong.items():
        with pytest.raises(ArgumentError, match="^" + message):
            make_vec(out=out)
    fixed = np.zeros(3)
    fixed.flags.writeable = False
    with pytest.raises(ArgumentError, match="not writeable"):
        make_vec(out={"rewards": fixed})
    with pytest.raises(ArgumentError, match=r"^out\['observations'\]: expected .* \(3, \d+\)"):
        make_vec(flat=True, out=good)
    if importlib.util.find_spec("torch"):
        with pytest.raises(ArgumentError, match=r"^out: expected None with output='torch'"):
            make_vec(output="torch", out=good)


def test_who_reads_by_name_refuses_vectors(make: Any) -> None:
    from granular_gym.training.pretrained import load_pretrained

    env = make(flat=True, observation="state")
    with pytest.raises(ArgumentError, match=r"^flat: expected False, as this policy reads observations by name"):
        load_pretrained("bulldozer-sac").policy(env)
