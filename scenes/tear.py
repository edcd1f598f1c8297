"""tear.py: a bar of hard dough is gripped at both ends, lifted and torn."""

from __future__ import annotations

import math
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from granular_gym.engine.continuum import Continuum, Elastic, VonMises
from granular_gym.engine.scene import Scene
from granular_gym.engine.world import World
from granular_gym.shapes.sdf import Sdf
from granular_gym.viewing.matter_runs import STEEL, MatterRun, pieces, spacing_for
from granular_gym.viewing.scene_runs import Check, Lines
from granular_gym.viewing.space_runs import Point

YOUNG, POISSON, YIELD, DENSITY = 1e5, 0.4, 6e3, 1000.0
MATTER: dict[str, Continuum] = {"dough": VonMises(YOUNG, POISSON, YIELD), "elastic": Elastic(YOUNG, POISSON)}
#: half length of the bar and of its waist, half widths of its ends and of its waist, its height [m]
LONG, WAIST, WIDE, NARROW, HIGH = 0.17, 0.05, 0.04, 0.025, 0.06
VOLUME = 4.0 * HIGH * ((LONG - WAIST) * WIDE + WAIST * NARROW)
#: half sizes of a jaw, how far from the end of the bar it ends, how wide the jaws stand open, how deep they press [m]
JAW, INSET, OPEN, DEEP = (0.05, 0.02, 0.045), 0.01, 0.002, 0.012
#: when the jaws close, lift and pull: beginning and end [s]
CLOSE, LIFT, PULL = (0.0, 0.4), (0.5, 1.5), (1.7, 1.98)
#: how high they lift, and how far each pair is drawn [m]
RISE, APART = 0.12, 0.07


def _done(span: tuple[float, float], now: float) -> float:
    """Which share of a movement is made at a time."""
    return min(max((now - span[0]) / (span[1] - span[0]), 0.0), 1.0)


class Tear(MatterRun):
    """Two worlds that differ by the yield stress alone. Friction with the jaws is 1."""

    about = "a bar of hard dough is gripped at both ends, lifted and torn"
    labels: ClassVar[tuple[str, ...]] = tuple(MATTER)
    default_grains = 1452
    full_grains = 1647
    seconds: float = 2.2
    eye: Point = (0.12, -1.05, 0.5)
    target: Point = (0.0, 0.0, 0.1)
    fov: float = 0.55

    def __init__(self, seed: int = 0, grains: int | None = None) -> None:
        super().__init__(seed, grains)
        self.found: dict[str, list[tuple[float, list[int]]]] = {label: [] for label in self.labels}
        self.pulls: dict[str, list[tuple[float, float]]] = {label: [] for label in self.labels}
        self.lowest: dict[str, float] = {}

    def scene(self, label: str) -> Scene:
        scene = Scene(((-0.45, -0.15, 0.0), (0.45, 0.15, 0.4)), wall_material="dough")
        dough = scene.add_material(density=DENSITY, friction=1.0, continuum=MATTER[label], name="dough")
        for low, high, half in ((-LONG, -WAIST, WIDE), (-WAIST, WAIST, NARROW), (WAIST, LONG, WIDE)):
            scene.add_continuum(dough, (low, -half, 0.0), (high, half, HIGH), spacing=spacing_for(VOLUME, self.grains))
        for name, pose in zip(("left near", "left far", "right near", "right far"), self.jaws(0.0), strict=True):
            scene.add_tool(Sdf.box(JAW), name, dough, pose)
        return scene

    @staticmethod
    def drawn(now: float) -> float:
        """How far the pairs of jaws are drawn apart, both together [m]."""
        return 2.0 * APART * _done(PULL, now)

    @staticmethod
    def jaws(now: float) -> list[list[float]]:
        """Poses of the four jaws."""
        along = LONG - INSET - JAW[0] + 0.5 * Tear.drawn(now)
        across = WIDE + JAW[1] + OPEN - (OPEN + DEEP) * _done(CLOSE, now)
        height = JAW[2] + 0.001 + RISE * _done(LIFT, now)
        return [[x * along, y * across, height, 1.0, 0.0, 0.0, 0.0] for x in (-1.0, 1.0) for y in (-1.0, 1.0)]

    def drive(self, label: str, world: World, now: float) -> Any:
        return self.jaws(now + self.dt)

    def measure(self, label: str, world: World, now: float) -> None:
        self.found[label].append((now, pieces(world)))
        if now > PULL[0]:
            self.pulls[label].append((self.drawn(now), -float(world.wrenches[0, 2:, 0].sum())))
        self.lowest[label] = float(world.positions[0, :, 2].min())

    def figures(self, label: str) -> dict[str, float]:
        found = self.found[label]
        # from when on it is in more than one piece
        parted = [now for now, each in found if len(each) > 1]
        return {
            "pieces": len(found[-1][1]),
            "largest_piece": found[-1][1][0] / 1000.0,
            "largest_pull": max(force for _, force in self.pulls[label]),
            **({"drawn_where_it_parts": self.drawn(parted[0])} if parted else {}),
        }

    def checks(self) -> list[Check]:
        dough, elastic = (self.found[label][-1][1] for label in self.labels)
        before = max(len(found) for label in self.labels for now, found in self.found[label] if now <= PULL[0])
        pull = {label: max(force for _, force in self.pulls[label]) for label in self.labels}
        flow = math.sqrt(1.5) * YIELD * 2.0 * NARROW * HIGH
        up = min(self.lowest.values())
        return [
            Check("pieces of both before the pull", before, "1", before == 1),
            Check("pieces of dough at the end", len(dough), "2", len(dough) == 2),
            Check("smaller of them, share of the dough", dough[-1] / 1000.0, "> .4", dough[-1] > 400),
            Check("pieces of elastic matter at the end", len(elastic), "1", len(elastic) == 1),
            Check(
                "largest pull on dough over the force at which its waist flows",
                pull["dough"] / flow,
                # of a rod, less a tenth for its few cells; in plane strain 2/sqrt(3) of it
                "0.9 .. 1.16",
                0.9 < pull["dough"] / flow < 1.16,
            ),
            Check("largest pull on elastic matter over it", pull["elastic"] / flow, "> 3", pull["elastic"] > 3 * flow),
            Check("height of the lowest particle at the end [m]", up, "> .1, none fell", up > 0.1),
            *self.solved(),
        ]

    def plots(self) -> dict[str, tuple[str, str, Lines]]:
        lines: Lines = {}
        for label, pulls in self.pulls.items():
            drawn, force = np.array(pulls).T
            lines[label] = (drawn, force)
        return {"pull": ("way of both pairs of jaws [m]", "pull [N]", lines)}

    def tool_colors(self, world: World) -> NDArray[np.uint8]:
        return np.array([STEEL] * 4, np.uint8)
