"""progress.py: how far a run of several simulations is, on standard error: one line on a terminal, few in a log."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable

#: seconds between two states of the line on a terminal, and the shares of the run between two lines of a log
_PAUSE, _SHARE = 0.25, 0.1
#: wall-clock seconds after which the duration of the whole run is estimated
_MEASURED = 3.0


def duration(seconds: float) -> str:
    """A duration in words: 40 s, 3 min, 1.5 h."""
    if seconds < 100.0:
        return f"{max(seconds, 1.0):.0f} s"
    return f"{seconds / 60.0:.0f} min" if seconds < 6000.0 else f"{seconds / 3600.0:.1f} h"


class Progress:
    """Says how far a run is, and once how long it will take.

    Args:
        labels: of the simulations, in turn.
        seconds: simulated time of each [s].
        shown: None: where standard error is a terminal.
        say: called once with an estimate of the whole duration, where the run is not over by then.
        clock: seconds of wall-clock time.
    """

    def __init__(
        self,
        labels: tuple[str, ...],
        seconds: float,
        shown: bool | None,
        say: Callable[[str], None],
        clock: Callable[[], float] = time.perf_counter,
    ) -> None:
        self._labels, self._seconds, self._say, self._clock = labels, seconds, say, clock
        self._terminal = sys.stderr.isatty()
        self._shown = self._terminal if shown is None else shown
        self._begin: float | None = None  # of the first update: what is built before it is no measure of what follows
        self._estimated, self._next, self._written = False, 0.0, False

    def update(self, label: str, now: float) -> None:
        """Tells that the simulation `label` has come to the simulated time `now` [s]."""
        clock = self._clock()
        begin = self._begin = clock if self._begin is None else self._begin
        share = (self._labels.index(label) + min(now / self._seconds, 1.0)) / len(self._labels)
        left = (clock - begin) * (1.0 / share - 1.0) if share > 0.0 else 0.0
        if not self._estimated and share > 0.0 and clock - begin >= _MEASURED:
            self._estimated = True
            self.clear()
            self._say(f"about {duration(clock - begin + left)} in all")
        if not self._shown:
            return
        if clock - begin < self._next if self._terminal else share < self._next:
            return
        self._next = clock - begin + _PAUSE if self._terminal else share + _SHARE
        text = f"{label}: {now:.2f} of {self._seconds:g} s, {100.0 * share:.0f} % of the run"
        text += f", about {duration(left)} left" if self._estimated else ""
        print(
            f"\r\x1b[K{text}" if self._terminal else text,
            end="" if self._terminal else "\n",
            file=sys.stderr,
            flush=True,
        )
        self._written = self._terminal

    def clear(self) -> None:
        """Takes the line off a terminal, so that something else can be written."""
        if self._written:
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)
            self._written = False
