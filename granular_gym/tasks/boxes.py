"""boxes.py: grains in boxes, from positions that were kept: what `World.box_stats` gives of a world, to the bit."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from granular_gym.base.types import Floats

#: grains that the engine sums one by one, and those whose partial sums it then adds (csrc/phases/access.h)
RUN, BLOCK = 32, 1024


def box_stats_of(positions: NDArray[Any], boxes: NDArray[Any]) -> tuple[NDArray[np.int64], Floats]:
    """Grains in boxes along the axes, and how far all are from them.

    Args:
        positions: (n, grains, 3) [m]; finite.
        boxes: (n, 6) lower and upper corner [m].

    Returns:
        Number of grains in the box of each row (n,), and the mean distance of all to it (n,) float32 [m].
    """
    points, corners = np.asarray(positions, np.float32), np.asarray(boxes, np.float32)[:, None]
    off = np.maximum(np.maximum(corners[..., :3] - points, points - corners[..., 3:]), np.float32(0.0))
    off *= off
    distance = np.sqrt(off[..., 0] + off[..., 1] + off[..., 2])
    count, grains = distance.shape
    block = BLOCK if grains > BLOCK else -(-grains // RUN) * RUN  # further zeros would change no sum
    sums = np.zeros((count, -(-grains // block) * block))
    sums[:, :grains] = distance
    sums = sums.reshape(count, -1, block // RUN, RUN)
    for _ in range(3):  # runs, blocks, grains
        sums = np.add.accumulate(sums, axis=-1)[..., -1]
    return np.count_nonzero(distance == 0.0, axis=1), (sums / grains).astype(np.float32)
