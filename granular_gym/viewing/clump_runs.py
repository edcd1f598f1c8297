"""clump_runs.py: what the experiments with clumps in space share: grains, and a ledger of momentum.

They follow the films of N. Bell, Y. Yu, P. J. Mucha, *Particle-based simulation of granular materials* (SCA 2005).
"""

from __future__ import annotations

import abc
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from granular_gym.engine.scene import Scene
from granular_gym.engine.world import World
from granular_gym.shapes.clump import Clump
from granular_gym.viewing.scene_runs import Check
from granular_gym.viewing.space_runs import GRAVITY, Floats, SpaceRun

#: radius of the ball that holds a grain [m], its diameter, and its density [kg/m3]
RADIUS, DIAMETER, DENSITY = 0.01, 0.02, 2500.0
TETRAHEDRON = Clump.tetrahedron(RADIUS)
#: volume of a bed of tetrahedra over their number [m3], at a solid fraction of .55
ROOM = TETRAHEDRON.volume / 0.55
#: kinetic energy over mass below which a world is at rest [m2/s2]: 1 cm/s on average
REST = 0.5e-4
#: pictures over which the reaction at the end is averaged: .4 s
LAST = 10
_SAND = np.array([[214, 184, 132], [196, 160, 104], [226, 201, 155], [178, 146, 98]], np.uint8)


class Ledger:
    """Momentum of all grains of a world beside the impulses that gravity, applied forces, tools and walls gave them.

    Args:
        world: as it is before its first step.

    Attributes:
        weight: of all grains [N].
        reactions: vertical force of tools and walls on the grains over the weight, mean of each step.
    """

    weight: float
    reactions: list[float]

    def __init__(self, world: World) -> None:
        self._masses: Floats = world.clump_masses[0]
        self.weight = float(self._masses.sum()) * GRAVITY
        self.reactions = []
        self._begin = self._momentum(world)
        self._impulse: Floats = np.zeros(3)
        self._time, self._most = 0.0, 0.0

    def _momentum(self, world: World) -> Floats:
        result: Floats = self._masses @ world.clump_velocities[0, :, :3]
        return result

    def add(self, world: World, now: float) -> None:
        """Enters a step that ended at a time [s]."""
        span, self._time = now - self._time, now
        on_tools = world.wrenches[0, :, :3].astype(np.float64).sum(axis=0)
        force = -(on_tools + world.wall_wrenches[0, :, :3].astype(np.float64).sum(axis=0))
        self.reactions.append(float(force[2]) / self.weight)
        applied = world.clump_wrenches[0, :, :3].sum(axis=0)
        self._impulse += (force + applied - [0.0, 0.0, self.weight]) * span
        self._most = max(self._most, float(np.abs(self._momentum(world) - self._begin - self._impulse).max()))

    def reaction(self) -> float:
        """Vertical force of tools and walls on the grains over the weight, mean of the last steps."""
        return float(np.mean(self.reactions[-LAST:]))

    def error(self) -> float:
        """Largest difference of the two so far, over the impulse of gravity since the beginning."""
        return self._most / (self.weight * max(self._time, 1e-9))


class ClumpRun(SpaceRun, abc.ABC):
    """An experiment with clumps: its worlds are measured by `measure` and a `Ledger`.

    Attributes:
        ledgers: by label.
        energies: kinetic energy over mass [m2/s2] at the end of each picture, by label.
        times: of these [s], by label.
        rest: kinetic energy over mass below which a world counts as at rest [m2/s2].
    """

    rest: ClassVar[float] = REST

    def __init__(self, seed: int = 0, grains: int | None = None) -> None:
        super().__init__(seed, grains)
        self.ledgers: dict[str, Ledger] = {}
        self.energies: dict[str, list[float]] = {label: [] for label in self.labels}
        self.times: dict[str, list[float]] = {label: [] for label in self.labels}

    def begin(self, label: str, world: World) -> None:
        """Called once before the first step of a world, with the arguments of `drive`."""

    @abc.abstractmethod
    def move(self, label: str, world: World, now: float) -> Any:
        """What `drive` returns."""

    @abc.abstractmethod
    def measure(self, label: str, world: World, now: float) -> None:
        """What `watch` measures besides momentum and energy."""

    def drive(self, label: str, world: World, now: float) -> Any:
        if label not in self.ledgers:
            self.ledgers[label] = Ledger(world)
            self.begin(label, world)
        return self.move(label, world, now)

    def watch(self, label: str, world: World, now: float) -> None:
        ledger = self.ledgers[label]
        ledger.add(world, now)
        self.times[label].append(now)
        self.energies[label].append(float(world.stats["kinetic_energy"][0]) * GRAVITY / ledger.weight)
        self.measure(label, world, now)

    def kept(self) -> list[Check]:
        """Checks that hold in every world: momentum all the time, weight and rest at the end."""
        momentum = max(ledger.error() for ledger in self.ledgers.values())
        reaction = max((ledger.reaction() for ledger in self.ledgers.values()), key=lambda share: abs(share - 1.0))
        energy = max(energies[-1] for energies in self.energies.values())
        return [
            Check(
                "momentum less the impulses of gravity, tools, walls, over gravity's",
                momentum,
                "< 1e-5",
                momentum < 1e-5,
            ),
            Check("reaction at the end over weight", reaction, "1 within 1 %", abs(reaction - 1.0) < 0.01),
            Check(
                "kinetic energy over mass at the end [m2/s2]", energy, f"at rest, < {self.rest:g}", energy < self.rest
            ),
        ]

    def colors(self, world: World) -> NDArray[np.uint8]:
        result: NDArray[np.uint8] = _SAND[world.clump_of_grain % len(_SAND)]
        return result


def gravel(scene: Scene, friction: float = 0.5, restitution: float = 0.2) -> int:
    """Adds the material of the tetrahedra."""
    return scene.add_material(
        density=DENSITY, friction=friction, restitution=restitution, shape=TETRAHEDRON, name="gravel"
    )
