"""The extension exports one symbol, and importing it starts nothing."""

from __future__ import annotations

import shutil
import subprocess
import sys

import pytest

from granular_gym import _core


def test_only_the_init_function_is_exported():
    if not shutil.which("nm"):
        pytest.skip("nm is not installed")
    listing = subprocess.run(["nm", "-D", "--defined-only", _core.__file__], check=True, capture_output=True, text=True)
    names = {line.split()[-1] for line in listing.stdout.splitlines()}
    # a sanitizer or profiler adds symbols
    ours = {name for name in names if not name.startswith(("_init", "_fini", "__"))}
    assert ours == {"PyInit__core"}


def test_import_starts_no_thread_and_registers_the_tasks():
    code = (
        "import os, granular_gym, gymnasium; assert len(os.listdir('/proc/self/task')) == int(os.environ['EXPECTED']); "
        "assert 'granular_gym/Bulldozer-v1' in gymnasium.registry; print('fine')"
    )
    # NumPy's linear algebra may start threads: request one
    environment = {"EXPECTED": "1", "OPENBLAS_NUM_THREADS": "1", "PATH": "/usr/bin:/bin"}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True)
    assert done.stdout == "fine\n", done.stderr
