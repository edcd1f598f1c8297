"""sphere_union.py: volume, centre of mass and second moments of a union of spheres, overlaps counted once.

The divergence theorem turns them into integrals over the surface of the union: of each sphere what no other one covers,
which is the sphere without the caps that its neighbours cut off. Around an axis of the sphere the integral is exact
over the arcs that no cap covers. Along it Gauss quadrature runs between the heights where an arc begins, ends or meets
another one. In between the integrand is smooth but for square roots at both ends, which a change of variable removes.
The axis is that of the largest cap: two spheres are exact.
"""

from __future__ import annotations

import itertools
import math

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

#: nodes of the quadrature between two heights
_NODES = 24
#: a point this close to the rim of a cap counts as outside it: one height too many does no harm
_RIM = 1e-9
#: heights nearer than this are one, in radii
_NARROW = 1e-13
#: points of rims that are tested against all caps at once
_CHUNK = 65536


def union_moments(centers: Array, radii: Array) -> tuple[float, Array, Array]:
    """Of a union of spheres, none of which lies wholly within another one.

    Args:
        centers: float64 (n, 3) [m].
        radii: float64 (n,) [m].

    Returns:
        Volume [m3], centre of mass (3,) [m], and the integral of x x^T about it (3, 3) [m5].
    """
    # lengths of about 1 near the origin: no cancellation, and tolerances are relative
    middle = 0.5 * ((centers - radii[:, None]).min(axis=0) + (centers + radii[:, None]).max(axis=0))
    unit = float(radii.max())
    points, sizes = (centers - middle) / unit, radii / unit
    volume, first, second = 0.0, np.zeros(3), np.zeros((3, 3))
    for k in range(len(sizes)):
        toward = points - points[k]
        distance = np.sqrt((toward * toward).sum(axis=1))
        near = distance < sizes + sizes[k]
        near[k] = False
        caps = _caps(toward[near], distance[near], float(sizes[k]), sizes[near])
        parts = _sphere_part(points[k], float(sizes[k]), *_exposed_moments(*caps))
        volume, first, second = volume + parts[0], first + parts[1], second + parts[2]
    center = first / volume
    about = second - volume * np.outer(center, center)
    return volume * unit**3, middle + center * unit, 0.5 * (about + about.T) * unit**5


def _caps(toward: Array, distance: Array, radius: float, radii: Array) -> tuple[Array, Array]:
    """Directions (k, 3) of the caps that neighbours cut off, and the cosines of their half angles (k,).

    Caps within others are left out.
    """
    axis = toward / distance[:, None]
    cosine = (distance**2 + radius**2 - radii**2) / (2.0 * distance * radius)
    cosine = np.clip(cosine, -1.0, 1.0)
    half = np.arccos(cosine)
    order = np.argsort(-half, kind="stable")
    axis, cosine, half = axis[order], cosine[order], half[order]
    between = np.arccos(np.clip(axis @ axis.T, -1.0, 1.0))
    # those before a cap in the order are not smaller
    within = np.tril(between + half[:, None] <= half[None, :], -1).any(axis=1)
    return axis[~within], cosine[~within]


def _sphere_part(c: Array, r: float, m0: float, m1: Array, m2: Array, m3: Array) -> tuple[float, Array, Array]:
    """What the exposed part of a sphere adds to the integrals of 1, x and x x^T over the union.

    The fields x / 3, x_j x / 4 and x_j x_k x / 5 have the divergence 1, x_j and x_j x_k; on the sphere x = c + r n.
    """
    flow = float(c @ m1) + r * m0
    turned = m2 @ c
    first = c * flow + r * turned + r * r * m1
    side = np.outer(c, r * turned + r * r * m1)
    second = np.outer(c, c) * flow + side + side.T + r * r * (m3 @ c) + r**3 * m2
    return r * r * flow / 3.0, r * r * first / 4.0, r * r * second / 5.0


def _exposed_moments(axis: Array, cosine: Array) -> tuple[float, Array, Array, Array]:
    """Integrals of 1, n, n n and n n n over the part of the unit sphere that no cap covers."""
    frame = np.eye(3)
    if len(axis):
        z = axis[0]
        x = np.cross(np.eye(3)[int(np.abs(z).argmin())], z)
        x /= math.sqrt(float(x @ x))
        frame = np.stack([x, np.cross(z, x), z], axis=1)
        axis = axis @ frame
        axis[0] = (0.0, 0.0, 1.0)
    u, weight = _nodes(_heights(axis, cosine))
    s = np.sqrt(np.maximum(1.0 - u * u, 0.0))
    arcs = _arc_integrals(u, s, axis, cosine)
    total = {
        (a, b, c): float((weight * s ** (a + b) * u**c * arcs[a, b]).sum())
        for a, b, c in itertools.product(range(4), repeat=3)
        if a + b + c <= 3
    }

    def tensor(order: int) -> Array:
        result = np.empty((3,) * order)
        for index in itertools.product(range(3), repeat=order):
            result[index] = total[index.count(0), index.count(1), index.count(2)]
        return result

    third = np.einsum("ai,bj,ck,ijk->abc", frame, frame, frame, tensor(3))
    return total[0, 0, 0], frame @ tensor(1), frame @ tensor(2) @ frame.T, third


def _heights(axis: Array, cosine: Array) -> Array:
    """Heights from -1 to 1 between which the exposed arcs change smoothly, in order."""
    sine = np.sqrt(np.maximum(1.0 - cosine * cosine, 0.0))
    index = np.arange(len(cosine))
    # the highest and lowest point of each rim
    rise = np.array([0.0, 0.0, 1.0]) - axis[:, 2:] * axis
    length = np.sqrt((rise * rise).sum(axis=1))[:, None]
    rise = np.divide(rise, length, out=np.zeros_like(rise), where=length > 1e-12)
    ends = [cosine[:, None] * axis + sign * sine[:, None] * rise for sign in (1.0, -1.0)]
    points, owners = [*ends], [np.stack([index, index], axis=1)] * 2
    # points where two rims cross
    j, k = np.triu_indices(len(cosine), 1)
    g = np.einsum("ij,ij->i", axis[j], axis[k])
    free = 1.0 - g * g
    with np.errstate(divide="ignore", invalid="ignore"):
        a, b = (cosine[j] - g * cosine[k]) / free, (cosine[k] - g * cosine[j]) / free
        square = (1.0 - a * a - b * b - 2.0 * a * b * g) / free
    cross = (free > 1e-14) & (square > 0.0)
    j, k, a, b, square = j[cross], k[cross], a[cross], b[cross], square[cross]
    base = a[:, None] * axis[j] + b[:, None] * axis[k]
    up = np.sqrt(square)[:, None] * np.cross(axis[j], axis[k])
    points += [base + up, base - up]
    owners += [np.stack([j, k], axis=1)] * 2
    point, owner = np.concatenate(points), np.concatenate(owners)
    exposed = [np.ones(0, bool)]
    for start in range(0, len(point), _CHUNK):
        part, own = point[start : start + _CHUNK], owner[start : start + _CHUNK]
        covered = part @ axis.T > cosine + _RIM
        row = np.arange(len(part))
        covered[row, own[:, 0]] = covered[row, own[:, 1]] = False
        exposed.append(~covered.any(axis=1))
    inner = np.clip(point[np.concatenate(exposed), 2], -1.0, 1.0)
    heights = np.sort(np.concatenate([[-1.0, 1.0], inner]))
    result: Array = heights[np.concatenate([[True], np.diff(heights) > _NARROW])]
    return result


def _nodes(heights: Array) -> tuple[Array, Array]:
    """Nodes and weights of the quadrature from the first to the last height.

    Between two heights u runs as a cosine, of which a square root at either end is smooth.
    """
    node, weight = np.polynomial.legendre.leggauss(_NODES)
    angle = 0.5 * math.pi * (node + 1.0)
    half = 0.5 * np.diff(heights)[:, None]
    u = heights[:-1, None] + half * (1.0 - np.cos(angle))
    return u.reshape(-1), (half * (0.5 * math.pi * weight * np.sin(angle))).reshape(-1)


def _arc_integrals(u: Array, s: Array, axis: Array, cosine: Array) -> dict[tuple[int, int], Array]:
    """Integrals of cos^a sin^b over the exposed arcs of the circle at each height, by (a, b) with a + b <= 3.

    Args:
        u: heights (q,).
        s: radii of the circles (q,).
        axis: of the caps (k, 3).
        cosine: of the half angles of the caps (k,).
    """
    flat = np.sqrt(axis[:, 0] ** 2 + axis[:, 1] ** 2)
    middle = np.arctan2(axis[:, 1], axis[:, 0])
    reach = (cosine - u[:, None] * axis[:, 2]) / np.maximum(s[:, None] * flat, 1e-300)
    half = np.arccos(np.clip(reach, -1.0, 1.0))
    turn = 2.0 * math.pi
    start = (middle - half) % turn
    stop = start + 2.0 * half
    # an arc past a full turn goes on from 0
    begin = np.concatenate([start, np.zeros_like(start)], axis=1)
    end = np.concatenate([np.minimum(stop, turn), np.maximum(stop - turn, 0.0)], axis=1)
    order = np.argsort(begin, axis=1, kind="stable")
    begin = np.take_along_axis(begin, order, axis=1)
    end = np.maximum.accumulate(np.take_along_axis(end, order, axis=1), axis=1)
    low = np.concatenate([np.zeros((len(u), 1)), end], axis=1)
    high = np.maximum(low, np.concatenate([begin, np.full((len(u), 1), turn)], axis=1))
    upper, lower = _antiderivatives(high), _antiderivatives(low)
    return {key: (upper[key] - lower[key]).sum(axis=1) for key in upper}


def _antiderivatives(angle: Array) -> dict[tuple[int, int], Array]:
    """Of cos^a sin^b, by (a, b)."""
    c, s = np.cos(angle), np.sin(angle)
    return {
        (0, 0): angle,
        (1, 0): s,
        (0, 1): -c,
        (2, 0): 0.5 * (angle + s * c),
        (1, 1): 0.5 * s * s,
        (0, 2): 0.5 * (angle - s * c),
        (3, 0): s - s**3 / 3.0,
        (2, 1): -(c**3) / 3.0,
        (1, 2): s**3 / 3.0,
        (0, 3): c**3 / 3.0 - c,
    }
