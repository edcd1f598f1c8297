"""datasets.py: datasets of a task for learners that do not play: what kinds there are, and files of them by one call.

A dataset is a `demonstrations.Demonstrations` in which what is learned from are the actions that were played. Env,
observation and pace are those with which the task's recipe trains SAC, so that its files serve SAC, too.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from granular_gym.base import checks
from granular_gym.errors import ArgumentError
from granular_gym.tasks.registry import task_class, task_id
from granular_gym.training.policies import of_training

#: episodes that are played unless the caller says otherwise
EPISODES = 32


@dataclass(frozen=True)
class Kind:
    """Where the episodes of a dataset come from.

    Attributes:
        meaning: in a few words.
        source: "module:name" of the function that makes it from a Request; the module needs the `train` extra.
        options: fields of a Request that it takes besides task, kind and episodes.
    """

    meaning: str
    source: str
    options: tuple[str, ...]


_SOURCES = "granular_gym.training.sources"
KINDS = {
    "expert": Kind("of the scripted expert", f"{_SOURCES}:expert", ("seed", "arguments")),
    "noisy": Kind("of the expert, disturbed", f"{_SOURCES}:noisy", ("seed", "disturbance", "arguments")),
    "replay": Kind("that a run of SAC played and kept", f"{_SOURCES}:replay", ("run",)),
    "random": Kind("of actions drawn evenly", f"{_SOURCES}:uniform", ("seed", "arguments")),
}


@dataclass(frozen=True)
class Request:
    """What a dataset shall hold.

    Attributes:
        task: id of a task with a state vector.
        kind: one of KINDS.
        episodes: whole episodes, >= 1; None: EPISODES, of a replay all. Of a replay the newest count.
        seed: of episodes and actions, >= 0; None: 0.
        disturbance: of the kind "noisy", its largest share of an action, >= 0; None: as the task's recipe says.
        run: of the kind "replay", folder or checkpoint of a run of SAC on the task's state vector. It is a pickle: name
            only runs that you trust.
        arguments: of the task, other than those of its recipe.

    Raises:
        ArgumentError: a value that makes no sense, or an option that is missing or that the kind does not take.
    """

    task: str
    kind: str
    episodes: int | None = None
    seed: int | None = None
    disturbance: float | None = None
    run: Path | None = None
    arguments: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        checks.choice("kind", self.kind, tuple(KINDS))
        object.__setattr__(self, "task", task_id(self.task))
        if task_class(self.task).state_vector is None:
            raise ArgumentError(f"task: expected one with a state vector, got {self.task!r}")
        if self.episodes is not None:
            checks.integer("episodes", self.episodes, 1)
        if self.seed is not None:
            checks.integer("seed", self.seed, 0)
        if self.disturbance is not None:
            checks.number("disturbance", self.disturbance, 0.0)
        takes = KINDS[self.kind].options
        for name in ("seed", "disturbance", "run", "arguments"):
            given = getattr(self, name)
            if name not in takes and given not in (None, {}):
                raise ArgumentError(f"{name}: expected none for a dataset of kind {self.kind!r}, got {str(given)!r}")
        if "run" in takes and self.run is None:
            raise ArgumentError(f"run: expected the folder of a run of SAC for kind {self.kind!r}, got none")


def make_dataset(request: Request) -> Any:
    """The dataset that was asked for.

    Returns:
        A `demonstrations.Demonstrations`. Its `about` also has "kind", "seed", "episodes", "mean_return" (of the task,
        undiscounted), "arguments" of the task, "versions" of the packages, and what is peculiar to its kind.

    Raises:
        ArgumentError: the task has no scripted expert, the run is of another task, or has fewer whole episodes.
        StateError: the run is missing, damaged, or not of SAC on the task's state vector.
        GranularError: the `train` extra is not installed.
    """
    return of_training(KINDS[request.kind].source)(request)


def write_dataset(request: Request, path: Path) -> Any:
    """Makes a dataset and writes it to a file (NumPy's .npz), whole or not at all.

    Raises:
        ArgumentError: the file cannot lie there; said before anything is played. Else as `make_dataset`.
        OSError: the disk is full.
    """
    folder = path.parent
    if path.is_dir() or not folder.is_dir() or not os.access(folder, os.W_OK):
        raise ArgumentError(f"out: expected a file in a folder that exists and can be written to, got {str(path)!r}")
    dataset = make_dataset(request)
    dataset.save(path)
    return dataset
