"""Builds and runs the C tests, plain and under AddressSanitizer with UndefinedBehaviorSanitizer.

Each tests/c/test_*.c is one program, linked with the engine (everything in csrc/ but csrc/py).
"""

from __future__ import annotations

import os
import platform
import shlex
import shutil
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
TESTS = sorted((ROOT / "tests" / "c").glob("test_*.c"))
FLAGS = ["-std=c17", "-D_GNU_SOURCE", "-ffp-contract=off", "-fno-math-errno", "-pthread", "-Wall", "-Wextra", "-Werror"]
BUILDS = {
    "plain": ["-O2"],
    "sanitized": ["-O1", "-g", "-fno-omit-frame-pointer", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"],
}
SIMD = {
    "avx512.c": ["-mavx512f", "-mavx512vl", "-mavx512dq", "-mavx512bw"],
    "avx2.c": ["-mavx2"],
}
# these tests replace functions that the engine calls
WRAPPED = {
    "test_memory": ["malloc", "calloc", "realloc", "aligned_alloc", "posix_memalign", "free"],
    "test_thread_faults": ["pthread_create"],
}
STB_PLACES = [os.environ.get("STB_INCLUDE_DIR"), "/usr/include/stb", "/usr/local/include/stb", "/usr/include"]


def compiler() -> list[str]:
    return shlex.split(os.environ.get("CC", "gcc"))


def compile_one(source: Path, target: Path, flags: list[str]) -> None:
    stb = [f"-I{place}" for place in STB_PLACES if place and (Path(place) / "stb_image_write.h").is_file()][:1]
    simd = SIMD.get(source.name, []) if platform.machine() == "x86_64" else []
    command = [*compiler(), *FLAGS, *flags, *simd, *stb, f"-I{ROOT / 'csrc'}", "-c", str(source), "-o", str(target)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, f"{shlex.join(command)}\n{done.stderr}"


@pytest.fixture(scope="session", params=list(BUILDS))
def engine(request, tmp_path_factory):
    """Flags of one build and the archive of the engine built with them."""
    if not shutil.which(compiler()[0]):
        pytest.skip(f"no C compiler {compiler()[0]}")
    flags = BUILDS[request.param]
    folder = tmp_path_factory.mktemp(request.param)
    sources = sorted(path for path in (ROOT / "csrc").rglob("*.c") if "py" not in path.relative_to(ROOT / "csrc").parts)
    objects = [folder / f"{k}_{source.stem}.o" for k, source in enumerate(sources)]
    with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        list(pool.map(lambda pair: compile_one(pair[0], pair[1], flags), zip(sources, objects, strict=True)))
    archive = folder / "libgg.a"
    subprocess.run(["ar", "rcs", str(archive), *map(str, objects)], check=True)
    return flags, archive, folder


@pytest.mark.parametrize("test", TESTS, ids=[path.stem for path in TESTS])
def test_c(test: Path, engine):
    flags, archive, folder = engine
    built, program = folder / f"{test.stem}.o", folder / test.stem
    compile_one(test, built, flags)
    wraps = [f"-Wl,--wrap={name}" for name in WRAPPED.get(test.stem, [])]
    link = [*compiler(), "-pthread", *flags, *wraps, str(built), str(archive), "-lm", "-o", str(program)]
    done = subprocess.run(link, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    environment = {
        **os.environ,
        "ASAN_OPTIONS": "detect_leaks=1",
        "UBSAN_OPTIONS": "print_stacktrace=1",
    }
    done = subprocess.run([str(program)], cwd=folder, env=environment, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr


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
