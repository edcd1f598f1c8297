"""demonstrations.py: episodes of a task's scripted expert, as a learner would have seen them, in memory or in a file.

What is played is the expert's action with a drifting disturbance, so that the episodes also show how it finds back;
what is learned from is the action it wanted to play (Laskey et al., "DART: noise injection for robust imitation
learning", 2017).
"""

from __future__ import annotations

import io
import json
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from granular_gym.base import cache, checks
from granular_gym.base.types import Arrays
from granular_gym.errors import ArgumentError, StateError
from granular_gym.tasks.expert import scripted_expert
from granular_gym.training.learner_env import LearnerEnv
from granular_gym.training.recipes import recipe_of

VERSION = 1
KEEP, KICK = 0.8, 0.6  # shares of the disturbance of a decision: the one before, and fresh unit normal noise
#: arrays of a file and the axes of each behind the step
_ARRAYS = {
    "observations": 1, "actions": 1, "labels": 1, "rewards": 0, "following": 1,
    "terminated": 0, "ended": 0, "diverged": 0,
}  # fmt: skip


@dataclass(frozen=True)
class Demonstrations:
    """Whole episodes, one after the other.

    Attributes:
        about: task, observation and pace they were recorded with: `LearnerEnv.about`.
        steps: arrays (n, ...) by name: what `Replay.add` takes, of one env.
        returns: (episodes,) of the task, as the learner is paid, undiscounted.
    """

    about: dict[str, Any]
    steps: Arrays
    returns: NDArray[np.float64]

    def check_for(self, env: LearnerEnv) -> None:
        """Refuses demonstrations that a learner in this batch would misunderstand.

        Raises:
            ArgumentError: recorded of another task or version, another observation, action or reward, or another pace.
        """
        wanted = env.about
        for name, value in wanted.items():
            got = self.about.get(name)
            if got != value:
                raise ArgumentError(f"demonstrations: expected {name} {value!r} as in training, got {got!r}")

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
            array.ndim == 1 + _ARRAYS[name] and len(array) == count for name, array in arrays.items()
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
    checks.integer("episodes", episodes, 1)
    most = recipe_of(env.batch.spec.id).disturbance if disturbance is None else disturbance
    checks.number("disturbance", most, 0.0)
    draw = np.random.default_rng([checks.integer("seed", seed, 0), 1])
    action_space: Any = env.action_space
    count, size = env.num_envs, int(action_space.shape[0])
    env.seed(seed)
    observations: Any = env.reset()
    expert = scripted_expert(env.batch)
    level, drift = draw.uniform(0.0, most, (count, 1)), np.zeros((count, size))
    rows: dict[int, list[tuple[Any, ...]]] = {number: [] for number in range(count)}  # of episodes that run, by number
    running, begun = list(range(count)), count
    done: dict[int, list[tuple[Any, ...]]] = {}
    while len(done) < episodes:
        labels = expert.act()
        drift = KEEP * drift + KICK * draw.normal(size=drift.shape)
        actions = np.clip(labels + level * drift, -1.0, 1.0).astype(np.float32)
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
            expert.reset(ends)
            level[ends], drift[ends] = draw.uniform(0.0, most, (int(ends.sum()), 1)), 0.0
        observations = following
    ordered = [done[number] for number in range(episodes)]
    columns = zip(*(row for episode in ordered for row in episode), strict=True)
    kinds = [np.float32] * 5 + [np.bool_] * 3
    steps = {name: np.array(column, kind) for name, column, kind in zip(_ARRAYS, columns, kinds, strict=True)}
    return Demonstrations(env.about, steps, np.array([sum(float(row[3]) for row in each) for each in ordered]))
