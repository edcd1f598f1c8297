"""alike.py: what this engine and LAMMPS cost at settings at which they simulate the same thing equally well.

    python -m benchmarks.alike [column settled collapse silo] [--solver dt=2e-3,iterations=20]... [--limit SETTING]
                               [--seeds 3] [--out FOLDER]

Each seed is run by LAMMPS, then with each setting, from the same positions, on one thread each. A row has the processor
time per simulated second, how many times less that is than LAMMPS's of the same seed (median), and what decides
whether the two may be compared: where the grains are, solid fraction, contacts, overlaps. Measures are means of the
seeds with half of their range; overlaps are those of pairs of grains at the moments that are looked at, for
LAMMPS, whose grains are soft, what its stiffness costs. --limit is a setting that counts as the converged solution.
`column` is the column that `benchmarks.speed` lets collapse, in a wide box; the others are those of the check `lammps`
of validation. Writes FOLDER/alike.json.
"""

from __future__ import annotations

import argparse
import itertools
import statistics
import sys
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import granular_gym as gg
from benchmarks import lammps, measure
from benchmarks.measure import Row
from benchmarks.run import OUT, table
from benchmarks.settings import Setting
from benchmarks.speed_scenes import Collapsing
from testbed import standard
from testbed.beds import DIAMETER, DT, RADIUS, column_scene
from validation import beside, bulk
from validation.beside import Frames, Start

Pairs = NDArray[Any]
LIMIT = "dt=2.5e-4,iterations=40"
SLOT = {"length": 15, "width": 5, "height": 60.0}
SILO = {"length": 24, "width": 5, "height": 48.0, "opening": 8}
COUNT, BOX = 6_000, 8.0  # grains that settle, half width of their box [d]
COLUMN = 10_000
#: what is no measure of the physics
COSTS = ("cpu_per_s", "over_lammps", "residual", "overlap_mean_pct", "overlap_max_pct")


@dataclass(frozen=True)
class Case:
    """A scene that both codes run.

    Attributes:
        about: a line about it.
        start: of a seed.
        seconds: simulated time [s].
        frames: number of moments that are looked at.
        look: measures of (times, frames, pairs of grains in contact in the last frame).
    """

    about: str
    start: Callable[[int], Start]
    seconds: float
    frames: int
    look: Callable[[list[float], Frames, Pairs], Row]


def column(seed: int) -> Start:
    """A settled column in a box three times as wide, which it fills in the end."""
    scene = column_scene(
        COLUMN,
        standard.COLUMN_HALF_WIDTH[COLUMN],
        friction=standard.FRICTION,
        restitution=standard.RESTITUTION,
        seed=seed,
        stir=0.0,
    )
    with scene.build(num_threads=1) as world:
        world.step(DT, round(1.0 / DT))
        positions = world.positions[0].astype(np.float64)
    side = Collapsing.half_width(COLUMN) * DIAMETER
    bounds = ((-side, -side, 0.0), (side, side, 2.0 * float(positions[:, 2].max())))
    scene, grain = standard.standard_scene(bounds)
    scene.add_grains(grain, positions, RADIUS)
    return Start(positions, scene, *bounds)


def look_column(times: list[float], frames: Frames, pairs: Pairs) -> Row:
    """Front and height on the way, density and contacts in the end."""
    row: Row = {}
    for at in (0.1, 0.2, 0.3):
        frame = frames[int(np.argmin(np.abs(np.array(times) - at)))]
        if at < 0.3:
            # later the front has met the walls
            row[f"front_{at:g}s_d"] = float(np.percentile(np.abs(frame[:, :2]).max(axis=1), 99)) / DIAMETER
        row[f"height_{at:g}s_d"] = float(frame[:, 2].mean()) / DIAMETER
    last = frames[-1]
    height = float(last[:, 2].mean()) / DIAMETER
    area = (2.0 * Collapsing.half_width(COLUMN)) ** 2
    # of a bed of even depth with this mean height
    row["fraction"] = len(last) * np.pi / 6.0 / (area * 2.0 * height)
    return {**row, "contacts": 2.0 * len(pairs) / len(last)}


def look_settled(times: list[float], frames: Frames, pairs: Pairs) -> Row:
    """Solid fraction and contacts of the core."""
    del times
    found = beside.bed(frames[-1], pairs, BOX * DIAMETER)
    return {"fraction": found["phi"], "contacts": found["Z"], "height_d": found["level"]}


def look_slot(times: list[float], frames: Frames, pairs: Pairs) -> Row:
    """Where the deposit lies, and its contacts."""
    del times
    edges = np.arange(0.0, beside.run_out(SLOT["length"], SLOT["height"]) + 0.5) * DIAMETER
    depth = bulk.depth_profile(frames[-1][:, 0], edges, SLOT["width"] * DIAMETER) / DIAMETER
    found = {f"{name}_d": value for name, value in beside.deposit(depth).items()}
    return {**found, "contacts": 2.0 * len(pairs) / len(frames[-1])}


def look_silo(times: list[float], frames: Frames, pairs: Pairs) -> Row:
    """Rate, and the share of the grains that are left."""
    del pairs
    left = beside.above_slit(frames)
    return {"grains_per_s": beside.rate(times, left), "left_share": left[-1] / len(frames[0])}


CASES: dict[str, Case] = {
    "column": Case("10,000 grains collapse in a wide box", column, 1.5, 15, look_column),
    "settled": Case(
        "6,000 grains fall into a box and settle", lambda s: beside.settled(COUNT, BOX, s), 1.2, 6, look_settled
    ),
    "collapse": Case("a column collapses in a slot", lambda s: beside.collapse(**SLOT, seed=s), 1.4, 14, look_slot),
    "silo": Case("grains flow through a slit", lambda s: beside.silo(**SILO, seed=s), 1.0, 50, look_silo),
}


def overlaps(frames: Frames) -> Row:
    """Mean overlap of what overlaps, mean over the frames, and the largest of all [% of a diameter]."""
    means, most = [], 0.0
    for frame in frames[1:]:
        pairs = bulk.contacts(frame, 0.0)
        if len(pairs):
            deep = 1.0 - np.linalg.norm(frame[pairs[:, 0]] - frame[pairs[:, 1]], axis=1) / DIAMETER
            means.append(float(deep.mean()))
            most = max(most, float(deep.max()))
    return {"overlap_mean_pct": 100.0 * float(np.mean(means or [0.0])), "overlap_max_pct": 100.0 * most}


def theirs(case: Case, start: Start) -> Row:
    """A run of LAMMPS."""
    times, frames, cpu = start.lammps(case.seconds, case.frames)
    # soft grains carry force where they overlap
    found = case.look(times, frames, bulk.contacts(frames[-1], 0.0))
    return {"cpu_per_s": cpu / case.seconds, **overlaps(frames), **found}


def ours(case: Case, start: Start, setting: Setting) -> Row:
    """A run of this engine."""
    dt, spent, residual = setting.dt or DT, 0.0, 0.0
    times = [float(t) for t in np.linspace(0.0, case.seconds, case.frames + 1)]
    frames = [np.asarray(start.positions, np.float64)]
    with setting.world(start.scene) as world:
        for a, b in itertools.pairwise(times):
            begin = time.process_time()
            world.step(dt, round((b - a) / dt))
            spent += time.process_time() - begin
            frames.append(world.positions[0].astype(np.float64))
            residual = max(residual, float(world.stats["residual"][0]))
        found = case.look(times, frames, bulk.pressing(world))
    return {"cpu_per_s": spent / case.seconds, "residual": residual, **overlaps(frames), **found}


def mean(values: list[float]) -> Row:
    """Mean, as the middle of a spread, and half of the range."""
    return {"mean": float(np.mean(values)), "scatter": 0.5 * (max(values) - min(values))}


def compared(name: str, settings: list[Setting], seeds: int) -> list[Row]:
    """Rows of a case: LAMMPS, then the settings."""
    case = CASES[name]
    runs: dict[str, list[Row]] = {label: [] for label in ("LAMMPS", *(s.label for s in settings))}
    for seed in range(1, seeds + 1):
        start = case.start(seed)
        runs["LAMMPS"].append(theirs(case, start))
        for setting in settings:
            runs[setting.label].append(ours(case, start, setting))
        print(f"{name}: seed {seed}", file=sys.stderr, flush=True)
    rows = []
    for label, found in runs.items():
        row: Row = {"name": f"{name}, {label}", "scene": name, "subject": label, "grains": len(start.positions)}
        row["cpu_per_s"] = measure.spread([one["cpu_per_s"] for one in found])
        if label != "LAMMPS":
            pairs = zip(runs["LAMMPS"], found, strict=True)
            row["over_lammps"] = statistics.median(a["cpu_per_s"] / b["cpu_per_s"] for a, b in pairs)
        worst = {key: max(one[key] for one in found) for key in ("residual", "overlap_max_pct") if key in found[0]}
        row |= {**worst, "overlap_mean_pct": float(np.mean([one["overlap_mean_pct"] for one in found]))}
        row |= {key: mean([one[key] for one in found]) for key in found[0] if key not in COSTS}
        rows.append({**row, "seeds": seeds})
    rows[0]["version"] = lammps.version()
    return rows


def shown(rows: list[Row]) -> str:
    """Rows as text."""

    def cell(value: Any) -> Any:
        return f"{value['mean']:.4g} ±{value['scatter']:.2g}" if isinstance(value, dict) and "mean" in value else value

    names = tuple(key for key in rows[-1] if key not in ("name", "scene", "subject", "seeds", "grains"))
    return table([{key: cell(value) for key, value in row.items()} for row in rows], names)


def main(arguments: list[str] | None = None) -> int:
    """Runs the command line; returns the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0], prog="benchmarks.alike")
    parser.add_argument("cases", nargs="*", metavar="case", help=f"of {', '.join(CASES)}; none: all")
    parser.add_argument("--solver", action="append", type=Setting.parse, help="name=value,...; dt and kernel, too")
    parser.add_argument(
        "--limit", type=Setting.parse, help=f"counts as converged, like {LIMIT}; not given: none is run"
    )
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--out", type=Path, default=OUT, help="folder for alike.json")
    args = parser.parse_args(arguments)
    unknown = [name for name in args.cases if name not in CASES]
    if unknown:
        parser.error(f"case: expected some of {', '.join(CASES)}, got {', '.join(unknown)}")
    if lammps.program() is None:
        parser.error("LAMMPS (lmp) is not on the path")
    settings = [*(args.solver or [Setting.parse("")]), *([args.limit] if args.limit else [])]
    # settings below the rules are tried, too
    warnings.simplefilter("ignore", gg.StabilityWarning)
    facts = measure.facts()
    for name in args.cases or CASES:
        rows = compared(name, settings, args.seeds)
        print(f"\n{CASES[name].about}\n\n{shown(rows)}", flush=True)
        measure.save(args.out / "alike.json", facts, rows)
    return 0


if __name__ == "__main__":
    sys.exit(main())
