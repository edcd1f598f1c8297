"""CPU and GPU give the same bits: grains, counters, wrenches, depth images, with both kernels of a step."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import pytest

import granular_gym as gg
from testbed.beds import DENSITY
from testbed.frozen import BREAKS, break_env, frozen_scene
from testbed.parity import (
    BELL,
    KERNELS,
    SPHERE_KERNELS,
    TABLE,
    forced,
    heap,
    mixed,
    moist,
    pair,
    planar,
    poses,
    same,
    scooped,
    tabled,
    wield,
    wielded,
)
from testbed.planar import COARSE


@pytest.mark.parametrize("kernel", SPHERE_KERNELS)
@pytest.mark.parametrize(
    "solver",
    [
        {},
        {"broad_phase": "linked_hash"},
        {"mode": "paper", "iterations": 5},
        {"spin": False, "iterations": 4},
        {"tolerance": 2e-3, "iterations": 12},
        {"nesterov": False},
    ],
    ids=["default", "linked_hash", "paper", "no_spin", "tolerance", "plain"],
)
def test_solver(kernel: str, solver: dict[str, Any]) -> None:
    """All solver settings and broad phases."""
    cpu, gpu = pair(heap, kernel, **solver)
    with cpu, gpu:
        for k in range(3):
            cpu.step(1e-3, 8, tool_poses=poses(k, cpu))
            gpu.step(1e-3, 8, tool_poses=poses(k, gpu))
            same(cpu, gpu)


@pytest.mark.parametrize("kernel", KERNELS)
def test_mixed_sizes(kernel: str) -> None:
    """Several size classes and a periodic axis."""
    cpu, gpu = pair(mixed, kernel)
    with cpu, gpu:
        for _ in range(3):
            cpu.step(1e-3, 10)
            gpu.step(1e-3, 10)
            same(cpu, gpu)


@pytest.mark.parametrize("kernel", SPHERE_KERNELS)
@pytest.mark.parametrize("make", [moist, scooped])
def test_laws_and_tools(kernel: str, make: Any) -> None:
    """Moist grains in wind; a tool from a mesh that leaves a periodic box on one side and comes in on the other."""
    cpu, gpu = pair(make, kernel, env_count=2)
    with cpu, gpu:
        for k in range(6):
            cpu.step(1e-3, 8, tool_poses=poses(k, cpu))
            gpu.step(1e-3, 8, tool_poses=poses(k, gpu))
            same(cpu, gpu)
        assert int(cpu.stats["contact_count"][0]) > 20
        assert not cpu.tool_count or np.abs(cpu.wrenches).max() > 0


ADAPTIVE: dict[str, Any] = {"integrator": "rkf45", "tolerance": 1e-3}


@pytest.mark.parametrize(
    ("settings", "kernel"),
    [
        pytest.param({}, "team", id="verlet-team"),
        pytest.param({}, "graph", id="verlet-graph"),
        pytest.param(ADAPTIVE, "team", id="rkf45-team"),
        pytest.param(ADAPTIVE, "graph", id="rkf45-graph", marks=pytest.mark.full),
    ],
)
def test_bell(kernel: str, settings: dict[str, Any], full: bool) -> None:
    """Contacts as forces; adaptive steps run in persistent kernels whatever is asked for."""
    cpu, gpu = pair(forced, kernel, env_count=3, mode="bell", bell=BELL, **settings)
    with cpu, gpu:
        for world in (cpu, gpu):
            world.set_gravity((0.0, 0.0, -20.0), envs=[1])
        for k in range(6 if full else 3):
            for world in (cpu, gpu):
                world.step(1e-4, 100, tool_poses=poses(k, world))
            same(cpu, gpu)
        assert int(cpu.stats["contact_count"].min()) > 10
        assert np.abs(cpu.wrenches).max() > 0


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("envs", [1, 3])
def test_table(kernel: str, envs: int) -> None:
    """Forces read from tables, with bonds, spin and a blade."""
    cpu, gpu = pair(tabled, kernel, env_count=envs, mode="table", table=TABLE)
    outside = 0
    with cpu, gpu:
        for world in (cpu, gpu):
            world.set_gravity((0.0, 1.0, -20.0), envs=[envs - 1])
        for k in range(6):
            for world in (cpu, gpu):
                world.step(1e-3, 40, tool_poses=poses(k, world))
            same(cpu, gpu, ignored="growth_count")
            outside += int(cpu.stats["unsampled_count"].sum())
        assert int(cpu.stats["contact_count"].min()) > 100 and outside > 0
        assert np.abs(cpu.wrenches).max() > 0 and np.abs(cpu.angular_velocities).max() > 1.0


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("envs", [1, 3])
def test_planar(kernel: str, envs: int) -> None:
    """Nonconvex grains in the plane."""
    cpu, gpu = pair(planar, kernel, env_count=envs, iterations=12)
    with cpu, gpu:
        for k in range(4):
            cpu.step(1e-3, 25, tool_poses=poses(k, cpu))
            gpu.step(1e-3, 25, tool_poses=poses(k, gpu))
            same(cpu, gpu)
            np.testing.assert_array_equal(cpu.angles, gpu.angles)
        assert int(cpu.stats["contact_count"][0]) > 20


@pytest.mark.parametrize("kernel", KERNELS)
def test_penalty(kernel: str) -> None:
    """The same with springs."""
    cpu, gpu = pair(planar, kernel, env_count=2, mode="penalty", stiffness=1e5)
    with cpu, gpu:
        for k in range(4):
            cpu.step(5e-4, 120, tool_poses=poses(k, cpu))
            gpu.step(5e-4, 120, tool_poses=poses(k, gpu))
            same(cpu, gpu)
            np.testing.assert_array_equal(cpu.angles, gpu.angles)
        assert int(cpu.stats["overlap_count"][0]) > 10


@functools.cache
def planar_on(kind: str) -> gg.Scene:
    """Planar grains with other kinds of fields, made once: training is not deterministic."""

    def field(a: gg.Shape2D, b: gg.Shape2D) -> gg.PairField:
        if kind == "linear":
            return gg.PairField.build(a, b, kind, **COARSE)
        return gg.PairField.train(a, b, layers=2, width=32, samples=2000, iterations=60, cache=False)

    return planar(field)


@pytest.mark.parametrize("kind", ["linear", "network_of_torch"])
@pytest.mark.parametrize("mode", ["jacobi", "penalty"])
def test_planar_fields(kind: str, mode: str) -> None:
    """Fields of other kinds than the default table, with both solvers."""
    if kind != "linear":
        pytest.importorskip("torch")
    law = {"mode": "penalty", "stiffness": 1e5} if mode == "penalty" else {"iterations": 12}
    cpu, gpu = pair(lambda: planar_on(kind), "team", env_count=2, **law)
    with cpu, gpu:
        cpu.step(5e-4, 400)
        gpu.step(5e-4, 400)
        same(cpu, gpu)
        np.testing.assert_array_equal(cpu.angles, gpu.angles)
        touching = "overlap_count" if mode == "penalty" else "contact_count"
        assert int(cpu.stats[touching][0]) > 0


@pytest.mark.parametrize("kernel", KERNELS)
def test_many_envs(kernel: str) -> None:
    """More envs than teams, each with its own grains, gravity and materials; env k alone equals env k of many."""
    envs = 9
    cpu, gpu = pair(lambda: heap(60), kernel, env_count=envs)
    alone = heap(60).build(device="cuda")
    with cpu, gpu, alone:
        rng = np.random.default_rng(3)
        positions = cpu.positions + rng.uniform(-1e-3, 1e-3, (envs, 60, 3)).astype(np.float32)
        gravity = rng.uniform(-12, -4, (envs, 3)) * (0, 0, 1)
        turn, shift = rng.uniform(-1, 1, 2), rng.uniform(0, 0.01, (2, 3)) * (1, 1, 0)
        for world in (cpu, gpu):
            world.set_grains(positions=positions)
            world.set_gravity(gravity)
            world.step(1e-3, 5, tool_poses=poses(0, world))
            world.transform_grains(shift, turn, envs=[2, 7])
            world.set_grains(velocities=np.full((1, 60, 3), 0.1, np.float32), envs=[5])
            world.step(1e-3, 5, tool_poses=poses(1, world))
        same(cpu, gpu)
        alone.set_grains(positions=positions[4:5])
        alone.set_gravity(gravity[4:5])
        for k in range(2):
            alone.step(1e-3, 5, tool_poses=poses(k, alone))
        assert alone.state_hash(0) == gpu.state_hash(4)


def packed() -> gg.Scene:
    """A bed so dense that a long step needs larger buffers."""
    scene = gg.Scene(((-0.06, -0.06, 0.0), (0.06, 0.06, 1.0)))
    sand = scene.add_material(density=DENSITY, friction=0.5, rolling_friction=0.1)
    grid = np.stack(np.meshgrid(range(5), range(5), range(8)), -1).reshape(-1, 3) * 0.0205
    scene.add_grains(sand, grid + np.array([-0.042, -0.042, 0.011]), 0.01)
    return scene


@pytest.mark.parametrize("mode", ["gauss_seidel", "jacobi"])
@pytest.mark.parametrize("kernel", ["block", "team"])
def test_teams_share_envs(kernel: str, mode: str) -> None:
    """More envs than teams, which hand envs over within a step; with Jacobi iterations also envs whose buffers grow."""
    envs = 8 if "emulating" in gg.info()["devices"]["cuda"]["gpus"][0]["name"] else 350
    cpu, gpu = pair(packed, kernel, env_count=envs, mode=mode)
    with cpu, gpu:
        grown = 0
        for world in (cpu, gpu):
            pull = np.zeros((envs, 3), np.float32)
            pull[:, 2] = np.linspace(0.0, -9.81, envs)
            world.set_gravity(pull)
        for _ in range(3):
            cpu.step(5e-3, 7)
            gpu.step(5e-3, 7)
            same(cpu, gpu, ignored="rebuild_count")
            grown += int(gpu.stats["growth_count"].sum())
        assert grown > 0 or mode != "jacobi"


@pytest.mark.parametrize("grains, iterations", [(60, 1), (60, 2), (60, 10), (200, 10)])
@pytest.mark.filterwarnings("ignore::granular_gym.errors.StabilityWarning")
def test_what_is_near(grains: int, iterations: int) -> None:
    """Bodies in shared memory; where a multiprocessor has room, also those before the last sweep: on the emulator, for
    the smaller env alone."""
    cpu, gpu = pair(lambda: heap(grains), "block", 2, iterations=iterations)
    with cpu, gpu:
        for world in (cpu, gpu):
            world.step(1e-3, 60)
        same(cpu, gpu)
        np.testing.assert_array_equal(cpu.stats["residual"], gpu.stats["residual"])
        assert (cpu.stats["residual"] > 0.0).all()


def crowned(count: int) -> gg.Scene:
    """A large grain that so many small ones touch."""
    scene = gg.Scene(((-0.2,) * 3, (0.2,) * 3))
    sand = scene.add_material(density=DENSITY, friction=0.5, rolling_friction=0.1)
    k = np.arange(count) + 0.5
    height, turn = 1.0 - 2.0 * k / count, np.pi * (1.0 + 5.0**0.5) * k
    around = np.sqrt(1.0 - height**2)
    places = np.stack([np.cos(turn) * around, np.sin(turn) * around, height], 1)
    scene.add_grains(sand, np.zeros((1, 3)), 0.05)
    scene.add_grains(sand, 0.0559 * places, 0.006)
    return scene


@pytest.mark.parametrize("kernel", SPHERE_KERNELS)
@pytest.mark.parametrize("count", [20, 45, 90])
@pytest.mark.filterwarnings("ignore::granular_gym.errors.StabilityWarning")
def test_many_colours(count: int, kernel: str) -> None:
    """A grain finds its contacts by colour; or there are more colours than that; or more contacts than colours."""
    cpu, gpu = pair(lambda: crowned(count), kernel, 2)
    with cpu, gpu:
        for world in (cpu, gpu):
            world.step(1e-3, 8)
        assert cpu.stats["contact_count"].tolist() == [2 * count, 2 * count]
        same(cpu, gpu)


@pytest.mark.parametrize("kernel", SPHERE_KERNELS)
def test_growth(kernel: str) -> None:
    """A dense bed and a long step make buffers grow during a step, in some of the envs."""
    cpu, gpu = pair(packed, kernel, env_count=2, mode="jacobi")
    with cpu, gpu:
        grown = 0
        for world in (cpu, gpu):
            world.set_gravity([(0.0, 0.0, 0.0)], envs=[1])
        for _ in range(3):
            cpu.step(5e-3, 8)
            gpu.step(5e-3, 8)
            # all envs share one buffer: when it grows, lists of all are rebuilt, at once or a step later
            same(cpu, gpu, ignored="rebuild_count")
            grown += int(gpu.stats["growth_count"].sum())
        assert grown > 0


def test_states_travel() -> None:
    """A state saved on one device continues with the same bits on the other."""
    cpu, gpu = pair(heap, "team")
    with cpu, gpu:
        cpu.step(1e-3, 10, tool_poses=poses(0, cpu))
        gpu.load_state(cpu.save_state())
        cpu.step(1e-3, 5)
        gpu.step(1e-3, 5)
        same(cpu, gpu)
        with gpu.branch(3) as branch:
            branch.step(1e-3, 3)
            cpu.step(1e-3, 3)
            assert {branch.state_hash(env) for env in range(3)} == {cpu.state_hash(0)}


def test_settings_and_pictures() -> None:
    """Materials, poses, boxes, solver settings and pictures."""
    cpu, gpu = pair(heap, "team", env_count=2)
    with cpu, gpu:
        for world in (cpu, gpu):
            pairs, densities = world._core.get_materials()
            pairs[1, 0, 0, 0] = 0.2
            densities[1] *= 2
            world._core.set_materials(None, pairs, densities)
            world.set_tool_poses([[[0.0, 0.05, 0.05, 1, 0, 0, 0]]], envs=[1])
            world.set_solver(gg.Solver(iterations=7))
            world.step(1e-3, 6)
        same(cpu, gpu)
        np.testing.assert_array_equal(cpu.tool_poses, gpu.tool_poses)
        box = np.array([[[-0.05, -0.05, 0, 0.05, 0.05, 0.1], [0, -0.1, 0, 0.1, 0.1, 0.03]]] * 2, np.float32)
        for a, b in zip(cpu._core.box_stats(box), gpu._core.box_stats(box), strict=True):
            np.testing.assert_array_equal(a, b)
        turned = [[0.0, 0.02, 0.05, 0.9, 0.1, 0.4, 0.0]] * 2, [[0.03, 0.05, 0.04], [0.2, 0.2, 0.03]]
        marked = np.random.default_rng(0).random((2, cpu.grain_count)) < 0.5
        for count in (
            lambda world: world.count_boxes(*turned),
            lambda world: world.count_cells((-0.1, -0.1, 0.0), (0.1, 0.1, 0.2), (3, 4, 5), marked),
            lambda world: world.count_columns((-0.1, -0.1), (0.1, 0.1), (7, 5)),
        ):
            np.testing.assert_array_equal(count(cpu), count(gpu))
        views = [world.picture(world_view(), env=1) for world in (cpu, gpu)]
        np.testing.assert_array_equal(*views)


def world_view() -> gg.DepthCamera:
    """A camera for pictures."""
    return gg.DepthCamera.perspective(height=20, width=24, fov=1.0, position=(0.4, 0.3, 0.3), target=(0, 0, 0), far=5.0)


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("law", BREAKS)
def test_diverged_env(law: str, kernel: str) -> None:
    """An env that is no longer finite freezes with the same finite numbers, read by every reader; the others go on."""
    scene, solver = frozen_scene(law)
    cpu = scene.build(3, device="cpu", num_threads=1, solver=solver)
    gpu = scene.build(3, device="cuda", solver=solver)
    gpu._core.set_kernel(kernel)
    with cpu, gpu:
        for world in (cpu, gpu):
            world.step(1e-4, 20)
            break_env(world, law, 1)
            for _ in range(2):
                world.step(1e-4, 2)
            assert world.stats["diverged"].tolist() == [0, 1, 0]
            assert np.isfinite(world.positions).all() and np.isfinite(world.wall_wrenches).all()
        same(cpu, gpu)


def test_a_velocity_that_overflows() -> None:
    """What is found before contact freezes an env likewise."""
    cpu, gpu = pair(lambda: heap(40), "team", env_count=3)
    with cpu, gpu:
        fast = np.zeros((1, 40, 3), np.float32)
        fast[0, 7] = 3e38
        for world in (cpu, gpu):
            world.set_grains(velocities=fast, envs=[1])
            world.step(1e-3, 4)
        assert gpu.stats["diverged"].tolist() == [0, 1, 0]
        same(cpu, gpu)


def test_run_to_run() -> None:
    """Twenty runs of the same steps end in the same bits."""
    hashes = set()
    for _ in range(20):
        with heap(50).build(device="cuda") as world:
            world.step(1e-3, 4, tool_poses=poses(0, world))
            hashes.add(world.state_hash(0))
    assert len(hashes) == 1


@pytest.mark.parametrize("kernel", SPHERE_KERNELS)
@pytest.mark.parametrize("count", [1, 17, 40])
def test_few_grains(count: int, kernel: str) -> None:
    """Worlds with fewer slices than one thread of a scan handles."""
    cpu, gpu = pair(lambda: heap(count), kernel)
    with cpu, gpu:
        for _ in range(2):
            cpu.step(1e-3, 20)
            gpu.step(1e-3, 20)
        assert cpu.stats["contact_count"].sum() > 0
        same(cpu, gpu)


@pytest.mark.parametrize("kernel", SPHERE_KERNELS)
def test_substeps_are_steps(kernel: str) -> None:
    """Results do not depend on the number of substeps per call and per launch."""
    hashes = set()
    for calls, per in ((1, 60), (12, 5), (2, 30)):
        with heap(40).build(device="cuda") as world:
            world._core.set_kernel(kernel)
            for _ in range(calls):
                world.step(1e-3, per)
            hashes.add(world.state_hash())
    with heap(40).build(device="cpu", num_threads=1) as cpu:
        cpu.step(1e-3, 60)
        assert hashes == {cpu.state_hash()}


@pytest.mark.parametrize("kernel", KERNELS)
def test_coupled_tools(kernel: str) -> None:
    """Links of a robot are solved with the contacts on both devices alike."""
    cpu, gpu = pair(wielded, kernel, env_count=2)
    with cpu, gpu:
        for world in (cpu, gpu):
            wield(world)
        for _ in range(3):
            for world in (cpu, gpu):
                world.step(5e-4, 30)
            same(cpu, gpu)
            for one, other in zip(cpu.coupled_state(), gpu.coupled_state(), strict=True):
                np.testing.assert_array_equal(one, other)
        assert np.abs(cpu.coupled_state().impulses).max() > 0.0
