"""layouts.py: how the grains of an episode lie and move at its start: lattices cut to shapes, in a box, bonded."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from granular_gym.base import rng
from granular_gym.learned.law import KINDS, SAND

Floats = NDArray[np.float64]

#: distance of neighbours at the start, in diameters, and how far bonds reach, in the same
SPACING, REACH = 1.02, 1.2
#: free space between a body and what lies beside it, in diameters
_CLEARANCE = 0.55


@dataclasses.dataclass(frozen=True)
class Layout:
    """Grains at the start of an episode.

    Attributes:
        positions: (n, 3) [m].
        velocities: (n, 3) [m/s].
        kinds: (n,) int8, see `law`.
        bodies: (n,) int32, the body of each; -1: of none.
        groups: (n,) int32, the part of the scene that each belongs to; parts have colours of their own.
        bonds: (m, 2) int32 pairs of one body.
        rest_lengths: (m,) float32 [m].
    """

    positions: Floats
    velocities: Floats
    kinds: NDArray[np.int8]
    bodies: NDArray[np.int32]
    groups: NDArray[np.int32]
    bonds: NDArray[np.int32]
    rest_lengths: NDArray[np.float32]


@dataclasses.dataclass(frozen=True)
class Part:
    """Grains of one kind that start together.

    Attributes:
        kind: see `law`; all but sand are a body.
        positions: (n, 3) [m].
        velocity: of all [m/s].
    """

    kind: int
    positions: Floats
    velocity: Floats


class Draws:
    """Random numbers of an episode: a function of (seed, episode) alone.

    Args:
        seed: of the dataset.
        episode: number of the episode, of training and test together.
    """

    def __init__(self, seed: int, episode: int) -> None:
        self._seed, self._stream = seed, episode << 16

    def uniform(self, lower: float = 0.0, upper: float = 1.0) -> float:
        """One number in [lower, upper)."""
        return float(self.many(1, lower, upper)[0])

    def many(self, count: int, lower: float = 0.0, upper: float = 1.0) -> Floats:
        """(count,) numbers in [lower, upper)."""
        self._stream += 1
        return lower + (upper - lower) * rng.uniform(self._seed, self._stream, count)

    def choice(self, names: tuple[str, ...]) -> str:
        """One of them."""
        return names[int(self.uniform() * len(names))]

    def heading(self) -> Floats:
        """A unit vector in the plane (3,)."""
        angle = self.uniform(0.0, 2.0 * np.pi)
        return np.array([np.cos(angle), np.sin(angle), 0.0])


def _ball(points: Floats) -> Floats:
    return np.asarray(np.sqrt((points**2).sum(axis=1)))


def _cuboid(points: Floats) -> Floats:
    return np.asarray(np.abs(points / (1.3, 0.9, 0.85)).max(axis=1))


def _cylinder(points: Floats) -> Floats:
    return np.maximum(np.hypot(points[:, 0], points[:, 1]), np.abs(points[:, 2]) / 0.9)


def _blob(points: Floats) -> Floats:
    """Two balls in each other, a small one on the side of a large one."""
    return np.minimum(_ball(points), _ball(points - (0.45, 0.0, 0.5)) + 0.25)


#: sizes of shapes: the level sets of these functions, in lengths of about their radius
SHAPES: dict[str, Callable[[Floats], Floats]] = {
    "ball": _ball,
    "cuboid": _cuboid,
    "cylinder": _cylinder,
    "blob": _blob,
}


def shaped(shape: str, count: int, radius: float, draws: Draws) -> Floats:
    """Exactly `count` points of a face-centred cubic lattice, turned and shifted at random, that fill a shape about 0.

    Args:
        shape: a name of SHAPES, or "ring": a torus that lies.
        count: of grains.
        radius: of a grain [m].
        draws: yaw and shift of the lattice.

    Returns:
        (count, 3) [m]; no two nearer than SPACING diameters.
    """
    spacing = 2.0 * SPACING * radius
    filled = count * spacing**3 / np.sqrt(2.0)
    if shape == "ring":
        # a tube of the radius that holds them, 2.2 of it from the axis
        tube = np.cbrt(filled / (2.0 * np.pi**2 * 2.2))
        wide, unit = 3.3 * tube + spacing, tube
    else:
        unit = np.cbrt(filled)
        wide = 1.3 * unit + 2.0 * spacing
    cells = int(np.ceil(wide / spacing * np.sqrt(2.0))) + 1
    steps = np.arange(-cells, cells + 1)
    grid = np.stack(np.meshgrid(steps, steps, steps, indexing="ij"), axis=-1).reshape(-1, 3)
    points = grid[grid.sum(axis=1) % 2 == 0] * (spacing / np.sqrt(2.0)) + draws.many(3, -0.5, 0.5) * spacing
    angle = draws.uniform(0.0, 2.0 * np.pi)
    cos, sin = np.cos(angle), np.sin(angle)
    points = points @ np.array([[cos, sin, 0.0], [-sin, cos, 0.0], [0.0, 0.0, 1.0]])
    if shape == "ring":
        size = np.hypot(np.hypot(points[:, 0], points[:, 1]) - 2.2 * unit, points[:, 2])
    else:
        size = SHAPES[shape](points / unit)
    chosen: Floats = points[np.argsort(size, kind="stable")[:count]]
    return chosen


def resting(points: Floats, radius: float, height: float = 0.0) -> Floats:
    """Points shifted along z so that their lowest grain is `height` above the floor [m]."""
    shifted: Floats = points + np.array([0.0, 0.0, height + 1.001 * radius - points[:, 2].min()])
    return shifted


def above(points: Floats, below: Floats, radius: float, gap: float) -> Floats:
    """Points shifted along z to lie `gap` over the highest grain below [m]."""
    shifted: Floats = points + np.array([0.0, 0.0, below[:, 2].max() + 2.0 * radius + gap - points[:, 2].min()])
    return shifted


def beside(points: Floats, others: Floats, heading: Floats, radius: float, gap: float = 0.0) -> Floats:
    """Points shifted along a heading in the plane until no grain is within a clearance of the others.

    Args:
        points: (n, 3) [m].
        others: (m, 3) [m].
        heading: (3,) unit vector.
        radius: of a grain [m].
        gap: how much further [m].
    """
    nearest = 2.0 * radius * (1.0 + _CLEARANCE)
    offset = points[:, None] - others[None]
    along = offset @ heading
    across = (offset**2).sum(axis=-1) - along**2
    # the largest root of |offset + s heading| = nearest over all pairs that can come so near
    reach = np.sqrt(np.maximum(nearest**2 - across, 0.0))
    push = np.where(across < nearest**2, reach - along, -np.inf).max()
    return points + (max(float(push), 0.0) + gap) * heading


def assembled(parts: list[Part], radius: float) -> Layout:
    """The layout of parts, each but sand a body whose neighbours are bonded."""
    counts = [len(part.positions) for part in parts]
    positions = np.concatenate([part.positions for part in parts])
    kinds = np.repeat(np.array([part.kind for part in parts], np.int8), counts)
    groups = np.repeat(np.arange(len(parts), dtype=np.int32), counts)
    bodies = np.where(kinds == SAND, np.int32(-1), groups)
    bonds, rest = bonds_of(positions, bodies, radius)
    velocities = np.concatenate([np.broadcast_to(part.velocity, part.positions.shape) for part in parts])
    return Layout(positions, velocities, kinds, bodies, groups, bonds, rest)


def bonds_of(
    positions: NDArray[np.floating], bodies: NDArray[np.int32], radius: float
) -> tuple[NDArray[np.int32], NDArray[np.float32]]:
    """Bonds between neighbours of one body within REACH diameters, and their lengths now; pairs in rising order.

    Args:
        positions: (n, 3) [m].
        bodies: (n,); -1: not bonded.
        radius: of a grain [m].
    """
    points = np.asarray(positions, np.float64)
    length = np.sqrt(((points[:, None] - points[None]) ** 2).sum(axis=-1))
    near = (length < 2.0 * REACH * radius) & (bodies[:, None] == bodies[None]) & (bodies[:, None] >= 0)
    first, second = np.nonzero(np.triu(near, 1))
    return np.stack([first, second], axis=1).astype(np.int32), length[first, second].astype(np.float32)


def swapped(layout: Layout, kind: int, radius: float) -> Layout:
    """The same grains with all sand of another kind: each part of sand becomes a body, bonded as it lies.

    Args:
        layout: of an episode.
        kind: what the sand becomes: a kind with bonds.
        radius: of a grain [m].
    """
    assert KINDS[kind].stiffness > 0.0
    sand = layout.kinds == SAND
    kinds = np.where(sand, np.int8(kind), layout.kinds)
    bodies = np.where(sand, layout.groups, layout.bodies)
    bonds, rest = bonds_of(layout.positions, bodies, radius)
    return dataclasses.replace(layout, kinds=kinds, bodies=bodies, bonds=bonds, rest_lengths=rest)
