"""tabled.py: scenes for the law of tables: a law of contact as tables, and its step in NumPy, all pairs in double
precision, written for this alone."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.interpolate import RegularGridInterpolator

import granular_gym as gg
from granular_gym.engine.pair_table import WALL

Floats = NDArray[np.float64]
Law = Callable[[ArrayLike, ArrayLike, ArrayLike], tuple[Floats, Floats, Floats]]

RADIUS, DENSITY, DT = 0.025, 1000.0, 0.001
MASS = 4.0 / 3.0 * np.pi * RADIUS**3 * DENSITY
#: slope of friction where sliding begins [N s/m]
SLIDING = 8.0
#: gap from which on the law is zero [m]
REACH = 0.3 * RADIUS


def contact(stiffness: float, damping: float, friction: float, sticky: float = 0.0) -> Law:
    """A smooth contact: a quadratic spring, damping that grows with the overlap, friction that fades as sliding does;
    sticky: an attraction [N] where surfaces are apart."""

    def law(gap: ArrayLike, normal_velocity: ArrayLike, sliding_speed: ArrayLike) -> tuple[Floats, Floats, Floats]:
        overlap = np.maximum(-np.asarray(gap, float), 0.0)
        apart = np.clip(np.asarray(gap, float) / REACH, 0.0, 1.0)
        elastic = stiffness * overlap * overlap / RADIUS - sticky * np.sin(np.pi * apart) ** 2
        dissipative = -damping * overlap / RADIUS * np.asarray(normal_velocity, float)
        bound, speed = friction * stiffness * overlap * overlap / RADIUS, np.asarray(sliding_speed, float)
        # as SLIDING speed while that is far below the bound
        tangential = SLIDING * speed * bound / np.maximum(bound + SLIDING * speed, 1e-30)
        return tuple(np.broadcast_arrays(elastic, dissipative, tangential))  # type: ignore[return-value]

    return law


def bond(stiffness: float, damping: float) -> Law:
    """A linear spring with a damper, up to a gap of a radius."""

    def law(gap: ArrayLike, normal_velocity: ArrayLike, sliding_speed: ArrayLike) -> tuple[Floats, Floats, Floats]:
        elastic = -stiffness * np.asarray(gap, float)
        dissipative = -damping * np.asarray(normal_velocity, float)
        return tuple(np.broadcast_arrays(elastic, dissipative, 0.0 * np.asarray(sliding_speed)))  # type: ignore[return-value]

    return law


def sampled(law: Law, least: float = -RADIUS, most: float = REACH, nodes: int = 25) -> gg.PairForces:
    """A law at nodes; that of gaps and speeds are closest around 0."""
    gap = np.concatenate([least * np.linspace(1.0, 0.0, nodes) ** 2, most * np.linspace(0.0, 1.0, 9)[1:]])
    normal = 3.0 * np.linspace(-1.0, 1.0, 15) ** 3
    sliding = 3.0 * np.linspace(0.0, 1.0, 12) ** 2
    return gg.PairForces(gap, normal, sliding, *law(*np.meshgrid(gap, normal, sliding, indexing="ij")))


def table(**settings: Any) -> gg.PairTable:
    """Sand and clay: both touch, clay is bonded, and sand sticks to clay a little."""
    sand, clay, both = contact(4e3, 12.0, 0.5), contact(3e3, 15.0, 0.2), contact(3e3, 12.0, 0.3, sticky=0.2)
    forces = {
        (0, 0, False): sampled(sand),
        (0, 1, False): sampled(both),
        (1, 1, False): sampled(clay),
        (1, 1, True): sampled(bond(2e3, 5.0), -RADIUS, RADIUS),
        (0, WALL, False): sampled(contact(4e3, 12.0, 0.4)),
        (1, WALL, False): sampled(contact(4e3, 12.0, 0.4)),
    }
    return gg.PairTable(("sand", "clay"), forces, dt=DT, radius=RADIUS, masses=(MASS, 1.5 * MASS), **settings)


def heap(count: int = 60, periodic: bool = False, bonds: bool = True, seed: int = 1, height: float = 0.6) -> gg.Scene:
    """Sand, up to a height [m], that falls on clay, whose grains are bonded to their neighbours, in a box."""
    boundary = {"x": "periodic" if periodic else "wall", "z": ("wall", "open")}
    scene = gg.Scene(((-0.15, -0.12, 0.0), (0.15, 0.12, height + 0.4)), boundary=boundary)
    sand = scene.add_material(density=DENSITY, friction=0.0, restitution=0.0, name="sand")
    clay = scene.add_material(density=1.5 * DENSITY, friction=0.0, restitution=0.0, name="clay")
    scene.wall_material = clay
    places = 0.051 * (np.stack(np.meshgrid(*[np.arange(3)] * 3, indexing="ij"), -1).reshape(-1, 3) - (1.0, 1.0, 0.0))
    thrown = np.tile((0.4, 0.2, -0.5), (27, 1))
    held = scene.add_grains(clay, places + np.array((0.0, 0.0, 0.08)), RADIUS, velocities=thrown)
    scene.fill_box(sand, (-0.15, -0.12, 0.25), (0.15, 0.12, height), count=count, radius=RADIUS, seed=seed)
    if bonds:
        apart = np.linalg.norm(places[:, None] - places[None], axis=-1)
        pairs = np.argwhere(np.triu((apart < 0.08) & (apart > 0.0)))
        scene.add_bonds(pairs + held.start)
    return scene


@dataclasses.dataclass
class Reference:
    """The grains of env 0 of a world in table mode, moved by NumPy.

    Args:
        world: whose grains and scene these are.
        law: its table.
    """

    world: gg.World
    law: gg.PairTable

    def __post_init__(self) -> None:
        arrays = self.world._frozen.arrays
        self.x = self.world.positions[0].astype(float)
        self.v = self.world.velocities[0].astype(float)
        self.spin = self.world.angular_velocities[0].astype(float)
        self.radius = arrays["radius"].astype(float)
        names = self.world._frozen.material_names
        self.kind = np.array([self.law.kinds.index(names[m]) for m in arrays["grain_material"]])
        self.mass = arrays["density"].astype(float)[arrays["grain_material"]] * 4.0 / 3.0 * np.pi * self.radius**3
        self.low, self.high = arrays["lower"].astype(float), arrays["upper"].astype(float)
        self.boundary, self.gravity = arrays["boundary"], arrays["gravity"].astype(float)
        n = len(self.x)
        self.length = self.radius[:, None] + self.radius[None]
        self.bonded = np.zeros((n, n), bool)
        if arrays["bonds"] is not None:
            owner = np.repeat(np.arange(n), np.diff(arrays["bonds"]["first"]))
            self.bonded[owner, arrays["bonds"]["other"]] = True
            self.length[owner, arrays["bonds"]["other"]] = arrays["bonds"]["length"]
        self.read = {key: _reader(forces) for key, forces in self.law.forces.items()}

    def step(self, dt: float) -> None:
        """One step of symplectic Euler."""
        force, torque = self._pairs()
        self._walls(force, torque)
        self.v += dt * (self.gravity + force / self.mass[:, None])
        self.spin += dt * torque / (0.4 * self.mass * self.radius**2)[:, None]
        self.x += dt * self.v
        for axis in np.flatnonzero(self.boundary[:, 0] == 3):
            self.x[:, axis] = self.low[axis] + np.mod(
                self.x[:, axis] - self.low[axis], self.high[axis] - self.low[axis]
            )

    def _pairs(self) -> tuple[Floats, Floats]:
        apart = self.x[:, None] - self.x[None]
        for axis in np.flatnonzero(self.boundary[:, 0] == 3):
            period = self.high[axis] - self.low[axis]
            apart[..., axis] -= period * np.round(apart[..., axis] / period)
        distance = np.linalg.norm(apart, axis=-1)
        np.fill_diagonal(distance, np.inf)
        normal = apart / distance[..., None]
        velocity = self.v[:, None] - self.v[None]
        if self.law.torque == "contact":
            rim = self.spin * self.radius[:, None]
            velocity = velocity - np.cross(rim[:, None], normal) - np.cross(rim[None], normal)
        total = np.zeros_like(apart)
        for (one, two, bonded), read in self.read.items():
            if two != WALL:
                kinds = (self.kind[:, None] == one) & (self.kind[None] == two)
                which = (kinds | kinds.T) & (self.bonded == bonded)
                gap = np.where(which, distance - self.length, np.inf)
                total += _force(read, gap, normal, velocity)
        torque = np.zeros_like(self.x)
        if self.law.torque == "contact":
            torque = np.cross(-normal * self.radius[:, None, None], total).sum(axis=1)
        return total.sum(axis=1), torque

    def _walls(self, force: Floats, torque: Floats) -> None:
        for axis in range(3):
            for side in range(2):
                if self.boundary[axis, side] != 1:
                    continue
                normal = np.zeros(3)
                normal[axis] = 1.0 - 2.0 * side
                gap = (self.x[:, axis] - (self.low, self.high)[side][axis]) * normal[axis] - self.radius
                velocity = self.v
                if self.law.torque == "contact":
                    velocity = velocity - np.cross(self.spin * self.radius[:, None], normal)
                for kind in range(len(self.law.kinds)):
                    read = self.read[kind, WALL, False]
                    push = _force(read, np.where(self.kind == kind, gap, np.inf), normal, velocity)
                    force += push
                    if self.law.torque == "contact":
                        torque += np.cross(-normal * self.radius[:, None], push)


Reader = Callable[[Floats, Floats, Floats], Floats]


def _reader(forces: gg.PairForces) -> Reader:
    """Normal and tangential force by SciPy's linear interpolation, held at the ends, zero from the last gap on."""
    axes = [getattr(forces, name).astype(float) for name in ("gap", "normal_velocity", "sliding_speed")]
    values = np.stack([forces.elastic.astype(float) + forces.dissipative, forces.tangential], -1)
    inner = RegularGridInterpolator(axes, values)

    def read(gap: Floats, normal: Floats, sliding: Floats) -> Floats:
        points = [np.clip(x, axis[0], axis[-1]) for x, axis in zip((gap, normal, sliding), axes, strict=True)]
        found: Floats = inner(np.stack(points, -1))
        found[gap >= axes[0][-1]] = 0.0
        return found

    return read


def _force(read: Reader, gap: Floats, normal: Floats, velocity: Floats) -> Floats:
    near = np.isfinite(gap) & (gap < 2.0 * RADIUS)
    direction = np.broadcast_to(normal, velocity.shape)[near]
    moving = velocity[near]
    parting = (moving * direction).sum(axis=-1)
    slip = moving - parting[:, None] * direction
    sliding = np.linalg.norm(slip, axis=-1)
    found = read(gap[near], parting, sliding)
    total = np.zeros(velocity.shape)
    total[near] = found[:, :1] * direction - found[:, 1:] * slip / np.maximum(sliding, 1e-30)[:, None]
    return total
