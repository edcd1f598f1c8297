"""Cohesive grains: hanging, separating, standing. The law is in docs/materials.md."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import granular_gym as gg
from testbed.beds import (
    DENSITY,
    DIAMETER,
    DT,
    GRAVITY,
    RADIUS,
    THREADS,
    column_scene,
    faces,
    mass,
    random_apart,
    tube_filling,
    tube_mesh,
)

Note = Callable[..., None]
WEIGHT = float(mass() * GRAVITY)
RANGE = 0.1 * RADIUS


def under_a_ceiling(count: int) -> gg.Scene:
    """A chain of touching grains that hangs from z = 0; cohesion is set later."""
    scene = gg.Scene(((-1, -1, -1), (1, 1, 0)), boundary={"x": "open", "y": "open", "z": ("open", "wall")})
    sand, wall = scene.add_material(density=DENSITY, name="sand"), scene.add_material(density=DENSITY, name="wall")
    scene.wall_material = wall
    scene.add_grains(sand, [[0, 0, -RADIUS - k * DIAMETER] for k in range(count)], RADIUS)
    return scene


@pytest.mark.parametrize("dt", [1e-3, 2e-3, 5e-3])
@pytest.mark.filterwarnings("ignore::granular_gym.errors.StabilityWarning")
def test_grain_hangs_from_a_ceiling(dt: float, measured: Note) -> None:
    """It holds while its weight is below the force, and falls above."""
    shares = np.array([0.3, 0.9, 0.99, 1.01, 1.1, 3.0])
    world = under_a_ceiling(1).build(env_count=len(shares), num_threads=1)
    force = [gg.cohesion_of_force(WEIGHT / share, RADIUS) for share in shares]
    world.set_pair("sand", "wall", cohesion=force, cohesion_range=RANGE)
    world.step(dt, round(0.5 / dt))
    depth = -RADIUS - world.positions[:, 0, 2].astype(np.float64)
    holds = shares < 1.0
    measured(sag_in_r=depth[holds].max() / RADIUS, least_fall_in_r=depth[~holds].min() / RADIUS)
    assert np.abs(depth[holds]).max() < 1e-4 * RADIUS
    assert (depth[~holds] > 10.0 * RADIUS).all()
    assert world.wall_wrenches[holds, 5, 2] == pytest.approx(-WEIGHT, rel=1e-4)
    # beyond the range it falls freely; within it the force decelerates it
    assert (world.velocities[~holds, 0, 2] < 0.0).all()


@pytest.mark.parametrize("dt", [1e-3, 5e-3])
@pytest.mark.filterwarnings("ignore::granular_gym.errors.StabilityWarning")
def test_two_grains_part_above_the_force(dt: float, measured: Note) -> None:
    """The upper of two grains is bonded to the ceiling; the lower one separates where its weight exceeds the force."""
    shares = np.array([0.5, 0.95, 1.05, 2.0])
    world = under_a_ceiling(2).build(env_count=len(shares), num_threads=1)
    world.set_pair("sand", "wall", cohesion=gg.cohesion_of_force(10.0 * WEIGHT, RADIUS), cohesion_range=RANGE)
    pull = [gg.cohesion_of_force(WEIGHT / share, RADIUS, RADIUS) for share in shares]
    world.set_pair("sand", "sand", cohesion=pull, cohesion_range=RANGE)
    world.step(dt, round(0.5 / dt))
    gap = -world.positions[:, :, 2].astype(np.float64) - [RADIUS, 3.0 * RADIUS]
    measured(held_gap_in_r=np.abs(gap[:2]).max() / RADIUS, parted_in_r=gap[2:, 1].min() / RADIUS)
    assert np.abs(gap[:, 0]).max() < 1e-3 * RADIUS
    assert np.abs(gap[:2, 1]).max() < 1e-3 * RADIUS
    assert (gap[2:, 1] > 10.0 * RADIUS).all()


def test_attraction_falls_to_nothing_at_the_range(measured: Note) -> None:
    """Two grains at rest with a gap: F (1 - gap / range) over the mass, and nothing beyond the range."""
    apart = np.array([0.2, 0.5, 0.9, 1.1])
    scene = gg.Scene(((-0.1,) * 3, (0.1,) * 3), gravity=(0, 0, 0), boundary=faces("open"))
    grain = scene.add_material(density=DENSITY, cohesion=1.0, cohesion_range=RANGE)
    scene.add_grains(grain, np.zeros((2, 3)), [RADIUS, 2.0 * RADIUS])
    world = scene.build(env_count=len(apart), num_threads=1, overlaps="ignore")
    places = np.zeros((len(apart), 2, 3))
    places[:, 1, 0] = 3.0 * RADIUS + apart * RANGE
    world.set_grains(positions=places)
    world.step(1e-5)
    force = world.velocities[:, :, 0].astype(np.float64) * mass([RADIUS, 2.0 * RADIUS]) / 1e-5
    expected = np.maximum(1.0 - apart, 0.0) * 1.0 * RADIUS * 2.0 / 3.0
    measured(force_error=np.abs(force[:, 0] / expected[0] - expected / expected[0]).max())
    assert force[:, 0] == pytest.approx(expected, rel=2e-3, abs=1e-9)
    assert force[:, 1] == pytest.approx(-expected, rel=2e-3, abs=1e-9)


@pytest.mark.parametrize("dt", [1e-3, 5e-3])
@pytest.mark.filterwarnings("ignore::granular_gym.errors.StabilityWarning")
def test_momentum_and_energy_of_a_moist_gas(dt: float, measured: Note) -> None:
    """Grains that agglomerate: momentum is conserved, energy only decreases, and forces of 1000 weights are stable."""
    scene = gg.Scene(((-0.06,) * 3, (0.06,) * 3), gravity=(0, 0, 0), boundary=faces("periodic"))
    force = gg.cohesion_of_force(1000.0 * WEIGHT, RADIUS, RADIUS)
    grain = scene.add_material(density=DENSITY, cohesion=force, cohesion_range=RANGE, twisting_friction=0.05)
    rng = np.random.default_rng(0)
    speeds = rng.normal(0.0, 0.3, (300, 3))
    scene.add_grains(grain, random_apart(rng, 300, 0.06), RADIUS, speeds - speeds.mean(axis=0))
    world = scene.build(num_threads=THREADS)
    before = world.velocities[0].astype(np.float64)
    size = np.linalg.norm(before, axis=1).sum()
    energies = []
    for _ in range(10):
        world.step(dt, round(0.1 / dt))
        energies.append(float(world.stats["kinetic_energy"][0]))
    drift = np.abs((world.velocities[0].astype(np.float64) - before).sum(axis=0)).max() / size
    # touching pairs: most grains are in agglomerates
    x = world.positions[0].astype(np.float64)
    d = x[:, None] - x[None]
    d -= 0.12 * np.round(d / 0.12)
    gap = np.linalg.norm(d, axis=2) - DIAMETER
    np.fill_diagonal(gap, 1.0)
    measured(momentum_drift=drift, energy_left=energies[-1] / energies[0], clumped=(gap.min(axis=1) < RANGE).mean())
    assert drift < 1e-5
    assert energies[-1] < energies[0] < 0.5 * mass() * (before**2).sum()
    assert (gap.min(axis=1) < RANGE).mean() > 0.9
    assert gap.min() > -0.05 * DIAMETER


def bond_energy(world: gg.World, force: float, period: float) -> float:
    """Of all pairs within RANGE of each other, 0 beyond it [J]: minus F range / 2 (1 - gap / range)^2."""
    x = world.positions[0].astype(np.float64)
    d = x[:, None] - x[None]
    d -= period * np.round(d / period)
    gap = np.linalg.norm(d, axis=2)[np.triu_indices(len(x), 1)] - DIAMETER
    return float(-(0.5 * force * RANGE * np.clip(1.0 - np.maximum(gap, 0.0) / RANGE, 0.0, None) ** 2).sum())


@pytest.mark.parametrize("restitution", [0.8, 1.0])
@pytest.mark.parametrize("bond", [3.0, 30.0])
def test_bounces_of_moist_grains_gain_no_energy(bond: float, restitution: float, measured: Note) -> None:
    """Without friction; sum of kinetic and bond energy, every 50 substeps."""
    scene = gg.Scene(((-0.08,) * 3, (0.08,) * 3), gravity=(0, 0, 0), boundary=faces("periodic"))
    force = bond * WEIGHT
    grain = scene.add_material(
        density=DENSITY,
        friction=0.0,
        rolling_friction=0.0,
        restitution=restitution,
        cohesion=gg.cohesion_of_force(force, RADIUS, RADIUS),
        cohesion_range=RANGE,
    )
    rng = np.random.default_rng(0)
    scene.add_grains(grain, random_apart(rng, 300, 0.08), RADIUS, rng.normal(0.0, 0.3, (300, 3)))
    world = scene.build(num_threads=1)
    start = 0.5 * mass() * (world.velocities.astype(np.float64) ** 2).sum()
    total = [start + bond_energy(world, force, 0.16)]
    for _ in range(8):
        world.step(DT, 50)
        total.append(float(world.stats["kinetic_energy"][0]) + bond_energy(world, force, 0.16))
    measured(largest_rise=np.diff(total).max() / start, end=total[-1] / start)
    assert np.diff(total).max() < 0.0


def columns_left_by_a_tube(bonds: list[float], count: int = 400, tube: float = 0.045) -> tuple[gg.World, np.ndarray]:
    """Removes a mould of cohesive sand, one env per Bond number (force over weight); the world, heights before [m]."""
    places = tube_filling(count, tube)
    height = float(places[:, 2].max()) + DIAMETER
    scene = gg.Scene(((-0.3, -0.3, 0.0), (0.3, 0.3, 4.0 * height)))
    sand = scene.add_material(density=DENSITY, friction=0.5, rolling_friction=0.1, name="sand")
    wall = scene.add_material(density=DENSITY, friction=0.5, rolling_friction=0.1, name="wall")
    scene.wall_material = wall
    scene.add_grains(sand, places, RADIUS)
    shell = gg.Sdf.from_mesh(tube_mesh(tube, tube + 2.0 * DIAMETER, height), spacing=RADIUS)
    mould = scene.add_material(density=DENSITY, friction=0.0, rolling_friction=0.0, name="mould")
    scene.add_tool(shell, name="tube", material=mould)
    world = scene.build(env_count=len(bonds), num_threads=THREADS)
    force = [gg.cohesion_of_force(bond * WEIGHT, RADIUS, RADIUS) for bond in bonds]
    world.set_pair("sand", "sand", cohesion=force, cohesion_range=RANGE)
    world.step(DT, 500)
    before = world.positions[:, :, 2].mean(axis=1)
    world.step(DT, 300, tool_poses=[[0, 0, 1.5 * height, 1, 0, 0, 0]])
    # a stiff agglomerate rocks for a while
    world.step(DT, 900)
    return world, before


def test_moist_columns_stand(measured: Note) -> None:
    """Without its mould dry sand spreads, cohesive sand stands: the centre of mass rises with the Bond number."""
    world, before = columns_left_by_a_tube([0.0, 3.0, 30.0])
    left = world.positions[:, :, 2].mean(axis=1) / before
    speeds = np.sqrt((world.velocities.astype(np.float64) ** 2).sum(axis=2).mean(axis=1))
    measured(dry=left[0], damp=left[1], wet=left[2], wet_rms_speed=speeds[2])
    assert left[0] < 0.6
    assert left[0] + 0.05 < left[1] < left[2] - 0.05
    assert left[2] > 0.95
    assert speeds[2] < 1e-3


def test_moist_bed_comes_to_rest(measured: Note) -> None:
    """A cohesive column in a box comes to rest, and floor and walls carry its weight."""
    scene = column_scene(400, 4.0, rolling=0.1)
    scene.set_pair(0, 0, cohesion=gg.cohesion_of_force(5.0 * WEIGHT, RADIUS, RADIUS), cohesion_range=RANGE)
    world = scene.build(num_threads=THREADS)
    world.step(DT, 1500)
    world.step(DT, 100)
    rms = float(np.sqrt((world.velocities[0].astype(np.float64) ** 2).sum(axis=1).mean()))
    carried = -world.wall_wrenches[0, :, 2].sum() / (400 * WEIGHT)
    measured(rms_speed=rms, carried=carried, largest_overlap=world.stats["overlap_max_last"][0])
    assert rms < 1e-3
    assert carried == pytest.approx(1.0, abs=0.01)
    assert world.stats["overlap_max_last"][0] < 0.01


def test_dry_envs_do_not_notice_moist_ones() -> None:
    """Bit for bit, an env alone equals one of several, with and without cohesion."""
    scene = column_scene(200, 3.0, rolling=0.1)
    bond = gg.cohesion_of_force(5.0 * WEIGHT, RADIUS, RADIUS)
    with scene.build(env_count=3, num_threads=THREADS) as world, scene.build() as dry, scene.build() as moist:
        world.set_pair(0, 0, cohesion=bond, cohesion_range=RANGE, envs=[1])
        world.set_pair(0, 0, cohesion=2.0 * bond, cohesion_range=0.5 * RADIUS, envs=[2])
        moist.set_pair(0, 0, cohesion=bond, cohesion_range=RANGE)
        for each in (world, dry, moist):
            each.step(DT, 150)
        assert world.state_hash(0) == dry.state_hash()
        assert world.state_hash(1) == moist.state_hash()
        assert world.state_hash(2) != world.state_hash(1) != world.state_hash(0)


@pytest.mark.parametrize("solver", [{}, {"spin": False}, {"broad_phase": "linked_hash"}])
def test_moist_bits_are_the_same_everywhere(solver: dict[str, object]) -> None:
    """Same bits for any kernel, any number of threads, and states between worlds with and without cohesion."""
    bond = gg.cohesion_of_force(5.0 * WEIGHT, RADIUS, RADIUS)
    scene = column_scene(200, 3.0, rolling=0.1, restitution=0.3)
    hashes = set()
    for kernel, threads in ((None, 1), (None, 3), ("scalar", 1), ("vector128", 2)):
        with scene.build(device="cpu", num_threads=threads, solver=gg.Solver(**solver)) as world:
            if kernel is not None:
                world._core.set_kernel(kernel)
            world.set_pair(0, 0, cohesion=bond, cohesion_range=RANGE, twisting_friction=0.02)
            world.step(DT, 100)
            state = world.save_state()
            world.step(DT, 100)
            hashes.add(world.state_hash())
    with scene.build(num_threads=1, solver=gg.Solver(**solver)) as world:
        world.load_state(state)
        world.step(DT, 100)
        hashes.add(world.state_hash())
    assert len(hashes) == 1


def test_refusals() -> None:
    scene = under_a_ceiling(1)
    scene.set_pair(0, 1, cohesion=1.0, cohesion_range=2.0 * RADIUS)
    with pytest.raises(gg.ArgumentError, match="^cohesion_range: expected 0.001 to 1 radii"):
        scene.build()
    scene.set_pair(0, 1, cohesion_range=RANGE)
    with pytest.raises(gg.ArgumentError, match="^cohesion: modes paper and bell know none"):
        scene.build(solver=gg.Solver(mode="paper"))
    with scene.build() as world:
        before = world.materials[0].tobytes()
        for values in (
            {"cohesion": -1.0},
            {"cohesion": np.nan},
            {"cohesion_range": 0.0},
            {"cohesion_range": 2.0 * RADIUS},
            {"twisting_friction": -0.1},
            {"restitution": 2.0},
            {"friction": np.inf},
        ):
            name = next(iter(values))
            with pytest.raises(gg.ArgumentError, match=f"^{name}: expected"):
                world.set_pair("sand", "wall", **values)
        with pytest.raises(gg.ArgumentError, match="^values: expected one of 'friction'"):
            world.set_pair("sand", "wall", stickiness=1.0)
        with pytest.raises(gg.ArgumentError, match="^second: expected a material"):
            world.set_pair("sand", "glue", friction=1.0)
        assert world.materials[0].tobytes() == before
