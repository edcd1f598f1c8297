"""generate.py: moves the grains of episodes in the engine (`mode="bell"`), with bonds beside it.

The engine knows contacts and walls; it has no bonds. These are added as changes of velocity before each substep, which
is the splitting of symplectic Euler. Grains do not turn: their spin is set to 0 after each substep, so that positions
and velocities are the whole state and the law is one of pairs.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from granular_gym.engine.cameras import DepthCamera
from granular_gym.engine.scene import Scene
from granular_gym.engine.solver import Solver
from granular_gym.engine.world import World
from granular_gym.errors import ArgumentError
from granular_gym.learned.law import KINDS, Bonds, GrainLaw
from granular_gym.learned.layouts import Layout

#: longest substep [s]: a fortieth of an impact, and within what friction allows (docs/bell.md, The rule)
SUBSTEP = 4e-4


def build(
    layouts: list[Layout],
    law: GrainLaw,
    radius: float,
    bounds: NDArray[np.float32],
    gravity: tuple[float, float, float],
    cameras: list[DepthCamera],
    device: str = "cpu",
    num_threads: int | None = None,
) -> World:
    """A world with an env for each layout, and the cameras in it; grains keep the order of the layouts.

    Args:
        layouts: of grains of the same kinds in the same order.
        law: of contacts.
        radius: of the grains [m].
        bounds: (2, 3) of the box [m].
        gravity: [m/s^2].
        cameras: named "0", "1", ...
        device: of the world.
        num_threads: of the world.

    Raises:
        ArgumentError: layouts whose grains differ.
        OverlapError: grains of the first layout lie in each other or in walls.
    """
    first = layouts[0]
    for number, each in enumerate(layouts):
        if not np.array_equal(each.kinds, first.kinds):
            raise ArgumentError(f"layouts: expected the same kinds of grains in all, number {number} differs")
    scene = Scene((tuple(map(float, bounds[0])), tuple(map(float, bounds[1]))), gravity=gravity)
    for kind in KINDS:
        scene.add_material(radius=radius, density=kind.density, friction=law.friction, name=kind.name)
    edges = np.flatnonzero(np.diff(first.kinds)) + 1
    for group in np.split(np.arange(len(first.kinds)), edges):
        scene.add_grains(int(first.kinds[group[0]]), first.positions[group])
    for number, camera in enumerate(cameras):
        scene.add_camera(camera, name=str(number))
    solver = Solver(mode="bell", bell=law.bell())
    world = scene.build(len(layouts), device=device, solver=solver, num_threads=num_threads)
    poses = np.zeros((len(layouts), len(first.kinds), 7))
    poses[..., :3] = [each.positions for each in layouts]
    poses[..., 3] = 1.0
    motion = np.zeros((len(layouts), len(first.kinds), 6))
    motion[..., :3] = [each.velocities for each in layouts]
    world.set_clumps(poses, motion)
    return world


def frames(world: World, layouts: list[Layout], frames: int, dt: float) -> Iterator[Any]:
    """Moves a world from `build` frame by frame; yields after the start and after each frame.

    Raises:
        ArgumentError: grains left the box or went beyond numbers.
    """
    substeps = int(np.ceil(dt / SUBSTEP - 1e-9))
    length = dt / substeps
    bonds = Bonds([each.bonds for each in layouts], [each.rest_lengths for each in layouts], layouts[0].kinds)
    push = length / world.clump_masses[..., None]
    motion = world.clump_velocities
    yield 0
    for frame in range(1, frames + 1):
        for _ in range(substeps):
            motion[..., :3] += push * bonds.forces(world.positions, motion[..., :3])
            motion[..., 3:] = 0.0
            world.set_clumps(velocities=motion)
            world.step(length)
            motion = world.clump_velocities
        yield frame
