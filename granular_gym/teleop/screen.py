"""screen.py: what somebody who steers sees in a terminal: a small picture, and lines of text.

A character shows two pixels, one above the other, by the colours of its two halves (24-bit colour). A picture of that
size takes some milliseconds of the processor and travels over ssh.
"""

from __future__ import annotations

import contextlib
import dataclasses
import shutil
import time
from collections.abc import Sequence
from typing import Any, TextIO

from numpy.typing import NDArray

#: pictures per second at most
RATE = 12.0
#: columns at most: more cost more and show little more
WIDEST = 120
_CLEAR, _HOME, _TO_LINE_END, _TO_END, _PLAIN = "\x1b[2J", "\x1b[H", "\x1b[K", "\x1b[J", "\x1b[0m"


def in_characters(picture: NDArray[Any]) -> list[str]:
    """A picture (H, W, 3) uint8, H even, as H / 2 lines of W characters."""
    lines = []
    for upper, lower in zip(picture[::2].tolist(), picture[1::2].tolist(), strict=True):
        pixels = (
            f"\x1b[38;2;{above[0]};{above[1]};{above[2]};48;2;{below[0]};{below[1]};{below[2]}m\u2580"
            for above, below in zip(upper, lower, strict=True)
        )
        lines.append("".join(pixels) + "\x1b[0m")
    return lines


def size_in(columns: int, rows: int, height: int, width: int) -> tuple[int, int]:
    """The largest height (even) and width of a picture in so many characters, of the shape height x width."""
    scale = min(min(columns, WIDEST) / width, 2 * rows / height)
    return 2 * max(int(scale * height / 2.0), 1), max(int(scale * width), 1)


class Screen:
    """Draws on a terminal, in place.

    Args:
        out: a text stream to a terminal.
    """

    def __init__(self, out: TextIO) -> None:
        self._out = out
        self._drawn: float | None = None  # when

    def draw(self, task: Any, lines: Sequence[str]) -> None:
        """Draws a task's picture and lines of text, where the last drawing is old enough.

        Where it is interrupted, as by Ctrl-C, the picture is taken away.
        """
        now = time.monotonic()
        if self._drawn is not None and now - self._drawn < 1.0 / RATE:
            return
        first, self._drawn = self._drawn is None, now
        columns, rows = shutil.get_terminal_size()
        view = task.view
        height, width = size_in(columns, rows - len(lines) - 1, view.height, view.width)
        picture = in_characters(task.picture(0, dataclasses.replace(view, height=height, width=width)))
        text = "".join(f"{line}{_TO_LINE_END}\n" for line in [*picture, *lines])
        try:
            self._out.write((_CLEAR if first else "") + _HOME + text + _TO_END)
            self._out.flush()
        except KeyboardInterrupt:
            self.close()
            raise

    def close(self) -> None:
        """Takes the picture away, so that what follows begins on an empty screen; nothing where none is drawn."""
        if self._drawn is None:
            return
        self._drawn = None
        # an escape sequence or a character that was cut off in the middle ends at the next escape
        with contextlib.suppress(OSError, ValueError):  # the terminal is gone
            self._out.write(_PLAIN + _HOME + _TO_END)
            self._out.flush()
