"""series.py: numbers over the time of an episode, for the plots of the view."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

#: most points kept; then every second one is dropped, and further ones are taken half as often
CAPACITY = 512


class Series:
    """Rows of numbers over time: of an episode of any length at most CAPACITY, evenly spread.

    Args:
        width: numbers in a row.
    """

    def __init__(self, width: int) -> None:
        self._times: NDArray[np.float64] = np.zeros(CAPACITY)
        self._rows: NDArray[np.float64] = np.zeros((CAPACITY, width))
        self.clear()

    def clear(self) -> None:
        """Forgets all rows."""
        self._count, self._offered, self._every = 0, 0, 1

    def __len__(self) -> int:
        return self._count

    def add(self, time: float, row: NDArray[np.float64]) -> None:
        """Adds a row (width,) at a time [s], later than the last; some are left out in long episodes."""
        if self._offered % self._every == 0:
            if self._count == CAPACITY:
                self._times[: CAPACITY // 2], self._rows[: CAPACITY // 2] = self._times[::2], self._rows[::2]
                self._count, self._every = CAPACITY // 2, 2 * self._every
            self._times[self._count], self._rows[self._count] = time, row
            self._count += 1
        self._offered += 1

    @property
    def times(self) -> NDArray[np.float64]:
        """Of the rows (n,) [s]."""
        return np.array(self._times[: self._count])

    @property
    def rows(self) -> NDArray[np.float64]:
        """(n, width)."""
        return np.array(self._rows[: self._count])
