"""results.py: what is read of a world after a step, in one call: see `World.request` and `World.results`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from granular_gym.base import checks
from granular_gym.engine.stats import Counters

Floats = NDArray[np.float32]
Counts = NDArray[np.int64]
#: corners (3,) or (2,) [m] and cells along the axes
Grid = tuple[Floats, Floats, NDArray[np.int32]]


@dataclass(frozen=True)
class Request:
    """What is read at every step; made by `World.request`, which has checked it.

    Attributes:
        images: index of the camera, nearest and furthest depth [m], and whether as bytes, of each depth image.
        cells: grid in space by whose cells grains are counted, or None.
        columns: grid in plan likewise.
        wrenches: whether wrenches on the tools are read.
    """

    images: tuple[tuple[int, float, float, bool], ...]
    cells: Grid | None
    columns: Grid | None
    wrenches: bool


class Results(NamedTuple):
    """What `World.results` returns: fresh arrays, None where nothing was asked for.

    Attributes:
        box_counts: grains whose centre lies in each box, (env_count, n).
        box_distances: mean distance of all centres to each box (env_count, n) [m].
        turned_box_counts: grains by the first turned box that holds their centre, (env_count, n).
        cell_counts: grains by cells, see `World.count_cells`.
        column_counts: grains by columns, see `World.count_columns`.
        wrenches: mean force [N] and torque [N m] on the tools over the last step, (env_count, tool_count, 6).
        counters: by name, see `World.counters`.
        fast_tool_count: tools that moved too far in a substep (env_count,), 0 in fresh envs.
        images: depth images (env_count, height, width), as `output`.
    """

    # Any: who asked knows that they are there
    box_counts: Any
    box_distances: Any
    turned_box_counts: Any
    cell_counts: Any
    column_counts: Any
    wrenches: Any
    counters: Counters
    fast_tool_count: Counts
    images: tuple[Any, ...]


def turned_boxes(poses: Any, half_sizes: Any, env_count: int) -> Floats:
    """Boxes of any rotation as the engine takes them, (env_count, n, 10).

    Args:
        poses: (n, 7) or (env_count, n, 7), x y z qw qx qy qz of the middles [m].
        half_sizes: (n, 3) or (env_count, n, 3) along the axes of the boxes [m], >= 0.
        env_count: number of envs.

    Raises:
        ArgumentError: a wrong shape, a number that is not finite, or a quaternion without length.
    """
    placed = checks.floats("poses", poses, (None, 7), (env_count, None, 7))
    count = placed.shape[-2]
    boxes = np.empty((env_count, count, 10), np.float32)
    boxes[:, :, :7] = placed
    boxes[:, :, 7:] = checks.floats("half_sizes", half_sizes, (count, 3), (env_count, count, 3))
    boxes[:, :, 3:7] = checks.unit_quaternions("poses", boxes[:, :, 3:7])
    return boxes
