"""slope.py: a stiff ball slides or rolls down a slope of 45 degrees, beside the closed form for a rigid one."""

from __future__ import annotations

import math
from typing import ClassVar

import numpy as np

from granular_gym.engine.continuum import Elastic
from granular_gym.engine.scene import Scene
from granular_gym.engine.world import World
from granular_gym.shapes.sdf import Sdf
from granular_gym.viewing.matter_runs import MatterRun, center
from granular_gym.viewing.scene_runs import Check, Lines
from granular_gym.viewing.space_runs import GRAVITY, Point

RADIUS, DENSITY = 0.5, 1000.0
MATTER = Elastic(1e8, 0.2)
#: component of gravity along the slope, and into it [m/s2]
DOWN = GRAVITY * math.sqrt(0.5)
#: friction and spacing of the nodes [m] of each world
WORLDS = {
    "0": (0.0, 0.2),
    "0.2": (0.2, 0.2),
    "0.3": (0.3, 0.2),
    "0.6": (0.6, 0.2),
    "0.6 finer grid": (0.6, 0.1),
}


def way(friction: float, time: float) -> float:
    """How far a rigid ball is down the slope [m]: equation 27 of Zong et al., with the sine that its print lacks."""
    sticks = friction > 2.0 / 7.0
    return DOWN * time**2 * (5.0 / 14.0 if sticks else 0.5 * (1.0 - friction))


class Slope(MatterRun):
    """Gravity is turned, not the slope. All worlds have as many particles, also that with the finer grid."""

    about = "a stiff ball on a slope of 45 degrees"
    labels: ClassVar[tuple[str, ...]] = tuple(WORLDS)
    default_grains = 2800
    full_grains = 6777
    seconds: float = 1.0
    light: ClassVar[Point] = (-0.3, -0.6, 0.8)
    eye: Point = (1.5, -8.0, 1.6)
    target: Point = (1.6, 0.0, 0.1)
    fov: float = 0.5
    up: ClassVar[Point] = (-1.0, 0.0, 1.0)

    def __init__(self, seed: int = 0, grains: int | None = None) -> None:
        super().__init__(seed, grains)
        self.start: float = 0.0
        self.ways: dict[str, list[tuple[float, float]]] = {label: [] for label in self.labels}
        self.spins: dict[str, float] = {}  # speed of the rim over that of the centre

    def scene(self, label: str) -> Scene:
        friction, spacing = WORLDS[label]
        scene = Scene(
            ((-1.0, -1.0, 0.0), (6.0, 1.0, 2.0)), gravity=(DOWN, 0.0, -DOWN), boundary={"x": "open", "y": "open"}
        )
        rubber = scene.add_material(density=DENSITY, friction=friction, continuum=MATTER)
        ball = Sdf.sphere(RADIUS).at((0.0, 0.0, RADIUS))
        volume = 4.0 / 3.0 * math.pi * RADIUS**3
        per_cell = max(self.grains * spacing**3 / volume, 1.0)
        scene.add_continuum(rubber, shape=ball, spacing=spacing, particles_per_cell=per_cell)
        return scene

    def drive(self, label: str, world: World, now: float) -> None:
        if now == 0.0:
            self.start = float(center(world)[0])

    def measure(self, label: str, world: World, now: float) -> None:
        middle, masses = center(world), world.grain_masses[0].astype(np.float64)
        self.ways[label].append((now, float(middle[0]) - self.start))
        arms, velocities = world.positions[0] - middle, world.velocities[0].astype(np.float64)
        turning = masses @ np.cross(arms, velocities)[:, 1] / (masses @ (arms[:, 0] ** 2 + arms[:, 2] ** 2))
        self.spins[label] = float(turning * RADIUS * masses.sum() / (masses @ velocities[:, 0]))

    def figures(self, label: str) -> dict[str, float]:
        time, way_down = self.ways[label][-1]
        return {
            "way": way_down,
            "way_over_closed_form": way_down / way(WORLDS[label][0], time),
            "rim_speed_over_speed": self.spins[label],
        }

    def checks(self) -> list[Check]:
        ends = {label: self.ways[label][-1] for label in self.labels}
        found = [_near(f"way at friction {label} [m]", *ends[label], WORLDS[label][0]) for label in ("0", "0.2", "0.3")]
        # what rolling loses is in proportion to the spacing: see docs/films.md
        (time, coarse), (_, fine) = ends["0.6"], ends["0.6 finer grid"]
        found.append(
            _near("way at friction 0.6, both grids extended to a spacing of 0 [m]", time, 2.0 * fine - coarse, 0.6)
        )
        lost = (1.0 - fine / way(0.6, time)) / (1.0 - coarse / way(0.6, time))
        found.append(
            Check("what rolling loses, finer over coarser grid", lost, "half, .4 to .6", abs(lost - 0.5) < 0.1)
        )
        spin = self.spins["0.6 finer grid"]
        found.append(Check("speed of the rim over speed where it rolls", spin, "1 within 2 %", abs(spin - 1.0) < 0.02))
        spin = self.spins["0"]
        found.append(Check("the same without friction", spin, "0 within .001", abs(spin) < 1e-3))
        return found + self.solved()

    def plots(self) -> dict[str, tuple[str, str, Lines]]:
        lines: Lines = {}
        for label, ways in self.ways.items():
            times, measured = np.array(ways).T
            lines[f"friction {label}"] = (times, measured)
        for friction in sorted({friction for friction, _ in WORLDS.values()}):
            lines[f"closed form, friction {friction:g}"] = (times, np.array([way(friction, t) for t in times]))
        return {"way": ("time [s]", "way down the slope [m]", lines)}


def _near(name: str, time: float, measured: float, friction: float) -> Check:
    """A check that a way is that of the closed form; steps of implicit Euler alone make it 1 % longer in 1 s."""
    exact = way(friction, time)
    return Check(name, measured, f"{exact:.3f} within 2 %", abs(measured / exact - 1.0) < 0.02)
