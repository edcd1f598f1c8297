"""pour.py: a liquid is poured from a cup into a glass: water, and syrup."""

from __future__ import annotations

import math
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from granular_gym.engine.continuum import Liquid
from granular_gym.engine.scene import Scene
from granular_gym.engine.world import World
from granular_gym.shapes.sdf import Sdf
from granular_gym.viewing.matter_runs import MatterRun, spacing_for
from granular_gym.viewing.scene_runs import Check, Lines
from granular_gym.viewing.space_runs import GRAVITY, Floats, Point

#: density [kg/m3], and bulk modulus [Pa], with which .3 m of liquid are denser by less than 1 % at their bottom
DENSITY, BULK = 1000.0, 4e5
#: viscosity [Pa s] of each liquid, its friction with cup and glass
LIQUIDS = {"water": (1e-3, 0.0), "syrup": (1.0, 1.0)}
#: half sizes of the insides of cup and glass, thickness of their walls (over two spacings of the grid), how high the
#: cup is filled at first [m]
CUP, GLASS, WALL, FILLED = (0.09, 0.06, 0.12), (0.14, 0.065, 0.14), 0.07, 0.2
VOLUME = 4.0 * CUP[0] * CUP[1] * FILLED
#: middle of the upright cup, and where the middle of its lip stays while it turns [m]
CUP_AT = (-0.26, 0.0, 0.56)
LIP = (CUP_AT[0] + CUP[0], 0.0, CUP_AT[2] + CUP[2])
GLASS_AT = (-0.055, 0.0, GLASS[2] + WALL, 1.0, 0.0, 0.0, 0.0)
#: when the cup begins to turn and how long it takes [s], how far it turns [rad]
START, TURNING, TURN = 0.1, 2.0, 2.2
#: over the last of the time [s] the glass is weighed
WEIGHED = 0.5


def vessel(inside: Point) -> tuple[Sdf, Sdf]:
    """A box open at the top around an inside of given half sizes [m]: all but its front, and that."""
    x, y, z = inside
    half = 0.5 * WALL
    floor = Sdf.box((x + WALL, y + WALL, half)).at((0.0, 0.0, -z - half))
    ends = [Sdf.box((half, y + WALL, z + half)).at((s * (x + half), 0.0, -half)) for s in (-1.0, 1.0)]
    front, back = (Sdf.box((x + WALL, half, z + half)).at((0.0, s * (y + half), -half)) for s in (-1.0, 1.0))
    return Sdf.union(floor, *ends, back), front


class Pour(MatterRun):
    """A world for each liquid; the cup turns about its lip, half of it runs out as it turns by a quarter."""

    about = "a liquid is poured from a cup into a glass"
    labels: ClassVar[tuple[str, ...]] = tuple(LIQUIDS)
    default_grains = 1500
    full_grains = 10000
    seconds: float = 5.0
    dt: float = 5e-3
    eye: Point = (0.25, -1.7, 0.75)
    target: Point = (-0.03, 0.0, 0.36)
    fov: float = 0.5
    hidden: ClassVar[tuple[str, ...]] = ("cup front", "glass front")

    def __init__(self, seed: int = 0, grains: int | None = None) -> None:
        super().__init__(seed, grains)
        #: time [s], share of the liquid in the glass, weight on it [N], greatest density over that at rest, by label
        self.rows: dict[str, list[tuple[float, float, float, float]]] = {label: [] for label in self.labels}
        #: at the end: height of the liquid [m], its mean speed [m/s], by label
        self.ends: dict[str, tuple[float, float]] = {}

    def scene(self, label: str) -> Scene:
        viscosity, friction = LIQUIDS[label]
        scene = Scene(((-0.7, -0.4, 0.0), (0.5, 0.4, 1.0)))
        liquid = scene.add_material(density=DENSITY, friction=friction, continuum=Liquid(BULK, viscosity))
        low = np.array(CUP_AT) - CUP
        high = (low[0] + 2.0 * CUP[0], low[1] + 2.0 * CUP[1], low[2] + FILLED)
        scene.add_continuum(liquid, low, high, spacing=spacing_for(VOLUME, self.grains))
        for name, inside, pose in (("cup", CUP, self._cup(0.0)), ("glass", GLASS, GLASS_AT)):
            for part, shape in zip((name, f"{name} front"), vessel(inside), strict=True):
                scene.add_tool(shape, part, liquid, pose)
        return scene

    @staticmethod
    def _cup(now: float) -> tuple[float, ...]:
        """Pose of the cup at a time [s]."""
        share = min(max((now - START) / TURNING, 0.0), 1.0)
        angle = TURN * share * share * (3.0 - 2.0 * share)
        x, z = CUP_AT[0] - LIP[0], CUP_AT[2] - LIP[2]
        sine, cosine = math.sin(angle), math.cos(angle)
        place = (LIP[0] + cosine * x + sine * z, 0.0, LIP[2] - sine * x + cosine * z)
        return (*place, math.cos(0.5 * angle), 0.0, math.sin(0.5 * angle), 0.0)

    def drive(self, label: str, world: World, now: float) -> Floats:
        after = now + 1.0 / (self.pictures_per_second * self.drives_per_picture)
        return np.array([self._cup(after)] * 2 + [GLASS_AT] * 2)

    @staticmethod
    def _in_glass(world: World) -> NDArray[np.bool_]:
        offsets = np.abs(world.positions[0].astype(np.float64) - GLASS_AT[:3])
        inside: NDArray[np.bool_] = (offsets < GLASS).all(axis=1)
        return inside

    def measure(self, label: str, world: World, now: float) -> None:
        masses, inside = world.grain_masses[0].astype(np.float64), self._in_glass(world)
        share = float(masses[inside].sum() / masses.sum())
        dense = float(world.densities[0].max() / DENSITY)
        self.rows[label].append((now, share, -float(world.wrenches[0, 2:, 2].sum()), dense))
        # twice the height of the middle of mass
        above = world.positions[0, inside, 2].astype(np.float64) - WALL
        speeds = np.linalg.norm(world.velocities[0, inside], axis=1)
        if inside.any():
            self.ends[label] = (2.0 * float(above.mean()), float(speeds.mean()))

    def figures(self, label: str) -> dict[str, float]:
        rows = np.array(self.rows[label])
        height, speed = self.ends[label]
        half = float(np.interp(0.5, rows[:, 1], rows[:, 0]))
        return {"poured": rows[-1, 1], "half_poured_at": half, "height": height, "speed": speed}

    def checks(self) -> list[Check]:
        found = []
        for label in self.labels:
            rows = np.array(self.rows[label])
            poured, (height, speed) = float(rows[-1, 1]), self.ends[label]
            late = rows[rows[:, 0] > self.seconds - WEIGHED]
            weight = float(late[:, 2].mean() / (late[:, 1].mean() * VOLUME * DENSITY * GRAVITY))
            level = height * 4.0 * GLASS[0] * GLASS[1] / (poured * VOLUME)
            dense = float(rows[:, 3].max())
            found += [
                Check(f"share in the glass at the end, {label}", poured, "> .9", poured > 0.9),
                Check(
                    f"weight on the glass over that in it, {label}", weight, "1 within 10 %", abs(weight - 1.0) < 0.1
                ),
                Check(f"volume by the height over that in it, {label}", level, "1 within 5 %", abs(level - 1.0) < 0.05),
                Check(f"greatest density over that at rest, {label}", dense, "< 1.05", dense < 1.05),
                Check(f"mean speed at the end [m/s], {label}", speed, "< .1", speed < 0.1),
            ]
        return [*found, *self.solved()]

    def plots(self) -> dict[str, tuple[str, str, Lines]]:
        lines: Lines = {}
        for label, rows in self.rows.items():
            times, shares, _, _ = np.array(rows).T
            lines[label] = (times, shares)
        return {"poured": ("time [s]", "share in the glass", lines)}

    def colors(self, world: World) -> NDArray[np.uint8]:
        return np.full((world.grain_count, 3), (72, 132, 190), np.uint8)

    def tool_colors(self, world: World) -> NDArray[np.uint8]:
        return np.array([(190, 196, 204)] * 4, np.uint8)
