#!/usr/bin/env python3
"""check_types.py: holds the share of the public interface that has a known type, by `pyright --verifytypes`.

The package is laid out as it is installed, since an editable one is hidden from checkers. Without pyright (the extra
`types`), or without torch, whose types are those of learned models, nothing is checked, and the script says so.
"""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
LEAST = 98.0  # [%] of the public symbols have a known type
PACKAGES = {"granular_gym": "granular_gym", "envs": "granular_gym/envs", "scenes": "granular_gym/scenes"}


def main() -> int:
    """Prints the score, and the symbols that lower it if it is too low; returns the exit status."""
    for needed in ("pyright", "torch"):
        if importlib.util.find_spec(needed) is None:
            print(f"{needed} is not installed: the completeness of public types not checked")
            return 0
    with tempfile.TemporaryDirectory() as folder:
        for source, target in PACKAGES.items():
            shutil.copytree(ROOT / source, Path(folder, target), ignore=shutil.ignore_patterns("*.so", "__pycache__"))
        checker = [sys.executable, "-m", "pyright", "--pythonpath", sys.executable]
        done = subprocess.run(
            [*checker, "--verifytypes", "granular_gym", "--ignoreexternal"],
            cwd=folder,
            # pyright asks the first python of the PATH for packages, whatever --pythonpath says
            env={**os.environ, "PYTHONPATH": folder, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"},
            capture_output=True,
            text=True,
        )
    found = re.search(r"Type completeness score: ([\d.]+)%", done.stdout)
    if found is None:
        print(f"pyright did not answer:\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
        return 1
    score = float(found[1])
    if score < LEAST:
        print(done.stdout[done.stdout.find("Symbols used") :])
    print(f"types: {score:g} % of the public interface is known, at least {LEAST:g} % must be")
    return int(score < LEAST)


if __name__ == "__main__":
    sys.exit(main())
