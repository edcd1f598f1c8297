"""sleep_physics.py: scenes that run with and without sleep from the same starts, and how far what is measured differs.

A scene is a function of a seed and whether grains may sleep; to add one, add it to `SCENES` with the number of seeds
that it takes to tell 2 % of its measures apart.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

import granular_gym as gg
from benchmarks.measure import Row
from testbed.beds import DENSITY, DIAMETER, DT, RADIUS

STEP = 20  # substeps of a step
SPEED = 0.1  # of tools [m/s]


def box(half: tuple[float, float], height: float) -> tuple[gg.Scene, int]:
    """An empty box, half of its widths and its height [m], and its material."""
    scene = gg.Scene(((-half[0], -half[1], 0.0), (half[0], half[1], height)))
    return scene, scene.add_material(radius=RADIUS, density=DENSITY, friction=0.5, rolling_friction=0.2)


def built(scene: gg.Scene, sleep: bool) -> gg.World:
    """A world on one thread."""
    return scene.build(solver=gg.Solver(sleep=sleep), num_threads=1)


def column(half: tuple[float, float], gate: bool, seed: int) -> gg.Scene:
    """Grains left of x = 0, behind a gate or not."""
    scene, sand = box(half, 0.5)
    scene.fill_box(sand, (-half[0], -half[1], 0.0), (0.0, half[1], 0.2), count=900, seed=seed)
    if gate:
        scene.add_tool(gg.Sdf.box((0.01, half[1], 0.25)), name="gate", pose=(0.01, 0.0, 0.25))
    return scene


def spread_of(world: gg.World, wall: float) -> Row:
    """Of a heap that leans on a wall at x = -wall: front, mean height [d], slope of the wedge of its centre of mass."""
    x = world.positions[0].astype(np.float64)
    out, up = float(x[:, 0].mean()) + wall, float(x[:, 2].mean())
    return {
        "front_d": (float(np.percentile(x[:, 0], 99)) + wall) / DIAMETER,
        "height_d": up / DIAMETER,
        "slope_deg": float(np.degrees(np.arctan2(up, out))),
    }


def undercut(seed: int, sleep: bool) -> Row:
    """A sleeping bed behind a gate that is drawn up: where it flows to."""
    with built(column((0.25, 0.04), True, seed), sleep) as world:
        pose = world.tool_poses[0].copy()
        for _ in range(60):
            world.step(DT, STEP)
        for _ in range(60):
            pose[0, 2] += 0.02
            world.step(DT, STEP, tool_poses=pose)
        return spread_of(world, 0.25)


def repose(seed: int, sleep: bool) -> Row:
    """A column without a gate slumps."""
    with built(column((0.25, 0.04), False, seed), sleep) as world:
        for _ in range(120):
            world.step(DT, STEP)
        return spread_of(world, 0.25)


def silo(seed: int, sleep: bool) -> Row:
    """Grains through a slit of 6 d in a floor, onto a heap that sleeps below: their rate, of 3,000 grains."""
    floor, count = 0.5, 5000
    scene, sand = box((0.1, 0.04), floor + 0.5)
    scene.fill_box(sand, (-0.1, -0.04, floor), (0.1, 0.04, floor + 0.45), count=count, seed=seed)
    for side in (-1, 1):
        scene.add_tool(gg.Sdf.box((0.035, 0.04, 0.01)), name=f"floor{side}", pose=(side * 0.065, 0.0, floor - 0.01))
    scene.add_tool(gg.Sdf.box((0.03, 0.04, 0.01)), name="shutter", pose=(0.0, 0.0, floor - 0.01))
    with built(scene, sleep) as world:
        pose = world.tool_poses[0].copy()
        for _ in range(50):
            world.step(DT, STEP)
        # drawn aside, out of the box
        pose[2, 1] = 0.2
        times, below = [0.0], [0]
        while below[-1] < 3500 and times[-1] < 30.0:
            world.step(DT, STEP, tool_poses=pose)
            times.append(times[-1] + STEP * DT)
            below.append(int((world.positions[0, :, 2] < floor - 0.02).sum()))
        start, end = (float(np.interp(n, below, times)) for n in (500, 3500))
        return {"grains_per_s": 3000.0 / (end - start)}


def trough(seed: int) -> gg.Scene:
    """A bed 60 d long, 14 d wide and about 6 d deep: room for grains around and below a tool."""
    scene, sand = box((0.3, 0.07), 0.6)
    scene.fill_box(sand, (-0.3, -0.07, 0.0), (0.3, 0.07, 0.12), count=5500, seed=seed)
    return scene


def drawn(scene: gg.Scene, sleep: bool, start: tuple[float, float], stroke: float) -> np.ndarray:
    """Settles a bed, lowers its tool at x, z [m] and draws it along x: its wrenches (steps, 6).

    Grains may sleep once the bed is settled, so that both draw through the same one: it begins as a lattice, which
    collapses later or less where some of it sleeps, and forces follow density.
    """
    with built(scene, sleep=False) as world:
        for _ in range(130):
            world.step(DT, STEP)
        world.set_solver(dataclasses.replace(world.solver, sleep=sleep))
        poses = np.array([[start[0], 0.0, 0.2, 1.0, 0.0, 0.0, 0.0]])
        world.set_tool_poses(poses[None])
        found = []
        while poses[0, 2] > start[1]:
            poses[0, 2] = max(poses[0, 2] - SPEED * DT * STEP, start[1])
            world.step(DT, STEP, tool_poses=poses)
        while poses[0, 0] < start[0] + stroke:
            poses[0, 0] += SPEED * DT * STEP
            world.step(DT, STEP, tool_poses=poses)
            found.append(world.wrenches[0, 0].astype(np.float64))
        return np.array(found)


def blade(seed: int, sleep: bool) -> Row:
    """A blade ploughs a bed, 3 d deep: mean force and torque over 30 d, after a run-in of 4 d."""
    scene = trough(seed)
    scene.add_tool(gg.Sdf.box((0.01, 0.03, 0.03)), name="blade", pose=(-0.24, 0.0, 0.4))
    mean = drawn(scene, sleep, (-0.24, 0.06), 0.34)[20:].mean(axis=0)
    return {"force_x_N": float(mean[0]), "torque_y_Nm": float(mean[4])}


def bucket(seed: int, sleep: bool) -> Row:
    """A bucket, 6 d wide inside and open in front, fills as it is drawn through a bed: means as of the blade."""
    scene = trough(seed)
    sides = [gg.Sdf.box((0.03, 0.004, 0.03)).at((0.0, s * 0.034, 0.0)) for s in (-1.0, 1.0)]
    back, floor = gg.Sdf.box((0.004, 0.038, 0.03)).at((-0.03, 0.0, 0.0)), gg.Sdf.box((0.03, 0.038, 0.004))
    shape = gg.Sdf.union([*sides, back, floor.at((0.0, 0.0, -0.026))])
    scene.add_tool(shape, name="bucket", pose=(-0.23, 0.0, 0.4))
    mean = drawn(scene, sleep, (-0.23, 0.06), 0.34)[20:].mean(axis=0)
    return {"force_x_N": float(mean[0]), "force_z_N": float(mean[2]), "torque_y_Nm": float(mean[4])}


@dataclass(frozen=True)
class Physics:
    """A scene and how many seeds it takes."""

    run: Callable[[int, bool], Row]
    seeds: int


SCENES: dict[str, Physics] = {
    "undercut": Physics(undercut, 40),
    "repose": Physics(repose, 40),
    "silo": Physics(silo, 10),
    "blade": Physics(blade, 16),
    "bucket": Physics(bucket, 16),
}


def error(values: np.ndarray) -> float:
    """Standard error of their mean."""
    return float(values.std(ddof=1) / np.sqrt(len(values))) if len(values) > 1 else 0.0


def compared(name: str, seeds: int | None = None) -> list[Row]:
    """Means over seeds without and with sleep, and the mean of the differences of each seed, with standard errors."""
    scene = SCENES[name]
    count = seeds or scene.seeds
    # in turns: an interrupted machine meets both
    pairs = [(scene.run(seed, False), scene.run(seed, True)) for seed in range(count)]
    rows = []
    for key in pairs[0][0]:
        awake, asleep = (np.array([pair[k][key] for pair in pairs]) for k in (0, 1))
        scale = 100.0 / abs(float(awake.mean()))
        rows.append(
            {
                "name": f"{name}: {key}",
                "awake": float(awake.mean()),
                "scatter": error(awake),
                "sleep": float(asleep.mean()),
                "sleep_scatter": error(asleep),
                "change_percent": scale * float((asleep - awake).mean()) * float(np.sign(awake.mean())),
                "change_scatter": scale * error(asleep - awake),
                "seeds": count,
            }
        )
    return rows
