"""Springs give the same bits for any number of threads and other envs, and after a snapshot, which stores them."""

import pytest

import granular_gym as gg
from testbed import planar as planar_scenes

SOLVER = gg.Solver(mode="penalty", stiffness=1e7)


@pytest.fixture(scope="module")
def scene():
    return planar_scenes.pile_under_plunger(30)


def play(world, begin=0, end=4):
    for k in range(begin, end):
        world.step(1e-4, 800, tool_poses=[[0.4, 3.6 - 0.16 * (k + 1), 0, 1, 0, 0, 0]])
    return world


@pytest.fixture(scope="module")
def reference(scene):
    world = play(scene.build(device="cpu", num_threads=1, solver=SOLVER))
    assert int(world.stats["overlap_count"][0]) > 20
    return world.state_hash(0)


@pytest.mark.parametrize("num_threads", [2, 3])
def test_threads(scene, reference, num_threads):
    assert play(scene.build(device="cpu", num_threads=num_threads, solver=SOLVER)).state_hash(0) == reference


def test_company(scene, reference):
    world = play(scene.build(env_count=3, device="cpu", num_threads=2, solver=SOLVER))
    assert [world.state_hash(k) for k in range(3)] == [reference] * 3


def test_snapshot_keeps_springs(scene, reference):
    """The snapshot is taken while grains are in contact; without the stored springs the results differ."""
    world = play(scene.build(device="cpu", num_threads=1, solver=SOLVER), 0, 3)
    other = scene.build(env_count=2, device="cpu", num_threads=1, solver=SOLVER)
    other.load_state(world.save_state(env=0), envs=[1])
    assert play(other, 3).state_hash(1) == reference
    bare = scene.build(device="cpu", num_threads=1, solver=SOLVER)
    bare.set_grains(
        positions=world.positions,
        velocities=world.velocities,
        angular_velocities=world.angular_velocities,
        angles=world.angles,
    )
    assert play(bare, 3).state_hash(0) != reference
