"""dynamic_tools.py: scenes with tools that have a mass."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
from numpy.typing import NDArray

import granular_gym as gg
from testbed.beds import DENSITY, DIAMETER, RADIUS, mass

#: half the thickness of a plate [m]
HALF = 0.01


@functools.cache
def settled(side: int, layers: int) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Centres and radii of a bed at rest in a box of `side` diameters."""
    with _box(side, None, layers).build(num_threads=1) as world:
        world.step(1e-3, 1200)
        return world.positions[0], world.radii[0]


def _box(side: int, grains: Any, layers: int = 0) -> gg.Scene:
    width = side * DIAMETER
    scene = gg.Scene(((0, 0, 0), (width, width, 0.5)))
    sand = scene.add_material(density=DENSITY, friction=0.5, rolling_friction=0.1)
    if grains is None:
        top = 1.6 * layers * DIAMETER
        scene.fill_box(sand, (0, 0, 0), (width, width, top), radius=(0.8 * RADIUS, RADIUS), seed=1)
    else:
        scene.add_grains(sand, *grains)
    return scene


def plate_on_bed(ratio: float, side: int = 6, layers: int = 5, gap: float = 0.0, **tool: Any) -> gg.Scene:
    """A plate, free along z, on a settled bed.

    Args:
        ratio: of its mass to that of a grain of RADIUS.
        side: of the box, in diameters.
        layers: of grains, about.
        gap: below the plate [m].
        tool: further arguments of `add_tool`.
    """
    positions, radii = settled(side, layers)
    scene, half = _box(side, (positions, radii)), 0.5 * side * DIAMETER
    top = float((positions[:, 2] + radii).max()) + gap
    plate = gg.Sdf.box((0.98 * half, 0.98 * half, HALF))
    pose = (half, half, top + HALF + 1e-5)
    scene.add_tool(plate, name="plate", pose=pose, **{"mass": ratio * float(mass()), "free": "z", **tool})
    return scene


def bed_mass(world: gg.World) -> float:
    """Of the grains of env 0 [kg]."""
    return float(mass(world.radii[0].astype(np.float64)).sum())


def pressed(count: int = 360) -> gg.Scene:
    """Falling grains, a ball that may go anywhere, a slotted lid pressed down, a blade that is posed, and a paddle on a
    spring."""
    scene = gg.Scene(((-0.06, -0.06, 0.0), (0.06, 0.06, 0.4)))
    sand = scene.add_material(density=DENSITY, friction=0.5, rolling_friction=0.2, restitution=0.3)
    scene.fill_box(sand, (-0.06, -0.06, 0.0), (0.06, 0.06, 0.15), count=count, radius=(0.8 * RADIUS, RADIUS), seed=2)
    scene.add_tool(gg.Sdf.box((0.01, 0.01, 0.01)), name="blade", pose=(-0.04, 0.0, 0.07))
    scene.add_tool(gg.Sdf.sphere(0.012), name="ball", pose=(0.01, 0.02, 0.06), mass=0.02)
    bars = [gg.Sdf.box((0.056, 0.01, 0.004)).at((0.0, y, 0.0)) for y in (-0.04, 0.0, 0.04)]
    lid = gg.Sdf.union(*bars)
    scene.add_tool(lid, name="lid", pose=(0.0, 0.0, 0.085), mass=0.05, free="xz", travel={"x": (-0.003, 0.003)})
    spring = {"mass": 0.03, "stiffness": 200.0, "damping": 1.0}
    scene.add_tool(gg.Sdf.box((0.015, 0.004, 0.01)), name="paddle", pose=(0.035, -0.02, 0.06), **spring)
    eye = gg.DepthCamera.perspective(
        height=9, width=11, fov=1.2, position=(0.0, 0.0, 0.35), target=(0, 0.01, 0), far=1.0
    )
    scene.add_camera(eye, name="eye")
    return scene


def targets(k: int) -> NDArray[np.float32]:
    """Poses of the tools of `pressed` after step k: blade and paddle have one, the others move by forces."""
    poses = np.full((4, 7), np.nan, np.float32)
    poses[3] = (0.035, -0.02 + 0.001 * k, 0.06 - 0.0025 * k, np.cos(0.05 * k), 0.0, 0.0, np.sin(0.05 * k))
    poses[0] = (-0.04 + 0.001 * k, 0.0, 0.07 - 0.003 * k, 1.0, 0.0, 0.0, 0.0)
    return poses


def press(world: gg.World, steps: int, substeps: int = 8) -> list[int]:
    """Steps of `pressed` with forces that change; the hash of env 0 after each."""
    hashes = []
    for k in range(steps):
        world.set_tool_force("lid", (2.0 if k % 2 else -2.0, 0.0, -3.0))
        if k == 2:
            world.set_tool_velocity("ball", (0.3, 0.0, -0.5))
        world.step(1e-3, substeps, tool_poses=targets(k))
        hashes.append(world.state_hash(0))
    return hashes
