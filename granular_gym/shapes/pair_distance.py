"""pair_distance.py: exact distance and contact of two planar shapes.

A pose is (theta, x, y): angle [rad] and translation [m] of shape B in the frame of shape A. Both shapes have their
centre of mass at the origin of their frame.
"""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
from numpy.typing import NDArray

from granular_gym import _core
from granular_gym.base import checks
from granular_gym.base.types import Floats
from granular_gym.errors import ArgumentError
from granular_gym.shapes.shape2d import Shape2D


@dataclasses.dataclass(frozen=True, eq=False)
class PairContact:
    """The contact of two shapes at n poses; vectors and points in A's frame.

    Attributes:
        d: signed distance (n,) [m]; negative: minus the length of the shortest translation that separates the shapes.
        normal: unit vector from A to B (n, 2), the gradient of d with respect to the translation.
        dtheta: derivative of d with respect to the angle (n,) [m].
        arm_a: lever arm r_A . normal (n,) [m], with r_A from A's centre of mass to the contact point.
    """

    d: NDArray[Any]
    normal: NDArray[Any]
    dtheta: NDArray[Any]
    arm_a: NDArray[Any]


@dataclasses.dataclass(frozen=True, eq=False)
class ExactContact(PairContact):
    """A PairContact with the contact points on both outlines.

    Attributes:
        point_a: on A's outline (n, 2) [m].
        point_b: on B's outline (n, 2) [m]: point_a + d * normal.
    """

    point_a: Floats
    point_b: Floats


def check_shape(name: str, value: Any) -> Shape2D:
    """The value; ArgumentError unless it is a Shape2D."""
    if not isinstance(value, Shape2D):
        raise ArgumentError(f"{name}: expected a Shape2D, got {type(value).__name__}")
    return value


def check_poses(value: Any, dtype: Any) -> NDArray[Any]:
    """Finite poses (n, 3) as an array of the dtype."""
    try:
        array = np.ascontiguousarray(checks.host_array(value), dtype)
    except (TypeError, ValueError):
        raise ArgumentError(f"poses: expected numbers (n, 3), got {type(value).__name__}") from None
    if array.ndim != 2 or array.shape[1] != 3:
        raise ArgumentError(f"poses: expected shape (*, 3), got {array.shape}")
    if not np.isfinite(array).all():
        row = int(np.flatnonzero(~np.isfinite(array).all(axis=1))[0])
        raise ArgumentError(f"poses: expected finite numbers, row {row} is {array[row].tolist()}")
    return array


def exact_distance(a: Shape2D, b: Shape2D, poses: Any, *, num_threads: int | None = None) -> ExactContact:
    """Signed distance, its gradient and the contact points of two shapes, exact up to rounding in float64.

    The shapes intersect where the translation lies in the Minkowski sum of A and the turned B reflected at its origin;
    d is the signed distance to the boundary of that sum. Where several boundary points are equally near (the medial
    axis), one of them is taken. Where the nearest point is a reflex vertex of the sum, two contacts are active: dtheta
    and arm_a are their values, weighted by the parts of their normals in `normal`.

    Args:
        a: the shape whose frame is used.
        b: the other shape.
        poses: theta [rad], x, y [m] of B in A's frame (n, 3). Consecutive poses of equal angle cost about a hundredth
            of others.
        num_threads: threads to use; default: one per usable core.

    Raises:
        ArgumentError: `a` or `b` is not a Shape2D, or `poses` are not finite numbers (n, 3).
    """
    at = check_poses(poses, np.float64)
    polygon_a, polygon_b = check_shape("a", a).polygon, check_shape("b", b).polygon
    out = _core.pair_distance(polygon_a, polygon_b, at, checks.threads(num_threads) or 0)
    return ExactContact(
        d=out[:, 0],
        normal=out[:, 1:3],
        dtheta=out[:, 3],
        arm_a=out[:, 4],
        point_a=out[:, 5:7],
        point_b=out[:, 7:9],
    )
