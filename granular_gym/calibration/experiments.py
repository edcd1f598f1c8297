"""experiments.py: the experiments of a calibration: a heap, a bed, a bin that empties.

Each candidate, a friction and a rolling friction, has one env of a world. Lengths are measured in grain radii r, times
in sqrt(r / g).
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np

from granular_gym.base import checks
from granular_gym.base.types import Floats
from granular_gym.calibration.grains import GRAVITY, Filling, Grains
from granular_gym.engine.scene import Scene
from granular_gym.engine.solver import Solver
from granular_gym.engine.world import World
from granular_gym.errors import ArgumentError
from granular_gym.shapes.mesh import Mesh
from granular_gym.shapes.sdf import Sdf


class Experiment(Protocol):
    """A simulated measurement; `measure` gives one value for each candidate."""

    @property
    def target(self) -> float:
        """The value to be met."""
        ...

    @property
    def name(self) -> str:
        """Name in reports."""
        ...

    @property
    def unit(self) -> str:
        """Unit of target and values."""
        ...

    def measure(self, grains: Grains, candidates: Floats, seeds: Sequence[int]) -> Floats:
        """Values (n,) of candidates (n, 2): friction and rolling friction of all pairs of materials.

        The initial state of candidate k follows from seeds[k].
        """
        ...


def _check(experiment: Any, upper: float) -> None:
    """Refuses a target or a number of grains out of range."""
    checks.number("target", experiment.target, 0.0, upper, above=True)
    checks.integer("grain_count", experiment.grain_count, 50, 1_000_000)


@dataclasses.dataclass(frozen=True)
class ReposeAngle:
    """The slope of the heap that a slowly lifted cylinder leaves on a floor of the same material.

    Attributes:
        target: slope of the heap [deg].
        grain_count: grains of the heap.
    """

    target: float
    grain_count: int = 600
    name = "angle of repose"
    unit = "deg"

    def __post_init__(self) -> None:
        _check(self, 89.0)

    def measure(self, grains: Grains, candidates: Floats, seeds: Sequence[int]) -> Floats:
        """Slope of each heap [deg]; see `_slope`."""
        r = grains.sizes.largest
        inner = r * max(6.0, 0.95 * self.grain_count ** (1.0 / 3.0))
        filling = Filling(grains, self.grain_count, inner, cylinder=True)
        far = 12.0 * inner
        scene = Scene(((-far, -far, 0.0), (far, far, 3.0 * filling.height)), gravity=(0, 0, -GRAVITY))
        filling.add_to(scene)
        smooth = scene.add_material(density=grains.density, friction=0.0, rolling_friction=0.0, name="cylinder")
        tube = Sdf.from_mesh(_tube(inner, inner + 4.0 * r, filling.height), spacing=r)
        scene.add_tool(tube, name="cylinder", material=smooth)
        with _world(scene, filling, candidates, seeds) as world:
            _run(world, r, 30.0)
            _run(world, r, 0.9 * filling.height / r, tool_poses=[[0, 0, 0.9 * filling.height, 1, 0, 0, 0]])
            world.set_tool_poses([[0, 0, 2.0 * filling.height, 1, 0, 0, 0]])
            _run(world, r, 40.0)
            return np.array([_slope(positions) for positions in world.positions.astype(np.float64)])


@dataclasses.dataclass(frozen=True)
class BulkDensity:
    """Mass over volume of a poured bed, away from walls.

    Attributes:
        target: bulk density [kg/m3].
        grain_count: grains of the bed.
    """

    target: float
    grain_count: int = 600
    name = "bulk density"
    unit = "kg/m3"

    def __post_init__(self) -> None:
        _check(self, 1e6)

    def measure(self, grains: Grains, candidates: Floats, seeds: Sequence[int]) -> Floats:
        """Bulk density of the middle half of a bed that is periodic along x and y [kg/m3]."""
        r = grains.sizes.largest
        half = r * max(5.0, 0.75 * self.grain_count ** (1.0 / 3.0))
        filling = Filling(grains, self.grain_count, half, cylinder=False)
        boundary = {"x": "periodic", "y": "periodic", "z": ("wall", "open")}
        bounds = ((-half, -half, 0.0), (half, half, 1.2 * filling.height))
        scene = Scene(bounds, gravity=(0, 0, -GRAVITY), boundary=boundary)
        filling.add_to(scene)
        with _world(scene, filling, candidates, seeds) as world:
            _run(world, r, 12.0 + 6.0 * math.sqrt(filling.height / r))
            radii = world.radii[0].astype(np.float64)
            values = []
            for heights in world.positions[:, :, 2].astype(np.float64):
                low, high = np.quantile(heights, 0.97) * np.array([0.2, 0.7])
                solid = _volume_below(heights, radii, high) - _volume_below(heights, radii, low)
                values.append(grains.density * solid / (4.0 * half**2 * (high - low)))
            return np.array(values)


@dataclasses.dataclass(frozen=True)
class DischargeRate:
    """Mass flow through a square opening in the flat floor of a bin that is 2.5 times as wide.

    Attributes:
        target: mass flow [kg/s].
        opening: side of the square [m]; at least 10 radii of the largest grain, else it clogs.
        grain_count: grains in the bin.
    """

    target: float
    opening: float
    grain_count: int = 2000
    name = "discharge rate"
    unit = "kg/s"

    def __post_init__(self) -> None:
        _check(self, 1e9)
        checks.number("opening", self.opening, 0.0, above=True)

    def measure(self, grains: Grains, candidates: Floats, seeds: Sequence[int]) -> Floats:
        """Mean mass flow [kg/s] while the discharged share rises from 20 % to 45 %; 0 for a clogged bin."""
        r = grains.sizes.largest
        hole = 0.5 * self.opening
        if self.opening < 10.0 * r:
            raise ArgumentError(f"opening: expected at least 10 radii ({10 * r:g} m), got {self.opening:g}")
        half = 2.5 * hole
        filling = Filling(grains, self.grain_count, half, cylinder=False)
        depth, thick = 12.0 * r, 2.0 * r
        bounds = ((-half, -half, -depth), (half, half, 1.2 * filling.height))
        boundary = {"x": "wall", "y": "wall", "z": ("open", "open")}
        scene = Scene(bounds, gravity=(0, 0, -GRAVITY), boundary=boundary)
        filling.add_to(scene)
        rim = 0.5 * (half - hole)
        sides = [Sdf.box((rim, half, thick)).at((s * (hole + rim), 0.0, -thick)) for s in (-1.0, 1.0)] + [
            Sdf.box((hole, rim, thick)).at((0.0, s * (hole + rim), -thick)) for s in (-1.0, 1.0)
        ]
        scene.add_tool(Sdf.union(sides), name="floor")
        scene.add_tool(Sdf.box((hole, hole, thick)).at((0.0, 0.0, -thick)), name="gate")
        # the column above the opening, a sixth of the grains, may fall out at once
        first, last, interval = 0.2, 0.45, 0.5
        with _world(scene, filling, candidates, seeds) as world:
            _run(world, r, 40.0)
            floor, gate = [0, 0, 0, 1, 0, 0, 0], [0, 0, -100.0 * depth, 1, 0, 0, 0]
            world.set_tool_poses([floor, gate])
            mass = grains.density * 4.0 / 3.0 * math.pi * world.radii[0].astype(np.float64) ** 3
            discharged = [np.zeros(len(candidates))]
            for step in range(1, 4000):
                _run(world, r, interval)
                discharged.append((world.positions[:, :, 2] < -thick) @ mass / mass.sum())
                # a bin that discharges nothing for 50 intervals is clogged
                before = discharged[max(step - 50, 0)]
                clogged = discharged[-1] == before if step > 100 else np.zeros(len(candidates), bool)
                if ((discharged[-1] >= last) | clogged).all():
                    break
        rates = np.zeros(len(candidates))
        times = interval * math.sqrt(r / GRAVITY) * np.arange(len(discharged))
        for k, share in enumerate(np.array(discharged).T):
            if share[-1] >= last:
                begin, end = np.interp([first, last], share, times)
                rates[k] = (last - first) * mass.sum() / (end - begin)
        return rates


def _world(scene: Scene, filling: Filling, candidates: Floats, seeds: Sequence[int]) -> World:
    """A world with one env for each candidate, grains in their initial state; tools of another material keep theirs."""
    world = scene.build(env_count=len(candidates), solver=Solver(iterations=20))
    world.set_pair("grains", "grains", friction=candidates[:, 0], rolling_friction=candidates[:, 1])
    world.set_grains(*filling.initial_state(seeds))
    return world


def _run(world: World, radius: float, times: float, tool_poses: Any = None) -> None:
    """Steps a world by `times` units of sqrt(r / g)."""
    # a grain that fell from 60 radii moves by half a radius in a substep
    unit = math.sqrt(radius / GRAVITY)
    substeps = max(round(times / 0.045), 1)
    world.step(times * unit / substeps, substeps, tool_poses)


def _slope(positions: Floats) -> float:
    """Slope [deg] of the cone with the heap's height of the centre of mass and median distance from the axis.

    In a cone of height H and radius R these are H / 4 and R / 2. The median is robust to grains that rolled away.
    """
    distance = np.hypot(*(positions[:, :2] - np.median(positions[:, :2], axis=0)).T)
    return float(np.degrees(np.arctan(2.0 * positions[:, 2].mean() / np.median(distance))))


def _volume_below(z: Floats, radii: Floats, height: float) -> float:
    """Volume [m3] of the parts of spheres below a height."""
    t = np.clip(height - z, -radii, radii)
    return float((np.pi * (radii**2 * t - t**3 / 3.0) + 2.0 / 3.0 * np.pi * radii**3).sum())


def _tube(inner: float, outer: float, height: float, sides: int = 48) -> Mesh:
    """A tube, open at both ends, that stands on z = 0; lengths [m]."""
    angle = 2.0 * np.pi * np.arange(sides) / sides
    circle = np.stack([np.cos(angle), np.sin(angle)], axis=1)
    profile = [(inner, 0.0), (outer, 0.0), (outer, height), (inner, height)]
    vertices = np.concatenate([np.c_[radius * circle, np.full(sides, z)] for radius, z in profile])
    near = np.arange(sides)
    after = (near + 1) % sides
    faces = []
    for k in range(4):
        a, b = k * sides, (k + 1) % 4 * sides
        faces += [np.stack([a + near, b + after, a + after], 1), np.stack([a + near, b + near, b + after], 1)]
    return Mesh(vertices, np.concatenate(faces).astype(np.int32))
