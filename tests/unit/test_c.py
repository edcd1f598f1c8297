"""Builds and runs the C tests, with the extension's objects and under AddressSanitizer and UndefinedBehaviorSanitizer.

Each tests/c/test_*.c is one program, linked with the engine (everything in csrc/ but csrc/py). With --full it does more
of what it does (check.h), and is optimised as the extension.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

import granular_gym as gg
from testbed.engine import BUILDS, ROOT, SAME_BITS, SHIPPED, command_of, objects, run

TESTS = sorted((ROOT / "tests" / "c").glob("test_*.c"))
#: these tests replace functions that the engine calls
WRAPPED = {
    "test_memory": ["malloc", "calloc", "realloc", "aligned_alloc", "posix_memalign", "free"],
    "test_thread_faults": ["pthread_create"],
}
#: optimised as the extension in any case: what it says is of that code, or it computes much in its copy of a header
OPTIMISED = {"test_rounding", "test_mesh_sdf"}


@pytest.fixture(scope="session", params=[SHIPPED, "sanitized"])
def engine(request, tmp_path_factory):
    """The name of a build and the archive of its objects."""
    build = request.param
    compiler = BUILDS[build][0][0]
    if not shutil.which(compiler):
        pytest.skip(f"no C compiler {compiler}")
    archive = tmp_path_factory.mktemp(build) / "libgg.a"
    run(["ar", "rcs", str(archive), *map(str, objects(build).values())])
    return build, archive


@pytest.mark.parametrize("test", TESTS, ids=[path.stem for path in TESTS])
def test_c(test: Path, engine, full: bool):
    build, archive = engine
    compiler, flags = BUILDS[build]
    folder = archive.parent
    built, program = folder / f"{test.stem}.o", folder / test.stem
    # the program only calls the engine's objects: optimising it takes longer than it saves
    quick = ["-O1"] if build == SHIPPED and test.stem not in OPTIMISED and not full else []
    run([*command_of(build, test), *quick, f"-I{ROOT / 'csrc'}", "-c", str(test), "-o", str(built)])
    wraps = [f"-Wl,--wrap={name}" for name in WRAPPED.get(test.stem, [])]
    run([*compiler, "-pthread", *flags, *wraps, str(built), str(archive), "-lm", "-o", str(program)])
    environment = {
        **os.environ,
        "ASAN_OPTIONS": "detect_leaks=1",
        "UBSAN_OPTIONS": "print_stacktrace=1",
        "GG_TEST_FULL": str(int(full)),
    }
    done = subprocess.run([str(program)], cwd=folder, env=environment, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_extension_is_built_with_the_same_flags():
    assert set(SAME_BITS) <= set(gg.info()["flags"].split())


@pytest.mark.parametrize(
    "command", [["g++", "-x", "c++"], ["clang++", "-x", "c++"], ["nvcc", "-x", "cu"]], ids=lambda c: c[0]
)
def test_shared_headers_are_in_the_overlap_of_c_and_cpp(command: list[str], tmp_path: Path):
    """The phases compile as C and as CUDA's C++."""
    if not shutil.which(command[0]):
        pytest.skip(f"no compiler {command[0]}")
    source = tmp_path / "phases.cpp"
    headers = '#include "phases/phases.h"\n#include "geometry/arm_guard.h"\n'
    source.write_text(headers + "int main() { return GG_PHASE_COUNT == 0; }\n")
    strict = ["--fmad=false"] if command[0] == "nvcc" else ["-Wall", "-Wextra", "-Werror", "-ffp-contract=off"]
    target = ["-c", str(source), "-o", str(tmp_path / "phases.o")]
    done = subprocess.run(
        [*command, "-std=c++17", *strict, f"-I{ROOT / 'csrc'}", *target], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
