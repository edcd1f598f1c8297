"""cereal.py: a box of letters is tipped over a curved bowl."""

from __future__ import annotations

import itertools
import math
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from granular_gym.engine.scene import Scene
from granular_gym.engine.world import World
from granular_gym.shapes.sdf import Sdf
from granular_gym.shapes.shape2d import Shape2D
from granular_gym.viewing.scene_runs import Check, Lines, Rectangle, SceneRun

LETTERS = "UDON"
#: duration of filling the box and of tipping it [s]; afterwards grains settle
SETTLE, TIP = 3.0, 7.0
#: angle by which the box is tipped, and half the angle of the bowl's arc [rad]
TIPPED, RIM = math.radians(140.0), math.radians(75.0)


class Cereal(SceneRun):
    """Letters of circumradius .5 m, friction .7; the bowl is an arc of a circle, a polyline of capsules."""

    about = "a box of letters is tipped over a bowl"
    labels: ClassVar[tuple[str, ...]] = ("cereal",)
    default_grains = 280
    seconds: float = 20.0
    SEGMENTS = 40

    def __init__(self, seed: int = 0, grains: int | None = None) -> None:
        super().__init__(seed, grains)
        #: radius of the bowl, centred on the origin [m]
        self.radius: float = max(6.0, 0.95 * math.sqrt(max(self.grains, 1)))
        self.thick: float = 0.25
        #: inner width and height of the box [m]
        self.box: tuple[float, float] = (1.3 * self.radius, 0.95 * self.radius)
        # the corner about which the box turns
        rim = -self.radius * math.cos(RIM)
        self.pivot: tuple[float, float] = (-self.radius, rim + 0.75 * self.box[1] + 1.5)
        self.view: Rectangle = (
            (-2.4 * self.radius, -1.15 * self.radius),
            (1.3 * self.radius, 2.1 * self.radius),
        )
        self.inside: list[tuple[float, float]] = []
        self.through: int = 0
        self.above: NDArray[np.bool_] = np.zeros(self.grains, bool)
        self.energy: float = math.inf

    def scene(self, label: str) -> Scene:
        size = 4.0 * self.radius
        scene = Scene(bounds=((-size, -1.3 * self.radius), (size, size)), boundary={"x": "open", "y": ("wall", "open")})
        materials = [
            scene.add_material(density=1000.0, friction=0.7, shape=Shape2D.letter(letter, 0.5)) for letter in LETTERS
        ]
        positions = self._positions()
        self.above = np.zeros(self.grains, bool)
        for k, material in enumerate(materials):
            own = positions[k :: len(materials)]
            scene.add_grains(material, own, angles=np.random.default_rng((self.seed, k)).uniform(-3, 3, len(own)))
        scene.add_tool(self._bowl(), "bowl", materials[0])
        wide, high = self.box
        t = 2.0 * self.thick
        # floor and both sides; the tool's origin is the corner of the floor and the right side
        walls = [
            Sdf.box((0.5 * wide + 2.0 * t, t, 1.0)).at((-0.5 * wide, -t, 0.0)),
            Sdf.box((t, 0.5 * high, 1.0)).at((t, 0.5 * high, 0.0)),
            Sdf.box((t, 0.5 * high, 1.0)).at((-wide - t, 0.5 * high, 0.0)),
        ]
        scene.add_tool(walls, "box", materials[0], pose=(*self.pivot, 0, 1, 0, 0, 0))
        return scene

    def _positions(self) -> NDArray[np.float64]:
        """Positions (grains, 2) [m] of circles in the box that do not touch, shuffled."""
        step = 1.03
        columns = int(self.box[0] / step)
        self.grains: int = min(self.grains, columns * int(self.box[1] / step))
        n = np.arange(self.grains)
        corner = (self.pivot[0] - self.box[0], self.pivot[1])
        grid = np.stack([n % columns, n // columns], axis=1) * step + np.add(corner, 0.5 * step)
        return np.random.default_rng(self.seed).permutation(grid)

    def _bowl(self) -> list[Sdf]:
        """Capsules along a polyline around the arc; their inner sides touch the circle."""
        turn = np.linspace(-RIM, RIM, self.SEGMENTS + 1)
        corner = (self.radius + self.thick) * np.stack([np.sin(turn), -np.cos(turn)], axis=1)
        parts = []
        for a, b in itertools.pairwise(corner):
            along = b - a
            length, angle = float(np.linalg.norm(along)), math.atan2(along[1], along[0])
            # turn z to x, then x to the segment
            r, (c, s) = math.sqrt(0.5), (math.cos(0.5 * angle), math.sin(0.5 * angle))
            quaternion = (c * r, -s * r, c * r, s * r)
            parts.append(Sdf.capsule(self.thick, 0.5 * length).at((*(0.5 * (a + b)), 0.0), quaternion))
        return parts

    def drive(self, label: str, world: World, now: float) -> Any:
        share = min(max((now + 1.0 / self.pictures_per_second - SETTLE) / TIP, 0.0), 1.0)
        angle = -TIPPED * share
        return [[0, 0, 0, 1, 0, 0, 0], [*self.pivot, 0, math.cos(0.5 * angle), 0, 0, math.sin(0.5 * angle)]]

    def watch(self, label: str, world: World, now: float) -> None:
        positions = world.positions[0, :, :2]
        distance = np.linalg.norm(positions, axis=1)
        turn = np.abs(np.arctan2(positions[:, 0], -positions[:, 1]))
        inside = (distance < self.radius) & (positions[:, 1] < self.pivot[1] - 1.0)
        self.inside.append((now, float(inside.mean()) if len(positions) else 0.0))
        # above the bowl and away from its rims at the last picture, outside its circle now
        self.through += int((self.above & (distance >= self.radius)).sum())
        self.above = (distance < self.radius) & (turn < 0.9 * RIM)
        self.energy = float(world.stats["kinetic_energy"][0]) / (1000.0 * self._area(world))

    def _area(self, world: World) -> float:
        areas = np.array([Shape2D.letter(letter, 0.5).area for letter in LETTERS])
        return float(areas[world.grain_materials[0] % len(areas)].sum())

    def colors(self, world: World) -> NDArray[np.uint8]:
        palette = np.array([[196, 57, 43], [230, 160, 40], [222, 122, 60], [150, 90, 50]], np.uint8)
        result: NDArray[np.uint8] = palette[world.grain_materials[0] % len(palette)]
        return result

    def checks(self) -> list[Check]:
        share = self.inside[-1][1]
        return [
            Check("grains that went through the bowl", self.through, "none", self.through == 0),
            Check("share of the grains in the bowl", share, "at least .95", share >= 0.95),
            Check("kinetic energy over mass at the end [m2/s2]", self.energy, "under 1e-3", self.energy < 1e-3),
        ]

    def plots(self) -> dict[str, tuple[str, str, Lines]]:
        time, share = np.array(self.inside).T
        return {"poured": ("time [s]", "share of the grains in the bowl", {"all grains": (time, share)})}
