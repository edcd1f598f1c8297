"""bulldozer.py: a blade pushes a bed of tetrahedra into a heap."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from granular_gym.engine.scene import Scene
from granular_gym.engine.world import World
from granular_gym.shapes.clump import Clump
from granular_gym.shapes.sdf import Sdf
from granular_gym.viewing.clump_runs import DENSITY, ClumpRun, gravel
from granular_gym.viewing.scene_runs import Check, Lines
from granular_gym.viewing.space_runs import Point, scaled

#: time in which the bed settles [s], speed of the blade [m/s], time after it stops [s]
SETTLE, SPEED, AFTER = 0.4, 0.25, 1.4
#: grains, length, width and depth of the bed [m] of the size that others are scaled from
GRAINS, LONG, WIDE, DEEP = 2000, 0.7, 0.24, 0.041
#: the blade begins outside the bed and pushes this share of its length
SHARE = 0.7
#: half thickness of the blade, and its clearance to walls and floor [m]: less than the width of a sphere
HALF, CLEAR = 0.01, 0.002
BLOCK = Clump.cube(0.03)


class Bulldozer(ClumpRun):
    """The bed lies between two walls, the blade fills the width; three light blocks lie in its way."""

    about = "a blade pushes tetrahedra and blocks into a heap"
    labels: ClassVar[tuple[str, ...]] = ("bulldozer",)
    default_grains = GRAINS
    # of 310,149 spheres, those of the ground and of debris left out
    full_grains = 70000
    fov: float = 0.5

    def __init__(self, seed: int = 0, grains: int | None = None) -> None:
        super().__init__(seed, grains)
        size = scaled(self.grains, GRAINS)
        self.long: float = LONG * size
        self.wide: float = WIDE * size
        self.deep: float = DEEP * size
        self.high: float = 4.0 * self.deep
        self.travel: float = SHARE * self.long
        #: from where the blade starts, its front [m]
        self.start: float = -HALF - CLEAR
        self.seconds: float = SETTLE + self.travel / SPEED + AFTER
        self.eye: Point = (1.1 * self.long, -1.5 * self.long, 0.95 * self.long)
        self.target: Point = (0.52 * self.long, 0.0, 0.05 * self.long)
        self.forces: list[tuple[float, float]] = []  # travel [m], force against the blade [N]
        self.heaps: list[tuple[float, float]] = []  # travel likewise, mass above the bed in front of the blade [kg]
        self.passed: int = 0
        self.surface: float = 0.0

    def scene(self, label: str) -> Scene:
        half, top = 0.5 * self.wide, 8.0 * self.deep
        # behind the blade is room for what would pass it, before the bed the floor that it is pushed over
        scene = Scene(((-0.3 * self.long, -half, -0.1), (1.6 * self.long, half, top)), wall_material="glass")
        material = gravel(scene)
        scene.add_material(density=DENSITY, friction=0.1, name="glass")
        # rougher than the grains are among each other: the bed does not slide as a whole
        rough = scene.add_material(density=DENSITY, friction=1.5, name="ground")
        blade = Sdf.box((HALF, half - CLEAR, 0.5 * self.high))
        scene.add_tool(blade, "blade", "glass", pose=self._pose(0.0))
        scene.add_tool(Sdf.plane(), "ground", rough)
        scene.fill_box(material, (0.0, -half, 0.0), (self.long, half, top), count=self.grains, seed=self.seed)
        wood = scene.add_material(density=600.0, friction=0.5, shape=BLOCK, name="wood")
        block = BLOCK.scaled(scaled(self.grains, GRAINS))
        for k in range(3):
            place = ((0.3 + 0.3 * k) * self.long, (k - 1) * 0.5 * half, top - block.radius)
            scene.add_body(block, 600.0 * block.volume, material=wood, pose=(*place, 1, 0, 0, 0))
        return scene

    def _pose(self, moved: float) -> list[float]:
        return [self.start + moved - HALF, 0.0, CLEAR + 0.5 * self.high, 1.0, 0.0, 0.0, 0.0]

    def _moved(self, now: float) -> float:
        """How far the blade is at a time [m]."""
        return min(max(now - SETTLE, 0.0) * SPEED, self.travel)

    def move(self, label: str, world: World, now: float) -> Any:
        if now <= SETTLE:
            self.surface = float(np.quantile(world.clump_poses[0, : self.grains, 2], 0.98))
        return [self._pose(self._moved(now + 1.0 / self.pictures_per_second)), [0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0]]

    def measure(self, label: str, world: World, now: float) -> None:
        moved = self._moved(now)
        front = self.start + moved
        points, masses = world.clump_poses[0, :, :3], world.clump_masses[0]
        self.passed = max(self.passed, int((points[:, 0] < front - HALF).sum()))
        if 0.0 < moved < self.travel:
            self.forces.append((moved, -float(world.wrenches[0, 0, 0])))
            self.heaps.append((moved, float(masses[points[:, 2] > self.surface].sum())))

    def thirds(self) -> tuple[float, ...]:
        """Mean force on the blade in each third of its travel [N]."""
        moved, force = np.array(self.forces).T
        third = np.minimum((3.0 * moved / self.travel).astype(int), 2)
        return tuple(float(force[third == k].mean()) for k in range(3))

    def checks(self) -> list[Check]:
        first, second, third = self.thirds()
        least = min(force for moved, force in self.forces if moved > 0.1 * self.travel)
        together = float(np.corrcoef([f for _, f in self.forces], [m for _, m in self.heaps])[0, 1])
        return [
            Check("least force on the blade after a tenth of its way [N]", least, "> 0", least > 0.0),
            Check(
                "force in the second third of the way [N]",
                second,
                f"more than in the first, {first:.3g}",
                second > first,
            ),
            Check(
                "force in the last third of the way [N]",
                third,
                f"more than in the second, {second:.3g}",
                third > second,
            ),
            Check("correlation of the force with the mass above the bed", together, "> .8", together > 0.8),
            Check("grains and blocks that passed the blade", self.passed, "none", self.passed == 0),
            *self.kept(),
        ]

    def plots(self) -> dict[str, tuple[str, str, Lines]]:
        moved, force = np.array(self.forces).T
        heap = np.array(self.heaps)[:, 1] * 9.81
        lines: Lines = {"force on the blade": (moved, force), "weight of the heap above the bed": (moved, heap)}
        return {"force": ("travel of the blade [m]", "force [N]", lines)}

    def tool_colors(self, world: World) -> NDArray[np.uint8]:
        return np.array([(222, 170, 50), (150, 140, 125)], np.uint8)

    def colors(self, world: World) -> NDArray[np.uint8]:
        colors = super().colors(world)
        colors[world.clump_of_grain >= self.grains] = (150, 60, 45)
        return colors
