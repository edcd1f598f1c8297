"""registry.py: the tasks by name, as Gymnasium knows them. Entry points are strings: nothing is loaded early."""

from __future__ import annotations

import json
from typing import Any

import gymnasium

from granular_gym.base import checks
from granular_gym.errors import ArgumentError

#: what the names of tasks begin with
SPACE = "granular_gym/"


def _task(module: str, name: str, steps: int, expert: str) -> tuple[dict[str, Any], str]:
    """What Gymnasium registers, and the scripted expert."""
    entry = f"granular_gym.envs.{module}:{name}"
    spec = {"entry_point": f"{entry}Env", "vector_entry_point": f"{entry}VectorEnv", "max_episode_steps": steps}
    return spec, f"granular_gym.envs.{module}_expert:{expert}"


_TASKS: dict[str, tuple[dict[str, Any], str]] = {
    "granular_gym/Bulldozer-v0": _task("bulldozer", "Bulldozer", 600, "BulldozerDrivers"),
    "granular_gym/Excavator-v0": _task("excavator", "Excavator", 600, "ScoopDrivers"),
    "granular_gym/Silo-v0": _task("silo", "Silo", 120, "SiloExperts"),
    "granular_gym/Level-v0": _task("level", "Level", 300, "LevelExperts"),
    "granular_gym/GearTower-v0": _task("gear_tower", "GearTower", 40, "GearTowerExperts"),
    "granular_gym/Pour-v0": _task("pour", "Pour", 180, "PourExperts"),
}


def register_tasks() -> None:
    """Registers every task once."""
    for name, (spec, _) in _TASKS.items():
        if name not in gymnasium.registry:
            gymnasium.register(id=name, **spec)


def task_ids() -> list[str]:
    """Names of all tasks."""
    return list(_TASKS)


def task_id(name: str) -> str:
    """The full name of a task given as "Silo-v0", "Silo", "silo" or in full.

    Raises:
        ArgumentError: there is no such task; the message lists them.
    """
    checks.text("task", name)
    for known in task_ids():
        short = known.removeprefix(SPACE)
        if name.lower() in (known.lower(), short.lower(), short.rpartition("-")[0].lower()):
            return known
    raise ArgumentError(f"task: expected one of {', '.join(task_ids())}, got {name!r}")


def expert_of(name: str) -> str:
    """Where the scripted expert of a task is: "module:class".

    Raises:
        ArgumentError: there is no such task.
    """
    if name not in _TASKS:
        raise ArgumentError(f"task: expected one of {task_ids()}, got {name!r}")
    return _TASKS[name][1]


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
