"""recipes.py: the recipes of the tasks of this package, found by trying (docs/learning.md); others bring theirs."""

from __future__ import annotations

from typing import Any

from granular_gym.errors import ArgumentError
from granular_gym.tasks.recipe import Recipe
from granular_gym.tasks.registry import bare_id, entry_of, task_class
from granular_gym.tasks.state_vector import NAME as STATE
from granular_gym.tasks.task import BOTH, PIXELS

_RECIPES = {
    # 0.5 s per decision; paid for grains that come nearer to the goal or into it
    "granular_gym/Bulldozer-v0": Recipe(repeat=5, reward="change", scale=0.3),
    "granular_gym/Bulldozer-v1": Recipe(
        repeat=5,
        scale=30.0,
        gaze={"above": ("sky", "goal_mask"), "ahead": ("ego",)},
        pixels={
            "teacher": "bulldozer-sac",
            "value_weight": 0.0,
            "demonstrations": 64,
            "batch": 128,
            "capacity": 20_000,
        },
    ),
    # 0.1 s per decision
    "granular_gym/Silo-v0": Recipe(repeat=2, scale=0.2),
    # 100 grains flow in jerks: the expert itself keeps to the programme half as well as with 300
    "granular_gym/Silo-v1": Recipe(repeat=2, scale=24.0, grain_count=300),
    "granular_gym/Excavator-v0": Recipe(repeat=2),
    "granular_gym/GearTower-v0": Recipe(repeat=2),
    "granular_gym/Level-v0": Recipe(repeat=2),
    "granular_gym/Pour-v0": Recipe(repeat=2),
    # paid as in v0
    # the tip of an arm of seven joints goes astray with less noise than a vehicle, and with critics that weigh as much
    # as the demonstrations
    "granular_gym/Excavator-v1": Recipe(
        repeat=2,
        scale=20.0,
        disturbance=0.1,
        grain_count=300,
        sac={"demonstrations": 150, "epochs": 100, "width": 256, "value_weight": 0.0},
    ),
    # 100 grains are too large to fit between the gears
    "granular_gym/GearTower-v1": Recipe(repeat=2, scale=50.0, grain_count=300),
    "granular_gym/Level-v1": Recipe(repeat=2, scale=100.0),
    "granular_gym/Pour-v1": Recipe(repeat=2, scale=100.0),
    # as the figures of docs/tasks/Dough-v0.md were made; others of noise were not tried
    "granular_gym/Dough-v0": Recipe(repeat=2, disturbance=0.0, grain_count=200),
}
#: what an algorithm wants besides: the critics of TD3 learn returns better where they are around 1
_SCALES = {("granular_gym/Bulldozer-v0", "TD3"): 0.1, ("granular_gym/Bulldozer-v1", "TD3"): 10.0}
#: arguments that belong to a run, not to what is learned or recorded: results are the same with any
OF_A_RUN = ("num_threads", "device")
#: of learners of state vectors: a perfect episode pays about 10
_VECTOR_SCALE = 10.0
#: what policies are compared on, whatever they were trained with
OFFICIAL: dict[str, Any] = {"grain_count": 300, "preset": "fast"}
#: episodes of it, and the seed of the first: far from those of training
EPISODES = 20
FIRST_SEED = 100_000


def recipe_of(task: str) -> Recipe:
    """The recipe of a task: its own, see `register_task`, or that of this package's table, or the default.

    Args:
        task: id, see `task_id`.
    """
    entry = entry_of(task)
    return entry.recipe or _RECIPES.get(bare_id(task), Recipe())


def recipe(task: str, algorithm: str, observation: str | None = None) -> dict[str, Any]:
    """Settings of a run that suit a task and an algorithm: "repeat", "reward", "scale", "arguments" of the task, and
    "privileged" where the learner has the state vector beside the pixels that its policy sees.

    Args:
        task: id, see `task_id`.
        algorithm: a key of `policies.ALGORITHMS`.
        observation: of the task; None: its state vector where it has one, else its images.

    Raises:
        ArgumentError: an observation that no policy is to see.
    """
    found = recipe_of(task)
    if observation == BOTH:
        raise ArgumentError(f"observation: expected {PIXELS!r}, of which SAC has the vector as well, got {BOTH!r}")
    looks = observation == PIXELS and algorithm == "SAC" and bool(found.gaze)
    if looks or (observation in (None, STATE) and task_class(task).state_vector is not None):
        shown = PIXELS if looks else STATE
        arguments = {"observation": shown, "grain_count": found.grain_count, "frame_skip": found.repeat}
        how = {"privileged": True} if looks else {}
        return {"repeat": 1, "reward": "sum", "scale": _VECTOR_SCALE, "arguments": arguments, **how}
    scale = _SCALES.get((bare_id(task), algorithm), found.scale)
    return {"repeat": found.repeat, "reward": found.reward, "scale": scale, "arguments": {"grain_count": 300}}
