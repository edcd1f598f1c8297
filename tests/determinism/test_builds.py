"""Same bits from gcc and clang, without and with optimisation for this machine: tests/c/hash_scene.c."""

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
FLAGS = ["-std=c17", "-D_GNU_SOURCE", "-ffp-contract=off", "-fno-math-errno", "-w"]
SIMD = {
    "avx512.c": ["-mavx512f", "-mavx512vl", "-mavx512dq", "-mavx512bw"],
    "avx2.c": ["-mavx2"],
}
STB_PLACES = [os.environ.get("STB_INCLUDE_DIR"), "/usr/include/stb", "/usr/local/include/stb", "/usr/include"]
BUILDS = {
    "gcc-O0": ("gcc", ["-O0"]),
    "gcc-O3-native": ("gcc", ["-O3", "-march=native"]),
    "gcc-O2": ("gcc", ["-O2"]),
    "clang-O0": ("clang", ["-O0"]),
    "clang-O3-native": ("clang", ["-O3", "-march=native"]),
    "nvcc-host": ("gcc", ["-O2"]),
}
#: compiled as C++ by nvcc, as host code of a CUDA program: the phases and the scalar solver
BY_NVCC = ("cpu.c", "kernels.c")


def run(command: list[str]) -> str:
    done = subprocess.run(command, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, f"{shlex.join(command)}\n{done.stderr}"
    return done.stdout


def build(name: str, folder: Path) -> Path:
    """Compiles the engine and the scene; the path of the program."""
    compiler, flags = BUILDS[name]
    for needed in [compiler, *(["nvcc"] if name == "nvcc-host" else [])]:
        if not shutil.which(needed):
            pytest.skip(f"no compiler {needed}")
    sources = [path for path in (ROOT / "csrc").rglob("*.c") if "py" not in path.relative_to(ROOT / "csrc").parts]
    sources.append(ROOT / "tests" / "c" / "hash_scene.c")
    stb = [f"-I{place}" for place in STB_PLACES if place and (Path(place) / "stb_image_write.h").is_file()][:1]
    wide = platform.machine() == "x86_64"

    def compile_one(numbered: tuple[int, Path]) -> str:
        k, source = numbered
        target = str(folder / f"{k}.o")
        simd = SIMD.get(source.name, []) if wide else []
        if name == "nvcc-host" and source.name in BY_NVCC:
            wrapped = folder / f"{k}.cu"
            wrapped.write_text(f'extern "C" {{\n#include "{source}"\n}}\n')
            host = "-Xcompiler=-ffp-contract=off,-fno-math-errno"
            run(["nvcc", "-std=c++17", "-O2", "-w", "-arch=sm_90", host, "-c", str(wrapped), "-o", target])
            return target
        run([compiler, *FLAGS, *flags, *simd, *stb, f"-I{ROOT / 'csrc'}", "-c", str(source), "-o", target])
        return target

    with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        objects = list(pool.map(compile_one, enumerate(sorted(sources))))
    program = folder / "hash_scene"
    link = ["nvcc", "-cudart=static", "-Xcompiler=-pthread"] if name == "nvcc-host" else [compiler, "-pthread", *flags]
    run([*link, *objects, "-lm", "-o", str(program)])
    return program


@pytest.fixture(scope="module")
def reference(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The hash of the reference build: scalar, one thread."""
    name = "gcc-O0" if shutil.which("gcc") else "clang-O0"
    return run([str(build(name, tmp_path_factory.mktemp("reference"))), "scalar", "1"])


@pytest.mark.slow
@pytest.mark.parametrize("name", list(BUILDS))
def test_builds_agree(name: str, reference: str, tmp_path: Path) -> None:
    """Every kernel that this processor runs, on one thread and on three."""
    program = build(name, tmp_path)
    ran = 0
    for kernel in ("default", "scalar", "vector128", "avx2", "avx512"):
        for threads in ("1", "3"):
            printed = run([str(program), kernel, threads])
            if printed != "no kernel\n":
                ran += 1
                assert printed == reference, f"{kernel}, {threads} threads"
    assert ran >= 4
