"""heights.py: column heights of a bed on a coarse grid: how much material stands where, whatever its grains' size.

The height of a cell is the volume of the grains over its ground divided by the share of space a bed fills. A grain is
shared out bilinearly among the four nearest cell centres and the map is smoothed by (1, 2, 1) / 4 along both axes, with
both mirrored at the walls: the volume is kept to rounding, and single grains hardly show.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from granular_gym import _core
from granular_gym.base.types import Floats
from granular_gym.engine.world import World

PACKING = 0.6  # share of space that a bed of spheres fills
SHARE = 1024  # parts of a grain along each axis (csrc/state/access.h)
GRAIN = 1.0 / SHARE**2  # unit in which `World.count_columns` counts


@dataclass(frozen=True)
class HeightGrid:
    """Cells over a rectangular field.

    Args:
        lower: (x, y) of the field's corner [m].
        upper: (x, y) of the other corner [m].
        shape: rows (y, from the lower edge) and columns (x).
        packing: share of space that the matter fills: 1 where it is solid.
    """

    lower: tuple[float, float]
    upper: tuple[float, float]
    shape: tuple[int, int]
    packing: float = PACKING

    @property
    def cell(self) -> tuple[float, float]:
        """Size of a cell along x and y [m]."""
        return (self.upper[0] - self.lower[0]) / self.shape[1], (self.upper[1] - self.lower[1]) / self.shape[0]

    def centers(self) -> tuple[Floats, Floats]:
        """x and y of the cells' centres, each (rows, columns) [m]."""
        dx, dy = self.cell
        x = self.lower[0] + (np.arange(self.shape[1]) + 0.5) * dx
        y = self.lower[1] + (np.arange(self.shape[0]) + 0.5) * dy
        return np.broadcast_to(x, self.shape).copy(), np.broadcast_to(y[:, None], self.shape).copy()

    def cells_of(self, points: Floats) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Rows and columns of the cells that points (n, 2 or 3) lie in; outside: the nearest."""
        dx, dy = self.cell
        points = np.nan_to_num(np.asarray(points, np.float64))
        columns = np.clip((points[:, 0] - self.lower[0]) / dx, 0, self.shape[1] - 1).astype(np.int64)
        rows = np.clip((points[:, 1] - self.lower[1]) / dy, 0, self.shape[0] - 1).astype(np.int64)
        return rows, columns

    def heights(self, world: World, volume: float) -> Floats:
        """Column heights of every env (env_count, rows, columns) [m]; grains outside the field count at its edge.

        Args:
            world: whose grains they are.
            volume: of a grain [m3].
        """
        return self.heights_of(world.count_columns(*self.columns), volume)

    @property
    def columns(self) -> tuple[tuple[float, float], tuple[float, float], tuple[int, int]]:
        """Arguments of `World.count_columns`."""
        return self.lower, self.upper, self.shape[::-1]

    def counts_of(self, points: NDArray[Any]) -> NDArray[np.int64]:
        """What `World.count_columns` gives for these columns of a world, from positions that were kept, to the bit.

        Args:
            points: (n, grains, 2 or 3) [m]; finite.

        Returns:
            Counts (n, rows, columns) in units of GRAIN.
        """
        n, shape = len(points), self.shape[::-1]
        cells, shares = [], []
        for axis, (low, high, size) in enumerate(zip(self.lower, self.upper, shape, strict=True)):
            lower, upper = np.float32(low), np.float32(high)
            at = (np.asarray(points[..., axis], np.float32) - lower) * (np.float32(size) / (upper - lower))
            at = np.clip(at, np.float32(0.0), np.float32(size)) + np.float32(0.5)
            first = at.astype(np.int64)
            second = ((at - first.astype(np.float32)) * np.float32(SHARE) + np.float32(0.5)).astype(np.int64)
            # shares beyond the edge are mirrored: column -1 is column 0
            cells.append([np.clip(first - 1 + k, 0, size - 1) for k in (0, 1)])
            shares.append([SHARE - second, second])
        env = np.arange(n)[:, None] * self.shape[0]
        bins = [(env + row) * self.shape[1] + column for row in cells[1] for column in cells[0]]
        weights = [row * column for row in shares[1] for column in shares[0]]
        # integers, which float64 holds
        counts = np.bincount(np.stack(bins).ravel(), np.stack(weights).ravel(), n * math.prod(self.shape))
        return counts.astype(np.int64).reshape(n, *self.shape)

    def heights_of(self, counts: NDArray[np.int64], volume: float) -> Floats:
        """Column heights (env_count, rows, columns) [m] from the counts of `World.count_columns`.

        Args:
            counts: in units of GRAIN.
            volume: of a grain [m3].
        """
        return _core.column_heights(counts, self._scale(volume))

    def heights_under(self, surface: Floats) -> Floats:
        """Column heights (rows, columns) [m] of matter that fills the space under a surface, as those of matter are.

        Args:
            surface: heights (k rows, k columns) [m] over the middles of k x k parts of each cell.
        """
        table = surface
        for axis, count in enumerate(self.shape):
            parts = surface.shape[axis] // count
            low, share = between((np.arange(parts * count) + 0.5) / parts - 0.5, count)
            shares = np.zeros((count, parts * count))
            shares[low, np.arange(len(low))] = (1.0 - share) / parts
            shares[low + 1, np.arange(len(low))] += share / parts
            table = np.moveaxis(np.tensordot(shares, table, (1, axis)), 0, axis)
        return smooth(table)

    def _scale(self, volume: float) -> float:
        """Height [m] of a cell that holds a count of 1."""
        return GRAIN * volume / (self.packing * math.prod(self.cell))


def errors(heights: Floats, target: Floats, margin: int) -> Floats:
    """Mean distance of column heights from a target, (n,) [m].

    Args:
        heights: (n, rows, columns) [m].
        target: (n, rows, columns) [m].
        margin: cells along the field's edges that do not count.

    Raises:
        ArgumentError: a wrong shape, or no cell is left.
    """
    beds, targets = (np.ascontiguousarray(part, np.float64) for part in (heights, target))
    return _core.height_errors(beds, targets, margin)


def smooth(table: Floats) -> Floats:
    """A map (..., rows, columns) smoothed by (1, 2, 1) / 4 along both axes, mirrored at its edges."""
    tables = np.ascontiguousarray(table, np.float64).reshape(-1, *table.shape[-2:])
    return _core.smoothed(tables).reshape(table.shape)


def sampled(grid: HeightGrid, table: Floats, x: Floats, y: Floats) -> Floats:
    """Values of maps (n, rows, columns) at points (n, k), bilinear between centres of cells, as the nearest beyond."""
    env = np.arange(len(table))[:, None]
    (column, right), (row, up) = (
        between((at - low) / size - 0.5, count)
        for at, low, size, count in zip((x, y), grid.lower, grid.cell, grid.shape[::-1], strict=True)
    )
    below = (1.0 - right) * table[env, row, column] + right * table[env, row, column + 1]
    above = (1.0 - right) * table[env, row + 1, column] + right * table[env, row + 1, column + 1]
    result: Floats = (1.0 - up) * below + up * above
    return result


def between(at: Floats, count: int) -> tuple[NDArray[np.int64], Floats]:
    """The lower of two neighbours of positions along `count` of them, and the share of the upper one."""
    inside = np.clip(at, 0.0, count - 1.0)
    low = np.minimum(inside.astype(np.int64), count - 2)
    return low, inside - low
