"""batch.py: the native batch of envs that a learner, or its evaluation, plays, and the single env of who records."""

from __future__ import annotations

from typing import Any

import gymnasium as gym

from granular_gym.errors import ArgumentError
from granular_gym.tasks.registry import task_id


def make_batch(task: str, env_count: int, arguments: dict[str, Any]) -> Any:
    """A GranularVectorEnv of a task as learners need it.

    Raises:
        ArgumentError: no such task, or an argument that it does not take or that is not the caller's to choose.
    """
    fixed: dict[str, Any] = {"num_envs": env_count, "autoreset_mode": "SameStep", "depth": "uint8"}
    for name in arguments:
        if name in fixed:
            raise ArgumentError(f"argument: expected none named {name}, which is {fixed[name]!r} for learners")
    return gym.make_vec(task_id(task), **fixed, **arguments)


def make_single(task: str, arguments: dict[str, Any]) -> Any:
    """A single env of a task, with Gymnasium's wrappers.

    Raises:
        ArgumentError: no such task, or an argument that it does not take.
    """
    try:
        return gym.make(task_id(task), **arguments)
    except TypeError as error:
        # the constructor's message names the unknown argument
        raise ArgumentError(f"argument: {error}") from None
