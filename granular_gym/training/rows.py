"""rows.py: how observations lie in memory: an array of rows, each a vector of numbers, or a record of named arrays.

A learner of pixels has records (structured arrays of NumPy): images in bytes, and in training the task's state vector
beside them, under the key "state".
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from granular_gym.tasks.state_vector import NAME as STATE
from granular_gym.tasks.state_vector import StateVector

#: rows (n, size) float32, or (n,) records
Rows = NDArray[Any]


def record_kind(space: spaces.Dict) -> np.dtype[Any]:
    """The type of a record that holds an observation of a space of arrays."""
    return np.dtype([(name, part.dtype, part.shape) for name, part in space.spaces.items()])


def records(kind: np.dtype[Any], observations: Mapping[str, Any]) -> Rows:
    """Observations (n, ...) by name as (n,) records."""
    first = next(iter(observations.values()))
    rows = np.empty(len(first), kind)
    for name in kind.names or ():
        rows[name] = observations[name]
    return rows


def kind_of(rows: Rows) -> np.dtype[Any]:
    """The type of one of the rows: `numpy.zeros(n, kind)` makes n like them."""
    return np.dtype((rows.dtype, rows.shape[1:]))


def vectors_of(rows: Rows) -> NDArray[np.float32]:
    """The vectors (n, size) in rows: all there is, or what records have under "state"."""
    vectors: NDArray[np.float32] = rows[STATE] if rows.dtype.names else rows
    return vectors


def plain(rows: Rows) -> Rows:
    """Rows of numbers as they are, records as their bytes: what torch can keep."""
    numbers: Rows = rows.view(np.uint8) if rows.dtype.names else rows
    return numbers


class Mirror:
    """Records and actions of the same scenes mirrored, left for right; of vectors a `StateVector` does that.

    Args:
        vector: the task's state vector, whose scene has a mirror image.
        axes: of each image of a record, along which axis it turns round.
    """

    def __init__(self, vector: StateVector, axes: Mapping[str, int]) -> None:
        self.vector: StateVector = vector
        self.axes: dict[str, int] = dict(axes)
        self.action_signs: Any = vector.action_signs

    def mirrored(self, rows: Rows) -> Rows:
        """The records mirrored; the actions are multiplied by `action_signs`."""
        turned: Rows = rows.copy()
        turned[STATE] = self.vector.mirrored(rows[STATE])
        for name, axis in self.axes.items():
            turned[name] = np.flip(rows[name], axis)
        return turned
