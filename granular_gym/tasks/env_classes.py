"""env_classes.py: makes the two Gymnasium env classes of a task."""

from __future__ import annotations

from typing import Any, TypeVar

from granular_gym.tasks.goal_envs import GoalEnv, GoalVectorEnv
from granular_gym.tasks.goals import GoalTask
from granular_gym.tasks.gym_envs import GranularEnv, GranularVectorEnv
from granular_gym.tasks.registry import id_at
from granular_gym.tasks.task import Task

_Env = TypeVar("_Env", GranularEnv, GranularVectorEnv)


def env_classes(task_class: type[Task]) -> tuple[type[Any], type[Any]]:
    """The classes of one env and of a native batch: of a task `XTask` they are `XEnv` and `XVectorEnv`.

    They are a GranularEnv and a GranularVectorEnv; of a GoalTask a GoalEnv and a GoalVectorEnv.

    They belong to the module of the task, which must keep them under these names: pickles and entry points look for
    them there.

    Args:
        task_class: whose arguments both take.
    """
    name = task_class.__name__.removesuffix("Task")
    task_id = id_at(f"{task_class.__module__}:{name}")
    arguments = f"arguments: {task_class.__name__}"
    if task_id is None:
        one, many = "One env", "A batch of envs"
    else:
        one, many = f'`gymnasium.make("{task_id}")`', f'`gymnasium.make_vec("{task_id}", num_envs=n)`'
    has_goals = issubclass(task_class, GoalTask)
    base, vector_base = (GoalEnv, GoalVectorEnv) if has_goals else (GranularEnv, GranularVectorEnv)
    return (
        _env_class(base, f"{name}Env", task_class, f"{one}; {arguments}."),
        _env_class(vector_base, f"{name}VectorEnv", task_class, f"{many}; {arguments}, GranularVectorEnv."),
    )


def _env_class(base: type[_Env], name: str, task_class: type[Task], doc: str) -> type[_Env]:
    """A class of that name in the task's module."""
    own = {"task_class": task_class, "__module__": task_class.__module__, "__qualname__": name, "__doc__": doc}
    return type(name, (base,), own)
