"""matter.py: the surface of continuous matter as triangles, for pictures."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from granular_gym.engine.world import World

#: cells of the surface's grid in a spacing of the matter's
_FINER = 2
#: width of the blur [cells of the surface's grid], about the distance of particles at eight a cell
_BLUR = 1.2
#: share of space filled at which the surface lies: half of what is full
_LEVEL = 0.5


def matter_surface(world: World, env: int) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
    """Where the volume of the particles, blurred, fills half of space: to look at, not to measure by.

    Thin threads of single particles may be lost; the surface lies within about half a spacing of the particles' own.

    Args:
        world: of continuous matter.
        env: index of the env.

    Returns:
        Vertices (n, 3) [m] and faces (m, 3), counter-clockwise from outside.
    """
    from skimage.filters import gaussian
    from skimage.measure import marching_cubes

    cell = world.spacing / _FINER
    points = world.positions[env].astype(np.float64)
    volumes = 4.0 / 3.0 * np.pi * world.radii[env].astype(np.float64) ** 3
    # such that the outermost particles lie in the middle of a cell: lattices are then met evenly on both sides
    lower = points.min(axis=0) - 6.5 * cell
    shape = np.ceil((points.max(axis=0) + 6.0 * cell - lower) / cell).astype(int)
    edges: Any = [lower[axis] + cell * np.arange(shape[axis] + 1) for axis in range(3)]
    filled = np.histogramdd(points, edges, weights=volumes / cell**3)[0]
    smooth = gaussian(filled, _BLUR, mode="constant")
    if not smooth.min() < _LEVEL < smooth.max():
        return np.zeros((0, 3), np.float32), np.zeros((0, 3), np.int64)
    vertices, faces, _, _ = marching_cubes(smooth, _LEVEL, spacing=(cell,) * 3, gradient_direction="ascent")
    return (vertices + lower + 0.5 * cell).astype(np.float32), faces.astype(np.int64)
