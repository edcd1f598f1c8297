"""continuum_panels.py: an elastic cube hangs between two panels that push with 10 N each."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from testbed.continuum import gripped
from validation import matter, plot
from validation.check import Check, Params, Result, Row, Values, below, near

PUSH, WEIGHT = 10.0, 0.4 * 9.81
#: duration, and from when on forces are judged [s]
SECONDS, STILL = 0.6, 0.3


def cases(size: str, seeds: Sequence[int]) -> list[Params]:
    steps = (("implicit", 0.01), ("implicit", 1e-3), ("explicit", 4e-4), ("explicit", 1e-4))
    return [{"mode": mode, "spacing": 0.02, "dt": dt, "spin": "-"} for mode, dt in steps]


def measure(params: Params, threads: int) -> Values:
    """Forces on the left panel in every step, as a panel pushes [N], and how far the cube sinks [m]."""
    with matter.build(gripped(params["spacing"]), params, threads) as world:
        world.set_tool_force("left", (PUSH, 0.0, 0.0))
        world.set_tool_force("right", (-PUSH, 0.0, 0.0))
        start, forces = world.positions[0, :, 2].mean(), []
        for _ in range(round(SECONDS / params["dt"])):
            world.step(params["dt"])
            forces.append(-world.wrenches[0, 0, :3])
        still = np.array(forces[round(STILL / params["dt"]) :], np.float64)
        every = max(len(forces) // 600, 1)
        return {
            "forces": np.array(forces)[::every].tolist(),
            "mean": still.mean(axis=0).tolist(),
            "worst": np.abs(still - (PUSH, 0.0, 0.5 * WEIGHT)).max(axis=0).tolist(),
            "sunk": float(start - world.positions[0, :, 2].mean()),
        }


def judge(results: list[Result]) -> list[Row]:
    rows = []
    for r in results:
        cube, mean, worst = matter.setup(r.params, "cube of .4 kg, mu .8"), r.values["mean"], r.values["worst"]
        rows += [
            near(r, cube, "force across, mean [N]", mean[0], PUSH, 0.01, matter.ZONG, relative=True),
            near(r, cube, "force upwards, mean [N]", mean[2], 0.5 * WEIGHT, 0.01, matter.ZONG, relative=True),
            below(r, cube, "ripple across, any step [N]", worst[0], 0.1, "1 % of 10 N"),
            below(r, cube, "ripple upwards, any step [N]", worst[2], 0.01 * 0.5 * WEIGHT, "1 % of 1.962 N"),
            below(r, cube, "ripple sideways, any step [N]", worst[1], 0.05, "own"),
            below(r, cube, "sunk [mm]", 1e3 * r.values["sunk"], 1.0, "own"),
        ]
    return rows


def draw(figure: Any, results: list[Result]) -> None:
    axes = plot.panels(figure, (("time [s]", "force across [N]"), ("time [s]", "force upwards [N]")))
    for ax, axis, target in zip(axes, (0, 2), (PUSH, 0.5 * WEIGHT), strict=True):
        ax.axhline(target, color=plot.TARGET, lw=1)
        for r in results:
            force = np.array(r.values["forces"])[:, axis]
            times = np.linspace(0.0, SECONDS, len(force))
            ax.plot(times, force, lw=0.8, label=f"{r.params['mode']}, {1e3 * r.params['dt']:g} ms")
        ax.set_ylim(0.0, 2.0 * target)
        plot.legend(ax)


CHECK = Check(
    name="continuum_panels",
    title="elastic cube held by friction between panels",
    about=(
        "Two panels of .5 kg that move along x alone push with 10 N each on an elastic cube (.1 MPa, Poisson's "
        "ratio .4, "
        ".4 kg, 1,000 particles), which hangs by friction of .8: Zong, Jiang, Han 2024, figure 6. Each panel "
        "takes 10 N "
        "across and half of the weight, 1.962 N; nothing else moves the cube. Judged from .3 s on: means, and "
        "the largest "
        "distance from the balance in any step."
    ),
    number="",
    headline="force upwards, mean [N]",
    cases=cases,
    measure=measure,
    judge=judge,
    draw=draw,
    causes={
        "ripple across": (
            "swings that explicit steps hardly damp. Only the transfers damp them, the less the longer the steps are"
        ),
    },
    same=True,
    panels=2,
)
