"""silo.py: octagons and # of the same size leave a hopper through a narrow and a wide opening."""

from __future__ import annotations

import math
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from granular_gym.engine.scene import Scene
from granular_gym.engine.solver import Solver
from granular_gym.engine.world import World
from granular_gym.shapes.sdf import Sdf
from granular_gym.shapes.shape2d import Shape2D
from granular_gym.viewing.scene_runs import Check, Lines, Rectangle, SceneRun, surface

#: circumradius [m]; the paper names none
RADIUS = 0.4
SETTLE = 3.0
SLOPE = math.radians(45.0)
#: a hopper that discharges nothing for this time is jammed [s]
JAM = 3.0


class Silo(SceneRun):
    """Grains of circumradius 0.4 m, openings of 8 m and 16 m, plugged for 3 s."""

    about = "a silo empties"
    labels: ClassVar[tuple[str, ...]] = ("octagon 8 m", "hash 8 m", "octagon 16 m", "hash 16 m")
    default_grains = 1500
    full_grains = 11311
    seconds: float = 13.0
    # with 20 iterations, arches that are stable with 60 creep and break after seconds
    solver: Solver = Solver(iterations=40)

    def __init__(self, seed: int = 0, grains: int | None = None) -> None:
        super().__init__(seed, grains)
        self.half: float = max(16.0, 0.4 * math.sqrt(max(self.grains, 1)))
        #: height of the opening above the floor [m]
        self.drop: float = self.half
        self.view: Rectangle = (
            (-3.0 * self.half, -1.0),
            (3.0 * self.half, 4.5 * self.half),
        )
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
        # fill layer by layer, each as wide as the hopper at its height
        left, y, pitch = self.grains, self.drop + 0.5, 2.2 * shape.circumradius
        while left > 0:
            half = min(self.half, 0.5 * opening + (y - self.drop) / math.tan(SLOPE)) - 0.1
            count = min(left, int(2.0 * half / pitch))
            scene.fill_box(material, (-half, y), (half, y + pitch), count=count, seed=self.seed * self.grains + left)
            left, y = left - count, y + pitch
        return scene

    def drive(self, label: str, world: World, now: float) -> Any:
        removed = -4.0 * self.half if now >= SETTLE else 0.0
        return [[0, 0, 0, 1, 0, 0, 0], [0, self.drop - 1.0 + removed, 0, 1, 0, 0, 0]]

    def watch(self, label: str, world: World, now: float) -> None:
        below = float((world.positions[0, :, 1] < self.drop).mean())
        self.drained[label].append((now, below))
        # falling grains are faster there than those that slide down a pile
        top = 0.6 * self.drop
        self.profiles[label] = surface(world, -3.0 * self.half, 3.0 * self.half, 96, top, speed=8.0)

    def flow(self, label: str) -> float:
        """Mean discharge rate [1/s] from the removal of the plug until nine tenths are out, or the end."""
        times, shares = np.array(self.drained[label]).T
        last = min(int(np.searchsorted(shares, 0.9)), len(times) - 1)
        return float(self.grains * shares[last] / max(times[last] - SETTLE, self.dt))

    def jammed(self, label: str) -> bool:
        """Whether grains remain above the opening and none came out in the last JAM seconds."""
        times, shares = np.array(self.drained[label]).T
        before = int(np.searchsorted(times, times[-1] - JAM))
        return bool(shares[-1] < 0.9 and shares[-1] == shares[before])

    def checks(self) -> list[Check]:
        flows = {label: self.flow(label) for label in self.labels}
        runs = {label: not self.jammed(label) for label in self.labels}
        slow, wide = flows["octagon 8 m"], flows["octagon 16 m"]
        out = self.drained["hash 8 m"][-1][1]
        return [
            Check(
                "octagons through 8 m [1/s]", slow, "to the end, slower than 16 m", runs["octagon 8 m"] and slow < wide
            ),
            Check("octagons through 16 m [1/s]", wide, "to the end", runs["octagon 16 m"]),
            Check("# out through 8 m, share", out, "jam, under a tenth", not runs["hash 8 m"] and out < 0.1),
            Check("# through 16 m [1/s]", flows["hash 16 m"], "to the end", runs["hash 16 m"]),
        ]

    def plots(self) -> dict[str, tuple[str, str, Lines]]:
        lines = {label: tuple(np.array(drained).T) for label, drained in self.drained.items()}
        piles = {label: profile for label, profile in self.profiles.items() if label.endswith("16 m")}
        return {
            "drained": ("time [s]", "share below the opening", lines),
            "piles": ("x [m]", "height of the pile [m]", piles),
        }
