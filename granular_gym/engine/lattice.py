"""lattice.py: grains that fill a box or a rectangle without overlap, on a jittered lattice, bottom up."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from granular_gym.base import checks, rng
from granular_gym.engine.sizes import SizeDistribution
from granular_gym.errors import ArgumentError

Floats = NDArray[np.float64]

#: grains of one env
LARGEST_GRAIN_COUNT = 2**28
#: distance of neighbours over the diameter of the largest grain
_SPACING = 1.05


def fill_box(low: Floats, high: Floats, radius: Any, count: int | None, seed: int) -> tuple[Floats, Floats]:
    """Spheres inside a box, their surfaces too.

    Args:
        low: corner (3,) [m].
        high: other corner (3,) [m].
        radius: one for all, (smallest, largest) to draw them evenly [m], or a SizeDistribution.
        count: number of grains; None: as many as the lattice takes.
        seed: of jitter and radii.

    Returns:
        Centres (n, 3) and radii (n,) [m].

    Raises:
        ArgumentError: more grains than fit; the message says how many do. Or `count` is None and none fits.
    """
    sizes = radius if isinstance(radius, SizeDistribution) else None
    if sizes is None:
        limits = checks.floats("radius", radius, (), (2,)).astype(np.float64).reshape(-1)
        smallest, largest = float(limits[0]), float(limits[-1])
        if not 0.0 < smallest <= largest:
            raise ArgumentError(f"radius: expected 0 < smallest <= largest, got {radius!r}")
    else:
        smallest, largest = sizes.smallest, sizes.largest
    step, cells = _cells(low, high, largest)
    capacity = int(cells.prod()) if (cells > 0).all() else 0
    wanted = _wanted(low, high, largest, capacity, count)
    if not wanted:
        return np.zeros((0, 3)), np.zeros(0)
    # cells are stretched to fill the box along x and y
    size = np.array([(high[0] - low[0]) / cells[0], (high[1] - low[1]) / cells[1], step])
    n = np.arange(wanted)
    cell = np.stack([n % cells[0], n // cells[0] % cells[1], n // (cells[0] * cells[1])], axis=1)
    if sizes is None:
        radii = smallest + (largest - smallest) * rng.uniform(seed, 3, wanted)
    else:
        radii = sizes.sample(wanted, seed)
    jitter = np.stack([rng.uniform(seed, axis, wanted) for axis in range(3)], axis=1)
    free = np.maximum(size - 2.0 * radii[:, None], 0.0)
    return low + cell * size + radii[:, None] + jitter * free, radii


def fill_rectangle(low: Floats, high: Floats, radius: float, count: int | None, seed: int) -> tuple[Floats, Floats]:
    """Planar grains inside a rectangle at random angles, each within a circle of its own.

    Args:
        low: corner (2,) [m].
        high: other corner (2,) [m].
        radius: of the circles [m].
        count: number of grains; None: as many as the lattice takes.
        seed: of jitter and angles.

    Returns:
        Centres of mass (n, 2) [m] and angles (n,) [rad].

    Raises:
        ArgumentError: more grains than fit; the message says how many do. Or `count` is None and none fits.
    """
    step, cells = _cells(low, high, radius)
    capacity = int(cells.prod()) if (cells > 0).all() else 0
    wanted = _wanted(low, high, radius, capacity, count)
    n = np.arange(wanted)
    cell = np.stack([n % max(cells[0], 1), n // max(cells[0], 1)], axis=1)
    size = np.array([(high[0] - low[0]) / max(cells[0], 1), step])
    jitter = np.stack([rng.uniform(seed, axis, wanted) for axis in range(2)], axis=1)
    points = low + cell * size + radius + jitter * np.maximum(size - 2.0 * radius, 0.0)
    return points, (2.0 * rng.uniform(seed, 2, wanted) - 1.0) * np.pi


def _cells(low: Floats, high: Floats, radius: float) -> tuple[float, NDArray[np.int64]]:
    """Height of a cell that holds one grain [m], and how many of them fit along each axis."""
    if not (low < high).all():
        raise ArgumentError(f"lower: expected less than upper along each axis, got {low.tolist()}, {high.tolist()}")
    step = 2.0 * radius * _SPACING
    return step, np.floor((high - low) / step * (1.0 + 1e-9)).astype(np.int64)


def _wanted(low: Floats, high: Floats, radius: float, capacity: int, count: int | None) -> int:
    """How many grains are placed in a box that takes `capacity`."""
    wanted = capacity if count is None else checks.integer("count", count, 0)
    if wanted > capacity or capacity > LARGEST_GRAIN_COUNT:
        raise ArgumentError(
            f"count: expected at most {capacity} grains of radius {radius:g} m in the box, got {wanted}"
        )
    if count is None and not capacity:
        raise ArgumentError(
            f"lower, upper: expected sides of {2.0 * radius * _SPACING:g} m or more for a grain of radius {radius:g}, "
            f"got {', '.join(f'{side:g}' for side in high - low)}"
        )
    return wanted
