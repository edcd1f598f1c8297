"""contact_law.py: the bed of a task whose grains move by a law in a file: tables of forces (docs/learned.md)."""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from granular_gym.engine.pair_table import PairTable
from granular_gym.engine.pair_table_file import load_pair_table
from granular_gym.engine.solver import Solver
from granular_gym.errors import ArgumentError
from granular_gym.tasks.matter import SAND, Matter
from granular_gym.tasks.pace import Pace
from granular_gym.tasks.ranges import MaterialRanges

#: what ranges may draw: the rest is in the table
_DRAWN = {"density", "gravity"}


@dataclass(frozen=True)
class TabledGrains(Matter):
    """Spheres that move by a table.

    Attributes:
        table: the law, for grains of the size and mass of the task.
        mass: of a grain [kg].
    """

    table: PairTable
    mass: float

    def check(self, grain: Sequence[str], ranges: Sequence[MaterialRanges]) -> None:
        """See `Matter.check`."""
        if tuple(grain) != ("sphere",):
            raise ArgumentError(f"grain: expected 'sphere' with a contact_law, got {', '.join(grain)!r}")
        for each in ranges:
            fixed = [name for name in each.names if name not in _DRAWN]
            if fixed:
                raise ArgumentError(
                    "randomize: expected density and gravity with a contact_law, which holds the rest, got "
                    f"{fixed[0]} of {each.pair or 'all pairs'}"
                )

    def friction_range(
        self, of_difficulty: tuple[float, float], given: tuple[float, float] | None
    ) -> tuple[float, float]:
        """See `Matter.friction_range`; friction is in the table, and what is drawn changes nothing."""
        if given is not None:
            raise ArgumentError(f"friction_range: expected None with a contact_law, which holds it, got {given!r}")
        return of_difficulty

    def pace(self, of_grains: Pace, preset: str, period: float) -> Pace:
        """The step that the law was made for, or the longest one that beds bear, whichever is shorter."""
        longest = self.table.calm_step([self.mass] * len(self.table.kinds))
        wanted = min(longest, of_grains.dt if self.table.dt is None else self.table.dt)
        substeps = math.ceil(period / wanted - 1e-9)
        return Pace(period / substeps, substeps, of_grains.iterations)

    def solver(self, of_grains: Solver, pace: Pace) -> Solver:
        """See `Matter.solver`."""
        return Solver(mode="table", table=self.table)


def tabled(contact_law: Any, radius: float, density: float) -> TabledGrains:
    """Grains that move by a law in a file.

    A table that tells for which grains it was made is scaled to those of the task: lengths as the radii, masses as the
    masses, and times as the roots of lengths, so that they move alike under gravity.

    Args:
        contact_law: path of a table (`save_pair_table`), or a PairTable.
        radius: of a grain of the task [m].
        density: of the grains [kg/m3].

    Raises:
        TableError: a file that cannot be used.
        ArgumentError: neither a path nor a table, or several kinds of which none is called "sand".
    """
    if isinstance(contact_law, PairTable):
        table = contact_law
    elif isinstance(contact_law, (str, os.PathLike)):
        table = load_pair_table(contact_law)
    else:
        raise ArgumentError(f"contact_law: expected the path of a table or a PairTable, got {contact_law!r}")
    if SAND[0] not in table.kinds and len(table.kinds) > 1:
        raise ArgumentError(f"contact_law: expected one kind, or one called {SAND[0]!r}, got {list(table.kinds)}")
    mass = 4.0 / 3.0 * math.pi * radius**3 * density
    if table.radius is not None:
        length = radius / table.radius
        kind = table.kinds.index(SAND[0]) if SAND[0] in table.kinds else 0
        heavier = 1.0 if table.masses is None else mass / table.masses[kind]
        table = table.scaled(length, math.sqrt(length), heavier)
    return TabledGrains(table, mass)
