"""Size distributions, air, and ranges of randomised values: samples, and invalid arguments."""

from __future__ import annotations

import math
import re

import numpy as np
import pytest

import granular_gym as gg
from granular_gym.engine.sizes import quantiles

Sizes = gg.SizeDistribution


def test_classes_by_number_and_by_mass():
    by_number = Sizes.classes([2e-3, 1e-3], [1.0, 3.0])
    radii = by_number.sample(400, seed=1)
    assert [(radii == r).sum() for r in (1e-3, 2e-3)] == [300, 100]
    by_mass = Sizes.classes([1e-3, 2e-3], [0.5, 0.5], by="mass")
    radii = by_mass.sample(900)
    assert [(radii == r).sum() for r in (1e-3, 2e-3)] == [800, 100]
    assert (radii[radii == 2e-3] ** 3).sum() == pytest.approx((radii[radii == 1e-3] ** 3).sum())
    assert by_mass.mean_radius == pytest.approx(radii.mean())
    # approximate for any count; an unused class is absent
    assert Sizes.classes([1.0, 2.0, 3.0], [1, 0, 1]).largest == 3.0
    assert abs((Sizes.classes([1.0, 3.0], [1, 2]).sample(100) == 3.0).sum() - 200 / 3) <= 1


@pytest.mark.parametrize("by", ["number", "mass"])
@pytest.mark.parametrize(
    ("make", "density"),
    [
        (lambda by: Sizes.uniform(1.0, 2.0, by), lambda r: np.ones_like(r)),
        (lambda by: Sizes.normal(1.4, 0.2, 1.0, 2.0, by), lambda r: np.exp(-0.5 * ((r - 1.4) / 0.2) ** 2)),
        (lambda by: Sizes.lognormal(1.2, 0.3, 1.0, 2.0, by), lambda r: np.exp(-0.5 * (np.log(r / 1.2) / 0.3) ** 2) / r),
    ],
)
def test_continuous_distributions(make, density, by):
    """Cumulative distribution of a large sample against the integral of the density, by number or by mass."""
    sizes = make(by)
    radii = sizes.sample(20_000, seed=5)
    assert sizes.smallest == 1.0 <= radii.min() < radii.max() <= sizes.largest == 2.0
    fine = np.linspace(1.0, 2.0, 200_001)
    whole = np.cumsum(density(fine))
    for limit in (1.1, 1.3, 1.5, 1.8):
        expected = whole[np.searchsorted(fine, limit)] / whole[-1]
        weights = np.ones_like(radii) if by == "number" else radii**3
        assert weights[radii <= limit].sum() / weights.sum() == pytest.approx(expected, abs=2e-3)
    assert sizes.mean_radius == pytest.approx(radii.mean(), rel=1e-3)
    assert sizes.mean_volume == pytest.approx((4 / 3 * np.pi * radii**3).mean(), rel=1e-3)
    assert sizes.count_of_mass(1000.0 * 2500.0 * sizes.mean_volume, 2500.0) == 1000
    # random order, and the same for the same seed
    assert abs(np.corrcoef(radii[1:], radii[:-1])[0, 1]) < 0.03
    assert np.array_equal(radii, sizes.sample(20_000, seed=5))
    assert not np.array_equal(radii, sizes.sample(20_000, seed=6))
    assert sizes.sample(0).shape == (0,)


def test_quantiles_of_a_sieve_curve():
    radii = [1.0] * 800 + [2.0] * 100
    assert quantiles(radii, [0.1, 0.49, 0.51, 1.0]).tolist() == [1.0, 1.0, 2.0, 2.0]
    assert quantiles(radii, [0.5, 0.9], by="number").tolist() == [1.0, 2.0]


def test_fill_box_takes_a_distribution():
    scene = gg.Scene(((0, 0, 0), (1, 1, 1)))
    sand = scene.add_material(density=1000.0)
    scene.fill_box(sand, (0, 0, 0), (1, 1, 1), count=100, radius=Sizes.classes([0.02, 0.04], [1, 1]), seed=2**70)
    r = scene.freeze().arrays["radius"]
    assert sorted(set(r.tolist())) == pytest.approx([0.02, 0.04])
    assert (r < 0.03).sum() == 50
    with scene.build() as world:
        world.step(1e-3)
        assert world.stats["overlap_count"][0] == 0


@pytest.mark.parametrize(
    ("name", "make"),
    [
        ("radii", lambda: Sizes.classes([], [])),
        ("radii", lambda: Sizes.classes([1.0, 0.0], [1, 1])),
        ("radii", lambda: Sizes.classes([1.0, 1.0], [1, 1])),
        ("radii", lambda: Sizes.classes([1.0, math.nan], [1, 1])),
        ("shares", lambda: Sizes.classes([1.0, 2.0], [1, -1])),
        ("shares", lambda: Sizes.classes([1.0, 2.0], [0, 0])),
        ("shares", lambda: Sizes.classes([1.0, 2.0], [1])),
        ("by", lambda: Sizes.classes([1.0], [1], by="volume")),
        ("by", lambda: Sizes.uniform(1.0, 2.0, by="weight")),
        ("smallest", lambda: Sizes.uniform(0.0, 1.0)),
        ("largest", lambda: Sizes.uniform(2.0, 1.0)),
        ("deviation", lambda: Sizes.normal(1.0, 0.0, 0.5, 2.0)),
        ("mean", lambda: Sizes.normal(math.nan, 1.0, 0.5, 2.0)),
        ("median", lambda: Sizes.lognormal(0.0, 1.0, 0.5, 2.0)),
        ("smallest, largest", lambda: Sizes.normal(1.0, 1e-3, 5.0, 6.0)),
        ("count", lambda: Sizes.uniform(1.0, 2.0).sample(-1)),
        ("seed", lambda: Sizes.uniform(1.0, 2.0).sample(1, seed=-1)),
        ("density", lambda: gg.Air(density=-1.0)),
        ("viscosity", lambda: gg.Air(viscosity=math.nan)),
        ("wind", lambda: gg.Air(wind=(0, 0, math.inf))),
        ("wind", lambda: gg.Air(wind=(0, 0, 1e9))),
        ("air", lambda: gg.Scene(((0, 0, 0), (1, 1, 1)), air=1.2).build()),
        ("contact_angle", lambda: gg.capillary_cohesion(contact_angle=4.0)),
        ("radius", lambda: gg.cohesion_of_force(1.0, 0.0)),
        ("friction", lambda: gg.MaterialRanges(friction=(0.5, 0.3))),
        ("friction", lambda: gg.MaterialRanges(friction=(-0.5, 0.3))),
        ("friction", lambda: gg.MaterialRanges(friction=0.5)),
        ("restitution", lambda: gg.MaterialRanges(restitution=(0.0, 2.0))),
        ("gravity", lambda: gg.MaterialRanges(gravity=(-9.0, -10.0))),
        ("cohesion", lambda: gg.MaterialRanges(cohesion=(0.0, math.nan))),
        ("density", lambda: gg.MaterialRanges(density=(0.0, 1.0))),
        ("pair", lambda: gg.MaterialRanges(pair="sand")),
    ],
)
def test_refusals(name, make):
    with pytest.raises(gg.ArgumentError, match=rf"^{re.escape(name)}: expected"):
        make()


def test_air_refusals(world):
    before = world.air.tobytes()
    for name, value in (
        ("density", -1.0),
        ("density", math.nan),
        ("viscosity", [1.0, 2.0]),
        ("viscosity", 1e9),
        ("wind", (0, 0)),
        ("wind", (0, 0, 1e9)),
    ):
        with pytest.raises(gg.ArgumentError, match=f"^{name}: expected"):
            world.set_air(**{name: value})
    assert world.air.tobytes() == before


def test_one_pair_of_some_envs(world):
    before, _ = world.materials
    world.set_pair("sand", "steel", friction=[0.1, 0.9], restitution=0.25, envs=[0, 2])
    now, _ = world.materials
    assert now[:, 0, 1, 0].tolist() == pytest.approx([0.1, before[1, 0, 1, 0], 0.9])
    assert np.array_equal(now, now.swapaxes(1, 2))
    assert np.array_equal(now[1], before[1])
    assert np.array_equal(now[:, 0, 0], before[:, 0, 0])
    # twisting friction equals rolling friction until it is set
    world.set_pair(0, 0, rolling_friction=0.2)
    assert world.materials[0][0, 0, 0, 2:4].tolist() == pytest.approx([0.2, 0.2])
    world.set_pair(0, 0, twisting_friction=0.01)
    world.set_pair(0, 0, rolling_friction=0.4)
    assert world.materials[0][0, 0, 0, 2:4].tolist() == pytest.approx([0.4, 0.01])
    # tables of three columns: twisting like rolling, cohesion stays
    world.set_pair(0, 0, cohesion=0.5, cohesion_range=1e-3)
    world.set_materials(pairs=np.full((2, 2, 3), 0.3))
    assert world.materials[0][0, 0, 0].tolist() == pytest.approx([0.3, 0.3, 0.3, 0.3, 0.5, 1e-3])


RANGES = gg.MaterialRanges(
    friction=(0.2, 0.8),
    restitution=(0.0, 0.5),
    rolling_friction=(0.0, 0.3),
    twisting_friction=(0.0, 0.1),
    cohesion=(0.0, 0.5),
    cohesion_range=(5e-4, 1e-3),
    density=(1000.0, 3000.0),
    gravity=((-1.0, 0.0, -10.0), (1.0, 0.0, -9.0)),
    air_density=(0.0, 1.2),
    viscosity=(0.0, 2e-5),
    wind=((-1.0, -1.0, 0.0), (1.0, 1.0, 0.0)),
)


def test_ranges_by_env(scene):
    with scene.build(env_count=4) as world, scene.build(env_count=2) as few, scene.build() as lone:
        values = RANGES.apply(world, 7)
        assert len(values) == 4 and list(values[0]) == RANGES.names
        assert len({value["friction"] for value in values}) == 4
        pairs, densities = world.materials
        for env, value in enumerate(values):
            wanted = [value[name] for name in gg.Pair._fields]
            assert (pairs[env] == np.float32(wanted)).all()
            assert (densities[env] == np.float32(value["density"])).all()
            assert world.gravity[env].tolist() == value["gravity"].tolist()
            air = [value["air_density"], value["viscosity"], *value["wind"].tolist()]
            assert world.air[env].tolist() == np.float32(air).tolist()
        # env k draws the same in a world of any size, and when it is reset alone
        assert RANGES.apply(few, 7)[1]["friction"] == values[1]["friction"]
        again = RANGES.apply(world, 7, envs=[2])
        assert len(again) == 1 and again[0]["cohesion"] == values[2]["cohesion"]
        # and evolves as a world of its own with these values
        RANGES.set(lone, [values[2]])
        for each in (world, lone):
            each.step(1e-3, 150)
        assert lone.state_hash() == world.state_hash(2) != world.state_hash(1)


def test_ranges_of_one_pair_and_by_generator(world):
    before, dense = world.materials
    ranges = gg.MaterialRanges(pair=("sand", "steel"), friction=(0.2, 0.8), density=(900.0, 1100.0))
    one = ranges.apply(world, [np.random.default_rng(3), np.random.default_rng(4)], envs=[True, False, True])
    two = ranges.apply(world, lambda env: np.random.default_rng(3 + env // 2), envs=[0, 2])
    assert one == two
    now, denser = world.materials
    assert np.array_equal(now[1], before[1]) and np.array_equal(denser[1], dense[1])
    assert np.array_equal(now[0, 0, 0], before[0, 0, 0]) and now[0, 0, 1, 0] == np.float32(one[0]["friction"])
    assert np.array_equal(denser[:, 1], dense[:, 1]) and denser[2, 0] == np.float32(one[1]["density"])
    assert ranges.apply(world, 1, envs=[]) == []
    with pytest.raises(gg.ArgumentError, match="^generators: expected 3"):
        ranges.apply(world, [np.random.default_rng()])
    with pytest.raises(gg.ArgumentError, match="^values: expected 3"):
        ranges.set(world, one)
