"""extents.py: how far a solid reaches along a direction."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from granular_gym.base.rotations import rotate
from granular_gym.shapes.sdf import Sdf, SdfGrid, SdfPart

Array = NDArray[np.float64]


def extent(sdf: Sdf, direction: Array) -> float:
    """The largest `direction . p` of all points p of a solid [m]; infinite where it has no end, as planes and cavities.

    Args:
        sdf: the solid.
        direction: unit vector (3,) in the frame of the solid.
    """
    return max(_part(part, direction) for part in sdf.parts)


def _part(part: SdfPart, direction: Array) -> float:
    pose = np.array(part.pose, np.float64)
    local = rotate(pose[3:] * [1.0, -1.0, -1.0, -1.0], direction)
    return float(direction @ pose[:3]) + _at_origin(part, local)


def _at_origin(part: SdfPart, d: Array) -> float:
    """Of a part in its own frame, whose axis is z."""
    size, flat = part.size, math.hypot(d[0], d[1])
    if part.grid is not None:
        return _grid(part.grid, d)
    if part.kind == "plane":
        return 0.0 if d[2] > 1.0 - 1e-9 else math.inf
    if part.kind == "box":
        return float(np.abs(d) @ size)
    if part.kind == "sphere":
        return size[0]
    if part.kind == "capsule":
        return size[0] + size[1] * abs(float(d[2]))
    if part.kind == "cylinder":
        return size[0] * flat + size[1] * abs(float(d[2]))
    if part.kind == "cone":
        return max(size[0] * flat - size[2] * float(d[2]), size[1] * flat + size[2] * float(d[2]))
    return math.inf


def _grid(grid: SdfGrid, d: Array) -> float:
    """From the mesh where there is one; else from each sample inside and its distance to the surface."""
    if grid.sampling is not None:
        return float((np.asarray(grid.sampling.mesh.vertices, np.float64) @ d).max())
    inside = np.argwhere(grid.samples < 0.0)
    if not len(inside):
        return -math.inf
    points = inside[:, ::-1] * grid.spacing + np.array(grid.origin)
    return float((points @ d - grid.samples[tuple(inside.T)]).max())
