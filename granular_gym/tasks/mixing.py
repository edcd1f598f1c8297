"""mixing.py: how well two kinds of grains are mixed: the index of Lacey.

P. M. C. Lacey, "Developments in the theory of particle mixing" (1954): M = (s0^2 - s^2) / (s0^2 - sr^2), with s^2 the
variance of the composition among samples, s0^2 = p q that of kinds kept apart, and sr^2 what chance leaves in a random
mixture. 0: apart; about 1: random; chance may carry a random mixture a little past 1.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from granular_gym import _core
from granular_gym.base.types import Floats


def lacey_index(counts: NDArray[np.integer[Any]]) -> Floats:
    """The index of each bed, samples of different size weighted by their grains.

    A sample of n_i grains of a random mixture varies by p q / n_i; weighted by n_i / n, the samples that hold grains
    leave p q (number of samples) / n.

    Args:
        counts: (..., samples, 2) grains of each kind in each sample.

    Returns:
        The indices (...); 1 where there is only one kind or not more than one grain a sample: there is nothing to mix.
    """
    tables = np.ascontiguousarray(counts, np.int64).reshape(-1, *counts.shape[-2:])
    return _core.lacey_index(tables).reshape(counts.shape[:-2])


def index_and_composition(counts: NDArray[np.int64]) -> tuple[Floats, Floats]:
    """The index of each bed (n,), and of each sample the second kind less the first, over both, (n, samples).

    Args:
        counts: (n, samples, 2) grains of each kind in each sample; the composition of an empty one is 0.
    """
    return _core.mixing(counts)
