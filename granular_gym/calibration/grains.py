"""grains.py: the grains of a calibration, and how they lie as an experiment begins."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence

import numpy as np

from granular_gym.base import checks, rng
from granular_gym.base.types import Floats
from granular_gym.engine.scene import Scene
from granular_gym.engine.sizes import SizeDistribution

GRAVITY = 9.81  # [m/s2]


@dataclasses.dataclass(frozen=True)
class Grains:
    """The grains of a calibration: all but what is searched for.

    Attributes:
        density: [kg/m3].
        radius: one, or a SizeDistribution [m].
        restitution: see `Scene.add_material`.
        cohesion: likewise [N/m].
        cohesion_range: likewise [m].
    """

    density: float
    radius: float | SizeDistribution
    restitution: float = 0.0
    cohesion: float = 0.0
    cohesion_range: float = 0.0

    @property
    def sizes(self) -> SizeDistribution:
        """Of the radii."""
        if isinstance(self.radius, SizeDistribution):
            return self.radius
        radius = checks.number("radius", self.radius, 0.0, above=True)
        return SizeDistribution.uniform(radius, radius)

    def add_to(self, scene: Scene) -> int:
        """Adds the material to a scene."""
        return scene.add_material(
            density=self.density,
            restitution=self.restitution,
            cohesion=self.cohesion,
            cohesion_range=self.cohesion_range,
            name="grains",
        )


class Filling:
    """Grains on a loose lattice above z = 0 in a cylinder or a box, about to fall."""

    def __init__(self, grains: Grains, count: int, half: float, *, cylinder: bool) -> None:
        self.grains, self.count = grains, count
        self.radii = grains.sizes.sample(count, 1)
        self.step = 2.3 * grains.sizes.largest
        side = int(2.0 * half / self.step)
        ticks = (np.arange(side) - 0.5 * (side - 1)) * self.step
        x, y = (a.ravel() for a in np.meshgrid(ticks, ticks))
        inside = np.hypot(x, y) < half - 1.1 * grains.sizes.largest if cylinder else np.ones(len(x), bool)
        base = np.stack([x[inside], y[inside]], axis=1)
        k = np.arange(count)
        self.places = np.c_[base[k % len(base)], (0.55 + k // len(base)) * self.step]
        self.height = float(self.places[:, 2].max()) + self.step

    def add_to(self, scene: Scene) -> None:
        """Adds the grains."""
        scene.add_grains(self.grains.add_to(scene), self.places, self.radii)

    def start(self, seeds: Sequence[int]) -> tuple[Floats, Floats]:
        """Places and velocities by seed: shifted within the lattice and stirred, so that no column of it stands."""
        random = np.stack([[rng.uniform(seed, axis, self.count) - 0.5 for axis in range(6)] for seed in seeds])
        shifts, speeds = random[:, :3].swapaxes(1, 2), random[:, 3:].swapaxes(1, 2)
        pace = 4.0 * math.sqrt(GRAVITY * self.grains.sizes.largest)
        return self.places + 0.12 * self.step * shifts, pace * speeds
