"""Same bits without optimisation, from the extension's objects, and, with --full, from gcc and clang with optimisation
for this machine: tests/c/hash_scene.c. `.ci/run` runs clang's, too.
"""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from testbed.engine import BUILDS, NO_INLINE, ROOT, SAME_BITS, SHIPPED, compile_one, objects, run

#: without optimisation and inlining the operations are those of the source: the reference is the build made sooner
REFERENCE = "clang-O0" if shutil.which("clang") else "gcc-O0"
#: compiled as C++ by nvcc, as host code of a CUDA program: the phases and the scalar solver; the rest is gcc's
BY_NVCC = ("cpu.c", "kernels.c")
SCENE = ROOT / "tests" / "c" / "hash_scene.c"
FULL = pytest.mark.full


def by_nvcc(source: Path, folder: Path) -> Path:
    """The object of a file that nvcc compiles as C++."""
    wrapped, target = folder / f"{source.stem}.cu", folder / f"{source.stem}.o"
    wrapped.write_text(f'extern "C" {{\n#include "{source}"\n}}\n')
    host = f"-Xcompiler={','.join(SAME_BITS)},-fno-math-errno"
    run(["nvcc", "-std=c++17", "-O1", "-w", *NO_INLINE, "-arch=sm_90", host, "-c", str(wrapped), "-o", str(target)])
    return target


def build(name: str, folder: Path) -> Path:
    """Builds the engine and the scene; the path of the program."""
    on_nvcc = name == "nvcc-host"
    base = SHIPPED if on_nvcc else name
    compiler, flags = BUILDS[base]
    for needed in [compiler[0], *(["nvcc"] if on_nvcc else [])]:
        if not shutil.which(needed):
            pytest.skip(f"no compiler {needed}")
    engine = dict(objects(base))
    if on_nvcc:
        engine |= {source: by_nvcc(source, folder) for source in engine if source.name in BY_NVCC}
    scene, program = folder / "hash_scene.o", folder / "hash_scene"
    compile_one(base, SCENE, scene)
    link = ["nvcc", "-cudart=static", "-Xcompiler=-pthread"] if on_nvcc else [*compiler, "-pthread", *flags]
    run([*link, *map(str, engine.values()), str(scene), "-lm", "-o", str(program)])
    return program


@pytest.fixture(scope="module")
def reference(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The hash of the reference build: scalar, one thread."""
    return run([str(build(REFERENCE, tmp_path_factory.mktemp("reference"))), "scalar", "1"], timeout=600)


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    [REFERENCE, SHIPPED, "nvcc-host", *(pytest.param(f"{name}-native", marks=FULL) for name in ("gcc", "clang"))],
)
def test_builds_agree(name: str, reference: str, tmp_path: Path) -> None:
    """Every kernel that this processor runs, on three threads, and the widest one on one."""
    program = build(name, tmp_path)
    ran = 0
    for kernel, threads in (("default", "1"), *((kernel, "3") for kernel in ("scalar", "vector128", "avx2", "avx512"))):
        printed = run([str(program), kernel, threads], timeout=600)
        if printed != "no kernel\n":
            ran += 1
            assert printed == reference, f"{kernel}, {threads} threads"
    assert ran >= 3
