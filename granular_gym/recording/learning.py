"""learning.py: datasets of Minari for the learners of this package, which learn from the task's state vector."""

from __future__ import annotations

from typing import Any

import numpy as np

from granular_gym.base.types import Arrays
from granular_gym.errors import ArgumentError
from granular_gym.recording.episode import (
    ACTIONS,
    INFOS,
    OBSERVATIONS,
    REWARDS,
    STATE_INFO,
    TERMINATIONS,
    TRUNCATIONS,
    Episode,
)
from granular_gym.recording.files import Dataset
from granular_gym.recording.players import kind_of
from granular_gym.tasks.state_vector import NAME as STATE
from granular_gym.training.batch import make_batch
from granular_gym.training.demonstrations import Demonstrations
from granular_gym.training.learner_env import LearnerEnv
from granular_gym.training.recipes import OF_A_RUN, recipe

#: arguments that say what is seen: learners see the state vector
_OF_SIGHT = ("observation", "depth", "reads_state", "sensor", "vision", "touch")


def demonstrations_of(dataset: Dataset) -> Demonstrations:
    """The episodes as `offline.make_learner` and `Demonstrations.save` take them.

    Rewards are scaled as the task's recipe does for learners of state vectors.

    Raises:
        ArgumentError: the dataset has no state vectors.
        StateError: the dataset is damaged.
    """
    task, given = dataset.about["task"], dataset.about["arguments"]
    left_out = (*_OF_SIGHT, *OF_A_RUN)
    arguments = {name: value for name, value in given.items() if name not in left_out} | {"observation": STATE}
    scale = recipe(task, "SAC", STATE)["scale"]
    env = LearnerEnv(make_batch(task, 1, {**arguments, "num_threads": 1}), repeat=1, reward="sum", scale=scale)
    about = env.about
    env.close()
    found = Demonstrations.of(about, [_steps(each, scale) for each in dataset.episodes()])
    more: dict[str, Any] = {
        "kind": kind_of(dataset.about["policy"], dataset.about["noise"]),
        "seed": dataset.about["seed"],
        "episodes": dataset.count,
        "mean_return": float(found.returns.mean() / scale),
        "arguments": arguments,
        "versions": {"granular_gym": dataset.about["version"]},
    }
    return Demonstrations({**about, **more}, found.steps, found.returns)


def _steps(episode: Episode, scale: float) -> Arrays:
    """An episode by the names of `Demonstrations.steps`."""
    fields = episode.fields
    # a dataset with observation="state" shows it; Pour has other images-with-"state", whose vector is an info
    states = fields.get(INFOS + STATE_INFO)
    if states is None and [name for name in fields if name.startswith(OBSERVATIONS)] == [OBSERVATIONS + STATE]:
        states = fields[OBSERVATIONS + STATE]
    if states is None:
        raise ArgumentError("dataset: expected one with state vectors, as `record` makes of a task that has them")
    ended = fields[TERMINATIONS] | fields[TRUNCATIONS]
    return {
        "observations": states[:-1],
        "actions": fields[ACTIONS],
        "labels": fields[ACTIONS],
        "rewards": (scale * fields[REWARDS]).astype(np.float32),
        "following": states[1:],
        "terminated": fields[TERMINATIONS],
        "ended": ended,
        "diverged": fields[INFOS + "diverged"][1:],
    }
