"""recipes.py: how a task is shown to a learner unless the user says otherwise; found by trying (docs/learning.md)."""

from __future__ import annotations

from typing import Any

from granular_gym.tasks.registry import unversioned

#: by task: versions differ in what they show, not in what they pay
_RECIPES: dict[str, dict[str, Any]] = {
    # 0.5 s per decision; paid for grains that come nearer to the goal or into it
    "granular_gym/Bulldozer": {"repeat": 5, "reward": "change", "scale": 0.3},
    # 0.1 s per decision
    "granular_gym/Silo": {"repeat": 2, "reward": "sum", "scale": 0.2},
}
#: what an algorithm wants besides: the critics of TD3 learn returns better where they are around 1
_SCALES = {("granular_gym/Bulldozer", "TD3"): 0.1}
#: how PPO explores: log of the first standard deviation per feature, decisions for which the noise keeps its direction.
#: A gate that is thrown open empties the silo at once and every try earns the same: small noise learns
_EXPLORATION = {"granular_gym/Silo": (-2.0, 4)}


def exploration(task: str) -> tuple[float, int]:
    """How PPO explores a task by default: log of the first standard deviation, decisions that the noise is held."""
    return _EXPLORATION.get(unversioned(task), (-0.5, 8))


def recipe(task: str, algorithm: str) -> dict[str, Any]:
    """Settings of a run that suit a task and an algorithm: "repeat", "reward", "scale"."""
    name = unversioned(task)
    found = dict(_RECIPES.get(name, {"repeat": 1, "reward": "sum", "scale": 1.0}))
    return {**found, "scale": _SCALES.get((name, algorithm), found["scale"])}
