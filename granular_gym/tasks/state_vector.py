"""state_vector.py: what `observation="state"` shows: one vector of numbers that a small network learns from.

A task lists the entries of its vector; space, documentation and mirror image follow from the list.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from granular_gym import _core
from granular_gym.base.names import unknown
from granular_gym.base.types import Floats

#: entries are scaled to about -1 .. 1 and clipped to -LIMIT .. LIMIT
LIMIT = 3.0
NAME = "state"


@dataclass(frozen=True)
class Entry:
    """Numbers of the vector that belong together.

    Attributes:
        name: as the documentation calls them.
        meaning: of the numbers, with their scale.
        signs: of each number, what it is multiplied by where the scene is mirrored, left for right.
        order: which of the numbers takes the place of each in the mirror, before the signs; (): its own.
    """

    name: str
    meaning: str
    signs: tuple[int, ...]
    order: tuple[int, ...] = ()

    @property
    def size(self) -> int:
        """How many numbers."""
        return len(self.signs)


def mirrored_map(name: str, meaning: str, shape: tuple[int, int]) -> Entry:
    """An entry that is a map, row after row: its mirror image has each row backwards."""
    order = np.arange(shape[0] * shape[1]).reshape(shape)[:, ::-1].ravel()
    return Entry(name, meaning, (1,) * order.size, tuple(order.tolist()))


class StateVector:
    """The vector of a task.

    Args:
        entries: in their order.
        action_signs: what each action is multiplied by in the mirror; None: the task has no mirror image.
    """

    def __init__(self, entries: Sequence[Entry], action_signs: Sequence[int] | None = None) -> None:
        self.entries: tuple[Entry, ...] = tuple(entries)
        self.action_signs: NDArray[np.float32] | None = (
            None if action_signs is None else np.array(action_signs, np.float32)
        )
        self.size: int = sum(entry.size for entry in self.entries)

    @property
    def space(self) -> spaces.Box:
        """The space of the vector of one env."""
        return spaces.Box(-LIMIT, LIMIT, (self.size,), np.float32)

    def numbers_of(self, *names: str) -> list[int]:
        """Which numbers of the vector are the entries of these names.

        Raises:
            ArgumentError: there is no such entry.
        """
        first, spans = 0, {}
        for entry in self.entries:
            spans[entry.name] = range(first, first + entry.size)
            first += entry.size
        for name in names:
            if name not in spans:
                raise unknown("entry", name, list(spans))
        return [number for name in names for number in spans[name]]

    def joined(self, columns: Sequence[Floats]) -> NDArray[np.float32]:
        """The vectors (n, size) of n envs from the numbers of the entries, arrays (n,) or (n, k) in their order."""
        bound = np.full(self.size, LIMIT, np.float32)
        return _core.clipped(columns, -bound, bound)

    @cached_property
    def _mirror(self) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
        order: list[int] = []
        for entry in self.entries:
            first = len(order)
            order += [first + k for k in (entry.order or range(entry.size))]
        signs = [sign for entry in self.entries for sign in entry.signs]
        return np.array(order, np.int64), np.array(signs, np.float32)

    def mirrored(self, vectors: NDArray[np.float32]) -> NDArray[np.float32]:
        """Vectors (n, size) of the same scenes mirrored, left for right; `action_signs` mirrors the actions."""
        order, signs = self._mirror
        result: NDArray[np.float32] = vectors[:, order] * signs
        return result

    def table(self) -> str:
        """The entries as a table in Markdown."""
        lines, first = ["| entries | name | meaning |", "|---|---|---|"], 0
        for entry in self.entries:
            last = first + entry.size - 1
            span = f"{first}" if last == first else f"{first} .. {last}"
            lines.append(f"| {span} | {entry.name} | {entry.meaning} |")
            first = last + 1
        return "\n".join(lines)
