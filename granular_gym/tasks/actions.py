"""actions.py: checks what a user passes as actions, and finds those that can stay on a GPU; names their numbers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from granular_gym import _core
from granular_gym.base.checks import host_array
from granular_gym.base.names import unknown
from granular_gym.base.types import Floats
from granular_gym.errors import ArgumentError

#: ways a part of a task may move, as people who steer it see them
WAYS = ("forward", "left", "right", "up", "turn left", "turn right")


@dataclass(frozen=True)
class ActionPart:
    """What one number of an action moves, for people who steer.

    Attributes:
        name: in a few words, as "speed of the cup along x".
        way: where 1 moves it, one of WAYS; "": none of them fits.
        full: what 1 stands for, with its unit, as "0.6 m/s"; "": not told.
    """

    name: str
    way: str = ""
    full: str = ""

    def __post_init__(self) -> None:
        if self.way not in ("", *WAYS):
            raise unknown("way", self.way, WAYS)


def device_actions(name: str, actions: Any, shape: tuple[int, ...]) -> Any:
    """Actions on a GPU, off torch's graph.

    Raises:
        ArgumentError: wrong shape.
    """
    if tuple(actions.shape) != shape:
        raise ArgumentError(f"{name}: expected shape {shape}, got {tuple(actions.shape)}")
    return actions.detach() if hasattr(actions, "detach") else actions


def check_actions(
    name: str, actions: Any, space: spaces.Box, idle: NDArray[np.bool_], *, single: bool = False
) -> Floats:
    """Returns actions as a fresh float32 array (env_count, k), clipped to -1 .. 1, the bounds of every task's space.

    Args:
        name: what messages call the argument.
        actions: anything array-like of real numbers, on the host or a GPU, shape (env_count, k).
        space: Box of one env, shape (k,).
        idle: (env_count,) envs whose actions are not used: theirs may hold anything and read 0.
        single: the caller gave the action of one env, (k,): messages tell where in it.

    Raises:
        ArgumentError: not numbers, wrong shape, or NaN or infinity in an action that is used.
    """
    try:
        array = host_array(actions)
    except (TypeError, ValueError) as error:
        raise ArgumentError(f"{name}: expected an array of numbers, got {type(actions).__name__} ({error})") from None
    if array.dtype.kind not in "fiub":
        raise ArgumentError(f"{name}: expected real numbers, got dtype {array.dtype}")
    shape = (len(idle), *space.shape)
    if array.shape != shape:
        raise ArgumentError(f"{name}: expected shape {shape}, got {array.shape}")
    if np.count_nonzero(idle):
        array = np.where(idle[:, None], 0, array)
    clipped = _core.clip_actions(array)
    if clipped is None:
        index = tuple(int(i) for i in np.argwhere(~np.isfinite(array))[0])
        where = list(index[1:] if single else index)
        raise ArgumentError(f"{name}: expected finite numbers, got {array[index]} at {where}")
    return clipped
