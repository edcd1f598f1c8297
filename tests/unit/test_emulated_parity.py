"""The long parity tests on an emulated GPU, with the threads of a block in order; the others run in any order
(test_emulated_order.py).

Networks need torch, which .ci/run has in another environment.
"""

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
    only = "not torch and (golden or run_to_run or episode)"
    assert emulated.pytest_with(emulated.build(), tmp_path, ["parity"], "-k", only, GG_EMULATOR_SEED="0") == []
