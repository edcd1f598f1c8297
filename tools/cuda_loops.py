"""cuda_loops.py: instructions of the loops in which step kernels solve contacts, on their longest path; calls.

    python tools/cuda_loops.py [--kernel NAME] [FILE]

FILE is what nvcc made: an extension, an object or a cubin (none: the extension in granular_gym). A loop is named where
no other is within it, and where it reads memory and takes at least one root and one reciprocal: the length of an
impulse, and what bounds it, as each contact of a sweep asks for; "around" is the longest path of the loop around it,
of which it takes part once. Calls are those of functions of the engine, which are part of what is counted, and generic
accesses those through pointers to any memory. Needs cuobjdump and nvdisasm, of the CUDA toolkit or
of PyPI (nvidia-cuda-cuobjdump, nvidia-cuda-nvdisasm).
"""

from __future__ import annotations

import argparse
import re
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
#: what is told of a loop beside its longest path: name and instructions
KINDS = {
    "arithmetic": r"(F(ADD|MUL|FMA|MNMX|SETP|SEL)|D(ADD|MUL|FMA))\b",
    "global": r"(LDG|STG|ATOMG|RED)\b",
    "shared": r"(LDS|STS|ATOMS)\b",
    "spilled": r"(LDL|STL)\b",
    "moves": r"(MOV|IMAD\.MOV|CS2R)\b",
}
COLUMNS = ("longest path", "around", "all", *KINDS)


@dataclass(frozen=True)
class Function:
    """A kernel in machine code: its instructions, and the one that each label is before."""

    name: str
    code: list[str]
    labels: dict[str, int]

    def branch(self, at: int) -> int | None:
        """Where a branch goes; None: it is none, or leaves the function."""
        found = re.search(r"\bBRA\b.*`\((\.L_\w+)\)", self.code[at])
        return self.labels.get(found.group(1)) if found else None

    def loops(self) -> list[tuple[int, int]]:
        """First and last instruction of every loop."""
        ends: dict[int, int] = {}
        for at in range(len(self.code)):
            to = self.branch(at)
            if to is not None and to <= at:
                ends[to] = max(ends.get(to, at), at)
        return sorted(ends.items())

    def longest(self, begin: int, end: int) -> int:
        """Instructions on the longest way through a loop, from its first to its last one."""
        steps = [0] * (end + 2)
        steps[begin] = 1
        for at in range(begin, end + 1):
            if not steps[at]:
                continue
            to = self.branch(at)
            if to is not None and at < to <= end:
                steps[to] = max(steps[to], steps[at] + 1)
            if to is None or self.code[at].startswith("@"):
                steps[at + 1] = max(steps[at + 1], steps[at] + 1)
        return steps[end]


def functions(text: str) -> list[Function]:
    """The kernels in the output of nvdisasm -c."""
    found: list[Function] = []
    for line in text.splitlines():
        section = re.match(r"\s*\.text\.(\S+):", line)
        label = re.match(r"\s*(\.L_\w+):", line)
        instruction = re.match(r"\s*/\*[0-9a-f]+\*/\s+(.*?)\s*;", line)
        if section:
            found.append(Function(section.group(1), [], {}))
        elif label and found:
            found[-1].labels[label.group(1)] = len(found[-1].code)
        elif instruction and found:
            found[-1].code.append(instruction.group(1))
    return found


def count(code: list[str], pattern: str) -> int:
    """Instructions of a kind."""
    return sum(bool(re.match(r"(@!?U?P\w+\s+)?" + pattern, text)) for text in code)


def solving(function: Function) -> list[dict[str, int]]:
    """The loops of a kernel that solve contacts: COLUMNS."""
    rows, loops = [], function.loops()
    for begin, end in loops:
        code = function.code[begin : end + 1]
        others = [loop for loop in loops if loop != (begin, end)]
        inner = not any(begin <= b and e <= end for b, e in others)
        if inner and count(code, r"MUFU\.RSQ\b") and count(code, r"MUFU\.RCP\b") and count(code, r"LDG\b"):
            around = min(((e - b, b, e) for b, e in others if b <= begin and end <= e), default=(0, begin, end))
            kinds = {name: count(code, pattern) for name, pattern in KINDS.items()}
            paths = {"longest path": function.longest(begin, end), "around": function.longest(*around[1:])}
            rows.append({**paths, "all": len(code), **kinds})
    return rows


def calls(function: Function) -> tuple[int, int]:
    """Calls of functions of the engine, and generic accesses."""
    called = sum("CALL" in text and "$__internal" not in text for text in function.code)
    return called, count(function.code, r"(LD|ST|ATOM)\.")


def tool(name: str) -> str:
    """Path of a program of the CUDA toolkit.

    Raises:
        SystemExit: it is not there.
    """
    packaged = [str(path) for place in sys.path for path in Path(place).glob(f"nvidia/*/bin/{name}")]
    found = shutil.which(name) or next(iter(packaged), None)
    if not found:
        raise SystemExit(f"{name} is missing: pip install nvidia-cuda-cuobjdump nvidia-cuda-nvdisasm")
    return found


def disassembled(file: Path) -> dict[str, str]:
    """Machine code of what nvcc made, by the name of the cubin."""
    with tempfile.TemporaryDirectory() as folder:
        if file.suffix == ".cubin":
            cubins = [file.resolve()]
        else:
            subprocess.run([tool("cuobjdump"), "-xelf", "all", str(file.resolve())], cwd=folder, check=True, stdout=-3)
            cubins = sorted(Path(folder).glob("*.cubin"))
        command = [tool("nvdisasm"), "-c"]
        return {
            path.name: subprocess.run([*command, str(path)], check=True, capture_output=True, text=True).stdout
            for path in cubins
        }


def main(arguments: list[str] | None = None) -> int:
    """Exit status 0: some loop was found."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("file", nargs="?", type=Path, default=ROOT / "granular_gym" / "_core.abi3.so", metavar="FILE")
    parser.add_argument("--kernel", default="coloured_step", help="part of the names of kernels (coloured_step)")
    options = parser.parse_args(arguments)
    if not options.file.is_file():
        parser.error(f"FILE: {options.file} is not there: build with nvcc (make cuda)")
    some = False
    for name, text in disassembled(options.file).items():
        for function in functions(text):
            rows = solving(function) if options.kernel in function.name else []
            if rows:
                print(f"{name}, {function.name}: {calls(function)[0]} calls, {calls(function)[1]} generic accesses")
                print("".join(f"{column:>14}" for column in COLUMNS))
                print("\n".join("".join(f"{row[column]:>14}" for column in COLUMNS) for row in rows), end="\n\n")
                some = True
    if not some:
        print(f"{options.file} has no such loop in kernels named {options.kernel}")
    return 0 if some else 1


if __name__ == "__main__":
    sys.exit(main())
