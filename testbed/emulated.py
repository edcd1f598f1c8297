"""emulated.py: the package whose CUDA kernels run on the CPU (GG_CUDA=emulate), in build/emulated; tests with it."""

from __future__ import annotations

import fcntl
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
#: tests of parity that run with threads in order: long episodes, and what is compared with stored or earlier runs
IN_ORDER = "golden or run_to_run or episode"
PLACE = ROOT / "build" / "emulated"


def build_as(kind: str, place: Path) -> Path:
    """Builds the package with GG_CUDA=kind where it is not up to date; the folder to put on the path. Its C files are
    those of `make build`."""
    place.mkdir(parents=True, exist_ok=True)
    command = [sys.executable, "setup.py", "--quiet", "build", "--build-lib", str(place / "lib")]
    settings = {**os.environ, "GG_CUDA": kind, "GG_WERROR": "1"}
    with (place / "lock").open("w") as lock:
        # one process builds, others wait
        fcntl.flock(lock, fcntl.LOCK_EX)
        done = subprocess.run(command, cwd=ROOT, env=settings, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-4000:]
    return place / "lib"


def build() -> Path:
    """Builds it where it is not up to date; the folder to put on the path."""
    return build_as("emulate", PLACE)


def run(package: Path, arguments: list[str], cwd: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """Python with the emulated package first on its path."""
    settings = {**os.environ, "PYTHONPATH": str(package), **environment}
    return subprocess.run(
        [sys.executable, *arguments], cwd=cwd, env=settings, capture_output=True, text=True, timeout=1800
    )


def pytest_with(package: Path, cwd: Path, paths: list[str], *options: str, **environment: str) -> list[str]:
    """Runs tests with the emulated package, of which none may fail; returns the reasons of skips."""
    places = [str(ROOT / "tests" / path) for path in paths]
    settings = ["-q", "-rs", "-p", "no:cacheprovider", "--rootdir", str(ROOT / "tests")]
    done = run(package, ["-m", "pytest", *places, *settings, *options], cwd, **environment)
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-400:]
    assert " passed" in done.stdout.splitlines()[-1], done.stdout[-400:]
    return [line.split(": ", 1)[1] for line in done.stdout.splitlines() if line.startswith("SKIPPED")]


if __name__ == "__main__":
    print(build())
