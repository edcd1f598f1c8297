"""Tasks under PufferLib's emulation, which copies observations into flat buffers; where it is installed."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from env_helpers import BULLDOZER, SMALL

emulation = pytest.importorskip("pufferlib.emulation", reason="PufferLib is not installed")
vector = pytest.importorskip("pufferlib.vector", reason="PufferLib is not installed")

ACTION = np.array([0.5, -0.3], np.float32)
KINDS: list[dict[str, Any]] = [{}, {"depth": "uint8"}, {"flat": True}, {"observation": "state", "flat": True}]


def creator(**kwargs: Any) -> Any:
    """What PufferLib calls to make an env; it gives arguments of its own to some, which are left alone."""
    return emulation.GymnasiumPufferEnv(
        env_creator=lambda: gym.make(BULLDOZER, **SMALL, **kwargs["own"]),
        buf=kwargs.get("buf"),
        seed=kwargs.get("seed", 0),
    )


def same_numbers(env: Any, shown: Any, expected: Any) -> bool:
    """Whether a row of a buffer holds an observation: one array, or, as bytes, all of a Dict."""
    if not isinstance(expected, dict):
        return np.array_equal(np.ravel(shown), expected)
    fields = np.ascontiguousarray(np.ravel(shown)).view(env.obs_dtype)[0]
    return all(np.array_equal(fields[key], values) for key, values in expected.items())


@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_one_env(kind: dict[str, Any]) -> None:
    env, plain = creator(own=kind, buf=None), gym.make(BULLDOZER, **SMALL, **kind)
    shown, expected = env.reset(seed=3)[0], plain.reset(seed=3)[0]
    assert same_numbers(env, shown, expected)
    for _ in range(3):
        answer, wanted = env.step(ACTION), plain.step(ACTION)
        assert same_numbers(env, answer[0], wanted[0]) and answer[1:4] == wanted[1:4]
        assert answer[0] is env.observations and env.rewards[0] == np.float32(wanted[1])
    env.close()
    plain.close()


def test_two_envs_in_one_buffer() -> None:
    kinds = {"own": {"flat": True, "observation": "state"}}
    envs = vector.make(creator, env_kwargs=kinds, backend=vector.Serial, num_envs=2, seed=5)
    shown = np.array(envs.reset(seed=5)[0])
    plain = [gym.make(BULLDOZER, **SMALL, **kinds["own"]) for _ in range(2)]
    assert all(
        np.array_equal(row, env.reset(seed=5 + k)[0]) for k, (row, env) in enumerate(zip(shown, plain, strict=True))
    )
    answer = envs.step(np.stack([ACTION, -ACTION]))
    for k, env in enumerate(plain):
        wanted = env.step(ACTION if k == 0 else -ACTION)
        assert np.array_equal(answer[0][k], wanted[0]) and answer[1][k] == np.float32(wanted[1])
        env.close()
    envs.close()
