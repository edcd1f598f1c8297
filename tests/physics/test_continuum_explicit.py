"""Continuous matter in explicit steps: conservation, laws, and the implicit solve that short steps converge to."""

from __future__ import annotations

import numpy as np
import pytest

import granular_gym as gg
from testbed.continuum import (
    DOUGH,
    HEAVY,
    MOMENTS,
    POISSON,
    YOUNG,
    Floats,
    column,
    elastic_energy,
    floating,
    gripped,
    momenta,
    overstressed,
    plateau,
    pushed_off_its_middle,
    sliding_ball,
    squeeze,
    squeezed,
    struck,
)

RUBBER = gg.Elastic(YOUNG, POISSON)
EXPLICIT = gg.Solver(mode="explicit")


def build(scene: gg.Scene, solver: gg.Solver = EXPLICIT) -> gg.World:
    return scene.build(device="cpu", num_threads=1, solver=solver)


def bound(matter: gg.Elastic | gg.VonMises | gg.DruckerPrager, spacing: float, density: float = 1000.0) -> float:
    """Longest step that the mode takes, without viscosity [s]: half of the time of sound from node to node."""
    bulk, shear = matter.moduli
    return float(0.5 * spacing * np.sqrt(density / (bulk + 4.0 / 3.0 * shear)))


def test_free_body() -> None:
    """A cube that turns once in space at the longest step: momentum to rounding, angular momentum to .2 %, of which
    APIC holds a part that is not read; energy does not rise."""
    with build(floating(RUBBER, (0.15, 0.15, 0.15), (0.25, 0.25, 0.25), 0.02)) as world:
        places, dt = world.positions[0].astype(np.float64), bound(RUBBER, 0.02)
        world.set_grains(
            velocities=np.cross((0.0, 0.0, 10.0), places - places.mean(axis=0)) + np.array([0.3, 0.2, 0.1])
        )
        world.step(dt, 40)
        start, spin = momenta(world)
        energies = []
        for _ in range(60):
            world.step(dt, 7)
            energies.append(world.stats["kinetic_energy"][0] + elastic_energy(world, RUBBER))
        end, left = momenta(world)
        assert np.abs(end - start).max() < 1e-6 * np.abs(start).max()
        np.testing.assert_allclose(left, spin, atol=3e-3 * spin[2])
        assert max(np.diff(energies)) < 5e-4 * energies[0] and energies[-1] > 0.99 * energies[0]
        assert world.stats["step_count"][0] == 7 and world.stats["iteration_count"][0] == 0


def test_converges_to_the_implicit_solve() -> None:
    """A cube that is stretched by its inertia: paths of both modes come together in proportion to the step."""

    def paths(solver: gg.Solver, dt: float) -> Floats:
        with build(floating(RUBBER, (0.15, 0.15, 0.15), (0.25, 0.25, 0.25), 0.02), solver) as world:
            places = world.positions[0].astype(np.float64)
            world.set_grains(velocities=20.0 * (places - 0.2) * np.array([0.0, 0.0, 1.0]))
            world.step(dt, round(0.03 / dt))
            moved: Floats = world.positions[0].astype(np.float64) - places
            return moved

    apart = [np.abs(paths(EXPLICIT, dt) - paths(gg.Solver(), dt)).max() for dt in (1.5e-3, 7.5e-4, 3.75e-4)]
    assert apart[0] < 1e-3 and apart[1] < 0.6 * apart[0] and apart[2] < 0.65 * apart[1]


def test_weight() -> None:
    """A block comes to rest on a floor that carries its weight. It sags by .56 mm, in the implicit mode by .7 mm: the
    half layer below the lowest particles is not compressed."""
    heights = []
    for solver, dt in ((EXPLICIT, 0.01 / 7.0), (gg.Solver(), 0.01)):
        scene = gg.Scene(((0, 0, 0), (0.3, 0.3, 0.3)))
        made_of = scene.add_material(density=1000.0, friction=0.8, continuum=RUBBER)
        scene.add_continuum(made_of, (0.1, 0.1, 0.0), (0.2, 0.2, 0.06), spacing=0.02)
        with build(scene, solver) as world:
            world.step(dt, round(1.2 / dt))
            world.step(dt)
            weight = 9.81 * world.grain_masses.sum()
            np.testing.assert_allclose(world.wall_wrenches[0, 4, 2], -weight, rtol=1e-3)
            assert world.stats["overlap_max"][0] < 0.01 and world.stats["kinetic_energy"][0] < 1e-6
            heights.append(world.positions[0, :, 2].max())
    explicit, implicit = 0.055 - np.array(heights)
    assert 0.7 * implicit < explicit < implicit


def test_young_modulus() -> None:
    """1 % of strain between plates: Young's modulus to 10 % in the mean over swings, on 5 cells across. Contacts hold
    the outermost particles where they are: a column that is shorter by half a cell, of 10."""
    dt = 9e-4
    with build(squeezed(RUBBER, 0.02)) as world:
        squeeze(world, 0.01, round(0.4 / dt), dt)
        forces = []
        for _ in range(round(0.8 / dt)):
            world.step(dt)
            forces.append(world.wrenches[0, 0, 2])
    assert np.mean(forces) / 0.01**2 == pytest.approx(YOUNG, rel=0.1)


def test_yield_stress() -> None:
    """Dough that is pressed by 15 % is at its yield stress, no particle beyond it. The force is 3 % above the law:
    contacts hold the outermost particles where they are, a column that is shorter by half a cell, of 10."""
    dt = 9e-4
    with build(squeezed(DOUGH, 0.02)) as world:
        assert plateau(world, round(0.3 / dt), dt) == pytest.approx(1.03, abs=0.02)
        assert overstressed(world) <= 1.0 + 1e-9
        assert (world.plastic_strains > 0.05).mean() > 0.5


@pytest.mark.parametrize("friction", [pytest.param(0.0, marks=pytest.mark.full), 0.2])
def test_sliding(friction: float) -> None:
    """A stiff ball slides down a slope by Coulomb's law (Zong et al. 2024, equation 27)."""
    dt, count = 2.5e-4, 1600
    with build(sliding_ball(friction)) as world:
        start = world.positions[0].astype(np.float64).mean(axis=0)
        world.step(dt, count)
        way = world.positions[0].astype(np.float64).mean(axis=0) - start
    law = 0.5 * 9.81 * np.sqrt(0.5) * (1.0 - friction) * dt**2 * count * (count + 1)
    assert way[0] == pytest.approx(law, rel=1e-3) and abs(way[1]) < 1e-6


def test_column_of_sand() -> None:
    """A column as high as wide collapses into a heap at rest: runout (Lube et al. 2005: 1.2 of its width) within a
    quarter, highest at the wall, and its volume kept."""
    with build(column(1.0, 30.0, 0.0125, width=0.025)) as world:
        world.step(2e-4, 2600)
        x = world.positions[0]
        assert 0.9 < (np.quantile(x[:, 0], 0.99) - 0.1) / 0.1 < 1.5
        assert world.stats["kinetic_energy"][0] < 1e-5
        heights = [x[(x[:, 0] > low) & (x[:, 0] <= low + 0.03), 2].max() for low in (0.0, 0.05, 0.1, 0.15)]
        assert heights == sorted(heights, reverse=True) and 0.07 < heights[0] < 0.095
        assert np.abs(world.densities.mean() / 1500.0 - 1.0) < 0.02


def test_wrench_balances_momentum() -> None:
    """What a blade that pushes dough off its middle gives is what the dough has: momentum and angular momentum."""
    scene = floating(DOUGH, (0.15, 0.15, 0.15), (0.25, 0.25, 0.25), 0.02)
    scene.add_tool(gg.Sdf.box((0.02, 0.1, 0.1)), "blade", 0, (0.12, 0.18, 0.22))
    with build(scene) as world:
        force, torque = pushed_off_its_middle(world, 1e-3, 120)
        mass = world.grain_masses[0][:, None]
        places, motion = world.positions[0].astype(np.float64), mass * world.velocities[0]
        assert motion.sum(axis=0)[0] > 0.1
        np.testing.assert_allclose(-force, motion.sum(axis=0), atol=1e-6)
        np.testing.assert_allclose(-torque, np.cross(places, motion).sum(axis=0), atol=1e-6)


def test_dynamic_tools() -> None:
    """A plate that turns strikes a free cube at an edge: momentum and angular momentum of both are kept."""
    with build(struck(mass=HEAVY, inertia=MOMENTS)) as world:
        world.transform_grains((0.05, 0.0, 0.0), 0.0)
        world.set_tool_velocity("plate", (0.0, 0.0, -0.5))
        masses = world.grain_masses[0].astype(np.float64)[:, None]
        world.step(1e-3, 150)
        motion = masses * world.velocities[0]
        plate = world.tool_velocity("plate")[0].astype(np.float64)
        assert abs(motion.sum(axis=0)[2]) > 0.2 and abs(world.tool_angular_velocity("plate")[0, 1]) > 0.1
        np.testing.assert_allclose(motion.sum(axis=0) + HEAVY * plate, (0.0, 0.0, -0.5 * HEAVY), atol=2e-6)


def test_panels() -> None:
    """A cube hangs between two panels that push with 10 N each (Zong et al. 2024, section VII.E): no force sideways."""
    with build(gripped(0.02)) as world:
        world.set_tool_force("left", (10.0, 0.0, 0.0))
        world.set_tool_force("right", (-10.0, 0.0, 0.0))
        forces = []
        for _ in range(3000):
            world.step(1e-4)
            forces.append(world.wrenches[0, 0, :3].astype(np.float64))
    mean = np.mean(forces[1500:], axis=0)
    np.testing.assert_allclose(mean, (-10.0, 0.0, -0.2 * 9.81), atol=0.02)
    assert np.abs(np.array(forces)[1500:, 1]).max() < 1e-3


@pytest.mark.parametrize(
    ("poisson", "viscosity"),
    [
        (0.0, 0.0),
        pytest.param(0.0, 10.0, marks=pytest.mark.full),
        (0.0, 100.0),
        pytest.param(0.2, 0.0, marks=pytest.mark.full),
        (0.2, 10.0),
        pytest.param(0.2, 100.0, marks=pytest.mark.full),
        (0.45, 0.0),
        pytest.param(0.45, 10.0, marks=pytest.mark.full),
        (0.45, 100.0),
    ],
)
def test_stable_at_the_bound(poisson: float, viscosity: float) -> None:
    """A cube, a pair of particles and one alone, shaken by random velocities: no energy comes at the longest step."""
    matter = gg.Elastic(YOUNG, poisson, viscosity)
    scene = floating(matter, (0.15, 0.15, 0.15), (0.25, 0.25, 0.25), 0.02)
    scene.add_continuum(0, points=[[0.05, 0.05, 0.05], [0.06, 0.05, 0.05], [0.35, 0.353, 0.357]])
    with build(scene) as world:
        rng = np.random.default_rng(1)
        world.set_grains(velocities=0.05 * rng.standard_normal((world.grain_count, 3)))
        with pytest.raises(gg.ArgumentError, match="^dt: expected at most") as refused:
            world.step(0.1)
        dt = float(str(refused.value).split()[4])
        assert dt <= bound(matter, 0.02) * (1.0 + 1e-5)
        world.step(dt, 20)
        before = world.stats["kinetic_energy"][0] + elastic_energy(world, matter)
        world.step(dt, 1500)
        after = world.stats["kinetic_energy"][0] + elastic_energy(world, matter)
        assert world.stats["diverged"][0] == 0 and after < before
