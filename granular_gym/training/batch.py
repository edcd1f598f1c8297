"""batch.py: the native batch of envs that a learner, or its evaluation, plays."""

from __future__ import annotations

from typing import Any

import gymnasium as gym

from granular_gym.tasks.registry import task_id


def make_batch(task: str, env_count: int, arguments: dict[str, Any]) -> Any:
    """A GranularVectorEnv of a task as learners need it.

    Raises:
        ArgumentError: no such task, or an argument that it does not take.
    """
    return gym.make_vec(task_id(task), num_envs=env_count, autoreset_mode="SameStep", depth="uint8", **arguments)
