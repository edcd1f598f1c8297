"""engine.py: the engine without Python (everything in csrc/ but csrc/py), built for tests of it as build/engine/<name>.

A build is made once and kept until the sources, the flags or the compiler change: tests of several files share it.

python -m testbed.engine [name ...]: makes builds beforehand, by default the sanitized one, which takes the longest.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import platform
import shlex
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
#: as setup.py
SAME_BITS = ["-ffp-contract=off", "-fno-tree-slp-vectorize"]
FLAGS = ["-std=c17", "-D_GNU_SOURCE", *SAME_BITS, "-fno-math-errno", "-pthread"]
WARN = ["-Wall", "-Wextra", "-Werror"]
NATIVE = ["-O3", "-march=native"]
SIMD = {
    "avx512.c": ["-mavx512f", "-mavx512vl", "-mavx512dq", "-mavx512bw"],
    "avx2.c": ["-mavx2"],
}
#: for builds that are run once: a function of a header is compiled once a file, not wherever it is called
NO_INLINE = ["-DGG_NO_INLINE"]
#: checks of addresses are calls, debugging information has lines without variables, and little is optimised: a fifth of
#: the time to build; the lines that are told are the same. Kernels of wide vectors are checked in line, where calls
#: would look at every byte of 64: at the first and the last, as gaps between arrays are wider
SANITIZED = [
    *("-Og", *NO_INLINE, "-g1"),
    *("-fno-omit-frame-pointer", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"),
]
CALLS = {
    "gcc": ["--param=asan-instrumentation-with-call-threshold=0"],
    "clang": ["-mllvm", "-asan-instrumentation-with-call-threshold=0"],
}
STB_PLACES = [os.environ.get("STB_INCLUDE_DIR"), "/usr/include/stb", "/usr/local/include/stb", "/usr/include"]


def compiler() -> list[str]:
    """The C compiler of the C tests."""
    return shlex.split(os.environ.get("CC", "gcc"))


def flags_of(build: str) -> tuple[str, list[str]]:
    """The name and the flags of a build for the C tests: plain or sanitized."""
    name = Path(compiler()[0]).name
    if build == "plain":
        return f"{name}-native", [*WARN, *NATIVE]
    return build, [*WARN, *SANITIZED, *next((flags for kind, flags in CALLS.items() if kind in name), [])]


def sources() -> list[Path]:
    """The files of the engine."""
    return sorted(path for path in (ROOT / "csrc").rglob("*.c") if "py" not in path.relative_to(ROOT / "csrc").parts)


def run(command: list[str], **options: object) -> str:
    """What a command prints; AssertionError with the command and its errors where it fails."""
    done = subprocess.run(command, capture_output=True, text=True, **options)
    assert done.returncode == 0, f"{shlex.join(command)}\n{done.stdout}{done.stderr}"
    return done.stdout


def command_of(compiler: list[str], flags: list[str], source: Path) -> list[str]:
    """The command that compiles one C file, without its folders of headers and its names."""
    simd = SIMD.get(source.name, []) if platform.machine() == "x86_64" else []
    if source.name in SIMD:
        flags = [flag for flag in flags if not any(flag in calls for calls in CALLS.values())]
    return [*compiler, *FLAGS, *flags, *simd]


def compile_one(compiler: list[str], flags: list[str], source: Path, target: Path) -> None:
    """Compiles one C file."""
    stb = [f"-I{place}" for place in STB_PLACES if place and (Path(place) / "stb_image_write.h").is_file()][:1]
    run([*command_of(compiler, flags, source), *stb, f"-I{ROOT / 'csrc'}", "-c", str(source), "-o", str(target)])


def objects(name: str, compiler: list[str], flags: list[str]) -> dict[Path, Path]:
    """The object of each source file, built with these flags on all processors."""
    folder = ROOT / "build" / "engine" / name
    folder.mkdir(parents=True, exist_ok=True)
    targets = {source: folder / f"{k}_{source.stem}.o" for k, source in enumerate(sources())}
    commands = [command_of(compiler, flags, source) for source in targets]
    state = hashlib.sha256(repr([commands, run([*compiler, "--version"])]).encode())
    for path in sorted((ROOT / "csrc").rglob("*.[ch]")):
        state.update(str(path.relative_to(ROOT)).encode() + path.read_bytes())
    made = folder / "made"
    with (folder / "lock").open("w") as lock:
        # one process builds, others wait
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (made.is_file() and made.read_text() == state.hexdigest()):
            made.unlink(missing_ok=True)
            # the longest files first
            order = sorted(targets, key=lambda source: (source.parent.name != "backend", str(source)))
            with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
                list(pool.map(lambda source: compile_one(compiler, flags, source, targets[source]), order))
            made.write_text(state.hexdigest())
    return targets


if __name__ == "__main__":
    for wanted in sys.argv[1:] or ["sanitized"]:
        build, chosen = flags_of(wanted)
        objects(build, compiler(), chosen)
