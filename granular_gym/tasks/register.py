"""register.py: `register_task`: a task of one's own becomes one that `gymnasium.make`, experts and learners know."""

from __future__ import annotations

import inspect
import re
import sys
from typing import Any

import gymnasium

from granular_gym.base import checks
from granular_gym.errors import ArgumentError
from granular_gym.tasks.env_classes import env_classes
from granular_gym.tasks.expert import Experts
from granular_gym.tasks.recipe import Recipe
from granular_gym.tasks.registry import NAMESPACE, Entry, entry_of, is_task, register
from granular_gym.tasks.task import Task

_ID = re.compile(r"(?:[\w-]+/)?[\w.-]+-v\d+")


def register_task(
    id: str,
    task: type[Task],
    *,
    steps: int,
    expert: type[Experts] | str | None = None,
    measure: str = "success",
    recipe: Recipe | None = None,
    features: type | str | None = None,
    reward_threshold: float | None = None,
) -> None:
    """Registers a task of one's own, as the tasks of this package are.

    `gymnasium.make` and `make_vec`, `scripted_expert`, `play`, `view`, the training scripts and
    `benchmarks/expert_table.py` know it then. Called at the end of the module that defines the task, it lets all of
    them take "module:id", as "sweep:me/Sweep-v0": the module is imported, and registers.

    The module gets the env classes of the task, where entry points and pickles look for them: of a class `XTask` they
    are `XEnv` and `XVectorEnv` (see `env_classes`). Registering a class of the same name again replaces it, as a
    notebook does.

    Args:
        id: "Name-v0" or "namespace/Name-v0"; the namespace "granular_gym" is taken.
        task: a subclass of Task at the top of a module, with all hooks filled in.
        steps: env steps after which an episode is truncated, >= 1.
        expert: scripted expert: a subclass of Experts, or "module:class" where it lies elsewhere; None: there is none.
        measure: the info that says how well an episode went, read at its end by `benchmarks/expert_table.py`.
        recipe: how a learner meets the task; None: a decision per env step, rewards as they are.
        features: what a learner observes: a subclass of `granular_gym.training.features.Features` at the top of a
            module, or "module:class"; None: images averaged over blocks, other entries scaled to [-1, 1].
        reward_threshold: mean return from which on the task counts as solved; None: not told.

    Raises:
        ArgumentError: an argument is not what it should be, or the id belongs to another class.
    """
    if not isinstance(id, str) or not _ID.fullmatch(id):
        raise ArgumentError(f"id: expected 'Name-v0' or 'namespace/Name-v0', got {id!r}")
    if id.startswith(NAMESPACE):
        raise ArgumentError(f"id: expected another namespace than that of this package, got {id!r}")
    if not isinstance(task, type) or not issubclass(task, Task):
        raise ArgumentError(f"task: expected a subclass of granular_gym.task.Task, got {task!r}")
    if inspect.isabstract(task):
        missing = ", ".join(sorted(task.__abstractmethods__))
        raise ArgumentError(f"task: expected all hooks filled in, {task.__name__} lacks {missing}")
    path = _path("task", task)
    known = entry_of(id).task_path if is_task(id) else None
    if id in gymnasium.registry and known != path.removesuffix("Task"):
        raise ArgumentError(f"id: expected one that is free, {id!r} belongs to {gymnasium.registry[id].entry_point}")
    if isinstance(expert, type) and not issubclass(expert, Experts):
        raise ArgumentError(f"expert: expected a subclass of granular_gym.task.Experts, got {expert!r}")
    if recipe is not None:
        checks.instance("recipe", recipe, Recipe)
    register(
        id,
        Entry(
            path.removesuffix("Task"),
            checks.integer("steps", steps, 1),
            _path("expert", expert),
            checks.text("measure", measure),
            recipe,
            _path("features", features),
            None if reward_threshold is None else checks.number("reward_threshold", reward_threshold),
        ),
    )
    for env_class in env_classes(task):
        setattr(sys.modules[task.__module__], env_class.__name__, env_class)


def _path(name: str, value: Any) -> Any:
    """Where a class is, "module:class", from the class or from such a text; None stays None."""
    if value is None:
        return None
    if isinstance(value, type) and "." not in value.__qualname__:
        return f"{value.__module__}:{value.__qualname__}"
    if isinstance(value, str) and re.fullmatch(r"[\w.]+:\w+", value):
        return value
    raise ArgumentError(f"{name}: expected a class at the top of a module, or 'module:class', got {value!r}")
