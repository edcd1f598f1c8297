"""tasks.py: the tasks by name, as Gymnasium knows them. Entry points are strings: nothing is loaded early."""

from __future__ import annotations

from typing import Any

import gymnasium

from .errors import ArgumentError


def _task(module: str, name: str, steps: int, expert: str) -> tuple[dict[str, Any], str]:
    """What Gymnasium registers, and the scripted expert."""
    entry = f"granular_gym.envs.{module}:{name}"
    spec = {"entry_point": f"{entry}Env", "vector_entry_point": f"{entry}VectorEnv", "max_episode_steps": steps}
    return spec, f"granular_gym.{expert}"


_TASKS: dict[str, tuple[dict[str, Any], str]] = {
    "granular_gym/Bulldozer-v0": _task("bulldozer", "Bulldozer", 600, "experts:BulldozerDrivers"),
    "granular_gym/Excavator-v0": _task("excavator", "Excavator", 600, "excavator_expert:ScoopDrivers"),
    "granular_gym/Silo-v0": _task("silo", "Silo", 120, "silo_expert:SiloExperts"),
    "granular_gym/Level-v0": _task("level", "Level", 300, "level_expert:LevelExperts"),
    "granular_gym/GearTower-v0": _task("gear_tower", "GearTower", 40, "gear_tower_expert:GearTowerExperts"),
    "granular_gym/Pour-v0": _task("pour", "Pour", 180, "pour_expert:PourExperts"),
}


def register_tasks() -> None:
    """Registers every task once."""
    for name, (spec, _) in _TASKS.items():
        if name not in gymnasium.registry:
            gymnasium.register(id=name, **spec)


def task_ids() -> list[str]:
    """Names of all tasks."""
    return list(_TASKS)


def expert_of(name: str) -> str:
    """Where the scripted expert of a task is: "module:class".

    Raises:
        ArgumentError: there is no such task.
    """
    if name not in _TASKS:
        raise ArgumentError(f"task: expected one of {task_ids()}, got {name!r}")
    return _TASKS[name][1]
