"""heaps.py: two heaps in a trough, of which a blade ploughs one while the other rests."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

import granular_gym as gg
from testbed.beds import DENSITY, DIAMETER, DT, RADIUS

COUNT, STEP = 600, 20
LENGTH, WIDTH = 60 * DIAMETER, 10 * DIAMETER
#: the blade starts at the left end of the trough
START = (-0.5 * LENGTH + 2 * DIAMETER, 0.0, 2.5 * DIAMETER)


def trough() -> gg.Scene:
    """Two heaps in a long trough, of which a blade shall plough the left one; it waits high above."""
    scene = gg.Scene(((-0.5 * LENGTH, -0.5 * WIDTH, 0.0), (0.5 * LENGTH, 0.5 * WIDTH, 0.6)))
    sand = scene.add_material(density=DENSITY, friction=0.5, rolling_friction=0.2)
    for left in (-26 * DIAMETER, 5 * DIAMETER):
        lower, upper = (left, -0.5 * WIDTH, 0.0), (left + 18 * DIAMETER, 0.5 * WIDTH, 0.12)
        scene.fill_box(sand, lower, upper, count=COUNT // 2, radius=RADIUS, seed=3)
    scene.add_tool(gg.Sdf.box((0.01, 0.4 * WIDTH, 0.02)), name="blade", pose=(START[0], START[1], 0.3))
    return scene


def blade_pose(step: int, speed: float = 0.1) -> NDArray[np.float32]:
    """Where the blade is at the end of step 0, 1, ... of STEP substeps, at so many m/s."""
    return np.array((START[0] + speed * DT * STEP * (step + 1), *START[1:], 1.0, 0.0, 0.0, 0.0), np.float32)
