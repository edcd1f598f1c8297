"""rotations.py: quaternions for scene descriptions: components w x y z, Hamilton product, active rotation."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


def multiply(a: Array, b: Array) -> Array:
    """Hamilton product a b: rotation by b, then by a; both (4,)."""
    aw, av, bw, bv = a[0], a[1:], b[0], b[1:]
    return np.concatenate([[aw * bw - av @ bv], aw * bv + bw * av + np.cross(av, bv)])


def rotate(q: Array, v: Array) -> Array:
    """Rotates vectors (..., 3) by unit quaternions (4,), or (..., 4) that are broadcast."""
    u = q[..., 1:]
    t = 2.0 * cross(u, v)
    return v + q[..., :1] * t + cross(u, t)


def cross(a: Array, b: Array) -> Array:
    """Cross product of vectors (..., 3) that are broadcast; bit for bit `numpy.cross`, with a quarter of its calls."""
    ax, ay, az = a[..., 0], a[..., 1], a[..., 2]
    bx, by, bz = b[..., 0], b[..., 1], b[..., 2]
    x = ay * bz - az * by
    result = np.empty((*x.shape, 3), x.dtype)
    result[..., 0], result[..., 1], result[..., 2] = x, az * bx - ax * bz, ax * by - ay * bx
    return result


def compose(a: Array, b: Array) -> Array:
    """Pose b in the frame of pose a, both x y z qw qx qy qz (7,)."""
    return np.concatenate([a[:3] + rotate(a[3:], b[:3]), multiply(a[3:], b[3:])])


def from_matrix(m: Array) -> Array:
    """Unit quaternion of a rotation matrix (3, 3), by its largest component to avoid cancellation (Shepperd 1978)."""
    squares = np.array(
        [
            1.0 + m[0, 0] + m[1, 1] + m[2, 2],
            1.0 + m[0, 0] - m[1, 1] - m[2, 2],
            1.0 - m[0, 0] + m[1, 1] - m[2, 2],
            1.0 - m[0, 0] - m[1, 1] + m[2, 2],
        ]
    )
    k = int(squares.argmax())
    largest = np.sqrt(squares[k])
    rows = np.array(
        [
            [squares[0], m[2, 1] - m[1, 2], m[0, 2] - m[2, 0], m[1, 0] - m[0, 1]],
            [m[2, 1] - m[1, 2], squares[1], m[0, 1] + m[1, 0], m[0, 2] + m[2, 0]],
            [m[0, 2] - m[2, 0], m[0, 1] + m[1, 0], squares[2], m[1, 2] + m[2, 1]],
            [m[1, 0] - m[0, 1], m[0, 2] + m[2, 0], m[1, 2] + m[2, 1], squares[3]],
        ]
    )
    q = rows[k] * (0.5 / largest)
    q /= np.linalg.norm(q)
    result: Array = q if q[0] >= 0.0 else -q
    return result


def from_z_to(direction: Array) -> Array:
    """A rotation that turns +z into a unit direction (3,)."""
    # any axis that is not parallel to the direction completes a frame
    helper = np.array([1.0, 0.0, 0.0]) if abs(direction[0]) < 0.9 else np.array([0.0, 1.0, 0.0])
    if direction[2] > 1.0 - 1e-12:
        return np.array([1.0, 0.0, 0.0, 0.0])
    x = np.cross(helper, direction)
    x /= np.linalg.norm(x)
    return from_matrix(np.stack([x, np.cross(direction, x), direction], axis=1))
