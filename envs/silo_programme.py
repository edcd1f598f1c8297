"""silo_programme.py: programmes of discharge: rates that hold from stage to stage.

The programme of env k is row k of `ends`, where its stages end [s], and of `rates` [share/s], each (env_count, stages);
the first stage begins at 0. Times are (..., env_count) [s].
"""

from __future__ import annotations

import numpy as np

from granular_gym.base.types import Floats


def share_by(time: Floats, ends: Floats, rates: Floats) -> Floats:
    """What should have come out at those times [share]."""
    begin, total = np.zeros(len(ends)), np.zeros(time.shape)
    for end, rate in zip(ends.T, rates.T, strict=True):
        total += (np.minimum(np.maximum(time, begin), end) - begin) * rate
        begin = end
    return total


def rate_at(time: Floats, ends: Floats, rates: Floats) -> Floats:
    """The rates then [share/s]."""
    begin, total = np.zeros(len(ends)), np.zeros(time.shape)
    for end, rate in zip(ends.T, rates.T, strict=True):
        total += ((time >= begin) & (time < end)) * rate
        begin = end
    return total


def dose_of(ends: Floats, rates: Floats) -> Floats:
    """What should have come out in the end (env_count,) [share]."""
    return share_by(np.full(len(ends), np.inf), ends, rates)
