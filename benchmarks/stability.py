"""stability.py: the largest stable time step of a bed, by iterations, depth and relaxation of the overlap (alpha).

    python benchmarks/stability.py [--mode gauss_seidel] [--out FOLDER] [--quick] [--depth]

Beds of standard grains on a floor, periodic sideways. Each starts at rest (settled with small steps and many
iterations) or falls from a loose lattice, runs for 2 s with the settings under test, and is measured every 20 ms.
Prints the tables of docs/stability.md and writes FOLDER/stability.json (default benchmarks/results/cpu), in about ten
minutes on one slow core. --depth measures whether deep beds stay at rest instead and writes
FOLDER/stability_depth.json, in about the same time. --mode jacobi measures that mode; its files end in _jacobi. What
a bed is like after its fall: benchmarks/accuracy.py.

The contact law has no intrinsic length: stability depends on g dt^2 / d, the displacement by gravity in a step over the
diameter. Grains of another size at equal g dt^2 / d are measured as a check.
"""

from __future__ import annotations

import argparse
import functools
import json
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np

if __package__ in (None, ""):
    # run as a script: import packages from the root of the project
    sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import granular_gym as gg
from benchmarks import measure
from benchmarks.measure import Row
from granular_gym.engine.solver import CONVERGENT
from granular_gym.engine.solver import layers as layers_of
from testbed.beds import GRAVITY, RADIUS, rms_speed
from testbed.landings import loose_bed

OUT = Path(__file__).resolve().parent / "results" / "cpu"
STEPS = (5e-4, 1e-3, 2e-3, 5e-3, 1e-2)  # [s]
ITERATIONS = (5, 10, 20, 40)
LAYERS = (10, 24, 60)
SEEDS = (1, 2, 3)  # of the beds whose fewest iterations are looked for
MOST = 256  # iterations tried
SECONDS, INTERVAL = 2.0, 0.02  # duration of a case and interval of measurements [s]
#: deep beds at rest: layers built, grains per layer, time [s], allowed change of the mean height [radii]
DEEP_LAYERS, DEEP_PER_LAYER, DEEP_SECONDS, DEEP_SINK = (20, 60, 120), 25, 10.0, 0.01


@functools.lru_cache
def settled(mode: str, layers: int, radius: float = RADIUS, seed: int = 1) -> tuple[gg.State, float]:
    """State of the settled bed, with its impulses, and its mean height [m]."""
    dt = 1e-3 * (radius / RADIUS) ** 0.5
    with loose_bed(layers, seed, radius).build(solver=gg.Solver(mode=mode, iterations=40), num_threads=1) as world:
        world.step(dt, 4000)
        return world.save_state(), measure.mean_height(world)


def case(
    mode: str,
    start: str,
    layers: int,
    dt: float,
    iterations: int,
    alpha: float = 0.8,
    radius: float = RADIUS,
    seed: int = 1,
) -> Row:
    """One cell of a table.

    Returns:
        Columns; speeds also over g dt, the speed gained in one step of free fall; overlaps and sinking in %.
    """
    scale = (radius / RADIUS) ** 0.5
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", gg.StabilityWarning)
        solver = gg.Solver(mode=mode, iterations=iterations, alpha=alpha)
        with loose_bed(layers, seed, radius).build(solver=solver, num_threads=1) as world:
            state, height = settled(mode, layers, radius, seed)
            if start == "rest":
                world.load_state(state)
            speeds, deepest = [], 0.0
            for _ in range(round(SECONDS / INTERVAL)):
                try:
                    world.step(dt * scale, max(1, round(INTERVAL / dt)))
                except gg.CapacityError:
                    # grains lie inside each other: there is nothing to measure
                    speeds += [float("nan")] * (round(SECONDS / INTERVAL) - len(speeds))
                    break
                speeds.append(rms_speed(world))
                deepest = max(deepest, float(world.stats["overlap_max"][0]))
            quality = measure.quality(world)
            final = measure.mean_height(world)
    quarter = len(speeds) // 4
    early, late = (float(np.mean(part)) for part in (speeds[quarter : 2 * quarter], speeds[3 * quarter :]))
    return {
        "mode": mode,
        "start": start,
        "layers": layers,
        "dt": dt,
        "iterations": iterations,
        "alpha": alpha,
        "radius": radius,
        "seed": seed,
        "rms_mm_s": 1e3 * late,
        "rms_over_g_dt": late / (GRAVITY * dt * scale),
        "growth": late / early if early > 0.0 else 0.0,
        "holds": bool(late < 0.1 * GRAVITY * dt * scale and abs(final / height - 1.0) < 1e-3),
        "overlap_mean_pct": quality["overlap_mean_pct"],
        "overlap_max_pct": 100.0 * deepest,
        "height_pct": 100.0 * (final / height - 1.0),
        "diverged": quality["diverged"],
    }


def grid(quick: bool) -> list[dict[str, Any]]:
    """Cases by start, depth, dt and iterations."""
    return [
        {"start": start, "layers": n, "dt": dt, "iterations": iterations}
        for start in ("rest", "fall")
        for n in (LAYERS[:2] if quick or start == "fall" else LAYERS)
        for dt in STEPS
        for iterations in ITERATIONS
    ]


def others() -> list[dict[str, Any]]:
    """Cases with other alpha, and with grains nine times as large and steps three times as long."""
    alphas = [
        {"start": start, "layers": 24, "dt": dt, "iterations": iterations, "alpha": alpha}
        for start in ("rest", "fall")
        for alpha in (0.2, 0.5, 1.0)
        for dt, iterations in ((1e-3, 10), (5e-3, 10), (5e-3, 20), (1e-2, 40))
    ]
    sizes = [
        {"start": "rest", "layers": 24, "dt": dt, "iterations": iterations, "radius": 9.0 * RADIUS}
        for dt in (1e-3, 5e-3, 1e-2)
        for iterations in (10, 20, 40)
    ]
    return alphas + sizes


def fewest(mode: str, rows: list[Row], layers: int, dt: float, seed: int) -> int:
    """Fewest iterations that keep a bed at rest, by bisection; 0: not even MOST."""
    fails, holds = 0, 1
    while not held(mode, rows, layers, dt, holds, seed):
        fails, holds = holds, 2 * holds
        if holds > MOST:
            return 0
    while holds - fails > 1:
        middle = (holds + fails) // 2
        holds, fails = (middle, fails) if held(mode, rows, layers, dt, middle, seed) else (holds, middle)
    return holds


def held(mode: str, rows: list[Row], layers: int, dt: float, iterations: int, seed: int) -> bool:
    """Whether a bed stays at rest; its row is added."""
    rows.append(case(mode, "rest", layers, dt, iterations, seed=seed))
    return bool(rows[-1]["holds"])


@functools.lru_cache
def deep_rest(mode: str, layers: int) -> gg.State:
    """State of a deep bed, with its impulses, settled with small steps and many iterations."""
    with deep_bed(layers).build(solver=gg.Solver(mode=mode, iterations=60), num_threads=1) as world:
        world.step(1e-3, 6000)
        return world.save_state()


def deep_bed(layers: int) -> gg.Scene:
    """A deep bed, with half the grains per layer."""
    return loose_bed(layers, side=DEEP_PER_LAYER**0.5, per_layer=DEEP_PER_LAYER)


def long_rest(mode: str, layers: int, dt: float, iterations: int) -> Row:
    """Whether a deep bed stays at rest for ten seconds; stops as soon as it does not."""
    with deep_bed(layers).build(solver=gg.Solver(mode=mode, iterations=iterations), num_threads=1) as world:
        depth = layers_of(world.positions[0], world.radii[0], world.gravity[0])
        world.load_state(deep_rest(mode, layers))
        start, sunk, time = measure.mean_height(world), 0.0, 0.0
        while time < DEEP_SECONDS and abs(sunk) <= DEEP_SINK:
            try:
                world.step(dt, round(0.5 / dt))
            except gg.CapacityError:
                # grains lie inside each other
                sunk = float("nan")
                break
            time += 0.5
            sunk = (start - measure.mean_height(world)) / RADIUS
        energy = 0.5 * rms_speed(world) ** 2 / (GRAVITY * 2.0 * RADIUS)
    holds = abs(sunk) <= DEEP_SINK
    found = {"mode": mode, "layers": layers, "depth": depth, "dt": dt, "iterations": iterations, "holds": holds}
    return {**found, "time": time, "sunk_radii": sunk, "energy_mgd": energy}


def fewest_deep(mode: str, rows: list[Row], layers: int, dt: float) -> int:
    """Fewest iterations with which a deep bed stays at rest for ten seconds, by bisection."""
    fails, holds = 0, max(1, round(50.0 * dt * (GRAVITY / (2.0 * RADIUS)) ** 0.5))
    while True:
        rows.append(long_rest(mode, layers, dt, holds))
        print(shown(rows[-1]), flush=True)
        if rows[-1]["holds"]:
            break
        fails, holds = holds, 2 * holds
    while holds - fails > max(1, holds // 16):
        middle = (holds + fails) // 2
        rows.append(long_rest(mode, layers, dt, middle))
        print(shown(rows[-1]), flush=True)
        holds, fails = (middle, fails) if rows[-1]["holds"] else (holds, middle)
    return holds


def run_depth(mode: str, path: Path) -> None:
    """Prints the table of deep beds; writes its rows."""
    rows: list[Row] = []
    warnings.simplefilter("ignore", gg.StabilityWarning)
    table = {(n, dt): fewest_deep(mode, rows, n, dt) for n in DEEP_LAYERS for dt in STEPS}
    depths = {row["layers"]: row["depth"] for row in rows}
    print("\nfewest iterations with which a deep bed rests for 10 s, by depth\n")
    print("| dt [ms] | " + " | ".join(f"{depths[n]:.0f} d" for n in DEEP_LAYERS) + " |")
    print("|---|" + "---|" * len(DEEP_LAYERS))
    for dt in STEPS:
        cells = [str(table[n, dt]) for n in DEEP_LAYERS]
        print(f"| {1e3 * dt:g} | " + " | ".join(cells) + " |")
    write(path, rows)


def shown(row: Row) -> str:
    """A row on one line."""
    return " ".join(value if isinstance(value, str) else f"{key}={value:.4g}" for key, value in row.items())


def write(path: Path, rows: list[Row]) -> None:
    """Writes rows, and facts about the machine."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({"facts": measure.facts(), "rows": rows}, indent=1, default=str) + "\n")
    print(f"wrote {path}")


def print_grid(rows: list[Row], start: str, layers: int) -> None:
    """Prints a table in Markdown: a row for each dt, a column for each number of iterations."""
    print(f"\n{start}, {layers} layers: rms speed / (g dt), mean overlap %, height %\n")
    print("| dt [ms] | " + " | ".join(f"{n} iterations" for n in ITERATIONS) + " |")
    print("|---|" + "---|" * len(ITERATIONS))
    by = {
        (row["dt"], row["iterations"]): row
        for row in rows
        if (row["start"], row["layers"], row["alpha"], row["radius"]) == (start, layers, 0.8, RADIUS)
    }
    for dt in STEPS:
        cells = [by[dt, n] for n in ITERATIONS]
        text = [f"{c['rms_over_g_dt']:.3f}, {c['overlap_mean_pct']:.2f}, {c['height_pct']:+.2f}" for c in cells]
        print(f"| {1e3 * dt:g} | " + " | ".join(text) + " |")


def main() -> None:
    """Runs all cases; prints the tables; writes the JSON."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="without the deepest bed")
    parser.add_argument("--depth", action="store_true", help="deep beds at rest only")
    parser.add_argument("--mode", choices=CONVERGENT, default=CONVERGENT[0], help="of the solver")
    parser.add_argument("--out", type=Path, default=OUT)
    args = parser.parse_args()
    # each mode has results of its own
    suffix = "" if args.mode == CONVERGENT[0] else f"_{args.mode}"
    if args.depth:
        run_depth(args.mode, args.out / f"stability_depth{suffix}.json")
        return
    rows: list[Row] = []
    for settings in [*grid(args.quick), *others()]:
        rows.append(case(args.mode, **settings))
        print(shown(rows[-1]), flush=True)
    depths = sorted({row["layers"] for row in rows})
    print(f"\nfewest iterations that hold a resting bed, for seeds {SEEDS}\n")
    print("| dt [ms] | " + " | ".join(f"{n} layers" for n in depths) + " |")
    print("|---|" + "---|" * len(depths))
    for dt in STEPS:
        found = [[fewest(args.mode, rows, n, dt, seed) for seed in SEEDS] for n in depths]
        print(f"| {1e3 * dt:g} | " + " | ".join(", ".join(map(str, cell)) for cell in found) + " |")
    for start, layers in sorted({(row["start"], row["layers"]) for row in rows}):
        print_grid(rows, start, layers)
    write(args.out / f"stability{suffix}.json", rows)


if __name__ == "__main__":
    main()
