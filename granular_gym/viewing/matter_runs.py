"""matter_runs.py: what the experiments with continuous matter share: whether each solve met its bound, and measures.

They follow Z. Zong, C. Jiang, X. Han, *A convex formulation of frictional contact for the material point method and
rigid bodies* (2024), section VII.
"""

from __future__ import annotations

import abc
import itertools
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from granular_gym.engine.world import World
from granular_gym.viewing.scene_runs import Check
from granular_gym.viewing.space_runs import Floats, SpaceRun

#: particles in a cell
PER_CELL = 8.0
#: of tools
STEEL = (128, 134, 144)
#: of matter that has not yielded, and of matter whose plastic strain is 1 or more
_WHOLE, _WORKED = np.array([232, 206, 160]), np.array([176, 110, 62])
#: cells whose particles reach a node in common, with splines of second order
_NEAR = tuple(itertools.product(range(-2, 3), repeat=3))


class MatterRun(SpaceRun, abc.ABC):
    """An experiment with continuous matter, in steps of 10 ms.

    Attributes:
        unsolved: substeps so far whose solve missed its bound, of all worlds.
        diverged: worlds with a position or a velocity that is not finite.
    """

    dt: float = 0.01
    drives_per_picture: ClassVar[int] = 4

    def __init__(self, seed: int = 0, grains: int | None = None) -> None:
        super().__init__(seed, grains)
        self.unsolved: int = 0
        self.diverged: set[str] = set()

    @abc.abstractmethod
    def measure(self, label: str, world: World, now: float) -> None:
        """What `watch` measures besides whether steps were solved."""

    def watch(self, label: str, world: World, now: float) -> None:
        self.unsolved += int(world.stats["unsolved_count"][0])
        if world.stats["diverged"][0]:
            self.diverged.add(label)
        self.measure(label, world, now)

    def solved(self) -> list[Check]:
        """Checks that hold in every world."""
        return [
            Check("substeps whose solve missed its bound", self.unsolved, "none", self.unsolved == 0),
            Check("worlds that diverged", len(self.diverged), "none", not self.diverged),
        ]

    def colors(self, world: World) -> NDArray[np.uint8]:
        worked = np.minimum(world.plastic_strains[0], 1.0)[:, None]
        result: NDArray[np.uint8] = (_WHOLE + worked * (_WORKED - _WHOLE)).astype(np.uint8)
        return result


def spacing_for(volume: float, particles: int, per_cell: float = PER_CELL) -> float:
    """Distance of the nodes [m] with which matter of a volume [m3] has as many particles, so many in a cell."""
    return float(np.cbrt(per_cell * volume / max(particles, 1)))


def center(world: World) -> Floats:
    """Centre of mass of the matter (3,) [m]."""
    masses = world.grain_masses[0].astype(np.float64)
    middle: Floats = masses @ world.positions[0].astype(np.float64) / masses.sum()
    return middle


def pieces(world: World) -> list[int]:
    """Pieces that the matter is in, as shares of 1000 of its mass, the largest first.

    Two particles belong to one piece where they reach a node in common: without one they exert no force on each other.
    """
    cells, cell_of = np.unique(np.rint(world.positions[0] / world.spacing).astype(int), axis=0, return_inverse=True)
    masses = np.bincount(cell_of.ravel(), world.grain_masses[0])
    left = {(int(x), int(y), int(z)): mass for (x, y, z), mass in zip(cells, masses, strict=True)}
    found = []
    while left:
        cell, mass = left.popitem()
        reached = [cell]
        while reached:
            x, y, z = reached.pop()
            for dx, dy, dz in _NEAR:
                near = (x + dx, y + dy, z + dz)
                if near in left:
                    mass += left.pop(near)
                    reached.append(near)
        found.append(round(1000.0 * float(mass / masses.sum())))
    return sorted(found, reverse=True)
