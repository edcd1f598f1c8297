"""slopes.py: a block and a ball on inclines, a thrown ball, rolling friction."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from testbed.beds import GRAVITY, RADIUS, on_floor
from testbed.laws import FRICTIONS, SLOPES, down_slopes
from validation import plot
from validation.check import Check, Params, Result, Row, Values, below, near, pick

LAW = "Coulomb, rigid body"
CONVEX = "A Convex Formulation of Frictional Contact for MPM and Rigid Bodies, eq. 27 with its lost sin θ"
#: displacement after 1 s at 45 degrees [m] by friction: solid sphere, rolling or sliding
DISPLACEMENTS = {0.0: 3.468, 0.2: 2.775, 0.3: 2.477, 0.6: 2.477}


def cases(size: str, seeds: Sequence[int]) -> list[Params]:
    found: list[Params] = []
    for dt in (5e-4, 1e-3):
        found += [{"case": "slope", "dt": dt, "spin": s, "mu": mu} for s in ("off", "on") for mu in FRICTIONS]
        found += [{"case": "way", "dt": dt, "spin": "on", "mu": mu} for mu in DISPLACEMENTS]
        found += [{"case": "thrown", "dt": dt, "spin": "on", "mu": mu} for mu in (0.1, 0.3, 0.5)]
        found += [{"case": "rolling", "dt": dt, "spin": "on", "mu_r": mu_r} for mu_r in (0.05, 0.1, 0.2)]
    return found


def measure(params: Params, threads: int) -> Values:
    return {"slope": _slope, "way": _displacement, "thrown": _thrown, "rolling": _rolling}[params["case"]](params)


def _slope(p: Params) -> Values:
    with down_slopes(p["mu"], p["spin"] == "on", dt=p["dt"]) as world:
        v, w, x = world.velocities[:, 0], world.angular_velocities[:, 0], world.positions[:, 0]
        return {"v": v[:, 0], "spin": w[:, 1] * RADIUS, "x": x[:, 0], "z": x[:, 2]}


def _displacement(p: Params) -> Values:
    with down_slopes(p["mu"], True, dt=p["dt"], angles=np.radians([45.0])) as world:
        return {"x": float(world.positions[0, 0, 0]), "spin": float(world.angular_velocities[0, 0, 1]) * RADIUS}


def _thrown(p: Params) -> Values:
    """A ball thrown without spin: time and displacement when it begins to roll, and its final speed."""
    start, dt = 1.0, p["dt"]
    with on_floor([[0.0, 0.0, RADIUS]], [[start, 0.0, 0.0]], friction=p["mu"]).build(num_threads=1) as world:
        expected = 2.0 * start / (7.0 * p["mu"] * GRAVITY)
        times, speeds, spins, positions = [], [], [], []
        for k in range(round(1.5 * expected / dt)):
            world.step(dt)
            times.append((k + 1) * dt)
            speeds.append(float(world.velocities[0, 0, 0]))
            spins.append(float(world.angular_velocities[0, 0, 1]) * RADIUS)
            positions.append(float(world.positions[0, 0, 0]))
    rolled = next((k for k in range(len(times)) if speeds[k] - spins[k] < 1e-4), len(times) - 1)
    return {
        "rolled": times[rolled],
        "way": positions[rolled],
        "speed": speeds[-1],
        "times": times,
        "speeds": speeds,
        "spins": spins,
    }


def _rolling(p: Params) -> Values:
    """Deceleration of a ball that rolls on a level floor, and drift on slopes below the rolling friction."""
    start, mu_r, dt = 0.7, p["mu_r"], p["dt"]
    with on_floor([[0.0, 0.0, RADIUS]], [[start, 0.0, 0.0]], rolling=mu_r).build(num_threads=1) as world:
        world.set_grains(angular_velocities=[[0.0, start / RADIUS, 0.0]])
        world.step(dt, round(0.3 / dt))
        slowed = (start - float(world.velocities[0, 0, 0])) / 0.3
    angles = np.arctan(mu_r * np.array([0.5, 0.95, 1.2, 1.6]))
    with down_slopes(0.5, True, rolling=mu_r, angles=angles, dt=dt) as world:
        return {"slowed": slowed, "way": world.positions[:, 0, 0], "v": world.velocities[:, 0, 0], "angles": angles}


def _slope_rows(r: Result) -> list[Row]:
    p, mu = r.params, r.params["mu"]
    slide = GRAVITY * (np.sin(SLOPES) - mu * np.cos(SLOPES))
    v = np.array(r.values["v"])
    if p["spin"] == "off":
        slides = np.tan(SLOPES) > mu
        setup, rows = f"block, 10 .. 40 deg, mu {mu:g}, 1 s", []
        if slides.any():
            wrong = np.abs(v[slides] / slide[slides] - 1.0).max()
            rows.append(below(r, setup, "speed where tan θ > mu, relative error", wrong, 0.005, LAW))
        if not slides.all():
            drift = np.abs(np.array(r.values["x"]))[~slides].max() / RADIUS
            rows.append(below(r, setup, "drift where it sticks [r/s]", drift, 1e-3, LAW))
        return rows
    rolls = mu > 2.0 / 7.0 * np.tan(SLOPES)
    a = np.where(rolls, 5.0 / 7.0 * GRAVITY * np.sin(SLOPES), slide)
    spin = np.where(rolls, a, 2.5 * mu * GRAVITY * np.cos(SLOPES))
    setup = f"ball, 10 .. 40 deg, mu {mu:g}, 1 s"
    return [
        below(r, setup, "speed, relative error", np.abs(v / a - 1.0).max(), 0.005, LAW),
        below(r, setup, "spin, relative error", np.abs(np.array(r.values["spin"]) / spin - 1.0).max(), 0.005, LAW),
    ]


def judge(results: list[Result]) -> list[Row]:
    rows = [row for r in pick(results, case="slope") for row in _slope_rows(r)]
    for r in pick(results, case="way"):
        mu = r.params["mu"]
        rows.append(
            near(
                r,
                f"ball, 45 deg, mu {mu:g}",
                "way in 1 s [m]",
                r.values["x"],
                DISPLACEMENTS[mu],
                0.005,
                CONVEX,
                relative=True,
            )
        )
    for r in pick(results, case="thrown"):
        mu, setup = r.params["mu"], f"ball thrown at 1 m/s, mu {r.params['mu']:g}"
        rolling_at, displacement = 2.0 / (7.0 * mu * GRAVITY), 12.0 / (49.0 * mu * GRAVITY)
        rows.append(near(r, setup, "final speed [m/s]", r.values["speed"], 5.0 / 7.0, 0.005, LAW, relative=True))
        rows.append(near(r, setup, "rolls from [s]", r.values["rolled"], rolling_at, 2.0 * r.params["dt"], LAW))
        rows.append(near(r, setup, "way until then [m]", r.values["way"], displacement, 0.02, LAW, relative=True))
    for r in pick(results, case="rolling"):
        mu_r, setup = r.params["mu_r"], f"ball, rolling friction {r.params['mu_r']:g}"
        slowing = 5.0 / 7.0 * mu_r * GRAVITY
        rows.append(
            near(r, setup, "slowing on the level [m/s2]", r.values["slowed"], slowing, 0.005, LAW, relative=True)
        )
        drift = np.abs(np.array(r.values["way"][:2])).max() / RADIUS
        rows.append(below(r, setup, "drift where tan θ < mu_r [r/s]", drift, 1e-3, LAW))
    return rows


def draw(figure: Any, results: list[Result]) -> None:
    labels = [("slope [deg]", "speed after 1 s [m/s]")] * 2 + [("time [s]", "m/s")]
    axes = plot.panels(figure, labels)
    fine = np.radians(np.linspace(9.0, 41.0, 200))
    for ax, spin, name in zip(axes, ("off", "on"), ("block (spin off)", "ball (spin on)"), strict=False):
        for k, r in enumerate(pick(results, case="slope", spin=spin, dt=1e-3)):
            mu = r.params["mu"]
            law = np.maximum(GRAVITY * (np.sin(fine) - mu * np.cos(fine)), 0.0)
            if spin == "on":
                law = np.where(mu > 2.0 / 7.0 * np.tan(fine), 5.0 / 7.0 * GRAVITY * np.sin(fine), law)
            ax.plot(np.degrees(fine), law, color=f"C{k}", lw=1)
            ax.plot(np.degrees(SLOPES), r.values["v"], "o", color=f"C{k}", ms=3, label=f"mu {mu:g}")
        ax.set_title(f"{name}; lines: law", fontsize=9)
    for k, r in enumerate(pick(results, case="thrown", dt=1e-3)):
        axes[2].plot(r.values["times"], r.values["speeds"], color=f"C{k}", label=f"v, mu {r.params['mu']:g}")
        axes[2].plot(r.values["times"], r.values["spins"], "--", color=f"C{k}", label="r ω")
    axes[2].axhline(5.0 / 7.0, color=plot.TARGET, lw=1, label="5/7")
    axes[2].set_title("thrown ball", fontsize=9)
    for ax in axes:
        plot.legend(ax)


CHECK = Check(
    name="slopes",
    title="block and ball on inclines",
    about=(
        "A block slides where tan θ > mu, with g (sin θ - mu cos θ), and does not move otherwise. A ball rolls "
        "where mu > 2/7 tan θ, with 5/7 g sin θ; otherwise it slides and spins up by 5/2 mu g cos θ / r. A thrown "
        "ball rolls with 5/7 of its speed after 2 v / (7 mu g). A rolling torque mu_r r N decelerates by 5/7 mu_r "
        "g and holds where tan θ < mu_r."
    ),
    number="2",
    headline="speed, relative error",
    cases=cases,
    measure=measure,
    judge=judge,
    draw=draw,
    same=True,
    panels=3,
)
