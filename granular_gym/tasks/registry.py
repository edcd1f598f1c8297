"""registry.py: the tasks by name, as Gymnasium knows them. Entry points are strings: nothing is loaded early.

A task `XTask` is in `envs/MODULE.py`, beside the env classes `XEnv` and `XVectorEnv` that `env_classes` makes from it;
its scripted expert is in `envs/MODULE_expert.py`. A later version of it, `XV1Task`, is a subclass that overrides what
changed, in the same module; every version stays registered.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import gymnasium

from granular_gym.base import checks, names
from granular_gym.errors import ArgumentError

#: what the ids of tasks begin with
NAMESPACE = "granular_gym/"


@dataclass(frozen=True)
class Entry:
    """A registered task.

    Attributes:
        module: in `granular_gym.envs`, that holds the task and its env classes.
        name: of the task's class, without "Task".
        steps: after which an episode is truncated.
        expert: class of the scripted expert.
    """

    module: str
    name: str
    steps: int
    expert: str

    @property
    def task_path(self) -> str:
        """Where the task and its env classes are, without "Task", "Env" or "VectorEnv": "module:name"."""
        return f"granular_gym.envs.{self.module}:{self.name}"

    @property
    def expert_path(self) -> str:
        """Where the scripted expert is: "module:class"."""
        return f"granular_gym.envs.{self.module}_expert:{self.expert}"


_TASKS = {
    "granular_gym/Bulldozer-v0": Entry("bulldozer", "Bulldozer", 600, "BulldozerDrivers"),
    "granular_gym/Bulldozer-v1": Entry("bulldozer", "BulldozerV1", 600, "BulldozerDrivers"),
    "granular_gym/Excavator-v0": Entry("excavator", "Excavator", 600, "ScoopDrivers"),
    "granular_gym/Silo-v0": Entry("silo", "Silo", 120, "SiloExperts"),
    "granular_gym/Silo-v1": Entry("silo", "SiloV1", 120, "SiloExperts"),
    "granular_gym/Level-v0": Entry("level", "Level", 300, "LevelExperts"),
    "granular_gym/GearTower-v0": Entry("gear_tower", "GearTower", 40, "GearTowerExperts"),
    "granular_gym/GearTower-v1": Entry("gear_tower", "GearTowerV1", 40, "GearTowerExperts"),
    "granular_gym/Pour-v0": Entry("pour", "Pour", 180, "PourExperts"),
}


def register_tasks() -> None:
    """Registers every task once."""
    for name, entry in _TASKS.items():
        if name not in gymnasium.registry:
            gymnasium.register(
                id=name,
                entry_point=f"{entry.task_path}Env",
                vector_entry_point=f"{entry.task_path}VectorEnv",
                max_episode_steps=entry.steps,
            )


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


def task_id(name: str) -> str:
    """The full name of a task given as "Silo-v0" or in full; "Silo", "silo": of its newest version.

    Raises:
        ArgumentError: there is no such task; the message lists them.
    """
    checks.text("task", name)
    given = NAMESPACE + name.lower().removeprefix(NAMESPACE)
    known = {unversioned(task).lower(): task for task in newest_ids()} | {task.lower(): task for task in task_ids()}
    if given in known:
        return known[given]
    raise names.unknown("task", name, [task.removeprefix(NAMESPACE) for task in task_ids()])


def expert_of(name: str) -> str:
    """Where the scripted expert of a task is: "module:class".

    Raises:
        ArgumentError: there is no such task.
    """
    if name not in _TASKS:
        raise names.unknown("task", name, task_ids())
    return _TASKS[name].expert_path


def id_at(task_path: str) -> str | None:
    """The id of the task registered from "module:name", see `Entry.task_path`; None: there is none."""
    return next((name for name, entry in _TASKS.items() if entry.task_path == task_path), None)


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
