"""Worlds on a GPU, real or emulated, and the memory of an emulated one."""

from __future__ import annotations

import contextlib
import ctypes
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import granular_gym as gg
from granular_gym import _core
from granular_gym.engine.device import cuda_devices

CUDA = gg.info()["devices"]["cuda"]
EMULATED = CUDA["available"] and CUDA["gpus"][0]["name"] == "CPU emulating CUDA"
needs_gpu = pytest.mark.skipif(not CUDA["available"], reason=f"no cuda: {CUDA['reason']}")
# the memory of an emulated GPU can be read and counted by a test
needs_emulator = pytest.mark.skipif(not EMULATED, reason="a build with GG_CUDA=emulate is needed")
NAMES = (
    "positions",
    "velocities",
    "angular_velocities",
    "radii",
    "grain_materials",
    "tool_poses",
    "wrenches",
    "wall_wrenches",
)


@contextlib.contextmanager
def emulated_memory(address: int, count: int) -> Iterator[np.ndarray]:
    """`count` floats in the memory of an emulated GPU, which is out of the host's reach otherwise."""
    library = ctypes.CDLL(_core.__file__)
    library.gg_emulator_use_memory(1)
    try:
        yield np.ctypeslib.as_array((ctypes.c_float * count).from_address(address))
    finally:
        library.gg_emulator_use_memory(-1)


def build(scene: gg.Scene, device: str = "cuda", **kwargs: Any) -> gg.World:
    return scene.build(env_count=3, device=device, num_threads=1, **kwargs)


def free_memory() -> int:
    return int(cuda_devices()[0]["memory_free"])
