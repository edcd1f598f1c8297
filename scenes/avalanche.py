"""avalanche.py: tetrahedra run down a slope over a village."""

from __future__ import annotations

import math
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from granular_gym.engine.clumps import random_orientations
from granular_gym.engine.scene import Scene
from granular_gym.engine.world import World
from granular_gym.shapes.clump import Clump
from granular_gym.shapes.mesh import Mesh
from granular_gym.shapes.sdf import Sdf
from granular_gym.viewing.clump_runs import RADIUS, ClumpRun, gravel
from granular_gym.viewing.scene_runs import Check, Lines
from granular_gym.viewing.space_runs import GRAVITY, Point, scaled

#: time in which the grains settle behind the gate, and time of the avalanche [s]
SETTLE, RUN = 0.6, 3.0
SLOPE = math.radians(38.0)
#: grains, width of the valley, length of the slope, of the part of it below the gate, and of the plain [m], of the size
#: that others are scaled from
GRAINS, WIDE, DOWN, BARE, PLAIN = 1800, 0.4, 0.9, 0.45, 1.4
#: layers of grains behind the gate
LAYERS = 7
#: length, width, heights of the walls and of the roof of a house [m]
HOUSE = (0.07, 0.055, 0.045, 0.03)
#: densities of a house over its volume [kg/m3]: of planks, and of stone
WOOD, STONE = 150.0, 2500.0
#: places of the houses from the foot of the slope and across [m], and their densities; no grain reaches the last one
HOUSES = (
    (0.12, -0.12, WOOD),
    (0.12, 0.0, STONE),
    (0.12, 0.12, WOOD),
    (0.26, -0.07, WOOD),
    (0.26, 0.07, WOOD),
    (1.25, 0.0, WOOD),
)
STONE_HOUSE = 1  # its index
#: a house that grains touch in fewer pictures, or that moves by less [m], is not hit, or holds
TOUCHED, MOVED = 3, 0.01


def house_mesh() -> Mesh:
    """A house with a gabled roof, around its middle."""
    x, y, wall, roof = HOUSE
    base = [(-x / 2, -y / 2), (x / 2, -y / 2), (x / 2, y / 2), (-x / 2, y / 2)]
    points = (
        [(*p, 0.0) for p in base] + [(*p, wall) for p in base] + [(-x / 2, 0, wall + roof), (x / 2, 0, wall + roof)]
    )
    faces = [
        (0, 2, 1), (0, 3, 2), (0, 1, 5), (0, 5, 4), (1, 2, 6), (1, 6, 5), (2, 3, 7), (2, 7, 6), (3, 0, 4), (3, 4, 7),
        (4, 5, 9), (4, 9, 8), (6, 7, 8), (6, 8, 9), (5, 6, 9), (7, 4, 8),
    ]  # fmt: skip
    return Mesh(points, faces)


class Avalanche(ClumpRun):
    """Houses are bodies of spheres that friction alone holds; one of stone stands among those of planks."""

    about = "an avalanche runs over a village"
    labels: ClassVar[tuple[str, ...]] = ("avalanche",)
    default_grains = GRAINS
    # of 294,820 spheres, those of ground and houses left out
    full_grains = 68000
    seconds: float = SETTLE + RUN
    fov: float = 0.55

    def __init__(self, seed: int = 0, grains: int | None = None) -> None:
        super().__init__(seed, grains)
        size = scaled(self.grains, GRAINS)
        self.size: float = size
        self.seconds: float = SETTLE + RUN * math.sqrt(size)
        self.house: Clump = Clump.from_mesh(house_mesh(), 200, sphere_radius=0.007).scaled(size)
        self.eye: Point = (1.1 * size, -1.35 * size, 0.85 * size)
        self.target: Point = (-0.02 * size, 0.0, 0.12 * size)
        half, left = 0.5 * WIDE * size, -DOWN * size * math.cos(SLOPE)
        #: lower and upper corner of the bounds [m]
        self.valley: tuple[Point, Point] = ((left, -half, -0.1), (PLAIN * size, half, 1.2 * size))
        #: height of the highest grain before the gate opens [m]
        self.drop: float = 0.0
        self.fronts: list[tuple[float, float]] = []
        self.moved: list[NDArray[np.float64]] = []  # of the houses, (pictures, houses) [m]
        self.touched: list[NDArray[np.bool_]] = []  # by grains, likewise
        self.begin_at: NDArray[np.float64] = np.zeros((len(HOUSES), 3))
        #: houses that no grain has come near yet, and the way of any of them [m]
        self.apart: NDArray[np.bool_] = np.ones(len(HOUSES), bool)
        self.crept: float = 0.0
        self.lost: int = 0

    def scene(self, label: str) -> Scene:
        size, half = self.size, 0.5 * WIDE * self.size
        scene = Scene(self.valley, wall_material="glass")
        material = gravel(scene)
        scene.add_material(density=2500.0, friction=0.1, name="glass")
        ground = scene.add_material(density=2500.0, friction=0.6, name="ground")
        walls = scene.add_material(density=1000.0, friction=0.6, name="walls")
        scene.add_material(density=2500.0, friction=0.15, name="ice")
        scene.add_tool(Sdf.plane(), "ground", ground)
        scene.add_tool(Sdf.plane((math.sin(SLOPE), 0.0, math.cos(SLOPE))), "slope", "ice")
        scene.add_tool(Sdf.box((RADIUS, half, 0.12 * size)), "gate", "glass", pose=self._gate())
        points = self._places(half)
        scene.add_grains(material, points, orientations=random_orientations(self.seed, len(points)))
        low = float((self.house.radii - self.house.centers[:, 2]).max())
        for x, y, density in HOUSES:
            pose = (x * size, y * size, low, 1.0, 0.0, 0.0, 0.0)
            scene.add_body(self.house, density * self.house.volume, material=walls, pose=pose)
        return scene

    def _gate(self) -> tuple[float, ...]:
        """Pose of the gate while it is closed: across the slope."""
        at = BARE * self.size
        turn = 0.5 * SLOPE
        return (-at * math.cos(SLOPE), 0.0, at * math.sin(SLOPE), math.cos(turn), 0.0, math.sin(turn), 0.0)

    def _places(self, half: float) -> NDArray[np.float64]:
        """Positions of the grains: layers along the slope above the gate (grains, 3) [m]."""
        step, count = 2.1 * RADIUS, max(int(2.0 * half / (2.1 * RADIUS)), 1)
        layers = max(round(LAYERS * self.size), 1)
        k = np.arange(self.grains)
        across, up, along = k % count, k // count % layers, k // (count * layers)
        s = BARE * self.size + 2.5 * RADIUS + step * along
        n = 1.2 * RADIUS + step * up
        cosine, sine = math.cos(SLOPE), math.sin(SLOPE)
        y = step * (across - 0.5 * (count - 1))
        return np.stack([n * sine - s * cosine, y, s * sine + n * cosine], axis=1)

    def begin(self, label: str, world: World) -> None:
        self.begin_at = world.clump_poses[0, self.grains :, :3].copy()

    def move(self, label: str, world: World, now: float) -> Any:
        if now >= SETTLE - 1e-9:
            world.set_tool_active("gate", False)

    def measure(self, label: str, world: World, now: float) -> None:
        poses = world.clump_poses[0]
        points, houses = poses[: self.grains, :3], poses[self.grains :, :3]
        if now <= SETTLE:
            self.drop = float(points[:, 2].max())
        self.fronts.append((now, float(np.quantile(points[:, 0], 0.99))))
        self.apart &= self.begin_at[:, 0] - self.house.radius > points[:, 0].max() + RADIUS
        self.moved.append(np.linalg.norm(houses - self.begin_at, axis=1))
        self.crept = max(self.crept, float(self.moved[-1][self.apart].max(initial=0.0)))
        owner, pairs = world.clump_of_grain, world.contacts().pairs
        pairs = owner[pairs[pairs[:, 1] >= 0]]
        with_grain = pairs.min(axis=1) < self.grains
        self.touched.append(np.isin(np.arange(len(HOUSES)) + self.grains, pairs[with_grain].max(axis=1)))
        low, high = self.valley
        inside = ((poses[:, :3] > low) & (poses[:, :3] < high)).all(axis=1)
        self.lost = int((~inside).sum())

    def speed(self) -> float:
        """Largest speed of the front over a tenth of a second [m/s]."""
        time, front = np.array(self.fronts).T
        span = max(round(0.1 * self.pictures_per_second), 1)
        return float(((front[span:] - front[:-span]) / (time[span:] - time[:-span])).max())

    def checks(self) -> list[Check]:
        bound = math.sqrt(2.0 * GRAVITY * self.drop)
        moved, touched = np.array(self.moved), np.array(self.touched)
        hit = touched.sum(axis=0) >= TOUCHED
        wooden = np.array([density == WOOD for _, _, density in HOUSES])
        least = float(moved[-1][hit & wooden].min(initial=math.inf))
        row = np.array([x == HOUSES[STONE_HOUSE][0] for x, _, _ in HOUSES]) & wooden
        stone, beside = float(moved[-1][STONE_HOUSE]), float(moved[-1][row].min())
        speed = self.speed()
        return [
            Check("speed of the front [m/s]", speed, f"below that of a free slide, {bound:.3g}", 0.0 < speed < bound),
            Check("houses hit", int(hit.sum()), "all but the last", bool(hit[:-1].all() and not hit[-1])),
            Check("least way of a wooden house that was hit [m]", least, f"> {MOVED:g}", least > MOVED),
            Check("way of the stone house [m]", stone, f"less than those beside it, {beside:.3g}", stone < beside),
            Check(
                "way of any house before grains come [m]", self.crept, "< 1e-4: friction holds it", self.crept < 1e-4
            ),
            Check("grains and houses outside the valley", self.lost, "none", self.lost == 0),
            *self.kept(),
        ]

    def plots(self) -> dict[str, tuple[str, str, Lines]]:
        time, front = np.array(self.fronts).T
        ways = np.array(self.moved).T
        names = [f"{'wood' if density == WOOD else 'stone'} at {x:g}, {y:g} m" for x, y, density in HOUSES]
        return {
            "front": ("time [s]", "front from the foot of the slope [m]", {"grains": (time, front)}),
            "houses": (
                "time [s]",
                "way of the house [m]",
                {n: (time, way) for n, way in zip(names, ways, strict=True)},
            ),
        }

    def colors(self, world: World) -> NDArray[np.uint8]:
        colors = super().colors(world)
        for k, (_, _, density) in enumerate(HOUSES):
            colors[world.clump_of_grain == self.grains + k] = (165, 62, 48) if density == WOOD else (105, 110, 120)
        return colors

    def tool_colors(self, world: World) -> NDArray[np.uint8]:
        return np.array([(168, 176, 160), (205, 214, 222), (120, 90, 60)], np.uint8)
