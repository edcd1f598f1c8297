"""World.settle_impulses: impulses of grains whose positions alone were set."""

import functools
import warnings

import numpy as np
import pytest

import granular_gym as gg
from granular_gym.errors import StabilityWarning
from testbed.beds import GRAVITY, mass, rms_speed
from testbed.dynamic_tools import plate_on_bed
from testbed.landings import loose_bed

LAYERS, SIDE, PER_LAYER, DT = 6, 5.0, 16, 1e-3


@functools.lru_cache
def packing() -> np.ndarray:
    """Positions of a bed at rest."""
    with loose_bed(LAYERS, side=SIDE, per_layer=PER_LAYER).build(
        solver=gg.Solver(iterations=40), num_threads=1
    ) as world:
        world.step(DT, 1500)
        return world.positions[0].copy()


def imported(env_count: int = 1, **settings):
    """The bed from its positions alone."""
    scene = loose_bed(LAYERS, side=SIDE, per_layer=PER_LAYER)
    world = scene.build(env_count=env_count, solver=gg.Solver(**settings), num_threads=1)
    world.set_grains(positions=packing(), velocities=np.zeros_like(packing()))
    return world


def test_a_packing_that_was_set_is_warned_of_once():
    with imported() as world:
        with pytest.warns(StabilityWarning, match="settle_impulses"):
            world.step(DT)
        world.set_grains(positions=packing())
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            world.step(DT)


def test_other_beds_are_not_warned_of():
    with imported() as settled, loose_bed(LAYERS, side=SIDE, per_layer=PER_LAYER).build(num_threads=1) as loose:
        settled.settle_impulses(DT)
        with imported() as loaded, warnings.catch_warnings():
            loaded.load_state(settled.save_state())
            warnings.simplefilter("error")
            for world in (settled, loaded, loose):
                world.step(DT)


@pytest.mark.parametrize("mode", ["gauss_seidel", "jacobi"])
def test_impulses_alone_change(mode):
    with imported(mode=mode) as world:
        before = world.positions, world.velocities, world.angular_velocities
        solver, pairs = world.solver, world.materials[0]
        world.settle_impulses(DT)
        for old, new in zip(before, (world.positions, world.velocities, world.angular_velocities), strict=True):
            np.testing.assert_array_equal(old, new)
        assert world.solver == solver
        np.testing.assert_array_equal(world.materials[0], pairs)
        # solved: the floor carries the whole bed
        weight = PER_LAYER * LAYERS * mass() * GRAVITY
        assert float(world.wall_wrenches[0, :, 2].sum()) == pytest.approx(-weight, rel=1e-3)


def test_a_packing_that_was_set_stands_still():
    fallen = {}
    for settle in (False, True):
        with imported() as world:
            if settle:
                world.settle_impulses(DT)
            world.step(DT)
            fallen[settle] = rms_speed(world)
    assert fallen[True] < 1e-2 * GRAVITY * DT
    assert fallen[False] > 10.0 * fallen[True]


@pytest.mark.parametrize("seed", [1, *(pytest.param(seed, marks=pytest.mark.full) for seed in (2, 3))])
def test_a_deep_packing_that_was_set_does_not_sink(seed):
    """1,000 sweeps alone leave a third of its weight uncarried: it would sink by .26 to .51 %."""
    with loose_bed(60, seed).build(solver=gg.Solver(iterations=40), num_threads=1) as settled:
        settled.step(DT, 1200)
        positions = settled.positions
    with loose_bed(60, seed).build(num_threads=1) as world:
        world.set_grains(positions=positions, velocities=np.zeros_like(positions))
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            world.settle_impulses(DT)
        world.step(DT, 100)
        height = float(positions[0, :, 2].mean(dtype=np.float64))
        assert float(world.positions[0, :, 2].mean(dtype=np.float64)) > (1.0 - 1e-3) * height


def test_too_few_rounds_are_warned_of():
    with imported() as world:
        with pytest.warns(StabilityWarning, match="did not converge"):
            world.settle_impulses(DT, 5, rounds=2)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            world.settle_impulses(DT, 5)


@pytest.mark.parametrize("mode", ["gauss_seidel", "jacobi"])
def test_tools_with_a_mass_stay(mode):
    """One that lies on the bed and one that flies by; both bear on the impulses that are found."""
    with plate_on_bed(30.0).build(2, solver=gg.Solver(mode=mode, iterations=40), num_threads=1) as settled:
        settled.step(DT, 1500)
        positions, poses = settled.positions, settled.tool_poses
    with plate_on_bed(30.0).build(2, solver=gg.Solver(mode=mode), num_threads=1) as world:
        world.set_grains(positions=positions, velocities=np.zeros_like(positions))
        world.set_tool_poses(poses)
        world.set_tool_velocity("plate", (0.0, 0.0, 1.0), envs=1)
        world.settle_impulses(DT, 300)
        np.testing.assert_array_equal(world.tool_poses, poses)
        np.testing.assert_array_equal(world.tool_velocity("plate"), [[0, 0, 0], [0, 0, 1]])
        world.step(DT)
        assert world.wrenches[0, 0, 2] == pytest.approx(30.0 * mass() * GRAVITY, rel=2e-2)
        assert abs(world.tool_velocity("plate")[0, 2]) < 2e-2 * GRAVITY * DT


def test_other_envs_keep_their_bits():
    with imported(2) as world, imported(2) as alone:
        for each in (world, alone):
            each.step(DT, 3)
        world.settle_impulses(DT, envs=1)
        for each in (world, alone):
            each.step(DT, 3)
        np.testing.assert_array_equal(world.positions[0], alone.positions[0])
        assert not np.array_equal(world.velocities[1], alone.velocities[1])


def test_company_changes_nothing():
    """Envs that need different numbers of rounds are each solved as if alone."""
    turned = packing() * np.array([-1, 1, 1], np.float32)
    with imported(2) as both, imported() as one, imported() as other:
        both.set_grains(positions=turned, envs=1)
        other.set_grains(positions=turned)
        for world in (both, one, other):
            world.settle_impulses(DT, 20)
            world.step(DT, 5)
        np.testing.assert_array_equal(both.positions[0], one.positions[0])
        np.testing.assert_array_equal(both.positions[1], other.positions[0])


def test_no_env_is_a_selection_too():
    with imported(2) as world:
        before = [world.state_hash(k) for k in range(2)]
        for envs in ([], np.zeros(2, bool)):
            world.settle_impulses(DT, envs=envs)
        assert [world.state_hash(k) for k in range(2)] == before


@pytest.mark.parametrize(
    ("mode", "arguments", "name"),
    [
        ("paper", {"dt": DT}, "settle_impulses"),
        ("gauss_seidel", {"dt": 0.0}, "dt"),
        ("gauss_seidel", {"dt": DT, "iterations": 0}, "iterations"),
        ("gauss_seidel", {"dt": DT, "iterations": 5000}, "iterations"),
        ("gauss_seidel", {"dt": DT, "rounds": 0}, "rounds"),
        ("gauss_seidel", {"dt": DT, "envs": 7}, "envs"),
    ],
)
def test_refusals(mode, arguments, name):
    with imported(mode=mode) as world:
        with pytest.raises(gg.ArgumentError, match=f"^{name}"):
            world.settle_impulses(**arguments)
        np.testing.assert_array_equal(world.positions[0], packing())
