"""silo_difficulty.py: how hard the programmes of the silo are."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Difficulty:
    """What makes a programme hard."""

    stages: int  # of constant rate
    rates: tuple[float, float]  # share of the content per second
    pause: bool  # one stage has rate 0
    duration: float  # [s] of the programme
    offset: float  # [m] of the receiver from the outlet at the start
    friction: tuple[float, float]  # between grains
    tolerance: float  # share of the content within which the dose must be met


DIFFICULTIES: Mapping[str, Difficulty] = {
    "easy": Difficulty(1, (0.12, 0.20), False, 3.5, 0.1, (0.35, 0.35), 0.04),
    "medium": Difficulty(3, (0.06, 0.20), False, 3.5, 0.4, (0.25, 0.45), 0.03),
    "hard": Difficulty(5, (0.05, 0.22), True, 4.0, 0.65, (0.2, 0.6), 0.02),
}
