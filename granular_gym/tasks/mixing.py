"""mixing.py: how well two kinds of grains are mixed: the index of Lacey.

P. M. C. Lacey, "Developments in the theory of particle mixing" (1954): M = (s0^2 - s^2) / (s0^2 - sr^2), with s^2 the
variance of the composition among samples, s0^2 = p q that of kinds kept apart, and sr^2 what chance leaves in a random
mixture. 0: apart; about 1: random; chance may carry a random mixture a little past 1.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

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
    beds = counts.shape[:-2]
    ones, sizes = counts[..., 1].reshape(-1, counts.shape[-2]), counts.sum(axis=-1).reshape(-1, counts.shape[-2])
    count = np.maximum(sizes.sum(axis=1), 1)
    share = ones.sum(axis=1) / count
    apart = share * (1.0 - share)
    random = apart * np.count_nonzero(sizes, axis=1) / count
    composition = ones / np.maximum(sizes, 1)
    # summed one after the other: the sum of a bed must not depend on how many beds there are
    variance = (sizes * (composition - share[:, None]) ** 2).cumsum(axis=1)[:, -1] / count
    left = apart - random
    usable = (apart > 0.0) & (left > 1e-12)
    index = np.where(usable, (apart - variance) / np.where(usable, left, 1.0), 1.0)
    return index.reshape(beds)
