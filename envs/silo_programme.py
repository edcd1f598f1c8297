"""silo_programme.py: programmes of discharge: rates that hold from stage to stage.

The programme of env k is row k of `ends`, where its stages end [s], and of `rates` [share/s], each (env_count, stages);
the first stage begins at 0. Times are (..., env_count) [s].
"""

from __future__ import annotations

import numpy as np

from granular_gym import _core
from granular_gym.base.types import Floats


def share_by(time: Floats, ends: Floats, rates: Floats) -> Floats:
    """What should have come out at those times [share]."""
    return _core.programme_integral(time, ends, rates)


def rate_at(time: Floats, ends: Floats, rates: Floats) -> Floats:
    """The rates then [share/s]."""
    return _core.programme_value(time, ends, rates)


def dose_of(ends: Floats, rates: Floats) -> Floats:
    """What should have come out in the end (env_count,) [share]."""
    return share_by(np.full(len(ends), np.inf), ends, rates)
