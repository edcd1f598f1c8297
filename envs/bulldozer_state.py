"""bulldozer_state.py: what `Bulldozer-v1` shows with observation="state": heap, goal and walls before its vehicle.

What grains of any number and size do to it is the same: they enter as shares, by columns of a grid over the field.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from granular_gym.base.types import Floats
from granular_gym.tasks.egocentric import SECTORS, binned, sector_of, turned, unit, wall_distances, walls_entry
from granular_gym.tasks.heights import HeightGrid
from granular_gym.tasks.state_vector import Entry, StateVector, mirrored_map
from granular_gym.tasks.vehicle import sin_cos

REACH = 4.0  # [m] distances are in units of it
RINGS = (0.7, 1.4, 2.6)  # [m] from the vehicle's centre: the borders of the rings of the polar map
AHEAD, ASIDE, CELL = (0.4, 1.6), 0.8, 0.2  # [m] the map before the blade: from .. to, half width, side of a cell
_CELLS = round((AHEAD[1] - AHEAD[0]) / CELL), round(2.0 * ASIDE / CELL)

VECTOR = StateVector(
    [
        Entry("goal", "centre of the goal, ahead and to the left of the vehicle's centre [4 m]", (1, -1)),
        Entry("goal bearing", "its direction: cosine and sine, 0, 1 on the left", (1, -1)),
        Entry("goal side", "side of the goal [4 m]", (1,)),
        Entry("heap", "mean place of the grains outside the goal, ahead and to the left [4 m]", (1, -1)),
        Entry("heap bearing", "its direction", (1, -1)),
        Entry("push", "direction from there to the goal", (1, -1)),
        Entry(
            "spread",
            "of the grains outside: variance ahead, to the left, and covariance [0.5 m2]",
            (1, 1, -1),
        ),
        Entry("share", "of the grains in the goal, -1: none, 1: all", (1,)),
        walls_entry("4 m"),
        Entry("place", "x [4 m] and y [2 m] of the vehicle", (1, -1)),
        Entry("heading", "cosine and sine of its yaw", (1, -1)),
        mirrored_map(
            "around",
            "square root of the share of the grains that lies outside the goal, by ring (within "
            f"{RINGS[0]}, {RINGS[1]}, {RINGS[2]} m, beyond) and sector ({SECTORS}, counter-clockwise from ahead)",
            (len(RINGS) + 1, SECTORS),
        ),
        mirrored_map(
            "before the blade",
            f"the same in cells of {CELL} m, {AHEAD[0]} to {AHEAD[1]} m ahead, from {ASIDE} m on the right to the left",
            _CELLS,
        ),
    ],
    action_signs=(1, -1),
)  # fmt: skip


def state_of(
    grid: HeightGrid, counts: NDArray[np.int64], pose: Floats, goal: Floats, share: Floats
) -> NDArray[np.float32]:
    """The vectors of n envs, (n, VECTOR.size) float32.

    Args:
        grid: columns over the field.
        counts: (n, rows, columns) what `World.count_columns` gave for it.
        pose: (n, 3) x, y [m], yaw [rad] of the vehicles.
        goal: (n, 4) lower x, lower y, upper x, upper y [m].
        share: (n,) of the grains in the goal.
    """
    n = len(pose)
    place, (sin, cos) = pose[:, :2], sin_cos(pose[:, 2])
    center = 0.5 * (goal[:, :2].astype(np.float64) + goal[:, 2:])
    # columns that hold grains outside the goal, env after env
    x, y = (part.ravel() for part in grid.centers())
    flat = counts.reshape(n, -1)
    env, cell = np.nonzero(flat)
    dx, dy = x[cell], y[cell]
    box = goal[env]
    outside = (dx < box[:, 0]) | (dx > box[:, 2]) | (dy < box[:, 1]) | (dy > box[:, 3])
    env, cell, dx, dy = env[outside], cell[outside], dx[outside], dy[outside]
    weight = flat[env, cell] / flat.sum(axis=1)[env]
    dx, dy = dx - place[env, 0], dy - place[env, 1]
    ahead, left = cos[env] * dx + sin[env] * dy, cos[env] * dy - sin[env] * dx

    def total(values: Floats) -> Floats:
        sums: Floats = np.bincount(env, values, n).astype(np.float64)
        return sums

    remaining = total(weight)
    some = np.maximum(remaining, 1e-9)
    target = turned(center - place, sin, cos)
    heap = np.stack([total(weight * ahead), total(weight * left)], axis=1) / some[:, None]
    heap = np.where(remaining[:, None] > 0.0, heap, target)
    da, dl = ahead - heap[env, 0], left - heap[env, 1]
    spread = [total(weight * a * b) / some for a, b in ((da, da), (dl, dl), (da, dl))]
    around = binned(env, weight, ring_of(ahead, left) * SECTORS + sector_of(ahead, left), n, (len(RINGS) + 1) * SECTORS)
    row, column = ((a - low) / CELL for a, low in ((ahead, AHEAD[0]), (left, -ASIDE)))
    inside = (row >= 0.0) & (row < _CELLS[0]) & (column >= 0.0) & (column < _CELLS[1])
    cells = (row[inside].astype(np.int64) * _CELLS[1]) + column[inside].astype(np.int64)
    before = binned(env[inside], weight[inside], cells, n, _CELLS[0] * _CELLS[1])
    return VECTOR.joined(
        [
            target / REACH,
            unit(target),
            (goal[:, 2] - goal[:, 0]).astype(np.float64) / REACH,
            heap / REACH,
            unit(heap),
            unit(target - heap),
            2.0 * np.stack(spread, axis=1),
            2.0 * share - 1.0,
            wall_distances(grid, place, sin, cos) / REACH,
            place / (4.0, 2.0),
            np.stack([cos, sin], axis=1),
            np.sqrt(around),
            np.sqrt(before),
        ]
    )


def ring_of(ahead: Floats, left: Floats) -> NDArray[np.int64]:
    """The ring of the polar map that points lie in."""
    result: NDArray[np.int64] = np.searchsorted(np.square(RINGS), ahead * ahead + left * left, side="right")
    return result
