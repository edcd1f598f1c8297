"""rings.py: closed rings fall onto poles: friction holds them up in a tangle, without it they lie flat.

A tangle is what friction holds up. A pole holds the rings that it passes through at any friction, so the others tell:
without friction they lie flat on the floor. Their mean height is the check; a ring that has left counts once, wherever
it stops. Figures only: the radius of gyration, which is that of the few rings that roll away on their edges, and the
mean height of all rings, which grows with the number that a pole passes through.
"""

from __future__ import annotations

import math
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from granular_gym.engine.scene import Scene
from granular_gym.engine.world import World
from granular_gym.shapes.clump import Clump
from granular_gym.shapes.sdf import Sdf
from granular_gym.viewing.clump_runs import DENSITY, ClumpRun
from granular_gym.viewing.scene_runs import Check, Lines
from granular_gym.viewing.space_runs import GRAVITY, Point

#: spheres of a ring, as published, and half its width [m]; their overlap makes it smooth, and 8.7 mm thick
SPHERES, SIZE = 110, 0.05
RING = Clump.ring(SIZE, SPHERES, overlap=0.7)
#: radius of its spheres [m]
THICK = float(RING.radii[0])
#: radius of the poles, distance of neighbours, and height [m]
POLE, PITCH, HIGH = 0.012, 0.12, 0.25
#: rings a pole, as 1,000 on 25
SHARE = 40
#: friction and restitution
SURFACES = {"low": (0.05, 0.6), "high": (0.8, 0.1)}
#: of a ring that rolls on its edge, which would go on for ever
ROLLING = 0.3
SEEDS = 3
#: mean height of rings that no pole passes through, with high friction over that with low: at least this
HIGHER = 1.5


class Measured(NamedTuple):
    """Of all rings of a world at a time.

    Attributes:
        time: [s].
        radius_of_gyration: horizontal [m].
        mean_height: of their centres [m].
        free_rings: number of those that no pole passes through.
        free_height: mean height of these [m]; half a ring's thickness where there are none.
    """

    time: float
    radius_of_gyration: float
    mean_height: float
    free_rings: int
    free_height: float


class Rings(ClumpRun):
    """A square of four poles or more, one for 40 rings, in the middle of a wider box."""

    about = "rings fall onto poles, three seeds with low and with high friction and dissipation"
    labels: ClassVar[tuple[str, ...]] = tuple(f"{name} {k}" for k in range(SEEDS) for name in SURFACES)
    default_grains = 40
    full_grains = 1000
    seconds: float = 3.0
    # a few rings still roll
    rest: ClassVar[float] = 0.01
    fov: float = 0.6

    def __init__(self, seed: int = 0, grains: int | None = None) -> None:
        super().__init__(seed, grains)
        #: poles along a side
        self.side: int = max(2, round(math.sqrt(self.grains / SHARE)))
        #: half the width of the field of poles, and of the box [m]
        self.field: float = 0.5 * PITCH * (self.side - 1) + SIZE
        self.half: float = self.field + 0.08 * (self.side + 2)
        columns = int(2.0 * self.field / (2.1 * SIZE)) ** 2
        #: height of the box: above the poles lie layers of rings [m]
        self.top: float = HIGH + 0.05 + 2.2 * SIZE * math.ceil(self.grains / columns + 1)
        # no sphere moves by more than half its radius in a substep, as fast as the highest ring falls
        self.dt: float = 1e-4 * max(int(0.5e4 * THICK / math.sqrt(2.0 * GRAVITY * self.top)), 1)
        self.eye: Point = (1.0 * self.half, -3.0 * self.half, 2.2 * self.half)
        self.target: Point = (0.0, 0.0, 0.15 * self.half)
        #: what `measure` found by label, a row each time
        self.found: dict[str, list[Measured]] = {label: [] for label in self.labels}

    def _poles(self) -> NDArray[np.float64]:
        line = PITCH * (np.arange(self.side) - 0.5 * (self.side - 1))
        return np.stack(np.meshgrid(line, line), axis=-1).reshape(-1, 2)

    def scene(self, label: str) -> Scene:
        name, _, number = label.partition(" ")
        friction, restitution = SURFACES[name]
        scene = Scene(((-self.half, -self.half, 0.0), (self.half, self.half, self.top)))
        steel = scene.add_material(
            density=DENSITY, friction=friction, restitution=restitution, rolling_friction=ROLLING, shape=RING
        )
        poles = [Sdf.capsule(POLE, 0.5 * HIGH).at((x, y, 0.5 * HIGH - POLE)) for x, y in self._poles()]
        scene.add_tool(poles, "poles", steel)
        lower, upper = (-self.field, -self.field, HIGH + 0.02), (self.field, self.field, self.top)
        scene.fill_box(steel, lower, upper, count=self.grains, seed=SEEDS * self.seed + int(number))
        return scene

    def move(self, label: str, world: World, now: float) -> Any:
        return None

    def measure(self, label: str, world: World, now: float) -> None:
        poses = world.clump_poses[0]
        off = poses[:, :2] - poses[:, :2].mean(axis=0)
        free = ~self.threaded(poses)
        self.found[label].append(
            Measured(
                time=now,
                radius_of_gyration=float(np.sqrt((off * off).sum(axis=1).mean())),
                mean_height=float(poses[:, 2].mean()),
                free_rings=int(free.sum()),
                free_height=float(poses[free, 2].mean()) if free.any() else THICK,
            )
        )

    def threaded(self, poses: NDArray[np.float64]) -> NDArray[np.bool_]:
        """Whether the axis of a pole passes through a ring below the pole's top, by ring.

        Args:
            poses: of the rings, (n, 7): centre [m] and quaternion.
        """
        centers, (w, x, y, z) = poses[:, :3], poses[:, 3:].T
        # normal of the disc of each ring, and where the vertical through each pole meets its plane
        normal = np.stack([2.0 * (x * z + w * y), 2.0 * (y * z - w * x), 1.0 - 2.0 * (x * x + y * y)], axis=1)
        upright = np.where(np.abs(normal[:, 2]) < 1e-9, 1e-9, normal[:, 2])
        away = self._poles()[None] - centers[:, None, :2]
        rise = -(away * normal[:, None, :2]).sum(axis=2) / upright[:, None]
        within = (away * away).sum(axis=2) + rise * rise < (SIZE - THICK) ** 2
        result: NDArray[np.bool_] = (within & (centers[:, None, 2] + rise < HIGH)).any(axis=1)
        return result

    def checks(self) -> list[Check]:
        found = []
        for k in range(SEEDS):
            low, high = (self.found[f"{name} {k}"][-1].free_height for name in SURFACES)
            found.append(
                Check(
                    f"mean height of rings without a pole through them, high friction, {k} [m]",
                    high,
                    f"> {HIGHER} times that with low, {low:.4f}",
                    high > HIGHER * low,
                )
            )
        return [*found, *self.kept()]

    def figures(self, label: str) -> dict[str, float]:
        return {name: value for name, value in self.found[label][-1]._asdict().items() if name != "time"}

    def plots(self) -> dict[str, tuple[str, str, Lines]]:
        def lines(name: str) -> Lines:
            return {
                label: (np.array([row.time for row in rows]), np.array([getattr(row, name) for row in rows]))
                for label, rows in self.found.items()
            }

        return {
            "height": ("time [s]", "mean height, no pole through the ring [m]", lines("free_height")),
            "spread": ("time [s]", "horizontal radius of gyration [m]", lines("radius_of_gyration")),
        }

    def colors(self, world: World) -> NDArray[np.uint8]:
        palette = np.array(
            [[176, 48, 42], [38, 98, 160], [222, 150, 40], [60, 140, 70], [120, 80, 150], [90, 150, 160]], np.uint8
        )
        result: NDArray[np.uint8] = palette[world.clump_of_grain % len(palette)]
        return result

    def tool_colors(self, world: World) -> NDArray[np.uint8]:
        return np.array([[150, 150, 155]], np.uint8)
