"""splash.py: a steel ball falls into a bed of tetrahedra."""

from __future__ import annotations

import math
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from granular_gym.engine.scene import Scene
from granular_gym.engine.world import World
from granular_gym.shapes.clump import Clump
from granular_gym.viewing.clump_runs import DIAMETER, RADIUS, ROOM, ClumpRun, gravel
from granular_gym.viewing.scene_runs import Check, Lines
from granular_gym.viewing.space_runs import GRAVITY, Point, scaled

STEEL = 7800.0  # density [kg/m3]
#: time in which the bed settles before the ball is let go [s], and time after that
SETTLE, AFTER = 0.6, 2.2
#: grains, width of the box, radius of the ball and height of its fall [m] of the size that others are scaled from
GRAINS, WIDTH, BALL, FALL = 3000, 0.33, 0.045, 3.0


class Splash(ClumpRun):
    """The ball is a body; a force equal to its weight holds it until the bed has settled."""

    about = "a steel ball falls into a bed of tetrahedra"
    labels: ClassVar[tuple[str, ...]] = ("splash",)
    default_grains = GRAINS
    full_grains = 45494
    # grains are thrown at 3 m/s and more
    dt: float = 5e-4
    fov: float = 0.5

    def __init__(self, seed: int = 0, grains: int | None = None) -> None:
        super().__init__(seed, grains)
        size = scaled(self.grains, GRAINS)
        self.half: float = 0.5 * WIDTH * size
        #: radius of the ball, depth of the bed [m]
        self.ball: float = BALL * size
        self.depth: float = ROOM * self.grains / (4.0 * self.half**2)
        #: height of the ball's centre before it falls [m]
        self.high: float = self.depth + FALL * size + self.ball
        self.seconds: float = SETTLE + math.sqrt(2.0 * FALL * size / GRAVITY) + AFTER * math.sqrt(size)
        self.eye: Point = (0.4 * size, -1.0 * size, 0.6 * size)
        self.target: Point = (0.0, 0.0, 0.16 * size)
        self.released: bool = False
        self.surface: float = 0.0  # height of the settled bed [m]
        self.heights: list[tuple[float, float]] = []  # of the lowest point of the ball over the settled bed
        self.jumps: list[tuple[float, float]] = []  # of the highest grain, likewise
        self.thrown: NDArray[np.bool_] = np.zeros(self.grains, bool)
        self.moving: NDArray[np.bool_] = np.zeros(self.grains, bool)
        self.crater: float = 0.0
        self.speed: float = math.inf
        self.outside: int = 0

    def scene(self, label: str) -> Scene:
        half, top = self.half, self.high + 4.0 * self.ball + 3.0 * self.depth
        scene = Scene(((-half, -half, 0.0), (half, half, top)))
        material = gravel(scene, friction=0.3, restitution=0.6)
        steel = scene.add_material(density=STEEL, friction=0.3, name="steel")
        scene.fill_box(material, (-half, -half, 0.0), (half, half, top), count=self.grains, seed=self.seed)
        sphere = Clump([(0.0, 0.0, 0.0)], self.ball)
        mass = STEEL * sphere.volume
        # beside the middle, differently for each seed
        x, y = np.random.default_rng(self.seed).uniform(-RADIUS, RADIUS, 2)
        scene.add_body(sphere, mass, name="ball", material=steel, pose=(x, y, self._start(top), 1, 0, 0, 0))
        return scene

    def _start(self, top: float) -> float:
        """Height at which the ball waits [m]: above the grains, which are filled in loosely."""
        layers = math.ceil(self.grains / max(int(2.0 * self.half / (2.1 * RADIUS)) ** 2, 1))
        return max(self.high, 2.2 * RADIUS * layers + 1.2 * self.ball)

    def _hold(self, world: World, share: float) -> None:
        """Carries a share of the weight of the ball."""
        wrenches = np.zeros((world.clump_count, 6))
        ball = world.bodies["ball"]
        wrenches[ball, 2] = share * world.clump_masses[0, ball] * GRAVITY
        world.set_clump_wrenches(wrenches)

    def begin(self, label: str, world: World) -> None:
        self._hold(world, 1.0)

    def move(self, label: str, world: World, now: float) -> Any:
        if not self.released and now >= SETTLE - 1e-9:
            self.released = True
            self._hold(world, 0.0)
            self.surface = float(np.quantile(world.clump_poses[0, : self.grains, 2], 0.98))

    def measure(self, label: str, world: World, now: float) -> None:
        if not self.released:
            return
        poses = world.clump_poses[0]
        ball, z = poses[world.bodies["ball"], :3], poses[: self.grains, 2] - self.surface
        self.heights.append((now - SETTLE, float(ball[2]) - self.ball - self.surface))
        self.jumps.append((now - SETTLE, float(z.max())))
        self.thrown |= z > 2.0 * DIAMETER
        self.moving = np.linalg.norm(world.clump_velocities[0, : self.grains, :3], axis=1) > 0.05
        away = np.hypot(*(poses[: self.grains, :2] - ball[:2]).T)
        near, far = z[(away > self.ball) & (away < 2.0 * self.ball)], z[away > 3.0 * self.ball]
        # the surface of each: its highest grains
        self.crater = float(np.quantile(far, 0.95) - np.quantile(near, 0.95)) if len(near) and len(far) else 0.0
        self.speed = float(np.linalg.norm(world.clump_velocities[0, world.bodies["ball"], :3]))
        self.outside = int((np.abs(poses[:, :2]).max(axis=1) > self.half).sum()) + int((poses[:, 2] < 0.0).sum())

    def checks(self) -> list[Check]:
        deep = -min(height for _, height in self.heights)
        jump = max(height for _, height in self.jumps)
        left = int((self.thrown & self.moving).sum())
        return [
            Check("depth of the ball's lowest point [m]", deep, f"> its radius, {self.ball:.3g}", deep > self.ball),
            Check("depth of the crater around the ball at the end [m]", self.crater, "> 0", self.crater > 0.0),
            Check("speed of the ball at the end [m/s]", self.speed, "at rest, < 1e-3", self.speed < 1e-3),
            Check("height of the splash [m]", jump, f"> 4 grains, {4 * DIAMETER:g}", jump > 4.0 * DIAMETER),
            Check("grains thrown two diameters up", int(self.thrown.sum()), "> 10", int(self.thrown.sum()) > 10),
            Check("of these still in motion at the end", left, "none: all fell back", left == 0),
            Check("grains outside the box", self.outside, "none", self.outside == 0),
            *self.kept(),
        ]

    def plots(self) -> dict[str, tuple[str, str, Lines]]:
        lines: Lines = {}
        for name, heights in (("lowest point of the ball", self.heights), ("highest grain", self.jumps)):
            time, height = np.array(heights).T
            lines[name] = (time, height)
        return {"impact": ("time after release [s]", "height over the settled bed [m]", lines)}

    def colors(self, world: World) -> NDArray[np.uint8]:
        colors = super().colors(world)
        colors[world.clump_of_grain == world.bodies["ball"]] = (120, 128, 140)
        return colors
