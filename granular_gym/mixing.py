"""mixing.py: how well two kinds of grains are mixed: the index of Lacey.

P. M. C. Lacey, "Developments in the theory of particle mixing" (1954): M = (s0^2 - s^2) / (s0^2 - sr^2), with s^2 the
variance of the composition among samples, s0^2 = p q that of kinds kept apart, and sr^2 what chance leaves in a random
mixture. 0: apart; about 1: random; chance may carry a random mixture a little past 1.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.floating[Any]]


def lacey_index(cells: NDArray[np.integer[Any]], kinds: NDArray[np.bool_]) -> float:
    """The index of one bed, samples of different size weighted by their grains.

    A sample of n_i grains of a random mixture varies by p q / n_i; weighted by n_i / n, the samples that hold grains
    leave p q (number of samples) / n.

    Args:
        cells: (n,) sample each grain belongs to, >= 0.
        kinds: (n,) which of two kinds it is of.

    Returns:
        The index; 1 where there is only one kind or not more than one grain a sample: nothing is left to mix.
    """
    count = len(cells)
    share = float(np.mean(kinds)) if count else 0.0
    apart = share * (1.0 - share)
    sizes = np.bincount(cells)
    filled = sizes > 0
    sizes_filled = sizes[filled].astype(np.float64)
    random = apart * float(filled.sum()) / max(count, 1)
    if apart <= 0.0 or apart - random <= 1e-12:
        return 1.0
    composition = np.bincount(cells, kinds.astype(np.float64))[filled] / sizes_filled
    variance = float((sizes_filled * (composition - share) ** 2).sum()) / count
    return (apart - variance) / (apart - random)
