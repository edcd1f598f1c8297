"""continuum_slope.py: a stiff ball of continuous matter slides or rolls down 45 degrees, beside a rigid one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from testbed.continuum import sliding_ball
from validation import matter, plot
from validation.check import Check, Params, Result, Row, Values, below, near, pick

#: way of a rigid ball in 1 s [m], by friction
WAYS = {0.0: 3.468, 0.2: 2.775, 0.3: 2.477, 0.6: 2.477}
RADIUS = 0.5
#: particles in a cell, by the distance of the nodes [m]
FILLING = {0.2: 64.0, 0.1: 27.0, 0.05: 8.0}


def cases(size: str, seeds: Sequence[int]) -> list[Params]:
    found: list[Params] = []
    for mode, dt, fine in (("implicit", 0.01, 0.01), ("explicit", 2.5e-4, 1.25e-4)):
        found += [{"mode": mode, "mu": mu, "spacing": 0.2, "dt": dt, "spin": "-"} for mu in WAYS]
        found.append({"mode": mode, "mu": 0.6, "spacing": 0.1, "dt": fine, "spin": "-"})
        if mode == "implicit":
            found.append({"mode": mode, "mu": 0.6, "spacing": 0.05, "dt": 2.5e-3, "spin": "-"})
    return found


def measure(params: Params, threads: int) -> Values:
    """Way in 1 s [m], its course, and the speed of the rim over that of the middle."""
    scene = sliding_ball(params["mu"], params["spacing"], FILLING[params["spacing"]])
    with matter.build(scene, params, threads) as world:
        mass = world.grain_masses[0].astype(np.float64)

        def middle() -> Any:
            return mass @ world.positions[0].astype(np.float64) / mass.sum()

        start, ways = middle(), []
        for _ in range(20):
            world.step(params["dt"], round(0.05 / params["dt"]))
            ways.append(float((middle() - start)[0]))
        arms, velocities = world.positions[0] - middle(), world.velocities[0].astype(np.float64)
        turning = mass @ np.cross(arms, velocities)[:, 1] / (mass @ (arms[:, 0] ** 2 + arms[:, 2] ** 2))
        return {"ways": ways, "rim": RADIUS * turning / (mass @ velocities[:, 0] / mass.sum())}


def judge(results: list[Result]) -> list[Row]:
    rows = []
    for r in results:
        mu, ball = r.params["mu"], matter.setup(r.params, f"ball of 100 MPa, mu {r.params['mu']:g}")
        rows.append(near(r, ball, "way in 1 s [m]", r.values["ways"][-1], WAYS[mu], 0.02, matter.ZONG, relative=True))
        if mu == 0.0:
            rows.append(below(r, ball, "speed of the rim over speed", abs(r.values["rim"]), 1e-3, "rigid body"))
        if mu == 0.6:
            rows.append(near(r, ball, "speed of the rim over speed", r.values["rim"], 1.0, 0.02, "rigid body"))
    return rows


def draw(figure: Any, results: list[Result]) -> None:
    axes = plot.panels(figure, (("time [s]", "way [m]"),) * 2)
    times = 0.05 * np.arange(1, 21)
    for ax, mode in zip(axes, matter.SOLVERS, strict=True):
        for way in dict.fromkeys(WAYS.values()):
            ax.plot(times, way * times**2, color=plot.TARGET, lw=1)
        for k, r in enumerate(pick(results, mode=mode)):
            label = f"mu {r.params['mu']:g}, {100 * r.params['spacing']:g} cm"
            ax.plot(times, r.values["ways"], "o", ms=3, color=f"C{k}", label=label)
        ax.set_title(f"{mode}; lines: rigid ball", fontsize=9)
        plot.legend(ax)


CHECK = Check(
    name="continuum_slope",
    title="ball of continuous matter on 45 degrees",
    about=(
        "An elastic ball (Young's modulus 100 MPa, Poisson's ratio .2, radius .5 m, 1000 kg/m3) on a slope of 45 "
        "degrees. "
        "A rigid one slides with g (sin θ - mu cos θ) where mu < 2/7 tan θ and else rolls with 5/7 g sin θ: "
        "Zong, Jiang, "
        "Han 2024, equation 27. Steps of 10 ms in the implicit mode, which alone make a way of 1 s 1 % longer; "
        "of .25 and "
        ".125 ms in the explicit one. Nodes 20 and 10 cm apart, and once 5 cm, in implicit steps of 2.5 ms "
        "(docs/continuum.md, What rolls)."
    ),
    number="",
    headline="way in 1 s [m]",
    cases=cases,
    measure=measure,
    judge=judge,
    draw=draw,
    causes={
        "way in 1 s [m]": (
            "rolling loses in proportion to the spacing. It does so in both modes and at any step (docs/films.md, "
            "slope); on nodes 5 cm apart, in steps of 2.5 ms, the law is met"
        ),
        "speed of the rim over speed": (
            "explicit contacts roll on a smaller radius. Friction acts at the outermost particles, half their distance "
            "behind the surface"
        ),
    },
    same=True,
    panels=2,
)
