"""episode.py: an episode as arrays: how it is played, and where two of them first differ.

Recording plays a policy, replaying plays the actions of an episode that was recorded; both come out of `play_episode`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from granular_gym.base.types import Arrays
from granular_gym.errors import ArgumentError

OBSERVATIONS, INFOS = "observations/", "infos/"
ACTIONS, REWARDS, TERMINATIONS, TRUNCATIONS = "actions", "rewards", "terminations", "truncations"
#: the info that holds the task's state vector, whatever the observation shows
STATE_INFO = "state_vector"


@dataclass(frozen=True)
class Episode:
    """A whole episode of n env steps.

    Attributes:
        seed: that `reset` was given.
        policy: who played it.
        fields: by name: "observations/NAME" and "infos/NAME" (n + 1, ...), the first of them after `reset`; "actions"
            (n, k) float32, "rewards" (n,) float64, "terminations" and "truncations" (n,) bool.
    """

    seed: int
    policy: str
    fields: Arrays

    def __len__(self) -> int:
        return len(self.fields[REWARDS])

    @property
    def total_return(self) -> float:
        """Sum of the rewards."""
        return float(self.fields[REWARDS].sum(dtype=np.float64))


def play_episode(
    env: Any,
    seed: int,
    policy: str,
    make_policy: Callable[[Any], Callable[[Any], Any]],
    *,
    steps: int | None = None,
    watch: Callable[[], None] | None = None,
) -> Episode:
    """Plays an episode to its end.

    Args:
        env: made by `gymnasium.make`; where its task reads the state vector (`reads_state`), it becomes an info.
        seed: of the episode, >= 0.
        policy: what the episode says who played it.
        make_policy: called with the env when it has been reset; gives actions for observations. A policy that has a
            `close` is closed at the end.
        steps: most env steps; None: up to the end.
        watch: called after the reset and after each step.

    Raises:
        ArgumentError: the policy gives no action of the task, or infos change their names on the way.
    """
    task = env.unwrapped.task
    observation, info = env.reset(seed=seed)
    env.action_space.seed(seed)
    rows: list[dict[str, Any]] = [_row(task, observation, info)]
    names = rows[0].keys()
    act = make_policy(env)
    paid: list[tuple[Any, ...]] = []
    done = False
    try:
        if watch is not None:
            watch()
        while not done and (steps is None or len(paid) < steps):
            action = _action(env, act(observation))
            observation, reward, terminated, truncated, info = env.step(action)
            rows.append(_row(task, observation, info))
            if rows[-1].keys() != names:
                raise ArgumentError(f"info: expected {sorted(names)} at every step, got {sorted(rows[-1])}")
            paid.append((action, reward, terminated, truncated))
            done = bool(terminated or truncated)
            if watch is not None:
                watch()
    finally:
        close = getattr(act, "close", None)
        if close is not None:
            close()
    actions, rewards, terminations, truncations = zip(*paid, strict=True)
    fields = {name: np.stack([np.asarray(row[name]) for row in rows]) for name in names}
    fields[ACTIONS] = np.stack(actions)
    fields[REWARDS] = np.array(rewards, np.float64)
    fields[TERMINATIONS], fields[TRUNCATIONS] = np.array(terminations, bool), np.array(truncations, bool)
    return Episode(seed, policy, fields)


def first_difference(recorded: Episode, played: Episode) -> tuple[int, str] | None:
    """The first step at which two episodes differ in any bit, and the field; None: they do not.

    Step k is the k-th call of `step`, 0 the reset. Where several fields differ at a step, actions are named before
    observations, these before infos, and rewards last. Fields that one of the episodes lacks differ at step 0.
    """
    found: list[tuple[int, int, str]] = []
    for name in {**recorded.fields, **played.fields}:
        first = _first_row(recorded.fields.get(name), played.fields.get(name))
        if first is not None:
            after_reset = name.startswith((OBSERVATIONS, INFOS))
            rank = 0 if name == ACTIONS else 1 if name.startswith(OBSERVATIONS) else 2 if after_reset else 3
            found.append((first if after_reset or first < 0 else first + 1, rank, name))
    if not found:
        return None
    step, _, name = min(found)
    return max(step, 0), name


def _first_row(one: NDArray[Any] | None, other: NDArray[Any] | None) -> int | None:
    """The first row in which two arrays differ; -1: they are not of the same kind; None: they are the same."""
    if one is None or other is None or one.dtype != other.dtype or one.shape[1:] != other.shape[1:]:
        return -1
    count = min(len(one), len(other))
    if one[:count].size:
        bits = [np.ascontiguousarray(array[:count]).reshape(count, -1).view(np.uint8) for array in (one, other)]
        differ = np.flatnonzero((bits[0] != bits[1]).any(axis=1))
        if len(differ):
            return int(differ[0])
    return None if len(one) == len(other) else count


def _row(task: Any, observation: Any, info: dict[str, Any]) -> dict[str, Any]:
    """What is seen at a step, by the names of the fields of an episode."""
    state = {INFOS + STATE_INFO: task.sense_state()[0]} if task.reads_state and not task.shows_state else {}
    seen = {OBSERVATIONS + name: part for name, part in observation.items()}
    return {**seen, **{INFOS + name: value for name, value in info.items()}, **state}


def _action(env: Any, action: Any) -> NDArray[np.float32]:
    """The action as the env plays it, so that what is recorded is what was played.

    Raises:
        ArgumentError: of another shape, or not finite numbers.
    """
    space = env.action_space
    try:
        array = np.asarray(action, np.float32)
    except (TypeError, ValueError) as error:
        raise ArgumentError(f"action: expected an array of numbers ({error})") from None
    if array.shape != space.shape or not np.isfinite(array).all():
        raise ArgumentError(f"action: expected {space.shape} finite numbers, got {action!r}")
    clipped: NDArray[np.float32] = np.clip(array, space.low, space.high)
    return clipped
