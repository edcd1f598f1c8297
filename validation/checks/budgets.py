"""budgets.py: energy and momentum over 100 simulated seconds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

import granular_gym as gg
from testbed.beds import DENSITY, GRAVITY, RADIUS, mass, on_floor
from testbed.laws import gas
from validation import plot
from validation.check import OWN, Check, Params, Result, Row, Values, below, between, near, pick, report

SECONDS = 100.0
COUNT = 200
#: half sides of the cubes of the case "crowd" [m], of solid fractions 11 % and .8 %; simulated time [s]
HALVES, CROWD_SECONDS = (0.05, 0.12), 20.0
NAMES = {
    "cooling": f"{COUNT} rough grains in a periodic cube, e .9, mu .5",
    "smooth": f"{COUNT} smooth elastic grains in a dilute periodic cube",
    "crowd": f"{COUNT} smooth grains in a periodic cube",
    "ball": "elastic ball bouncing from .2 m",
    "stirred": "300 grains in a box stirred by a paddle",
}


def cases(size: str, seeds: Sequence[int]) -> list[Params]:
    found: list[Params] = [{"case": "ball", "dt": dt} for dt in (5e-4, 1e-3)]
    for spin in ("on", "off"):
        some = seeds[:1] if size == "quick" else seeds
        found += [
            {"case": c, "dt": 1e-3, "seed": s, "spin": spin} for c in ("cooling", "smooth", "stirred") for s in some
        ]
        found += [
            {"case": "crowd", "dt": 1e-3, "seed": 1, "spin": spin, "e": e, "iterations": its, "half": half}
            for half in (HALVES[:1] if size == "quick" else HALVES)
            for e in ((1.0,) if size == "quick" else (0.9, 0.95, 1.0))
            for its in ((10, 20) if size == "quick" else (5, 10, 15, 20, 40))
        ]
    return found


def energy(world: gg.World, weight: float = GRAVITY) -> float:
    """Translational, rotational and potential energy of the grains [J]."""
    m = mass(world.radii[0])
    inertia = 0.4 * m * world.radii[0].astype(np.float64) ** 2
    v, w = world.velocities[0].astype(np.float64), world.angular_velocities[0].astype(np.float64)
    height = world.positions[0, :, 2].astype(np.float64)
    return float(0.5 * (m * (v**2).sum(1)).sum() + 0.5 * (inertia * (w**2).sum(1)).sum() + weight * (m * height).sum())


def measure(params: Params, threads: int) -> Values:
    return {"ball": _ball, "cooling": _gas, "smooth": _gas, "crowd": _smooth_gas, "stirred": _stirred}[params["case"]](
        params
    )


def _ball(p: Params) -> Values:
    times, energies = [0.0], []
    with on_floor([[0.0, 0.0, RADIUS + 0.2]], restitution=1.0).build(num_threads=1) as world:
        zero = mass() * GRAVITY * RADIUS
        energies.append(energy(world) - zero)
        for k in range(100):
            world.step(p["dt"], round(SECONDS / 100 / p["dt"]))
            times.append((k + 1) * SECONDS / 100)
            energies.append(energy(world) - zero)
    return {"times": times, "energies": np.array(energies) / energies[0]}


def _gas(p: Params) -> Values:
    cooling = p["case"] == "cooling"
    make = (
        {"friction": 0.5, "restitution": 0.9, "half": 0.05}
        if cooling
        else {"friction": 0.0, "restitution": 1.0, "half": 0.12}
    )
    times, energies, drifts = [0.0], [], [0.0]
    with gas(COUNT, seed=p["seed"], spin=p["spin"] == "on", **make) as world:
        before = world.velocities[0].astype(np.float64)
        speeds = np.linalg.norm(before, axis=1).sum()
        energies.append(energy(world, 0.0))
        for k in range(200):
            world.step(p["dt"], round(SECONDS / 200 / p["dt"]))
            change = (world.velocities[0].astype(np.float64) - before).sum(axis=0)
            times.append((k + 1) * SECONDS / 200)
            drifts.append(float(np.abs(change).max()) / speeds)
            energies.append(energy(world, 0.0))
    e = np.array(energies) / energies[0]
    return {"times": times, "energies": e, "drift": max(drifts), "largest_rise": float((e[1:] - e[:-1]).max())}


def _smooth_gas(p: Params) -> Values:
    """Energy of smooth grains over its initial value, every second, and its largest increase after any minimum."""
    energies = []
    make = {"friction": 0.0, "restitution": p["e"], "half": p["half"], "iterations": p["iterations"]}
    with gas(COUNT, seed=p["seed"], spin=p["spin"] == "on", **make) as world:
        energies.append(energy(world, 0.0))
        for _ in range(round(CROWD_SECONDS)):
            world.step(p["dt"], round(1.0 / p["dt"]))
            energies.append(energy(world, 0.0))
    e = np.array(energies) / energies[0]
    return {"energies": e, "gain": float((e / np.minimum.accumulate(e)).max())}


def _stirred(p: Params) -> Values:
    """Work of a paddle that swings through a bed, and the energy of the grains: the difference is dissipated."""
    scene = gg.Scene(((-0.06, -0.06, 0.0), (0.06, 0.06, 0.4)), boundary={"z": "wall"})
    sand = scene.add_material(density=DENSITY, friction=0.5, restitution=0.3, rolling_friction=0.0)
    scene.fill_box(sand, (-0.06, -0.06, 0.0), (0.06, 0.06, 0.3), count=300, radius=RADIUS, seed=p["seed"])
    scene.add_tool(gg.Sdf.box((0.008, 0.03, 0.02)), pose=(-0.04, 0.0, 0.1, 1.0, 0.0, 0.0, 0.0))
    worked, losses, times, kept, worst = 0.0, [0.0], [0.0], [0.0], 0.0
    with scene.build(num_threads=1, solver=gg.Solver(spin=p["spin"] == "on")) as world:
        world.step(p["dt"], 500)
        start = energy(world)
        x, z = -0.04, 0.1
        for k in range(round(SECONDS / 0.02)):
            t = 0.02 * (k + 1)
            goal = -0.04 * np.cos(2.0 * np.pi * t / 2.0), 0.06 + 0.04 * np.cos(2.0 * np.pi * t / 7.0)
            world.step(p["dt"], round(0.02 / p["dt"]), tool_poses=[[goal[0], 0.0, goal[1], 1.0, 0.0, 0.0, 0.0]])
            # work of the tool: minus the force on it, times its displacement
            force = world.wrenches[0, 0, :3].astype(np.float64)
            worked -= force[0] * (goal[0] - x) + force[2] * (goal[1] - z)
            x, z = goal
            if (k + 1) % 50 == 0:
                times.append(t)
                kept.append(energy(world) - start)
                losses.append(worked - kept[-1])
                worst = min(worst, losses[-1] - losses[-2])
        escaped = int(world.stats["escaped_count"][0])
    return {"times": times, "losses": losses, "kept": kept, "worked": worked, "least_loss": worst, "escaped": escaped}


def judge(results: list[Result]) -> list[Row]:
    rows = []
    for r in pick(results, case="ball"):
        rows.append(near(r, NAMES["ball"], "energy after 100 s / start", r.values["energies"][-1], 1.0, 0.01, OWN))
    for r in pick(results, case="cooling"):
        rows.append(below(r, NAMES["cooling"], "momentum drift / sum of sizes", r.values["drift"], 1e-5, "mechanics"))
        rows.append(
            below(
                r,
                NAMES["cooling"],
                "largest rise of energy in .5 s / start",
                r.values["largest_rise"],
                1e-6,
                "second law",
            )
        )
    for r in pick(results, case="smooth"):
        rows.append(below(r, NAMES["smooth"], "momentum drift / sum of sizes", r.values["drift"], 1e-5, "mechanics"))
        rows.append(below(r, NAMES["smooth"], "largest energy / start", max(r.values["energies"]), 1.001, "mechanics"))
        rows.append(near(r, NAMES["smooth"], "energy after 100 s / start", r.values["energies"][-1], 1.0, 0.01, OWN))
    for r in pick(results, case="crowd"):
        p = r.params
        solid = COUNT * 4.0 / 3.0 * np.pi * RADIUS**3 / (2.0 * p["half"]) ** 3
        setup = f"{NAMES['crowd']}, {100 * solid:.1f} % solid, e {p['e']:g}, {p['iterations']} iterations"
        if gg.Solver(iterations=p["iterations"]).impact_dangers(p["e"]):
            rows.append(report(r, setup, "warned: energy / least before", r.values["gain"]))
        else:
            rows.append(below(r, setup, "energy / least before", r.values["gain"], 1.001, "second law"))
        rows.append(report(r, setup, f"energy after {CROWD_SECONDS:g} s / start", r.values["energies"][-1]))
    for r in pick(results, case="stirred"):
        share = r.values["least_loss"] / max(r.values["worked"], 1e-30)
        rows.append(
            between(
                r, NAMES["stirred"], "work of the paddle in 100 s [J]", r.values["worked"], 1e-3, 1e3, "it must do some"
            )
        )
        rows.append(between(r, NAMES["stirred"], "least loss in 1 s / all work", share, -1e-3, 1.0, "second law"))
        rows.append(below(r, NAMES["stirred"], "escaped grains", r.values["escaped"], 0, "closed box"))
    return rows


def draw(figure: Any, results: list[Result]) -> None:
    labels = (("time [s]", "energy / start"), ("time [s]", "energy / start"), ("time [s]", "J"))
    axes = plot.panels(figure, labels)
    for k, (ax, name) in enumerate(((axes[0], "cooling"), (axes[1], "smooth"), (axes[1], "ball"))):
        for r in pick(results, case=name):
            spin = r.params.get("spin", "on")
            label = f"{name}, spin {spin}" if r.params.get("seed", 1) == 1 and r.params["dt"] == 1e-3 else None
            y = np.maximum(r.values["energies"], 1e-9)
            ax.plot(r.values["times"], y, "-" if spin == "on" else "--", color=f"C{k}", lw=1, label=label)
    axes[0].set_yscale("log")
    axes[0].set_title("rough inelastic gas", fontsize=9)
    axes[1].set_title("smooth elastic gas, elastic ball", fontsize=9)
    for r in pick(results, case="stirred"):
        spin = r.params["spin"]
        style, first = "-" if spin == "on" else "--", r.params["seed"] == 1
        for key, color, word in (("losses", plot.INK, "lost"), ("kept", plot.TARGET, "kept")):
            label = f"{word}, spin {spin}" if first else None
            axes[2].plot(r.values["times"], r.values[key], style, color=color, lw=1, label=label)
    axes[2].set_title("work of a paddle", fontsize=9)
    for ax in axes:
        plot.legend(ax)


CHECK = Check(
    name="budgets",
    title="energy and momentum over 100 seconds",
    about=(
        "A gas of rough inelastic grains conserves momentum and only loses energy; smooth elastic grains and an "
        "elastic ball conserve energy; a stirred bed dissipates the work of the paddle, second by second, and "
        "never returns more. Energy is kinetic, rotational and potential. *Crowds* show what few iterations do to "
        "impacts of several nearly elastic grains: where `Solver.impact_dangers` does not warn, no energy may be "
        "gained."
    ),
    number="",
    headline="energy after 100 s / start",
    cases=cases,
    measure=measure,
    judge=judge,
    draw=draw,
    panels=3,
    causes={
        "energy after 100 s": (
            "impacts of three or more grains in one substep are not elastic, however well they are solved: at 1 ms "
            "the gas keeps .83 to .87 of its energy with 10 iterations. By hand, three seeds, before sweeps beyond 20 "
            "kept the momentum of sweep 20: .86 to .94 with 200, at .25 ms and 10 iterations .96 to .97"
        ),
        "largest energy": (
            "the law of simultaneous impacts, not convergence: the same .2 % with 20, 40 and 200 iterations, none "
            "at .25 ms. Where a grain is hit and within the same substep catches up with one that flies ahead of "
            "it, both contacts are solved at once, and the second, which had been opening, closes without a bounce "
            "(seen in seed 3). Three in a row of which the third flies ahead at a fifth of the speed of the first, "
            "converged: +10 %. Over 100 s more is lost than gained"
        ),
        "energy / least before": (
            "all of the gain is one impact of three grains within a substep: it gives .22 % with 10, 40 and 1,000 "
            "iterations alike, and nothing in steps of .25 ms (by hand, from the state before it), by the same "
            "law. With other numbers of iterations the gas goes other ways and has other such impacts"
        ),
    },
)
