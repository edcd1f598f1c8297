"""Types as a user sees them: a strict checker reads typed_user.py."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
USER = ROOT / "tests" / "unit" / "typed_user.py"


@pytest.mark.slow
@pytest.mark.skipif(importlib.util.find_spec("mypy") is None, reason="mypy is not installed")
def test_public_types_are_exact() -> None:
    # no configuration, as in a project of one's own; errors inside the package are not the user's
    command = [sys.executable, "-m", "mypy", "--strict", "--config-file=", "--follow-imports=silent", str(USER)]
    done = subprocess.run([*command, "--cache-dir", os.devnull], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_package_says_that_it_is_typed() -> None:
    assert (ROOT / "granular_gym" / "py.typed").exists()
    assert '"py.typed"' in (ROOT / "setup.py").read_text()
