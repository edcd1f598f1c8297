"""grains.py: the grains of a calibration and their initial positions."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from granular_gym.base import checks, rng
from granular_gym.base.types import Floats
from granular_gym.engine.materials import pair_value
from granular_gym.engine.scene import Scene
from granular_gym.engine.sizes import SizeDistribution

GRAVITY = 9.81  # [m/s2]


@dataclasses.dataclass(frozen=True)
class Grains:
    """The properties of grains that a calibration does not fit.

    Attributes:
        density: of a grain [kg/m3].
        radius: one radius, or a SizeDistribution [m].
        restitution: see `Scene.add_material`.
        cohesion: likewise [N/m].
        cohesion_range: likewise [m].

    Raises:
        ArgumentError: a value outside what a material may have.
    """

    density: float
    radius: float | SizeDistribution
    restitution: float = 0.0
    cohesion: float = 0.0
    cohesion_range: float = 0.0

    def __post_init__(self) -> None:
        checks.number("density", self.density, 0.0, above=True)
        for name in ("restitution", "cohesion", "cohesion_range"):
            pair_value(name, getattr(self, name))
        checks.instance("radius", self.sizes, SizeDistribution)

    @property
    def sizes(self) -> SizeDistribution:
        """The size distribution of the radii."""
        if isinstance(self.radius, SizeDistribution):
            return self.radius
        radius = checks.number("radius", self.radius, 0.0, above=True)
        return SizeDistribution.uniform(radius, radius)

    def add_to(self, scene: Scene) -> int:
        """Adds the material to a scene; returns its index."""
        return scene.add_material(
            density=self.density,
            restitution=self.restitution,
            cohesion=self.cohesion,
            cohesion_range=self.cohesion_range,
            name="grains",
        )


class Filling:
    """Grains on a loose lattice above z = 0 in a cylinder or a box.

    Args:
        grains: their properties.
        count: number of grains.
        half: radius of the cylinder, or half the side of the box [m].
        cylinder: a cylinder, else a box.
    """

    grains: Grains
    count: int

    def __init__(self, grains: Grains, count: int, half: float, *, cylinder: bool) -> None:
        self.grains, self.count = grains, count
        self.radii: Floats = grains.sizes.sample(count, 1)
        self.spacing: float = 2.3 * grains.sizes.largest
        side = int(2.0 * half / self.spacing)
        ticks = (np.arange(side) - 0.5 * (side - 1)) * self.spacing
        x, y = (a.ravel() for a in np.meshgrid(ticks, ticks))
        inside = np.hypot(x, y) < half - 1.1 * grains.sizes.largest if cylinder else np.ones(len(x), bool)
        base = np.stack([x[inside], y[inside]], axis=1)
        k = np.arange(count)
        self.positions: NDArray[np.float32] = np.c_[base[k % len(base)], (0.55 + k // len(base)) * self.spacing]
        self.height: float = float(self.positions[:, 2].max()) + self.spacing

    def add_to(self, scene: Scene) -> None:
        """Adds the material and the grains to a scene."""
        scene.add_grains(self.grains.add_to(scene), self.positions, self.radii)

    def initial_state(self, seeds: Sequence[int]) -> tuple[Floats, Floats]:
        """Positions [m] and velocities [m/s] (seeds, count, 3), random so that no column of the lattice stands."""
        random = np.stack([[rng.uniform(seed, axis, self.count) - 0.5 for axis in range(6)] for seed in seeds])
        offsets, directions = random[:, :3].swapaxes(1, 2), random[:, 3:].swapaxes(1, 2)
        speed = 4.0 * math.sqrt(GRAVITY * self.grains.sizes.largest)
        return self.positions + 0.12 * self.spacing * offsets, speed * directions
