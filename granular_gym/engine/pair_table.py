"""pair_table.py: a law of contact as tables, what `Solver(mode="table")` runs: forces by pair of kinds of grains.

What the law is, how it is integrated and which time steps it bears: docs/learned.md. Files: pair_table_file.py.
"""

from __future__ import annotations

import dataclasses
import hashlib
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from granular_gym.base import checks
from granular_gym.engine.pair_forces import AXES, FORCES, PairForces
from granular_gym.errors import ArgumentError, TableError

#: the other side of a pair that is no grain: a wall, or a tool
WALL = -1
#: where forces act: on centres, which they do not turn, or where spheres touch
TORQUES = ("center", "contact")
#: a pair of kinds, the lower first but for WALL, which is second; and whether the two are bonded
Key = tuple[int, int, bool]


@dataclasses.dataclass(frozen=True, eq=False)
class PairTable:
    """A law of contact: for each pair of kinds, free or bonded, forces as a function of gap and velocities.

    A kind is what some grains are made of. In a scene the grains of a material are of the kind of the same name; of a
    table of one kind all grains are. Pairs without forces do not act on each other.

    Attributes:
        kinds: names.
        forces: by (kind, other kind or `WALL`, bonded); either order of two kinds means both.
        torque: "center": forces act on centres, with the velocities of centres, and turn nothing, as learned laws have
            it; "contact": where the spheres touch, a radius from the centre, with the velocities there.
        dt: the time step that the law was made for [s]; None: not told.
        radius: the radius of the grains that it was made for [m]; None: not told.
        masses: the mass of a grain of each kind that it was made for [kg]; None: not told.

    Raises:
        TableError: a pair of no known kinds, one given twice, or bonded to a wall.
        ArgumentError: another value out of range.
    """

    kinds: tuple[str, ...]
    forces: Mapping[Key, PairForces]
    torque: str = "center"
    dt: float | None = None
    radius: float | None = None
    masses: tuple[float, ...] | None = None

    def __post_init__(self) -> None:
        kinds = tuple(checks.text("kinds", name) for name in self.kinds)
        if not kinds or len(set(kinds)) < len(kinds):
            raise TableError(f"kinds: expected different names, one or more, got {list(kinds)}")
        checks.choice("torque", self.torque, TORQUES)
        for name in ("dt", "radius"):
            if getattr(self, name) is not None:
                object.__setattr__(self, name, checks.number(name, getattr(self, name), 0.0, above=True))
        if self.masses is not None:
            masses = tuple(checks.number("masses", mass, 0.0, above=True) for mass in self.masses)
            if len(masses) != len(kinds):
                raise TableError(f"masses: expected one of each of {len(kinds)} kinds, got {len(masses)}")
            object.__setattr__(self, "masses", masses)
        checks.instance("forces", self.forces, Mapping)  # type: ignore[type-abstract]
        ordered: dict[Key, PairForces] = {}
        for key, forces in self.forces.items():
            place = _key(key, len(kinds))
            if place in ordered:
                raise TableError(f"forces: expected each pair once, got {key} in both orders")
            ordered[place] = checks.instance(f"forces[{key}]", forces, PairForces)
        if not ordered:
            raise TableError("forces: expected those of one pair or more, got none")
        object.__setattr__(self, "kinds", kinds)
        object.__setattr__(self, "forces", dict(sorted(ordered.items())))

    def __repr__(self) -> str:
        return f"PairTable(kinds={list(self.kinds)}, {len(self.forces)} pairs, torque={self.torque!r})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, PairTable) and self.digest() == other.digest()

    def __hash__(self) -> int:
        return hash(self.digest())

    def digest(self) -> str:
        """Hash of all that the law says."""
        total = hashlib.sha256(repr((self.kinds, self.torque, self.dt, self.radius, self.masses)).encode())
        for key, forces in self.forces.items():
            total.update(repr((key, [len(getattr(forces, name)) for name in AXES])).encode())
            for name in (*AXES, *FORCES):
                total.update(getattr(forces, name).tobytes())
        return total.hexdigest()

    @property
    def reach(self) -> float:
        """The gap from which on nothing acts but on bonded grains [m]."""
        return max([0.0] + [float(each.gap[-1]) for (_, _, bonded), each in self.forces.items() if not bonded])

    def pair_law(self, kind: int, other: int, bonded: bool = False) -> PairForces:
        """The forces of a pair, called as (gap, normal_velocity, sliding_speed) -> (elastic, dissipative, tangential).

        Raises:
            ArgumentError: the table has no such pair.
        """
        found = self.forces.get(_key((kind, other, bonded), len(self.kinds)))
        if found is None:
            raise ArgumentError(f"pair_law: expected one of {list(self.forces)}, got {(kind, other, bonded)}")
        return found

    def longest_step(self, masses: Sequence[float]) -> float:
        """The longest time step [s] with which every single contact is stable; the engine refuses longer ones.

        Args:
            masses: of the lightest grain of each kind [kg]; infinite: it is fixed.
        """
        return self._least(masses, lambda forces, mass: forces.longest_step(mass))

    def calm_step(self, masses: Sequence[float]) -> float:
        """The longest time step [s] with which piles are calm: a grain among others is held by all of them, and
        bears about half of `longest_step`; friction that is steeper still trembles.

        Args:
            masses: of the lightest grain of each kind [kg]; infinite: it is fixed.
        """
        return self._least(masses, lambda forces, mass: forces.calm_step(mass, self.torque == "contact"))

    def _least(self, masses: Sequence[float], step: Callable[[PairForces, float], float]) -> float:
        """The least step of all pairs; step: of forces and the effective mass."""
        inverse = [0.0 if mass == math.inf else 1.0 / checks.number("masses", mass, 0.0, above=True) for mass in masses]
        if len(inverse) != len(self.kinds):
            raise ArgumentError(f"masses: expected one of each of {len(self.kinds)} kinds, got {len(inverse)}")
        longest = math.inf
        for (kind, other, _), forces in self.forces.items():
            both = inverse[kind] + (0.0 if other == WALL else inverse[other])
            if both > 0.0:
                longest = min(longest, step(forces, 1.0 / both))
        return longest

    def scaled(self, length: float = 1.0, time: float = 1.0, mass: float = 1.0) -> PairTable:
        """The same law in other units: lengths, times and masses times these factors.

        With time = sqrt(length) grains of another size move alike under the same gravity.
        """
        factors = [checks.number(*each, 0.0, above=True) for each in _named(length=length, time=time, mass=mass)]
        return dataclasses.replace(
            self,
            forces={key: forces.scaled(*factors) for key, forces in self.forces.items()},
            dt=None if self.dt is None else self.dt * factors[1],
            radius=None if self.radius is None else self.radius * factors[0],
            masses=None if self.masses is None else tuple(each * factors[2] for each in self.masses),
        )

    def arrays(self, materials: Sequence[str], used: Sequence[int]) -> dict[str, Any]:
        """The law as the engine takes it, `table` of `_core.World`.

        Args:
            materials: names of those of a scene.
            used: indices of those that grains are made of.

        Raises:
            ArgumentError: a material of grains that no kind has the name of.
        """
        kind_of = [self._kind_of(name, material in used) for material, name in enumerate(materials)]
        numbers = {key: number for number, key in enumerate(self.forces)}
        of = np.full((len(materials), len(materials) + 1, 2), -1, np.int32)
        for a, kind in enumerate(kind_of):
            for b, other in enumerate([*kind_of, WALL]):
                for bonded in (False, True):
                    if kind is not None and other is not None:
                        of[a, b, int(bonded)] = numbers.get(_ordered(kind, other, bonded), -1)
        each = list(self.forces.values())
        return {
            "counts": np.array([[len(getattr(forces, name)) for name in AXES] for forces in each], np.int32),
            "nodes": np.concatenate([getattr(forces, name) for forces in each for name in AXES]),
            "samples": np.concatenate([forces.samples().reshape(-1, 2) for forces in each]),
            "of": of,
            "at_contact": int(self.torque == "contact"),
        }

    def _kind_of(self, material: str, used: bool) -> int | None:
        if material in self.kinds:
            return self.kinds.index(material)
        if used and len(self.kinds) > 1:
            raise ArgumentError(f"table: expected materials of grains named {list(self.kinds)}, got {material!r}")
        return 0 if used else None


def _named(**values: float) -> list[tuple[str, float]]:
    return list(values.items())


def _ordered(kind: int, other: int, bonded: bool) -> Key:
    swap = kind == WALL or (other != WALL and other < kind)
    return (other, kind, bonded) if swap else (kind, other, bonded)


def _key(key: Any, kinds: int) -> Key:
    try:
        kind, other, bonded = key
        kind, other, bonded = int(kind), int(other), bool(bonded)
    except (TypeError, ValueError):
        raise TableError(f"forces: expected keys (kind, other kind or -1, bonded), got {key!r}") from None
    if not (-1 <= kind < kinds and -1 <= other < kinds and (kind, other) != (WALL, WALL)):
        raise TableError(f"forces: expected kinds below {kinds}, and one side at least no wall, got {key!r}")
    if bonded and WALL in (kind, other):
        raise TableError(f"forces: expected no bond with a wall, got {key!r}")
    return _ordered(kind, other, bonded)
