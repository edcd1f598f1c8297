"""disturbance.py: noise on actions that drifts, so that episodes also show how a policy finds back.

After Laskey et al., "DART: noise injection for robust imitation learning" (2017).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from granular_gym.base.types import Floats

KEEP, KICK = 0.8, 0.6  # shares of the disturbance of a decision: the one before, and fresh unit normal noise


class Disturbance:
    """Noise on the actions of a batch; each episode draws its own strength.

    Args:
        shape: of the actions, (env_count, k).
        most: largest share of an action that is disturbed, >= 0.
        draw: of the noise.
    """

    def __init__(self, shape: tuple[int, ...], most: float, draw: np.random.Generator) -> None:
        self._draw, self._most = draw, most
        self._level: Floats = draw.uniform(0.0, most, (shape[0], 1))
        self._drift: Floats = np.zeros(shape)

    def of(self, actions: Floats) -> Floats:
        """Actions (env_count, k) disturbed, in -1 .. 1; the noise drifts on."""
        self._drift = KEEP * self._drift + KICK * self._draw.normal(size=self._drift.shape)
        disturbed: Floats = np.clip(actions + self._level * self._drift, -1.0, 1.0)
        return disturbed

    def reset(self, ended: NDArray[np.bool_]) -> None:
        """Begins new episodes with new strengths in the envs of a mask (env_count,)."""
        self._level[ended] = self._draw.uniform(0.0, self._most, (int(ended.sum()), 1))
        self._drift[ended] = 0.0
