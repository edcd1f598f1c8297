"""bounds.py: corners of a scene, what happens at its faces, and vectors, which in the plane are given as (x, y)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from granular_gym.base import checks
from granular_gym.errors import ArgumentError

#: values of gg_boundary
BOUNDARIES = {"open": 0, "wall": 1, "cyclic": 2, "periodic": 3}
#: names of the faces, in the order of walls
FACES = ("x lower", "x upper", "y lower", "y upper", "z lower", "z upper")
#: largest length of a scene [m]
LARGEST_LENGTH = 1e6
_PAIRED = ("cyclic", "periodic")
_DEFAULT_BOUNDARY: dict[str, Any] = {"x": "wall", "y": "wall", "z": ("wall", "open")}
_PLANAR_BOUNDARY: dict[str, Any] = {"x": "wall", "y": ("wall", "open"), "z": "open"}


def boundary_faces(boundary: Any, planar: bool) -> NDArray[np.int32]:
    """The (3, 2) table of gg_boundary from a dict by axis."""
    default = _PLANAR_BOUNDARY if planar else _DEFAULT_BOUNDARY
    if boundary is None:
        boundary = {}
    if not isinstance(boundary, Mapping):
        raise ArgumentError(f"boundary: expected a dict of axes, got {type(boundary).__name__}")
    for axis in boundary:
        checks.choice("boundary: axis", axis, "xy" if planar else "xyz")
    table = np.zeros((3, 2), np.int32)
    for row, axis in enumerate("xyz"):
        value = boundary.get(axis, default[axis])
        pair = (value, value) if isinstance(value, str) else value
        if not isinstance(pair, Sequence) or len(pair) != 2:
            raise ArgumentError(f'boundary["{axis}"]: expected a name or a pair of names, got {value!r}')
        for face in pair:
            checks.choice(f'boundary["{axis}"]', face, list(BOUNDARIES))
        if pair[0] != pair[1] and (pair[0] in _PAIRED or pair[1] in _PAIRED):
            raise ArgumentError(f'boundary["{axis}"]: expected cyclic or periodic for both faces, got {tuple(pair)}')
        table[row] = [BOUNDARIES[face] for face in pair]
    return table


def corners(value: Any) -> NDArray[np.float32]:
    """(2, 3) or, in the plane, (2, 2)."""
    bounds = checks.floats("bounds", value, (2, 3), (2, 2))
    if (np.abs(bounds) > LARGEST_LENGTH).any():
        raise ArgumentError(f"bounds: expected lengths up to {LARGEST_LENGTH:g} m, got {bounds.tolist()}")
    if not (bounds[0] < bounds[1]).all():
        raise ArgumentError(f"bounds: expected lower < upper along each axis, got {bounds.tolist()}")
    return bounds


def vector(name: str, value: Any, planar: bool) -> NDArray[np.float32]:
    """(3,) from what was given, which in the plane is (2,)."""
    if not planar:
        return checks.vector(name, value)
    return np.append(checks.floats(name, value, (2,)), np.float32(0.0))


def vectors(name: str, value: Any, count: int | None, planar: bool) -> NDArray[np.float32]:
    """(n, 3) from what was given, which in the plane is (n, 2); count: how many there must be."""
    values = checks.floats(name, value, (count, 2 if planar else 3))
    return np.column_stack([values, np.zeros(len(values), np.float32)]) if planar else values.copy()
