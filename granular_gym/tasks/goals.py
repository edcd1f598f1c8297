"""goals.py: `GoalTask`: a task whose goal is drawn for each episode, and which tells what a step earns for any other.

`compute_reward` is that of GoalEnv in Gymnasium-Robotics (M. Plappert et al., "Multi-goal reinforcement learning",
2018), for any number of steps at once. It pays what `evaluate` does, by the same function of the task; so rewards of
steps that were played can be computed again as if another goal had been drawn (M. Andrychowicz et al., "Hindsight
experience replay", 2017). Most tasks pay for changes: they need what was achieved before the step, too.
"""

from __future__ import annotations

import abc
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from granular_gym.base import checks
from granular_gym.base.types import Floats
from granular_gym.errors import ArgumentError
from granular_gym.tasks.task import Task

BEFORE, FIRST = "before", "first"
#: what `info` may have to hold besides
REMEMBERED = {BEFORE: "what was achieved before the step", FIRST: "what was achieved when the episode began"}


class GoalTask(Task):
    """A task with a goal that is drawn for each episode.

    Subclasses fill in the hooks below; `evaluate` must pay by the same function as `pay`. Arguments: those of `Task`.
    """

    reward_unit: float = 1.0  # what `pay` is divided by

    # hooks -----------------------------------------------------------------------------------------------------------

    @property
    @abc.abstractmethod
    def goal_shapes(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Shapes of what is achieved and of what is desired in one env."""

    @property
    def remembered(self) -> tuple[str, ...]:
        """What of earlier states the reward of a step depends on: keys of REMEMBERED, "before" where it pays for a
        change."""
        return (BEFORE,)

    @abc.abstractmethod
    def achieved_goal(self) -> NDArray[Any]:
        """What counts for the goal in the state the world is in: a fresh array (env_count, ...)."""

    @abc.abstractmethod
    def desired_goal(self) -> NDArray[Any]:
        """The goals of the episodes that run: a fresh array (env_count, ...)."""

    @abc.abstractmethod
    def pay(self, achieved: Any, desired: Any, earlier: Mapping[str, Any]) -> Floats:
        """What steps earn, in units of 1 / reward_unit: (n,) float64.

        Args:
            achieved: (n, ...) after the steps.
            desired: (n, ...).
            earlier: (n, ...) achieved at the times that `remembered` names.
        """

    # what callers use ------------------------------------------------------------------------------------------------

    def compute_reward(self, achieved_goal: Any, desired_goal: Any, info: Mapping[str, Any] | None = None) -> Any:
        """What steps earn if these are the goals.

        Args:
            achieved_goal: what `achieved_goal()` gave after the steps, (..., shape of one env).
            desired_goal: goals, as `desired_goal()` gives them, (..., shape of one env).
            info: by name what `remembered` asks for, as `achieved_goal()` gave it: "before" the steps, "first" in their
                episodes. Further entries are left alone.

        Returns:
            Rewards float64 of the shape (...), to which the axes in front of all arguments are broadcast; a float where
            there are none. Where what was achieved is not finite 0, as in a step of an env that diverged.

        Raises:
            ArgumentError: a wrong shape or no numbers; an entry of `info` is missing; or an env step is several
                control periods and the task pays for each: what lies between was not seen.
        """
        if self.frame_skip > 1 and BEFORE not in self.remembered:
            raise ArgumentError(
                f"frame_skip: expected 1 where each control period is paid for, not the change, got {self.frame_skip}"
            )
        reached, wanted = self.goal_shapes
        parts = [
            _part("achieved_goal", achieved_goal, reached),
            _part("desired_goal", desired_goal, wanted),
            *(_part(f"info[{name!r}]", self._entry(info, name), reached) for name in self.remembered),
        ]
        shapes = [reached, wanted, *[reached] * len(self.remembered)]
        fronts = [part.shape[: part.ndim - len(shape)] for part, shape in zip(parts, shapes, strict=True)]
        try:
            front = np.broadcast_shapes(*fronts)
        except ValueError:
            names = ", ".join(["achieved_goal", "desired_goal", *(f"info[{name!r}]" for name in self.remembered)])
            raise ArgumentError(f"{names}: expected axes in front that go together, got {fronts}") from None
        rows = [
            np.broadcast_to(part, front + shape).reshape(-1, *shape) for part, shape in zip(parts, shapes, strict=True)
        ]
        achieved, desired, *others = rows
        with np.errstate(invalid="ignore"):
            paid = self.pay(achieved, desired, dict(zip(self.remembered, others, strict=True))) / self.reward_unit
        lost = ~np.isfinite(achieved).reshape(len(achieved), -1).all(axis=1)
        paid = np.where(lost & ~np.isfinite(paid), 0.0, paid)
        return paid.reshape(front) if front else float(paid[0])

    @staticmethod
    def _entry(info: Any, name: str) -> Any:
        if not isinstance(info, Mapping) or name not in info:
            got = sorted(info) if isinstance(info, Mapping) else info
            raise ArgumentError(f"info: expected the entry {name!r}, {REMEMBERED[name]}, got {got}")
        return info[name]


class HindsightTask(GoalTask):
    """A task with goals whose state vector can be computed for any goal, too.

    Steps that were played then become experience with that goal (granular_gym/training/hindsight.py). `sense_state`
    must show what `state_for` does. Arguments: those of `Task`.
    """

    @abc.abstractmethod
    def context(self) -> NDArray[Any]:
        """What enters the state vector besides what is achieved and desired: a fresh array (env_count, ...)."""

    @abc.abstractmethod
    def state_for(self, achieved: Any, desired: Any, context: Any) -> NDArray[np.float32]:
        """The state vectors (n, state_vector.size) of n states.

        Args:
            achieved: (n, ...), of `achieved_goal`.
            desired: (n, ...), of `desired_goal`.
            context: (n, ...), of `context`.
        """

    @abc.abstractmethod
    def goals_near(self, draw: np.random.Generator, achieved: Any, count: int) -> NDArray[Any]:
        """Goals (count, ...) of the kind that episodes draw, near what an episode achieved.

        Args:
            draw: of what is random.
            achieved: (n, ...) in its states, in their order.
            count: how many, >= 1.
        """


def _part(name: str, value: Any, shape: tuple[int, ...]) -> NDArray[Any]:
    """An array (..., *shape) of numbers."""
    array = checks.numbers(name, value)
    if array.shape[max(array.ndim - len(shape), 0) :] != shape:
        wanted = ", ".join(["...", *(str(size) for size in shape)])
        raise ArgumentError(f"{name}: expected shape ({wanted}), got {array.shape}")
    return array
