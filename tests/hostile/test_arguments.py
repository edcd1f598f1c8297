"""Invalid arguments: a typed error that names the argument, or a defined result; no crash, no silent change."""

from __future__ import annotations

import math

import numpy as np
import pytest

import granular_gym as gg
from granular_gym import _core
from granular_gym.engine.solver import Solver

NAN, INF = math.nan, math.inf


def state_of(world: gg.World) -> tuple[int, bytes]:
    return world.state_hash(), world.gravity.tobytes()


@pytest.mark.parametrize("dt", [0, 0.0, -1e-3, NAN, INF, -INF, "1e-3", None, True, [1e-3], 1e4, np.array([1e-3, 1e-3])])
def test_dt(world, dt):
    before = state_of(world)
    with pytest.raises(gg.ArgumentError, match="^dt: expected"):
        world.step(dt)
    assert state_of(world) == before


@pytest.mark.parametrize("substeps", [0, -1, 1.5, "3", None, True, 2**31, 2**70, NAN])
def test_substeps(world, substeps):
    before = state_of(world)
    with pytest.raises(gg.ArgumentError, match="^substeps: expected"):
        world.step(1e-3, substeps)
    assert state_of(world) == before


GOOD_POSE = [0.0, 0.0, 0.5, 1.0, 0.0, 0.0, 0.0]


@pytest.mark.parametrize(
    "poses",
    [
        0,
        "here",
        [[1, 2, 3]],
        np.zeros((3, 1, 6)),
        np.zeros((2, 1, 7)),
        np.zeros((3, 2, 7)),
        np.zeros((3, 1, 7, 1)),
        np.zeros((0, 1, 7)),
        [[[NAN, *GOOD_POSE[1:]]]] * 3,
        [[[INF, *GOOD_POSE[1:]]]] * 3,
        [[[1e300, *GOOD_POSE[1:]]]] * 3,
        [[[0, 0, 0, 0, 0, 0, 0]]] * 3,
        np.full((3, 1, 7), 1 + 1j),
        np.full((3, 1, 7), None),
        [[GOOD_POSE], [GOOD_POSE]],
        [[GOOD_POSE], [GOOD_POSE[:3]], [GOOD_POSE]],
    ],
)
def test_tool_poses(world, poses):
    before = state_of(world)
    for call in (lambda: world.step(1e-3, 1, tool_poses=poses), lambda: world.set_tool_poses(poses)):
        with pytest.raises(gg.ArgumentError, match=r"poses: expected"):
            call()
    assert state_of(world) == before


@pytest.mark.parametrize("kind", ["list", "float64", "strided", "fortran", "readonly", "swapped", "integers"])
def test_any_kind_of_array_is_taken(world, kind):
    poses = np.tile(np.array([0, 0, 1, 1, 0, 0, 0], np.float32), (3, 1, 1))
    given = {
        "list": poses.tolist(),
        "float64": poses.astype(np.float64),
        "strided": np.repeat(poses, 2, axis=2)[:, :, ::2],
        "fortran": np.asfortranarray(poses),
        "readonly": poses.copy(),
        "swapped": poses.astype(">f4"),
        "integers": poses.astype(np.int64),
    }[kind]
    if kind == "readonly":
        given.flags.writeable = False
    copy = np.array(given)
    world.step(1e-3, 2, tool_poses=given)
    assert np.array_equal(world.tool_poses, poses)
    assert np.array_equal(given, copy)


@pytest.mark.parametrize("envs", [3, -1, [0, 3], [-1], [0.5], "all", [[0]], [True, False], 1.0, [2**40], {}])
def test_envs(world, envs):
    before = state_of(world)
    for call in (
        lambda: world.set_gravity((0, 0, 0), envs=envs),
        lambda: world.set_grains(velocities=np.zeros((60, 3)), envs=envs),
        lambda: world.transform_grains((0, 0, 0), 0.0, envs=envs),
        lambda: world.set_tool_poses([GOOD_POSE], envs=envs),
        lambda: world.load_state(world.save_state(env=0), envs=envs),
        lambda: world.set_materials(densities=[1.0, 1.0], envs=envs),
    ):
        with pytest.raises(gg.ArgumentError, match="^envs: expected"):
            call()
    assert state_of(world) == before


@pytest.mark.parametrize("envs", [[1, 1], [2, 0, 2], np.array([0, 1, 0])])
def test_an_env_is_listed_once(world, envs):
    """It would be set twice, to different values maybe; states of one env may be taken several times."""
    state = world.save_state(env=envs)
    for call in (
        lambda: world.set_gravity((0.0, 0.0, -1.0), envs=envs),
        lambda: world.load_state(state, envs=envs),
        lambda: world.set_grains(velocities=np.zeros((world.grain_count, 3)), envs=envs),
        lambda: world.settle_impulses(1e-3, envs=envs),
        lambda: gg.MaterialRanges(friction=(0.2, 0.5)).apply(world, 0, envs),
    ):
        with pytest.raises(gg.ArgumentError, match="^envs: expected each env once, got"):
            call()
    world.set_gravity((0.0, 0.0, -1.0), envs=[2, 0, 1])


def test_empty_env_lists_do_nothing(world):
    before = state_of(world)
    world.set_gravity(np.zeros((0, 3)), envs=[])
    world.set_grains(velocities=np.zeros((0, 60, 3)), envs=[])
    world.set_gravity((1, 1, 1), envs=[False, False, False])
    assert state_of(world) == before


@pytest.mark.parametrize("value", [np.zeros((60, 2)), np.zeros((59, 3)), np.full((60, 3), NAN), "x", 0, None])
def test_grains(world, value):
    before = state_of(world)
    if value is None:
        world.set_grains()
    else:
        for name in ("positions", "velocities", "angular_velocities"):
            with pytest.raises(gg.ArgumentError, match=f"^{name}: expected"):
                world.set_grains(**{name: value})
    if value is not None:
        assert state_of(world) == before


@pytest.mark.parametrize("camera", ["nose", 2, -1, 1.0, None, True, b"sky"])
def test_camera(world, camera):
    for call in (world.depth, world.height_map, world.picture):
        with pytest.raises(gg.ArgumentError, match="^camera: expected"):
            call(camera)


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("env", {"env": 3}),
        ("env", {"env": -1}),
        ("light", {"light": (0, 0, 0)}),
        ("light", {"light": (NAN, 0, 1)}),
        ("samples", {"samples": 0}),
        ("samples", {"samples": 5}),
        ("show_walls", {"show_walls": 2}),
        ("grain_colors", {"grain_colors": np.zeros((59, 3), np.uint8)}),
        ("grain_colors", {"grain_colors": np.full((60, 3), 256)}),
        ("grain_colors", {"grain_colors": np.full((60, 3), 0.5)}),
        ("tool_colors", {"tool_colors": [(1, 2)]}),
        ("tool", {"tool": "ball"}),
        ("floor_mark", {"floor_mark": (0, 0, 1, 1)}),
        ("floor_mark", {"floor_mark": (0, 0, NAN, 1, 0, 1, 2, 3)}),
        ("floor_mark", {"floor_mark": (0, 2, 1, 1, 0, 1, 2, 3)}),
        ("floor_mark", {"floor_mark": (0, 0, 1, 1, -1, 1, 2, 3)}),
        ("floor_mark", {"floor_mark": (0, 0, 1, 1, 0, 1, 256, 3)}),
    ],
)
def test_picture(world, name, values):
    with pytest.raises(gg.ArgumentError, match=f"^{name}: expected"):
        world.picture("sky", **values)


def test_numbers_above_the_limit_are_told_of_it(scene):
    with pytest.raises(
        gg.ArgumentError, match=r"^env_count: expected an integer in 1 \.\. 2147483647, got 1000000000000$"
    ):
        scene.build(env_count=10**12)


@pytest.mark.parametrize("env_count", [0, -1, 1.5, "2", None, True, 2**40])
def test_env_count(scene, env_count):
    with pytest.raises(gg.ArgumentError, match="^env_count: expected"):
        scene.build(env_count=env_count)


@pytest.mark.parametrize("threads", [0, -1, 1.5, "2", True, 10**6])
def test_num_threads(scene, threads):
    with pytest.raises(gg.ArgumentError, match="^num_threads: expected"):
        scene.build(num_threads=threads)


def test_too_many_envs_for_the_machine(scene):
    with pytest.raises((MemoryError, gg.ArgumentError)):
        scene.build(env_count=2**31 - 1)
    # the process continues
    with scene.build() as world:
        world.step(1e-3)


def test_solver_type(scene):
    for solver in ({"iterations": 3}, 10, "paper"):
        with pytest.raises(gg.ArgumentError, match="^solver: expected a Solver"):
            scene.build(solver=solver)


def test_worlds_without_grains_tools_or_cameras():
    with gg.Scene(((0, 0, 0), (1, 1, 1))).build(env_count=2) as world:
        world.step(1e-3, 5)
        world.step(1e-3, 5, tool_poses=np.zeros((2, 0, 7)))
        assert world.positions.shape == (2, 0, 3)
        assert world.wrenches.shape == (2, 0, 6)
        assert world.box_stats((0, 0, 0), (1, 1, 1))[0].tolist() == [0, 0]
        world.load_state(world.save_state())
        assert world.state_hash(env=0) == world.state_hash(env=1)
        with pytest.raises(gg.ArgumentError, match="^camera: expected"):
            world.depth(0)
        view = gg.DepthCamera.perspective(height=3, width=5, position=(2, 2, 2), target=(0, 0, 0))
        assert world.picture(view).shape == (3, 5, 3)


@pytest.mark.parametrize("count", [1, 2, 3, 7, 13, 31])
def test_odd_grain_counts(count):
    scene = gg.Scene(((0, 0, 0), (1, 1, 1)))
    scene.add_grains(
        scene.add_material(density=1000.0, radius=0.05), np.random.default_rng(0).uniform(0.1, 0.9, (count, 3))
    )
    with scene.build(env_count=2, overlaps="ignore") as world:
        world.step(1e-3, 20)
        assert np.isfinite(world.positions).all()
        assert world.state_hash(env=0) == world.state_hash(env=1)


def test_all_grains_in_one_place():
    scene = gg.Scene(((-1, -1, 0), (1, 1, 2)))
    sand = scene.add_material(density=1000.0, radius=0.02)
    scene.add_grains(sand, np.tile([[0.0, 0.0, 0.5]], (300, 1)))
    with scene.build(overlaps="ignore") as world:
        try:
            world.step(1e-3, 5)
        except gg.CapacityError:
            return
        assert np.isfinite(world.positions).all() or world.stats["diverged"][0]
        assert world.stats["overlap_max"][0] > 0.5


def test_grain_in_a_wall_and_far_outside():
    scene = gg.Scene(((-1, -1, 0), (1, 1, 1)))
    sand = scene.add_material(density=1000.0, radius=0.05)
    scene.add_grains(sand, [[0, 0, -0.02], [1e6, 0, 0.5], [0, 0, 0.5], [0, -1e6, 1e6]])
    with scene.build(overlaps="ignore") as world:
        world.step(1e-3, 20)
        assert np.isfinite(world.positions).all()
        assert world.stats["escaped_count"][0] >= 2


def test_a_diverged_env_leaves_its_neighbours_alone(world):
    calm = world.branch(1)
    speeds = np.zeros((60, 3), np.float32)
    speeds[5] = 3e38
    world.set_grains(velocities=speeds, envs=[1])
    for each in (world, calm):
        each.step(1e-3, 30)
    assert world.state_hash(env=0) == world.state_hash(env=2) == calm.state_hash(env=0)
    # the env can be used again
    world.load_state(calm.save_state(env=0), envs=[1])
    world.step(1e-3, 5)
    assert world.state_hash(env=0) == world.state_hash(env=1)
    assert not world.stats["diverged"].any()
    calm.close()


# ---- the extension module checks its arguments ----


def raw_arguments(scene: gg.Scene) -> dict:
    return {**scene.freeze().arrays, "env_count": 2, "solver": Solver().fields(), "thread_count": 1, "gpu": 0}


def float32(*shape: int, fill: float = 0.0) -> np.ndarray:
    return np.full(shape, fill, np.float32)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("env_count", 0),
        ("env_count", 2**40),
        ("env_count", None),
        ("lower", [0, 0, 0]),
        ("lower", float32(2)),
        ("upper", float32(3, fill=NAN)),
        ("boundary", np.zeros((3, 2), np.int64)),
        ("boundary", np.full((3, 2), 9, np.int32)),
        ("boundary", np.array([[2, 1], [1, 1], [1, 0]], np.int32)),
        ("wall_material", 2),
        ("wall_material", -1),
        ("gravity", np.zeros(3)),
        ("gravity", float32(6)[::2]),
        ("density", float32(0)),
        ("density", float32(2, fill=-1.0)),
        ("pair", float32(2, 2, 2)),
        ("pair", float32(2, 2, 3, fill=-1.0)),
        ("position", float32(60, 2)),
        ("position", float32(59, 3)),
        ("position", float32(60, 3, fill=INF)),
        ("velocity", float32(60, 2)),
        ("radius", float32(60)),
        ("radius", float32(60, fill=-1.0)),
        ("grain_material", np.full(60, 2, np.int32)),
        ("grain_material", np.full(60, -1, np.int32)),
        ("tool_pose", float32(1, 7)),
        ("tool_pose", float32(1, 6)),
        ("part_integers", np.array([[3, 5, -1, 0]], np.int32)),
        ("part_integers", np.array([[99, 0, -1, 0]], np.int32)),
        ("part_integers", np.array([[7, 0, 0, 0]], np.int32)),
        ("part_integers", np.array([[3, 0, -1, 7]], np.int32)),
        ("part_integers", np.zeros((0, 4), np.int32)),
        ("part_floats", float32(1, 11, fill=-1.0)),
        ("grid_integers", np.array([[2, 2, 2]], np.int32)),
        ("sample", float32(8)),
        ("camera_integers", np.array([[1, 0, 4, -1], [1, 4, 4, -1]], np.int32)),
        ("camera_integers", np.array([[9, 4, 4, -1], [1, 4, 4, -1]], np.int32)),
        ("camera_integers", np.array([[1, 4, 4, 3], [1, 4, 4, -1]], np.int32)),
        ("camera_floats", float32(2, 10)),
        ("solver", {}),
        ("solver", None),
        ("solver", {**Solver().fields(), "iterations": 0}),
        ("solver", {**Solver().fields(), "iterations": 10**6}),
        ("solver", {**Solver().fields(), "mode": 7}),
        ("solver", {**Solver().fields(), "alpha": NAN}),
        ("solver", {**Solver().fields(), "extra": 1}),
        ("thread_count", -1),
    ],
)
def test_raw_world_refuses(scene, name, value):
    with pytest.raises(gg.ArgumentError) as caught:
        _core.World(**{**raw_arguments(scene), name: value})
    assert str(caught.value)


def test_raw_world_needs_every_argument(scene):
    for name in raw_arguments(scene):
        arguments = raw_arguments(scene)
        del arguments[name]
        with pytest.raises(TypeError):
            _core.World(**arguments)
    with pytest.raises(TypeError):
        _core.World(**raw_arguments(scene), color="red")


def test_raw_methods_know_no_device_arrays_on_the_cpu(scene):
    world = _core.World(**raw_arguments(scene))
    for call in (
        lambda: world.depth(0, True),
        lambda: world.get_grains("position", True),
        lambda: world.get_tool_poses(True),
        lambda: world.get_wrenches(True, True),
        lambda: world.box_stats(float32(2, 1, 6), True),
        lambda: world.count_boxes(float32(2, 0, 10), True),
        lambda: world.count_cells(float32(3), float32(3) + 1, np.ones(3, np.int32), None, True),
        lambda: world.count_columns(float32(2), float32(2) + 1, np.ones(2, np.int32), True),
        lambda: world.to_device(float32(2, 60, 3)),
        lambda: world.set_stream(0),
    ):
        with pytest.raises(gg.BackendError, match="this world runs on the CPU"):
            call()


def test_raw_methods_refuse(scene):
    world = _core.World(**raw_arguments(scene))
    good = float32(2, 60, 3)
    for call in (
        lambda: world.step(NAN, 1),
        lambda: world.step(1e-3, -1),
        lambda: world.step(1e-3, 1, float32(2, 1, 7)),
        lambda: world.step(1e-3, 1, np.zeros((2, 1, 7))),
        lambda: world.set_grains(np.array([2], np.int32), None, good[:1], None, None),
        lambda: world.set_grains(np.array([0], np.int64), None, good[:1], None, None),
        lambda: world.set_grains(None, good[:1], None, None, None),
        lambda: world.set_grains(None, good.astype(">f4"), None, None, None),
        lambda: world.set_grains(None, None, None, None, float32(2, 60)),
        lambda: world.get_grains("color"),
        lambda: world.get_grains(3),
        lambda: world.get_grains("\udc80"),
        lambda: world.depth(7),
        lambda: world.depth("sky"),
        lambda: world.depth_image(7, 0.0, 1.0, True),
        lambda: world.depth_image(0, 1.0, 1.0, True),
        lambda: world.depth_image(0, NAN, 1.0, False),
        lambda: world.depth_image(0, -1e300, 1e300, False),
        lambda: world.to_device([1.0]),
        lambda: world.set_stream(-1),
        lambda: world.save_state(2),
        lambda: world.state_hash(-1),
        lambda: world.get_counters(np.zeros(3, bool)),
        lambda: world.get_counters(np.zeros(2, np.uint8)),
        lambda: world.get_counters(True),
        lambda: world.box_stats(float32(2, 1, 5)),
        lambda: world.count_boxes(float32(2, 1, 9)),
        lambda: world.count_boxes(float32(2, 1, 10)),
        lambda: world.count_cells(float32(3), float32(3), np.ones(3, np.int32), None),
        lambda: world.count_cells(float32(3), float32(3) + 1, np.zeros(3, np.int32), None),
        lambda: world.count_cells(float32(3), float32(3) + 1, np.ones(3, np.int64), None),
        lambda: world.count_cells(float32(3), float32(3) + 1, np.full(3, 1 << 30, np.int32), None),
        lambda: world.count_cells(float32(3), float32(3) + 1, np.ones(3, np.int32), np.zeros((2, 59), np.uint8)),
        lambda: world.count_columns(float32(3), float32(2) + 1, np.ones(2, np.int32)),
        lambda: world.set_thread_count("many"),
        lambda: world.set_solver([]),
        lambda: world.picture_depth(0, np.array([1, 4, 4, 5], np.int32), float32(10, fill=1.0)),
        lambda: world.picture_depth(2, np.array([1, 4, 4, -1], np.int32), float32(10, fill=1.0)),
        lambda: world.picture_depth(0, np.array([7, 4, 4, -1], np.int32), float32(10, fill=1.0)),
        lambda: world.picture(
            0,
            np.array([1, 0, 4, -1], np.int32),
            float32(10, fill=1.0),
            float32(3, fill=1.0),
            None,
            None,
            None,
            False,
            1,
        ),
        lambda: world.picture(
            0, np.array([1, 4, 4, 5], np.int32), float32(10, fill=1.0), float32(3, fill=1.0), None, None, None, False, 1
        ),
        lambda: world.picture(
            0,
            np.array([1, 4, 4, -1], np.int32),
            float32(10, fill=1.0),
            float32(3, fill=1.0),
            None,
            None,
            None,
            False,
            99,
        ),
    ):
        with pytest.raises(gg.ArgumentError):
            call()
    for call in (lambda: world.step(), lambda: world.step("a", 1), lambda: world.load_state(None, "text")):
        with pytest.raises(TypeError):
            call()
    world.close()


@pytest.mark.parametrize(
    ("position", "value"),
    [
        (0, np.zeros((4, 3), np.float32)),
        (0, np.full((4, 3), NAN)),
        (1, np.array([[0, 1, 4]], np.int32)),
        (1, np.array([[0, 1, -1]], np.int32)),
        (1, np.array([[0, 1, 2]], np.int64)),
        (2, 0.0),
        (2, NAN),
        (3, (INF, 0.0, 0.0)),
        (4, (1, 8, 8)),
        (4, (100000, 8, 8)),
    ],
)
def test_raw_mesh_to_grid_refuses(position, value):
    vertices = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]], float)
    faces = np.array([[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]], np.int32)
    arguments = [vertices, faces, 0.1, (-0.2, -0.2, -0.2), (8, 8, 8)]
    assert _core.mesh_to_grid(*arguments).shape == (8, 8, 8)
    arguments[position] = value
    with pytest.raises(gg.ArgumentError):
        _core.mesh_to_grid(*arguments)
