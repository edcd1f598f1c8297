"""silo.py: octagons and # of the same size leave a hopper through a narrow and a wide opening."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from granular_gym.scene import Scene
from granular_gym.scene_runs import Check, Lines, SceneRun, surface
from granular_gym.sdf import Sdf
from granular_gym.shape2d import Shape2D
from granular_gym.world import World

#: circumradius [m], that of the arcs of the paper's packing; for the silo it names none
RADIUS = 0.7
SETTLE = 5.0
SLOPE = math.radians(35.0)


class Silo(SceneRun):
    """Grains of circumradius 0.7 m, openings of 8 m and 16 m, plugged for 5 s."""

    about = "a silo empties"
    labels = ("octagon 8 m", "hash 8 m", "octagon 16 m", "hash 16 m")
    default_grains = 400
    seconds = 20.0

    def __init__(self, seed: int = 0, grains: int | None = None) -> None:
        super().__init__(seed, grains)
        self.half = max(16.0, 1.3 * RADIUS * math.sqrt(max(self.grains, 1)))
        #: height of the opening above the floor [m]
        self.drop = self.half
        self.view = ((-2.2 * self.half, -1.0), (2.2 * self.half, 4.5 * self.half))
        self.drained: dict[str, list[tuple[float, float]]] = {label: [] for label in self.labels}
        self.profiles: dict[str, tuple[NDArray[Any], NDArray[Any]]] = {}

    def _opening(self, label: str) -> float:
        return float(label.split()[1])

    def scene(self, label: str) -> Scene:
        shape = Shape2D.octagon(RADIUS) if label.startswith("octagon") else Shape2D.hash(RADIUS)
        opening, wide = self._opening(label), 3.0 * self.half
        tall = self.drop + 16.0 * self.half
        scene = Scene(bounds=((-wide, 0.0), (wide, tall)))
        material = scene.add_material(density=1000.0, friction=0.4, shape=shape)
        # two slopes from the walls of the silo down to the opening
        run = self.half - 0.5 * opening
        length, thick = run / math.cos(SLOPE), 1.0
        rise = run * math.tan(SLOPE)
        parts = []
        for sign in (-1.0, 1.0):
            x, y = sign * (0.5 * opening + 0.5 * run), self.drop + 0.5 * rise
            turn = 0.5 * sign * SLOPE
            below = (sign * thick * math.sin(SLOPE), -thick * math.cos(SLOPE))
            parts.append(
                Sdf.box((0.5 * length, thick, 1.0)).at(
                    (x + below[0], y + below[1], 0.0), (math.cos(turn), 0.0, 0.0, math.sin(turn))
                )
            )
            parts.append(Sdf.box((1.0, tall, 1.0)).at((sign * (self.half + 1.0), self.drop + rise + tall - 1.0, 0.0)))
        scene.add_tool(parts, "hopper", material)
        scene.add_tool(
            Sdf.box((0.5 * opening + 0.5, 1.0, 1.0)), "plug", material, pose=(0, self.drop - 1.0, 0, 1, 0, 0, 0)
        )
        top = self.drop + rise
        scene.fill_box(material, (-self.half, top), (self.half, tall), count=self.grains, seed=self.seed)
        return scene

    def drive(self, label: str, world: World, now: float) -> Any:
        gone = -4.0 * self.half if now >= SETTLE else 0.0
        return [[0, 0, 0, 1, 0, 0, 0], [0, self.drop - 1.0 + gone, 0, 1, 0, 0, 0]]

    def watch(self, label: str, world: World, now: float) -> None:
        below = float((world.positions[0, :, 1] < self.drop).mean())
        self.drained[label].append((now, below))
        self.profiles[label] = surface(world, -3.0 * self.half, 3.0 * self.half, 96, self.drop, speed=2.0)

    def flow(self, label: str) -> float:
        """Grains per second that came out in the last quarter of the time since the plug was pulled."""
        times, shares = np.array(self.drained[label]).T
        begin = np.searchsorted(times, SETTLE + 0.75 * (times[-1] - SETTLE))
        return float(self.grains * (shares[-1] - shares[begin]) / (times[-1] - times[begin]))

    def checks(self) -> list[Check]:
        flows = {label: self.flow(label) for label in self.labels}
        slow, wide = flows["octagon 8 m"], flows["octagon 16 m"]
        return [
            Check("octagons through 8 m at last [1/s]", slow, "flow, slower than 16 m", 0.0 < slow < wide),
            Check("# through 8 m at last [1/s]", flows["hash 8 m"], "jam: 0", flows["hash 8 m"] == 0.0),
            Check("# through 16 m at last [1/s]", flows["hash 16 m"], "flow", flows["hash 16 m"] > 0.0),
        ]

    def plots(self) -> dict[str, tuple[str, str, Lines]]:
        lines = {label: tuple(np.array(drained).T) for label, drained in self.drained.items()}
        piles = {label: profile for label, profile in self.profiles.items() if label.endswith("16 m")}
        return {
            "drained": ("time [s]", "share below the opening", lines),
            "piles": ("x [m]", "height of the pile [m]", piles),
        }
