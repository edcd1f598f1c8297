"""The CPU and a GPU give the same bits: grains, counters, wrenches, depth images, in both ways of a step."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from bed_scenes import DENSITY, RADIUS, lattice
from planar_scenes import COARSE

import granular_gym as gg

WAYS = ("team", "graph")
#: counters that a step leaves behind
READ = ("positions", "velocities", "angular_velocities", "radii", "grain_materials")


def heap(count: int = 180) -> gg.Scene:
    """A heap, a turning blade, a mesh-free hull with a camera on it, another camera above."""
    scene = gg.Scene(((-0.15, -0.15, 0.0), (0.15, 0.15, 0.4)), boundary={"x": "open", "z": ("wall", "open")})
    sand = scene.add_material(density=DENSITY, friction=0.5, rolling_friction=0.3, restitution=0.2)
    steel = scene.add_material(density=7800.0, friction=0.3)
    scene.add_grains(sand, lattice(count, 4.0), RADIUS)
    blade = gg.Sdf.union(gg.Sdf.box((0.008, 0.06, 0.03)), gg.Sdf.capsule(0.01, 0.05).at((0.01, 0.0, 0.03)))
    scene.add_tool(blade, name="blade", material=steel, pose=(-0.06, 0.0, 0.04, 1.0, 0.0, 0.0, 0.0))
    sky = gg.DepthCamera.orthographic(height=13, width=17, extent=0.1, position=(0, 0, 1), target=(0, 0, 0), far=2.0)
    scene.add_camera(sky, name="sky")
    ego = gg.DepthCamera.perspective(height=9, width=11, fov=1.2, position=(-0.1, 0, 0.1), target=(0.1, 0, 0), far=1.0)
    scene.add_camera(ego, name="ego")
    return scene


def mixed() -> gg.Scene:
    """Radii 1 to 6 in a box that is periodic along x."""
    boundary = {"x": "periodic", "y": "wall", "z": ("wall", "open")}
    scene = gg.Scene(((-0.2, -0.1, 0.0), (0.2, 0.1, 1.0)), gravity=(2.0, 0.0, -9.81), boundary=boundary)
    sand = scene.add_material(density=DENSITY, friction=0.4, restitution=0.2, rolling_friction=0.2)
    scene.add_grains(sand, [[-0.1, 0.0, 0.04], [0.1, 0.03, 0.04]], 6.0 * RADIUS)
    scene.fill_box(sand, (-0.2, -0.1, 0.09), (0.2, 0.1, 0.25), count=150, radius=(RADIUS, 2.0 * RADIUS), seed=1)
    return scene


def poses(k: int, world: gg.World) -> Any:
    """A short path of the blade; none where there is no tool."""
    if not world.tool_count:
        return None
    s = (k + 1) / 6
    return [[-0.06 + 0.05 * s, 0.0, 0.04, 1.0 - 0.125 * s * s, 0.0, 0.0, 0.5 * s]]


def same(cpu: gg.World, gpu: gg.World, besides: str = "") -> None:
    """Everything that can be read is equal to the bit, besides one counter."""
    for env in range(cpu.env_count):
        assert cpu.state_hash(env) == gpu.state_hash(env)
    for name in READ:
        np.testing.assert_array_equal(getattr(cpu, name), getattr(gpu, name), err_msg=name)
    a, b = cpu.stats, gpu.stats
    for name in a.keys() - {besides}:
        np.testing.assert_array_equal(a[name], b[name], err_msg=name)
    for walls in (False, True):
        np.testing.assert_array_equal(cpu._core.get_wrenches(walls), gpu._core.get_wrenches(walls))
    for camera in cpu.camera_names:
        np.testing.assert_array_equal(cpu.depth(camera), gpu.depth(camera), err_msg=camera)


def pair(scene: Callable[[], gg.Scene], way: str, env_count: int = 1, **solver: Any) -> tuple[gg.World, gg.World]:
    """The same world on both devices."""
    settings = gg.Solver(**solver)
    cpu = scene().build(env_count=env_count, device="cpu", num_threads=1, solver=settings)
    gpu = scene().build(env_count=env_count, device="cuda", solver=settings)
    gpu._core.set_kernel(way)
    return cpu, gpu


@pytest.mark.parametrize("way", WAYS)
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
def test_solver(way: str, solver: dict[str, Any]) -> None:
    """Every way of the solve and of the broad phase."""
    cpu, gpu = pair(heap, way, **solver)
    with cpu, gpu:
        for k in range(3):
            cpu.step(1e-3, 8, tool_poses=poses(k, cpu))
            gpu.step(1e-3, 8, tool_poses=poses(k, gpu))
            same(cpu, gpu)


@pytest.mark.parametrize("way", WAYS)
def test_mixed_sizes(way: str) -> None:
    """Several size classes and a periodic axis."""
    cpu, gpu = pair(mixed, way)
    with cpu, gpu:
        for _ in range(3):
            cpu.step(1e-3, 10)
            gpu.step(1e-3, 10)
            same(cpu, gpu)


def planar() -> gg.Scene:
    """Two kinds of planar grains fall on a fixed one, with a tool among them and cameras above and aside."""
    shapes = gg.Shape2D.hash(0.05), gg.Shape2D.octagon(0.03)
    scene = gg.Scene(((0.0, 0.0), (0.5, 1.5)))
    kinds = [scene.add_material(density=900.0, friction=0.4, restitution=0.2, shape=shape) for shape in shapes]
    still = scene.add_material(density=900.0, friction=0.4, shape=shapes[0], fixed=True)
    for a, b in ((0, 0), (0, 1), (1, 1)):
        scene.set_pair_field(gg.PairField.build(shapes[a], shapes[b], **COARSE))
    scene.add_grains(still, [(0.25, 0.05)], angles=0.3)
    scene.fill_box(kinds[0], (0.0, 0.1), (0.5, 0.5), count=12)
    scene.fill_box(kinds[1], (0.0, 0.5), (0.5, 0.8), count=12)
    scene.add_tool(gg.Sdf.box((0.05, 0.05, 1.0)), name="blade", material=0, pose=(-0.06, 0.0, 0.04, 1, 0, 0, 0))
    top = {"target": (0.25, 0.3, 0.0), "up": (0, 1, 0), "far": 3.0}
    sky = gg.DepthCamera.orthographic(height=13, width=17, extent=0.3, position=(0.25, 0.3, 1.0), **top)
    scene.add_camera(sky, name="sky")
    scene.add_camera(gg.DepthCamera.perspective(height=9, width=11, position=(0.1, -0.4, 0.5), **top), name="ego")
    return scene


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("envs", [1, 3])
def test_planar(way: str, envs: int) -> None:
    """Nonconvex grains in the plane."""
    cpu, gpu = pair(planar, way, env_count=envs, iterations=12)
    with cpu, gpu:
        for k in range(4):
            cpu.step(1e-3, 25, tool_poses=poses(k, cpu))
            gpu.step(1e-3, 25, tool_poses=poses(k, gpu))
            same(cpu, gpu)
            np.testing.assert_array_equal(cpu.angles, gpu.angles)
        assert int(cpu.stats["contact_count"][0]) > 20


@pytest.mark.parametrize("way", WAYS)
def test_penalty(way: str) -> None:
    """The same on springs."""
    cpu, gpu = pair(planar, way, env_count=2, mode="penalty", stiffness=1e5)
    with cpu, gpu:
        for k in range(4):
            cpu.step(5e-4, 120, tool_poses=poses(k, cpu))
            gpu.step(5e-4, 120, tool_poses=poses(k, gpu))
            same(cpu, gpu)
            np.testing.assert_array_equal(cpu.angles, gpu.angles)
        assert int(cpu.stats["overlap_count"][0]) > 10


@pytest.mark.parametrize("way", WAYS)
def test_many_envs(way: str) -> None:
    """More envs than teams, each with grains, gravity and materials of its own; env k alone is env k among many."""
    envs = 9
    cpu, gpu = pair(lambda: heap(60), way, env_count=envs)
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
            world.place_grains(shift, turn, envs=[2, 7])
            world.set_grains(velocities=np.full((1, 60, 3), 0.1, np.float32), envs=[5])
            world.step(1e-3, 5, tool_poses=poses(1, world))
        same(cpu, gpu)
        alone.set_grains(positions=positions[4:5])
        alone.set_gravity(gravity[4:5])
        for k in range(2):
            alone.step(1e-3, 5, tool_poses=poses(k, alone))
        assert alone.state_hash(0) == gpu.state_hash(4)


@pytest.mark.parametrize("way", WAYS)
def test_growth(way: str) -> None:
    """A packed bed at a long step makes buffers grow in the middle of a step, in some envs and not in others."""

    def packed() -> gg.Scene:
        scene = gg.Scene(((-0.06, -0.06, 0.0), (0.06, 0.06, 1.0)))
        sand = scene.add_material(density=DENSITY, friction=0.5, rolling_friction=0.1)
        grid = np.stack(np.meshgrid(range(5), range(5), range(8)), -1).reshape(-1, 3) * 0.0205
        scene.add_grains(sand, grid + np.array([-0.042, -0.042, 0.011]), 0.01)
        return scene

    cpu, gpu = pair(packed, way, env_count=2)
    with cpu, gpu:
        grown = 0
        for world in (cpu, gpu):
            world.set_gravity([(0.0, 0.0, 0.0)], envs=[1])
        for _ in range(3):
            cpu.step(5e-3, 8)
            gpu.step(5e-3, 8)
            # one buffer serves all envs: when it grows, lists of all are built again, at once or a step later
            same(cpu, gpu, besides="rebuild_count")
            grown += int(gpu.stats["growth_count"].sum())
        assert grown > 0


def test_states_travel() -> None:
    """A state saved on one device goes on with the same bits on the other."""
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
    """Materials, poses, boxes, solver settings and pictures for people."""
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
        box = np.array([[-0.05, -0.05, 0, 0.05, 0.05, 0.1]] * 2, np.float32)
        for a, b in zip(cpu._core.box_stats(box), gpu._core.box_stats(box), strict=True):
            np.testing.assert_array_equal(a, b)
        views = [world.picture(world_view(), env=1) for world in (cpu, gpu)]
        np.testing.assert_array_equal(*views)


def world_view() -> gg.DepthCamera:
    """A camera for pictures."""
    return gg.DepthCamera.perspective(height=20, width=24, fov=1.0, position=(0.4, 0.3, 0.3), target=(0, 0, 0), far=5.0)


def test_diverged_env() -> None:
    """An env that is no longer finite stops; the others go on."""
    cpu, gpu = pair(lambda: heap(40), "team", env_count=3)
    with cpu, gpu:
        fast = np.zeros((1, 40, 3), np.float32)
        fast[0, 7] = 3e38
        for world in (cpu, gpu):
            world.set_grains(velocities=fast, envs=[1])
            world.step(1e-3, 4)
        np.testing.assert_array_equal(cpu.stats["diverged"], gpu.stats["diverged"])
        assert gpu.stats["diverged"].tolist() == [0, 1, 0]
        assert cpu.state_hash(0) == gpu.state_hash(0)
        assert cpu.state_hash(2) == gpu.state_hash(2)


def test_run_to_run() -> None:
    """Twenty runs of the same steps end in the same bits."""
    hashes = set()
    for _ in range(20):
        with heap(50).build(device="cuda") as world:
            world.step(1e-3, 4, tool_poses=poses(0, world))
            hashes.add(world.state_hash(0))
    assert len(hashes) == 1


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("count", [1, 17, 40])
def test_few_grains(count: int, way: str) -> None:
    """Worlds of fewer slices than one thread of a scan takes."""
    cpu, gpu = pair(lambda: heap(count), way)
    with cpu, gpu:
        for _ in range(2):
            cpu.step(1e-3, 20)
            gpu.step(1e-3, 20)
        assert cpu.stats["contact_count"].sum() > 0
        same(cpu, gpu)
