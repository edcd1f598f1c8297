"""The stubs agree with the extension module."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


#: the rest of the package is checked by `make typecheck`
SETTINGS = """
[tool.mypy]
python_version = "3.10"
strict = true

[[tool.mypy.overrides]]
module = "granular_gym"
follow_imports = "skip"
"""


@pytest.mark.skipif(importlib.util.find_spec("mypy") is None, reason="mypy is not installed")
def test_stubs_match_the_module(tmp_path: Path) -> None:
    settings = tmp_path / "pyproject.toml"
    settings.write_text(SETTINGS)
    command = [sys.executable, "-m", "mypy.stubtest", "--mypy-config-file", str(settings), "granular_gym._core"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
