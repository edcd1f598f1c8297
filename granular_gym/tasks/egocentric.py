"""egocentric.py: points, shares and walls of a field as a vehicle or a blade in it meets them, for state vectors.

Each value is computed from its env alone, by operations whose last bit does not depend on where in an array they stand.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from granular_gym.base.types import Floats
from granular_gym.tasks.heights import HeightGrid
from granular_gym.tasks.state_vector import Entry

SECTORS = 16  # of polar maps, counter-clockwise from straight ahead
RAYS = 8  # to the walls, counter-clockwise from straight ahead
_SLOPES = np.tan(np.arange(1, SECTORS // 4) * 2.0 * np.pi / SECTORS)


def walls_entry(unit: str) -> Entry:
    """The entry of `wall_distances` in units of `unit`."""
    meaning = f"distance to the walls in {RAYS} directions, counter-clockwise from straight ahead [{unit}]"
    return Entry("walls", meaning, (1,) * RAYS, tuple((-k) % RAYS for k in range(RAYS)))


def turned(vectors: Floats, sin: Floats, cos: Floats) -> Floats:
    """Vectors (n, 2) of the field in the frames of vehicles with these yaws: ahead and to the left."""
    x, y = vectors[:, 0], vectors[:, 1]
    return np.stack([cos * x + sin * y, cos * y - sin * x], axis=1)


def unit(vectors: Floats) -> Floats:
    """Vectors (n, 2) of length one; those below 0.1 m are shorter."""
    length = np.sqrt(vectors[:, 0] ** 2 + vectors[:, 1] ** 2)
    result: Floats = vectors / np.maximum(length, 0.1)[:, None]
    return result


def binned(env: NDArray[np.int64], weight: Floats, bins: NDArray[np.int64], n: int, count: int) -> Floats:
    """Sums (n, count) of weights by env and bin."""
    sums = np.bincount(env * count + bins, weight, n * count).astype(np.float64)
    return sums.reshape(n, count)


def sector_of(ahead: Floats, left: Floats) -> NDArray[np.int64]:
    """The sector of the polar map that points lie in; no arc tangent, whose last bit depends on the machine."""
    a, b = np.abs(ahead), np.abs(left)
    quarter = (b[:, None] > _SLOPES * a[:, None]).sum(axis=1)
    front = np.where(ahead >= 0.0, quarter, SECTORS // 2 - 1 - quarter)
    result: NDArray[np.int64] = np.where(left >= 0.0, front, SECTORS - 1 - front)
    return result


def wall_distances(grid: HeightGrid, place: Floats, sin: Floats, cos: Floats) -> Floats:
    """Distances (n, RAYS) [m] from the vehicles' centres to the walls."""
    turn = 2.0 * np.pi / RAYS * np.arange(RAYS)
    dx = cos[:, None] * np.cos(turn) - sin[:, None] * np.sin(turn)
    dy = sin[:, None] * np.cos(turn) + cos[:, None] * np.sin(turn)
    far = []
    for axis, part in ((0, dx), (1, dy)):
        wall = np.where(part > 0.0, grid.upper[axis], grid.lower[axis])
        steep = np.where(np.abs(part) < 1e-9, 1e-9, part)
        far.append(np.abs((wall - place[:, axis, None]) / steep))
    return np.minimum(*far)
