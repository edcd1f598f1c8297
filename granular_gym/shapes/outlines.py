"""outlines.py: the outlines of the built-in planar shapes; y points up.

Letters are ten units high, their strokes about two units wide.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray


def _polar(x: float, y: float, radius: float, degrees: float) -> str:
    """A point on a circle around (x, y), as SVG coordinates."""
    angle = math.radians(degrees)
    return f"{x + radius * math.cos(angle):.15g} {y + radius * math.sin(angle):.15g}"


def _circle(x: float, y: float, radius: float) -> str:
    """SVG path of a full circle, in quarters so that it is symmetric."""
    quarters = "".join(f" A{radius} {radius} 0 0 1 {_polar(x, y, radius, 90 * k)}" for k in (1, 2, 3, 4))
    return f"M{_polar(x, y, radius, 0)}{quarters} Z"


_S = (
    f"M{_polar(3.5, 7.15, 2.85, 20)} A2.85 2.85 0 1 1 3.5 4.3 A1.45 1.45 0 1 0 {_polar(3.5, 2.85, 1.45, 200)} "
    f"L{_polar(3.5, 2.85, 2.85, 200)} A2.85 2.85 0 1 1 3.5 5.7 A1.45 1.45 0 1 0 {_polar(3.5, 7.15, 1.45, 20)} Z"
)
_Q_TAIL = f"L{_polar(5 + 1.2, 5 - 1.2, 5, -55)} L{_polar(5 + 1.2, 5 - 1.2, 5, -35)}"

#: letter -> path
LETTERS = {
    "A": "M0 0 L3 10 H5 L8 0 H5.9 L5.3 2 H2.7 L2.1 0 Z M3.3 4 H4.7 L4 6.6 Z",
    "B": "M0 0 H4.4 A2.8 2.8 0 0 1 5.6223 5.3191 A2.5 2.5 0 0 1 4.4 10 H0 Z "
    "M1.8 1.7 V4 H4.4 A1.15 1.15 0 0 0 4.4 1.7 Z M1.8 6.6 V8.3 H4.4 A0.85 0.85 0 0 0 4.4 6.6 Z",
    "C": f"M{_polar(5, 5, 5, 45)} A5 5 0 1 1 {_polar(5, 5, 5, -45)} L{_polar(5, 5, 3.1, -45)} "
    f"A3.1 3.1 0 1 0 {_polar(5, 5, 3.1, 45)} Z",
    "D": "M0 0 H3.5 A5 5 0 0 1 3.5 10 H0 Z M1.9 1.9 V8.1 H3.5 A3.1 3.1 0 0 0 3.5 1.9 Z",
    "E": "M0 0 H6.5 V1.9 H1.9 V4.1 H5.6 V5.9 H1.9 V8.1 H6.5 V10 H0 Z",
    "F": "M0 0 H1.9 V4 H5.4 V5.9 H1.9 V8.1 H6.5 V10 H0 Z",
    "G": f"M{_polar(5, 5, 5, 45)} A5 5 0 1 1 10 5 H5.6 V3.2 H{5 + math.sqrt(3.1**2 - 1.8**2):.15g} "
    f"A3.1 3.1 0 1 0 {_polar(5, 5, 3.1, 45)} Z",
    "H": "M0 0 H1.9 V4.1 H5.6 V0 H7.5 V10 H5.6 V5.9 H1.9 V10 H0 Z",
    "I": "M0 0 H5 V1.8 H3.4 V8.2 H5 V10 H0 V8.2 H1.6 V1.8 H0 Z",
    "J": "M6 10 H4.1 V3 A1.1 1.1 0 0 0 1.9 3 H0 A3 3 0 0 1 6 3 Z",
    "K": "M0 0 H1.9 V3.4 L2.9 4.5 L5.7 0 H8 L4.3 5.9 L7.8 10 H5.4 L1.9 5.9 V10 H0 Z",
    "L": "M0 0 H6 V1.9 H1.9 V10 H0 Z",
    "M": "M0 0 H1.9 V6.4 L4.5 2.2 L7.1 6.4 V0 H9 V10 H7.2 L4.5 5.7 L1.8 10 H0 Z",
    "N": "M0 0 H1.9 V6.6 L5.9 0 H7.8 V10 H5.9 V3.4 L1.9 10 H0 Z",
    "O": f"{_circle(5, 5, 5)} {_circle(5, 5, 3.1)}",
    "P": "M0 0 H1.9 V3.6 H4 A3.2 3.2 0 0 1 4 10 H0 Z M1.9 5.5 V8.1 H4 A1.3 1.3 0 0 0 4 5.5 Z",
    "Q": f"M{_polar(5, 5, 5, -35)} A5 5 0 1 1 {_polar(5, 5, 5, -55)} {_Q_TAIL} Z {_circle(5, 5, 3.1)}",
    "R": "M0 0 H1.9 V3.6 H3.2 L5.6 0 H7.9 L5.4 3.9225 A3.2 3.2 0 0 1 4 10 H0 Z M1.9 5.5 V8.1 H4 A1.3 1.3 0 0 0 4 5.5 Z",
    "S": _S,
    "T": "M3 0 H4.9 V8.1 H7.9 V10 H0 V8.1 H3 Z",
    "U": "M0 10 V4 A4 4 0 0 1 8 4 V10 H6.1 V4 A2.1 2.1 0 0 0 1.9 4 V10 Z",
    "V": "M0 10 L3 0 H5 L8 10 H6 L4 3.2 L2 10 Z",
    "W": "M0 10 L2.3 0 H4.2 L5.5 5.6 L6.8 0 H8.7 L11 10 H9.1 L7.7 3.6 L6.3 9 H4.7 L3.3 3.6 L1.9 10 Z",
    "X": "M0 0 H2.3 L4 3.1 L5.7 0 H8 L5.2 5 L8 10 H5.7 L4 6.9 L2.3 10 H0 L2.8 5 Z",
    "Y": "M3.05 0 H4.95 V4.2 L8 10 H5.9 L4 6 L2.1 10 H0 L3.05 4.2 Z",
    "Z": "M0 0 H7 V1.9 H2.6 L7 8.1 V10 H0 V8.1 H4.4 L0 1.9 Z",
}

HEART = (
    "M0 -4.5 C1.5 -2.5 5 -0.5 5 2 C5 4.2 3.3 5 2.4 5 C1.2 5 0.3 4.2 0 3 C-0.3 4.2 -1.2 5 -2.4 5 C-3.3 5 -5 4.2 -5 2 "
    "C-5 -0.5 -1.5 -2.5 0 -4.5 Z"
)


def _chain_link() -> str:
    """SVG path: a ball of radius 1 on a neck 0.8 wide; a socket of radii 1.15 and 1.8 with an opening of 90 degrees."""
    neck, ball, pitch, outer, inner = 0.4, 1.0, 4.0, 1.8, 1.15
    left, right = math.sqrt(outer**2 - neck**2), pitch - math.sqrt(ball**2 - neck**2)
    return (
        f"M{left:.15g} {-neck} H{right:.15g} A{ball} {ball} 0 1 1 {right:.15g} {neck} H{left:.15g} "
        f"A{outer} {outer} 0 0 1 {_polar(0, 0, outer, 135)} L{_polar(0, 0, inner, 135)} "
        f"A{inner} {inner} 0 1 0 {_polar(0, 0, inner, -135)} L{_polar(0, 0, outer, -135)} "
        f"A{outer} {outer} 0 0 1 {left:.15g} {-neck} Z"
    )


CHAIN_LINK = _chain_link()


def hash_rings() -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Outline and hole of "#": bars of half width 0.7 and half length 5, at a distance of 2 from the centre."""
    inner, outer, tip = 2 - 0.7, 2 + 0.7, 5.0
    # one quarter of the outline, from the lower bar on the right to the right bar at the top; turned four times
    quarter = np.array(
        [(outer, -inner), (tip, -inner), (tip, -outer), (outer, -outer), (outer, -tip), (inner, -tip), (inner, -outer)]
    )
    ring = []
    for turns in range(4):
        c, s = ((1, 0), (0, 1), (-1, 0), (0, -1))[turns]
        ring.append(quarter[::-1] @ np.array([[c, s], [-s, c]]))
    hole = inner * np.array([(-1.0, -1.0), (-1.0, 1.0), (1.0, 1.0), (1.0, -1.0)])
    return np.concatenate(ring), hole


def arc_rings(closure: float, outer: float, inner: float) -> list[NDArray[np.float64]]:
    """Outline of a part of a ring around +y, or outline and hole of a closed ring; 32 chords for a whole turn."""
    if closure == 1.0:
        angle = (np.arange(32) + 0.5) * (math.pi / 16)
        circle = np.stack([np.cos(angle), np.sin(angle)], axis=1)
        return [outer * circle, inner * circle]
    count = max(1, math.ceil(32 * closure - 1e-9))
    angle = math.pi * (0.5 - closure) + 2 * math.pi * closure * np.arange(count + 1) / count
    part = np.stack([np.cos(angle), np.sin(angle)], axis=1)
    return [np.concatenate([outer * part, inner * part[::-1]])]
