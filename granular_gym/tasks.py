"""tasks.py: the tasks by name, as Gymnasium knows them. Entry points are strings: nothing is loaded early."""

from __future__ import annotations

from typing import Any

import gymnasium

_TASKS: dict[str, dict[str, Any]] = {
    "granular_gym/Bulldozer-v0": {
        "entry_point": "granular_gym.envs.bulldozer:BulldozerEnv",
        "vector_entry_point": "granular_gym.envs.bulldozer:BulldozerVectorEnv",
        "max_episode_steps": 600,
    },
    "granular_gym/Excavator-v0": {
        "entry_point": "granular_gym.envs.excavator:ExcavatorEnv",
        "vector_entry_point": "granular_gym.envs.excavator:ExcavatorVectorEnv",
        "max_episode_steps": 600,
    },
}


def register_tasks() -> None:
    """Registers every task once."""
    for name, spec in _TASKS.items():
        if name not in gymnasium.registry:
            gymnasium.register(id=name, **spec)
