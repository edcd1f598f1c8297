"""leaning.py: blocks that lean: one at the corner of a fixed block, two at each other."""

from __future__ import annotations

import math
from typing import ClassVar

import numpy as np

from granular_gym.scene import Scene
from granular_gym.scene_runs import Check, Lines, SceneRun
from granular_gym.shape2d import Shape2D
from granular_gym.world import World


class _Leaning(SceneRun):
    """Blocks that stand or fall by their friction."""

    labels = ("0.1", "0.3", "0.5")
    seconds = 3.0
    stands: dict[str, bool]

    def __init__(self, seed: int = 0, grains: int | None = None) -> None:
        super().__init__(seed, grains)
        self.heights: dict[str, list[tuple[float, float]]] = {label: [] for label in self.labels}

    def watch(self, label: str, world: World, now: float) -> None:
        self.heights[label].append((now, float(world.positions[0, :, 1].min())))

    def checks(self) -> list[Check]:
        found = []
        for label, heights in self.heights.items():
            first, last = heights[0][1], heights[-1][1]
            stood = last > 0.95 * first
            target = "stands" if self.stands[label] else "falls"
            found.append(Check(f"height left at friction {label}", last / first, target, stood == self.stands[label]))
        return found

    def plots(self) -> dict[str, tuple[str, str, Lines]]:
        lines = {f"friction {label}": tuple(np.array(height).T) for label, height in self.heights.items()}
        return {"height": ("time [s]", "height of the lowest block [m]", lines)}


class LeaningBlock(_Leaning):
    """A block of 2 m x 0.6 m leans at the corner of a ledge, TILT from upright, its foot on the floor.

    Angles are from the vertical. With the ledge's friction at a point of height h and the foot's on the floor the same,
    it stands where mu is above the root of the balance of forces and torques (`threshold`).
    """

    about = "a block leans at a ledge"
    stands: ClassVar = {"0.1": False, "0.3": True, "0.5": True}
    view = ((-1.5, -0.1), (2.5, 2.4))
    TILT = math.radians(34.4)
    LENGTH, WIDTH = 2.0, 0.6

    def scene(self, label: str) -> Scene:
        scene = Scene(bounds=((-4.0, 0.0), (4.0, 4.0)))
        block = Shape2D.block(self.LENGTH, self.WIDTH)
        material = scene.add_material(density=1000.0, friction=float(label), shape=block)
        center, _, corner = self._places()
        ledge = Shape2D.block(1.0, corner[1])
        still = scene.add_material(density=1000.0, friction=float(label), shape=ledge, fixed=True)
        scene.add_grains(material, [center], angles=math.pi / 2 - self.TILT)
        scene.add_grains(still, [(corner[0] + 0.5, 0.5 * corner[1])])
        return scene

    def _places(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Centre of the block, its foot and the corner of the ledge, three quarters up its lower face."""
        along = np.array([math.sin(self.TILT), math.cos(self.TILT)])
        outward = np.array([math.cos(self.TILT), -math.sin(self.TILT)])
        # of the two lower corners the one away from the ledge's side is the foot
        center = np.array([0.0, 0.5 * self.LENGTH * along[1] - 0.5 * self.WIDTH * outward[1]])
        foot = center - 0.5 * self.LENGTH * along + 0.5 * self.WIDTH * outward
        corner = center + 0.25 * self.LENGTH * along + 0.5 * self.WIDTH * outward
        return center, foot, corner


class Triangle(_Leaning):
    """Two thin blocks lean at each other 15 degrees from upright.

    By symmetry the upper contact only pushes sideways: mu_c = tan(15) / 2 - a / (2 b) = .109 at the foot, a / b = .05
    being half thickness over half length.
    """

    about = "two blocks lean at each other"
    stands: ClassVar = {"0.1": False, "0.3": True, "0.5": True}
    view = ((-1.5, -0.1), (1.5, 2.3))
    TILT = math.radians(15.0)
    HALF, THICK = 1.0, 0.05

    def scene(self, label: str) -> Scene:
        scene = Scene(bounds=((-4.0, 0.0), (4.0, 4.0)))
        shape = Shape2D.block(2 * self.HALF, 2 * self.THICK)
        material = scene.add_material(density=1000.0, friction=float(label), shape=shape)
        sine, cosine = math.sin(self.TILT), math.cos(self.TILT)
        x, y = self.HALF * sine + self.THICK * cosine, self.HALF * cosine + self.THICK * sine
        scene.add_grains(material, [(-x, y), (x, y)], angles=[math.pi / 2 - self.TILT, math.pi / 2 + self.TILT])
        return scene
