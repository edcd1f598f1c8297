"""replay.py: the experience of a batch of envs, from which n-step returns are drawn.

Steps lie in a ring, those of all envs side by side. A transition goes over up to n steps of one env: it ends early
where the episode does, or at the newest step. Steps of an env that diverged are kept out.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from granular_gym.base import checks
from granular_gym.base.types import Arrays, Floats
from granular_gym.errors import ArgumentError
from granular_gym.tasks.state_vector import StateVector
from granular_gym.training.rows import Mirror, Rows, kind_of, vectors_of


class Transitions(NamedTuple):
    """What a learner trains on, arrays of m rows.

    Attributes:
        observations: (m,) rows.
        actions: (m, a) that were played.
        labels: (m, a) that a teacher would have played; where there was none the actions.
        rewards: (m,) discounted sums over the steps of each transition.
        following: (m,) rows of observations after them.
        discounts: (m,) what the value of those is multiplied by; 0 where the episode was terminated.
    """

    observations: Rows
    actions: Floats
    labels: Floats
    rewards: Floats
    following: Rows
    discounts: Floats


class Replay:
    """A ring of steps.

    Args:
        capacity: steps of all envs together that are kept, at least two of each.
        env_count: envs that are added side by side.
        observation: the type of a row of observations.
        action_size: numbers of an action.
        discount: per step, 0 .. 1.
        steps: n of the n-step returns, >= 1.
    """

    def __init__(
        self, capacity: int, env_count: int, observation: np.dtype[Any], action_size: int, discount: float, steps: int
    ) -> None:
        rows = max(checks.integer("capacity", capacity, 1) // env_count, 2)
        self.discount: float = checks.number("discount", discount, 0.0, 1.0)
        self.steps: int = checks.integer("steps", steps, 1)
        self._observations: Rows = np.zeros((rows, env_count), observation)
        self._actions = np.zeros((rows, env_count, action_size), np.float32)
        self._labels = np.zeros((rows, env_count, action_size), np.float32)
        self._rewards = np.zeros((rows, env_count), np.float32)
        self._terminated = np.zeros((rows, env_count), bool)
        self._ended = np.zeros((rows, env_count), bool)  # what follows belongs to another episode
        self._usable = np.zeros((rows, env_count), bool)
        self._last: dict[tuple[int, int], Any] = {}  # observations at the end of episodes, by row and env
        self._newest: Rows = np.zeros(env_count, observation)  # observations after the newest step
        self._added = 0
        self.skipped: int = 0  # steps of envs that diverged

    @classmethod
    def of(cls, steps: Arrays, discount: float, n_steps: int) -> Replay:
        """All steps of episodes that lie one after the other.

        Args:
            steps: arrays (n, ...) by the names of the arguments of `add`.
            discount: per step, 0 .. 1.
            n_steps: n of the n-step returns, >= 1.
        """
        count, seen = len(steps["rewards"]), kind_of(steps["observations"])
        replay = cls(count, 1, seen, steps["actions"].shape[1], discount, n_steps)
        replay.extend(steps)
        return replay

    def extend(self, steps: Arrays) -> None:
        """Adds steps that follow one another, of a replay of one env.

        Args:
            steps: arrays (n, ...) by the names of the arguments of `add`.
        """
        for k in range(len(steps["rewards"])):
            self.add(**{name: values[k : k + 1] for name, values in steps.items()})

    def __len__(self) -> int:
        """Steps of all envs together that are kept."""
        return min(self._added, len(self._rewards)) * self._rewards.shape[1]

    def add(
        self,
        observations: Rows,
        actions: Floats,
        labels: Floats,
        rewards: Floats,
        following: Rows,
        terminated: NDArray[np.bool_],
        ended: NDArray[np.bool_],
        diverged: NDArray[np.bool_],
    ) -> None:
        """Adds a step of every env.

        Args:
            observations: (env_count,) rows.
            actions: (env_count, a).
            labels: (env_count, a).
            rewards: (env_count,).
            following: (env_count,) rows after the step; where an episode ended its last observation.
            terminated: (env_count,) by the rules of the task: the state has no value any more.
            ended: (env_count,) the episode is over, for whatever reason.
            diverged: (env_count,) the env is no longer finite: the step is counted, not kept.
        """
        row, before = self._added % len(self._rewards), (self._added - 1) % len(self._rewards)
        broken = diverged | ~np.isfinite(rewards) | ~np.isfinite(vectors_of(following)).all(axis=1)
        kind = self._observations.dtype
        for env in range(len(ended)):
            self._last.pop((row, env), None)
            if ended[env] and not broken[env]:
                self._last[row, env] = np.array(following[env], kind)
            elif broken[env] and self._added and not self._ended[before, env]:
                # the episode ends a step earlier, at the last observation that can be trusted
                self._ended[before, env] = True
                self._last[before, env] = np.array(observations[env], kind)
        self._observations[row], self._actions[row], self._labels[row] = observations, actions, labels
        self._rewards[row] = np.where(broken, 0.0, rewards)
        self._terminated[row], self._ended[row], self._usable[row] = terminated, ended | broken, ~broken
        self._newest[:] = following
        self._newest[broken] = np.zeros((), kind)
        self._added += 1
        self.skipped += int(broken.sum())

    @property
    def added(self) -> int:
        """Steps of all envs together that were ever added, those that the ring has lost included."""
        return self._added * self._rewards.shape[1]

    @property
    def usable(self) -> bool:
        """Whether there is a step to draw: one that is kept, of an env that had not diverged."""
        return bool(self._usable.any())

    def sample(self, draw: np.random.Generator, count: int) -> Transitions:
        """`count` transitions, each step as likely as every other.

        Raises:
            ArgumentError: there is no step to draw, see `usable`.
        """
        if not self.usable:
            raise ArgumentError(f"replay: expected a step of an env that had not diverged, got none of {len(self)}")
        rows, envs = len(self._rewards), self._rewards.shape[1]
        kept, newest = min(self._added, rows), (self._added - 1) % rows
        first, env = draw.integers(0, kept, count), draw.integers(0, envs, count)
        while (bad := ~self._usable[first, env]).any():
            first[bad], env[bad] = draw.integers(0, kept, bad.sum()), draw.integers(0, envs, bad.sum())
        rewards, discounts, last = np.zeros(count), np.ones(count), first.copy()
        running = np.ones(count, bool)
        for step in range(self.steps):
            row = (first + step) % rows
            last = np.where(running, row, last)
            rewards += np.where(running, self.discount**step * self._rewards[row, env], 0.0)
            discounts = np.where(running, self.discount ** (step + 1), discounts)
            running &= ~self._ended[row, env] & (row != newest)
        following = self._observations[(last + 1) % rows, env]
        following[last == newest] = self._newest[env[last == newest]]
        for k in np.flatnonzero(self._ended[last, env]):
            following[k] = self._last[int(last[k]), int(env[k])]
        discounts[self._terminated[last, env]] = 0.0
        return Transitions(
            self._observations[first, env],
            self._actions[first, env],
            self._labels[first, env],
            rewards.astype(np.float32),
            following,
            discounts.astype(np.float32),
        )

    def episodes(self) -> list[Arrays]:
        """Whole episodes that are kept, in the order in which they ended.

        Left out are those whose beginning the ring has lost, those that still run, and those cut short by an env that
        diverged.

        Returns:
            Of each, arrays (n, ...) by the names of the arguments of `add`.
        """
        rows, envs = self._rewards.shape
        kept = min(self._added, rows)
        order = np.arange(self._added - kept, self._added) % rows
        found: list[tuple[int, int, NDArray[np.int64]]] = []
        for env in range(envs):
            usable = self._usable[order, env]
            first = 0 if self._added <= rows else kept  # beyond: no step is known to begin an episode
            for last in np.flatnonzero(self._ended[order, env]).tolist():
                if usable[first : last + 2].all() and first <= last:
                    found.append((last, env, order[first : last + 1]))
                first = last + 1
        return [self._episode(chosen, env) for _, env, chosen in sorted(found, key=lambda one: one[:2])]

    def _episode(self, rows: NDArray[np.int64], env: int) -> Arrays:
        observations, last = self._observations[rows, env], int(rows[-1])
        return {
            "observations": observations,
            "actions": self._actions[rows, env],
            "labels": self._labels[rows, env],
            "rewards": self._rewards[rows, env],
            "following": np.concatenate([observations[1:], self._last[last, env][None]]),
            "terminated": self._terminated[rows, env],
            "ended": self._ended[rows, env],
            "diverged": ~self._usable[rows, env],
        }


#: fields of Transitions that a mirror changes
_OBSERVATIONS, _ACTIONS = ("observations", "following"), ("actions", "labels")


def half_mirrored(draw: np.random.Generator, mirror: StateVector | Mirror | None, **fields: Rows) -> list[Rows]:
    """Copies of arrays of rows, in their order, each row with even odds mirrored, left for right.

    Args:
        draw: decides which rows.
        mirror: of the observations; None or without signs of actions: nothing is mirrored.
        fields: by the names of `Transitions`, one or more; rewards and discounts are those of the mirror image as well.
    """
    if mirror is None or mirror.action_signs is None:
        return [np.ascontiguousarray(array) for array in fields.values()]
    half = draw.random(len(next(iter(fields.values())))) < 0.5
    turned = []
    for name, array in fields.items():
        if name in _OBSERVATIONS or name in _ACTIONS:
            array = array.copy()
            array[half] = array[half] * mirror.action_signs if name in _ACTIONS else mirror.mirrored(array[half])
        turned.append(np.ascontiguousarray(array))
    return turned
