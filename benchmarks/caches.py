"""caches.py: what a substep of a bed reads past the caches, simulated by valgrind: why more grains cost more each.

    python -m benchmarks.caches [--tiles 3 13] [--substeps 2] [--out FOLDER]

A bed of 12 layers, 1,200 grains a tile, tiles x tiles of them, on the AVX2 kernel (valgrind knows no AVX-512). Prints,
for each grain and substep, instructions and the lines of 64 bytes that are read or written without being in a cache of
48 kB, 1 MiB and 32 MiB, and the functions from which most come. The simulation knows neither prefetching nor other
programs that share a cache. 200,000 grains take some minutes. Needs valgrind with its headers and a C compiler. Writes
FOLDER/caches.json.
"""

from __future__ import annotations

import argparse
import collections
import ctypes
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks import instructions, measure
from benchmarks.measure import Row
from benchmarks.run import OUT, table
from testbed import standard
from testbed.beds import DT

#: of valgrind: size, ways, bytes in a line
FIRST = "49152,12,64"
#: caches behind the first, whose misses are counted in runs of their own
OUTER = {"1MiB": "1048576,16,64", "32MiB": "33554432,16,64"}
WARM_UP = 3  # substeps
COLUMNS = ("instructions", "lines_48kB", *(f"lines_{name}" for name in OUTER), "mostly")


def count_here(folder: Path, tiles: int, substeps: int) -> None:
    """Runs substeps between start and stop of the counting; under valgrind."""
    client = ctypes.CDLL(str(folder / "client.so"))
    with standard.wide_bed((tiles, tiles)).build(num_threads=1) as world:
        world._core.set_kernel(instructions.KERNEL)
        world.step(DT, WARM_UP)
        client.start()
        world.step(DT, substeps)
        client.stop(b"block")


def counted(folder: Path, tiles: int, substeps: int, outer: str) -> tuple[Row, Row]:
    """Counts of a block: all of them by event, and misses of the outer cache by function.

    Raises:
        RuntimeError: valgrind did not run.
    """
    out = folder / "out"
    for old in folder.glob("out*"):
        old.unlink()
    tool = ["valgrind", "--tool=callgrind", "--instr-atstart=no", "--cache-sim=yes", f"--callgrind-out-file={out}"]
    tool += [f"--D1={FIRST}", f"--LL={outer}"]
    command = [sys.executable, "-m", "benchmarks.caches", "--count", str(folder)]
    command += ["--tiles", str(tiles), "--substeps", str(substeps)]
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    done = subprocess.run([*tool, *command], cwd=instructions.ROOT, env=environment, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"valgrind: {done.stderr[-1000:]}")
    return read(next(path for path in folder.glob("out.*") if "Client Request" in path.read_text()).read_text())


def read(text: str) -> tuple[Row, Row]:
    """Totals by event, and misses of the outer cache by function, of a file of callgrind."""
    events = next(line.split()[1:] for line in text.splitlines() if line.startswith("events:"))
    names: dict[str, str] = {}
    each: collections.Counter[str] = collections.Counter()
    totals: collections.Counter[str] = collections.Counter()
    current, called = "", False
    for line in text.splitlines():
        if line.startswith(("fn=", "cfn=")):
            number, _, name = line.partition("=")[2].partition(" ")
            known = names.setdefault(number, name or number)
            current = known if line.startswith("fn=") else current
        elif line.startswith("calls="):
            called = True
        elif re.match(r"[\d+*-]", line):
            # the line behind a call is the cost of what was called
            if not called:
                costs = dict(zip(events, map(int, line.split()[1:]), strict=False))
                totals.update(costs)
                each[current] += costs.get("DLmr", 0) + costs.get("DLmw", 0)
            called = False
    return dict(totals), dict(each.most_common(5))


def row_of(folder: Path, tiles: int, substeps: int) -> Row:
    """A line of the table."""
    grains = 1_200 * tiles**2
    per = 1.0 / grains / substeps
    row: Row = {"name": f"{grains:,} grains", "grains": grains, "substeps": substeps}
    for name, outer in OUTER.items():
        totals, each = counted(folder, tiles, substeps, outer)
        row["instructions"] = per * totals["Ir"]
        row["lines_48kB"] = per * (totals["D1mr"] + totals["D1mw"])
        missed = totals["DLmr"] + totals["DLmw"]
        row[f"lines_{name}"] = per * missed
        row[f"by_function_{name}"] = {key: per * value for key, value in each.items()}
    most = list(row["by_function_1MiB"].items())[:3]
    row["mostly"] = ", ".join(f"{key} {100.0 * value / row['lines_1MiB']:.0f} %" for key, value in most)
    return row


def main(arguments: list[str] | None = None) -> int:
    """Runs the command line; returns the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0], prog="benchmarks.caches")
    parser.add_argument("--tiles", type=int, nargs="+", default=[3, 13], help="along each side of the bed")
    parser.add_argument("--substeps", type=int, default=2)
    parser.add_argument("--out", type=Path, default=OUT, help="folder for caches.json")
    parser.add_argument("--count", type=Path, help=argparse.SUPPRESS)
    args = parser.parse_args(arguments)
    if args.count:
        count_here(args.count, args.tiles[0], args.substeps)
        return 0
    reason = instructions.why_not()
    if reason:
        print(f"caches are not simulated: {reason}")
        return 1
    facts, rows = measure.facts(), []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        instructions.build_client(folder)
        for tiles in args.tiles:
            rows.append(row_of(folder, tiles, args.substeps))
    print(table(rows, COLUMNS))
    measure.save(args.out / "caches.json", facts, rows)
    return 0


if __name__ == "__main__":
    sys.exit(main())
