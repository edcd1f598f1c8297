"""packing.py: arcs poured into a column: open arcs nest, closed ones cannot, so the column is higher with closure."""

from __future__ import annotations

import math
from typing import Any, ClassVar

from granular_gym.engine.scene import Scene
from granular_gym.engine.world import World
from granular_gym.shapes.shape2d import Shape2D
from granular_gym.viewing.scene_runs import Check, Lines, Rectangle, SceneRun, surface


class Packing(SceneRun):
    """The same number of arcs of a ring of radius .5 m, closed to 25, 50, 75 and 100 %."""

    about = "arcs fill a column"
    labels: ClassVar[tuple[str, ...]] = ("25", "50", "75", "100")
    default_grains = 200
    seconds: float = 8.0

    def __init__(self, seed: int = 0, grains: int | None = None) -> None:
        super().__init__(seed, grains)
        self.width: float = max(4.0, math.ceil(0.7 * math.sqrt(max(self.grains, 1))))
        self.height: float = 1.3 * self.grains / self.width + 8.0
        self.view: Rectangle = (
            (-0.5, -0.5),
            (self.width + 0.5, 0.8 * self.height),
        )
        self.heights: dict[str, float] = {}
        self.history: dict[str, list[tuple[float, float]]] = {label: [] for label in self.labels}

    def scene(self, label: str) -> Scene:
        scene = Scene(bounds=((0.0, 0.0), (self.width, 2.0 * self.height)))
        material = scene.add_material(density=1000.0, friction=0.1, shape=Shape2D.arc(float(label) / 100.0, 0.5))
        scene.fill_box(material, (0.0, 0.0), (self.width, 2.0 * self.height), count=self.grains, seed=self.seed)
        return scene

    def watch(self, label: str, world: World, now: float) -> None:
        # the mean height of the surface, which no single grain dominates
        self.heights[label] = float(surface(world, 0.0, self.width, max(2, int(self.width) // 2))[1].mean())
        self.history[label].append((now, self.heights[label]))

    def checks(self) -> list[Check]:
        h = self.heights
        nested = max(h["25"], h["50"])
        return [
            Check("height at 75 % closure [m]", h["75"], f"above 25 and 50 %, {nested:.2f}", h["75"] > nested),
            Check("height at 100 % closure [m]", h["100"], f"above 75 %, {h['75']:.2f}", h["100"] > h["75"]),
        ]

    def plots(self) -> dict[str, tuple[str, str, Lines]]:
        lines: dict[str, Any] = {}
        for label, history in self.history.items():
            times, heights = zip(*history, strict=True)
            lines[f"{label} % closed"] = (times, heights)
        return {"height": ("time [s]", "height of the column [m]", lines)}
