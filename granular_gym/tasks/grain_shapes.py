"""grain_shapes.py: shapes of grains in space by name: spheres, or clumps that take their place.

A task counts grains and knows their size as spheres; a clump has the volume of the sphere that it takes the place of.
Heaps, heights, masses and rates are then those of spheres, and what differs is how the grains lie on each other. The
world counts the spheres of clumps (`Task.world_grain_count`).

To add a shape: one line in CLUMPS.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from granular_gym.base.types import Floats
from granular_gym.engine.clumps import random_orientations
from granular_gym.engine.scene import Scene
from granular_gym.shapes.clump import Clump

#: clumps by name, of a given bounding radius
CLUMPS: Mapping[str, Callable[[float], Clump]] = {
    "pair": Clump.pair,
    "tetrahedron": Clump.tetrahedron,
    "cube": Clump.cube,
    "rod": lambda radius: Clump.rod(radius, 3, overlap=0.5),
}
#: what the argument `grain` of a task in space takes
GRAIN_SHAPES = ("sphere", *CLUMPS)


@dataclass(frozen=True)
class GrainForm:
    """Size and shape of a grain.

    Attributes:
        radius: of the sphere of its volume [m].
        clump: its shape; None: it is that sphere.
    """

    radius: float
    clump: Clump | None = None

    @classmethod
    def named(cls, name: str, radius: float) -> GrainForm:
        """The form of a name; others than those of clumps have the radius alone."""
        return cls(radius, _of_unit_volume(name).scaled(radius) if name in CLUMPS else None)

    @property
    def spheres(self) -> int:
        """How many the world counts for one grain."""
        return 1 if self.clump is None else len(self.clump.radii)

    @property
    def reach(self) -> float:
        """Radius of the ball that holds the grain in any orientation [m]: lattices are spaced by it."""
        return self.radius if self.clump is None else self.clump.radius

    @property
    def finest(self) -> float:
        """Radius of the smallest sphere that tools and walls meet [m]."""
        return self.radius if self.clump is None else float(self.clump.radii.min())

    @property
    def looseness(self) -> float:
        """Volume of that ball over that of the grain: a lattice on the same ground is so many times as high.

        Lattices are cut to shapes as if their heights were divided by it, and settle to about the heaps of spheres.
        """
        return (self.reach / self.radius) ** 3

    # in a scene ------------------------------------------------------------------------------------------------------

    @property
    def body(self) -> dict[str, Any]:
        """Arguments of `Scene.add_material`."""
        return {"radius": self.radius} if self.clump is None else {"shape": self.clump}

    @property
    def rolls(self) -> bool:
        """Whether it is round about an axis: a sphere, or spheres in a row. The shape of others resists rolling."""
        return self.clump is None or bool(np.linalg.matrix_rank(self.clump.centers) < 2)

    def rolling(self, friction: float) -> float:
        """Rolling friction where that of spheres is given: the same, or 0 where the shape resists rolling."""
        return friction if self.rolls else 0.0

    def filling(self, friction: float) -> float:
        """Friction with which grains fill a vessel to the brim: that of spheres, or of clumps 0.

        Clumps that fall in with friction stay so loose that the vessel does not hold them.
        """
        return friction if self.clump is None else 0.0

    def add_to(self, scene: Scene, material: int, points: Floats, seed: int) -> None:
        """Adds grains at points (n, 3) [m]; clumps in orientations drawn from the seed."""
        turns = None if self.clump is None else random_orientations(seed, len(points))
        scene.add_grains(material, points, orientations=turns)

    def for_world(self, of_grains: Any) -> Any:
        """Values of grains (n, ...) as those of what the world counts."""
        return np.repeat(of_grains, self.spheres, axis=0)


@functools.cache
def _of_unit_volume(name: str) -> Clump:
    """The clump with the volume of a sphere of radius 1."""
    clump = CLUMPS[name](1.0)
    return clump.scaled((4.0 / 3.0 * math.pi / clump.volume) ** (1.0 / 3.0))
