"""World.contacts: pairs and forces: weights, walls, tools, numbering, envs, states."""

from __future__ import annotations

import numpy as np
import pytest

import granular_gym as gg
from testbed.beds import DENSITY, GRAVITY, RADIUS, mass, space

DT = 1e-3
WEIGHT = mass() * GRAVITY


def box_with_plate(count: int = 40) -> gg.Scene:
    """Grains in a narrow box, half of which has a raised floor: a tool."""
    scene = gg.Scene(((-0.02, -0.02, 0.0), (0.02, 0.02, 0.4)))
    sand = scene.add_material(density=DENSITY, friction=0.5, rolling_friction=0.1)
    scene.fill_box(sand, (-0.02, -0.02, 0.01), (0.02, 0.02, 0.4), count=count, radius=RADIUS, seed=3)
    scene.add_tool(gg.Sdf.box((0.005, 0.005, 0.005)), pose=(9.0, 9.0, 9.0, 1, 0, 0, 0), name="away")
    scene.add_tool(gg.Sdf.box((0.01, 0.02, 0.005)), pose=(-0.01, 0.0, 0.005, 1, 0, 0, 0), name="plate")
    return scene


@pytest.fixture(scope="module")
def resting():
    with box_with_plate().build(env_count=2, num_threads=1, solver=gg.Solver(iterations=60)) as world:
        shaken = world.velocities
        shaken[1] += np.random.default_rng(1).normal(0.0, 0.1, shaken[1].shape)
        world.set_grains(velocities=shaken)
        world.step(DT, 3000)
        # wrenches are means over a call, contacts are of its last substep
        world.step(DT, 1)
        yield world


def per_grain(contacts: gg.Contacts, count: int) -> np.ndarray:
    """Sum of the forces on every grain (count, 3) [N]."""
    total = np.zeros((count, 3))
    np.add.at(total, contacts.pairs[:, 0], contacts.forces)
    both = contacts.pairs[:, 1] >= 0
    np.add.at(total, contacts.pairs[both, 1], -contacts.forces[both])
    return total


@pytest.mark.parametrize("env", [0, 1])
def test_forces_carry_each_grain_at_rest(resting, env):
    total = per_grain(resting.contacts(env), resting.grain_count)
    np.testing.assert_allclose(total, np.broadcast_to([0, 0, WEIGHT], total.shape), atol=5e-3 * WEIGHT)


@pytest.mark.parametrize("env", [0, 1])
def test_tools_and_walls_have_their_numbers(resting, env):
    """Forces on walls and tools are the wrenches of the same substep."""
    found = resting.contacts(env)
    assert found.dt == pytest.approx(DT)
    for k in range(2):
        mine = found.pairs[:, 1] == -1 - k
        np.testing.assert_allclose(-found.forces[mine].sum(0), resting.wrenches[env, k, :3], atol=1e-4 * WEIGHT)
        assert mine.any() == (k == 1)
    for k in range(6):
        mine = found.pairs[:, 1] == -1 - 2 - k
        np.testing.assert_allclose(-found.forces[mine].sum(0), resting.wall_wrenches[env, k, :3], atol=1e-4 * WEIGHT)
        assert mine.any() == (k != 5)


def test_contacts_are_told_once_in_order(resting):
    for env in range(2):
        pairs = resting.contacts(env).pairs
        assert (pairs[:, 0] >= 0).all() and (np.diff(pairs[:, 0]) >= 0).all()
        grains = pairs[:, 1] >= 0
        assert (pairs[grains, 1] > pairs[grains, 0]).all() and pairs.max() < resting.grain_count
        assert len(np.unique(pairs, axis=0)) == len(pairs)
        partners = np.where(pairs[:, 1] < 0, 1000 - pairs[:, 1], pairs[:, 1])
        assert (np.diff(1e6 * pairs[:, 0] + partners) > 0).all(), "grains, tools, walls"
    assert not np.array_equal(resting.contacts(0).impulses, resting.contacts(1).impulses)


def test_pairs_are_those_that_touch(resting):
    places = resting.positions[0].astype(np.float64)
    pressing = resting.contacts(0).pressing(1e-3 * WEIGHT).pairs
    pressing = pressing[pressing[:, 1] >= 0]
    gaps = np.linalg.norm(places[pressing[:, 0]] - places[pressing[:, 1]], axis=1) - 2 * RADIUS
    assert len(pressing) > 40 and np.abs(gaps).max() < 1e-3 * RADIUS


def test_counts_of_contacts(resting):
    """Counts per grain, with walls and tools or without."""
    found = resting.contacts(0).pressing(1e-3 * WEIGHT)
    with_all, grains_alone = found.counts(resting.grain_count), found.counts(resting.grain_count, grains_only=True)
    assert with_all.sum() == 2 * len(found.pairs) - (found.pairs[:, 1] < 0).sum()
    assert grains_alone.sum() == 2 * (found.pairs[:, 1] >= 0).sum()
    # on a plate one contact is enough
    assert with_all.min() >= 1 and with_all.shape == (resting.grain_count,)


def test_none_before_a_step_and_after_grains_were_set(resting):
    with box_with_plate(12).build(num_threads=1) as world:
        first = world.contacts()
        assert (first.pairs.shape, first.impulses.shape, first.dt) == ((0, 2), (0, 3), 0.0)
        assert first.pairs.dtype == np.int32 and first.impulses.dtype == np.float32
        assert len(first.forces) == len(first.pressing().pairs) == 0 and not first.counts(12).any()
        world.step(DT, 800)
        assert len(world.contacts().pairs) > 12
        world.set_grains(world.positions)
        assert len(world.contacts().pairs) == 0


def test_a_state_brings_its_contacts(resting):
    state, before = resting.save_state(), resting.contacts(1)
    with box_with_plate().build(env_count=2, num_threads=1) as world:
        world.load_state(state)
        after = world.contacts(1)
    assert np.array_equal(before.pairs, after.pairs) and np.array_equal(before.impulses, after.impulses)
    assert before.dt == after.dt


def test_an_impact_of_two():
    """Without gravity: two balls head-on; each contact is returned once, with the sign for the first."""
    with space(
        [[0.0, 0.0, 0.0], [2.0001 * RADIUS, 0.0, 0.0]], [[1.0, 0, 0], [-1.0, 0, 0]], restitution=0.5
    ).build() as w:
        w.step(DT)
        found = w.contacts().pressing()
        assert found.pairs.tolist() == [[0, 1]]
        np.testing.assert_allclose(found.impulses[0], [-1.5 * mass(), 0, 0], rtol=1e-4, atol=1e-9)
        w.step(DT)
        assert len(w.contacts().pressing().pairs) == 0


@pytest.mark.parametrize("env", [-1, 2, 1.5, "0", None])
def test_no_such_env(resting, env):
    with pytest.raises(gg.ArgumentError, match="^env: expected"):
        resting.contacts(env)
    with pytest.raises(gg.ArgumentError, match="^env: expected"):
        resting._core.get_contacts(7)
