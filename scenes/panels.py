"""panels.py: an elastic cube is held by friction between two panels that push with 10 N each."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from granular_gym.engine.continuum import Elastic
from granular_gym.engine.scene import Scene
from granular_gym.engine.world import World
from granular_gym.shapes.sdf import Sdf
from granular_gym.viewing.matter_runs import STEEL, MatterRun, center, spacing_for
from granular_gym.viewing.scene_runs import Check, Lines
from granular_gym.viewing.space_runs import GRAVITY, Floats, Point

SIDE, MASS, FRICTION = 0.1, 0.4, 0.8
MATTER = Elastic(1e5, 0.4)
#: with which each panel pushes [N], its mass [kg] and its half thickness [m]
PUSH, PANEL, HALF = 10.0, 0.5, 0.01
#: when the cube hangs still [s]
STILL = 0.3


class Panels(MatterRun):
    """The panels move along x alone; nothing but friction carries the cube. Steps of 1 ms, as published."""

    about = "an elastic cube between two panels"
    labels: ClassVar[tuple[str, ...]] = ("panels",)
    default_grains = 1000
    seconds: float = 0.6
    dt: float = 1e-3
    drives_per_picture: ClassVar[int] = 40
    eye: Point = (0.25, -0.6, 0.25)
    target: Point = (0.0, 0.0, -0.01)
    fov: float = 0.45

    def __init__(self, seed: int = 0, grains: int | None = None) -> None:
        super().__init__(seed, grains)
        self.forces: list[tuple[float, Floats]] = []  # of the cube on both panels (2, 3) [N]
        self.heights: list[tuple[float, float]] = []

    def scene(self, label: str) -> Scene:
        scene = Scene(((-0.2, -0.2, -0.12), (0.2, 0.2, 0.2)), boundary=dict.fromkeys("xy", "open"))
        rubber = scene.add_material(density=MASS / SIDE**3, friction=FRICTION, continuum=MATTER)
        half = 0.5 * SIDE
        scene.add_continuum(rubber, (-half,) * 3, (half,) * 3, spacing=spacing_for(SIDE**3, self.grains))
        for name, side in (("left", -1.0), ("right", 1.0)):
            panel = Sdf.box((HALF, 0.08, 0.08))
            scene.add_tool(panel, name, rubber, (side * (half + HALF), 0, 0, 1, 0, 0, 0), mass=PANEL, free="x")
        return scene

    def drive(self, label: str, world: World, now: float) -> None:
        world.set_tool_force("left", (PUSH, 0.0, 0.0))
        world.set_tool_force("right", (-PUSH, 0.0, 0.0))

    def measure(self, label: str, world: World, now: float) -> None:
        self.forces.append((now, world.wrenches[0, :, :3].astype(np.float64)))
        self.heights.append((now, float(center(world)[2])))

    def still(self) -> Floats:
        """Forces on the left panel of each step in which the cube hangs still (steps, 3) [N]."""
        return np.array([force[0] for now, force in self.forces if now > STILL])

    def checks(self) -> list[Check]:
        force, hung = self.still(), 0.5 * MASS * GRAVITY
        sunk = max(abs(height - self.heights[0][1]) for _, height in self.heights)
        return [
            # across, the cube still rings as a spring
            _all("force across the left panel [N]", -force[:, 0], PUSH, 0.1),
            _all("force along it, downwards [N]", -force[:, 2], hung, 0.01),
            _all("force along it, sideways [N]", force[:, 1], 0.0, 0.01),
            Check("how far the cube sinks [m]", sunk, "under 1 mm", sunk < 1e-3),
            *self.solved(),
        ]

    def plots(self) -> dict[str, tuple[str, str, Lines]]:
        times = np.array([now for now, _ in self.forces])
        force = np.array([force[0] for _, force in self.forces])
        lines: Lines = {
            "across the panel": (times, -force[:, 0]),
            "downwards": (times, -force[:, 2]),
            "sideways": (times, force[:, 1]),
        }
        return {"forces": ("time [s]", "force on the left panel [N]", lines)}

    def tool_colors(self, world: World) -> NDArray[np.uint8]:
        return np.array([STEEL] * 2, np.uint8)


def _all(name: str, forces: Floats, balance: float, bound: float) -> Check:
    """A check that the force of each step is that of the balance, within a bound [N]; its value is the worst."""
    worst = float(forces[np.abs(forces - balance).argmax()])
    target = f"{balance:.3f} within {bound:g} N after {STILL:g} s"
    return Check(name, worst, target, abs(worst - balance) < bound)
