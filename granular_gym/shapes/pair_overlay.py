"""pair_overlay.py: distance of two planar shapes from two overlaid distance fields, as published; for comparison.

Source: "The Configurational Element Method for Nonconvex Granular Media", section 6.3, equations 6 and 7: the
contact point is the point of a grid of 201 x 201 where phi_A + phi_B + |phi_A - phi_B| = 2 max(phi_A, phi_B) is least;
d is the sum of both fields there. `exact_distance` is faster and exact.
"""

from __future__ import annotations

import math

import numpy as np

from granular_gym.base.types import Floats
from granular_gym.shapes.shape2d import Shape2D

#: points along each side of the grid
POINTS = 201


def signed_distance(shape: Shape2D, points: Floats) -> Floats:
    """Signed distance of points (n, 2) from a shape's outline [m], negative inside, (n,)."""
    start = shape.vertices
    end = np.concatenate([np.roll(ring, -1, axis=0) for ring in shape.rings])
    least = np.full(len(points), np.inf)
    inside = np.zeros(len(points), bool)
    for p, q in zip(start, end, strict=True):
        edge, off = q - p, points - p
        at = np.clip((off @ edge) / (edge @ edge), 0.0, 1.0)
        least = np.minimum(least, ((off - at[:, None] * edge) ** 2).sum(axis=1))
        if p[1] != q[1]:
            spans = (p[1] > points[:, 1]) != (q[1] > points[:, 1])
            inside ^= spans & (points[:, 0] < p[0] + (points[:, 1] - p[1]) / (q[1] - p[1]) * (q[0] - p[0]))
    result: Floats = np.where(inside, -1.0, 1.0) * np.sqrt(least)
    return result


class Overlay:
    """The distance fields of two shapes: A's sampled at the grid's points, B's interpolated from a grid of its own."""

    def __init__(self, a: Shape2D, b: Shape2D) -> None:
        half = 2 * max(a.circumradius, b.circumradius)
        axis = np.linspace(-half, half, POINTS)
        x, y = np.meshgrid(axis, axis)
        self._points = np.stack([x.ravel(), y.ravel()], axis=1)
        self._field_a = signed_distance(a, self._points)
        # B's grid is wider; beyond it the field is extended by its edge values, which are far above any minimum
        self._half_b, self._count_b = 1.5 * half, 3 * (POINTS - 1) // 2 + 1
        wide = np.linspace(-self._half_b, self._half_b, self._count_b)
        x, y = np.meshgrid(wide, wide)
        self._field_b = signed_distance(b, np.stack([x.ravel(), y.ravel()], axis=1)).reshape(x.shape)

    def _sample_b(self, points: Floats) -> Floats:
        """B's field at points (n, 2) of its frame, by bilinear interpolation."""
        node_index = (points + self._half_b) * ((self._count_b - 1) / (2 * self._half_b))
        node_index = np.clip(node_index, 0.0, self._count_b - 1.000001)
        cell = node_index.astype(np.int64)
        fx, fy = (node_index - cell).T
        k = cell[:, 1] * self._count_b + cell[:, 0]
        f = self._field_b.ravel()
        lower = f[k] * (1 - fx) + f[k + 1] * fx
        upper = f[k + self._count_b] * (1 - fx) + f[k + self._count_b + 1] * fx
        result: Floats = lower * (1 - fy) + upper * fy
        return result

    def distance(self, theta: float, x: float, y: float) -> tuple[float, Floats]:
        """d [m] and the contact point (2,) [m], in A's frame."""
        c, s = math.cos(theta), math.sin(theta)
        off = self._points - (x, y)
        field_b = self._sample_b(np.stack([c * off[:, 0] + s * off[:, 1], c * off[:, 1] - s * off[:, 0]], axis=1))
        k = int(np.maximum(self._field_a, field_b).argmin())
        return float(self._field_a[k] + field_b[k]), self._points[k]

    def nodes(self, poses: Floats) -> Floats:
        """d and the lever arm r_A . n (n, 2) at poses (n, 3); the normal by central differences of d on the grid."""
        out = np.empty((len(poses), 2))
        step = self._points[1, 0] - self._points[0, 0]
        for k, (theta, x, y) in enumerate(poses):
            d, point = self.distance(theta, x, y)
            slope = np.array(
                [
                    self.distance(theta, x + step, y)[0] - self.distance(theta, x - step, y)[0],
                    self.distance(theta, x, y + step)[0] - self.distance(theta, x, y - step)[0],
                ]
            )
            length = float(np.linalg.norm(slope))
            normal = slope / length if length > 0 else np.array([1.0, 0.0])
            # the point lies halfway between the outlines
            out[k] = d, float(normal @ point) - 0.5 * d
        return out
