"""hourglass.py: tetrahedra run through the neck of an hourglass."""

from __future__ import annotations

import math
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from granular_gym.engine.cameras import DepthCamera
from granular_gym.engine.scene import Scene
from granular_gym.engine.world import World
from granular_gym.shapes.sdf import Sdf
from granular_gym.tasks.hoppers import revolved
from granular_gym.viewing.clump_runs import DIAMETER, RADIUS, ROOM, ClumpRun, gravel
from granular_gym.viewing.scene_runs import Check, Lines
from granular_gym.viewing.space_runs import HEIGHT, Floats, scaled

#: radius of the neck [m]: the opening is five grains wide
NECK = 2.5 * DIAMETER
GLASS = (168, 200, 208)
WALL = 0.02  # thickness of the glass [m]
#: time in which the grains fill the upper bulb before the neck is opened [s]
SETTLE = 1.0
#: grains, radius of the bulbs [m] and time of flow [s] of the size that others are scaled from
GRAINS, BULB, FLOW = 1500, 0.17, 3.6
#: the shares of the mass between which its passage must be a straight line, and how straight
MIDDLE, STRAIGHT = (0.1, 0.9), 0.995


class Hourglass(ClumpRun):
    """Two bulbs with cones of 45 degrees; a plug closes the neck for a second."""

    about = "tetrahedra run through an hourglass"
    labels: ClassVar[tuple[str, ...]] = ("hourglass",)
    default_grains = GRAINS
    full_grains = 27427
    hidden: ClassVar[tuple[str, ...]] = ("front",)

    def __init__(self, seed: int = 0, grains: int | None = None) -> None:
        super().__init__(seed, grains)
        size = scaled(self.grains, GRAINS)
        #: radius of the bulbs [m]
        self.bulb: float = max(BULB * size, 1.5 * NECK)
        rise = self.bulb - NECK
        # the lower bulb takes all grains with room for their heap
        cone = math.pi / 3.0 * rise * (self.bulb**2 + self.bulb * NECK + NECK**2)
        area = math.pi * self.bulb**2
        #: heights of the shoulder of the lower bulb, of the neck, and of the shoulder of the upper one [m]
        self.lower: float = max(1.25 * ROOM * self.grains - 0.7 * cone, 0.0) / area + 2.0 * DIAMETER
        self.neck: float = self.lower + rise
        self.upper: float = self.neck + rise
        self.side: float = math.sqrt(2.0) * (self.bulb - RADIUS)
        layers = math.ceil(self.grains / max(int(self.side / (2.15 * RADIUS)) ** 2, 1))
        self.top: float = self.upper + 2.3 * RADIUS * layers + 2.0 * DIAMETER
        self.seconds: float = SETTLE + FLOW * size**3 + 1.5
        self.passed: list[tuple[float, float]] = []

    def scene(self, label: str) -> Scene:
        wide = self.bulb + WALL + 0.05
        scene = Scene(((-wide, -wide, 0.0), (wide, wide, self.top)))
        material = gravel(scene)
        fine = 0.5 * RADIUS
        for name, begin in (("front", math.pi), ("back", 0.0)):
            parts = [Sdf.from_mesh(revolved(each, begin, math.pi), spacing=fine) for each in self._sections()]
            scene.add_tool(parts, name, material)
        scene.add_tool(Sdf.cylinder(NECK + 0.5 * RADIUS, RADIUS), "plug", material, pose=(0, 0, self.neck, 1, 0, 0, 0))
        half = 0.5 * self.side
        scene.fill_box(material, (-half, -half, self.upper), (half, half, self.top), count=self.grains, seed=self.seed)
        return scene

    def _sections(self) -> list[Floats]:
        """Sections of the parts of the glass: distance from the axis and height of their corners [m]."""
        inner, outer, low, high = self.bulb, self.bulb + WALL, self.lower, self.upper
        upright = [
            np.array([[inner, a], [inner, b], [outer, b], [outer, a]]) for a, b in ((0.0, low), (high, self.top))
        ]
        cone = np.array([[NECK, self.neck], [inner, high], [outer, high], [NECK + WALL, self.neck]])
        mirrored = np.array([[inner, low], [NECK, self.neck], [NECK + WALL, self.neck], [outer, low]])
        return [*upright, cone, mirrored]

    def move(self, label: str, world: World, now: float) -> Any:
        if now >= SETTLE - 1e-9:
            world.set_tool_active("plug", False)

    def measure(self, label: str, world: World, now: float) -> None:
        below = world.clump_poses[0, :, 2] < self.neck
        self.passed.append((now, float(below.mean())))

    def straightness(self) -> tuple[float, float]:
        """Of the line through the passage of the middle 80 %: R2, and its slope [grains/s]."""
        time, share = np.array(self.passed).T
        used = (share > MIDDLE[0]) & (share < MIDDLE[1])
        if used.sum() < 3:
            return 0.0, 0.0
        slope, start = np.polyfit(time[used], share[used], 1)
        left = share[used] - (slope * time[used] + start)
        return 1.0 - float(left.var() / share[used].var()), float(slope) * self.grains

    def checks(self) -> list[Check]:
        straight, rate = self.straightness()
        out = self.passed[-1][1]
        return [
            Check("R2 of a line through the middle 80 % of the mass", straight, f"> {STRAIGHT}", straight > STRAIGHT),
            Check("flow [grains/s]", rate, "> 0", rate > 0.0),
            Check("share of the grains that passed", out, "all but those that lie on the glass, > .98", out > 0.98),
            *self.kept(),
        ]

    def plots(self) -> dict[str, tuple[str, str, Lines]]:
        time, share = np.array(self.passed).T
        return {"passed": ("time [s]", "share of the mass below the neck", {"tetrahedra": (time, share)})}

    def camera(self) -> DepthCamera:
        return DepthCamera.perspective(
            height=HEIGHT + 160,
            width=HEIGHT,
            fov=0.4,
            position=(0.0, -2.9 * self.top, 0.9 * self.top),
            target=(0.0, 0.0, 0.47 * self.top),
            far=20.0 * self.top,
        )

    def tool_colors(self, world: World) -> NDArray[np.uint8]:
        return np.array([GLASS, GLASS, (110, 90, 70)], np.uint8)
