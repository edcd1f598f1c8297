"""planar.py: shapes of planar grains as the arrays that the engine takes.

A world knows a shape by its mass properties and by points along its boundary that feel tools (csrc/geometry/outline.h);
what two grains do to each other is in the field of their pair of shapes (pair_field.py).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from granular_gym.shapes.pair_field import PairField, pack_fields
from granular_gym.shapes.pair_table import RECORD
from granular_gym.shapes.shape2d import Shape2D

#: points that feel tools are no further apart than this share of the circumradius, where there is room for so many
_SPACING = 0.15
#: convex corners that turn by more than this feel tools beside their neighbours [rad]
_CORNER = math.radians(25.0)
#: gg_outline_kind of a point within a straight edge
_STRAIGHT = 2
#: GG_OUTLINE_POINTS
_MOST = 512


def outline_points(shape: Shape2D) -> tuple[NDArray[np.float32], NDArray[np.int32]]:
    """Points along the boundary of a shape.

    Returns:
        points (n, 2) [m] and integers (n, 3): the point before, the one after, and 1 for a convex corner, 2 for a point
        within a straight edge.
    """
    points: list[NDArray[np.float64]] = []
    integers: list[list[int]] = []
    steps = np.concatenate([np.linalg.norm(np.roll(ring, -1, axis=0) - ring, axis=1) for ring in shape.rings])
    spacing = _SPACING * shape.circumradius
    while np.ceil(steps / spacing).sum() > _MOST:
        spacing *= 1.1
    for ring in shape.rings:
        first = len(integers)
        ahead = np.roll(ring, -1, axis=0) - ring
        behind = ring - np.roll(ring, 1, axis=0)
        turn = np.arctan2(behind[:, 0] * ahead[:, 1] - behind[:, 1] * ahead[:, 0], (behind * ahead).sum(axis=1))
        for vertex, step, angle in zip(ring, ahead, turn, strict=True):
            pieces = max(1, math.ceil(float(np.linalg.norm(step)) / spacing))
            points.append(vertex + np.arange(pieces)[:, None] / pieces * step)
            integers += [[0, 0, _STRAIGHT if k else int(angle > _CORNER)] for k in range(pieces)]
        count = len(integers) - first
        for k in range(count):
            integers[first + k][:2] = [first + (k - 1) % count, first + (k + 1) % count]
    return np.concatenate(points).astype(np.float32), np.array(integers, np.int32)


def thickness(shape: Shape2D) -> float:
    """Thickness of the thinnest part of a shape [m]: the shortest way from a point of the boundary straight to the
    other side."""
    start = np.concatenate(shape.rings)
    end = np.concatenate([np.roll(ring, -1, axis=0) for ring in shape.rings])
    along = end - start
    length = np.linalg.norm(along, axis=1)
    inward = np.stack([-along[:, 1], along[:, 0]], axis=1) / length[:, None]
    shares = (np.arange(8) + 0.5) / 8
    origins = (start[:, None] + shares[:, None] * along[:, None]).reshape(-1, 2)
    rays = np.repeat(inward, len(shares), axis=0)
    # where ray k meets edge j: origin + s ray = start + u along
    cross = rays[:, None, 0] * along[None, :, 1] - rays[:, None, 1] * along[None, :, 0]
    away = start[None] - origins[:, None]
    with np.errstate(divide="ignore", invalid="ignore"):
        s = (away[..., 0] * along[None, :, 1] - away[..., 1] * along[None, :, 0]) / cross
        u = (away[..., 0] * rays[:, None, 1] - away[..., 1] * rays[:, None, 0]) / cross
    hit = np.isfinite(s) & (s > 1e-6 * shape.circumradius) & (u >= 0.0) & (u <= 1.0)
    return float(np.where(hit, s, np.inf).min())


def lightest(arrays: dict[str, Any]) -> float:
    """Mass of the lightest grain that is not fixed, per metre of depth [kg/m]; 0: none, or grains are spheres.

    Args:
        arrays: of a frozen scene.
    """
    planar = arrays["planar"]
    if planar is None:
        return 0.0
    used = np.unique(arrays["grain_material"])
    mass = arrays["density"][used] * planar["outline_floats"][planar["material_outline"][used], 1]
    mass = mass[arrays["material_fixed"][used] == 0]
    return float(mass.min()) if len(mass) else 0.0


def planar_arrays(
    shapes: Sequence[Shape2D],
    fields: dict[tuple[int, int], PairField],
    materials: Sequence[int],
    angles: NDArray[np.float32],
) -> dict[str, Any]:
    """The `planar` argument of the engine's world.

    Args:
        shapes: by index.
        fields: of two shapes, the first index not the larger one.
        materials: shape by material.
        angles: of the grains [rad].
    """
    points, integers, starts = [], [], [0]
    for shape in shapes:
        positions, links = outline_points(shape)
        points.append(positions)
        integers.append(links)
        starts.append(starts[-1] + len(positions))
    pairs = list(fields)
    packed, data = pack_fields([fields[pair] for pair in pairs])
    records = np.zeros((len(shapes), len(shapes)), RECORD)
    for pair, record in zip(pairs, packed, strict=True):
        records[pair] = record
    return {
        "outline_integers": np.array([[starts[k], starts[k + 1] - starts[k]] for k in range(len(shapes))], np.int32),
        "outline_floats": np.array(
            [[s.circumradius, s.area, s.inertia / s.area, thickness(s)] for s in shapes], np.float32
        ),
        "point_integers": np.concatenate(integers),
        "point_floats": np.concatenate(points),
        "pair_field": np.frombuffer(records.tobytes(), np.uint8),
        "pair_data": data,
        "material_outline": np.array(materials, np.int32),
        "angle": angles,
    }
