"""rng.py: the engine's counter-based random numbers (csrc/base/rng.h) for arrays of counters.

The n-th number of a stream is a function of (seed, stream, n) alone: a scene does not depend on the version of NumPy.
Mixing: the 64-bit finaliser of SplitMix (Steele, Lea, Flood 2014).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

_MASK = 2**64 - 1


def mixed(z: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """64 bits of each number, mixed."""
    with np.errstate(over="ignore"):
        z = z + np.uint64(0x9E3779B97F4A7C15)
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    result: NDArray[np.uint64] = z ^ (z >> np.uint64(31))
    return result


def uniform(seed: int, stream: int, count: int) -> NDArray[np.float64]:
    """The first `count` numbers of a stream, uniform in [0, 1) with 24 bits; float64 (count,)."""
    key = mixed(mixed(np.array([seed & _MASK], np.uint64)) ^ np.uint64(stream & _MASK))
    bits = mixed(key ^ np.arange(count, dtype=np.uint64))
    result: NDArray[np.float64] = (bits >> np.uint64(40)).astype(np.float64) * (1.0 / 16777216.0)
    return result
