"""Planar grains have the same bits for any number of threads, any kernel, in any company, and after a snapshot."""

import numpy as np
import planar_scenes
import pytest

import granular_gym as gg

KERNELS = ("scalar", "vector128", "avx2", "avx512")


@pytest.fixture(scope="module")
def scene():
    shape = gg.Shape2D.hash(0.05)
    made = planar_scenes.pile(shape, 40)
    material = made.add_material(density=500.0, friction=0.3, restitution=0.3, shape=gg.Shape2D.octagon(0.03))
    other = made.materials[material].shape
    for pair in ((shape, other), (other, other)):
        made.set_pair_field(gg.PairField.build(*pair, **planar_scenes.COARSE))
    made.fill_box(material, (0.0, 2.6), (0.8, 3.0), count=20)
    made.add_tool(gg.Sdf.box((0.1, 0.1, 1.0)), name="plunger", material=0, pose=(0.4, 3.6, 0, 1, 0, 0, 0))
    return made


def played(scene, env_count=1, kernel=None, num_threads=1, steps=6):
    world = scene.build(env_count=env_count, device="cpu", num_threads=num_threads, solver=gg.Solver(iterations=12))
    if kernel:
        world._core.set_kernel(kernel)
    for k in range(steps):
        world.step(1e-3, 50, tool_poses=[[0.4, 3.6 - 0.1 * (k + 1), 0, 1, 0, 0, 0]])
    return world


@pytest.fixture(scope="module")
def reference(scene):
    world = played(scene)
    assert int(world.stats["contact_count"][0]) > 40
    return world.state_hash(0)


@pytest.mark.parametrize("kernel", KERNELS)
def test_kernels(scene, reference, kernel):
    try:
        world = played(scene, kernel=kernel)
    except gg.BackendError as error:
        pytest.skip(str(error))
    assert world.state_hash(0) == reference


@pytest.mark.parametrize("num_threads", [2, 3])
def test_threads(scene, reference, num_threads):
    assert played(scene, num_threads=num_threads).state_hash(0) == reference


def test_company(scene, reference):
    world = played(scene, env_count=3, num_threads=2)
    assert [world.state_hash(k) for k in range(3)] == [reference] * 3


def test_snapshot(scene, reference):
    world = played(scene, steps=3)
    state = world.save_state(env=0)
    other = scene.build(env_count=2, device="cpu", num_threads=1, solver=gg.Solver(iterations=12))
    other.load_state(state, envs=[1])
    for k in range(3, 6):
        other.step(1e-3, 50, tool_poses=[[0.4, 3.6 - 0.1 * (k + 1), 0, 1, 0, 0, 0]])
    assert other.state_hash(1) == reference


def test_hash_sees_angles(scene):
    world = scene.build(device="cpu", num_threads=1)
    before, angles = world.state_hash(0), world.angles
    angles[0, 0] += np.float32(1e-3)
    world.set_grains(angles=angles)
    assert world.state_hash(0) != before
