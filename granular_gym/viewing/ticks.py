"""ticks.py: the vertical axis of a plot: its range, and the numbers along it.

The browser's own numbers have at most three digits after the point, so that those of a small range are alike, and take
more room than their axis has where they are large.
"""

from __future__ import annotations

import dataclasses
import math
from typing import Any

import numpy as np

#: steps between numbers are between a fifth and a half of the range of the values: two to six numbers
PARTS = 5
#: an axis ends at a multiple of this part of a step: seldom elsewhere than before, while values grow
ENDS = 5
#: least step over the largest value: six digits; values that differ by less are drawn as one
FINEST = 1e-5
#: least step, and what larger values are drawn as: a world that flew apart is no reason to fail
LEAST, MOST = 1e-12, 1e30
#: largest values beyond which numbers have a suffix, and below which they have a power of ten
LARGE, SMALL = 1e4, 1e-3
_SUFFIXES = {3: "k", 6: "M", 9: "G", 12: "T"}


@dataclasses.dataclass(frozen=True)
class Ticks:
    """Numbers along an axis.

    Attributes:
        lower: where the axis begins.
        upper: where it ends.
        places: of the numbers, two or more, ascending and evenly spaced, from `lower` to `upper`.
        texts: what is written there; all differ.
    """

    lower: float
    upper: float
    places: tuple[float, ...]
    texts: tuple[str, ...]


def ticks_of(values: Any) -> Ticks:
    """Numbers along an axis for values of any shape; those that are not finite count for nothing.

    All values lie within the axis, but for those beyond MOST. Without values it reaches from 0 to 1.
    """
    array = np.asarray(values, np.float64)
    array = np.clip(array[np.isfinite(array)], -MOST, MOST)
    lower, upper = (float(array.min()), float(array.max())) if array.size else (0.0, 0.0)
    largest = max(abs(lower), abs(upper))
    if largest < LEAST:
        lower, upper = 0.0, 1.0
    elif upper - lower < FINEST * largest:
        # values that are all alike: with 0, which says how large they are
        lower, upper = min(lower, 0.0), max(upper, 0.0)
    digit, power = _step(max((upper - lower) / PARTS, FINEST * largest, LEAST))
    # from here on in whole numbers of a tenth of the step's power of ten, which no sum falsifies
    power -= 1
    step = 10 * digit
    first, last = _multiples(lower, upper, step // ENDS, power)
    if last // step + (-first) // step < 1:
        first, last = _multiples(lower, upper, step, power)
    numbers = range(first + -first % step, last + 1, step)
    places = tuple(_scaled(number, power) for number in numbers)
    return Ticks(_scaled(first, power), _scaled(last, power), places, _texts([n // 10 for n in numbers], power + 1))


def _step(least: float) -> tuple[int, int]:
    """The smallest of 1, 2, 5 times a power of ten that is not below `least`: digit and exponent."""
    power = math.floor(math.log10(least))
    for digit in (1, 2, 5):
        if _scaled(digit, power) >= least:
            return digit, power
    return 1, power + 1


def _multiples(lower: float, upper: float, step: int, power: int) -> tuple[int, int]:
    """The multiples of a step nearest to a range that hold it between them, in units of 10^power."""
    size = _scaled(step, power)
    # what floats have added to a multiple is no part of the range
    return step * math.floor(lower / size + 1e-6), step * math.ceil(upper / size - 1e-6)


def _scaled(number: int, power: int) -> float:
    """A whole number times a power of ten, as near as a float comes."""
    return float(f"{number}e{power}")


def _texts(numbers: list[int], power: int) -> tuple[str, ...]:
    """Numbers in units of 10^power, all with the same suffix and as many digits after the point as the step has."""
    largest = max(abs(number) for number in numbers)
    exponent = power + len(str(largest)) - 1  # of the largest number
    if SMALL <= _scaled(largest, power) < LARGE:
        exponent, suffix = 0, ""
    elif 4 <= exponent < 15:
        exponent -= exponent % 3
        suffix = _SUFFIXES[exponent]
    else:
        suffix = f"e{exponent}"
    digits = max(exponent - power, 0)
    return tuple(f"{_scaled(number, power - exponent):.{digits}f}{suffix}" if number else "0" for number in numbers)
