"""scaled.py: `Scaled`: the rewards of later versions of tasks, of which a perfect episode earns about 1.

Networks learn values of about 1 faster than of 100, and one set of learning rates then serves all tasks.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from granular_gym.base import checks
from granular_gym.base.types import Arrays, Floats
from granular_gym.tasks.task import Task

REWARDS = ("change", "paper")


class Scaled(Task):
    """A base, before that of version 0, of a version whose rewards are those of version 0 over `full_return`.

    Args:
        env_count: number of envs.
        reward: "change": scaled; "paper": as version 0 pays unless it is told otherwise.
        kwargs: of version 0.

    Raises:
        ArgumentError: an argument is not what it should be.
    """

    full_return: ClassVar[float]  # what a perfect episode earns in version 0
    reward_unit: float  # what rewards of version 0 are divided by

    def __init__(self, env_count: int = 1, *, reward: str = "change", **kwargs: Any) -> None:
        form = checks.choice("reward", reward, list(REWARDS))
        super().__init__(env_count, **kwargs)
        self.reward_unit = self.full_return if form == "change" else 1.0

    def evaluate(self) -> tuple[Floats, NDArray[np.bool_], Arrays]:
        """See `Task.evaluate`."""
        rewards, terminated, infos = super().evaluate()  # type: ignore[safe-super]
        return rewards / self.reward_unit, terminated, infos
