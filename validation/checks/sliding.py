"""sliding.py: exact Coulomb friction: it is isotropic, and does not lift a sliding body."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

import granular_gym as gg
from testbed.beds import GRAVITY, RADIUS, on_floor
from validation import plot
from validation.check import Check, Params, Result, Row, Values, below, groups, near

LAW = "Coulomb"
START = 1.0  # initial speed [m/s]
SIDES = 32


def cases(size: str, seeds: Sequence[int]) -> list[Params]:
    return [
        {"dt": dt, "spin": spin, "mu": mu, "seed": seed}
        for spin in ("off", "on")
        for mu in (0.2, 0.5, 1.0)
        for dt in (5e-4, 1e-3, 5e-3)
        for seed in seeds
    ]


def measure(params: Params, threads: int) -> Values:
    """Grains thrown in SIDES directions, one per env, offset by an angle from the seed."""
    dt, mu, spin = params["dt"], params["mu"], params["spin"] == "on"
    headings = 2.0 * np.pi * (np.arange(SIDES) + np.random.default_rng(params["seed"]).uniform()) / SIDES
    scene = on_floor([[0.0, 0.0, RADIUS]], friction=mu)
    # a block: until it stops; a ball: 9/10 of the time for which it slides
    seconds = 1.05 * START / (mu * GRAVITY) if not spin else 0.9 * 2.0 * START / (7.0 * mu * GRAVITY)
    steps = max(int(seconds / dt), 1)
    with scene.build(env_count=SIDES, solver=gg.Solver(spin=spin), num_threads=1) as world:
        speeds = START * np.stack([np.cos(headings), np.sin(headings), np.zeros(SIDES)], axis=1)
        world.set_grains(velocities=speeds[:, None])
        lift = 0.0
        for _ in range(steps):
            world.step(dt)
            lift = max(lift, float(world.positions[:, 0, 2].max()) - RADIUS)
        x, y = world.positions[:, 0, 0].astype(np.float64), world.positions[:, 0, 1].astype(np.float64)
        left = np.linalg.norm(world.velocities[:, 0], axis=1)
    # symplectic Euler: velocities are exact, displacements are sums of the velocities after each step
    slowing = mu * GRAVITY * dt
    law = dt * np.maximum(START - slowing * np.arange(1, steps + 1), 0.0).sum()
    turn = np.degrees(np.angle(np.exp(1j * (np.arctan2(y, x) - headings))))
    return {
        "headings": headings,
        "ways": np.hypot(x, y),
        "law": law,
        "turn": turn,
        "lift": lift / RADIUS,
        "left": left.max(),
    }


def judge(results: list[Result]) -> list[Row]:
    """One row per figure and setting: the worst of the seeds."""
    rows = []
    for (spin, mu, dt), mine in groups(results, "spin", "mu", "dt").items():
        body = "block" if spin == "off" else "ball while it slides"
        setup = f"{body} thrown to {SIDES} sides, mu {mu:g}, worst of {len(mine)} seeds"
        displacement = np.array([np.array(r.values["ways"]) / r.values["law"] for r in mine])
        worst = float(displacement.flat[np.abs(displacement - 1.0).argmax()])
        rows.append(near(mine, setup, "way / law of the step", worst, 1.0, 0.01, LAW))
        if spin == "off":
            exact = START**2 / (2.0 * mu * GRAVITY)
            if dt <= 1e-3:
                ratios = [float(np.mean(r.values["ways"])) / exact for r in mine]
                value = max(ratios, key=lambda x: abs(x - 1.0))
                rows.append(near(mine, setup, "stopping way / (v² / 2 mu g)", value, 1.0, 0.01, LAW))
            left = max(r.values["left"] for r in mine)
            rows.append(below(mine, setup, "speed left after the stop [m/s]", left, 1e-6, LAW))
        rows.append(below(mine, setup, "spread over headings", float(np.ptp(displacement, axis=1).max()), 0.01, LAW))
        turn = max(float(np.abs(r.values["turn"]).max()) for r in mine)
        rows.append(below(mine, setup, "turn of heading [deg]", turn, 0.1, LAW))
        lift = max(r.values["lift"] for r in mine)
        rows.append(below(mine, setup, "lift [r]", lift, 1e-3, "no dilation under the true cone"))
    return rows


def draw(figure: Any, results: list[Result]) -> None:
    polar = figure.add_subplot(1, 2, 1, projection="polar")
    lifts = figure.add_subplot(1, 2, 2)
    for r in [r for r in results if r.params["seed"] == 1 and r.params["dt"] == 1e-3]:
        p = r.params
        relative = np.array(r.values["ways"]) / r.values["law"]
        polar.plot(r.values["headings"], relative, ".", ms=4, label=f"spin {p['spin']}, mu {p['mu']:g}")
    polar.set_ylim(0.0, 1.2)
    polar.set_title("way / law, by heading", fontsize=9)
    polar.legend(fontsize=6, loc="lower left")
    for spin, marker in (("off", "o"), ("on", "s")):
        mine = [r for r in results if r.params["spin"] == spin]
        convex = [r.params["mu"] * START * r.params["dt"] / RADIUS for r in mine]
        lifts.plot(convex, [max(r.values["lift"], 1e-9) for r in mine], marker, ms=4, label=f"spin {spin}")
    ends = [min(convex), max(convex)]
    lifts.plot(ends, ends, color="0.5", lw=1, label="a convex cone lifts by mu v dt")
    lifts.axhline(1e-3, color=plot.TARGET, label="bound")
    lifts.set_xscale("log")
    lifts.set_yscale("log")
    lifts.set_xlabel("mu v dt / r")
    lifts.set_ylabel("lift / r")
    plot.legend(lifts)


CHECK = Check(
    name="sliding",
    title="true Coulomb cone: isotropic, no lift",
    about=(
        f"Grains thrown at {START:g} m/s in {SIDES} directions slide straight, equally far, and are not lifted. "
        "Convex friction models lift a sliding body by about mu v dt; the true cone must not. The exact distance "
        "of the discrete law is the sum of dt v over the steps, which tends to v² / (2 mu g) as dt tends to 0."
    ),
    number="3",
    headline="stopping way / (v² / 2 mu g)",
    cases=cases,
    measure=measure,
    judge=judge,
    draw=draw,
    same=True,
    panels=2,
)
