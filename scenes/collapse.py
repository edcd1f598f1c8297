"""collapse.py: a column of grains collapses when a wall is lifted; the less convex the grains, the steeper the pile."""

from __future__ import annotations

import math
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from granular_gym.engine.scene import Scene
from granular_gym.engine.world import World
from granular_gym.shapes.sdf import Sdf
from granular_gym.shapes.shape2d import Shape2D
from granular_gym.viewing.scene_runs import Check, Lines, Rectangle, SceneRun, surface

#: shapes of circumradius .5 m, the most convex first
SHAPES = {
    "O": lambda: Shape2D.arc(1.0, 0.5),
    "U": lambda: Shape2D.letter("U", 0.5),
    "N": lambda: Shape2D.letter("N", 0.5),
    "#": lambda: Shape2D.hash(0.5),
}
SETTLE, LIFT = 5.0, 0.4


class Collapse(SceneRun):
    """Columns as wide as high behind a gate that is lifted after 5 s; angles are measured 10 s later."""

    about = "a column collapses when a wall is lifted"
    labels: ClassVar[tuple[str, ...]] = ("O", "U", "N", "hash")
    default_grains = 400
    full_grains = 6990
    seconds: float = 15.0

    def __init__(self, seed: int = 0, grains: int | None = None) -> None:
        super().__init__(seed, grains)
        # 1.1 diameters of a grain for each grain of a square
        self.width: int = math.ceil(1.1 * math.sqrt(max(self.grains, 1)))
        self.reach: float = 4.0 * self.width
        self.view: Rectangle = (
            (-0.5, -0.5),
            (self.reach + 0.5, 1.6 * self.width),
        )
        self.profiles: dict[str, tuple[NDArray[Any], NDArray[Any]]] = {}
        self.angles: dict[str, float] = {}

    def scene(self, label: str) -> Scene:
        shape = SHAPES["#" if label == "hash" else label]()
        height = 6.0 * self.width
        scene = Scene(bounds=((0.0, 0.0), (self.reach, 2.0 * height)))
        material = scene.add_material(density=1000.0, friction=0.4, shape=shape)
        smooth = scene.add_material(density=1000.0, friction=0.0)
        scene.fill_box(material, (0.0, 0.0), (self.width, height), count=self.grains, seed=self.seed)
        scene.add_tool(Sdf.box((0.25, height, 1.0)), "gate", smooth, pose=(self.width + 0.25, height, 0, 1, 0, 0, 0))
        return scene

    def drive(self, label: str, world: World, now: float) -> Any:
        lifted = min(max(now + 1.0 / self.pictures_per_second - SETTLE, 0.0) / LIFT, 1.0)
        height = 6.0 * self.width
        return [[self.width + 0.25, height * (1.0 + 2.0 * lifted), 0, 1, 0, 0, 0]]

    def watch(self, label: str, world: World, now: float) -> None:
        self.profiles[label] = surface(world, 0.0, self.reach, 2 * self.width)
        self.angles[label] = self.angle(world)

    def angle(self, world: World) -> float:
        """Slope of the pile [deg]: height of its centre of mass over the distance of that from the wall.

        For a wedge this is its slope. It depends on all grains; a line fitted to the surface depends on few, and varies
        by two degrees between piles of the same grains.
        """
        x, y = world.positions[0, :, :2].mean(axis=0, dtype=np.float64)
        return math.degrees(math.atan2(y, x))

    def checks(self) -> list[Check]:
        angles = [self.angles[label] for label in self.labels]
        found = []
        for k in range(1, len(angles)):
            name = f"angle of {self.labels[k]} [deg]"
            target = f"above that of {self.labels[k - 1]}, {angles[k - 1]:.1f}"
            found.append(Check(name, angles[k], target, angles[k] > angles[k - 1]))
        return found

    def plots(self) -> dict[str, tuple[str, str, Lines]]:
        return {"profiles": ("x [m]", "height of the surface [m]", dict(self.profiles))}
