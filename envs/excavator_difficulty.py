"""excavator_difficulty.py: what makes an episode of the excavator hard."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

GRAIN_FRICTION = 0.5
HOME_JITTER = 0.08  # [rad]
BEDS = ("flat", "ridge", "slope")  # shapes the grains are poured in


@dataclass(frozen=True)
class Difficulty:
    """What an episode draws, and what counts as success.

    Attributes:
        bin_half: half the side of the bin, inside [m].
        bin_height: of its walls [m].
        azimuth: range of the bin's direction from the base [rad].
        distance: range of its distance [m].
        both_sides: the bin may stand left or right of the tray.
        beds: shapes of the bed.
        jitter: of the arm's first posture [rad].
        friction: between grains.
        share: of the grains that must be in the bin at the end.
        spill: share of the grains that may lie on the table.
    """

    bin_half: float
    bin_height: float
    azimuth: tuple[float, float]
    distance: tuple[float, float]
    both_sides: bool
    beds: tuple[str, ...]
    jitter: float
    friction: tuple[float, float]
    share: float
    spill: float


SAND = (GRAIN_FRICTION, GRAIN_FRICTION)
DIFFICULTIES: Mapping[str, Difficulty] = {
    "easy": Difficulty(0.14, 0.08, (1.5, 1.5), (0.48, 0.48), False, ("flat",), 0.0, SAND, 0.08, 0.05),
    "medium": Difficulty(0.12, 0.12, (1.25, 1.75), (0.45, 0.51), True, BEDS, HOME_JITTER, SAND, 0.10, 0.05),
    "hard": Difficulty(0.10, 0.18, (1.15, 2.05), (0.43, 0.52), True, BEDS, 2 * HOME_JITTER, SAND, 0.12, 0.03),
}
