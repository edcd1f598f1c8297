"""cuda_kernels.py: registers, spills, stack and shared memory of each CUDA kernel, by GPU architecture.

Reads the output of ptxas from the build of the extension (build/cuda_kernels.log) and prints a table. With --check it
fails where a kernel exceeds the limits in tests/unit/cuda_kernels.json; --write stores the present values as limits,
and what they depend on: sources, compiler and flags. --recorded tells whether those are still the same: to compile with
all optimisations, which takes nvcc 12 minutes of a processor, would then give the stored values again.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import runpy
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
LOG = ROOT / "build" / "cuda_kernels.log"
LIMITS = ROOT / "tests" / "unit" / "cuda_kernels.json"
FIELDS = ("registers", "spills", "stack", "shared")
SLACK = {"registers": 8, "spills": 64, "stack": 128, "shared": 1024}  # allowance for another architecture or compiler


def phase_names() -> list[str]:
    """Names of the phases in the order of their tables: the common ones, then those of each law."""
    folder = ROOT / "csrc"
    tables = (
        "phases",
        "solvers/spheres",
        "solvers/spheres/coloured",
        "solvers/spheres/clumps",
        "solvers/spheres/bell",
        "solvers/spheres/table",
        "solvers/continuum",
        "solvers/planar",
    )
    return [
        name
        for table in tables
        for name in re.findall(r"^ +X\((\w+),", (folder / table / "phases.h").read_text(), re.MULTILINE)
    ]


def kernel_name(mangled: str) -> str:
    """A readable name of a kernel."""
    phase = re.search(r"gg_phase_kernelILi(\d+)", mangled)
    if phase:
        return "phase " + phase_names()[int(phase.group(1))]
    found = re.search(r"gg_\w*?_kernel", mangled)
    return found.group(0) if found else mangled


def read(text: str) -> dict[tuple[str, str], dict[str, int]]:
    """Values of FIELDS by (architecture, kernel)."""
    table: dict[tuple[str, str], dict[str, int]] = {}
    for block in re.split(r"(?=ptxas info\s+: Compiling entry function)", text)[1:]:
        head = re.search(r"entry function '(\w+)' for '(\w+)'", block)
        used = re.search(r"Used (\d+) registers", block)
        if not head or not used:
            continue
        stack = re.search(r"(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads", block)
        shared = re.search(r"(\d+) bytes smem", block)
        table[head.group(2), kernel_name(head.group(1))] = {
            "registers": int(used.group(1)),
            "spills": int(stack.group(2)) + int(stack.group(3)) if stack else 0,
            "stack": int(stack.group(1)) if stack else 0,
            "shared": int(shared.group(1)) if shared else 0,
        }
    return table


def present() -> str | None:
    """What the kernels of `make cuda` on a machine without a GPU depend on; None: there is no nvcc."""
    os.environ.update(GG_CUDA="auto", GG_CUDA_ARCH="75", GG_CUDA_FLAGS="")
    setup = runpy.run_path(str(ROOT / "setup.py"), run_name="setup")
    command = setup["cuda_command"]()
    return command and setup["cuda_key"](command)


def main() -> int:
    """Exit status 0: within the limits, or not checked."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="fail where a kernel exceeds its limits")
    parser.add_argument("--write", action="store_true", help="store the present values as limits")
    parser.add_argument("--recorded", action="store_true", help="fail where the stored values are of other sources")
    arguments = parser.parse_args()
    if arguments.recorded:
        return 0 if present() == json.loads(LIMITS.read_text())["key"] else 1
    if not LOG.is_file():
        print(f"no {LOG.relative_to(ROOT)}: build the extension where nvcc is")
        return 1
    key, log = LOG.read_text().split("\n", 1)
    table = read(log)
    if not table:
        print(f"{LOG.relative_to(ROOT)} names no kernels")
        return 1
    print(f"{'architecture':<12} {'kernel':<26}" + "".join(f"{field:>10}" for field in FIELDS))
    for (architecture, name), numbers in sorted(table.items()):
        print(f"{architecture:<12} {name:<26}" + "".join(f"{numbers[field]:>10}" for field in FIELDS))
    if arguments.write:
        largest: dict[str, dict[str, int]] = {}
        for (_, name), numbers in sorted(table.items()):
            entry = largest.setdefault(name, dict(numbers))
            for field in FIELDS:
                entry[field] = max(entry[field], numbers[field])
        LIMITS.write_text(json.dumps({"key": key, "kernels": largest}, indent=1, sort_keys=True) + "\n")
        return 0
    if not arguments.check:
        return 0
    limits = json.loads(LIMITS.read_text())["kernels"]
    faults = [
        f"{architecture} {name}: {field} {numbers[field]}, allowed {limits[name][field] + SLACK[field]}"
        if name in limits
        else f"{architecture} {name}: no limit is stored; run tools/cuda_kernels.py --write"
        for (architecture, name), numbers in sorted(table.items())
        for field in FIELDS
        if name not in limits or numbers[field] > limits[name][field] + SLACK[field]
    ]
    print("\n".join(faults) or "all within their limits")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
