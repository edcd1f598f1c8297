"""Long parity tests on an emulated GPU, with the threads of a block in order; the others: test_emulated_order.py."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from testbed import emulated


@pytest.mark.slow
def test_emulated_parity(tmp_path: Path, full: bool) -> None:
    if not shutil.which(os.environ.get("CXX", "g++")):
        pytest.skip("no C++ compiler: the CUDA kernels cannot be emulated")
    only = ["-k", f"not torch and ({emulated.IN_ORDER})", *(["--full"] if full else [])]
    assert emulated.pytest_with(emulated.build(), tmp_path, ["parity"], *only, GG_EMULATOR_SEED="0") == []
