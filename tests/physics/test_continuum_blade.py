"""A blade meets in sand of a continuum what it meets in grains of the same angle of friction."""

from __future__ import annotations

from collections.abc import Callable

import pytest

import granular_gym as gg
from testbed.blade import ANGLES, of_continuum, of_grains, push, settled

DEPTH = 0.06  # [m]
Note = Callable[..., None]


@pytest.mark.parametrize(
    "rolling", [pytest.param(rolling, marks=() if rolling else pytest.mark.full) for rolling in ANGLES]
)
def test_force_is_that_of_grains(rolling: float, full: bool, measured: Note) -> None:
    """A blade six grains deep, at its wall at first, without friction; with --full in a longer and wider bed."""
    size, way = ((0.3, 0.06, 0.1), 0.06) if full else ((0.24, 0.05, 0.1), 0.05)
    scene, density = of_grains(settled(size, rolling, 0), DEPTH, 0.0)
    with scene.build(device="cpu", num_threads=1, solver=gg.Solver(iterations=20)) as world:
        world.settle_impulses(1e-3)
        world.step(1e-3, 200)
        grains = push(world, 1e-3, way, 1)[0] / size[1]
    spacing = 0.02
    scene = of_continuum((size[0], 2.0 * spacing, size[2]), ANGLES[rolling], density, spacing, DEPTH, 0.0)
    with scene.build(device="cpu", num_threads=1, solver=gg.Solver(tolerance=5e-3)) as world:
        world.step(0.01, 20)
        sand = push(world, 0.01, way, 1)[0] / (2.0 * spacing)
        assert world.stats["unsolved_count"][0] == 0
    measured(grains=grains, sand=sand)
    assert sand == pytest.approx(grains, rel=0.25), "newtons per metre of its width"
