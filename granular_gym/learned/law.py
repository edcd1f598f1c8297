"""law.py: the law that moves the grains of the data: contacts of Bell's mode of the engine, and bonds beside it.

A pair law here and everywhere in `granular_gym.learned` is a function of three scalars: gap [m] (distance less the sum
of the radii; to a plane: distance less the radius), normal velocity [m/s] (> 0: separating) and sliding speed [m/s],
that returns the elastic and the dissipative part of the normal force [N] (> 0: repulsive) and the tangential force [N]
(>= 0, against sliding).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from granular_gym.base import checks
from granular_gym.engine.bell import Bell
from granular_gym.errors import ArgumentError

Floats = NDArray[np.float64]
#: gap, normal velocity, sliding speed -> elastic, dissipative, tangential force
PairLaw = Callable[[Any, Any, Any], tuple[Floats, Floats, Floats]]

#: kinds of matter; a wall has none
SAND, ELASTIC, PLASTIC, RIGID = range(4)
WALL = -1


@dataclasses.dataclass(frozen=True)
class Kind:
    """What grains of a kind are, and how those of a body hang together.

    Attributes:
        name: of the kind.
        density: of a grain [kg/m^3].
        stiffness: of a bond [N/m]; 0: no bonds.
        damping: of a bond along its line [N s/m].
        flow: stretch, up or down, at which the rest length of a bond begins to follow; infinite: never.
    """

    name: str
    density: float
    stiffness: float = 0.0
    damping: float = 0.0
    flow: float = np.inf


#: by number: SAND, ELASTIC, PLASTIC, RIGID. What bonds and contacts mean for frames of 10 ms: docs/learned.md
KINDS = (
    Kind("sand", 1500.0),
    Kind("elastic", 1500.0, stiffness=600.0, damping=2.0),
    Kind("plastic", 1500.0, stiffness=600.0, damping=4.0, flow=0.04),
    Kind("rigid", 2500.0, stiffness=2400.0, damping=10.0),
)


@dataclasses.dataclass(frozen=True)
class GrainLaw:
    """The true law of a dataset, for grains that do not turn.

    Contacts: f = stiffness x^(3/2) + damping x^(1/2) dx/dt with the overlap x, across it min(friction f, sliding v_t);
    nothing is cut off where f < 0, as in the engine (docs/bell.md). Bonds: f = k (rest - distance) - c v_n of their
    kind, in addition to the contact.

    Attributes:
        stiffness: of all contacts, walls included [N/m^1.5].
        damping: [N s/m^1.5].
        sliding: [N s/m].
        friction: coefficient of all contacts.

    Raises:
        ArgumentError: a value below 0.
    """

    stiffness: float = 14000.0
    damping: float = 40.0
    sliding: float = 20.0
    friction: float = 0.5

    def __post_init__(self) -> None:
        for field in dataclasses.fields(self):
            checks.number(field.name, getattr(self, field.name), 0.0)

    def bell(self) -> Bell:
        """The same contacts for `Solver(mode="bell")`."""
        return Bell(sliding=self.sliding, stiffness=self.stiffness, damping=self.damping)

    def pair_law(self, kind_a: int, kind_b: int, bonded: bool = False, rest_gap: float = 0.0) -> PairLaw:
        """The true force of a pair.

        Args:
            kind_a: kind of one side, or WALL.
            kind_b: of the other.
            bonded: whether a bond joins them; both are then of one kind that has bonds.
            rest_gap: rest length of the bond less the sum of the radii [m].

        Returns:
            The law: arrays of one shape in, three float64 arrays out. Plastic bonds are given at their rest length,
            before they flow.

        Raises:
            ArgumentError: an unknown kind, or a bond between kinds that have none.
        """
        kinds = [
            checks.integer(name, kind, WALL, len(KINDS) - 1) for name, kind in (("kind_a", kind_a), ("kind_b", kind_b))
        ]
        stiffness = damping = 0.0
        if bonded:
            if kinds[0] != kinds[1] or kinds[0] == WALL or KINDS[kinds[0]].stiffness == 0.0:
                raise ArgumentError(f"bonded: expected two grains of one kind that has bonds, got kinds {kinds}")
            stiffness, damping = KINDS[kinds[0]].stiffness, KINDS[kinds[0]].damping

        def forces(gap: Any, normal_velocity: Any, sliding_speed: Any) -> tuple[Floats, Floats, Floats]:
            gap, speed, slip = (np.asarray(each, np.float64) for each in (gap, normal_velocity, sliding_speed))
            overlap = np.maximum(-gap, 0.0)
            elastic = self.stiffness * overlap**1.5
            dissipative = -self.damping * np.sqrt(overlap) * speed
            tangential = np.minimum(self.friction * np.maximum(elastic + dissipative, 0.0), self.sliding * slip)
            return elastic - stiffness * (gap - rest_gap), dissipative - damping * speed, tangential

        return forces


class Bonds:
    """The bonds of several worlds of the same grains, and the forces in them.

    Args:
        pairs: for each world (m, 2) grains that are joined.
        rest: for each world (m,) rest lengths [m].
        kinds: (n,) kinds of the grains.

    Rest lengths of plastic bonds follow where `forces` finds them stretched beyond `flow`.
    """

    def __init__(
        self, pairs: list[NDArray[np.int32]], rest: list[NDArray[np.float32]], kinds: NDArray[np.int8]
    ) -> None:
        # the bonds of all worlds in one list, grains numbered through
        count = len(kinds)
        ends = np.concatenate([each.astype(np.int64) + world * count for world, each in enumerate(pairs)])
        self._first, self._second = ends[:, 0].copy(), ends[:, 1].copy()
        self._rest = np.concatenate(rest).astype(np.float64)
        of_kind = np.tile(kinds, len(pairs))[self._first]
        self._stiffness, self._damping, flow = (
            np.array([getattr(kind, name) for kind in KINDS])[of_kind] for name in ("stiffness", "damping", "flow")
        )
        self._plastic = np.flatnonzero(np.isfinite(flow))
        self._flow = flow[self._plastic]
        self._size = len(pairs) * count

    def forces(self, positions: Any, velocities: Any) -> Floats:
        """Forces on the grains [N], float64 (worlds, n, 3); sums in a fixed order, so that bits depend on nothing else.

        Args:
            positions: (worlds, n, 3) [m].
            velocities: likewise [m/s].
        """
        points, motion = (np.asarray(each, np.float64).reshape(-1, 3) for each in (positions, velocities))
        along = points[self._second] - points[self._first]
        length = np.sqrt((along * along).sum(axis=1))
        along /= length[:, None]
        self._follow(length[self._plastic])
        pull = self._stiffness * (length - self._rest)
        pull += self._damping * ((motion[self._second] - motion[self._first]) * along).sum(axis=1)
        on_first = pull[:, None] * along
        total = np.empty((self._size, 3))
        for axis in range(3):
            total[:, axis] = np.bincount(self._first, on_first[:, axis], self._size)
            total[:, axis] -= np.bincount(self._second, on_first[:, axis], self._size)
        forces: Floats = total.reshape(np.shape(positions))
        return forces

    def _follow(self, length: Floats) -> None:
        """Rest lengths of plastic bonds beyond their yield follow, so that the stretch stays at it."""
        rest = self._rest[self._plastic]
        self._rest[self._plastic] = np.clip(rest, length / (1.0 + self._flow), length / (1.0 - self._flow))
