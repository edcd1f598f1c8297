"""gear_tower_expert.py: the scripted miller: turns all gears in one sense at full speed, and stops when all is mixed.

In a bed on a floor the gears turn so that they lift the grains: pressed down they mix as well but cost more power. In a
tower without a floor they turn so that they let the falling grains through, for the same reason.
"""

from __future__ import annotations

import numpy as np

from granular_gym.base.types import Floats
from granular_gym.envs.gear_tower import GearTowerTask
from granular_gym.tasks.expert import Experts

ENOUGH = 0.9  # index of mixing from which on the gears stand still


class GearTowerExperts(Experts):
    """Turns the gears of every env of a gear tower."""

    task: GearTowerTask

    def forget(self, env: int) -> None:
        """There is no plan."""

    def actions(self) -> Floats:
        """Speeds of the gears."""
        sense = -1.0 if self.task.boundary == "wall" else 1.0
        turning = np.where(self.task.mixing < ENOUGH, sense, 0.0)
        return np.repeat(turning[:, None], self.task.gear_count, axis=1)
