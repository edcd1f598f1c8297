"""goal_envs.py: what the env classes of a `GoalTask` (goals.py) have besides those of any task."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from granular_gym.tasks.goals import GoalTask
from granular_gym.tasks.gym_envs import GranularEnv, GranularVectorEnv


class GoalEnv(GranularEnv):
    """One env of a task with goals; arguments: GranularEnv.

    What steps earn for other goals tells `env.unwrapped.task.compute_reward`. It is no method of the env: there
    Stable-Baselines3 takes it for the mark of an env whose observation holds its goals.
    """

    def achieved_goal(self) -> NDArray[Any]:
        """What counts for the goal now, an array."""
        return np.array(cast(GoalTask, self.task).achieved_goal()[0])

    def desired_goal(self) -> NDArray[Any]:
        """The goal of the episode, an array."""
        return np.array(cast(GoalTask, self.task).desired_goal()[0])


class GoalVectorEnv(GranularVectorEnv):
    """A batch of envs of a task with goals; arguments: GranularVectorEnv."""

    def compute_reward(self, achieved_goal: Any, desired_goal: Any, info: Mapping[str, Any] | None = None) -> Any:
        """What steps earn if these are the goals, see `GoalTask.compute_reward`: of any number of steps, whatever the
        number of envs."""
        return cast(GoalTask, self.task).compute_reward(achieved_goal, desired_goal, info)

    def achieved_goal(self) -> NDArray[Any]:
        """What counts for the goal now, (num_envs, ...); of an env that was just reset: in its new episode."""
        return cast(GoalTask, self.task).achieved_goal()

    def desired_goal(self) -> NDArray[Any]:
        """The goals of the episodes that run, (num_envs, ...)."""
        return cast(GoalTask, self.task).desired_goal()
