"""weight.py: forces on walls, floors, a rod and a panel balance the weight of the grains."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

import granular_gym as gg
from testbed.beds import DENSITY, DIAMETER, DT, GRAVITY, RADIUS, column_scene, mass
from validation import plot
from validation.check import Check, Params, Result, Row, Values, below, near, pick

LAW = "statics"


def cases(size: str, seeds: Sequence[int]) -> list[Params]:
    count = 1000 if size == "quick" else 4000
    found: list[Params] = [{"case": "panel", "dt": dt, "spin": spin} for spin in ("on", "off") for dt in (5e-4, 1e-3)]
    for case, spins in (("smooth", ("on",)), ("shared", ("on", "off"))):
        for spin in spins:
            for dt in (1e-3,) if size == "quick" else (5e-4, 1e-3):
                found += [{"case": case, "spin": spin, "dt": dt, "seed": s, "count": count} for s in seeds]
    return found


def measure(params: Params, threads: int) -> Values:
    if params["case"] == "panel":
        return _panel(params)
    return _smooth(params, threads) if params["case"] == "smooth" else _shared(params, threads)


def _panel(p: Params) -> Values:
    """Mean force [N] on a rough vertical panel, against which 10 N press a ball of .4 kg."""
    m, radius = 0.4, 0.03
    density = m / (4.0 / 3.0 * np.pi * radius**3)
    scene = gg.Scene(
        ((-1, -1, -1), (1, 1, 1)), gravity=(10.0 / m, 0.0, -GRAVITY), boundary=dict.fromkeys("xyz", "open")
    )
    ball = scene.add_material(density=density, friction=0.8, rolling_friction=0.0)
    scene.add_grains(ball, [[-radius, 0.0, 0.0]], radius)
    scene.add_tool(gg.Sdf.box((0.01, 0.1, 0.1)).at((0.01, 0.0, 0.0)))
    with scene.build(num_threads=1, solver=gg.Solver(spin=p["spin"] == "on")) as world:
        forces = []
        for _ in range(100):
            world.step(p["dt"])
            forces.append(world.wrenches[0, 0, :3])
        return {
            "force": np.mean(forces, axis=0),
            "side": np.abs(np.array(forces)[:, 1]).max(),
            "fallen": world.positions[0, 0, 2],
        }


def _settled(world: gg.World, dt: float, blocks: int = 15) -> list[list[float]]:
    """Forces on bottom, walls and tools over the weight, in blocks of .1 s while grains settle."""
    weight = float(mass(world.radii[0]).sum()) * GRAVITY
    shares = []
    for _ in range(blocks):
        world.step(dt, round(0.1 / dt))
        walls = world.wall_wrenches[0, :, 2]
        tools = world.wrenches[0, :, 2].tolist()
        shares.append([-float(f) / weight for f in (walls[4], walls[:4].sum(), *tools)])
    return shares


def _smooth(p: Params, threads: int) -> Values:
    """A column between smooth walls, on a floor that is a tool."""
    scene = column_scene(p["count"], 5.0, wall_friction=0.0, seed=p["seed"])
    floor = scene.add_material(density=DENSITY, friction=0.5, rolling_friction=0.0, name="floor")
    scene.add_tool(gg.Sdf.box((0.5, 0.5, 0.05)).at((0.0, 0.0, -0.05)), material=floor, name="floor")
    scene.bounds[0, 2] = -0.1
    with scene.build(num_threads=threads) as world:
        return {"shares": _settled(world, p["dt"], 20)}


def _shared(p: Params, threads: int) -> Values:
    """A column between rough walls, with a rod across it."""
    scene = column_scene(p["count"], 6.0, rolling=0.2, seed=p["seed"])
    rod = gg.Sdf.capsule(2.0 * RADIUS, 0.1).at((0, 0, 6.0 * DIAMETER), (np.sqrt(0.5), np.sqrt(0.5), 0, 0))
    # no grain starts inside the rod
    positions = scene._grains[0].positions
    positions[np.hypot(positions[:, 0], positions[:, 2] - 6.0 * DIAMETER) < 3.2 * RADIUS, 2] += 1.0
    scene.bounds[1, 2] += 2.0
    scene.add_tool(rod, name="rod", material=1)
    with scene.build(num_threads=threads, solver=gg.Solver(spin=p["spin"] == "on")) as world:
        return {"shares": _settled(world, p["dt"], 20)}


def judge(results: list[Result]) -> list[Row]:
    rows = []
    for r in pick(results, case="panel"):
        setup, force = "ball of .4 kg, 10 N against a vertical panel, mu .8", r.values["force"]
        if r.params["spin"] == "off":
            rows.append(near(r, setup, "friction [N]", -force[2], 0.4 * GRAVITY, 0.02, LAW, relative=True))
            rows.append(below(r, setup, "fallen [m]", abs(r.values["fallen"]), 1e-3 * 0.03, LAW))
        else:
            # it rolls down: 2/7 of its weight
            rows.append(
                near(
                    r,
                    setup,
                    "friction of the rolling ball [N]",
                    -force[2],
                    2.0 / 7.0 * 0.4 * GRAVITY,
                    0.02,
                    LAW,
                    relative=True,
                )
            )
        rows.append(near(r, setup, "normal force [N]", force[0], 10.0, 0.02, LAW, relative=True))
        rows.append(below(r, setup, "sideways force at any step [N]", r.values["side"], 0.2, "2 % of 10 N"))
    for r in pick(results, case="smooth"):
        _bottom, walls, tool = np.mean(r.values["shares"][-3:], axis=0)
        setup = f"{r.params['count']} grains between smooth walls, floor a tool"
        rows.append(near(r, setup, "floor / weight", tool, 1.0, 0.01, LAW, relative=True))
        rows.append(near(r, setup, "walls / weight", walls, 0.0, 1e-6, LAW))
    for r in pick(results, case="shared"):
        last = np.mean(r.values["shares"][-3:], axis=0)
        shares = f"bottom {last[0]:.2f}, walls {last[1]:.2f}, rod {last[2]:.2f}"
        setup = f"{r.params['count']} grains between rough walls, rod across ({shares})"
        rows.append(
            near(r, setup, "bottom + walls + rod over weight", float(last.sum()), 1.0, 0.01, LAW, relative=True)
        )
    return rows


def draw(figure: Any, results: list[Result]) -> None:
    left, right = plot.panels(figure, (("time [s]", "force / weight"), ("time [s]", "force / weight")))
    for ax, case, names in (
        (left, "smooth", ("", "walls", "floor (tool)")),
        (right, "shared", ("bottom", "walls", "rod")),
    ):
        for r in pick(results, case=case, seed=1, spin="on", dt=DT):
            shares = np.array(r.values["shares"])
            times = 0.1 * np.arange(1, len(shares) + 1)
            for k, name in enumerate(names):
                if name:
                    ax.plot(times, shares[:, k], "o-", ms=3, label=name)
            ax.plot(times, shares.sum(axis=1), "k.-", ms=3, lw=1, label="sum")
        ax.axhline(1.0, color=plot.TARGET, lw=1)
        ax.set_title("smooth walls" if case == "smooth" else "rough walls, rod across", fontsize=9)
        plot.legend(ax)


CHECK = Check(
    name="weight",
    title="floor, walls and tools carry the weight",
    about=(
        "A settled column presses on its floor, walls and tools with its weight. A cube of .4 kg held between two "
        "panels at 10 N needs a body driven by force, which kinematic tools are not; instead a lateral pull of 10 "
        "N presses a ball against one panel. Without spin friction holds it with its whole weight of 3.92 N (limit "
        "8 N; per panel of two: 1.96); with spin it rolls down and feels 2/7 of that."
    ),
    number="6",
    headline="bottom + walls + rod over weight",
    cases=cases,
    measure=measure,
    judge=judge,
    draw=draw,
    panels=2,
)
