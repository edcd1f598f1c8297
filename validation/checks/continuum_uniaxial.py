"""continuum_uniaxial.py: a column of continuous matter is pressed between plates: Young's modulus and the yield "
"stress."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

import granular_gym as gg
from testbed.continuum import DOUGH, POISSON, YIELD, YOUNG, squeeze, squeezed
from validation import matter, plot
from validation.check import Check, Params, Result, Row, Values, near, pick

AREA = 0.01
#: strains to which the plate presses
ELASTIC, PLASTIC = (0.0025, 0.005, 0.0075, 0.01), (0.05, 0.1, 0.15)
#: of each stage: pressing, and rest, over the second half of which the force is the mean [s]
PRESS, REST = 0.1, 0.3
#: pressing of dough, which rests at any stress below its yield stress: the force is the mean of the last fifth [s]
FLOW = 0.3
#: strains in the middle of those
FLOWING = tuple(strain - 0.1 * 0.05 for strain in PLASTIC)


def cases(size: str, seeds: Sequence[int]) -> list[Params]:
    return [
        {"case": case, "mode": mode, "spacing": spacing, "dt": dt, "spin": "-"}
        for mode, spacing, dt in (
            ("implicit", 0.02, 0.01),
            ("implicit", 0.0125, 0.01),
            ("explicit", 0.02, 9e-4),
            ("explicit", 0.0125, 9e-4),
        )
        for case in ("elastic", "plastic")
    ]


def measure(params: Params, threads: int) -> Values:
    """Stress on the plate, over the area that the column had, at each strain, of dough as it flows there [Pa]."""
    elastic, dt = params["case"] == "elastic", params["dt"]
    material = gg.Elastic(YOUNG, POISSON) if elastic else DOUGH
    stresses = []
    with matter.build(squeezed(material, params["spacing"]), params, threads) as world:
        for strain in ELASTIC if elastic else PLASTIC:
            if not elastic:
                stresses.append(squeeze(world, strain, round(FLOW / dt), dt) / AREA)
                continue
            squeeze(world, strain, round(PRESS / dt), dt)
            forces = []
            for _ in range(round(REST / dt)):
                world.step(dt)
                forces.append(float(world.wrenches[0, 0, 2]))
            stresses.append(float(np.mean(forces[len(forces) // 2 :])) / AREA)
    return {"stresses": stresses}


def judge(results: list[Result]) -> list[Row]:
    rows = []
    for r in pick(results, case="elastic"):
        rod = matter.setup(r.params, "column 10 x 10 x 20 cm, strain .25 to 1 %")
        slope = float(np.polyfit(ELASTIC, r.values["stresses"], 1)[0]) / YOUNG
        rows.append(near(r, rod, "slope / Young's modulus", slope, 1.0, 0.01, "Hooke"))
    for r in pick(results, case="plastic"):
        rod = matter.setup(r.params, "column 10 x 10 x 20 cm of dough, strain 15 %")
        # the area of matter that keeps its volume, in the middle of the last fifth of the stage
        stress = r.values["stresses"][-1] * (1.0 - FLOWING[-1])
        rows.append(
            near(r, rod, "stress / sqrt(3/2) yield stress", stress / (np.sqrt(1.5) * YIELD), 1.0, 0.03, "von Mises")
        )
    return rows


def draw(figure: Any, results: list[Result]) -> None:
    axes = plot.panels(figure, (("strain [%]", "stress [Pa]"),) * 2)
    for ax, case, strains in zip(axes, ("elastic", "plastic"), (ELASTIC, FLOWING), strict=True):
        values = 100.0 * np.array(strains)
        law = YOUNG * np.array(strains) if case == "elastic" else np.sqrt(1.5) * YIELD / (1.0 - np.array(strains))
        ax.plot(values, law, color=plot.TARGET, label="law")
        for r in pick(results, case=case):
            label = f"{r.params['mode']}, {100 * r.params['spacing']:g} cm"
            ax.plot(values, r.values["stresses"], "o", ms=3, label=label)
        ax.set_title(case, fontsize=9)
        plot.legend(ax)


CHECK = Check(
    name="continuum_uniaxial",
    title="column pressed between smooth plates",
    about=(
        "A column of 10 x 10 x 20 cm without gravity between a floor and a plate, both without friction, on 5 "
        "and 8 cells "
        "across. Elastic (20 kPa, Poisson's ratio .4): the slope of the stress is Young's modulus. Dough (von "
        "Mises, yield stress "
        "1 kPa): pressed to 15 % at 3 cm/s, the stress over the area that the column then has is sqrt(3/2) times "
        "the yield stress. "
        "Forces are means: elastic over .15 s, .15 s after the plate stops; of dough while the last 1 % is pressed. "
        "Pressed more slowly the column buckles: docs/continuum.md, What buckles."
    ),
    number="",
    headline="slope / Young's modulus",
    cases=cases,
    measure=measure,
    judge=judge,
    draw=draw,
    causes={
        "slope / Young's modulus": (
            "few cells; explicit contacts hold half a cell. They act half a particle's distance behind the surface, so "
            "that the column is shorter by half a cell, 5.3 and 3.2 %"
        ),
        "stress / sqrt(3/2) yield stress": (
            "few cells; explicit contacts hold half a cell. That is 5.3 % of the column that they leave on 5 "
            "cells, 3.2 % on 8"
        ),
    },
    same=True,
    panels=2,
)
