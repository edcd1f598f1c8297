"""What the code of CUDA kernels depends on; the limits of their registers are stored with it."""

from __future__ import annotations

import json
import re
import runpy
import shutil
from pathlib import Path

import pytest

from testbed.emulated import ROOT


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """A copy of what builds the CUDA backend."""
    shutil.copytree(ROOT / "csrc", tmp_path / "csrc")
    shutil.copytree(ROOT / "tests" / "emulator", tmp_path / "tests" / "emulator")
    for name in ("setup.py", "pyproject.toml", "README.md"):
        shutil.copy(ROOT / name, tmp_path / name)
    return tmp_path


def key(root: Path, *flags: str, compiler: str = "true") -> str:
    return runpy.run_path(str(root / "setup.py"), run_name="setup")["cuda_key"]([compiler, "-O3", *flags])


def test_it_changes_with_what_kernels_include_alone(copy: Path) -> None:
    setup = runpy.run_path(str(copy / "setup.py"), run_name="setup")
    included = (setup["included"](copy / source) for source in setup["CUDA_SOURCES"])
    files = {path.relative_to(copy / "csrc").as_posix() for path in set().union(*included)}
    assert {"cuda.cu", "laws/bell.cu", "step_kernel.cuh"} < {name.removeprefix("backend/cuda/") for name in files}
    assert "phases/phases.h" in files
    before = key(copy)
    assert not any(name.endswith(".c") for name in files)
    for name in ("py/module.c", "world/world.c", "backend/no_cuda.c"):
        path = copy / "csrc" / name
        path.write_text(path.read_text() + "\n")
        assert key(copy) == before
    for name in sorted(files)[:: max(1, len(files) // 4)]:
        path = copy / "csrc" / name
        path.write_text(path.read_text() + "\n")
        assert key(copy) != before
        before = key(copy)


def test_it_changes_with_the_compiler_and_its_flags(copy: Path) -> None:
    compiler = copy / "nvcc"
    keys = [key(copy), key(copy, "-fmad=true"), key(copy, "-gencode=arch=compute_90,code=sm_90")]
    for version in ("13.0", "13.1"):
        compiler.write_text(f"#!/bin/sh\necho release {version}\n")
        compiler.chmod(0o755)
        keys.append(key(copy, compiler=str(compiler)))
    assert len(set(keys)) == len(keys)
    # not with what only the host's code depends on
    assert key(copy, "-Xcompiler=-Wall", "-Werror", "all-warnings", "--threads=0") == keys[0]


def test_the_record_names_its_sources() -> None:
    record = json.loads((ROOT / "tests" / "unit" / "cuda_kernels.json").read_text())
    assert re.fullmatch(r"[0-9a-f]{16} [0-9a-f]{16} -std=c\+\+17 -O3 -fmad=false .*compute_75", record["key"])
    assert "gg_spheres_step_kernel" in record["kernels"]
