"""Continuous matter: the same bits for any threads, instruction sets, other envs and snapshots."""

from __future__ import annotations

import pickle
from pathlib import Path

import numpy as np
import pytest

import granular_gym as gg
from testbed.continuum import DT, EYES, handle, handled, knead, kneaded, shown, stir, stirred, stray

STEPS = 8


@pytest.fixture(scope="module")
def expected() -> list[int]:
    with kneaded().build(device="cpu", num_threads=1) as world:
        hashes = knead(world, STEPS)
        stats = world.stats
        # the blade and the floor press, the ball has met the sand, both yield
        assert len(set(hashes)) == STEPS and np.abs(world.wrenches[0, 0]).max() > 0.0
        assert stats["tool_contact_count"][0] > 50 and stats["iteration_count"][0] > 2
        assert stats["unsolved_count"][0] == stats["diverged"][0] == 0
        strains = world.plastic_strains[0]
        assert (strains > 0.0).mean() > 0.2 and np.abs(world.velocities).max() < 2.0
        assert (world.dilations[0] > 1e-4).mean() > 0.05 and world.dilations.max() <= np.float32(0.1)
    return hashes


@pytest.fixture(scope="module")
def driven() -> list[int]:
    with handled().build(device="cpu", num_threads=1) as world:
        hashes = handle(world, STEPS)
        # all four tools press
        assert (world.wrenches[0, :, 2] > 0.1).all() and world.stats["unsolved_count"][0] == 0
        assert np.abs(world.tool_angular_velocity("ball")[0]).min() > 1e-3
    return hashes


@pytest.fixture(scope="module")
def stirring() -> list[int]:
    with stirred().build(device="cpu", num_threads=1) as world:
        hashes = stir(world, STEPS)
        pressures = -np.trace(world.stresses[0], axis1=1, axis2=2) / 3.0
        assert len(set(hashes)) == STEPS and pressures.max() > 100.0
        assert world.stats["unsolved_count"][0] == 0 and abs(world.wrenches[0, 1, 2]) > 0.1
        # the oil pushes and turns the buoy
        assert world.tool_velocity("buoy")[0, 0] > 0.05 and abs(world.tool_angular_velocity("buoy")[0, 1]) > 0.05
    return hashes


#: scene and how it is stepped, by the fixture that holds its hashes
CASES = {"expected": (kneaded, knead), "driven": (handled, handle), "stirring": (stirred, stir)}


@pytest.fixture(scope="module")
def late() -> dict[str, gg.State]:
    """States of the cases four steps before their ends, when everything has met."""
    states = {}
    for case, (scene, run) in CASES.items():
        with scene().build(device="cpu", num_threads=1) as world:
            run(world, STEPS - 4)
            states[case] = world.save_state()
    return states


def runs_as_expected(world: gg.World, case: str, request: pytest.FixtureRequest) -> bool:
    """Whether env 0 has the hashes of the case: in its first step and its last four, with --full in all of them."""
    run, hashes = CASES[case][1], request.getfixturevalue(case)
    if request.getfixturevalue("full"):
        return run(world, STEPS) == hashes
    if run(world, 1) != hashes[:1]:
        return False
    state = request.getfixturevalue("late")[case]
    for env in range(world.env_count):
        world.load_state(state, envs=env)
    return run(world, 4, STEPS - 4) == hashes[-4:]


@pytest.mark.parametrize("threads", [2, 3])
@pytest.mark.parametrize("case", CASES)
def test_threads(case: str, threads: int, request: pytest.FixtureRequest) -> None:
    with CASES[case][0]().build(2, device="cpu", num_threads=threads) as world:
        assert runs_as_expected(world, case, request)
        assert world.state_hash(1) == world.state_hash(0)


@pytest.mark.parametrize("kernel", ["scalar", "vector128", "avx2", "avx512"])
@pytest.mark.parametrize("case", CASES)
def test_kernels(case: str, kernel: str, request: pytest.FixtureRequest) -> None:
    with CASES[case][0]().build(device="cpu", num_threads=1) as world:
        try:
            world._core.set_kernel(kernel)
        except gg.BackendError as error:
            pytest.skip(f"{error}")
        assert runs_as_expected(world, case, request)


def test_snapshots_of_liquids(stirring: list[int]) -> None:
    with stirred().build(device="cpu", num_threads=1) as world:
        assert stir(world, 4) == stirring[:4]
        state, stresses, copy = world.save_state(), world.stresses, world.branch(1)
        stir(world, 3, 4)
        world.load_state(state)
        np.testing.assert_array_equal(world.stresses, stresses)
        assert stir(world, STEPS - 4, 4) == stirring[4:]
        with copy:
            assert stir(copy, STEPS - 4, 4) == stirring[4:]


def test_snapshots_of_dynamic_tools(driven: list[int]) -> None:
    with handled().build(device="cpu", num_threads=1) as world:
        assert handle(world, 4) == driven[:4]
        state, copy = world.save_state(), pickle.loads(pickle.dumps(world))
        before = world.tool_angular_velocity("ball"), world.tool_poses
        handle(world, 3, 4)
        world.load_state(state)
        np.testing.assert_array_equal(world.tool_angular_velocity("ball"), before[0])
        np.testing.assert_array_equal(world.tool_poses, before[1])
        assert handle(world, STEPS - 4, 4) == driven[4:]
        with copy:
            assert handle(copy, STEPS - 4, 4) == driven[4:]


EXPLICIT, EXPLICIT_SUBSTEPS = gg.Solver(mode="explicit"), 6


@pytest.fixture(scope="module")
def explicit() -> list[int]:
    """In explicit steps."""
    with kneaded().build(device="cpu", num_threads=1, solver=EXPLICIT) as world:
        hashes = knead(world, STEPS, substeps=EXPLICIT_SUBSTEPS)
        assert len(set(hashes)) == STEPS and np.abs(world.wrenches[0, 0]).max() > 0.0
        assert world.stats["tool_contact_count"][0] > 50 and world.stats["diverged"][0] == 0
        assert (world.plastic_strains[0] > 0.0).mean() > 0.2
    return hashes


@pytest.mark.parametrize("threads", [2, 3])
def test_threads_in_explicit_steps(threads: int, explicit: list[int]) -> None:
    with kneaded().build(2, device="cpu", num_threads=threads, solver=EXPLICIT) as world:
        world.set_gravity((0.0, 0.0, 0.0), envs=1)
        assert knead(world, STEPS, substeps=EXPLICIT_SUBSTEPS) == explicit


@pytest.mark.parametrize("kernel", ["scalar", "vector128", "avx2", "avx512"])
def test_kernels_in_explicit_steps(kernel: str, explicit: list[int]) -> None:
    with kneaded().build(device="cpu", num_threads=1, solver=EXPLICIT) as world:
        try:
            world._core.set_kernel(kernel)
        except gg.BackendError as error:
            pytest.skip(f"{error}")
        assert knead(world, STEPS, substeps=EXPLICIT_SUBSTEPS) == explicit


def test_snapshots_in_explicit_steps(explicit: list[int]) -> None:
    with kneaded().build(device="cpu", num_threads=1, solver=EXPLICIT) as world:
        assert knead(world, 5, substeps=EXPLICIT_SUBSTEPS) == explicit[:5]
        state, copies = world.save_state(), [world.branch(1), pickle.loads(pickle.dumps(world))]
        assert knead(world, STEPS - 5, 5, EXPLICIT_SUBSTEPS) == explicit[5:]
        world.load_state(state)
        assert knead(world, STEPS - 5, 5, EXPLICIT_SUBSTEPS) == explicit[5:]
    for copy in copies:
        with copy:
            assert knead(copy, STEPS - 5, 5, EXPLICIT_SUBSTEPS) == explicit[5:]


@pytest.mark.parametrize("threads", [1, 2])
def test_dynamic_tools_in_explicit_steps(threads: int) -> None:
    """All kinds of tools with a mass, in two envs."""
    hashes = []
    for env_count in (1, 2):
        with handled().build(env_count, device="cpu", num_threads=threads, solver=EXPLICIT) as world:
            hashes.append(handle(world, STEPS, substeps=EXPLICIT_SUBSTEPS))
            assert world.stats["diverged"][0] == 0 and (world.wrenches[0, :, 2] > 0.0).all()
    assert hashes[0] == hashes[1] and len(set(hashes[0])) == STEPS


def test_company(expected: list[int]) -> None:
    """An env that begins later, one without gravity, and one whose matter is elsewhere change nothing in env 0."""
    with kneaded().build(3, device="cpu", num_threads=2) as world:
        world.set_gravity((0.0, 0.0, 0.0), envs=1)
        world.transform_grains((0.02, 0.0, 0.05), 0.4, envs=2)
        assert knead(world, STEPS) == expected
        assert len({world.state_hash(e) for e in range(3)}) == 3


def test_snapshots(expected: list[int], tmp_path: Path) -> None:
    """A state goes on with the same bits: in this world, in a branch, in a pickle, in a file."""
    with kneaded().build(device="cpu", num_threads=1) as world:
        assert knead(world, 5) == expected[:5]
        state = world.save_state()
        state.save(tmp_path / "kneaded")
        copies = [world.branch(1), pickle.loads(pickle.dumps(world))]
        assert knead(world, STEPS - 5, 5) == expected[5:]
        world.load_state(gg.State.load(tmp_path / "kneaded"))
        assert knead(world, STEPS - 5, 5) == expected[5:]
    for copy in copies:
        with copy:
            assert knead(copy, STEPS - 5, 5) == expected[5:]


def test_buffers_grow(expected: list[int]) -> None:
    """A first step whose matter lies in more blocks than there is room for stops, grows, and goes on."""
    scene = gg.Scene(((0, 0, 0), (4, 4, 1)))
    made_of = scene.add_material(density=1000.0, continuum=gg.Elastic(1e4, 0.3))
    for k in range(36):
        low = np.array([0.1 + 0.6 * (k % 6), 0.1 + 0.6 * (k // 6), 0.2])
        scene.add_continuum(made_of, low, low + 0.02, spacing=0.02)
    hashes = []
    for threads in (1, 2):
        with scene.build(device="cpu", num_threads=threads) as world:
            world.step(DT)
            assert world.stats["growth_count"][0] > 0
            world.step(DT, 3)
            hashes.append(world.state_hash())
            np.testing.assert_allclose(world.velocities[0, :, 2], -9.81 * 4 * DT, rtol=1e-5)
    assert hashes[0] == hashes[1]


def test_far_away() -> None:
    """Matter that left through an open face falls on, also where no grid reaches."""
    scene = gg.Scene(((0, 0, 0), (1, 1, 1)), boundary=dict.fromkeys("xyz", "open"))
    made_of = scene.add_material(density=1000.0, continuum=gg.Elastic(1e4, 0.3))
    scene.add_continuum(made_of, (0.4, 0.4, 0.4), (0.5, 0.5, 0.5), spacing=0.05)
    with scene.build(device="cpu", num_threads=1) as world:
        world.set_grains(world.positions + np.float32([0, 0, 1e5]))
        world.step(DT, 4)
        assert world.stats["escaped_count"][0] == world.grain_count
        np.testing.assert_allclose(world.velocities[0, :, 2], -9.81 * 4 * DT, rtol=1e-5)
        assert world.stats["diverged"][0] == 0


def test_turned_matter_goes_on_turned() -> None:
    """`transform_grains` by a right angle turns the deformation along."""
    ends = []
    for turned in (False, True):
        with kneaded().build(device="cpu", num_threads=1) as world:
            knead(world, 4)
            strain = world.stretches[0] - np.eye(3)
            if turned:
                world.transform_grains((0.0, 0.0, 0.0), np.pi / 2)
                turn = np.array([[0.0, -1, 0], [1, 0, 0], [0, 0, 1]])
                np.testing.assert_allclose(
                    world.stretches[0] - np.eye(3), turn @ strain @ turn.T, atol=1e-6 * np.abs(strain).max()
                )
            ends.append(np.linalg.norm(world.stresses, axis=(2, 3)).sum())
    assert ends[1] == pytest.approx(ends[0], rel=1e-5)


def pictures(world: gg.World) -> list[bytes]:
    """All that cameras show of `shown`, then with a particle far away."""
    seen = []
    for far_away in (False, True):
        if far_away:
            stray(world)
        seen += [world.depth(name).tobytes() for name in EYES]
        seen += [world.picture_depth("perspective", 0).tobytes(), world.picture("perspective", 0).tobytes()]
    return seen


@pytest.fixture(scope="module")
def looked() -> list[bytes]:
    with shown().build(device="cpu", num_threads=1) as world:
        world._core.set_kernel("scalar")
        seen = pictures(world)
        assert len(set(seen[: len(EYES)])) == len(EYES)
        depths = np.frombuffer(seen[0], np.float32)
        assert len(np.unique(depths)) > 0.1 * depths.size
    return seen


@pytest.mark.parametrize("threads", [1, 2, 3])
def test_threads_of_images(threads: int, looked: list[bytes]) -> None:
    """Bands of an image or all of it, as threads are more than envs or not."""
    with shown().build(device="cpu", num_threads=threads) as world:
        assert pictures(world) == looked
    with shown().build(4, device="cpu", num_threads=threads) as world:
        for name, image in zip(EYES, looked, strict=False):
            assert all(each.tobytes() == image for each in world.depth(name))


@pytest.mark.parametrize("kernel", ["vector128", "avx2", "avx512"])
def test_kernels_of_images(kernel: str, looked: list[bytes]) -> None:
    with shown().build(device="cpu", num_threads=1) as world:
        try:
            world._core.set_kernel(kernel)
        except gg.BackendError as error:
            pytest.skip(f"{error}")
        assert pictures(world) == looked
