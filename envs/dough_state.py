"""dough_state.py: what `Dough-v0` shows with observation="state": dough and target as they lie about its roller."""

from __future__ import annotations

from functools import reduce

import numpy as np
from numpy.typing import NDArray

from granular_gym.base.types import Floats
from granular_gym.tasks.heights import HeightGrid, sampled
from granular_gym.tasks.state_vector import Entry, StateVector, mirrored_map

HEIGHT = 0.05  # [m] heights are in units of it
#: [m] points of the maps along x from the roller's axis, and of their rows along y
ALONG, ACROSS = np.linspace(-0.16, 0.16, 9), np.linspace(-0.075, 0.075, 3)
SHAPE = ACROSS.size, ALONG.size
COLUMNS = 16  # of the profiles

VECTOR = StateVector(
    [
        Entry("place", "x of the roller's axis [0.2 m]", (-1,)),
        Entry("gap", "between roller and table, -1 .. 1 over its range; [0.05 m]", (1, 1)),
        Entry(
            "load", "force of the dough on the roller along x and up, torque over the radius [10 weights]", (-1, 1, -1)
        ),
        Entry("error left", "share of the error at the start, -1: none, 1: all", (1,)),
        Entry("error", "mean distance of heights from the target now [0.01 m]", (1,)),
        Entry(
            "dough", "x of the dough's middle from the target's [0.05 m], and from the roller's axis [0.2 m]", (-1, -1)
        ),
        mirrored_map(
            "over the dough",
            f"gap less height of the dough at {SHAPE[1]} distances along x from {ALONG[0]} m to {ALONG[-1]} m from the "
            f"roller's axis, at {SHAPE[0]} from {ACROSS[0]} m to {ACROSS[-1]} m along y [0.05 m]",
            SHAPE,
        ),
        mirrored_map("over the target", "likewise gap less height of the target [0.05 m]", SHAPE),
        mirrored_map(
            "excess",
            f"root of the error above the target in each of {COLUMNS} columns along x, as a share of the error at the "
            "start",
            (1, COLUMNS),
        ),
        mirrored_map("lack", "likewise below it", (1, COLUMNS)),
    ],
    action_signs=(-1, 1, -1),
)


def state_of(
    grid: HeightGrid,
    *,
    heights: Floats,
    target: Floats,
    roller: Floats,
    reach: float,
    gaps: tuple[float, float],
    load: Floats,
    error: Floats,
    first_error: Floats,
) -> NDArray[np.float32]:
    """The vectors of n envs, (n, VECTOR.size).

    Args:
        grid: of heights and target.
        heights: (n, rows, columns) of the dough [m].
        target: likewise of the target [m].
        roller: (n, 3) x of its axis, gap below it [m], turn [rad].
        reach: x of the roller on either side [m].
        gaps: limits of the gap [m].
        load: (n, 3) force along x and up, torque over the radius, as shares.
        error: (n,) mean distance of the heights from the target [m].
        first_error: (n,) at the start [m].
    """
    place, gap = roller[:, 0], roller[:, 1]
    across, along = (part.ravel() for part in np.meshgrid(ACROSS, ALONG, indexing="ij"))
    points = place[:, None] + along, np.broadcast_to(across, (len(place), across.size))
    off = (heights - target) / (first_error[:, None, None] * heights[0].size)
    excess, lack = (np.sqrt(np.maximum(part, 0.0).sum(axis=1)) for part in (off, -off))
    dough, aim = middle_of(grid, heights), middle_of(grid, target)
    low, high = gaps
    return VECTOR.joined(
        [
            place / reach,
            2.0 * (gap - low) / (high - low) - 1.0,
            gap / HEIGHT,
            load,
            2.0 * error / first_error - 1.0,
            error / 0.01,
            (dough - aim) / 0.05,
            (dough - place) / reach,
            (gap[:, None] - sampled(grid, heights, *points)) / HEIGHT,
            (gap[:, None] - sampled(grid, target, *points)) / HEIGHT,
            excess,
            lack,
        ]
    )


def middle_of(grid: HeightGrid, heights: Floats) -> Floats:
    """x of the middle of the matter under maps of heights (n, rows, columns), (n,) [m]."""
    profile = heights.sum(axis=1)
    middle: Floats = reduce(np.add, (profile * grid.centers()[0][0]).T) / reduce(np.add, profile.T)
    return middle
