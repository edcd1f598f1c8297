"""programs.py: the CUDA programs of this folder, and the limits of a GPU that one of them measures."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

from benchmarks.gpu.case import FULL, Run
from benchmarks.measure import Row

HERE = Path(__file__).resolve().parent
CSRC = HERE.parent.parent / "csrc"


def built(name: str) -> Path | None:
    """The program of a CUDA file of this folder; None without nvcc."""
    home = os.path.join(os.environ.get("CUDA_HOME", "/usr/local/cuda"), "bin")
    nvcc = shutil.which(os.environ.get("NVCC", "nvcc")) or shutil.which("nvcc", path=home)
    if not nvcc:
        return None
    program = HERE.parent / "build" / name
    program.parent.mkdir(exist_ok=True)
    arch = os.environ.get("GG_CUDA_ARCH") or "native"
    arch = arch if arch == "native" else f"sm_{arch.split()[0].split(',')[0]}"
    words = [nvcc, "-std=c++17", "-O3", "-fmad=false", f"-arch={arch}", f"-I{CSRC}", "-o", str(program)]
    subprocess.run([*words, str(HERE / f"{name}.cu")], check=True)
    return program


def limits(run: Run) -> Iterator[Row]:
    """What the GPU does at best: barriers, gathers and reads by the size of what is read, arithmetic, clock."""
    program = built("limits")
    if program is None:
        return
    rounds = 2000 if run.sizes is FULL else 10
    done = subprocess.run([str(program), str(rounds)], capture_output=True, text=True, timeout=120)
    if done.returncode:
        # no GPU: emulated kernels, or the CPU
        print(f"the limits were not measured: {done.stderr.strip()}")
        return
    for line in done.stdout.splitlines():
        name, value, unit = line.split(" ", 2)
        yield {"name": name.replace("_", " "), "value": float(value), "unit": unit}
