"""Continuous matter against laws: conservation, Hooke's and von Mises', Coulomb's, columns of sand that collapse."""

from __future__ import annotations

import numpy as np
import pytest

import granular_gym as gg
from testbed.continuum import (
    DOUGH,
    POISSON,
    YIELD,
    YOUNG,
    buckling,
    column,
    elastic_energy,
    floating,
    momenta,
    overstressed,
    plateau,
    pushed_off_its_middle,
    sliding_ball,
    squeeze,
    squeezed,
    sway,
)

RUBBER = gg.Elastic(YOUNG, POISSON)


def test_free_body() -> None:
    """A cube that turns by .1 rad a step in space: momentum stays to the rounding of what is read (of what is kept:
    tests/c/test_minimiser.c), angular momentum to 2.3e-4 in 60 steps, and energy rises by no more than 5e-5 in any
    (docs/continuum.md, What turns). Nothing touches or yields: one Newton step."""
    scene = floating(RUBBER, (0.15, 0.15, 0.15), (0.25, 0.25, 0.25), 0.02)
    with scene.build(device="cpu", num_threads=1) as world:
        places = world.positions[0].astype(np.float64)
        world.set_grains(
            velocities=np.cross((0.0, 0.0, 10.0), places - places.mean(axis=0)) + np.array([0.3, 0.2, 0.1])
        )
        world.step(0.01, 6)  # particles learn how velocity varies around them, and the body stretches as it turns
        start, spin = momenta(world)
        energies = []
        for _ in range(60):
            world.step(0.01)
            energies.append(world.stats["kinetic_energy"][0] + elastic_energy(world, RUBBER))
            assert world.stats["iteration_count"][0] == 1 and world.stats["unsolved_count"][0] == 0
        end, left = momenta(world)
        assert np.abs(end - start).max() < 1e-6 * np.abs(start).max()
        np.testing.assert_allclose(left, spin, atol=3e-4 * spin[2])
        assert max(np.diff(energies)) < 5e-5 * energies[0]
        assert energies[-1] > 0.999 * energies[0]


def test_energy_of_a_swinging_body() -> None:
    """A cube that swings in space and does not turn loses energy in every step."""
    with floating(RUBBER, (0.15, 0.15, 0.15), (0.25, 0.25, 0.25), 0.02).build(device="cpu", num_threads=1) as world:
        velocities = np.zeros((world.grain_count, 3))
        velocities[:, 0] = 3.0 * (world.positions[0, :, 0] - 0.2)
        world.set_grains(velocities=velocities)
        world.step(0.01, 6)
        energies = []
        for _ in range(30):
            world.step(0.01)
            energies.append(world.stats["kinetic_energy"][0] + elastic_energy(world, RUBBER))
        assert max(np.diff(energies)) < 0.0 and 0.0 < energies[-1] < 0.5 * energies[0]


@pytest.mark.parametrize("matter", [RUBBER, DOUGH], ids=["rubber", "dough"])
def test_weight(matter: gg.Elastic | gg.VonMises) -> None:
    """A block comes to rest on a floor that carries its weight."""
    scene = gg.Scene(((0, 0, 0), (0.3, 0.3, 0.3)))
    made_of = scene.add_material(density=1000.0, friction=0.8, continuum=matter)
    scene.add_continuum(made_of, (0.1, 0.1, 0.0), (0.2, 0.2, 0.06), spacing=0.02)
    with scene.build(device="cpu", num_threads=1) as world:
        world.step(0.01, 120)
        weight, before = 9.81 * world.grain_masses.sum(), world.positions
        np.testing.assert_allclose(world.wall_wrenches[0, 4, 2], -weight, rtol=1e-5)
        world.step(0.01, 50)
        # elastic matter that friction holds at its foot still gives, ever more slowly
        assert np.abs(world.positions - before).max() < 5e-5
        assert world.stats["overlap_max"][0] < 0.01 and world.stats["kinetic_energy"][0] < 1e-9


def test_young_modulus() -> None:
    """1 % of strain between plates without friction: Young's modulus to 3 %, on a grid of 5 cells across."""
    with squeezed(RUBBER, 0.02).build(device="cpu", num_threads=1) as world:
        squeeze(world, 0.01, 20, 0.01)
        force = squeeze(world, 0.01, 20, 0.01)
    assert force / 0.01**2 == pytest.approx(YOUNG, rel=0.03)


def test_yield_stress() -> None:
    """Dough that is pressed by 15 % flows at the force that its yield stress makes, to 3 %, no particle beyond it."""
    with squeezed(DOUGH, 0.02).build(device="cpu", num_threads=1) as world:
        assert plateau(world, 30, 0.01) == pytest.approx(1.0, abs=0.03)
        assert overstressed(world) <= 1.0 + 1e-9
        assert (world.plastic_strains > 0.05).mean() > 0.5


def test_slow_yield() -> None:
    """A cube pressed four times as slowly, 5 % in 1.2 s, carries the same to 1 %, also at rest, and stays upright."""
    with squeezed(DOUGH, 0.02, 0.1).build(device="cpu", num_threads=1) as world:
        assert plateau(world, 60, 0.02, 0.1) == pytest.approx(1.0, abs=0.01)
        rest = squeeze(world, 0.15, 20, 0.02, 0.1)
        assert rest == pytest.approx(0.01 / 0.85 * np.sqrt(1.5) * YIELD, rel=0.01)
        assert abs(sway(world)) < 1e-8


def test_buckling() -> None:
    """A column of perfectly plastic matter three times as high as wide is not stable: it sways the more the longer it
    flows, at the rate of a beam that only inertia holds, to 8 %."""
    rate, law = buckling(0.02, 46, 0.02)
    assert rate == pytest.approx(law, rel=0.08)


@pytest.mark.parametrize("friction", [pytest.param(0.0, marks=pytest.mark.full), 0.2])
def test_sliding(friction: float) -> None:
    """A stiff ball slides down a slope by Coulomb's law, also at 10 ms (Zong et al. 2024, equation 27)."""
    with sliding_ball(friction).build(device="cpu", num_threads=1) as world:
        start = world.positions[0].astype(np.float64).mean(axis=0)
        for _ in range(40):
            world.step(0.01)
            assert world.stats["unsolved_count"][0] == 0
        way = world.positions[0].astype(np.float64).mean(axis=0) - start
        law = 0.5 * 9.81 * np.sqrt(0.5) * (1.0 - friction) * 0.01**2 * 40 * 41
    assert way[0] == pytest.approx(law, rel=1e-3) and abs(way[1]) < 1e-6


def test_column_of_sand() -> None:
    """A column as high as wide collapses into a heap at rest: runout (Lube et al. 2005: 1.2 of its width) within a
    quarter, highest at the wall, and its volume kept. Four cells wide: on two, runouts of .89 to .93 follow from the
    rounding alone."""
    solver = gg.Solver(tolerance=1e-5)
    with column(1.0, 30.0, 0.0125, width=0.05).build(device="cpu", num_threads=1, solver=solver) as world:
        for _ in range(150):
            world.step(4e-3)
            assert world.stats["unsolved_count"][0] == 0
        x = world.positions[0]
        runout = (np.quantile(x[:, 0], 0.99) - 0.1) / 0.1
        assert 0.9 < runout < 1.5
        assert world.stats["kinetic_energy"][0] < 1e-6
        heights = [x[(x[:, 0] > low) & (x[:, 0] <= low + 0.03), 2].max() for low in (0.0, 0.05, 0.1, 0.15)]
        assert heights == sorted(heights, reverse=True) and 0.07 < heights[0] < 0.095
        assert np.abs(world.densities.mean() / 1500.0 - 1.0) < 0.02


@pytest.mark.parametrize("dt", [pytest.param(1e-3, marks=pytest.mark.full), 5e-3, 20e-3])
def test_time_steps(dt: float) -> None:
    """Dough that falls and is pressed flat: finite, solved, and as thick at any time step."""
    scene = gg.Scene(((0, 0, 0), (0.3, 0.3, 0.4)))
    made_of = scene.add_material(density=1000.0, friction=0.5, continuum=DOUGH)
    scene.add_continuum(made_of, (0.1, 0.1, 0.05), (0.2, 0.2, 0.15), spacing=0.02)
    scene.add_tool(gg.Sdf.box((0.14, 0.14, 0.02)), "plate", made_of, (0.15, 0.15, 0.25))
    with scene.build(device="cpu", num_threads=1) as world:
        for k in range(round(0.4 / dt)):
            height = 0.25 - 0.4 * dt * (k + 1)
            world.step(dt, 1, tool_poses=[[0.15, 0.15, height, 1, 0, 0, 0]])
            assert world.stats["unsolved_count"][0] == 0 and world.stats["diverged"][0] == 0
        # the plate stands at .09 m; matter is between it and the floor
        z = world.positions[0, :, 2]
        assert 0.0 < z.min() < 0.01 and 0.055 < z.max() < 0.07
        # a bulk modulus of 33 kPa under about 1 kPa
        assert 1.01 < world.densities.mean() / 1000.0 < 1.035


def test_wrench_balances_momentum() -> None:
    """What a blade that pushes dough off its middle gives is what the dough has: momentum and angular momentum."""
    scene = floating(DOUGH, (0.15, 0.15, 0.15), (0.25, 0.25, 0.25), 0.02)
    scene.add_tool(gg.Sdf.box((0.02, 0.1, 0.1)), "blade", 0, (0.12, 0.18, 0.22))
    with scene.build(device="cpu", num_threads=1) as world:
        force, torque = pushed_off_its_middle(world, 0.01, 12)
        mass = world.grain_masses[0][:, None]
        places, motion = world.positions[0].astype(np.float64), mass * world.velocities[0]
        assert motion.sum(axis=0)[0] > 0.1
        np.testing.assert_allclose(-force, motion.sum(axis=0), atol=1e-6)
        np.testing.assert_allclose(-torque, np.cross(places, motion).sum(axis=0), atol=1e-6)


def test_torque_on_a_wheel() -> None:
    """A cylinder that turns on dough drags it along, and the dough holds it back: friction times the radius, less than
    a particle's half distance off."""
    scene = gg.Scene(((0, 0, 0), (0.4, 0.2, 0.3)))
    dough = scene.add_material(density=1000.0, friction=0.3, continuum=DOUGH)
    scene.add_continuum(dough, (0.1, 0.05, 0.0), (0.3, 0.15, 0.06), spacing=0.02)
    lying = np.array([np.sqrt(0.5), np.sqrt(0.5), 0.0, 0.0])
    scene.add_tool(gg.Sdf.cylinder(0.05, 0.08), "wheel", dough, (0.2, 0.1, 0.112, *lying))
    with scene.build(device="cpu", num_threads=1) as world:
        for k in range(40):
            half = 0.5 * 0.05 * (k + 1)
            turned = [
                np.cos(half) * lying[0],
                np.cos(half) * lying[1],
                np.sin(half) * lying[0],
                -np.sin(half) * lying[1],
            ]
            world.step(0.01, 1, tool_poses=[[0.2, 0.1, 0.112 - 0.0002 * (k + 1), *turned]])
        wrench = world.wrenches[0, 0]
        assert wrench[2] > 1.0 and abs(wrench[0]) > 0.1 * wrench[2]
        # forces along the normal have no arm about the axis
        assert abs(wrench[4]) / np.hypot(wrench[0], wrench[2]) == pytest.approx(0.05 * np.sin(np.arctan(0.3)), rel=0.05)


@pytest.mark.parametrize("size", [0.0055, 0.012, 0.03])
def test_a_solid_has_the_mass_of_its_volume(size: float) -> None:
    """Whatever part of a particle is left over: particles are 10 mm apart."""
    for shape, volume in (
        (gg.Sdf.box((0.05, 0.05, size)), 0.1 * 0.1 * 2.0 * size),
        (gg.Sdf.sphere(2.0 * size), 4.0 / 3.0 * np.pi * (2.0 * size) ** 3),
    ):
        scene = gg.Scene(((-0.2, -0.2, -0.2), (0.2, 0.2, 0.2)))
        rubber = scene.add_material(density=1000.0, continuum=gg.Elastic(1e4, 0.3))
        scene.add_continuum(rubber, shape=shape, spacing=0.02)
        assert scene.build(device="cpu", num_threads=1).grain_masses.sum() == pytest.approx(1000.0 * volume, rel=0.02)


@pytest.mark.parametrize("thickness", [0.016, 0.025, 0.035])
def test_a_box_on_the_floor_is_not_pushed_off_it(thickness: float) -> None:
    """Whose thickness is no multiple of the particles' distance, 10 mm."""
    scene = gg.Scene(((0.0, 0.0, 0.0), (0.4, 0.4, 0.4)))
    dough = scene.add_material(density=1000.0, continuum=gg.VonMises(1e5, 0.3, 1e3))
    scene.add_continuum(dough, (0.1, 0.1, 0.0), (0.2, 0.2, thickness), spacing=0.02)
    world = scene.build(device="cpu", num_threads=1)
    world.step(5e-3, 1)
    assert -0.4 * 9.81 * 5e-3 < world.velocities[0, :, 2].mean() < 1e-3


def test_a_body_that_is_set_to_rest_does_not_turn() -> None:
    scene = gg.Scene(((-0.2, -0.2, -0.2), (0.2, 0.2, 0.2)), gravity=(0.0, 0.0, 0.0))
    rubber = scene.add_material(density=1000.0, continuum=gg.Elastic(1e6, 0.3))
    scene.add_continuum(rubber, (-0.04, -0.04, -0.04), (0.04, 0.04, 0.04), spacing=0.02)
    world = scene.build(device="cpu", num_threads=1)
    world.set_grains(velocities=np.cross((0.0, 0.0, 5.0), world.positions[0])[None])
    world.step(2e-3, 5)
    assert np.abs(world.velocities).max() > 0.1
    world.set_grains(velocities=np.zeros_like(world.velocities))
    world.step(2e-3, 1)
    turning = np.cross(world.positions[0], world.velocities[0])[:, 2].sum() / (world.positions[0, :, :2] ** 2).sum()
    assert abs(turning) < 0.02
