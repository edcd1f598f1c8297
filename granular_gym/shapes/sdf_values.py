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
    """Signed distances (n,) [m] of points (n, 3), of a solid without planes and cavities; of a union the least."""
    result: Array = np.min([_of_part(part, points) for part in sdf.parts], axis=0)
    return result


def _of_part(part: SdfPart, points: Array) -> Array:
    pose = np.array(part.pose, np.float64)
    local = rotate(pose[3:] * _CONJUGATE, points - pose[:3])
    if part.grid is not None:
        return _of_grid(part.grid, local)
    return _OF_KIND[part.kind](local, *part.size)


# ---- parts in their own frames, whose axis is z ----


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


_OF_KIND: dict[str, Callable[..., Array]] = {
    "box": _box,
    "sphere": _sphere,
    "capsule": _capsule,
    "cylinder": _cylinder,
    "cone": _cone,
}


def _length(p: Array) -> Array:
    result: Array = np.linalg.norm(p, axis=1)
    return result


def _corner(beyond: Array) -> Array:
    """Distances from how far points are beyond the faces that meet at a right angle."""
    result: Array = _length(np.maximum(beyond, 0.0)) + np.minimum(beyond.max(axis=1), 0.0)
    return result


def _of_grid(grid: SdfGrid, p: Array) -> Array:
    """Within the box of the samples theirs; beyond it that of the nearest point of the box, and the way to it."""
    origin = np.array(grid.origin)
    within = np.clip(p, origin, origin + grid.spacing * (np.array(grid.samples.shape[::-1]) - 1))
    result: Array = trilinear(grid.samples.astype(np.float64), grid.spacing, origin, p)[0] + _length(p - within)
    return result


def trilinear(samples: Array, spacing: float, origin: Array, points: Array) -> tuple[Array, Array]:
    """Values (n,) and gradients (n, 3) at points (n, 3), or at the nearest ones of the box of the samples.

    Args:
        samples: by z, y, x.
        spacing: of the samples [m].
        origin: place of the first one (3,) [m].
        points: [m].
    """
    local = np.clip((points - origin) / spacing, 0.0, np.array(samples.shape[::-1]) - 1 - 1e-9)
    cell = local.astype(np.int64)
    (x, y, z), (i, j, k) = (local - cell).T, cell.T
    low, high = [], []
    for a, b in ((0, 0), (1, 0), (0, 1), (1, 1)):
        low.append(samples[k + b, j + a, i])
        high.append(samples[k + b, j + a, i + 1])
    along = [p + x * (q - p) for p, q in zip(low, high, strict=True)]
    slope = [q - p for p, q in zip(low, high, strict=True)]
    front, back = along[0] + y * (along[1] - along[0]), along[2] + y * (along[3] - along[2])
    gx0, gx1 = slope[0] + y * (slope[1] - slope[0]), slope[2] + y * (slope[3] - slope[2])
    gy0, gy1 = along[1] - along[0], along[3] - along[2]
    gradient = np.stack([gx0 + z * (gx1 - gx0), gy0 + z * (gy1 - gy0), back - front], axis=1) / spacing
    return front + z * (back - front), gradient
