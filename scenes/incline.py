"""incline.py: a block on a slope of 16 degrees: with friction .28 it slides, with .30 and .32 it holds."""

from __future__ import annotations

import math
from typing import ClassVar

import numpy as np

from granular_gym.engine.scene import Scene
from granular_gym.engine.world import World
from granular_gym.shapes.shape2d import Shape2D
from granular_gym.viewing.scene_runs import Check, Lines, Rectangle, SceneRun

ANGLE = math.radians(16.0)
GRAVITY = 9.81


class Incline(SceneRun):
    """Face on face: the block slides with friction below tan 16 degrees = .287; at .28 it accelerates by .0636 m/s2."""

    about = "a block on a slope of 16 degrees"
    labels: ClassVar[tuple[str, ...]] = ("0.28", "0.30", "0.32")
    seconds: float = 3.0
    view: Rectangle = ((-1.6, -1.0), (1.6, 1.0))

    def __init__(self, seed: int = 0, grains: int | None = None) -> None:
        super().__init__(seed, grains)
        self.displacements: dict[str, list[tuple[float, float]]] = {label: [] for label in self.labels}

    def scene(self, label: str) -> Scene:
        scene = Scene(bounds=((-3.0, -3.0), (3.0, 3.0)), boundary={"x": "open", "y": "open"})
        block, ramp = Shape2D.block(0.6, 0.3), Shape2D.block(2.4, 0.3)
        moving = scene.add_material(density=1000.0, friction=float(label), shape=block)
        still = scene.add_material(density=1000.0, friction=float(label), shape=ramp, fixed=True)
        up = np.array([-math.sin(ANGLE), math.cos(ANGLE)])
        scene.add_grains(still, [(0.0, 0.0)], angles=ANGLE)
        scene.add_grains(moving, [0.7 * self._down(-1.0) + 0.3 * up], angles=ANGLE)
        return scene

    @staticmethod
    def _down(sign: float = 1.0) -> np.ndarray:
        return -sign * np.array([math.cos(ANGLE), math.sin(ANGLE)])

    def watch(self, label: str, world: World, now: float) -> None:
        self.displacements[label].append((now, float(world.positions[0, 1, :2] @ self._down())))

    def checks(self) -> list[Check]:
        found = []
        for label, displacement in self.displacements.items():
            time, position = np.array(displacement).T
            # after the first second, when the block has settled on the slope
            late = time >= 1.0 - 1e-9
            t, x = time[late] - time[late][0], position[late] - position[late][0]
            if label == "0.28":
                acceleration = float(2.0 * np.polyfit(t, x, 2)[0])
                exact = GRAVITY * (math.sin(ANGLE) - 0.28 * math.cos(ANGLE))
                passed = abs(acceleration / exact - 1.0) <= 0.1
                found.append(Check("acceleration at 0.28 [m/s2]", acceleration, f"{exact:.4f} within 10 %", passed))
            else:
                slip = float(np.abs(x).max())
                found.append(Check(f"displacement in 2 s at {label} [m]", slip, "under 1 mm", slip < 1e-3))
        return found

    def plots(self) -> dict[str, tuple[str, str, Lines]]:
        lines = {}
        for label, displacement in self.displacements.items():
            time, x = np.array(displacement).T
            lines[f"friction {label}"] = (time, x - x[0])
        return {"displacement": ("time [s]", "displacement down the slope [m]", lines)}
