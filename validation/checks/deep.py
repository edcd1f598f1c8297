"""deep.py: deep beds at rest: no creep, no growth of jitter at documented combinations of step, iterations, depth."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

import granular_gym as gg
from granular_gym.engine.solver import layers
from testbed.beds import DIAMETER, GRAVITY, RADIUS, falling_bed, mean_overlap, rms_speed
from validation import plot
from validation.bulk import growth
from validation.check import OWN, Check, Params, Result, Row, Values, below, groups, pick, report

#: iterations by step [s]: from too few for all but shallow beds to enough for deep ones, see Solver.step_dangers
GRID = {5e-4: (5, 10, 20), 1e-3: (5, 10, 20, 40), 2e-3: (10, 20, 40), 5e-3: (20, 40, 80), 1e-2: (40, 80, 120)}
#: steps and iterations of the quick set, and of the full set with other grains and seeds
SOME = ((1e-3, 10), (1e-3, 20), (2e-3, 10), (2e-3, 20), (5e-3, 20), (5e-3, 40), (1e-2, 40), (1e-2, 80))
SIDE = 5
#: heights of the floor of beds of 20 layers far from the origin, where float32 resolves positions less well [m]
FAR = (1.0, 4.0)
#: their step [s] and iterations
FAR_STEP = (1e-3, 20)
SETTLE, REST = 3.0, 10.0  # [s]


def cases(size: str, seeds: Sequence[int]) -> list[Params]:
    quick = size == "quick"
    found: list[Params] = []
    for spin, rolling in (("on", 0.0),) if quick else (("on", 0.0), ("on", 0.3), ("off", 0.0)):
        common = {"side": SIDE, "spin": spin, "rolling": rolling, "floor": 0.0}
        standard = (spin, rolling) == ("on", 0.0) and not quick
        for n in (20, 60, 120) if standard else (20, 60):
            for dt, its in [(dt, its) for dt, line in GRID.items() for its in line]:
                if standard or (dt, its) in SOME:
                    some = seeds if standard and (dt, its) in SOME and n < 120 else seeds[:1]
                    found += [{"layers": n, "dt": dt, "iterations": its, "seed": s, **common} for s in some]
    dt, its = FAR_STEP
    far = {"layers": 20, "dt": dt, "iterations": its, "side": SIDE, "spin": "on", "rolling": 0.0}
    found += [{**far, "seed": s, "floor": z} for z in FAR for s in (seeds[:1] if quick else seeds)]
    # the first seed of all cases before the others
    return sorted(found, key=lambda p: (p["seed"], p["rolling"], p["spin"] == "off"))


def measure(params: Params, threads: int) -> Values:
    p, dt = params, params["dt"]
    solver = gg.Solver(iterations=p["iterations"], spin=p["spin"] == "on")
    with falling_bed(p["layers"], p["side"], p["seed"], p["rolling"], p["floor"]).build(
        num_threads=threads, solver=solver
    ) as world:
        depth = layers(world.positions[0], world.radii[0], world.gravity[0])
        world.step(dt, round(SETTLE / dt))
        times: list[float] = []
        speeds: list[float] = []
        medians: list[float] = []
        heights: list[float] = []
        overlaps: list[float] = []
        block = 0.5
        for k in range(round(REST / block) + 1):
            if k > 0:
                world.step(dt, round(block / dt))
                overlaps.append(mean_overlap(world))
            times.append(block * k)
            speeds.append(rms_speed(world))
            medians.append(float(np.median(np.linalg.norm(world.velocities[0], axis=1))))
            heights.append(float(world.positions[0, :, 2].mean(dtype=np.float64)))
        half = len(heights) // 2
        creep = (heights[half] - heights[-1]) / RADIUS / (times[-1] - times[half])
        return {
            "depth": depth,
            "times": times,
            "speeds": speeds,
            "medians": medians,
            "heights": heights,
            "creep": creep,
            "rest": 0.5 * float(np.median(speeds[-6:])) ** 2 / (GRAVITY * DIAMETER),
            "overlap": float(np.max(overlaps)),
            "largest": float(world.stats["overlap_max"][0]),
        }


def warnings_of(r: Result) -> list[str]:
    """Warnings of the solver for the step, iterations and depth of a result."""
    return gg.Solver(iterations=r.params["iterations"]).step_dangers(
        r.params["dt"], DIAMETER, GRAVITY, r.values["depth"]
    )


def judge(results: list[Result]) -> list[Row]:
    rows = []
    for r in results:
        p, v = r.params, r.values
        setup = f"{v['depth']:.0f} d deep, {p['iterations']} iterations, rolling friction {p['rolling']:g}"
        setup += f", floor at z = {p['floor']:g} m" if p["floor"] else ""
        drift = "drift of the centre of mass, last 5 s [r/s]"
        if warnings_of(r):
            rows.append(report(r, setup, "warned: kinetic energy / m g d", v["rest"]))
            rows.append(report(r, setup, f"warned: {drift}", abs(v["creep"])))
        else:
            moved = growth(v["speeds"][1:])
            rows.append(below(r, setup, "jitter: speed in the last / first 3 s of 10", moved, 1.0, OWN))
            bed_moved = growth(v["medians"][1:])
            rows.append(below(r, setup, "jitter of the bed: the same of the median grain", bed_moved, 1.0, OWN))
            rows.append(below(r, setup, "kinetic energy / m g d", v["rest"], 1e-6, OWN))
            rows.append(below(r, setup, drift, abs(v["creep"]), 1e-3, OWN))
        rows.append(report(r, setup, "mean overlap [d]", v["overlap"]))
    return rows


def draw(figure: Any, results: list[Result]) -> None:
    depths = sorted({r.params["layers"] for r in results})
    axes = plot.panels(figure, [("time at rest [s]", f"rms speed [m/s], {n} layers") for n in depths])
    for ax, depth in zip(axes, depths, strict=True):
        mine = pick(results, layers=depth, spin="on", rolling=0.0, floor=0.0, seed=1)
        for k, ((dt, its), line) in enumerate(groups(mine, "dt", "iterations").items()):
            for j, r in enumerate(line):
                ax.plot(
                    r.values["times"],
                    np.maximum(r.values["speeds"], 1e-8),
                    ":" if warnings_of(r) else "-",
                    color=f"C{k % 10}",
                    lw=1,
                    label=f"{1e3 * dt:g} ms, {its} its" if j == 0 else None,
                )
        ax.axhline(float(np.sqrt(2e-6 * GRAVITY * DIAMETER)), color=plot.TARGET, label="bound")
        ax.set_yscale("log")
    # one legend for all panels, beside them
    axes[-1].legend(fontsize=6, loc="center left", bbox_to_anchor=(1.0, 0.5))


CHECK = Check(
    name="deep",
    title="deep beds at rest: no creep, no growing jitter",
    about=(
        "Beds of 16, 47 and 94 diameters (20, 60, 120 layers of a lattice), periodic sideways (no wall carries "
        "weight), fall, settle for 3 s and rest for 10 s. Jitter must not grow and the bed must not creep for "
        "every combination of step, iterations and depth without a warning (`Solver.step_dangers`); the others are "
        "reported. Beds with the floor at 1 and 4 m lie far from the origin, where single precision is coarser."
    ),
    number="",
    headline="drift of the centre of mass, last 5 s [r/s]",
    cases=cases,
    measure=measure,
    judge=judge,
    draw=draw,
    causes={
        "drift": (
            "the bed sinks while overlaps of the landing are corrected: grains slide past each other, ever more "
            "slowly (docs/stability.md)"
        ),
        "jitter": (
            "single loose grains that roll or rock on: without rolling friction one keeps its speed, or is sampled "
            "at another phase. The bed itself is at rest: the median grain has a hundredth of the rms speed, 2e-8 "
            "to 1e-6 m/s, and does not grow faster"
        ),
    },
    panels=3,
)
