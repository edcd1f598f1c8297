"""leaning.py: blocks that lean: one at a wall, two at each other."""

from __future__ import annotations

import math
from typing import ClassVar

import numpy as np

from granular_gym.engine.scene import Scene
from granular_gym.engine.world import World
from granular_gym.shapes.shape2d import Shape2D
from granular_gym.viewing.scene_runs import Check, Lines, Rectangle, SceneRun


class _Leaning(SceneRun):
    """Blocks that stand with enough friction and fall with less."""

    labels: ClassVar[tuple[str, ...]] = ("0.1", "0.3", "0.5")
    seconds: float = 3.0
    #: least friction with which they stand
    threshold: ClassVar[float]

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
            stands = float(label) > self.threshold
            target = f"{'stands' if stands else 'falls'}, threshold {self.threshold:.3f}"
            found.append(Check(f"height left at friction {label}", last / first, target, stood == stands))
        return found

    def plots(self) -> dict[str, tuple[str, str, Lines]]:
        lines = {f"friction {label}": tuple(np.array(height).T) for label, height in self.heights.items()}
        return {"height": ("time [s]", "height of the lowest block [m]", lines)}


def _leaning_threshold(tilt: float, slenderness: float) -> float:
    """Friction at which a block that leans at a wall begins to slide, its foot on a floor of the same friction.

    Both contacts are at the limit: N2 = mu N1, N1 + mu N2 = W; and torques about the foot balance:
    W (sin / 2 - w / (2 l) cos) = mu N2 sin + N2 cos.

    Args:
        tilt: from the vertical [rad].
        slenderness: width over length.
    """
    sine, cosine = math.sin(tilt), math.cos(tilt)
    lever = 0.5 * (sine - slenderness * cosine)
    return (math.sqrt(cosine**2 + 4.0 * (sine - lever) * lever) - cosine) / (2.0 * (sine - lever))


class LeaningBlock(_Leaning):
    """A block of 2 m x 0.6 m leans at a wall with its foot on the floor: two half-planes.

    The tilt of 34.4 degrees (.6 rad) is from the vertical; from the horizontal the threshold would be .423.
    """

    about = "a block leans at a wall"
    TILT: ClassVar = math.radians(34.4)
    LENGTH, WIDTH = 2.0, 0.6
    threshold: ClassVar[float] = _leaning_threshold(TILT, WIDTH / LENGTH)
    view: Rectangle = ((-0.1, -0.1), (3.0, 2.4))

    def scene(self, label: str) -> Scene:
        scene = Scene(bounds=((0.0, 0.0), (8.0, 4.0)))
        block = Shape2D.block(self.LENGTH, self.WIDTH)
        material = scene.add_material(density=1000.0, friction=float(label), shape=block)
        # its lower face goes from the foot at the right up to the wall
        along = np.array([-math.sin(self.TILT), math.cos(self.TILT)])
        outward = np.array([math.cos(self.TILT), math.sin(self.TILT)])
        foot = np.array([self.LENGTH * math.sin(self.TILT), 0.0])
        center = foot + 0.5 * self.LENGTH * along + 0.5 * self.WIDTH * outward
        scene.add_grains(material, [center], angles=math.pi / 2 + self.TILT)
        return scene


class Triangle(_Leaning):
    """Two thin blocks lean at each other 15 degrees from upright.

    By symmetry the upper contact only pushes sideways: mu_c = tan(15) / 2 - a / (2 b) = .109 at the foot, a / b = .05
    being half thickness over half length.
    """

    about = "two blocks lean at each other"
    view: Rectangle = ((-1.5, -0.1), (1.5, 2.3))
    TILT: ClassVar = math.radians(15.0)
    HALF, THICK = 1.0, 0.05
    threshold: ClassVar[float] = 0.5 * (math.tan(TILT) - THICK / HALF)

    def scene(self, label: str) -> Scene:
        scene = Scene(bounds=((-4.0, 0.0), (4.0, 4.0)))
        shape = Shape2D.block(2 * self.HALF, 2 * self.THICK)
        material = scene.add_material(density=1000.0, friction=float(label), shape=shape)
        sine, cosine = math.sin(self.TILT), math.cos(self.TILT)
        x, y = self.HALF * sine + self.THICK * cosine, self.HALF * cosine + self.THICK * sine
        scene.add_grains(material, [(-x, y), (x, y)], angles=[math.pi / 2 - self.TILT, math.pi / 2 + self.TILT])
        return scene
