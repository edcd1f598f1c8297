"""initial.py: the state of particles at the start, from pictures of several cameras.

Visual hull and depth: a point of a fine lattice belongs to matter where every camera sees it within the silhouette and
behind the surface that its depth shows. Its part is that of the colour of the surface nearest before it. Of each part
the surest points are kept, as many as its particles fill when they are packed densely, and the particles are put evenly
among them (Lloyd's iterations). What no camera sees is taken for full. Velocities are those of the parts: the shift of
the middle of the hull over the first three frames.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from granular_gym.base import checks
from granular_gym.errors import ArgumentError
from granular_gym.learned.cameras import PinholeCamera
from granular_gym.learned.layouts import SPACING

Floats = NDArray[np.float64]

#: distance of lattice points in radii
_PITCH = 0.5
_LLOYD = 12


@dataclasses.dataclass(frozen=True)
class PartGuess:
    """What is known of a part beforehand.

    Attributes:
        count: of its particles.
        color: (3,), 0 .. 1, of its matter in full light.
    """

    count: int
    color: tuple[float, float, float]


@dataclasses.dataclass(frozen=True, eq=False)
class StartState:
    """Particles at the first frame, part after part.

    Attributes:
        positions: (n, 3) float32 [m].
        velocities: (n, 3) float32 [m/s]; those of the middle of the three frames.
        parts: (n,) int32, the part of each.
    """

    positions: NDArray[np.float32]
    velocities: NDArray[np.float32]
    parts: NDArray[np.int32]


def parts_of(colors: Any, parts: Any) -> list[PartGuess]:
    """What a user would know of the parts of an episode: their particles and mean colours.

    Args:
        colors: (n, 3) of the particles, 0 .. 1.
        parts: (n,) the part of each, counted from 0.
    """
    tint, number = np.asarray(colors, np.float64), np.asarray(parts)
    found = []
    for each in range(int(number.max()) + 1):
        red, green, blue = tint[number == each].mean(axis=0)
        found.append(PartGuess(int((number == each).sum()), (float(red), float(green), float(blue))))
    return found


def start_state(
    color: Any,
    depth: Any,
    cameras: Sequence[PinholeCamera],
    bounds: Any,
    radius: float,
    dt: float,
    parts: Sequence[PartGuess],
) -> StartState:
    """The start from the first three frames.

    Args:
        color: (3, C, H, W, 3) uint8.
        depth: (3, C, H, W) [m]; `far` where nothing is seen.
        cameras: that took them.
        bounds: (2, 3) of the box that holds all matter [m].
        radius: of the particles [m].
        dt: time between frames [s].
        parts: what is known.

    Raises:
        ArgumentError: images of another size than the cameras', no parts, or a part that no camera sees.
    """
    count = len(cameras)
    if not count or not parts:
        raise ArgumentError(f"cameras, parts: expected at least one of each, got {count} and {len(parts)}")
    shape = (3, count, cameras[0].height, cameras[0].width)
    deep = checks.doubles("depth", depth, shape)
    seen = checks.numbers("color", color)
    if seen.shape != (*shape, 3):
        raise ArgumentError(f"color: expected shape {(*shape, 3)}, got {seen.shape}")
    size, interval = checks.number("radius", radius, 0.0, above=True), checks.number("dt", dt, 0.0, above=True)
    lattice = _lattice(checks.doubles("bounds", bounds, (2, 3)), size)
    hulls = [_hull(lattice, seen[frame], deep[frame], cameras, size, parts) for frame in range(3)]
    positions, velocities, numbers = [], [], []
    filled = (2.0 * SPACING * size) ** 3 / np.sqrt(2.0) / (_PITCH * size) ** 3
    for number, part in enumerate(parts):
        middles = []
        for sure, label, _ in hulls:
            weight = np.where(label == number, sure, 0.0)
            if not weight.sum() > 0.0:
                raise ArgumentError(
                    f"parts: expected part {number} in the pictures, no camera sees its colour {part.color}"
                )
            middles.append((weight[:, None] * lattice).sum(axis=0) / weight.sum())
        sure, label, hidden = hulls[0]
        own = np.flatnonzero((label == number) & (sure > 0.0))
        # of what is surely within the hull, first what lies nearest behind a seen surface: hollows lie deeper
        order = np.lexsort((np.where(sure[own] >= 0.5, hidden[own], -sure[own]), sure[own] < 0.5))
        best = own[order[: round(filled * part.count)]]
        positions.append(_spread(lattice[best], part.count))
        velocities.append(np.broadcast_to((middles[2] - middles[0]) / (2.0 * interval), (part.count, 3)))
        numbers.append(np.full(part.count, number, np.int32))
    return StartState(
        np.concatenate(positions).astype(np.float32),
        np.concatenate(velocities).astype(np.float32),
        np.concatenate(numbers),
    )


def _lattice(bounds: Floats, radius: float) -> Floats:
    """Points of a cubic lattice that fills the box (m, 3) [m]."""
    pitch = _PITCH * radius
    axes = [np.arange(low + 0.5 * pitch, high, pitch) for low, high in bounds.T]
    return np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, 3)


def _hull(
    lattice: Floats,
    color: NDArray[Any],
    depth: Floats,
    cameras: Sequence[PinholeCamera],
    radius: float,
    parts: Sequence[PartGuess],
) -> tuple[Floats, NDArray[np.int64], Floats]:
    """How sure it is that matter is at each point (m,), 0 .. 1, of which part (m,), and how far it is from the surface
    that a camera sees in its direction, the least of all cameras (m,) [m]."""
    sure = np.ones(len(lattice))
    nearest = np.full(len(lattice), np.inf)
    label = np.zeros(len(lattice), np.int64)
    hues = np.array([part.color for part in parts])
    hues /= np.linalg.norm(hues, axis=1, keepdims=True)
    for number, camera in enumerate(cameras):
        image, away = camera.project(lattice)
        # cameras frame the scene: what one of them does not have in its picture is no matter
        inside = (away > camera.near) & ((image >= 0.0) & (image < (camera.width, camera.height))).all(axis=1)
        column, row = np.where(inside[:, None], image, 0.0).astype(np.int64).T
        mask = (depth[number] < camera.far).astype(np.float64)
        cover = _bilinear(mask, np.where(inside[:, None], image, 0.0))
        behind = away - depth[number][row, column]
        solid = 1.0 / (1.0 + np.exp(-np.clip(behind / (0.5 * radius), -30.0, 30.0)))
        hit = inside & (mask[row, column] > 0.0)
        # at the rim of the silhouette depths are missing; the silhouette alone judges there
        judged = np.where(hit, np.minimum(cover, solid), np.where(cover >= 0.5, cover, 0.0))
        sure = np.minimum(sure, np.where(inside, judged, 0.0))
        surface = np.where(hit, np.abs(behind), np.inf)
        tint = color[number][row, column].astype(np.float64)
        part = (tint / np.maximum(np.linalg.norm(tint, axis=1, keepdims=True), 1e-9) @ hues.T).argmax(axis=1)
        label = np.where(surface < nearest, part, label)
        nearest = np.minimum(nearest, surface)
    return np.where(np.isfinite(nearest), sure, 0.0), label, nearest


def _bilinear(values: Floats, image: Floats) -> Floats:
    """Values at pixel centres, interpolated at image coordinates (m, 2), column and row."""
    height, width = values.shape
    x = np.clip(image[:, 0] - 0.5, 0.0, width - 1.0)
    y = np.clip(image[:, 1] - 0.5, 0.0, height - 1.0)
    left, top = np.minimum(x.astype(np.int64), max(width - 2, 0)), np.minimum(y.astype(np.int64), max(height - 2, 0))
    right, bottom = np.minimum(left + 1, width - 1), np.minimum(top + 1, height - 1)
    u, v = x - left, y - top
    upper = (1.0 - u) * values[top, left] + u * values[top, right]
    lower = (1.0 - u) * values[bottom, left] + u * values[bottom, right]
    result: Floats = (1.0 - v) * upper + v * lower
    return result


def _spread(points: Floats, count: int) -> Floats:
    """`count` centres spread evenly among points (m, 3): farthest points first, then Lloyd's iterations."""
    if len(points) < count:
        # too few are sure: repeat them, a little apart
        points = np.repeat(points, -(-count // len(points)), axis=0)
    middle = points.mean(axis=0)
    chosen = [int(((points - middle) ** 2).sum(axis=1).argmin())]
    reach = ((points - points[chosen[0]]) ** 2).sum(axis=1)
    for _ in range(count - 1):
        chosen.append(int(reach.argmax()))
        reach = np.minimum(reach, ((points - points[chosen[-1]]) ** 2).sum(axis=1))
    centers = points[chosen].copy()
    for _ in range(_LLOYD):
        # squared distances less what is the same for all centres
        owner = ((centers**2).sum(axis=1)[None] - 2.0 * points @ centers.T).argmin(axis=1)
        held = np.bincount(owner, minlength=count)
        sums = np.stack([np.bincount(owner, points[:, axis], count) for axis in range(3)], axis=1)
        centers = np.where(held[:, None] > 0, sums / np.maximum(held, 1)[:, None], centers)
    result: Floats = centers
    return result
