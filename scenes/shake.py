"""shake.py: two elastic cubes and a heavy rigid one between them are gripped by two panels, lifted and shaken."""

from __future__ import annotations

import math
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from granular_gym.engine.continuum import Elastic
from granular_gym.engine.scene import Scene
from granular_gym.engine.world import World
from granular_gym.shapes.sdf import Sdf
from granular_gym.viewing.matter_runs import PER_CELL, STEEL, MatterRun, spacing_for
from granular_gym.viewing.scene_runs import Check, Lines
from granular_gym.viewing.space_runs import GRAVITY, Floats, Point

SIDE, DENSITY, FRICTION = 0.1, 100.0, 0.8
MATTER = Elastic(5e6, 0.4)
#: mass of an elastic cube, which is that of the rigid one at a ratio of 1, and of a panel [kg]
CUBE, PANEL = DENSITY * SIDE**3, 1.0
#: half sizes of a panel, and how far it stands off at first [m]
HALF, OFF = (0.04, 0.06, 0.06), 0.01
#: each panel presses with this multiple of the weight of the three cubes, on springs that give by a side
GRIP = 3.0
#: beginning and end of closing and lifting, beginning of the shaking, duration of a leg [s]; legs
CLOSE, LIFT, SHAKE, LEG, LEGS = (0.0, 0.4), (0.6, 2.0), 2.2, 0.08, 16
#: how high the panels are lifted, and how far they are shaken to each side [m]
RISE, SWING = 0.2, 0.018
#: way of the panels along their face in the shaking, times of its turns and of its ends
_TURNS = SHAKE + LEG * np.arange(LEGS + 1)
_SIDES = np.array([0.0, *(SWING * (-1.0) ** k for k in range(LEGS - 1)), 0.0])


class Shake(MatterRun):
    """A world for each ratio of the densities of the rigid cube and the elastic ones; the published one is 150."""

    about = "a heavy cube between elastic cubes, gripped, lifted and shaken"
    labels: ClassVar[tuple[str, ...]] = ("1", "10", "150", "1000")
    default_grains = 250
    full_grains = 3456
    seconds: float = 3.6
    eye: Point = (0.35, -1.0, 0.55)
    target: Point = (0.0, 0.0, 0.16)
    fov: float = 0.5
    #: particles in a cell of the grid
    per_cell: float = PER_CELL

    def __init__(self, seed: int = 0, grains: int | None = None) -> None:
        super().__init__(seed, grains)
        #: place of the rigid cube less the mean one of the panels [m], at each time [s]
        self.places: dict[str, list[tuple[float, Floats]]] = {label: [] for label in self.labels}
        self.grips: dict[str, list[float]] = {label: [] for label in self.labels}
        self.ends: dict[str, float] = {}

    def scene(self, label: str) -> Scene:
        scene = Scene(((-0.6, -0.3, 0.0), (0.6, 0.3, 0.6)))
        rubber = scene.add_material(density=DENSITY, friction=FRICTION, continuum=MATTER)
        half, spacing = 0.5 * SIDE, spacing_for(2.0 * SIDE**3, self.grains, self.per_cell)
        for x in (-SIDE, SIDE):
            low, high = (x - half, -half, 0.0), (x + half, half, SIDE)
            scene.add_continuum(rubber, low, high, spacing=spacing, particles_per_cell=self.per_cell)
        mass = CUBE * float(label)
        pose = (0.0, 0.0, half, 1.0, 0.0, 0.0, 0.0)
        scene.add_tool(Sdf.box((half,) * 3), "cube", rubber, pose, mass=mass, inertia=(mass * SIDE**2 / 6.0,) * 3)
        held = mass + 2.0 * CUBE
        stiffness = GRIP * held * GRAVITY / SIDE
        # both panels together bring what they hold to rest without a swing
        damping = 2.0 * math.sqrt(0.5 * stiffness * held)
        for name, at in zip(("left", "right"), self.panels(0.0), strict=True):
            scene.add_tool(Sdf.box(HALF), name, rubber, at, mass=PANEL, stiffness=stiffness, damping=damping)
        return scene

    @staticmethod
    def panels(now: float) -> list[list[float]]:
        """Poses that the panels are drawn to."""
        closed, lifted = (min(max((now - a) / (b - a), 0.0), 1.0) for a, b in (CLOSE, LIFT))
        across = 1.5 * SIDE + OFF + HALF[0] - (OFF + SIDE) * closed
        along, height = float(np.interp(now, _TURNS, _SIDES)), 0.5 * SIDE + 0.02 + RISE * lifted
        return [[x * across, along, height, 1.0, 0.0, 0.0, 0.0] for x in (-1.0, 1.0)]

    def drive(self, label: str, world: World, now: float) -> Any:
        return [[math.nan] * 7, *self.panels(now + self.dt)]

    def measure(self, label: str, world: World, now: float) -> None:
        places = world.tool_poses[0, :, :3].astype(np.float64)
        self.places[label].append((now, places[0] - places[1:].mean(axis=0)))
        self.grips[label].append(-float(world.wrenches[0, 1, 0]))
        self.ends[label] = float(places[0, 2]) - 0.5 * SIDE

    def moved(self, label: str) -> Floats:
        """Place of the rigid cube relative to the panels, less that before they lift (steps, 3) [m]."""
        places = np.array([place for now, place in self.places[label] if now > LIFT[0] - 1e-9])
        moved: Floats = places - places[0]
        return moved

    def figures(self, label: str) -> dict[str, float]:
        moved, grips = self.moved(label), self.grips[label]
        shaken = [grip for grip, (now, _) in zip(grips, self.places[label], strict=True) if now > SHAKE]
        return {
            "drop": -float(moved[:, 2].min()),
            "drop_at_end": -float(moved[-1, 2]),
            "slip_along_panels": float(np.abs(moved[:, 1]).max()),
            "height_at_end": self.ends[label],
            "least_grip_while_shaken": min(shaken),
        }

    def checks(self) -> list[Check]:
        drops = {label: -float(self.moved(label)[:, 2].min()) for label in ("1", "150")}
        return [
            *(
                Check(f"drop of the rigid cube at ratio {label} [m]", drop, "< 5 mm", drop < 5e-3)
                for label, drop in drops.items()
            ),
            *self.solved(),
        ]

    def plots(self) -> dict[str, tuple[str, str, Lines]]:
        lines: Lines = {}
        for label, places in self.places.items():
            times = np.array([now for now, _ in places if now > LIFT[0] - 1e-9])
            lines[f"ratio {label}"] = (times, 1e3 * self.moved(label)[:, 2])
        return {"drop": ("time [s]", "height relative to the panels, less that before the lift [mm]", lines)}

    def tool_colors(self, world: World) -> NDArray[np.uint8]:
        return np.array([(178, 52, 44), STEEL, STEEL], np.uint8)
