"""Worlds with tools that have a mass: the same bits for any threads, instruction sets, other envs and snapshots."""

from __future__ import annotations

import dataclasses
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import granular_gym as gg
from testbed.dynamic_tools import press, pressed

STEPS = 20


@pytest.fixture(scope="module", params=["gauss_seidel", "jacobi"])
def solver(request: pytest.FixtureRequest) -> gg.Solver:
    """Either law of spheres."""
    return gg.Solver(mode=request.param)


@pytest.fixture(scope="module")
def expected(solver: gg.Solver) -> list[int]:
    with pressed().build(device="cpu", num_threads=1, solver=solver) as world:
        start = world.tool_poses
        hashes = press(world, STEPS)
        # the tools are among the grains
        assert len(set(hashes)) == STEPS and (np.abs(world.wrenches[0]).max(axis=1) > 0.0).all()
        assert np.abs(world.tool_poses - start)[0, 1:, 2].min() > 0.01
        assert world.stats["diverged"][0] == 0
    return hashes


@pytest.mark.parametrize("threads", [2, 3])
def test_threads(threads: int, solver: gg.Solver, expected: list[int]) -> None:
    with pressed().build(device="cpu", num_threads=threads, solver=solver) as world:
        assert press(world, STEPS) == expected


@pytest.mark.parametrize("kernel", ["scalar", "vector128", "avx2", "avx512"])
def test_kernels(kernel: str, solver: gg.Solver, expected: list[int]) -> None:
    with pressed().build(device="cpu", num_threads=1, solver=solver) as world:
        try:
            world._core.set_kernel(kernel)
        except gg.BackendError as error:
            pytest.skip(f"{error}")
        assert press(world, STEPS) == expected


def test_cells_and_hash(solver: gg.Solver, expected: list[int]) -> None:
    """Grains lie in another order: the sums over the contacts of a tool do not depend on it."""
    hashed = dataclasses.replace(solver, broad_phase="linked_hash")
    with pressed().build(device="cpu", num_threads=2, solver=hashed) as world:
        assert press(world, STEPS) == expected


@pytest.mark.parametrize("changed", [{"spin": False}, {"tolerance": 1e-3}, {"nesterov": False}], ids=str)
def test_settings(solver: gg.Solver, changed: dict[str, Any]) -> None:
    """Scalar and widest kernel, two threads and one."""
    runs, settings = [], dataclasses.replace(solver, **changed)
    for kernel, threads in (("scalar", 1), (None, 2)):
        with pressed().build(device="cpu", num_threads=threads, solver=settings) as world:
            if kernel:
                world._core.set_kernel(kernel)
            runs.append(press(world, 8))
    assert runs[0] == runs[1]


def test_alone_and_among_8(solver: gg.Solver, expected: list[int]) -> None:
    """The others live under other gravity and other forces, and one of them diverges."""
    with pressed().build(env_count=8, device="cpu", num_threads=2, solver=solver) as world:
        others = [1, 2, 3, 4, 5, 6]
        world.set_gravity(np.linspace([-2.0, 0.0, -9.0], [2.0, 1.0, -11.0], 6), envs=others)
        world.set_tool_force("ball", np.linspace([0, 0, -1], [0, 0, 1], 6), envs=others)
        bad = np.full((world.grain_count, 3), 1e38)
        world.set_grains(velocities=bad, envs=5)
        press(world, STEPS)
        hashes = [world.state_hash(env) for env in range(8)]
        assert hashes[0] == hashes[7] == expected[-1] and len(set(hashes)) == 7
        assert world.stats["diverged"].tolist() == [0, 0, 0, 0, 0, 1, 0, 0]
        assert np.isfinite(world.tool_poses).all() and np.isfinite(world.tool_velocity("ball")).all()


def test_snapshots_keep_velocity_and_force(solver: gg.Solver, expected: list[int], tmp_path: Path) -> None:
    """In the same world, through a file into another one, by pickle and by branch."""
    half = STEPS // 2
    with pressed().build(device="cpu", num_threads=1, solver=solver) as world:
        press(world, half)
        world.set_tool_force("ball", (0.1, 0.2, 0.3))
        state, velocity = world.save_state(), world.tool_velocity("ball")
        state.save(tmp_path / "half.ggstate")
        straight = press(world, half)
        world.load_state(state)
        assert np.array_equal(world.tool_velocity("ball"), velocity) and velocity.any()
        np.testing.assert_array_equal(world.tool_force("ball")[0], np.float32([0.1, 0.2, 0.3]))
        with pickle.loads(pickle.dumps(world)) as copy, world.branch(2) as branches:
            assert press(world, half) == press(copy, half) == press(branches, half) == straight
            assert branches.state_hash(1) == straight[-1]
    with pressed().build(env_count=3, device="cpu", num_threads=2, solver=solver) as world:
        press(world, 1)
        world.load_state(gg.State.load(tmp_path / "half.ggstate"), envs=[0, 2])
        assert press(world, half) == straight and world.state_hash(2) == straight[-1]


def test_substeps_are_steps() -> None:
    """n substeps in one call are n calls."""
    hashes = []
    for count, per in ((1, 40), (40, 1), (8, 5)):
        with pressed().build(device="cpu", num_threads=1) as world:
            world.set_tool_force("lid", (0.0, 0.0, -2.0))
            for _ in range(count):
                world.step(1e-3, per)
            hashes.append(world.state_hash())
    assert len(set(hashes)) == 1


def test_a_force_is_part_of_the_hash() -> None:
    """Two envs that differ by a force alone."""
    with pressed().build(env_count=2, device="cpu", num_threads=1) as world:
        assert world.state_hash(0) == world.state_hash(1)
        world.set_tool_force("ball", (0.0, 0.0, 1e-3), envs=1)
        assert world.state_hash(0) != world.state_hash(1)


def test_a_frozen_env_can_be_used_again() -> None:
    """Its tools stand still, with finite numbers; a reset goes on with the bits of the first time."""
    with pressed().build(env_count=2, device="cpu", num_threads=1) as world:
        start = world.save_state(1)
        world.set_grains(velocities=np.full((world.grain_count, 3), 1e38), envs=1)
        world.step(1e-3, 1)
        frozen, poses = world.state_hash(1), world.tool_poses
        press(world, 3)
        world.set_tool_force("lid", (0.0, 0.0, 0.0))
        assert world.stats["diverged"].tolist() == [0, 1]
        assert np.array_equal(world.tool_poses[1, 1:], poses[1, 1:]) and not world.wrenches[1].any()
        world.load_state(start, envs=[0, 1])
        assert world.state_hash(1) != frozen
        press(world, 3)
        assert world.state_hash(0) == world.state_hash(1)


def test_a_force_beyond_all_numbers_freezes_the_env() -> None:
    """One that brings a tool to no finite velocity; what is read stays finite."""
    scene = gg.Scene(((-1, -1, -1), (1, 1, 1)), boundary=dict.fromkeys("xyz", "open"))
    scene.add_grains(scene.add_material(density=2500.0), [[0.0, 0.0, 0.0]], 0.01)
    scene.add_tool(gg.Sdf.sphere(0.1), name="ball", pose=(0.5, 0.0, 0.0), mass=0.01)
    with scene.build(env_count=2, device="cpu", num_threads=1) as world:
        world.set_tool_force("ball", (0.0, 3e38, 0.0), envs=1)
        world.step(1e-3, 5)
        assert world.stats["diverged"].tolist() == [0, 1]
        assert np.isfinite(world.tool_poses).all() and np.isfinite(world.tool_velocity("ball")).all()
        assert np.isfinite(world.positions).all()


def test_a_frozen_env_moves_no_tool_along_an_axis_where_it_is_held() -> None:
    """Impulses that are not finite: what a stop would make of them is finite, but is not committed."""
    with pressed(60).build(device="cpu", num_threads=1) as world:
        world.step(1e-4, 15)
        before = world.tool_poses
        velocities = world.velocities
        velocities[0, 0, :2] = 1e15
        world.set_grains(velocities=velocities)
        world.step(1e-4)
        assert world.stats["diverged"][0] == 1
        lid = world.tool_names.index("lid")
        assert world.tool_poses[0, lid, 1] == before[0, lid, 1] == 0.0
        assert world.tool_velocity("lid")[0, 1] == 0.0
        world.load_state(gg.State.from_bytes(world.save_state().to_bytes()))
