"""snapshots.py: whether what a task is asked to go back to is what one like it has saved.

A saved task travels in pickles and checkpoints. All of it is checked before the task or its world changes.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from granular_gym.engine.state import State, joined
from granular_gym.errors import StateError

#: one entry per env
_LISTS: dict[str, tuple[str, tuple[type, ...]]] = {
    "world": ("a State", (State,)),
    "generators": ("a Generator or None", (np.random.Generator, type(None))),
    "seeds": ("an integer or None", (int, np.integer, type(None))),
}


def check_saved(
    saved: Any, env_count: int, arrays: Mapping[str, NDArray[Any]], episode: Mapping[str, NDArray[Any]]
) -> State:
    """Refuses what `Task.save` of such a task does not give.

    Args:
        saved: what came.
        env_count: of the task.
        arrays: of the task, by their names in `saved`; shapes and types must agree.
        episode: the same for the arrays in saved["episode"].

    Returns:
        The states of all envs as one.

    Raises:
        StateError: the message names the entry, what was expected and what came.
    """
    _check_keys("saved", saved, {*_LISTS, *arrays, "episode"})
    for name, (expected, types) in _LISTS.items():
        entries = saved[name]
        if not isinstance(entries, (list, tuple)) or len(entries) != env_count:
            raise StateError(f"saved[{name!r}]: expected a list of {env_count}, got {_described(entries)}")
        for k, entry in enumerate(entries):
            if not isinstance(entry, types) or (isinstance(entry, State) and entry.env_count != 1):
                raise StateError(f"saved[{name!r}][{k}]: expected {expected} of one env, got {_described(entry)}")
    _check_keys("saved['episode']", saved["episode"], set(episode))
    for mine, theirs in ((arrays, saved), (episode, saved["episode"])):
        for name, array in mine.items():
            there = theirs[name]
            if not isinstance(there, np.ndarray) or there.shape != array.shape or there.dtype.kind != array.dtype.kind:
                raise StateError(f"saved {name!r}: expected {_described(array)}, got {_described(there)}")
    return joined(saved["world"])


def _check_keys(name: str, value: Any, expected: set[str]) -> None:
    if not isinstance(value, dict) or set(value) != expected:
        got = sorted(map(str, value)) if isinstance(value, dict) else type(value).__name__
        raise StateError(f"{name}: expected a dict of {sorted(expected)}, got {got}")


def _described(value: Any) -> str:
    if isinstance(value, np.ndarray):
        return f"an array of {value.dtype} {value.shape}"
    return f"{type(value).__name__} of {len(value)}" if isinstance(value, (list, tuple)) else type(value).__name__
