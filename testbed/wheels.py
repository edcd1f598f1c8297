"""wheels.py: builds the wheel of the package, and tries wheels in clean environments.

    python -m testbed.wheels [--probe | WHEEL]

installs a wheel for every Python found from the oldest supported on (of pyenv, and python3.X on the path), with the
newest NumPy, and once more with the oldest, steps a task in each and compares the states. NumPy and Gymnasium come from
pip's index; no compiler is on the path. --probe steps the task with the package that is installed here.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
MINORS = range(10, 20)
#: prints facts of the installed package and of a state that it computed
PROBE = """
import json, sys, numpy, gymnasium, granular_gym
env = gymnasium.make("granular_gym/Bulldozer-v1", grain_count=100, num_threads=1)
env.reset(seed=0)
for _ in range(10):
    env.step(numpy.array([0.5, 0.1], numpy.float32))
world = env.unwrapped.task.world
facts = {"python": "%d.%d.%d" % sys.version_info[:3], "numpy": numpy.__version__,
         "extension": granular_gym._core.__file__, "state": "%016x" % world._core.state_hash(0)}
print(json.dumps(facts))
"""


def pythons() -> dict[str, str]:
    """Paths of the Pythons found that can make environments, by "3.X"."""
    found = {}
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    for minor in MINORS:
        places = sorted(pyenv.glob(f"3.{minor}.*/bin/python"))
        place = str(places[-1]) if places else shutil.which(f"python3.{minor}")
        if place and subprocess.run([place, "-c", "import ensurepip, venv"], capture_output=True).returncode == 0:
            found[f"3.{minor}"] = place
    return found


def oldest_numpy() -> str:
    """The requirement of the oldest NumPy that pyproject.toml allows."""
    bound = re.search(r'"numpy>=([\d.]+)", "gymnasium', (ROOT / "pyproject.toml").read_text())
    assert bound, "pyproject.toml: no bound of numpy"
    return f"numpy=={bound[1]}.*"


def run(command: Sequence[object], **options: Any) -> str:
    """What a command prints; RuntimeError with the end of its output where it fails."""
    done = subprocess.run([*map(str, command)], capture_output=True, text=True, **options)
    if done.returncode:
        raise RuntimeError(f"{' '.join(map(str, command))}\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
    output: str = done.stdout
    return output


def build_wheel(folder: Path) -> Path:
    """Builds the wheel, from the objects of `make build` where they are up to date; without CUDA unless GG_CUDA=1."""
    build = ["build", "--build-lib", folder / "lib"]
    command = [sys.executable, "setup.py", "--quiet", *build, "bdist_wheel", "--dist-dir", folder]
    cuda = "1" if os.environ.get("GG_CUDA") == "1" else "0"
    run(command, cwd=ROOT, env={**os.environ, "GG_WERROR": "1", "GG_CUDA": cuda})
    shutil.rmtree(folder / "lib")
    (wheel,) = folder.glob("*.whl")
    return wheel


def bare_environment(folder: Path) -> dict[str, str]:
    """Variables without a compiler, headers or another package on any path."""
    kept = {name: value for name, value in os.environ.items() if name.startswith(("PIP_", "SSL_", "LANG", "HOME"))}
    return {**kept, "PATH": str(folder / "bin"), "GRANULAR_GYM_CACHE": str(folder / "cache"), "CC": "/nonexistent/cc"}


def probe(folder: Path) -> dict[str, str]:
    """What PROBE says in an environment, of the package that is installed in it."""
    facts: dict[str, str] = json.loads(
        run([folder / "bin" / "python", "-c", PROBE], cwd=folder, env=bare_environment(folder)).splitlines()[-1]
    )
    assert Path(facts["extension"]).is_relative_to(folder), facts
    return facts


def try_wheel(python: str, wheel: Path, folder: Path, numpy: str = "numpy") -> dict[str, str]:
    """Installs a wheel in a new environment and steps a task. Raises RuntimeError."""
    run([python, "-m", "venv", folder])
    bare = bare_environment(folder)
    pip = [folder / "bin" / "python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    run([*pip, "--only-binary", ":all:", numpy, "gymnasium>=1.0"], env=bare, cwd=folder)
    run([*pip, "--no-index", wheel.resolve()], env=bare, cwd=folder)
    return probe(folder)


def main(wheel: Path) -> int:
    """Tries a wheel everywhere; 0: it ran with every Python found and made the same state."""
    found = pythons()
    cases = [(name, "numpy") for name in found]
    if found:
        cases.insert(0, (next(iter(found)), oldest_numpy()))
    states = set()
    for name, numpy in cases:
        begin = time.monotonic()
        with tempfile.TemporaryDirectory() as folder:
            facts = try_wheel(found[name], wheel, Path(folder).resolve() / "env", numpy)
        states.add(facts["state"])
        seconds = time.monotonic() - begin
        print(f"Python {facts['python']}, NumPy {facts['numpy']}: state {facts['state']} ({seconds:.0f} s)")
    missing = [f"3.{minor}" for minor in (10, 11, 12, 13) if f"3.{minor}" not in found]
    if missing:
        print(f"not found, so not tried: Python {', '.join(missing)}")
    if len(states) != 1:
        print(f"expected one state, got {len(states)}")
    return int(len(states) != 1)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        raise SystemExit(__doc__)
    if sys.argv[1] == "--probe":
        print(run([sys.executable, "-c", PROBE], cwd=tempfile.gettempdir()))
        raise SystemExit(0)
    raise SystemExit(main(Path(sys.argv[1])))
