"""Parity tests need a GPU, or a build whose CUDA kernels run on the CPU (GG_CUDA=emulate)."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

import granular_gym as gg

# pytest's importlib mode puts no test folder on the path
sys.path.insert(0, str(Path(__file__).parents[1]))


@pytest.fixture(autouse=True)
def gpu() -> None:
    """Skips aloud where CUDA cannot be used."""
    cuda = gg.info()["devices"]["cuda"]
    if not cuda["available"]:
        pytest.skip(f"no cuda: {cuda['reason']}")
