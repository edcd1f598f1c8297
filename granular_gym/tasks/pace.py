"""pace.py: how finely an env step is computed, from the size and the speed of the grains.

The volume of the grains does not depend on their number, so that one task can be learned with few coarse grains and
then with many fine ones (`GRAIN_LADDER`); spaces, geometry, goals and rewards stay the same.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

#: numbers of grains of a coarse-to-fine curriculum
GRAIN_LADDER = (100, 500, 2000, 10_000, 50_000)
GRAIN_LIMIT = 200_000


def grain_radius(grain_count: int, radius_of_2000: float) -> float:
    """Radius that keeps the volume of all grains at any number of them [m].

    Args:
        grain_count: number of grains.
        radius_of_2000: radius where there are 2,000 [m].
    """
    result: float = radius_of_2000 * (2000.0 / grain_count) ** (1.0 / 3.0)
    return result


@dataclass(frozen=True)
class Pace:
    """How finely an env step is computed.

    Attributes:
        dt: time step [s].
        substeps: time steps per env step.
        iterations: of the contact solver per time step, at most.
        tolerance: the solver stops once no velocity changes by more than this [m/s]; 0: never.
    """

    dt: float
    substeps: int
    iterations: int
    tolerance: float = 0.0


@dataclass(frozen=True)
class Preset:
    """Limits that a pace keeps.

    Attributes:
        longest: largest time step [s].
        share: of a radius that the fastest grain may move in a time step.
        iterations: of the contact solver per time step, at most.
        tolerance: the solver stops once no velocity changes by more than this [m/s]; 0: never.
    """

    longest: float
    share: float
    iterations: int
    tolerance: float = 0.0

    def pace(self, period: float, radius: float, speed: float) -> Pace:
        """The coarsest pace within the limits.

        Walls are promised to hold grains while none moves by more than half a radius per substep, so the time step
        follows from the size of the grains and from the fastest speed the task expects.

        Args:
            period: length of an env step [s].
            radius: of the grains [m].
            speed: of the fastest grain that is expected [m/s].
        """
        substeps = math.ceil(period / min(self.longest, self.share * radius / speed) - 1e-9)
        return Pace(period / substeps, substeps, self.iterations, self.tolerance)


#: "train": for learners, whose policies then play in "fast". With as many iterations as a bed of grains can need that
#: are expected to move at 1.5 m/s or faster (`granular_gym.engine.solver.STEP_RULES`); the tolerance ends most steps
#: after a few
PRESETS = {
    "train": Preset(1e-2, 0.5, 17, 0.03),
    "fast": Preset(5e-3, 0.5, 12),
    "accurate": Preset(1e-3, 0.25, 10),
}
