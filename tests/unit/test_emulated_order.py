"""Parity tests on an emulated GPU whose threads run in any order: all but the long ones, which run in order
(test_emulated_parity.py)."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from testbed import emulated


@pytest.mark.slow
def test_emulated_order(tmp_path: Path) -> None:
    if not shutil.which(os.environ.get("CXX", "g++")):
        pytest.skip("no C++ compiler: the CUDA kernels cannot be emulated")
    only = "not torch and not golden and not run_to_run and not episode"
    assert emulated.pytest_with(emulated.build(), tmp_path, ["parity"], "-k", only, GG_EMULATOR_SEED="5") == []
