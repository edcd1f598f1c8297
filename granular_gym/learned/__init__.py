"""granular_gym.learned: simulators of grains that learn from pictures (docs/learned.md); the extra `learned`.

Names are loaded when they are asked for: those of data and measures need no torch.
"""

from __future__ import annotations

import importlib
from typing import Any

#: module of each public name
_MODULES = {
    "data": ("Dataset", "Episode"),
    "discrete_element": ("DiscreteElementLearner",),
    "evaluate": ("evaluate", "Report"),
    "models": ("make",),
    "render": ("Renderer",),
    "rollout": ("rollout", "Rollout"),
    "settings": ("Settings",),
    "simulator": ("Matter", "Scale", "Simulator", "State"),
    "checkpoints": ("load",),
    "export": ("export_law", "export_model"),
    "table": ("PairForces", "PairTable", "load_pair_table", "save_pair_table"),
    "train": ("Trainer",),
}
_HOMES = {name: module for module, names in _MODULES.items() for name in names}

__all__ = [
    *("Dataset", "DiscreteElementLearner", "Episode", "Matter", "Renderer", "Report", "Rollout", "Scale", "Settings"),
    *("PairForces", "PairTable", "Simulator", "State", "Trainer", "evaluate", "export_law", "export_model", "load"),
    *("load_pair_table", "make", "rollout", "save_pair_table"),
]


def __getattr__(name: str) -> Any:
    """A public name; raises MissingError where it needs torch and there is none."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_HOMES[name]}"), name)
