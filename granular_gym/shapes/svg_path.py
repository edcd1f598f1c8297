"""svg_path.py: SVG paths ("M 0 0 L 1 0 ... Z") as closed rings of vertices.

All commands of SVG 1.1 are read. Curves and arcs become chords whose distance from the curve is within a tolerance.
Source: the W3C recommendation "Scalable Vector Graphics (SVG) 1.1", chapter 8 and appendix F.6 (arcs).
"""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from granular_gym.base import checks
from granular_gym.errors import ArgumentError

_NUMBER = re.compile(r"[\s,]*([+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)")
_FLAG = re.compile(r"[\s,]*([01])")
_COMMAND = re.compile(r"[\s,]*([MmLlHhVvCcSsQqTtAaZz])")
#: numbers that each command takes
_COUNTS = {"M": 2, "L": 2, "H": 1, "V": 1, "C": 6, "S": 4, "Q": 4, "T": 2, "A": 7, "Z": 0}
#: share of the larger one below which a length counts as 0
_FLAT = 1e-12
#: most chords of one curve
_CHORDS = 256


def _commands(path: str) -> Iterator[tuple[str, list[float], int]]:
    """Commands with their numbers, implicit repetitions included, and the index of the character after them."""
    cursor, command = 0, ""
    end = len(path.rstrip(" \t\r\n,"))
    while cursor < end:
        found = _COMMAND.match(path, cursor)
        if found:
            command, cursor = found.group(1), found.end()
        elif not command or command in "Zz":
            raise ArgumentError(f"path: expected a command at character {cursor}, got {path[cursor : cursor + 12]!r}")
        else:
            # further numbers repeat the command; after a move they are lines
            command = {"M": "L", "m": "l"}.get(command, command)
        numbers: list[float] = []
        for k in range(_COUNTS[command.upper()]):
            rule = _FLAG if command in "Aa" and k in (3, 4) else _NUMBER
            found = rule.match(path, cursor)
            if not found:
                wanted = _COUNTS[command.upper()]
                raise ArgumentError(
                    f"path: expected {wanted} numbers after {command}, got {len(numbers)} up to character {cursor}"
                )
            numbers.append(float(found.group(1)))
            if abs(numbers[-1]) > checks.LARGEST:
                raise ArgumentError(f"path: expected numbers up to {checks.LARGEST:g}, got {found.group(1)[:40]}")
            cursor = found.end()
        yield command, numbers, cursor


def _chord_count(chords: float) -> int:
    """How many chords a curve gets that needs `chords`, which may be infinite."""
    return max(1, math.ceil(min(chords, _CHORDS) - 1e-9))


def _bezier(points: list[complex], tolerance: float) -> list[complex]:
    """Vertices of a quadratic or cubic Bezier curve, without the first; de Casteljau's algorithm."""
    bend = max(abs(a - 2 * b + c) for a, b, c in zip(points, points[1:], points[2:], strict=False))
    degree = len(points) - 1
    chords = math.sqrt(degree * (degree - 1) * bend / (8 * tolerance))
    count = _chord_count(chords)
    out = []
    for k in range(1, count + 1):
        layer, s = points, k / count
        while len(layer) > 1:
            layer = [a + (b - a) * s for a, b in itertools.pairwise(layer)]
        out.append(layer[0])
    out[-1] = points[-1]
    return out


def _arc(start: complex, numbers: list[float], end: complex, tolerance: float) -> list[complex]:
    """Vertices of an elliptical arc, without the first; appendix F.6 of the recommendation."""
    rx, ry, tilt, large, sweep = abs(numbers[0]), abs(numbers[1]), math.radians(numbers[2]), numbers[3], numbers[4]
    if start == end:
        return []
    # an ellipse that is a line, or an arc that is a point, as far as numbers of 15 digits tell
    if min(rx, ry) <= _FLAT * max(rx, ry) or abs(start - end) <= _FLAT * max(rx, ry):
        return [end]
    least, longest = _FLAT * abs(start - end), max(rx, ry)
    if longest < least:
        # they grow until the arc fits (F.6.6): only their ratio matters
        rx, ry = rx / longest * least, ry / longest * least
    turn = complex(math.cos(tilt), math.sin(tilt))
    half = (start - end) / 2 / turn
    scale = math.hypot(half.real / rx, half.imag / ry)
    if scale > 1:
        rx, ry = rx * scale, ry * scale
    u = complex(half.real / rx, half.imag / ry)
    offset = math.sqrt(max(0.0, 1 / abs(u) ** 2 - 1)) * (1 if bool(large) != bool(sweep) else -1)
    center = complex(u.imag, -u.real) * offset
    first = math.atan2(u.imag - center.imag, u.real - center.real)
    last = math.atan2(-u.imag - center.imag, -u.real - center.real)
    sweep_angle = (last - first) % (2 * math.pi) if sweep else -((first - last) % (2 * math.pi))
    middle = complex(center.real * rx, center.imag * ry) * turn + (start + end) / 2
    step = 2 * math.acos(max(-1.0, 1 - min(tolerance / max(rx, ry), 1.0)))
    count = _chord_count(abs(sweep_angle) / step if step > 0 else math.inf)
    out = []
    for k in range(1, count + 1):
        angle = first + sweep_angle * k / count
        out.append(middle + complex(rx * math.cos(angle), ry * math.sin(angle)) * turn)
    out[-1] = end
    return out


def flatten(path: str, tolerance: float) -> list[NDArray[np.float64]]:
    """The rings of a path, (n, 2) each, in its own coordinates and order; the closing vertex is not repeated.

    Args:
        path: the `d` attribute of an SVG path.
        tolerance: largest distance of a chord from its curve, in units of the path.

    Raises:
        ArgumentError: not a path, or a subpath that is not closed.
    """
    rings: list[NDArray[np.float64]] = []
    ring: list[complex] = []
    start = at = control = 0j
    previous = ""

    def close(drawn: list[complex]) -> None:
        """Ends a subpath; ArgumentError unless its last vertex is its first."""
        if len(drawn) > 1:
            size = max(abs(z - drawn[0]) for z in drawn)
            if abs(drawn[-1] - drawn[0]) > 1e-9 * size:
                gap = abs(drawn[-1] - drawn[0])
                raise ArgumentError(
                    f"path: expected closed subpaths, number {len(rings)} is open: its ends are {gap:.6g} apart"
                )
            rings.append(np.array([[z.real, z.imag] for z in drawn[:-1]]))

    for command, numbers, _ in _commands(path):
        kind, base = command.upper(), at if command.islower() else 0j
        if kind != "M" and not previous:
            raise ArgumentError(f"path: expected M first, got {command}")
        pairs = [base + complex(x, y) for x, y in zip(numbers[::2], numbers[1::2], strict=False)]
        if kind == "M":
            close(ring)
            start = at = pairs[0]
            ring = [at]
        elif kind == "Z":
            if ring and abs(ring[-1] - start) > 1e-9 * max(abs(z - start) for z in ring):
                ring.append(start)
            elif ring:
                ring[-1] = start
            close(ring)
            at, ring = start, [start]
        else:
            if kind == "L":
                drawn = [pairs[0]]
            elif kind == "H":
                drawn = [complex(base.real + numbers[0], at.imag)]
            elif kind == "V":
                drawn = [complex(at.real, base.imag + numbers[0])]
            elif kind == "A":
                drawn = _arc(at, numbers, base + complex(numbers[5], numbers[6]), tolerance)
            else:
                smooth = kind in "ST"
                mirrored = 2 * at - control if previous in {"S": "CS", "T": "QT"}.get(kind, "") else at
                points = [at, *([mirrored] if smooth else []), *pairs]
                control = points[-2]
                drawn = _bezier(points, tolerance)
            at = drawn[-1] if drawn else at
            ring += drawn
        previous = kind
    close(ring)
    if not rings:
        raise ArgumentError("path: expected at least one closed subpath, got none")
    return rings
