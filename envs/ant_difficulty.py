"""ant_difficulty.py: what makes walking on sand hard."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

GRAIN_FRICTION = 0.5
VARIANTS = 3  # beds of each shape
#: shapes of the bed, each with the height of its waves [m] and how many fit into the patch along x and along y
BEDS: Mapping[str, tuple[float, tuple[int, int]]] = {
    "flat": (0.0, (1, 1)),
    "waves": (0.02, (2, 0)),
    "hills": (0.03, (1, 1)),
}


@dataclass(frozen=True)
class Difficulty:
    """What an episode draws, and what counts as success.

    Attributes:
        beds: shapes of the bed.
        yaw: the robot looks at most so far from the x axis [rad].
        friction: between grains.
        distance: that it must have walked along x at the end [m].
    """

    beds: tuple[str, ...]
    yaw: float
    friction: tuple[float, float]
    distance: float


SAND = (GRAIN_FRICTION, GRAIN_FRICTION)
DIFFICULTIES: Mapping[str, Difficulty] = {
    "easy": Difficulty(("flat",), 0.0, SAND, 5.0),
    "medium": Difficulty(("flat", "waves"), 0.1, SAND, 5.0),
    "hard": Difficulty(("flat", "waves", "hills"), 0.3, (0.3, 0.7), 5.0),
}
