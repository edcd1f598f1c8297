"""Planar grains have the same bits for any threads, kernel and other envs, and after a snapshot."""

import numpy as np
import pytest

import granular_gym as gg
from granular_gym import _core
from granular_gym.shapes import pair_network
from testbed import planar as planar_scenes

KERNELS = ("scalar", "vector128", "avx2", "avx512")


@pytest.fixture(scope="module")
def scene():
    return planar_scenes.pile_under_plunger(40, restitution=0.3)


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


def drawn_network(monkeypatch, width, **settings):
    """A network with random weights: only its bits matter here."""
    floats = (4 + 1) * width + 2 * (width + 1) * width + width + 1
    weights = np.random.default_rng(5).normal(0, width**-0.5, 2 * floats).astype(np.float32)
    monkeypatch.setattr(pair_network.Plan, "train", lambda *given: weights)
    shape = gg.Shape2D.hash(0.05)
    return gg.PairField.train(shape, shape, layers=3, width=width, cache=False, **settings)


@pytest.mark.parametrize("kernel", KERNELS[1:])
@pytest.mark.parametrize("kind", ["cubic", "linear", "relu", "sine"])
def test_queries(kind, kernel, monkeypatch):
    """Queries of a field give the same bits on every instruction set."""
    if kind in ("relu", "sine"):
        field = drawn_network(monkeypatch, 48, activation=kind)
    else:
        shape = gg.Shape2D.letter("U", 0.05)
        field = gg.PairField.build(shape, shape, kind, **planar_scenes.COARSE)
    poses = np.random.default_rng(7).uniform([-9, -0.1, -0.1], [9, 0.1, 0.1], (4000, 3)).astype(np.float32)
    asked = (np.frombuffer(field.record.tobytes(), np.uint8), field.blob, poses)
    wanted = _core.pair_query(*asked, "scalar")
    try:
        found = _core.pair_query(*asked, kernel)
    except gg.BackendError as error:
        pytest.skip(str(error))
    assert np.isfinite(wanted).all() and len(np.unique(wanted[:, 0])) > 1000
    assert np.array_equal(found.view(np.uint32), wanted.view(np.uint32))


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
