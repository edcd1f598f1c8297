"""matter.py: what the bed of a task is made of, by name: grains, or sand as a continuum in their place.

A continuum takes the place of grains that have come to rest: each becomes a particle, which stands for the grain and
its share of the pores. Number, mass, place and height of the bed are then those of the grains; so are goals, tallies,
cameras and rewards, which know of neither. What differs is the law by which it moves (docs/continuum.md).

To add a matter: a class, and one line in MATTERS.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from granular_gym.base.types import Floats
from granular_gym.engine.continuum import DruckerPrager
from granular_gym.engine.scene import Scene
from granular_gym.engine.solver import Solver
from granular_gym.errors import ArgumentError
from granular_gym.tasks.beds import Settling
from granular_gym.tasks.heights import PACKING
from granular_gym.tasks.pace import Pace, Preset
from granular_gym.tasks.ranges import MaterialRanges

#: the material of a bed (`beds.add_sand_and_steel`), by name and by index
SAND = ("sand", 0)
#: what ranges may draw for a continuum besides friction with tools: the rest means nothing to it, or is fixed
DRAWN = {"density", "gravity"}
#: [Pa], without dimension: by Hooke's law a bed of half a metre sinks by 1 mm
YOUNG, POISSON = 1e6, 0.3
#: particles lie so far apart, over the radius of the grain that each stands for
DISTANCE = (4.0 / 3.0 * math.pi / PACKING) ** (1.0 / 3.0)
#: over the weight of a particle per area of its side: a particle that lies alone keeps its height, as a grain does, and
#: none hangs on another. Without it sand that is one particle high sinks into the floor, and slopes creep
COHESION = 0.25
GRAVITY = 9.81  # [m/s2]
#: friction between spheres of rolling friction ROLLING, and the angle of friction [degrees] of the continuum whose
#: columns spread as far as theirs; two seeds differ by up to 7 degrees: `python -m benchmarks.matter --angles`
ROLLING = 0.3
FRICTIONS, ANGLES = (0.2, 0.35, 0.5, 0.7), (20.3, 25.3, 28.0, 29.8)


@dataclass(frozen=True)
class Matter:
    """Grains, as a task makes them."""

    def check(self, grain: Sequence[str], ranges: Sequence[MaterialRanges]) -> None:
        """Raises ArgumentError where the matter has no such grains, or no such values to draw."""

    def friction_range(
        self, of_difficulty: tuple[float, float], given: tuple[float, float] | None
    ) -> tuple[float, float]:
        """(lower, upper) from which each episode draws its friction."""
        return of_difficulty if given is None else given

    def pace(self, of_grains: Pace, preset: str, period: float) -> Pace:
        """Time step and iterations; arguments: those of grains, name of the preset, length of a control period [s]."""
        return of_grains

    def solver(self, of_grains: Solver, pace: Pace) -> Solver:
        """Settings of the solver at that pace."""
        return of_grains

    def settling(self, of_grains: Settling) -> Settling:
        """When a bed counts as settled."""
        return of_grains

    def scene(self, of_grains: Scene, friction: float, radius: float, rest: Callable[[Scene], Floats]) -> Scene:
        """A bed before it settles.

        Args:
            of_grains: the bed of grains before it settles.
            friction: between grains.
            radius: of a grain [m].
            rest: places of the grains of a scene after they have settled (n, 3) [m].
        """
        return of_grains


@dataclass(frozen=True)
class SandContinuum(Matter):
    """Sand of Drucker and Prager in place of spheres.

    Attributes:
        presets: time step and tolerance by name; steps are implicit, so that neither depends on the size of particles.
    """

    presets: Mapping[str, Preset]

    def check(self, grain: Sequence[str], ranges: Sequence[MaterialRanges]) -> None:
        """See `Matter.check`."""
        if tuple(grain) != ("sphere",):
            raise ArgumentError(f"grain: expected 'sphere' with matter='sand_continuum', got {', '.join(grain)!r}")
        for each in ranges:
            on_tools = each.pair is not None and (each.pair[0] in SAND) != (each.pair[1] in SAND)
            fixed = [name for name in each.names if name not in DRAWN and not (on_tools and name == "friction")]
            if fixed:
                raise ArgumentError(
                    "randomize: expected density, gravity and the friction of sand with another material with "
                    f"matter='sand_continuum', got {fixed[0]} of {each.pair or 'all pairs'}"
                )

    def friction_range(
        self, of_difficulty: tuple[float, float], given: tuple[float, float] | None
    ) -> tuple[float, float]:
        """The middle of the difficulty's: the angle of friction is a constant of the world."""
        low, high = of_difficulty if given is None else given
        if given is not None and low != high:
            raise ArgumentError(
                "friction_range: expected twice the same number with matter='sand_continuum', whose angle of friction "
                f"is that of all episodes, got {given!r}"
            )
        return (0.5 * (low + high),) * 2

    def pace(self, of_grains: Pace, preset: str, period: float) -> Pace:
        """See `Matter.pace`."""
        return self.presets[preset].pace(period, math.inf, 1.0)

    def solver(self, of_grains: Solver, pace: Pace) -> Solver:
        """See `Matter.solver`; continuous matter does not sleep."""
        return Solver(iterations=pace.iterations, tolerance=pace.tolerance, sleep=False)

    def settling(self, of_grains: Settling) -> Settling:
        """See `Matter.settling`."""
        return Settling(0.1, 20, 2e-3)

    def scene(self, of_grains: Scene, friction: float, radius: float, rest: Callable[[Scene], Floats]) -> Scene:
        """See `Matter.scene`."""
        return sand_in_place_of(of_grains, rest(of_grains), radius, angle_of(friction))


def sand_in_place_of(of_grains: Scene, places: Floats, radius: float, angle: float) -> Scene:
    """The scene with a continuum in place of its grains, of the material "sand".

    Args:
        of_grains: the scene.
        places: where its grains lie at rest (n, 3) [m].
        radius: of a grain [m].
        angle: of friction of the continuum [degrees].
    """
    distance, density = DISTANCE * radius, PACKING * of_grains.materials[SAND[1]].density
    sand = DruckerPrager(YOUNG, POISSON, angle, cohesion=COHESION * density * GRAVITY * distance)
    return of_grains.as_continuum(SAND[0], sand, places, PACKING, 2.0 * distance)


def angle_of(friction: float) -> float:
    """Angle of friction [degrees] of the continuum that spreads as grains of a friction do: ANGLES, linear in between,
    and that of the nearest beyond."""
    return float(np.interp(friction, FRICTIONS, ANGLES))


#: what the argument `matter` of a task takes
MATTERS: Mapping[str, Matter] = {
    "grains": Matter(),
    "sand_continuum": SandContinuum(
        {
            "train": Preset(2e-2, math.inf, 1, 1e-2),
            "fast": Preset(1e-2, math.inf, 1, 1e-2),
            "accurate": Preset(5e-3, math.inf, 1, 1e-3),
        }
    ),
}
