"""A bed that falls with long steps: grains that a fast one hits from behind are foreseen (contact/narrow.h)."""

from __future__ import annotations

import warnings

import pytest

import granular_gym as gg
from testbed.landings import loose_bed


def deepest(layers: int, dt: float, iterations: int) -> float:
    """Largest overlap while a bed lands, over the diameter."""
    overlap = 0.0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", gg.StabilityWarning)
        with loose_bed(layers).build(num_threads=1, solver=gg.Solver(iterations=iterations)) as world:
            for _ in range(round(0.7 / dt)):
                world.step(dt)
                overlap = max(overlap, float(world.stats["overlap_max"][0]))
    return overlap


@pytest.mark.parametrize(("layers", "dt", "iterations"), [(24, 5e-3, 20), (60, 2e-3, 14)])
def test_a_bed_that_lands_with_long_steps_hardly_overlaps(layers: int, dt: float, iterations: int) -> None:
    """By 6 to 8 %; by 39 and 20 % where only the speeds of the two sides of a contact count."""
    assert deepest(layers, dt, iterations) < 0.13
