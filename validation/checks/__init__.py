"""The checks, in the order of the page: single grains, beds, flows, comparisons with other codes."""

from __future__ import annotations

from validation.check import Check
from validation.checks import (
    beside_bullet,
    beside_drum,
    beside_lammps,
    budgets,
    collapse,
    convergence,
    deep,
    drum,
    flight,
    heap,
    impacts,
    incline,
    janssen,
    packing,
    rest,
    silo,
    sliding,
    slopes,
    weight,
)

CHECKS: list[Check] = [
    flight.CHECK,
    slopes.CHECK,
    sliding.CHECK,
    impacts.CHECK,
    budgets.CHECK,
    convergence.CHECK,
    weight.CHECK,
    rest.CHECK,
    deep.CHECK,
    packing.CHECK,
    janssen.CHECK,
    heap.CHECK,
    collapse.CHECK,
    silo.CHECK,
    incline.CHECK,
    drum.CHECK,
    drum.MIXTURE,
    beside_lammps.CHECK,
    beside_drum.CHECK,
    beside_bullet.CHECK,
]
