"""Kinematics of the arm against independent ones, its description file, and the guard of its motion."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import granular_gym as gg
from granular_gym import _core
from granular_gym.arms.load import load_arm
from granular_gym.base.assets import asset_path
from granular_gym.envs.excavator import BUCKET_ROWS, HOME, ExcavatorTask, make_arm
from granular_gym.tasks.arm import JOINT_EVENT, SPEED_EVENT, TOUCH_EVENT, Arm, ArmTool, sdf_reach

PANDA = load_arm("panda.json")
BARE = ArmTool(np.zeros((0, 4)), gg.Sdf.sphere(0.01), np.zeros((0, 7)), ())


def random_joints(count: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).uniform(PANDA.lower, PANDA.upper, (count, 7))


def matrices(q: np.ndarray) -> np.ndarray:
    """Rotation matrices (..., 3, 3) of unit quaternions (..., 4)."""
    w, x, y, z = np.moveaxis(q, -1, 0)
    rows = [
        [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
    ]
    return np.moveaxis(np.array(rows), (0, 1), (-2, -1))


def homogeneous(joints: np.ndarray, rows: np.ndarray) -> list[np.ndarray]:
    """Frames of a chain as a product of 4 x 4 matrices: RotX(alpha) TransX(a) RotZ(theta) TransZ(d)."""
    frames = [np.eye(4)]
    for k, (a, alpha, d, theta) in enumerate(rows):
        angle = theta + (joints[k] if k < len(joints) else 0.0)
        about_x, about_z = np.eye(4), np.eye(4)
        about_x[1:3, 1:3] = [[np.cos(alpha), -np.sin(alpha)], [np.sin(alpha), np.cos(alpha)]]
        about_x[0, 3] = a
        about_z[:2, :2] = [[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]]
        about_z[2, 3] = d
        frames.append(frames[-1] @ about_x @ about_z)
    return frames


# ---- kinematics ----


def test_frames_are_the_product_of_homogeneous_matrices() -> None:
    arm = make_arm()
    joints = random_joints(200)
    frames = arm.frames(joints)
    rows = np.concatenate([PANDA.rows, BUCKET_ROWS])
    assert frames.shape == (200, len(rows) + 1, 7)
    expected = np.array([homogeneous(one, rows) for one in joints])
    np.testing.assert_allclose(frames[..., :3], expected[..., :3, 3], atol=1e-14)
    np.testing.assert_allclose(matrices(frames[..., 3:]), expected[..., :3, :3], atol=1e-14)


def test_published_poses() -> None:
    """The flange at joints zero, and in the maker's ready pose (hand 0.1034 m further: the known 0.307, 0, 0.487)."""
    frames = Arm(PANDA, BARE).frames([[0.0] * 7, [0, -np.pi / 4, 0, -3 * np.pi / 4, 0, np.pi / 2, np.pi / 4]])[:, -1]
    np.testing.assert_allclose(frames[0, :3], [0.088, 0.0, 0.333 + 0.316 + 0.384 - 0.107], atol=1e-15)
    np.testing.assert_allclose(matrices(frames[0, 3:]), np.diag([1.0, -1.0, -1.0]), atol=1e-15)
    hand = frames[1, :3] + matrices(frames[1, 3:]) @ [0.0, 0.0, 0.1034]
    np.testing.assert_allclose(hand, [0.3069, 0.0, 0.4869], atol=1e-4)
    np.testing.assert_allclose(matrices(frames[1, 3:])[:, 2], [0.0, 0.0, -1.0], atol=1e-15)


def test_published_limits() -> None:
    np.testing.assert_array_equal(PANDA.upper, [2.8973, 1.7628, 2.8973, -0.0698, 2.8973, 3.7525, 2.8973])
    np.testing.assert_array_equal(PANDA.lower, [-2.8973, -1.7628, -2.8973, -3.0718, -2.8973, -0.0175, -2.8973])
    np.testing.assert_array_equal(PANDA.speed, [2.175] * 4 + [2.61] * 3)
    np.testing.assert_array_equal(PANDA.torque, [87.0] * 4 + [12.0] * 3)
    # arm stretched straight up: shoulder, both links; the elbow's offset makes the reach the known 0.855 m
    reach = [np.linalg.norm(f[6, :3] - [0, 0, 0.333]) for f in Arm(PANDA, BARE).frames(random_joints(4000, 5))]
    assert 0.65 < max(reach) < 0.855


def test_a_robot_library_agrees() -> None:
    pinocchio = pytest.importorskip("pinocchio", reason="pinocchio is not installed (pip install pin)")
    model = pinocchio.Model()
    parent = 0
    for k, (a, alpha, d, theta) in enumerate(PANDA.rows[:7]):
        turn = pinocchio.utils.rotate("x", alpha)
        place = pinocchio.SE3(turn @ pinocchio.utils.rotate("z", theta), turn @ np.array([a, 0.0, d]))
        parent = model.addJoint(parent, pinocchio.JointModelRZ(), place, f"joint{k + 1}")
    data = model.createData()
    arm = Arm(PANDA, BARE)
    point = np.array([0.03, -0.02, 0.05])
    joints = random_joints(100, 1)
    frames, jacobians = arm.frames(joints), arm.jacobian(joints, point)
    for q, ours, jacobian in zip(joints, frames, jacobians, strict=True):
        pinocchio.computeJointJacobians(model, data, q)
        for j in range(7):
            np.testing.assert_allclose(ours[j + 1, :3], data.oMi[j + 1].translation, atol=1e-14)
            np.testing.assert_allclose(matrices(ours[j + 1, 3:]), data.oMi[j + 1].rotation, atol=1e-14)
        theirs = pinocchio.getJointJacobian(model, data, 7, pinocchio.ReferenceFrame.LOCAL_WORLD_ALIGNED)
        # to the same point: the flange is 0.107 m along z, and float32 is what `point` is given in
        tip = ours[-1, :3] + matrices(ours[-1, 3:]) @ point.astype(np.float32)
        arms = tip - data.oMi[7].translation
        shifted = theirs[:3] + np.cross(theirs[3:].T, arms).T
        np.testing.assert_allclose(jacobian, np.concatenate([shifted, theirs[3:]]), atol=1e-13)


def test_jacobian_is_the_slope_of_the_pose() -> None:
    arm, h = make_arm(), 1e-6
    joints = random_joints(20, 2)
    jacobians = arm.jacobian(joints, (0.1, 0.0, 0.2))
    for j in range(7):
        step = h * np.eye(7)[j]
        ends = [arm.frames(joints + sign * step)[:, -1] for sign in (1.0, -1.0)]
        tips = [end[:, :3] + matrices(end[:, 3:]) @ np.float32([0.1, 0.0, 0.2]) for end in ends]
        np.testing.assert_allclose((tips[0] - tips[1]) / (2 * h), jacobians[:, :3, j], atol=1e-8)
        turn = matrices(ends[0][:, 3:]) @ np.swapaxes(matrices(ends[1][:, 3:]), 1, 2) / (4 * h)
        axis = np.stack(
            [turn[:, 2, 1] - turn[:, 1, 2], turn[:, 0, 2] - turn[:, 2, 0], turn[:, 1, 0] - turn[:, 0, 1]], 1
        )
        np.testing.assert_allclose(axis, jacobians[:, 3:, j], atol=1e-8)


def test_torques_do_the_work_of_the_wrench() -> None:
    arm, rng = make_arm(), np.random.default_rng(3)
    joints, wrench, rates = random_joints(10, 3), rng.normal(size=(10, 6)), rng.normal(size=(10, 7))
    power = np.einsum("ni,nij,nj->n", wrench, arm.jacobian(joints), rates)
    np.testing.assert_allclose((arm.torques(joints, wrench) * rates).sum(axis=1), -power, atol=1e-12)
    # a kilogram in the hand at arm's length along x loads joint 2 with its lever
    q = np.array([[0, np.pi / 2, 0, -0.0698, 0, np.pi / 2, 0]])
    lever = arm.frames(q)[0, -1, 0]
    assert abs(arm.torques(q, [[0, 0, -9.81, 0, 0, 0]])[0, 1]) == pytest.approx(9.81 * lever, rel=1e-9)


def test_loads_are_torques_and_the_wrench_in_the_tools_frame() -> None:
    arm, rng = make_arm(), np.random.default_rng(5)
    joints, wrench = random_joints(6, 5), rng.normal(size=(6, 6))
    torques, local = arm.loads(joints, wrench)
    assert np.array_equal(torques, arm.torques(joints, wrench))
    turns = matrices(arm.frames(joints)[:, -1, 3:])
    for part in (slice(0, 3), slice(3, 6)):
        np.testing.assert_allclose(np.einsum("nij,nj->ni", turns, local[:, part]), wrench[:, part], atol=1e-14)
    # of an env that diverged
    holes, zeros = wrench.copy(), wrench.copy()
    holes[2, :2], zeros[2, :2] = (np.nan, np.inf), 0.0
    assert all(np.array_equal(*pair) for pair in zip(arm.loads(joints, holes), arm.loads(joints, zeros), strict=True))
    with pytest.raises(gg.ArgumentError, match="^wrenches: expected shape"):
        arm.loads(joints, wrench[:5])


def test_arms_side_by_side_are_what_they_are_alone() -> None:
    arm, rng = make_arm(), np.random.default_rng(8)
    # blocks of eight, and the rest; an angle that counts as 0, and wrenches with holes
    joints, wrenches = random_joints(19, 8), rng.normal(size=(19, 6))
    joints[3, 2], joints[4], wrenches[5, 1] = 1e12, 0.0, np.nan
    frames, loads = arm.frames(joints), arm.loads(joints, wrenches)
    for k in range(19):
        one = slice(k, k + 1)
        assert arm.frames(joints[one])[0].tobytes() == frames[k].tobytes()
        for alone, together in zip(arm.loads(joints[one], wrenches[one]), loads, strict=True):
            assert alone[0].tobytes() == together[k].tobytes()
    straight = joints.copy()
    # half of 1e12 is beyond what has a sine
    straight[3, 2] = -arm.description.rows[2, 3]
    assert frames[3].tobytes() == arm.frames(straight)[3].tobytes()
    forces = np.nan_to_num(wrenches)
    np.testing.assert_allclose(
        loads[0][4], -(arm.jacobian(joints)[4].T @ forces[4]), atol=1e-12, err_msg="the Jacobian is computed apart"
    )


def test_largest_shares() -> None:
    rng = np.random.default_rng(9)
    values, limits = rng.normal(size=(30, 7)), rng.uniform(0.5, 2.0, 7)
    values[3] = 0.0
    assert np.array_equal(_core.largest_shares(values, limits), np.abs(values / limits).max(axis=1))
    for place in (0, 3, 6):
        values[5, place] = np.nan
        shares = _core.largest_shares(values, limits)
        assert np.isnan(shares[5]) and np.isfinite(np.delete(shares, 5)).all()
        values[5, place] = 1.0
    values[6, 2] = -np.inf
    assert _core.largest_shares(values, limits)[6] == np.inf
    assert _core.largest_shares(values[:0], limits).shape == (0,)
    for bad in (values[0], values[:, ::2], np.float32(values), None):
        with pytest.raises(gg.ArgumentError, match="^values: expected"):
            _core.largest_shares(bad, limits)  # type: ignore[arg-type]
    for bad in (limits[1:], limits[None], np.float32(limits)):
        with pytest.raises(gg.ArgumentError, match="^limits: expected"):
            _core.largest_shares(values, bad)


def test_a_row_of_a_batch_is_the_row_alone() -> None:
    arm, joints = make_arm(), random_joints(7)
    blocks = ExcavatorTask(env_count=7).blocks()
    wanted = np.random.default_rng(1).normal(size=(7, 7)) * 3
    together = arm.guard(joints, 0 * joints, wanted, blocks, 0.05)
    for k in range(7):
        one = slice(k, k + 1)
        assert arm.frames(joints)[k].tobytes() == arm.frames(joints[one])[0].tobytes()
        alone = arm.guard(joints[one], 0 * joints[one], wanted[one], blocks[one], 0.05)
        for ours, theirs in zip(together, alone, strict=True):
            assert ours[k].tobytes() == theirs[0].tobytes()
    for threads in (2, 5, 50):
        shared = arm.guard(joints, 0 * joints, wanted, blocks, 0.05, threads)
        assert all(np.array_equal(ours, theirs) for ours, theirs in zip(together, shared, strict=True))


def test_what_is_too_far_to_look_at_changes_no_clearance() -> None:
    arm, joints = make_arm(), random_joints(200)
    blocks = ExcavatorTask(env_count=200).blocks()
    for obstacles in (blocks, blocks[:, :0]):
        whole = arm.clearance(joints, obstacles)
        assert whole.min() < 0.0 < whole.max()
        for cap in (0.3, 0.05, 0.0):
            np.testing.assert_allclose(arm.clearance(joints, obstacles, cap), np.minimum(whole, cap), atol=1e-8)


# ---- guard ----


def walk(arm: Arm, blocks: np.ndarray, steps: int, guarded: bool) -> tuple[float, int, float]:
    """Random full-speed commands: least clearance, events, largest speed of a part [m/s]."""
    count, rng = len(blocks), np.random.default_rng(0)
    joints, velocities = np.tile(HOME, (count, 1)), np.zeros((count, 7))
    least, seen, fastest = 10.0, 0, 0.0
    reach = np.zeros(arm.frame_count)
    for frame, sdf in arm.shapes:
        reach[frame] = sdf_reach(sdf)
    for step in range(steps):
        if step % 12 == 0:
            wanted = rng.choice([-9.0, 0.0, 9.0], (count, 7))
        before = arm.frames(joints)
        if guarded:
            joints, velocities, events = arm.guard(joints, velocities, wanted, blocks, 0.05)
            seen |= int(np.bitwise_or.reduce(events))
            assert (joints >= PANDA.lower).all() and (joints <= PANDA.upper).all()
            assert (np.abs(velocities) <= PANDA.speed * (1 + 1e-12)).all()
        else:
            joints = np.clip(joints + 0.05 * np.clip(wanted, -PANDA.speed, PANDA.speed), PANDA.lower, PANDA.upper)
        after = arm.frames(joints)
        way = np.linalg.norm(after[..., :3] - before[..., :3], axis=2)
        angle = 2.0 * np.arccos(np.clip(np.abs((after[..., 3:] * before[..., 3:]).sum(axis=2)), 0.0, 1.0))
        fastest = max(fastest, float((way + angle * reach).max()) / 0.05)
        least = min(least, float(arm.clearance(joints, blocks).min()))
    return least, seen, fastest


def test_guarded_arms_touch_nothing_and_unguarded_ones_do() -> None:
    arm, blocks = make_arm(), ExcavatorTask(env_count=8).blocks()
    least, seen, fastest = walk(arm, blocks, 400, guarded=True)
    # a motion is checked at eight points: between two of them a corner may reach slightly into the margin of 5 mm
    assert least > 0.002, "the arm came nearer than the margin"
    assert seen == JOINT_EVENT | SPEED_EVENT | TOUCH_EVENT
    assert fastest <= PANDA.tip_speed + 1e-6
    least, _, fastest = walk(arm, blocks, 60, guarded=False)
    assert least < -0.02 and fastest > 2.0 * PANDA.tip_speed, "the commands are harmless: the test shows nothing"


def test_the_arm_slides_along_the_table() -> None:
    """A bucket that is pressed down while it moves sideways keeps moving sideways."""
    arm = make_arm()
    table = np.zeros((1, 1, 10))
    table[0, 0, [2, 3]], table[0, 0, 7:] = (-0.5, 1.0), (5.0, 5.0, 0.5)
    joints, velocities = np.array([HOME]), np.zeros((1, 7))
    for _ in range(60):  # down
        wanted = np.linalg.pinv(arm.jacobian(joints)[0]) @ [0, 0, -0.4, 0, 0, 0]
        joints, velocities, events = arm.guard(joints, velocities, [wanted], table, 0.05)
    assert events[0] & TOUCH_EVENT
    assert arm.clearance(joints, table)[0] == pytest.approx(arm.margin, abs=2e-3)
    start = arm.frames(joints)[0, -1, :3]
    for _ in range(20):
        wanted = np.linalg.pinv(arm.jacobian(joints)[0]) @ [0, 0.2, -0.2, 0, 0, 0]
        joints, velocities, events = arm.guard(joints, velocities, [wanted], table, 0.05)
        assert arm.clearance(joints, table)[0] > arm.margin - 2e-3
    moved = arm.frames(joints)[0, -1, :3] - start
    assert moved[1] > 0.12, "it stuck"
    # and is released at once
    up = np.linalg.pinv(arm.jacobian(joints)[0]) @ [0, 0, 0.3, 0, 0, 0]
    for _ in range(5):
        joints, velocities, events = arm.guard(joints, velocities, [up], table, 0.05)
    assert arm.clearance(joints, table)[0] > 0.03


def test_clearance_of_capsules_from_sampled_points() -> None:
    arm = make_arm()
    rng = np.random.default_rng(4)
    joints, blocks = random_joints(30, 4), ExcavatorTask(env_count=30).blocks()
    got = arm.clearance(joints, blocks)
    frames = arm.frames(joints)
    t = np.linspace(0.0, 1.0, 400)[:, None]
    moving = [(link.frame, row) for link in PANDA.links if link.frame for row in link.capsules]
    moving += [(arm.frame_count - 1, row) for row in arm.tool.capsules]
    for n in range(30):
        least = 10.0
        for frame, row in moving:
            pose = frames[n, frame]
            ends = pose[:3] + np.array([row[:3], row[3:6]]) @ matrices(pose[3:]).T
            points = ends[0] + t * (ends[1] - ends[0])
            for block in blocks[n]:
                gap = np.linalg.norm(np.maximum(np.abs(points - block[:3]) - block[7:], 0.0), axis=1).min()
                least = min(least, gap - row[6])
        # only the arm itself is nearer than the blocks
        assert got[n] <= least + 1e-9
        assert got[n] == pytest.approx(least, abs=2e-3) or got[n] < least
    del rng
    assert np.ptp(got) > 0.05


# ---- description ----


def damaged(change: Callable[[Any], Any]) -> str:
    data = json.loads(asset_path("panda.json").read_text())
    replaced = change(data)
    return json.dumps(data if replaced is None else replaced)


def put(*path: Any, value: Any) -> Callable[[Any], None]:
    def change(data: Any) -> None:
        for key in path[:-1]:
            data = data[key]
        if value is KeyError:
            del data[path[-1]]
        else:
            data[path[-1]] = value

    return change


@pytest.mark.parametrize(
    ("change", "word"),
    [
        (put("format", value="other/9"), "format"),
        (put("joints", value=KeyError), "joints"),
        (put("joints", value=[]), "joints"),
        (put("joints", value="seven"), "joints"),
        (put("joints", 3, "alpha", value=KeyError), r"joints\[3\].alpha"),
        (put("joints", 3, "d", value="far"), r"joints\[3\].d"),
        (put("joints", 2, "lower", value=3.0), r"joints\[2\].lower"),
        (put("joints", 6, "speed", value=0.0), r"joints\[6\].speed"),
        (put("joints", 0, value=5), r"joints\[0\]"),
        (put("tip_speed", value=float("nan")), "tip_speed"),
        (put("links", 1, "frame", value=99), r"links\[1\].frame"),
        (put("links", 1, "frame", value=0), r"links\[1\].frame"),
        (put("links", 2, "capsules", value=[[0, 0, 0, 0, 0, 1]]), r"links\[2\].capsules\[0\]"),
        (put("links", 2, "capsules", value=[[0, 0, 0, 0, 0, 1, -0.1]]), r"links\[2\].capsules\[0\]\[6\]"),
        (put("apart", 0, value=[0, 77]), r"apart\[0\]"),
        (put("name", value=""), "name"),
        (lambda data: [data], "object"),
    ],
)
def test_damaged_descriptions_name_file_and_entry(tmp_path: Any, change: Callable[[Any], Any], word: str) -> None:
    path = tmp_path / "arm.json"
    path.write_text(damaged(change))
    with pytest.raises(gg.DescriptionError, match=f"arm.json.*{word}"):
        load_arm(path)


@pytest.mark.parametrize("content", [b"", b"{", b"\xff\xfe\x00", b"null"])
def test_files_that_are_no_descriptions(tmp_path: Any, content: bytes) -> None:
    path = tmp_path / "arm.json"
    path.write_bytes(content)
    with pytest.raises(gg.DescriptionError, match=r"arm\.json"):
        load_arm(path)
    with pytest.raises(OSError):
        load_arm(tmp_path / "missing.json")
    with pytest.raises(
        gg.ArgumentError, match=r"^path: expected a file or the name of an asset, .* no file 'arm2\.xml'$"
    ):
        load_arm("arm2.xml")
    with pytest.raises(gg.ArgumentError, match=r"found no file 'pandas\.json'; did you mean 'panda\.json'\?"):
        load_arm("pandas.json")


# ---- bad input ----


@pytest.mark.parametrize(
    ("joints", "word"),
    [(np.zeros(7), "shape"), (np.zeros((1, 6)), "shape"), ([[np.nan] * 7], "finite"), ("x", "numbers")],
)
def test_bad_joints_are_refused(joints: Any, word: str) -> None:
    arm = make_arm()
    blocks = np.zeros((1, 0, 10))
    for call in (
        arm.frames,
        arm.jacobian,
        lambda q: arm.clearance(q, blocks),
        lambda q: arm.guard(q, np.zeros((1, 7)), np.zeros((1, 7)), blocks, 0.05),
        lambda q: arm.torques(q, np.zeros((1, 6))),
        lambda q: arm.loads(q, np.zeros((1, 6))),
    ):
        with pytest.raises(gg.ArgumentError, match=f"joints.*{word}"):
            call(joints)


def test_the_core_refuses_what_would_read_past_an_end() -> None:
    arm = make_arm()
    whole = list(arm._core)
    joints, blocks = np.zeros((1, 7)), np.zeros((1, 0, 10))
    _core.arm_clearance(tuple(whole), joints, blocks, 1.0)
    for index, value in (
        (2, np.zeros(6)),
        (6, np.zeros(3)),
        (7, np.full(len(whole[7]), 99, np.int32)),
        (7, np.zeros(3, np.int32)),
        (8, np.zeros((65, 7))),
        (9, np.array([[0, 400]], np.int32)),
        (0, np.zeros((17, 4))),
        (0, np.zeros((3, 4))),
    ):
        bad = copy.copy(whole)
        bad[index] = value
        with pytest.raises(gg.ArgumentError):
            _core.arm_clearance(tuple(bad), joints, blocks, 1.0)
    with pytest.raises(gg.ArgumentError, match="blocks"):
        _core.arm_clearance(tuple(whole), joints, np.zeros((1, 65, 10)), 1.0)
    with pytest.raises(gg.ArgumentError, match="blocks"):
        _core.arm_clearance(tuple(whole), joints, np.zeros((2, 1, 10)), 1.0)
    with pytest.raises(gg.ArgumentError, match="arm"):
        _core.arm_clearance(whole, joints, blocks, 1.0)  # type: ignore[arg-type]
    with pytest.raises(gg.ArgumentError, match="duration"):
        _core.arm_guard(tuple(whole), joints, joints, joints, blocks, 0.0, 1)
    with pytest.raises(gg.ArgumentError, match="threads"):
        _core.arm_guard(tuple(whole), joints, joints, joints, blocks, 0.1, 0)


def test_a_tool_with_too_much_is_refused() -> None:
    with pytest.raises(gg.ArgumentError, match="rows"):
        Arm(PANDA, ArmTool(np.zeros((9, 4)), gg.Sdf.sphere(0.1), np.zeros((0, 7)), ()))
    with pytest.raises(gg.ArgumentError, match="capsules"):
        Arm(PANDA, ArmTool(np.zeros((1, 4)), gg.Sdf.sphere(0.1), np.ones((60, 7)), ()))
    with pytest.raises(gg.ArgumentError, match="bounded"):
        Arm(PANDA, ArmTool(np.zeros((1, 4)), gg.Sdf.plane(), np.zeros((0, 7)), ()))


@pytest.mark.parametrize(
    ("shape", "reach"),
    [
        (gg.Sdf.cone(0.03, 0.01, 0.04), 0.05),
        (gg.Sdf.cone(0.01, 0.03, 0.04).at((0.0, 0.0, 0.1)), 0.15),
        (gg.Sdf.union(gg.Sdf.sphere(0.01), gg.Sdf.box((0.2, 0.2, 0.1))), 0.3),
    ],
)
def test_a_tool_may_be_of_any_bounded_shape(shape: gg.Sdf, reach: float) -> None:
    """Funnels and drills among them."""
    assert sdf_reach(shape) == pytest.approx(reach)
    assert Arm(PANDA, ArmTool(np.zeros((0, 4)), shape, np.zeros((0, 7)), ())).shapes[-1][1] is shape
