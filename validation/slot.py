"""slot.py: grains in a slot, periodic in y: collapses and flat silos, also for the comparison with LAMMPS."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
from numpy.typing import NDArray

import granular_gym as gg
from testbed.beds import DENSITY, DIAMETER, RADIUS, rms_speed

Floats = NDArray[Any]


@functools.lru_cache(maxsize=8)
def packing(
    length: float,
    width: float,
    height: float,
    seed: int,
    restitution: float = 0.0,
    spin: bool = True,
    rolling: float = 0.0,
) -> Floats:
    """Positions (n, 3) [m] of settled grains between two walls, the lower corner at the origin.

    Args:
        length: distance of the walls [d].
        width: period in y [d].
        height: of the column [d]; the number of grains is that of a solid fraction of .57.
        seed: of the initial positions and velocities.
        restitution: of the grains.
        spin: grains rotate.
        rolling: rolling friction.
    """
    rng = np.random.default_rng(seed)
    step = 1.06
    cells = int((length - 0.05) / step), int(width / step)
    count = round(0.57 * length * width * height / (np.pi / 6.0))
    k = np.arange(count)
    cell = np.stack([k % cells[0], k // cells[0] % cells[1], k // (cells[0] * cells[1])], axis=1) + 0.5
    positions = cell * [length / cells[0], width / cells[1], step] + rng.uniform(-0.025, 0.025, (count, 3))
    positions *= DIAMETER
    top = float(positions[:, 2].max()) + 2.0 * DIAMETER
    bounds = ((0.0, 0.0, 0.0), (length * DIAMETER, width * DIAMETER, top))
    scene = gg.Scene(bounds, boundary={"y": "periodic"})
    sand = scene.add_material(density=DENSITY, friction=0.5, restitution=restitution, rolling_friction=rolling)
    positions[:, 1] %= width * DIAMETER
    scene.add_grains(sand, positions, RADIUS, rng.normal(0.0, 0.15, positions.shape))
    with scene.build(num_threads=1, solver=gg.Solver(spin=spin)) as world:
        world.step(1e-3, 1000)
        while rms_speed(world) > 2e-3:
            world.step(1e-3, 200)
        return world.positions[0]


def open_slot(
    positions: Floats, length: float, width: float, restitution: float = 0.0, floor: Any = None, rolling: float = 0.0
) -> gg.Scene:
    """The packing in a longer slot [d]; with `floor`, a tool, the lower boundary is open."""
    top = float(positions[:, 2].max()) + 2.0 * DIAMETER
    low = 0.0 if floor is None else -10.0 * DIAMETER
    boundary = {"y": "periodic", "z": ("wall" if floor is None else "open", "open")}
    scene = gg.Scene(((0.0, 0.0, low), (length * DIAMETER, width * DIAMETER, top)), boundary=boundary)
    sand = scene.add_material(density=DENSITY, friction=0.5, restitution=restitution, rolling_friction=rolling)
    scene.add_grains(sand, positions, RADIUS)
    if floor is not None:
        scene.add_tool(floor, name="floor")
    return scene


def slit(length: float, opening: float, width: float) -> gg.Sdf:
    """A flat floor of two boxes, 2 d thick, top at z = 0, with an opening between them; lengths [d]."""
    half = 0.25 * (length - opening) * DIAMETER
    box = gg.Sdf.box((half, width * DIAMETER, DIAMETER))
    middle = 0.5 * width * DIAMETER
    return gg.Sdf.union([box.at((x, middle, -DIAMETER)) for x in (half, length * DIAMETER - half)])
