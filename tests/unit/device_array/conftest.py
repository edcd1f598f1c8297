"""Fixtures of the tests of device arrays."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import granular_gym as gg

# pytest's importlib mode puts no test folder on the path
sys.path.insert(0, str(Path(__file__).parent))

from device_helpers import CUDA, build


@pytest.fixture
def gpu(scene: gg.Scene) -> Iterator[gg.World]:
    """A world of three envs on a GPU, a few steps old."""
    if not CUDA["available"]:
        pytest.skip(f"no cuda: {CUDA['reason']}")
    with build(scene) as world:
        world.step(1e-3, 5)
        yield world
