"""sdf_values.py: signed distances of a solid at points, in NumPy: for what is made of a solid before a world exists."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from granular_gym.base.rotations import rotate
from granular_gym.shapes.extents import extent
from granular_gym.shapes.sdf import Sdf, SdfGrid, SdfPart

Array = NDArray[np.float64]

_CONJUGATE = np.array([1.0, -1.0, -1.0, -1.0])


def bounds(sdf: Sdf) -> Array:
    """Lowest and highest corner of the box around a solid (2, 3) [m]; infinite of one without an end."""
    axes = np.eye(3)
    return np.array([[-extent(sdf, -axis) for axis in axes], [extent(sdf, axis) for axis in axes]])


def distances(sdf: Sdf, points: Array) -> Array:
    """Signed distances (n,) [m] of points (n, 3); of a union the least one of its parts."""
    result: Array = np.min([_of_part(part, points) for part in sdf.parts], axis=0)
    return result


def _of_part(part: SdfPart, points: Array) -> Array:
    pose = np.array(part.pose, np.float64)
    local = rotate(pose[3:] * _CONJUGATE, points - pose[:3])
    if part.grid is not None:
        return _of_grid(part.grid, local)
    return _OF_KIND[part.kind](local, *part.size)


# ---- parts in their own frames, whose axis is z ----


def _plane(p: Array) -> Array:
    return p[:, 2]


def _box(p: Array, *half: float) -> Array:
    return _corner(np.abs(p) - half)


def _sphere(p: Array, radius: float) -> Array:
    return _length(p) - radius


def _capsule(p: Array, radius: float, half: float) -> Array:
    return _length(p - np.clip(p[:, 2:], -half, half) * [0.0, 0.0, 1.0]) - radius


def _cylinder(p: Array, radius: float, half: float) -> Array:
    return _corner(np.stack([np.hypot(p[:, 0], p[:, 1]) - radius, np.abs(p[:, 2]) - half], axis=1))


def _cone(p: Array, lower: float, upper: float, half: float) -> Array:
    rho, z = np.hypot(p[:, 0], p[:, 1]), p[:, 2]
    # the nearest points of both ends and of the side
    end = np.minimum(rho, np.where(z < 0.0, lower, upper))
    to_end = np.hypot(rho - end, np.abs(z) - half)
    along = np.array([upper - lower, 2.0 * half])
    share = np.clip(((rho - lower) * along[0] + (z + half) * along[1]) / (along @ along), 0.0, 1.0)
    to_side = np.hypot(rho - lower - share * along[0], z + half - share * along[1])
    inside = (np.abs(z) < half) & ((rho - lower) * along[1] < (z + half) * along[0])
    result: Array = np.where(inside, -1.0, 1.0) * np.minimum(to_end, to_side)
    return result


def _cavity(p: Array, radius: float) -> Array:
    result: Array = radius - np.hypot(p[:, 0], p[:, 1])
    return result


_OF_KIND: dict[str, Callable[..., Array]] = {
    "plane": _plane,
    "box": _box,
    "sphere": _sphere,
    "capsule": _capsule,
    "cylinder": _cylinder,
    "cone": _cone,
    "cavity": _cavity,
}


def _length(p: Array) -> Array:
    result: Array = np.linalg.norm(p, axis=1)
    return result


def _corner(beyond: Array) -> Array:
    """Distances from how far points are beyond the faces that meet at a right angle."""
    result: Array = _length(np.maximum(beyond, 0.0)) + np.minimum(beyond.max(axis=1), 0.0)
    return result


def _of_grid(grid: SdfGrid, p: Array) -> Array:
    """Trilinear within the box of the samples; beyond it the nearest point's value, and the way to it."""
    last = np.array(grid.samples.shape[::-1]) - 1
    local = (p - np.array(grid.origin)) / grid.spacing
    within = np.clip(local, 0.0, last - 1e-9)
    cell = within.astype(np.int64)
    x, y, z = (within - cell).T
    i, j, k = cell.T
    f = grid.samples.astype(np.float64)
    value = np.zeros(len(p))
    for dz, wz in ((0, 1.0 - z), (1, z)):
        for dy, wy in ((0, 1.0 - y), (1, y)):
            for dx, wx in ((0, 1.0 - x), (1, x)):
                value += wz * wy * wx * f[k + dz, j + dy, i + dx]
    result: Array = value + grid.spacing * _length(local - within)
    return result
