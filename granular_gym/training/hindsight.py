"""hindsight.py: episodes that were played, relabelled as if another goal had been drawn.

M. Andrychowicz et al., "Hindsight experience replay" (2017). What an early learner moves seldom comes near the goal of
its episode; of another goal, near where it came to lie, it has moved it there. Each episode that ends is relabelled for
one such goal, whole, and kept in a replay of its own: n-step returns, mirror images and checkpoints are those of any
other. The goal is that of a few drawn ones for which the episode earns most.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from granular_gym.base.types import Arrays
from granular_gym.errors import ArgumentError
from granular_gym.tasks.goals import BEFORE, FIRST, HindsightTask
from granular_gym.training.replay import Replay

#: goals that are drawn for an episode, one of which is taken
DRAWN = 8


def check(env: Any) -> None:
    """Refuses a batch whose experience cannot be relabelled.

    Raises:
        ArgumentError: the task has no goals or no state vector that can be computed for others, or a decision is paid
            for otherwise than the task pays for an env step.
    """
    task = env.batch.task
    if not isinstance(task, HindsightTask) or task.shows_images:
        raise ArgumentError(
            f"hindsight: expected 0, or observation='state' of a task whose vector can be computed for another goal, "
            f"got {env.about['task']} with observation={task.observation!r}"
        )
    if env.repeat != 1 or env.reward != "sum" or (task.frame_skip > 1 and BEFORE not in task.remembered):
        raise ArgumentError(
            "hindsight: expected repeat=1, reward='sum', and a task that pays for changes where frame_skip is above 1, "
            f"got repeat={env.repeat}, reward={env.reward!r}, frame_skip={task.frame_skip}"
        )


class Hindsight:
    """The memory of episodes with other goals.

    Args:
        env_count: envs that are played side by side.
        replay: of one env, where they are kept.
    """

    def __init__(self, env_count: int, replay: Replay) -> None:
        self.replay: Replay = replay
        self._running: list[list[tuple[NDArray[Any], ...]]] = [[] for _ in range(env_count)]

    def watch(self, env: Any, actions: NDArray[np.float32]) -> None:
        """Takes note of the states that decisions are made in, before they are played.

        Args:
            env: the batch, a `LearnerEnv`.
            actions: (env_count, k) decided on.
        """
        task = env.batch.task
        for rows, *row in zip(self._running, task.achieved_goal(), task.context(), actions, strict=True):
            rows.append(tuple(row))

    def end(self, env: Any, ended: NDArray[np.bool_], diverged: NDArray[np.bool_], draw: np.random.Generator) -> None:
        """Relabels the episodes that ended; those of envs that diverged are dropped.

        Args:
            env: the batch, a `LearnerEnv`.
            ended: (env_count,).
            diverged: (env_count,).
            draw: of the goals.
        """
        for k in np.flatnonzero(ended | diverged):
            rows, self._running[k] = self._running[k], []
            # the state after the last decision is not seen: the episode is relabelled up to the one before
            if len(rows) > 1 and not diverged[k]:
                self._relabel(env, rows, draw)

    def _relabel(self, env: Any, rows: list[tuple[NDArray[Any], ...]], draw: np.random.Generator) -> None:
        """Keeps an episode with another goal."""
        achieved, context, actions = (np.array(column) for column in zip(*rows, strict=True))
        task = env.batch.task
        goals = task.goals_near(draw, achieved, DRAWN)
        earlier = {BEFORE: achieved[:-1], FIRST: achieved[:1]}
        paid = env.scale * np.array([task.compute_reward(achieved[1:], goal, earlier) for goal in goals])
        best = int(paid.sum(axis=1).argmax())
        states = task.state_for(achieved, np.repeat(goals[best : best + 1], len(achieved), axis=0), context)
        ends = np.arange(len(states) - 1) == len(states) - 2
        self.replay.extend(_steps(states, actions, paid[best], ends))


def _steps(states: NDArray[Any], actions: NDArray[Any], paid: NDArray[Any], ends: NDArray[np.bool_]) -> Arrays:
    none = np.zeros(len(ends), bool)
    return {
        "observations": states[:-1],
        "actions": actions[:-1],
        "labels": actions[:-1],
        "rewards": paid.astype(np.float32),
        "following": states[1:],
        "terminated": none,
        "ended": ends,
        "diverged": none,
    }
