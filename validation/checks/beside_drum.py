"""beside_drum.py: the drum with two grain sizes, compared with LAMMPS from the same initial state."""

from __future__ import annotations

import itertools
import math
from collections import defaultdict
from collections.abc import Sequence
from typing import Any

import numpy as np

from benchmarks import lammps
from validation import peer, plot
from validation.check import OWN, Check, Params, Result, Row, Values, groups, near, report, skipped
from validation.checks.drum import DENSITIES, PAIRS, QUADRANTS, SETTLING, SIZES, Drum, mixture, quadrants
from validation.peer import CODE

#: stiffness [N/m] and time step [s] of LAMMPS: a 23rd of a collision of the small grains; under the weight of the bed
#: grains overlap by rho g h d^2 / k, about .2 % of their diameter
STIFFNESS, DT = 1e3, 1e-5


def cases(size: str, seeds: Sequence[int]) -> list[Params]:
    common = {"spin": "on", "dt": 5e-4}
    if size == "quick":
        return [{"scale": 0.25, "seed": seeds[0], **common}]
    return [{"scale": 0.5, "seed": s, **common} for s in seeds]


def _law(a: str, b: str) -> str:
    """Springs and dashpots of a pair of materials; the effective mass at a wall is that of the grain."""
    mass = {name: DENSITIES[name] * 4.0 / 3.0 * math.pi * r**3 for name, _, r in SIZES}
    friction, restitution = PAIRS[a, b]
    m = mass[a] if b == "steel" else mass[a] * mass[b] / (mass[a] + mass[b])
    # damping in LAMMPS is per effective mass
    normal = f"hooke {STIFFNESS:g} {lammps.damping(m, restitution, STIFFNESS) / m:.8g}"
    return f"{normal} tangential linear_history {2.0 / 7.0 * STIFFNESS:.8g} 0.5 {friction} damping mass_velocity"


def _theirs(drum: Drum, seed: int, frames: int) -> tuple[list[list[int]], float]:
    """Grains by quadrant in LAMMPS at evenly spaced times while the drum turns, and processor seconds."""
    filling, types = drum.filling(seed), {"M1": 1, "M2": 2}
    wide, far = drum.radius + 0.004, drum.half + 0.004
    head = [f"{sum(map(len, filling.values()))} atoms", "2 atom types", ""]
    head += [f"{-size:.9g} {size:.9g} {axis}lo {axis}hi" for size, axis in ((wide, "x"), (far, "y"), (wide, "z"))]
    number = itertools.count(1)
    body = [
        f"{next(number)} {types[name]} {2.0 * r} {DENSITIES[name]} {x:.9g} {y:.9g} {z:.9g}"
        for name, _, r in SIZES
        for x, y, z in filling[name]
    ]
    settling, block = round(SETTLING / DT), round(drum.seconds / frames / DT)
    lines = [
        "units si\natom_style sphere\nnewton off\nboundary f f f\ncomm_modify vel yes",
        "read_data packing.data\nneighbor 4e-4 bin\nneigh_modify delay 0 every 10 check yes",
        "pair_style granular",
        *(f"pair_coeff {types[a]} {types[b]} {_law(a, b)}" for a, b in PAIRS if b in types),
        f"variable angle equal (step>{settling})*(step-{settling})*{DT * drum.rate:.12g}",
        f"region drum cylinder y 0 0 {drum.radius:.9g} {-drum.half:.9g} {drum.half:.9g} side in "
        "rotate v_angle 0 0 0 0 1 0",
    ]
    for name, kind in types.items():
        lines.append(f"group {name} type {kind}")
        lines.append(f"fix wall{kind} {name} wall/gran/region granular {_law(name, 'steel')} region drum")
    lines += [
        f"fix weight all gravity 9.81 vector 0 0 -1\nfix motion all nve/sphere\ntimestep {DT:g}\nthermo 1000000",
        f"run {settling}",
        f"variable look equal stride({settling},{settling + (frames + 1) * block},{block})",
        f"dump look all custom {block} look.dump id x y z\ndump_modify look sort id format float %.9g",
        "dump_modify look every v_look first yes",
        f"run {frames * block}",
    ]
    steps, found, seconds = peer.execute("\n".join(["drum", "", *head, "", "Atoms", "", *body, ""]), lines)
    if steps != [settling + block * k for k in range(frames + 1)]:
        raise RuntimeError(f"LAMMPS: expected looks from step {settling} on, one in {block}, got {steps}")
    large = len(filling["M2"])
    return [quadrants(x, np.arange(len(x)) < large) for x in found], seconds


def measure(params: Params, threads: int) -> Values:
    """Grains by quadrant in both codes."""
    ours = mixture(params, threads)
    theirs, seconds = _theirs(Drum(params["scale"]), params["seed"], len(ours["times"]) - 1)
    return {
        "times": ours["times"],
        "ours": ours["counts"],
        "theirs": theirs,
        "small": ours["small"],
        "large": ours["large"],
        "peer_seconds": seconds,
    }


def judge(results: list[Result]) -> list[Row]:
    if not results:
        return [skipped(CODE, peer.available())]
    rows = []
    lasts: dict[float, list[Any]] = defaultdict(list)
    for r in results:
        v, scale = r.values, r.params["scale"]
        setup = f"{v['small']} of 2 mm above {v['large']} of 4 mm, drum x {scale:g} at equal Fr"
        ours, theirs = np.array(v["ours"], float), np.array(v["theirs"], float)
        fifth = len(ours) // 5
        for k, quadrant in enumerate(QUADRANTS):
            a, b = ours[-fifth:, k].mean(), theirs[-fifth:, k].mean()
            name = f"{quadrant}, mean of the last fifth"
            if scale < 0.5:  # too few grains for a gate: one of them is up to 3 %
                rows.append(report(r, setup, f"{name}: {b:.4g} in LAMMPS", float(a), OWN))
            else:
                rows.append(near(r, setup, name, float(a), float(b), 0.1, CODE, relative=True))
        lasts[scale].append((ours[-fifth:].mean(axis=0), theirs[-fifth:].mean(axis=0)))
        whole = np.array([v["small"], v["small"], v["large"], v["large"]])
        apart = float(np.abs((ours - theirs) / whole).max())
        rows.append(report(r, setup, "largest difference at any time / grains of the size", apart, OWN))
    for (scale,), mine in groups(results, "scale").items():
        if len(mine) > 1:
            ours, theirs = np.mean(lasts[scale], axis=0)
            setup = f"drum x {scale:g} at equal Fr, means over {len(mine)} seeds"
            for k, quadrant in enumerate(QUADRANTS):
                name, target = f"{quadrant}, mean of the last fifth", float(theirs[k])
                rows.append(near(mine, setup, name, float(ours[k]), target, 0.1, CODE, relative=True))
    return rows


def draw(figure: Any, results: list[Result]) -> None:
    axes = plot.panels(figure, [("time [s]", f"{size} grains below the axis, share") for size in ("small", "large")])
    r = results[0]
    for k, quadrant in enumerate(QUADRANTS):
        whole = r.values["small"] if k < 2 else r.values["large"]
        for key, style, name in (("ours", "-", quadrant), ("theirs", "--", "LAMMPS" if k % 2 else None)):
            line = np.array(r.values[key], float)[:, k] / whole
            axes[k // 2].plot(r.values["times"], line, style, lw=1, color=f"C{k % 2}", label=name)
    for ax in axes:
        plot.legend(ax)


CHECK = Check(
    name="drum_lammps",
    title="drum with two grain sizes, compared with LAMMPS",
    about=(
        "The drum of `mixture`, half as large at equal Froude number, from the same lattice in LAMMPS (springs of "
        "1e3 N/m with history, 1e-5 s) and in this engine: grains of each size in the two lower quadrants while "
        "the drum turns. They must agree within 10 %. Seconds are of both codes."
    ),
    number="16",
    headline="small, lower left, mean of the last fifth",
    cases=cases,
    measure=measure,
    judge=judge,
    draw=draw,
    causes={
        "small, lower right": (
            "cause not found, but the bed turns over later than in LAMMPS: this count rises by 30 grains in .01 s "
            "then, in the last fifth, here .02 to .12 s later. Not the solver nor its step: seed 1 has 284 with 30 "
            "iterations and 338 at .25 ms. Part is chaos: LAMMPS from the same start gave 471, 566 and 550 in an "
            "earlier run, and mode `jacobi` 618, 473 and 590. The soft springs of LAMMPS were not varied"
        ),
    },
    available=peer.available,
    panels=2,
)
