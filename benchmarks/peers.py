"""peers.py: grains that fall into a box, in this engine and in others that run on a CPU.

    python -m benchmarks.peers [PEER...] [--grains 1000 2000] [--python PATH] [--repeats 3] [--budget 60] [--out FOLDER]

PEER is one of the table in peers_worker.py; none: all. Spheres of 10 mm and 2500 kg/m3 with friction .5, without
restitution and rolling friction, fall from a loose lattice of ten layers and settle (.6 s), then rest (.2 s), on one
thread. A row has simulated seconds per second of processor time in both phases, the same times the number of grains,
and what was reached: overlaps, contacts per grain (gaps below 1e-4 d), mean height and how fast it still sinks. Engines
run in turns, each in a process of its own by the Python that --python names, since they need not be installed beside
this package; a phase ends early when it has taken the budget [s of processor time]. Medians. Writes FOLDER/peers.json.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

import granular_gym as gg
from benchmarks import measure
from benchmarks.measure import Row
from benchmarks.peers_worker import PEERS
from benchmarks.run import OUT, table
from testbed.beds import DIAMETER, lattice

WORKER = Path(__file__).resolve().parent / "peers_worker.py"
LAYERS = 10
COLUMNS = (
    *("fall_sim_per_cpu", "rest_sim_per_cpu", "fall_grain_s_per_cpu_s", "rest_grain_s_per_cpu_s"),
    *("overlap_mean_pct", "overlap_max_pct", "contacts_per_grain", "mean_height_d", "sinking_pct_per_s", "simulated_s"),
)


class MissingPeerError(gg.GranularError, ImportError):
    """The engine is not installed; the message names its package and the Python that was asked."""


def run(name: str, start: Any, half: float, python: str, budget: float) -> Row:
    """A row of one engine.

    Args:
        name: key of `PEERS`.
        start: positions (n, 3) [m].
        half: half the width of the box [m].
        python: interpreter that has the engine.
        budget: processor time after which a phase ends early [s].

    Raises:
        MissingPeerError: the engine is not installed there.
        RuntimeError: it failed.
    """
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "start.npy"
        np.save(path, start)
        command = [python, str(WORKER), name, str(path), repr(half), repr(budget)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{name}: {done.stderr.strip().splitlines()[-1] if done.stderr.strip() else 'it ended'}")
    row: Row = json.loads(done.stdout)
    if "missing" in row:
        package = row["missing"]
        raise MissingPeerError(f"{name}: expected the package {package} in {python}, got none (pip install {package})")
    return row


def compared(names: list[str], grains: int, python: str, repeats: int, budget: float) -> list[Row]:
    """Rows of engines with one number of grains, in turns; those that are missing or fail say so."""
    half = 0.5 * float(np.sqrt(grains / LAYERS)) * 1.1 * DIAMETER + 0.01 * DIAMETER
    start = lattice(grains, half / DIAMETER)
    found: dict[str, list[Row]] = {name: [] for name in names}
    failed: dict[str, str] = {}
    for _ in range(repeats):
        for name in names:
            if name in failed:
                continue
            own = PEERS[name].module == "granular_gym"
            try:
                found[name].append(run(name, start, half, sys.executable if own else python, budget))
            except (MissingPeerError, RuntimeError) as error:
                failed[name] = str(error)
    rows = []
    for name, runs in found.items():
        row: Row = {"name": f"{name}, {grains:,}", "peer": name, "grains": grains, "settings": PEERS[name].settings}
        if name in failed:
            row["failed"] = failed[name]
        for key, value in runs[-1].items() if runs else ():
            number = isinstance(value, float)
            row[key] = statistics.median(one[key] for one in runs) if number else value
        rows.append({**row, "repeats": len(runs)})
    return rows


def main(arguments: list[str] | None = None) -> int:
    """Runs the command line; returns the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0], prog="benchmarks.peers")
    parser.add_argument("peers", nargs="*", metavar="peer", help=f"of {', '.join(PEERS)}; none: all")
    parser.add_argument("--grains", type=int, nargs="+", default=[1_000, 2_000])
    parser.add_argument("--python", default=sys.executable, help="interpreter that has the other engines")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--budget", type=float, default=60.0, help="processor time of a phase [s]")
    parser.add_argument("--out", type=Path, default=OUT, help="folder for peers.json")
    args = parser.parse_args(arguments)
    unknown = [name for name in args.peers if name not in PEERS]
    if unknown:
        parser.error(f"peer: expected some of {', '.join(PEERS)}, got {', '.join(unknown)}")
    facts = measure.facts()
    for grains in args.grains:
        rows = compared(args.peers or list(PEERS), grains, args.python, args.repeats, args.budget)
        print(f"\n{grains:,} grains\n\n{table(rows, COLUMNS)}", flush=True)
        for row in rows:
            if "failed" in row:
                print(row["failed"], file=sys.stderr)
        measure.save(args.out / "peers.json", facts, rows)
    return 0


if __name__ == "__main__":
    sys.exit(main())
