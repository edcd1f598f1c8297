"""demonstrations.py: episodes of a task as a learner would have seen them, in memory or in a file, and how they are
played.

With a scripted expert, what is played is its action with a drifting disturbance, so that the episodes also show how it
finds back; what is learned from is the action it wanted to play (Laskey et al., "DART: noise injection for robust
imitation learning", 2017).
"""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from granular_gym.base import cache, checks
from granular_gym.base.types import Arrays, Floats
from granular_gym.errors import ArgumentError, StateError
from granular_gym.tasks.expert import scripted_expert
from granular_gym.training.disturbance import Disturbance
from granular_gym.training.learner_env import LearnerEnv
from granular_gym.training.recipes import recipe_of

VERSION = 1
#: arrays of a file and the axes of each behind the step, where its rows are no records
_ARRAYS = {
    "observations": 1, "actions": 1, "labels": 1, "rewards": 0, "following": 1,
    "terminated": 0, "ended": 0, "diverged": 0,
}  # fmt: skip
#: what the task's own arguments are called in what demonstrations say of themselves
_ARGUMENTS = "task_arguments"


@dataclass(frozen=True)
class Demonstrations:
    """Whole episodes, one after the other.

    Attributes:
        about: task, observation, action, pace and reward they were recorded with: `LearnerEnv.about`; of a dataset also
            what `datasets.make_dataset` adds. Files of older versions name neither "actions" nor "task_arguments".
        steps: arrays (n, ...) by name: what `Replay.add` takes, of one env.
        returns: (episodes,) of the task, as the learner is paid, undiscounted.
    """

    about: dict[str, Any]
    steps: Arrays
    returns: NDArray[np.float64]

    @classmethod
    def of(cls, about: dict[str, Any], episodes: Sequence[Arrays]) -> Demonstrations:
        """From one episode or more, each arrays (n, ...) by the names of `steps`."""
        steps = {name: np.concatenate([episode[name] for episode in episodes]) for name in _ARRAYS}
        return cls(about, steps, np.array([episode["rewards"].sum(dtype=np.float64) for episode in episodes]))

    def check_for(self, about: Mapping[str, Any]) -> None:
        """Refuses demonstrations that a learner would misunderstand.

        Args:
            about: of the batch that is learned in, `LearnerEnv.about`.

        Raises:
            ArgumentError: recorded of another task or version, another observation, action or reward, or another pace,
                or with arguments of the task that change what its numbers mean; the message names what differs.
        """
        wanted = dict(about)
        arguments = wanted.pop(_ARGUMENTS, {})
        count = self.steps["actions"].shape[1] if "actions" in self.steps else wanted.get("actions")
        for name, value in wanted.items():
            got = self.about.get(name, count if name == "actions" else None)
            if got != value:
                raise ArgumentError(f"demonstrations: expected {name} {value!r} as in training, got {got!r}")
        known = self.about.get(_ARGUMENTS, self.about.get("arguments", {}))
        for name, value in arguments.items():
            if name in known and known[name] != value:
                raise ArgumentError(
                    f"demonstrations: expected the task's argument {name}={value!r} as in training, got {known[name]!r}"
                )

    def save(self, path: Path) -> Path:
        """Writes them to a file (NumPy's .npz), whole or not at all.

        Raises:
            OSError: it cannot be written.
        """
        buffer = io.BytesIO()
        about = json.dumps({"version": VERSION, **self.about})
        np.savez_compressed(buffer, about=np.array(about), returns=self.returns, **self.steps)  # type: ignore[arg-type]
        cache.write_atomic(path, buffer.getvalue())
        return path


def load(path: Path) -> Demonstrations:
    """Reads what `Demonstrations.save` wrote.

    Raises:
        StateError: there is no such file, it is damaged, or of another version.
    """
    try:
        with np.load(path, allow_pickle=False) as file:
            arrays = {name: file[name] for name in file.files}
        about = json.loads(str(arrays.pop("about")))
        version, returns = about.pop("version"), arrays.pop("returns")
        count = len(arrays["rewards"])
        whole = arrays.keys() == _ARRAYS.keys() and all(
            array.ndim == (1 if array.dtype.names else 1 + _ARRAYS[name]) and len(array) == count
            for name, array in arrays.items()
        )
    except FileNotFoundError:
        raise StateError(f"{path}: expected demonstrations, there is no such file") from None
    except (OSError, ValueError, KeyError, TypeError, AttributeError, EOFError, zipfile.BadZipFile) as error:
        raise StateError(f"{path}: expected whole demonstrations, they are damaged or cut short ({error})") from None
    if version != VERSION or not whole or not count:
        raise StateError(
            f"{path}: expected demonstrations of version {VERSION}, got version {version!r} or other arrays"
        )
    return Demonstrations(about, arrays, returns)


# playing -------------------------------------------------------------------------------------------------------------


class Player(Protocol):
    """Plays all envs of a batch."""

    def act(self) -> tuple[Floats, Floats]:
        """Actions that are played, and those that are learned from, each (env_count, k)."""

    def reset(self, ended: NDArray[np.bool_]) -> None:
        """New episodes have begun in the envs of a mask (env_count,)."""


class DisturbedExpert:
    """The scripted expert of a task; each episode draws its own strength of the disturbance.

    Args:
        batch: that it plays, whose episodes have begun.
        most: largest share of an action that is disturbed, >= 0.
        draw: of the disturbance.
    """

    def __init__(self, batch: Any, most: float, draw: np.random.Generator) -> None:
        self._expert = scripted_expert(batch)
        self._disturbance = Disturbance(batch.action_space.shape, most, draw)

    def act(self) -> tuple[Floats, Floats]:
        """Disturbed actions, and those that it wanted."""
        labels = self._expert.act()
        return self._disturbance.of(labels), labels

    def reset(self, ended: NDArray[np.bool_]) -> None:
        """Begins new episodes with new strengths."""
        self._expert.reset(ended)
        self._disturbance.reset(ended)


class RandomPlayer:
    """Actions drawn evenly from -1 .. 1, anew for each decision."""

    def __init__(self, batch: Any, draw: np.random.Generator) -> None:
        self._shape, self._draw = batch.action_space.shape, draw

    def act(self) -> tuple[Floats, Floats]:
        """The same actions twice: nobody wanted others."""
        actions = self._draw.uniform(-1.0, 1.0, self._shape)
        return actions, actions

    def reset(self, ended: NDArray[np.bool_]) -> None:
        """Nothing: actions do not depend on the episode."""


def collect(env: LearnerEnv, episodes: int, seed: int = 0, disturbance: float | None = None) -> Demonstrations:
    """Plays the task's scripted expert in a batch; its envs stand at the beginning of an episode afterwards.

    Args:
        env: the batch; the expert decides as often as the learner.
        episodes: how many, >= 1. Those that begin first count, so that short ones are not favoured.
        seed: of the episodes and of the disturbance, >= 0.
        disturbance: its largest share of an action, >= 0, up to which each episode draws its own; None: as the task's
            recipe says.

    Raises:
        ArgumentError: the task has no scripted expert, or an argument is not what it should be.
    """
    most = recipe_of(env.batch.spec.id).disturbance if disturbance is None else disturbance
    checks.number("disturbance", most, 0.0)
    return record(env, episodes, seed, lambda draw: DisturbedExpert(env.batch, most, draw))


def record(
    env: LearnerEnv, episodes: int, seed: int, make_player: Callable[[np.random.Generator], Player]
) -> Demonstrations:
    """Plays whole episodes in a batch; its envs stand at the beginning of an episode afterwards.

    Args:
        env: the batch.
        episodes: how many, >= 1. Those that begin first count, so that short ones are not favoured.
        seed: of the episodes and of what the player draws, >= 0.
        make_player: makes the player from its generator, when the first episodes have begun.

    Raises:
        ArgumentError: an argument is not what it should be.
    """
    checks.integer("episodes", episodes, 1)
    draw = np.random.default_rng([checks.integer("seed", seed, 0), 1])
    count = env.num_envs
    env.seed(seed)
    observations: Any = env.reset()
    player = make_player(draw)
    rows: dict[int, list[tuple[Any, ...]]] = {number: [] for number in range(count)}  # of episodes that run, by number
    running, begun = list(range(count)), count
    done: dict[int, list[tuple[Any, ...]]] = {}
    while len(done) < episodes:
        actions, labels = player.act()
        actions = actions.astype(np.float32)
        following: Any
        following, rewards, ends, infos = env.step(actions)
        for k in range(count):
            info, last = infos[k], following[k]
            if ends[k]:
                last = info["terminal_observation"]
            terminated = bool(ends[k] and not info["TimeLimit.truncated"])
            step = observations[k], actions[k], labels[k], rewards[k], last, terminated, bool(ends[k])
            rows[running[k]].append((*step, bool(info["diverged"])))
            if ends[k]:
                number = running[k]
                if number < episodes:
                    done[number] = rows.pop(number)
                running[k], begun = begun, begun + 1
                rows[running[k]] = []
        if ends.any():
            player.reset(ends)
        observations = following
    return Demonstrations.of(env.about, [_arrays(done[number]) for number in range(episodes)])


def _arrays(rows: list[tuple[Any, ...]]) -> Arrays:
    """An episode from its rows of values in the order of _ARRAYS."""
    kinds = [None, np.float32, np.float32, np.float32, None] + [np.bool_] * 3  # None: rows of observations, as they are
    columns = zip(*rows, strict=True)
    return {
        name: np.stack(column) if kind is None else np.array(column, kind)
        for name, column, kind in zip(_ARRAYS, columns, kinds, strict=True)
    }
