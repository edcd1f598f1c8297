"""gpu_traffic.py: bytes, sectors and barriers of GPU kernels by phase, and reads that may be stale, on the emulator.

    python tools/gpu_traffic.py [--check | --write] [--wide] [--arrays] [--without PHASE] [SCENE...]

Prints a table per scene (docs/gpu.md says what is counted). Fails where an access has nothing that orders it. With
--check it fails also where a scene moves or meets more than tests/unit/gpu_traffic.json allows; --write stores the
present numbers there. --wide: scenes with more features, of which only the order of accesses is checked. --without: the
same as if the barriers of a phase were not there, to see what they are for.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from cuda_kernels import phase_names  # noqa: E402

from testbed.traffic import BARRIERS, FLOWS, INSIDE, SCENES, WIDE, in_process, totals  # noqa: E402

LIMITS = ROOT / "tests" / "unit" / "gpu_traffic.json"
#: share above a limit at which a scene fails
TOLERANCE = 0.02
#: numbers that do not depend on the compiler
COUNTS = ("kernels", *BARRIERS)
COLUMNS = (*FLOWS, *INSIDE, *BARRIERS)


def compiler() -> str:
    """What the loads and stores of the kernels depend on."""
    command = [os.environ.get("CXX", "g++"), "--version"]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()[0]


def table(title: str, rows: dict[str, dict[str, float]]) -> str:
    """Rows of numbers below a title; parts that are nothing are left blank."""
    head = f"{title:<26}" + "".join(f"{name:>11}" for name in COLUMNS)
    cells = {
        name: [f"{row[column]:11.1f}" if row.get(column) else " " * 11 for column in COLUMNS]
        for name, row in rows.items()
    }
    return "\n".join([head, *(f"{name:<26}{''.join(parts)}".rstrip() for name, parts in cells.items())])


def told(races: list[dict[str, Any]], most: int = 20) -> str:
    """Accesses without order in words."""
    text = [
        f"{race['between']}: {race['kind']} of {race['array']}, {race['count']} times\n"
        f"    {race['before_phase']}: {race['before']}\n    {race['after_phase']}: {race['after']}"
        for race in races[:most]
    ]
    return "\n".join([*text, *([f"and {len(races) - most} more"] if len(races) > most else [])])


def faults(found: dict[str, dict[str, float]], stored: dict[str, Any]) -> list[str]:
    """Where scenes exceed their limits; bytes are compared only with those of the same compiler."""
    names = (*FLOWS, *INSIDE, *COUNTS) if stored["compiler"] == compiler() else COUNTS
    return [
        f"{scene}: {name} {sums[name]:.2f}, allowed {limit[name] * (1.0 + TOLERANCE):.2f}"
        if (limit := stored["scenes"].get(scene))
        else f"{scene}: no limit is stored; run tools/gpu_traffic.py --write"
        for scene, sums in found.items()
        for name in names
        if scene not in stored["scenes"] or sums[name] > stored["scenes"][scene][name] * (1.0 + TOLERANCE)
    ]


def main(arguments: list[str] | None = None) -> int:
    """Exit status 0: all accesses are in order, and within the limits where these are checked."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "scenes", nargs="*", metavar="SCENE", help=f"of: {'; '.join((*SCENES, *WIDE))}; none: the first {len(SCENES)}"
    )
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--check", action="store_true", help="fail where a scene exceeds its limits")
    what.add_argument("--write", action="store_true", help="store the present numbers as limits")
    parser.add_argument("--wide", action="store_true", help="with scenes of more features")
    parser.add_argument("--arrays", action="store_true", help="tables by array instead of by phase")
    parser.add_argument("--without", default="", metavar="PHASE", help="take the barriers of a phase not to be there")
    args = parser.parse_args(arguments)
    if not shutil.which(os.environ.get("CXX", "g++")) or "clang" in compiler():
        print("loads and stores are seen by calls of GCC's, which is missing: install g++, or name it by CXX")
        return 1
    if args.without and args.without not in phase_names():
        parser.error(f"--without: expected a phase, one of {', '.join(phase_names())}, got {args.without}")
    names = args.scenes or [*SCENES, *(WIDE if args.wide else ())]
    unknown = [name for name in names if name not in SCENES and name not in WIDE]
    if unknown:
        parser.error(f"SCENE: expected some of {'; '.join((*SCENES, *WIDE))}, got {'; '.join(unknown)}")
    begin = time.perf_counter()
    scenes = in_process(names, args.without)
    for name, scene in scenes.items():
        print(table(name, {**scene["arrays" if args.arrays else "phases"], "all": totals(scene)}))
        print(told(scene["races"]) or "every access is in order", end="\n\n")
    print(f"({time.perf_counter() - begin:.0f} s)")
    found = {name: totals(scene) for name, scene in scenes.items() if name in SCENES}
    good = not any(scene["races"] for scene in scenes.values())
    if args.write:
        kept = json.loads(LIMITS.read_text()) if LIMITS.is_file() else {"compiler": compiler(), "scenes": {}}
        kept = kept if kept["compiler"] == compiler() else {"compiler": compiler(), "scenes": {}}
        rounded = {name: {key: round(value, 3) for key, value in sums.items()} for name, sums in found.items()}
        LIMITS.write_text(
            json.dumps({"compiler": compiler(), "scenes": {**kept["scenes"], **rounded}}, indent=1) + "\n"
        )
    if args.check:
        stored = json.loads(LIMITS.read_text())
        if stored["compiler"] != compiler():
            print(f"bytes are not checked: the limits are those of {stored['compiler']}, this is {compiler()}")
        beyond = faults(found, stored)
        print("\n".join(beyond) or "all within their limits")
        good = good and not beyond
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
