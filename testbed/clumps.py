"""clumps.py: scenes of clumps, and momenta and energy of all clumps of a world."""

from __future__ import annotations

from typing import Any

import numpy as np

import granular_gym as gg
from granular_gym.base.rotations import rotate
from testbed.beds import GRAVITY, faces

SIZE = 0.005  # bounding radius of a clump [m]
ROCK = 2500.0  # density [kg/m3]
GRAIN = 0.78 * SIZE  # radius of spheres beside clumps, about that of the volume of a tetrahedron [m]


def box_of_clumps(shape: gg.Clump, count: int, **material: Any) -> gg.Scene:
    """A box 5 cm wide with clumps that will fall into it."""
    scene = gg.Scene(((0.0, 0.0, 0.0), (0.05, 0.05, 0.3)))
    grain = scene.add_material(density=ROCK, shape=shape, **material)
    scene.fill_box(grain, (0.0, 0.0, 0.0), (0.05, 0.05, 0.3), count=count)
    return scene


def drained(count: int, seed: int, length: int = 15, width: int = 8, **material: Any) -> gg.Scene:
    """A column of grains on a ledge of fixed spheres, rough as they are of different heights: it falls over the edge.

    Against the wall at x = 0 a heap stays, as steep as grains of that kind lie; along y it is periodic. The fixed
    spheres come first.

    Args:
        count: of grains in the column.
        seed: of column and ledge.
        length: of the ledge along x, in diameters of its spheres (of radius GRAIN).
        width: along y, likewise.
        material: arguments of `add_material` for the grains, of friction .5.
    """
    across = 2.0 * GRAIN
    scene = gg.Scene(
        ((0.0, 0.0, -0.05), ((length + 6) * across, width * across, 0.3)),
        boundary={"x": ("wall", "open"), "y": "periodic", "z": "open"},
    )
    grain = scene.add_material(density=ROCK, friction=0.5, **material)
    stone = scene.add_material(density=ROCK, friction=0.5, rolling_friction=0.0, fixed=True)
    places = across * np.stack(np.meshgrid(np.arange(length) + 0.5, np.arange(width) + 0.5), -1).reshape(-1, 2)
    heights = np.random.default_rng(seed).uniform(-0.25, 0.25, len(places)) * across - GRAIN
    scene.add_grains(stone, np.column_stack([places, heights]), GRAIN)
    upper = (length * across, width * across, 0.28)
    scene.fill_box(grain, (0.0, 0.0, 0.3 * across), upper, count=count, seed=seed)
    return scene


def slope(shape: gg.Clump, degrees: float, friction: float, **body: Any) -> gg.World:
    """One clump at rest on a plane that is inclined: gravity turns instead."""
    angle = np.radians(degrees)
    gravity = (GRAVITY * np.sin(angle), 0.0, -GRAVITY * np.cos(angle))
    boundary = {"x": "open", "y": "open", "z": ("wall", "open")}
    scene = gg.Scene(((-5.0, -1.0, 0.0), (5.0, 1.0, 1.0)), gravity=gravity, boundary=boundary)
    scene.add_material(density=ROCK, friction=friction, shape=shape)
    scene.add_grains(0, [(0.0, 0.0, float((shape.radii - shape.centers[:, 2]).max()))])
    return scene.build(num_threads=1)


def free(shape: gg.Clump, **clump: Any) -> gg.World:
    """One clump in free space."""
    scene = gg.Scene(((-10.0,) * 3, (10.0,) * 3), gravity=(0.0, 0.0, 0.0), boundary=faces("open"))
    scene.add_material(density=ROCK, shape=shape)
    scene.add_grains(0, [(0.0, 0.0, 0.0)], **clump)
    return scene.build(num_threads=1)


def budget(world: gg.World) -> dict[str, np.ndarray]:
    """Of env 0: "linear" momentum (3,), "angular" momentum about the origin (3,), kinetic "energy", and the sums of the
    absolute values of both momenta over the clumps, "linear_sum" and "angular_sum"."""
    clumps = world._frozen.arrays["clumps"]
    poses, velocities = (each[0] for each in world._core.get_clumps()[:2])
    masses = world.clump_masses[0]
    density = masses / clumps["shape"][:, 0]
    moments = clumps["shape"][:, 1:4] * density[:, None]
    turns = poses[:, 3:] * [1.0, -1.0, -1.0, -1.0]
    own = rotate(turns, velocities[:, 3:])  # in principal axes
    spin = rotate(poses[:, 3:], moments * own)
    linear = masses[:, None] * velocities[:, :3]
    orbit = np.cross(poses[:, :3], linear)
    energy = 0.5 * (masses * (velocities[:, :3] ** 2).sum(axis=1)).sum() + 0.5 * (moments * own**2).sum()
    return {
        "linear": linear.sum(axis=0),
        "angular": (orbit + spin).sum(axis=0),
        "energy": energy,
        "linear_sum": np.linalg.norm(linear, axis=1).sum(),
        "angular_sum": (np.linalg.norm(orbit, axis=1) + np.linalg.norm(spin, axis=1)).sum(),
    }


def shaken(scene: gg.Scene, body: int, grains: int) -> float:
    """How high a body is over a bed after 3 s in which gravity swings, so that friction does not hold it [m].

    Args:
        scene: the bed's grains come first.
        body: index of its clump.
        grains: of the bed.
    """
    with scene.build(num_threads=1) as world:
        for k in range(60):
            world.set_gravity((2.0 * (-1.0) ** k, 1.0 * (-1.0) ** (k // 2), -GRAVITY))
            world.step(2e-3, 25)
        top = float(np.quantile(world.positions[0, :grains, 2], 0.98))
        return float(world.clump_poses[0, body, 2]) - top
