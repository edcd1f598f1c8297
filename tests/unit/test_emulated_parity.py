"""Long parity tests on an emulated GPU, with the threads of a block in order; the others: test_emulated_order.py."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from testbed import emulated


@pytest.mark.slow
def test_emulated_parity(tmp_path: Path) -> None:
    if not shutil.which(os.environ.get("CXX", "g++")):
        pytest.skip("no C++ compiler: the CUDA kernels cannot be emulated")
    only = f"not torch and ({emulated.IN_ORDER})"
    assert emulated.pytest_with(emulated.build(), tmp_path, ["parity"], "-k", only, GG_EMULATOR_SEED="0") == []
