"""level_state.py: what `Level-v1` shows with observation="state": bed and target in its blade's frame."""

from __future__ import annotations

from functools import reduce

import numpy as np
from numpy.typing import NDArray

from granular_gym.base.types import Floats
from granular_gym.tasks.egocentric import SECTORS, binned, sector_of, turned, wall_distances, walls_entry
from granular_gym.tasks.heights import HeightGrid, sampled
from granular_gym.tasks.state_vector import Entry, StateVector, mirrored_map
from granular_gym.tasks.vehicle import sin_cos

HEIGHT = 0.1  # [m] heights are in units of it
#: [m] points of the maps ahead of the blade and to its left
AROUND = np.linspace(-0.6, 0.6, 9), np.linspace(-0.4, 0.4, 5)
EDGE = np.array([-0.15, 0.0, 0.15]), np.array([-0.24, 0.0, 0.24])

VECTOR = StateVector(
    [
        Entry("place", "x [0.9 m] and y [0.6 m] of the blade", (1, -1)),
        Entry("heading", "cosine and sine of its yaw", (1, -1)),
        Entry("height", "of its lower edge, -1 .. 1 over its reach", (1,)),
        walls_entry("1 m"),
        Entry("force", "of the grains on the blade, ahead, to the left, up [0.3 of their weight]", (1, -1, 1)),
        Entry("error left", "share of the error at the start, -1: none, 1: all", (1,)),
        Entry("error", "mean distance of heights from the target now [0.1 m]", (1,)),
        Entry("mean", "mean of height less target where it counts: below 0, grains lie along the walls [0.05 m]", (1,)),
        mirrored_map(
            "over the target",
            "height of the blade's edge over the target 0.15 m behind it, below it and 0.15 m ahead, on its right, in "
            "its middle and on its left, clipped [0.1 m]",
            (EDGE[0].size, EDGE[1].size),
        ),
        mirrored_map("over the bed", "likewise over the bed [0.1 m]", (EDGE[0].size, EDGE[1].size)),
        mirrored_map(
            "around",
            f"height less target at {AROUND[0].size} distances from {-AROUND[0][0]} m behind to as far ahead, each at "
            f"{AROUND[1].size} from {-AROUND[1][0]} m on the right to the left; at the wall beyond it [0.1 m]",
            (AROUND[0].size, AROUND[1].size),
        ),
        mirrored_map(
            "excess",
            f"root of the error above the target by sector ({SECTORS}, counter-clockwise from ahead), as a share of "
            "the error at the start",
            (1, SECTORS),
        ),
        mirrored_map("lack", "likewise below it", (1, SECTORS)),
    ],
    action_signs=(1, -1, 1, -1),
)


def state_of(
    grid: HeightGrid,
    margin: int,
    lift: tuple[float, float],
    *,
    heights: Floats,
    target: Floats,
    pose: Floats,
    force: Floats,
    error: Floats,
    first_error: Floats,
) -> NDArray[np.float32]:
    """The vectors of n envs, (n, VECTOR.size).

    Args:
        grid: of heights and target.
        margin: cells along the walls that do not count.
        lift: limits of the blade's height [m].
        heights: (n, rows, columns) of the bed [m].
        target: likewise of the target [m].
        pose: (n, 4) x, y, z [m], yaw [rad] of the blade.
        force: (n, 3) of the grains on it in the field's frame, over their weight.
        error: (n,) mean distance of the heights from the target where it counts [m].
        first_error: (n,) at the start [m].
    """
    n = len(pose)
    place, z, (sin, cos) = pose[:, :2], pose[:, 2], sin_cos(pose[:, 3])
    off = heights - target
    inner = slice(margin, -margin)
    counting = off[:, inner, inner].reshape(n, -1)
    share = counting / (first_error[:, None] * counting.shape[1])
    x, y = (part[inner, inner].ravel() for part in grid.centers())
    dx, dy = x - place[:, :1], y - place[:, 1:]
    ahead, left = cos[:, None] * dx + sin[:, None] * dy, cos[:, None] * dy - sin[:, None] * dx
    env = np.repeat(np.arange(n), counting.shape[1])
    sector = sector_of(ahead.ravel(), left.ravel())
    excess, lack = (np.sqrt(binned(env, np.maximum(part, 0.0).ravel(), sector, n, SECTORS)) for part in (share, -share))
    edge = points_of(EDGE, place, sin, cos)
    under, bed = sampled(grid, target, *edge), sampled(grid, heights, *edge)
    return VECTOR.joined(
        [
            place / grid.upper,
            np.stack([cos, sin], axis=1),
            2.0 * (z - lift[0]) / (lift[1] - lift[0]) - 1.0,
            wall_distances(grid, place, sin, cos),
            turned(force[:, :2], sin, cos) / 0.3,
            force[:, 2] / 0.3,
            2.0 * error / first_error - 1.0,
            error / HEIGHT,
            reduce(np.add, counting.T) / (0.05 * counting.shape[1]),
            (z[:, None] - under) / HEIGHT,
            (z[:, None] - bed) / HEIGHT,
            sampled(grid, off, *points_of(AROUND, place, sin, cos)) / HEIGHT,
            excess,
            lack,
        ]
    )


def points_of(lines: tuple[Floats, Floats], place: Floats, sin: Floats, cos: Floats) -> tuple[Floats, Floats]:
    """x and y of the points of a map in the blades' frames, ahead slowest, (n, points) [m]."""
    ahead, left = (part.ravel() for part in np.meshgrid(*lines, indexing="ij"))
    s, c = sin[:, None], cos[:, None]
    return place[:, :1] + c * ahead - s * left, place[:, 1:] + s * ahead + c * left
