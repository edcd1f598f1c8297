"""Fixtures that make envs with small arguments and close them."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import gymnasium as gym
import pytest

# pytest's importlib mode does not put test folders on the path
sys.path.insert(0, str(Path(__file__).parent))

from env_helpers import BULLDOZER, SMALL


@pytest.fixture
def make() -> Iterator[Callable[..., Any]]:
    """gymnasium.make with small arguments; closes its envs."""
    made = []

    def build(name: str = BULLDOZER, **kwargs: Any) -> gym.Env:
        env = gym.make(name, **{**SMALL, **kwargs})
        made.append(env)
        return env

    yield build
    for env in made:
        env.close()


@pytest.fixture(scope="module")
def shared() -> Iterator[Callable[..., Any]]:
    """As `make`, but a test module gets the same env for the same arguments, and another one as `number` says. For
    tests that begin with a reset and change nothing that outlives one."""
    made: dict[str, gym.Env] = {}

    def build(name: str = BULLDOZER, number: int = 0, **kwargs: Any) -> gym.Env:
        key = repr((name, number, sorted(kwargs.items())))
        if key not in made:
            made[key] = gym.make(name, **{**SMALL, **kwargs})
        return made[key]

    yield build
    for env in made.values():
        env.close()


@pytest.fixture
def make_vec() -> Iterator[Callable[..., Any]]:
    """gymnasium.make_vec with small arguments; closes its envs."""
    made = []

    def build(name: str = BULLDOZER, num_envs: int = 3, **kwargs: Any) -> gym.vector.VectorEnv:
        env = gym.make_vec(name, num_envs=num_envs, **{**SMALL, **kwargs})
        made.append(env)
        return env

    yield build
    for env in made:
        env.close()
