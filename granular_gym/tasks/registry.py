"""registry.py: the tasks by name, as Gymnasium knows them. Entry points are strings: nothing is loaded early.

A task `XTask` is in `envs/MODULE.py`, beside the env classes `XEnv` and `XVectorEnv` that `env_classes` makes from it;
its scripted expert is in `envs/MODULE_expert.py`. A later version of it, `XV1Task`, is a subclass that overrides what
changed, in the same module; every version stays registered. Tasks of others come in through `register_task`
(register.py).
"""

from __future__ import annotations

import importlib
import json
from dataclasses import dataclass
from typing import Any

import gymnasium

from granular_gym.base import checks, names
from granular_gym.errors import ArgumentError
from granular_gym.tasks.recipe import Recipe

#: what the ids of tasks begin with
NAMESPACE = "granular_gym/"


@dataclass(frozen=True)
class Entry:
    """A registered task.

    Attributes:
        task_path: where the task and its env classes are, without "Task", "Env" or "VectorEnv": "module:name".
        steps: after which an episode is truncated.
        expert: where the scripted expert is: "module:class"; None: there is none.
        measure: the info that says how well an episode went, read at its end.
        recipe: how a learner meets the task; None: see `granular_gym.training.recipes`.
        features: where the class is that makes features of observations: "module:class"; None: see
            `granular_gym.training.features`.
        reward_threshold: mean return from which on the task counts as solved; None: not told. Of the tasks of this
            package what the scripted expert earns on the official episodes (docs/learning.md), in steps of .05.
    """

    task_path: str
    steps: int
    expert: str | None = None
    measure: str = "success"
    recipe: Recipe | None = None
    features: str | None = None
    reward_threshold: float | None = None


def _ours(
    module: str, name: str, steps: int, expert: str, measure: str, reward_threshold: float | None = None
) -> Entry:
    """The entry of a task in `envs`."""
    path = f"granular_gym.envs.{module}"
    return Entry(f"{path}:{name}", steps, f"{path}_expert:{expert}", measure, reward_threshold=reward_threshold)


_TASKS = {
    "granular_gym/Bulldozer-v0": _ours("bulldozer", "Bulldozer", 600, "BulldozerDrivers", "goal_share"),
    "granular_gym/Bulldozer-v1": _ours("bulldozer", "BulldozerV1", 600, "BulldozerDrivers", "goal_share", 0.9),
    "granular_gym/Excavator-v0": _ours("excavator", "Excavator", 600, "ScoopDrivers", "bin_share"),
    "granular_gym/Excavator-v1": _ours("excavator", "ExcavatorV1", 600, "ScoopDrivers", "bin_share", 0.65),
    "granular_gym/Silo-v0": _ours("silo", "Silo", 120, "SiloExperts", "dose_error"),
    "granular_gym/Silo-v1": _ours("silo", "SiloV1", 120, "SiloExperts", "dose_error", 0.75),
    "granular_gym/Level-v0": _ours("level", "Level", 300, "LevelExperts", "error_share"),
    "granular_gym/Level-v1": _ours("level", "LevelV1", 300, "LevelExperts", "error_share", 0.55),
    "granular_gym/GearTower-v0": _ours("gear_tower", "GearTower", 40, "GearTowerExperts", "mixing"),
    "granular_gym/GearTower-v1": _ours("gear_tower", "GearTowerV1", 40, "GearTowerExperts", "mixing", 0.65),
    "granular_gym/Pour-v0": _ours("pour", "Pour", 180, "PourExperts", "dose_error"),
    "granular_gym/Pour-v1": _ours("pour", "PourV1", 180, "PourExperts", "dose_error", 0.9),
    "granular_gym/ExcavatorForce-v0": _ours("excavator_force", "ExcavatorForce", 600, "ForceDrivers", "bin_share"),
    "granular_gym/AntOnSand-v0": _ours("ant", "AntOnSand", 800, "TrotExperts", "x_position"),
    "granular_gym/Dough-v0": _ours("dough", "Dough", 200, "DoughExperts", "error_share"),
}


def register(name: str, entry: Entry) -> None:
    """Makes a task known to Gymnasium and to this package; an entry of that name is replaced."""
    _TASKS[name] = entry
    gymnasium.registry.pop(name, None)
    gymnasium.register(
        id=name,
        entry_point=f"{entry.task_path}Env",
        vector_entry_point=f"{entry.task_path}VectorEnv",
        max_episode_steps=entry.steps,
        reward_threshold=entry.reward_threshold,
    )


def register_tasks() -> None:
    """Registers every task of this package once."""
    for name, entry in list(_TASKS.items()):
        if name not in gymnasium.registry:
            register(name, entry)


def task_ids() -> list[str]:
    """Names of all tasks in all versions."""
    return list(_TASKS)


def newest_ids() -> list[str]:
    """Names of all tasks, each in its newest version."""
    newest: dict[str, str] = {}
    for name in sorted(_TASKS, key=version):
        newest[unversioned(name)] = name
    return [name for name in _TASKS if name == newest[unversioned(name)]]


def unversioned(name: str) -> str:
    """The id of a task without its version: "granular_gym/Silo" of "granular_gym/Silo-v0"."""
    return name.rpartition("-v")[0]


def version(name: str) -> int:
    """The version in the id of a task: 0 in "granular_gym/Silo-v0"."""
    return int(name.rpartition("-v")[2])


def bare_id(name: str) -> str:
    """The id of a task without the module that registers it: "me/Sweep-v0" of "sweep:me/Sweep-v0"."""
    return name.rpartition(":")[2]


def short_name(name: str) -> str:
    """The id of a task without module and namespace, for files and titles: "Sweep-v0" of "sweep:me/Sweep-v0"."""
    return bare_id(name).rpartition("/")[2]


def task_id(name: str) -> str:
    """The full name of a task, as `gymnasium.make` takes it.

    Args:
        name: "Silo-v0" or in full, "granular_gym/Silo-v0"; "Silo", "silo": of its newest version. Of a task of one's
            own "module:id", as "sweep:me/Sweep-v0": the module is imported, and registers it (`register_task`).

    Returns:
        The id, behind the module where one was given: who gets the name in another process can import it again.

    Raises:
        ArgumentError: there is no such task, or no such module, or the module does not register it.
    """
    module, colon, given = checks.text("task", name).rpartition(":")
    if colon:
        _import_for(name, module)
    given = given.lower()
    known = {unversioned(task).lower(): task for task in newest_ids()} | {task.lower(): task for task in task_ids()}
    found = known.get(given) or known.get(NAMESPACE + given)
    if found is not None:
        return f"{module}{colon}{found}"
    if colon:
        raise ArgumentError(
            f"task: expected a module that registers the task with granular_gym.register_task, got {name!r}, but "
            f"{module} registers {names.listed(_ids_from(module)) or 'none'}"
        )
    raise names.unknown("task", name, [task.removeprefix(NAMESPACE) for task in task_ids()])


def _ids_from(module: str) -> list[str]:
    """The tasks whose class a module defines."""
    return [name for name, entry in _TASKS.items() if entry.task_path.partition(":")[0] == module]


def _import_for(name: str, module: str) -> None:
    """Imports the module that registers a task.

    Raises:
        ArgumentError: it, or what it imports, is not found. Other errors of the module are its own.
    """
    try:
        importlib.import_module(module)
    except (ImportError, ValueError, TypeError) as error:  # the last two: not the name of a module, as "" or "."
        raise ArgumentError(
            f"task: expected a module that can be imported before ':', got {name!r} ({error})"
        ) from error


def entry_of(name: str) -> Entry:
    """What is registered of a task.

    Args:
        name: its id, with or without the module that registers it.

    Raises:
        ArgumentError: there is no such task.
    """
    entry = _TASKS.get(bare_id(name))
    if entry is None:
        raise names.unknown("task", name, task_ids())
    return entry


def is_task(name: str) -> bool:
    """Whether a task is registered under an id, with or without the module that registers it."""
    return bare_id(name) in _TASKS


def id_at(task_path: str) -> str | None:
    """The id of the task registered from "module:name", see `Entry.task_path`; None: there is none."""
    return next((name for name, entry in _TASKS.items() if entry.task_path == task_path), None)


def loaded(path: str) -> Any:
    """What "module:name" stands for."""
    module, _, name = path.partition(":")
    return getattr(importlib.import_module(module), name)


def task_class(name: str) -> Any:
    """The class of a registered task, a subclass of `Task`."""
    return loaded(f"{entry_of(name).task_path}Task")


def parse_arguments(pairs: list[str]) -> dict[str, Any]:
    """Arguments of a task from texts "name=value"; a value is JSON, or else taken as text.

    Raises:
        ArgumentError: a text without "=".
    """
    arguments: dict[str, Any] = {}
    for pair in pairs:
        name, equals, value = pair.partition("=")
        if not equals or not name.isidentifier():
            raise ArgumentError(f"argument: expected name=value, got {pair!r}")
        try:
            arguments[name] = json.loads(value)
        except ValueError:
            arguments[name] = value
    return arguments
