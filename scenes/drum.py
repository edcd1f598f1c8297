"""drum.py: letters and hearts in a rotating drum: ten shapes, 55 pairs."""

from __future__ import annotations

import math
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from granular_gym.engine.scene import Scene
from granular_gym.engine.world import World
from granular_gym.shapes.sdf import Sdf
from granular_gym.shapes.shape2d import Shape2D
from granular_gym.viewing.scene_runs import Check, Lines, Rectangle, SceneRun

WORDS = "GRANULARGYM"
SPEED = 0.6  # [rad/s]


class Drum(SceneRun):
    """Equal numbers of hearts and of each letter, of circumradius .5 m; four paddles turn with the drum."""

    about = "letters in a rotating drum"
    labels: ClassVar[tuple[str, ...]] = ("drum",)
    default_grains = 240
    seconds: float = 12.0

    def __init__(self, seed: int = 0, grains: int | None = None) -> None:
        super().__init__(seed, grains)
        self.radius: float = max(4.0, 0.75 * math.sqrt(max(self.grains, 1)))
        self.view: Rectangle = (
            (-self.radius - 0.5, -self.radius - 0.5),
            (self.radius + 0.5, self.radius + 0.5),
        )
        self.energy: list[tuple[float, float]] = []
        self.outside: int = 0

    def scene(self, label: str) -> Scene:
        size = 1.2 * self.radius
        scene = Scene(bounds=((-size, -size), (size, size)), boundary={"x": "open", "y": "open"})
        shapes = [Shape2D.heart(0.5), *(Shape2D.letter(letter, 0.5) for letter in sorted(set(WORDS)))]
        materials = [scene.add_material(density=1000.0, friction=0.3, shape=shape) for shape in shapes]
        positions = self._positions()
        for k, material in enumerate(materials):
            own = positions[k :: len(materials)]
            scene.add_grains(material, own, angles=np.random.default_rng((self.seed, k)).uniform(-3, 3, len(own)))
        paddles = [
            Sdf.box((0.12 * self.radius, 0.15, 1.0)).at(
                (0.88 * self.radius * math.cos(a), 0.88 * self.radius * math.sin(a), 0.0),
                (math.cos(0.5 * a), 0.0, 0.0, math.sin(0.5 * a)),
            )
            for a in (math.pi / 4 + k * math.pi / 2 for k in range(4))
        ]
        scene.add_tool([Sdf.cavity(self.radius), *paddles], "drum", materials[0])
        return scene

    def _positions(self) -> NDArray[np.float64]:
        """Positions (grains, 2) [m] of circles that do not touch each other nor the paddles, nearest to the axis."""
        step = 1.05
        count = int(2 * self.radius / step) + 2
        grid = (np.stack(np.meshgrid(*[np.arange(count) - count // 2] * 2), axis=-1).reshape(-1, 2) * step).astype(
            float
        )
        distance = np.linalg.norm(grid, axis=1)
        order = np.argsort(distance, kind="stable")
        inside = order[distance[order] < 0.74 * self.radius - 0.55]
        if len(inside) < self.grains:
            self.grains: int = len(inside)
        return np.random.default_rng(self.seed).permutation(grid[inside[: self.grains]])

    def drive(self, label: str, world: World, now: float) -> Any:
        angle = SPEED * (now + 1.0 / self.pictures_per_second)
        return [[0, 0, 0, math.cos(0.5 * angle), 0, 0, math.sin(0.5 * angle)]]

    def watch(self, label: str, world: World, now: float) -> None:
        self.energy.append((now, float(world.stats["kinetic_energy"][0])))
        self.outside = int((np.linalg.norm(world.positions[0, :, :2], axis=1) > self.radius).sum())

    def colors(self, world: World) -> NDArray[np.uint8]:
        palette = np.array(
            [
                [214, 39, 40], [31, 119, 180], [255, 127, 14], [44, 160, 44], [148, 103, 189],
                [140, 86, 75], [227, 119, 194], [127, 127, 127], [188, 189, 34], [23, 190, 207],
            ],
            np.uint8,
        )  # fmt: skip
        result: NDArray[np.uint8] = palette[world.grain_materials[0] % len(palette)]
        return result

    def checks(self) -> list[Check]:
        return [Check("grains that left the drum", self.outside, "none", self.outside == 0)]

    def plots(self) -> dict[str, tuple[str, str, Lines]]:
        time, energy = np.array(self.energy).T
        return {"energy": ("time [s]", "kinetic energy per metre [J/m]", {"all grains": (time, energy)})}
