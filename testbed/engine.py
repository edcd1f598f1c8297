"""engine.py: the engine without Python (everything in csrc/ but csrc/py), for tests of it: the extension's objects, and
builds with other flags and compilers.

A build is made once as build/engine/<name> and kept until the sources, the flags or the compiler change: tests of
several files share it.

python -m testbed.engine NAME ...: makes builds beforehand.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import platform
import shlex
import subprocess
import sys
import sysconfig
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from testbed.emulated import build_as

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
    """The C compiler of the C tests, as of setup.py."""
    return shlex.split(os.environ.get("CC", "gcc"))


def calls() -> list[str]:
    """The flag by which this compiler makes checks of addresses calls."""
    name = Path(compiler()[0]).name
    return next((flags for kind, flags in CALLS.items() if kind in name), [])


#: the compiler and the flags of each build; of the extension, whose objects setup.py makes, those of the programs that
#: are linked with them
SHIPPED = "extension"
BUILDS = {
    SHIPPED: (compiler(), [*WARN, *NATIVE, *NO_INLINE]),
    "sanitized": (compiler(), [*WARN, *SANITIZED, *calls()]),
    # less optimised than the extension: GCC 12 goes other ways there (phases/tools.h)
    "gcc-native": (["gcc"], [*WARN, "-O2", "-march=native", *NO_INLINE]),
    "clang-native": (["clang"], ["-w", *NATIVE, *NO_INLINE]),
    # the operations are those of the source
    "gcc-O0": (["gcc"], ["-w", "-O0", *NO_INLINE]),
    "clang-O0": (["clang"], ["-w", "-O0", *NO_INLINE]),
}


def sources() -> list[Path]:
    """The files of the engine."""
    return sorted(path for path in (ROOT / "csrc").rglob("*.c") if "py" not in path.relative_to(ROOT / "csrc").parts)


def run(command: list[str], **options: object) -> str:
    """What a command prints; AssertionError with the command and its errors where it fails."""
    done = subprocess.run(command, capture_output=True, text=True, **options)
    assert done.returncode == 0, f"{shlex.join(command)}\n{done.stdout}{done.stderr}"
    return done.stdout


def command_of(build: str, source: Path) -> list[str]:
    """The command that compiles one C file, without its folders of headers and its names."""
    command, flags = BUILDS[build]
    simd = SIMD.get(source.name, []) if platform.machine() == "x86_64" else []
    if source.name in SIMD:
        flags = [flag for flag in flags if flag not in calls()]
    return [*command, *FLAGS, *flags, *simd]


def compile_one(build: str, source: Path, target: Path) -> None:
    """Compiles one C file as a build does; for the extension, a program's."""
    stb = [f"-I{place}" for place in STB_PLACES if place and (Path(place) / "stb_image_write.h").is_file()][:1]
    run([*command_of(build, source), *stb, f"-I{ROOT / 'csrc'}", "-c", str(source), "-o", str(target)])


def of_extension() -> dict[Path, Path]:
    """The object of each source file that setup.py made, with CUDA or without; compiles what has changed."""
    build_as("0", ROOT / "build" / "engine" / SHIPPED)
    made = ROOT / "build" / f"temp.{sysconfig.get_platform()}-{sys.implementation.cache_tag}" / "_O3__g0__Werror"
    return {source: made / source.relative_to(ROOT).with_suffix(".o") for source in sources()}


def objects(build: str) -> dict[Path, Path]:
    """The object of each source file, built on all processors."""
    if build == SHIPPED:
        return of_extension()
    folder = ROOT / "build" / "engine" / build
    folder.mkdir(parents=True, exist_ok=True)
    targets = {source: folder / f"{k}_{source.stem}.o" for k, source in enumerate(sources())}
    commands = [command_of(build, source) for source in targets]
    state = hashlib.sha256(repr([commands, run([*BUILDS[build][0], "--version"])]).encode())
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
                list(pool.map(lambda source: compile_one(build, source, targets[source]), order))
            made.write_text(state.hexdigest())
    return targets


if __name__ == "__main__":
    for wanted in sys.argv[1:]:
        objects(wanted)
