"""All parity tests on an emulated GPU, with the threads of a block in order. The slowest file of the suite.

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
    assert emulated.pytest_with(emulated.build(), tmp_path, ["parity"], "-k", "not torch", GG_EMULATOR_SEED="0") == []
