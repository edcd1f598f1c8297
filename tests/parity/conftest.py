"""Parity tests need a GPU, or a build whose CUDA kernels run on the CPU (GG_CUDA=emulate)."""

from __future__ import annotations

import pytest

import granular_gym as gg


@pytest.fixture(autouse=True)
def gpu() -> None:
    """Skips tests, with a reason, where CUDA cannot be used."""
    cuda = gg.info()["devices"]["cuda"]
    if not cuda["available"]:
        pytest.skip(f"no cuda: {cuda['reason']}")
