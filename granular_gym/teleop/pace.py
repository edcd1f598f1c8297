"""pace.py: keeps a steered episode to real time."""

from __future__ import annotations

import time
from collections.abc import Callable


class Pace:
    """Tells how long to wait before each step; a computer that is too slow lags, it does not catch up by haste.

    Args:
        period: of a step [s].
        clock: gives the time [s].
    """

    def __init__(self, period: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._period, self._clock = period, clock
        self._next: float | None = None

    def left(self) -> float:
        """Seconds until the next step is due, >= 0."""
        return 0.0 if self._next is None else max(self._next - self._clock(), 0.0)

    def step(self) -> None:
        """A step begins now."""
        now = self._clock()
        due = now if self._next is None else self._next
        self._next = max(due + self._period, now)
