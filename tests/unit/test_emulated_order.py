"""Parity tests on an emulated GPU whose threads run in any order: all but those of test_emulated_parity.py, where they
run in order. That no order matters is shown with every access seen, not by trying two: tools/gpu_traffic.py.

Networks need torch, which .ci/run has in another environment.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from testbed import emulated


@pytest.mark.slow
def test_emulated_order(tmp_path: Path, full: bool) -> None:
    if not shutil.which(os.environ.get("CXX", "g++")):
        pytest.skip("no C++ compiler: the CUDA kernels cannot be emulated")
    only = ["-k", f"not torch and not ({emulated.IN_ORDER})", *(["--full"] if full else [])]
    assert emulated.pytest_with(emulated.build(), tmp_path, ["parity"], *only, GG_EMULATOR_SEED="5") == []
