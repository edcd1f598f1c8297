"""rings.py: closed rings fall onto poles: with friction they stay there in a tangle, without they scatter."""

from __future__ import annotations

import math
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from granular_gym.engine.scene import Scene
from granular_gym.engine.world import World
from granular_gym.shapes.clump import Clump
from granular_gym.shapes.sdf import Sdf
from granular_gym.viewing.scene_runs import Check, Lines
from granular_gym.viewing.space_runs import DENSITY, GRAVITY, Point, SpaceRun

#: spheres of a ring, as published, and half its width [m]; their overlap makes it smooth, and 8.7 mm thick
SPHERES, SIZE = 110, 0.05
RING = Clump.ring(SIZE, SPHERES, overlap=0.7)
#: radius of the poles, distance of neighbours, and height [m]
POLE, PITCH, HIGH = 0.012, 0.12, 0.25
#: rings a pole, as 1,000 on 25
SHARE = 40
#: friction and restitution
SURFACES = {"low": (0.05, 0.6), "high": (0.8, 0.1)}
#: of a ring that rolls on its edge, which would go on for ever
ROLLING = 0.3
SEEDS = 3


class Rings(SpaceRun):
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
        self.dt: float = 1e-4 * max(int(0.5e4 * float(RING.radii[0]) / math.sqrt(2.0 * GRAVITY * self.top)), 1)
        self.eye: Point = (1.0 * self.half, -3.0 * self.half, 2.2 * self.half)
        self.target: Point = (0.0, 0.0, 0.15 * self.half)
        self.spread: dict[str, list[tuple[float, float]]] = {label: [] for label in self.labels}

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
        points = world.clump_poses[0, :, :3]
        off = points[:, :2] - points[:, :2].mean(axis=0)
        self.spread[label].append((now, float(np.sqrt((off * off).sum(axis=1).mean()))))

    def checks(self) -> list[Check]:
        found = []
        for k in range(SEEDS):
            low, high = (self.spread[f"{name} {k}"][-1][1] for name in SURFACES)
            found.append(
                Check(
                    f"radius of gyration with high friction, {k} [m]",
                    high,
                    f"less than with low, {low:.4f}",
                    high < low,
                )
            )
        return [*found, *self.kept()]

    def plots(self) -> dict[str, tuple[str, str, Lines]]:
        lines = {label: tuple(np.array(spread).T) for label, spread in self.spread.items()}
        return {"spread": ("time [s]", "horizontal radius of gyration [m]", lines)}

    def colors(self, world: World) -> NDArray[np.uint8]:
        palette = np.array(
            [[176, 48, 42], [38, 98, 160], [222, 150, 40], [60, 140, 70], [120, 80, 150], [90, 150, 160]], np.uint8
        )
        result: NDArray[np.uint8] = palette[world.clump_of_grain % len(palette)]
        return result

    def tool_colors(self, world: World) -> NDArray[np.uint8]:
        return np.array([[150, 150, 155]], np.uint8)
