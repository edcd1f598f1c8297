"""screen.py: what somebody who steers sees in a terminal: a depth image in shades of grey, and lines of text.

A character shows two pixels, one above the other, by the colours of its two halves (24-bit colour, which terminals in
use have). A depth image is what the task's cameras see anyway, so that it costs little and travels over ssh.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any, TextIO

import numpy as np
from numpy.typing import NDArray

from granular_gym.errors import ArgumentError

#: pictures per second at most
RATE = 12.0
_CLEAR, _HOME, _TO_LINE_END, _TO_END = "\x1b[2J", "\x1b[H", "\x1b[K", "\x1b[J"


def shaded(depth: NDArray[Any]) -> list[str]:
    """A depth image (H, W) as ceil(H / 2) lines of W characters; what is near is bright."""
    near, far = float(depth.min()), float(depth.max())
    grey = np.rint(255.0 * (far - depth) / max(far - near, 1e-9)).astype(int)
    if len(grey) % 2:
        grey = np.concatenate([grey, np.zeros_like(grey[:1])])
    lines = []
    for upper, lower in zip(grey[::2], grey[1::2], strict=True):
        pixels = (f"\x1b[38;2;{a};{a};{a};48;2;{b};{b};{b}m\u2580" for a, b in zip(upper, lower, strict=True))
        lines.append("".join(pixels) + "\x1b[0m")
    return lines


class Screen:
    """Draws on a terminal, in place.

    Args:
        out: a text stream to a terminal.
    """

    def __init__(self, out: TextIO) -> None:
        self._out = out
        self._drawn = -1.0 / RATE

    def draw(self, task: Any, lines: Sequence[str]) -> None:
        """Draws what the task's camera sees and lines of text, where the last drawing is old enough."""
        now = time.monotonic()
        if now - self._drawn < 1.0 / RATE:
            return
        first, self._drawn = self._drawn < 0.0, now
        try:
            picture = shaded(task.depth_pictures()[0])
        except ArgumentError:  # a task without images
            picture = []
        text = "".join(f"{line}{_TO_LINE_END}\n" for line in [*picture, *lines])
        self._out.write((_CLEAR if first else "") + _HOME + text + _TO_END)
        self._out.flush()
