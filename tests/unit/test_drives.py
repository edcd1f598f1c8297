"""How actions move tools: joints, vehicles and arms against the same kinematics in NumPy, and what is refused."""

from __future__ import annotations

import copy
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import granular_gym as gg
from granular_gym.engine.drives import Axis, Drive, Joint, joint_drive
from granular_gym.envs.excavator import TRAY_CENTER, ExcavatorTask, make_arm
from granular_gym.errors import ArgumentError
from granular_gym.tasks.vehicle import TrackedVehicle, yaw_quaternions

CUDA = gg.info()["devices"]["cuda"]
needs_gpu = pytest.mark.skipif(not CUDA["available"], reason=f"no cuda: {CUDA['reason']}")
PERIOD = 0.1
JOINTS = [Joint(0, 0.5, -0.2, 0.3), Joint(1, 4.0, wraps=True), Joint(2, 0.1, 0.0, 0.08, position=True), Joint()]
AXES = [Axis(0, 0, "x"), Axis(0, 1, "turn_z"), Axis(1, 2, "y", 2.0), Axis(1, 3, "z"), Axis(1, 1, "turn_y", 2.0)]
REST = np.array([[0.0, 0.1, 0.2, 1.0, 0.0, 0.0, 0.0], [0.3, 0.0, 0.0, 0.6, 0.0, 0.8, 0.0]])
VEHICLE = TrackedVehicle(-0.45, 0.62, 0.47, (-4.0, -2.0), (4.0, 2.0), speed=0.8, turn_rate=1.0, clearance=0.06)


@pytest.fixture(params=["cpu", pytest.param("cuda", marks=needs_gpu)])
def device(request: Any) -> str:
    return str(request.param)


def world_of(tools: int, device: str, envs: int = 4) -> gg.World:
    """Envs with some grains on the floor and tools far above them."""
    scene = gg.Scene(bounds=((-5, -5, 0), (5, 5, 5)))
    sand = scene.add_material(radius=0.05, density=1500.0)
    scene.add_grains(sand, [[0.2 * k, 0.0, 0.05] for k in range(8)])
    for _ in range(tools):
        scene.add_tool(gg.Sdf.sphere(0.1), material=sand, pose=(0.0, 0.0, 4.0))
    return scene.build(env_count=envs, device=device, num_threads=2)


def joints_world(device: str, envs: int = 4) -> gg.World:
    world = world_of(2, device, envs)
    world.set_drive(joint_drive(JOINTS, AXES, REST, PERIOD, 3))
    return world


def numbers(seed: int, *shape: int) -> Any:
    return np.random.default_rng(seed).uniform(-1.2, 1.2, shape)


def step(world: gg.World, actions: Any, state: Any, **options: Any) -> Any:
    after, fault = world.step_driven(1e-3, 2, np.asarray(actions, np.float32), state, **options)
    assert fault is None
    return after


def test_joints_move_at_speeds_and_to_positions(device: str) -> None:
    world, state, actions = joints_world(device), numbers(0, 4, 4), numbers(1, 4, 3).astype(np.float32)
    after, given = step(world, actions, state), np.clip(actions.astype(np.float64), -1.0, 1.0)
    assert np.array_equal(after[:, 0], np.clip(state[:, 0] + given[:, 0] * 0.5 * PERIOD, -0.2, 0.3))
    turned = state[:, 1] + given[:, 1] * 4.0 * PERIOD
    assert np.array_equal(after[:, 1], (turned + np.pi) % (2.0 * np.pi) - np.pi)
    assert np.array_equal(after[:, 2], np.clip(given[:, 2] * 0.1, 0.0, 0.08))
    assert np.array_equal(after[:, 3], state[:, 3])
    poses = world.drive_poses(after)
    assert np.array_equal(poses[:, 0, :3], np.stack([after[:, 0], [0.1] * 4, [0.2] * 4], 1).astype(np.float32))
    assert np.array_equal(poses[:, 0, 3:], yaw_quaternions(after[:, 1]).astype(np.float32))
    assert np.array_equal(poses[:, 1, :3], np.stack([[0.3] * 4, 2 * after[:, 2], after[:, 3]], 1).astype(np.float32))
    half = after[:, 1] + np.arctan2(0.8, 0.6)
    assert np.abs(poses[:, 1, 3:] - np.stack([np.cos(half), 0 * half, np.sin(half), 0 * half], 1)).max() < 2.5e-7
    assert np.abs(world.tool_poses - poses).max() < 2.5e-7


def test_angles_stay_within_a_turn() -> None:
    world = joints_world("cpu", 2)
    state = np.array([[0.0, np.pi - 0.1, 0.0, 0.0], [0.0, -np.pi, 0.0, 0.0]])
    after = step(world, [[0, 1, 0], [0, -1, 0]], state)[:, 1]
    assert np.allclose(after, [-np.pi + 0.3, np.pi - 0.4])


def test_a_period_in_strokes_ends_where_a_whole_one_does(device: str) -> None:
    state, actions = numbers(2, 4, 4), numbers(3, 4, 3)
    whole, parts = joints_world(device), joints_world(device)
    after = step(whole, actions, state)
    first = step(parts, actions, state, share=0.25, scale=1.0)
    expected = state + 0.25 * (after - state)
    expected[:, 2] = after[:, 2]  # positions are reached at once
    assert np.array_equal(first, after) and np.abs(parts.tool_poses - whole.drive_poses(expected)).max() < 2.5e-7
    assert np.array_equal(step(parts, actions, state, share=1.0, scale=0.0), after)
    expected = after.copy()
    expected[:, 2] = 0.0
    assert np.abs(parts.tool_poses - whole.drive_poses(expected)).max() < 2.5e-7


def test_a_stroke_of_an_angle_that_wraps_goes_the_short_way(device: str) -> None:
    world = joints_world(device, 2)
    state = np.array([[0.0, np.pi - 0.1, 0.0, 0.0], [0.0, -np.pi + 0.1, 0.0, 0.0]])
    step(world, [[0, 1, 0], [0, -1, 0]], state, share=0.5)
    expected = state.copy()
    expected[:, 1] += [0.2, -0.2]
    assert np.abs(world.tool_poses - world.drive_poses(expected)).max() < 2.5e-7


def test_idle_envs_stay(device: str) -> None:
    world, state, actions = joints_world(device), numbers(4, 4, 4), numbers(5, 4, 3)
    idle = np.array([False, True, False, True])
    actions[idle] = np.nan  # what is not used may be anything
    after = step(world, actions, state, idle=idle)
    assert np.array_equal(after[idle], state[idle]) and (after[~idle] != state[~idle]).any(axis=1).all()


def test_an_env_is_the_same_alone_and_in_a_batch(device: str) -> None:
    state, actions = numbers(6, 4, 4), numbers(7, 4, 3)
    many, alone = joints_world(device), joints_world(device, 1)
    after = step(many, actions, state)
    assert np.array_equal(step(alone, actions[2:3], state[2:3])[0], after[2])
    assert alone.state_hash() == many.state_hash(env=2)


@pytest.mark.parametrize("lift", [None, (0.1, 0.5)])
def test_a_vehicle_drives_as_it_does_outside_the_engine(device: str, lift: Any) -> None:
    world = world_of(2, device)
    rates = (
        {"ahead": (1, 0.8), "turn": (0, 1.0)} if lift is None else {"turn": (0, 1.0), "ahead": (1, 0.8), "up": (2, 2.0)}
    )
    world.set_drive(VEHICLE.drive(PERIOD, rates, lift))
    state, actions = 3.0 * numbers(8, 4, 3 if lift is None else 4), numbers(9, 4, len(rates)).astype(np.float32)
    plane = [0, 1, state.shape[1] - 1]
    state[:, plane] = VEHICLE.clamp(state[:, plane])
    after, given = step(world, actions, state), np.clip(actions, -1.0, 1.0)
    assert np.array_equal(after[:, plane], VEHICLE.advance(state[:, plane], given[:, [1, 0]], PERIOD))
    poses = world.drive_poses(after)
    height = np.zeros(4)
    if lift is not None:
        height = np.clip(state[:, 2] + given[:, 2].astype(np.float64) * 2.0 * PERIOD, *lift)
        assert np.array_equal(after[:, 2], height)
    for tool in range(2):
        assert np.array_equal(poses[:, tool, :3], np.column_stack([after[:, :2], height]).astype(np.float32))
        assert np.array_equal(poses[:, tool, 3:], yaw_quaternions(after[:, -1]).astype(np.float32))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"rates": {"ahead": (0, 0.8), "yaw": (1, 1.0)}}, "rates: expected one of 'ahead', 'left', 'turn', got 'yaw'"),
        ({"rates": {"up": (0, 0.8)}}, "rates: expected one of 'ahead', 'left', 'turn', got 'up'"),
        (
            {"rates": {"ahead": (0, 0.8), "turn": (0, 1.0)}},
            r"rates: expected an action for each direction, 0 .. 1, got",
        ),
        ({"rates": {"ahead": (1, 0.8)}}, r"rates: expected an action for each direction, 0 .. 0, got"),
        ({"rates": {"ahead": (0, np.nan)}}, r"rates\['ahead'\]: expected a finite number, got nan"),
        ({"period": 0.0}, "period: expected a finite number > 0, got 0.0"),
        ({"lift": (0.5, 0.1)}, r"lift: expected lower <= upper, got \(0.5, 0.1\)"),
    ],
)
def test_vehicles_that_make_no_sense_are_refused(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ArgumentError, match=f"^{message}"):
        VEHICLE.drive(**{"period": PERIOD, "rates": {"ahead": (0, 0.8)}, **changes})


def test_an_arm_drives_under_its_guard(device: str) -> None:
    task, arm = ExcavatorTask(env_count=6), make_arm()
    tools = len(arm.shapes) + 2
    world = world_of(tools, device, 6)
    world.set_drive(task.drive())
    rng, joints = np.random.default_rng(10), arm.joint_count
    task.bin[:] = rng.uniform(-0.6, 0.6, (6, 2))
    q, v = rng.uniform(arm.description.lower, arm.description.upper, (6, joints)), np.zeros((6, joints))
    events = np.zeros(6, np.int32)
    for _ in range(3):
        actions = rng.uniform(-1.0, 1.0, (6, joints)).astype(np.float32)
        after = step(world, actions, np.column_stack([q, v, events, task.bin]))
        wanted = actions.astype(np.float64) * arm.description.speed
        q, v, events = arm.guard(q, v, wanted, task.blocks(), task.control_period)
        assert np.array_equal(after, np.column_stack([q, v, events, task.bin]))
    assert events.any(), "the guard has something to do"
    poses, frames = world.drive_poses(after), arm.frames(q)
    for tool, (frame, _) in enumerate(arm.shapes):
        assert np.array_equal(poses[:, tool], frames[:, frame].astype(np.float32))
    assert np.array_equal(poses[:, -2, :2], np.tile(np.float32(TRAY_CENTER), (6, 1)))
    assert np.array_equal(poses[:, -1, :2], task.bin.astype(np.float32))


def test_drives_that_do_not_fit_are_refused() -> None:
    world = world_of(2, "cpu")
    good = joint_drive(JOINTS, AXES, REST, PERIOD, 3)

    def but(**changes: Any) -> Drive:
        return replace(good, **changes)

    for index in range(len(good.index)):
        for wrong in (-3, 99):
            changed = good.index.copy()
            changed[index] = wrong
            meaning = (index - 2) % 3
            if index >= 2 and index < 2 + 3 * len(JOINTS) and meaning > 0:
                continue  # a flag
            with pytest.raises(ArgumentError, match="^drive: expected"):
                world.set_drive(but(index=changed))
    for bad in (
        but(index=good.index[:-1]),
        but(value=good.value[:-1]),
        but(value=np.append(good.value, 0.0)),
        but(action_count=0),
        but(action_count=2),
        but(action_count=10**6),
        but(state_count=5),
        but(kind="vehicle"),
        but(kind="arm"),
        but(index=np.zeros(0, np.int32), value=np.zeros(0)),
        joint_drive(JOINTS, AXES[:2], REST[:1], PERIOD, 3),
    ):
        with pytest.raises(ArgumentError, match="^drive: expected"):
            world.set_drive(bad)
    for bad, message in ((3, "^drive: expected a Drive, got int"), (but(kind="legs"), "^drive.kind: expected one of")):
        with pytest.raises(ArgumentError, match=message):
            world.set_drive(bad)  # type: ignore[arg-type]
    with pytest.raises(ArgumentError, match="^value: expected finite"):
        world.set_drive(but(value=np.full(len(good.value), np.nan)))
    arm = ExcavatorTask().drive()
    for blocks, at_anchor in ((np.zeros((17, 10)), [False] * 17), (np.zeros((2, 10)), [True])):
        with pytest.raises(ArgumentError, match="^blocks: expected at most 16 and as many at_anchor, got"):
            make_arm().drive(PERIOD, np.zeros((0, 7)), (), blocks, at_anchor)
    machine = world_of(len(make_arm().shapes) + 2, "cpu")
    machine.set_drive(arm)
    for index in (*range(5), 5, len(arm.index) - 1, len(arm.index) // 2):
        changed = arm.index.copy()
        changed[index] = 10**6
        with pytest.raises(ArgumentError, match="^drive: expected"):
            machine.set_drive(replace(arm, index=changed))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Joint("a"), "action: expected an integer, got 'a'"),  # type: ignore[arg-type]
        (lambda: Joint(-1), "action: expected an integer >= 0, got -1"),
        (lambda: Joint(0, "a"), "rate: expected a number, got 'a'"),  # type: ignore[arg-type]
        (lambda: Joint(0, np.inf), "rate: expected a finite number, got inf"),
        (lambda: Joint(0, 0.5, lower=np.nan), "lower: expected a finite number, got nan"),
        (lambda: Joint(0, 0.5, upper="b"), "upper: expected a number, got 'b'"),  # type: ignore[arg-type]
        (lambda: Joint(0, 0.5, lower=0.2, upper=-0.2), "lower, upper: expected lower <= upper, got 0.2 and -0.2"),
        (lambda: Joint(0, 0.5, position=2), "position: expected True or False, got 2"),  # type: ignore[arg-type]
        (lambda: Joint(0, 0.5, wraps="no"), "wraps: expected True or False, got 'no'"),  # type: ignore[arg-type]
        (lambda: Axis(-1, 0, "x"), "tool: expected an integer >= 0, got -1"),
        (lambda: Axis(0, None, "x"), "joint: expected an integer, got None"),  # type: ignore[arg-type]
        (lambda: Axis(0, 0, "w"), "kind: expected one of 'x', 'y', 'z', .*, got 'w'"),
        (lambda: Axis(0, 0, "x", "a"), "factor: expected a number, got 'a'"),  # type: ignore[arg-type]
    ],
)
def test_joints_and_axes_that_make_no_sense(make: Any, message: str) -> None:
    with pytest.raises(ArgumentError, match=f"^{message}"):
        make()


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"joints": [Joint(4)]}, r"joints\[0\].action: expected an integer in 0 .. 2, got 4"),
        ({"joints": Joint(0)}, "joints: expected a sequence, got Joint"),
        ({"axes": AXES[0]}, "axes: expected a sequence, got Axis"),
        ({"joints": [None]}, r"joints\[0\]: expected a Joint, got NoneType"),
        ({"axes": [*AXES, Axis(2, 0, "x")]}, r"axes\[5\].tool: expected an integer in 0 .. 1, got 2"),
        ({"axes": [Axis(1, 4, "x")]}, r"axes\[0\].joint: expected an integer in 0 .. 3, got 4"),
        ({"axes": ["x"]}, r"axes\[0\]: expected an Axis, got str"),
        ({"joints": [*JOINTS[:3], Joint(0, 32.0, wraps=True)]}, r"joints\[3\].rate: expected .* 31.4.*, got 32"),
        (
            {"joints": [*JOINTS[:3], Joint(0, -3.2, wraps=True, position=True)]},
            r"joints\[3\].rate: .* 3.14.*, got -3.2",
        ),
        ({"axes": [Axis(1, 1, "x")]}, r"axes\[0\].kind: expected one of 'turn_x', .*, got 'x'"),
        ({"axes": [Axis(1, 1, "turn_x", 0.5)]}, r"axes\[0\].factor: expected a whole number .*, got 0.5"),
        ({"poses": REST[:, :6]}, r"poses: expected shape \(\*, 7\), got \(2, 6\)"),
        ({"poses": "here"}, "poses: expected an array of numbers"),
        ({"period": 0.0}, "period: expected a finite number > 0, got 0.0"),
        ({"action_count": "2"}, "action_count: expected an integer, got '2'"),
    ],
)
def test_parts_of_a_drive_that_are_not_there(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ArgumentError, match=f"^{message}"):
        joint_drive(**{"joints": JOINTS, "axes": AXES, "poses": REST, "period": PERIOD, "action_count": 3, **changes})


def test_poses_of_other_tools_are_refused() -> None:
    drive = joint_drive(JOINTS, AXES, REST, PERIOD, 3)
    with pytest.raises(ArgumentError, match="^drive: expected poses of all 1 tools of the world, got those of 2"):
        world_of(1, "cpu").set_drive(drive)


def test_steps_that_are_refused_change_nothing(device: str) -> None:
    world, state, actions = joints_world(device), numbers(11, 4, 4), numbers(12, 4, 3).astype(np.float32)
    before = world.state_hash()
    holes = actions.copy()
    holes[2, 1] = np.nan
    broken = state.copy()
    broken[1, 3] = np.inf
    cases: list[tuple[str, tuple[Any, ...], dict[str, Any]]] = [
        (r"^actions: expected finite numbers, got nan at \[2, 1\]", (1e-3, 1, holes, state), {}),
        ("^state: expected finite", (1e-3, 1, actions, broken), {}),
        ("^state: expected shape", (1e-3, 1, actions, state[:, :3]), {}),
        ("^actions: expected shape", (1e-3, 1, actions[:, :2], state), {}),
        ("^idle: expected", (1e-3, 1, actions, state, np.zeros(3, bool)), {}),
        ("^share: expected", (1e-3, 1, actions, state), {"share": 0.0}),
        ("^scale: expected", (1e-3, 1, actions, state), {"scale": 1.5}),
        ("^share: expected", (1e-3, 1, actions, state), {"share": "all"}),
        ("^actions: expected", (1e-3, 1, "left", state), {}),
        ("^actions: expected", (1e-3, 1, None, state), {}),
        ("^state: expected", (1e-3, 1, actions, "here"), {}),
        ("^idle: expected", (1e-3, 1, actions, state, [True] * 4), {}),
        ("^dt: expected", (-1.0, 1, actions, state), {}),
        ("^substeps: expected", (1e-3, 0, actions, state), {}),
    ]
    for message, arguments, options in cases:
        with pytest.raises(ArgumentError, match=message):
            world.step_driven(*arguments, **options)
    with pytest.raises(ArgumentError, match="^state: expected shape"):
        world.drive_poses(state[:, :2])
    assert world.state_hash() == before
    with pytest.raises(ArgumentError, match="^drive: expected a drive, none was set"):
        world_of(1, device).step_driven(1e-3, 1, np.zeros((4, 0), np.float32), np.zeros((4, 0)))


def test_copies_keep_the_drive() -> None:
    world, state, actions = joints_world("cpu"), numbers(13, 4, 4), numbers(14, 4, 3)
    twin = copy.deepcopy(world)
    assert np.array_equal(step(world, actions, state), step(twin, actions, state))
    assert world.state_hash() == twin.state_hash() and world.branch(1).has_drive


@needs_gpu
def test_actions_on_the_gpu_give_the_bits_of_those_on_the_host() -> None:
    worlds, state, actions = [joints_world("cuda") for _ in range(2)], numbers(15, 4, 4), numbers(16, 4, 3)
    actions = actions.astype(np.float32)
    for _ in range(3):
        one = step(worlds[0], actions, state)
        waits = worlds[1].info["waits"]
        other, fault = worlds[1].step_driven(1e-3, 2, worlds[1].put(actions, "device"), state)
        assert fault is None and worlds[1].info["waits"] == waits + 1
        assert np.array_equal(one, other) and worlds[0].state_hash() == worlds[1].state_hash()
        state = one
    actions[3, 0], before = np.inf, worlds[1].tool_poses
    after, fault = worlds[1].step_driven(1e-3, 2, worlds[1].put(actions, "device"), state)
    assert fault == (3, 0) and np.array_equal(after[3], state[3])
    assert np.allclose(worlds[1].tool_poses[3], before[3]) and not np.allclose(worlds[1].tool_poses[0], before[0])
    for bad in (actions.astype(np.float64), np.ones((4, 4), np.float32)):
        with pytest.raises(BufferError, match="^actions: expected"):
            worlds[1].step_driven(1e-3, 2, worlds[1].put(bad, "device"), state)


def test_a_drive_that_changes_while_arguments_are_read_is_refused() -> None:
    """Numbers may run code of the caller."""
    with world_of(1, "cpu", 1) as world:

        def drive(count: int) -> Drive:
            return joint_drive([Joint(0, 1.0)] * count, [Axis(0, 0, "x")], REST[:1], PERIOD, 1)

        class Substeps:
            def __index__(self) -> int:
                world.set_drive(drive(128))
                return 2

        world.set_drive(drive(1))
        state, actions = np.zeros((1, 1)), np.zeros((1, 1), np.float32)
        with pytest.raises(ArgumentError, match="drive: it changed while the arguments were read"):
            world._core.step_driven(1e-4, Substeps(), actions, state, None, 1.0, 1.0)
