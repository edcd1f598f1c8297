"""Beds of grains that are much denser than those below (solvers/spheres/coloured/coloured.h): nothing is thrown."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import granular_gym as gg
from benchmarks.packings import Watch, masses
from granular_gym.engine.solver import LARGEST_LOAD, load_ratio
from testbed.beds import DENSITY
from testbed.landings import loose_bed

LAYERS, SHARE = 12, 0.25


def fall(ratio: float, iterations: int, seconds: float) -> tuple[float, float, float]:
    """Highest speed [m/s], highest centre over the highest at the start, and highest energy over that at the start."""
    scene = loose_bed(LAYERS, heavy=(SHARE, ratio))
    light = np.arange(scene.grain_count) < round((1.0 - SHARE) * scene.grain_count)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", gg.StabilityWarning)
        with scene.build(num_threads=1, solver=gg.Solver(iterations=iterations)) as world:
            watch = Watch(world, 1e-3, masses(world, np.where(light, 1.0, ratio)))
            top, start = float(world.positions[0, :, 2].max()), watch.energy()
            speed, height, energy = 0.0, 0.0, 0.0
            for _ in range(round(seconds / 1e-3)):
                watch.run(1e-3)
                speed = max(speed, float(np.linalg.norm(world.velocities[0], axis=1).max()))
                height = max(height, float(world.positions[0, :, 2].max()))
                energy = max(energy, watch.energy())
    return speed, height / top, energy / start


@pytest.mark.parametrize("iterations", [10, pytest.param(20, marks=pytest.mark.full)])
def test_light_grains_under_heavy_ones_are_not_thrown(iterations: int) -> None:
    """At most 8 m/s and 1.1 times the height of the bed; over-relaxed: 25 and 94 m/s, 14 and 64 times the height."""
    speed, height, energy = fall(1e4, iterations, 0.5)
    assert speed < 12.0
    assert height < 1.5
    assert energy < 1.001


def test_many_sweeps_do_not_diverge() -> None:
    """With a momentum that goes on growing 160 sweeps gain 360 times the energy."""
    speed, height, energy = fall(1e4, 160, 0.3)
    assert speed < 4.0
    assert height < 1.001
    assert energy < 1.001


def warned(ratio: float, iterations: int) -> list[str]:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", gg.StabilityWarning)
        scene = loose_bed(2, heavy=(SHARE, ratio))
        with scene.build(num_threads=1, solver=gg.Solver(iterations=iterations)):
            pass
    return [str(one.message) for one in caught if "mass ratio" in str(one.message)]


def test_a_mass_ratio_that_is_not_carried_is_named() -> None:
    assert not warned(40.0, 10)
    assert "fewer than 25 iterations" in warned(100.0, 10)[0]
    assert not warned(100.0, 25)
    assert "mass ratio 1e+04" in warned(1e4, 1000)[0]
    assert LARGEST_LOAD < 1e4


def test_a_density_that_is_set_later_is_judged_too() -> None:
    scene = loose_bed(2, heavy=(SHARE, 2.0))
    with scene.build(num_threads=1) as world, pytest.warns(gg.StabilityWarning, match=r"mass ratio 2e\+02"):
        world.set_density("dense", 200.0 * DENSITY)


def test_larger_grains_rest_on_more_others() -> None:
    arrays = {
        "material_fixed": np.array([0, 0, 1]),
        "grain_material": np.array([0, 0, 1, 2]),
        "radius": np.array([1.0, 2.0, 4.0, 1.0]),
        "density": np.array([1.0, 3.0, 1e6]),
    }
    assert load_ratio(arrays) == pytest.approx(12.0)
    assert load_ratio(arrays, [[1.0, 1.0, 1.0], [1.0, 0.1, 1.0]]) == pytest.approx(5.0)
