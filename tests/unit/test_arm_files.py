"""Arms from URDF and MJCF files: kinematics, shapes and limits against those of MuJoCo, and a drive among grains."""

from __future__ import annotations

import itertools
import math
import re
import shutil
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import granular_gym as gg
from granular_gym.arms.rows import rows_of
from granular_gym.arms.solids import covering
from granular_gym.arms.tree import Chain, Joint
from granular_gym.base.assets import asset_path
from granular_gym.base.rotations import rotate
from granular_gym.shapes.sdf_values import distances
from granular_gym.task import Arm, ArmDescription, ArmTool, load_arm
from testbed.arms import Part, mjcf, random_parts, urdf

BARE = ArmTool(np.zeros((0, 4)), gg.Sdf.sphere(0.01), np.zeros((0, 7)), ())
CHAINS = [*((count, count, False) for count in range(1, 9)), *((count, 20 + count, True) for count in range(1, 9))]
TIP = ((0.05, -0.1, 0.2), (0.4, -0.3, 0.8))
PAGE = (Path(__file__).parents[2] / "docs" / "robots.md").read_text(encoding="utf-8")


def written(folder: Path, content: str, name: str) -> Path:
    path = folder / name
    path.write_text(content)
    return path


def quaternion_gap(a: np.ndarray, b: np.ndarray) -> float:
    """Between two unit quaternions, whose sign tells nothing."""
    return float(min(np.abs(a - b).max(), np.abs(a + b).max()))


def compare(model: Any, description: ArmDescription, count: int, seed: int, tolerance: float = 1e-9) -> None:
    """Tip and rods of an arm beside MuJoCo's in 20 postures."""
    mujoco = pytest.importorskip("mujoco")
    data, arm = mujoco.MjData(model), Arm(description, BARE)
    assert arm.joint_count == count == model.nq
    postures = np.random.default_rng(seed).uniform(-3.0, 3.0, (20, count))
    tip = mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_BODY, "tip")
    for posture, frames in zip(postures, arm.frames(postures), strict=True):
        data.qpos[:] = posture
        mujoco.mj_kinematics(model, data)
        assert np.abs(frames[-1, :3] - data.xpos[tip]).max() < tolerance
        assert quaternion_gap(frames[-1, 3:], data.xquat[tip]) < tolerance
        for link in description.links:
            if link.frame:
                geom = int(model.body_geomadr[mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_BODY, f"link{link.frame}")])
                along = data.geom_xmat[geom].reshape(3, 3)[:, 2] * model.geom_size[geom, 1]
                ends = frames[link.frame, :3] + rotate(frames[link.frame, 3:], link.capsules[0, :6].reshape(2, 3))
                there = data.geom_xpos[geom] + np.array([-along, along])
                assert np.abs(ends - there).max() < tolerance
    assert {link.frame for link in description.links} >= set(range(1, count + 1))


@pytest.mark.parametrize(("count", "seed", "square"), CHAINS)
def test_urdf_moves_as_it_does_in_mujoco(tmp_path: Path, count: int, seed: int, square: bool) -> None:
    mujoco = pytest.importorskip("mujoco")
    path = written(tmp_path, urdf(random_parts(count, seed, square=square), TIP), "arm.urdf")
    compare(mujoco.MjModel.from_xml_path(str(path)), load_arm(path, base="base"), count, seed)


@pytest.mark.parametrize(("count", "seed", "square"), CHAINS)
def test_mjcf_moves_as_it_does_in_mujoco(tmp_path: Path, count: int, seed: int, square: bool) -> None:
    """Also drawn in a posture that is not zero, with axes that pass beside the frames."""
    mujoco = pytest.importorskip("mujoco")
    draw = np.random.default_rng(seed)
    drawn, anchors = draw.uniform(-1.0, 1.0, count), draw.uniform(-0.2, 0.2, (count, 3))
    tip = TIP if seed % 2 else ((0, 0, 0), (0, 0, 0))
    content = mjcf(random_parts(count, seed, square=square), tip, drawn=drawn, anchors=anchors)
    path = written(tmp_path, content, "arm.xml")
    compare(mujoco.MjModel.from_xml_path(str(path)), load_arm(path, tip="tip", speed=1.0), count, seed)


@pytest.mark.parametrize("seed", [3, 5])
def test_urdf_moves_as_it_does_in_yourdfpy(tmp_path: Path, seed: int) -> None:
    yourdfpy = pytest.importorskip("yourdfpy")
    # which knows no capsules
    content = urdf(random_parts(6, seed), TIP).replace("capsule", "cylinder")
    path = written(tmp_path, content, "arm.urdf")
    robot, arm = yourdfpy.URDF.load(str(path), load_meshes=False), Arm(load_arm(path), BARE)
    for posture in np.random.default_rng(seed).uniform(-3.0, 3.0, (20, 6)):
        robot.update_cfg(posture)
        pose = robot.get_transform("tip", "base")
        frame = arm.frames(posture[None])[0, -1]
        assert np.abs(frame[:3] - pose[:3, 3]).max() < 1e-9
        assert np.abs(rotate(frame[3:], np.eye(3)) - pose[:3, :3].T).max() < 1e-9


def panda_parts() -> list[Part]:
    """Our own Panda as joints with origins: RotX(alpha) TransX(a) TransZ(d), axis z."""
    panda, parts = load_arm("panda.json"), []
    for k, (a, alpha, d, theta) in enumerate(panda.rows[:7]):
        assert theta == 0.0
        limits = (panda.lower[k], panda.upper[k], panda.speed[k], panda.torque[k])
        place = (a, -math.sin(alpha) * d, math.cos(alpha) * d)
        parts.append(Part(place, (alpha, 0.0, 0.0), limits=tuple(float(x) for x in limits)))
    return parts


@pytest.mark.parametrize("kind", ["arm.urdf", "arm.xml"])
def test_our_panda_comes_back(tmp_path: Path, kind: str) -> None:
    panda = load_arm("panda.json")
    write: Any = urdf
    if kind == "arm.xml":
        pytest.importorskip("mujoco")
        write = mjcf
    tip = ((0.0, 0.0, float(panda.rows[7, 2])), (0.0, 0.0, 0.0))
    read = load_arm(written(tmp_path, write(panda_parts(), tip), kind), speed=panda.speed, acceleration=15.0)
    postures = np.random.default_rng(0).uniform(panda.lower, panda.upper, (50, 7))
    one, other = Arm(panda, BARE), Arm(read, BARE)
    ours, theirs = one.frames(postures)[:, -1], other.frames(postures)[:, -1]
    assert np.abs(ours[:, :3] - theirs[:, :3]).max() < 1e-12
    assert max(quaternion_gap(a, b) for a, b in zip(ours[:, 3:], theirs[:, 3:], strict=True)) < 1e-12
    assert np.abs(one.jacobian(postures) - other.jacobian(postures)).max() < 1e-12
    for name in ("lower", "upper", "speed", "torque"):
        assert np.array_equal(getattr(panda, name), getattr(read, name)), name
    assert read.joint_names == panda.joint_names
    assert (read.acceleration == 15.0).all() and read.tip_speed == 2.0 and read.payload == 0.0


def test_where_base_and_arm_stand(tmp_path: Path) -> None:
    """A base further up the chain, and a pose of the base in the world."""
    parts = random_parts(4, 1)
    path = written(tmp_path, urdf(parts, TIP), "arm.urdf")
    whole, upper = Arm(load_arm(path), BARE), load_arm(path, base="link2", tip="link4")
    assert upper.joint_names == ("joint3", "joint4")
    postures = np.random.default_rng(0).uniform(-2, 2, (5, 4))
    postures[:, :2] = 0.0
    # the frame of link2, as drawn
    with pytest.warns(gg.DescriptionWarning, match="left out: 'link3', 'link4', 'tip'"):
        stump = Arm(load_arm(path, tip="link2"), BARE).frames(np.zeros((1, 2)))[0, -1]
    alone = Arm(upper, BARE, base=stump).frames(postures[:, 2:])[:, -1]
    tipless = Arm(load_arm(path, tip="link4"), BARE).frames(postures)[:, -1]
    assert np.abs(alone[:, :3] - tipless[:, :3]).max() < 1e-6  # poses of bases are single
    assert whole.joint_count == 4


def box_mesh(folder: Path) -> Path:
    return Path(shutil.copy(asset_path("bulldozer_blade.stl"), folder / "blade.stl"))


def test_boxes_cylinders_and_meshes_stay_where_they_are(tmp_path: Path) -> None:
    """Of a URDF: the shape of a link, in the world, against solids that are put there by hand."""
    package = tmp_path / "parts"
    (package / "urdf").mkdir(parents=True)
    blade = gg.Mesh.load(box_mesh(package))
    pose = 'xyz="0.1 0.2 0.3" rpy="0.3 -0.4 0.5"'
    shapes = "".join(
        f"<collision><origin {pose}/><geometry>{each}</geometry></collision>"
        for each in (
            '<box size="0.2 0.3 0.5"/>',
            '<cylinder radius="0.1" length="0.6"/>',
            '<mesh filename="package://parts/blade.stl" scale="0.5 0.25 0.5"/>',
            '<mesh filename="../blade.stl" scale="0.1 0.1 0.1"/>',
        )
    )
    content = urdf([Part((0, 0, 0.3), (0.2, 0.1, 0.7), (1, 2, 3), more=shapes)])
    description = load_arm(written(package / "urdf", content, "arm.urdf"))
    link = description.links[-1]
    assert link.frame == 1 and len(link.capsules) == 1 and len(link.cylinders) == 1 and len(link.covers) == 4
    frame = Arm(description, BARE).frames(np.zeros((1, 1)))[0]
    # the tip is the link's frame: solids by hand are in it
    roll, pitch, yaw = (
        np.array([math.cos(0.5 * a), *(math.sin(0.5 * a) * e)])
        for a, e in zip((0.3, -0.4, 0.5), np.eye(3), strict=True)
    )
    turn = quaternion_product(yaw, quaternion_product(pitch, roll))
    scaled = gg.Mesh(blade.vertices * (0.5, 0.25, 0.5), blade.faces)
    points = np.random.default_rng(2).uniform(-0.5, 0.8, (400, 3))
    solids = [gg.Sdf.box((0.1, 0.15, 0.25)), gg.Sdf.cylinder(0.1, 0.3)]
    expected = [distances(each.at((0.1, 0.2, 0.3), turn), points) for each in solids]
    expected.append(distances(gg.Sdf.capsule(0.03, 0.05).at((0.0, 0.0, 0.1)), points))
    world = frame[-1, :3] + rotate(frame[-1, 3:], points)
    local = rotate(frame[1, 3:] * [1, -1, -1, -1], world - frame[1, :3])
    plain = gg.Sdf(tuple(part for part in link.sdf().parts if part.grid is None))
    assert np.abs(distances(plain, local) - np.min(expected, axis=0)).max() < 1e-6
    grids = [gg.Sdf((part,)) for part in link.sdf().parts if part.grid is not None]
    # corners of a mesh are zeros of its field
    for grid, mesh in zip(grids, (scaled, gg.Mesh(blade.vertices * 0.1, blade.faces)), strict=True):
        corners = np.array([0.1, 0.2, 0.3]) + rotate(turn, mesh.vertices)
        world = frame[-1, :3] + rotate(frame[-1, 3:], corners)
        local = rotate(frame[1, 3:] * [1, -1, -1, -1], world - frame[1, :3])
        assert np.abs(distances(grid, local)).max() < 0.02 * np.ptp(mesh.vertices, axis=0).max()
    # and the guard's capsules hold them
    box = np.array(list(itertools.product((-0.1, 0.1), (-0.15, 0.15), (-0.25, 0.25))))
    for cover, corners in zip(link.covers[[0, 2]], (box, scaled.vertices), strict=True):
        world = frame[-1, :3] + rotate(frame[-1, 3:], np.array([0.1, 0.2, 0.3]) + rotate(turn, corners))
        local = rotate(frame[1, 3:] * [1, -1, -1, -1], world - frame[1, :3])
        assert segment_gap(cover, local).max() < 1e-6


def quaternion_product(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return np.concatenate([[a[0] * b[0] - a[1:] @ b[1:]], a[0] * b[1:] + b[0] * a[1:] + np.cross(a[1:], b[1:])])


def segment_gap(rod: np.ndarray, points: np.ndarray) -> np.ndarray:
    """Distance of points to a capsule, 0 inside."""
    start, along = rod[:3], rod[3:6] - rod[:3]
    share = np.clip((points - start) @ along / max(float(along @ along), 1e-30), 0.0, 1.0)
    return np.maximum(np.linalg.norm(points - start - share[:, None] * along, axis=1) - rod[6], 0.0)


def test_covers_hold_their_points_and_little_else() -> None:
    draw = np.random.default_rng(0)
    for _ in range(20):
        points = draw.normal(size=(30, 3)) * draw.uniform(0.1, 1.0, 3)
        rod = covering(points, np.eye(3))
        assert segment_gap(rod, points).max() < 1e-12
        assert segment_gap(np.array([*rod[:6], 0.98 * rod[6]]), points).max() > 0.0
    box = np.array(list(itertools.product((-0.1, 0.1), (-0.1, 0.1), (-1.0, 1.0))))
    assert covering(box, np.eye(3)) == pytest.approx([0, 0, -1, 0, 0, 1, 0.1 * math.sqrt(2)])
    # of a ball of points no more than a ball
    ball = draw.normal(size=(500, 3))
    ball /= np.linalg.norm(ball, axis=1)[:, None]
    assert covering(ball, np.eye(3))[6] == pytest.approx(1.0, abs=0.03)


def test_meshes_and_ellipsoids_of_mjcf(tmp_path: Path) -> None:
    mujoco = pytest.importorskip("mujoco")
    box_mesh(tmp_path)
    parts = [
        Part(
            (0, 0, 0.2),
            (0, 0.3, 0),
            (0, 1, 0),
            more='<geom type="mesh" mesh="blade" pos="0.1 0 0"/>'
            '<geom type="ellipsoid" size="0.1 0.2 0.05" pos="0 0.3 0" euler="0.3 0 0"/>'
            '<geom type="box" size="9 9 9" contype="0" conaffinity="0"/>',
        )
    ]
    path = written(tmp_path, mjcf(parts, more='<asset><mesh name="blade" file="blade.stl"/></asset>'), "arm.xml")
    description = load_arm(path, speed=1.0)
    link, model = description.links[-1], mujoco.MjModel.from_xml_path(str(path))
    assert len(link.covers) == 2, "a geom that does not collide is no shape of the arm"
    frame, data = Arm(description, BARE).frames(np.full((1, 1), 0.4))[0, 1], mujoco.MjData(model)
    data.qpos[:] = 0.4
    mujoco.mj_kinematics(model, data)
    grids = [gg.Sdf((part,)) for part in link.sdf().parts if part.grid is not None]
    vertices = model.mesh_vert[: model.mesh_vertnum[0]]
    world = data.geom_xpos[1] + vertices @ data.geom_xmat[1].reshape(3, 3).T
    local = rotate(frame[3:] * [1, -1, -1, -1], world - frame[:3])
    assert np.abs(distances(grids[0], local)).max() < 0.02 * np.ptp(vertices, axis=0).max()
    tops = data.geom_xpos[2] + 0.2 * np.array([[1.0], [-1.0]]) * data.geom_xmat[2].reshape(3, 3)[:, 1]
    assert np.abs(distances(grids[1], rotate(frame[3:] * [1, -1, -1, -1], tops - frame[:3]))).max() < 0.01


# ---- limits ----


def test_limits_come_from_the_caller_the_file_or_the_defaults(tmp_path: Path) -> None:
    parts = [Part((0, 0, 0.2), (0, 0, 0), kind="continuous"), Part((0, 0, 0.2), (1, 0, 0), limits=(-1e9, 2, 0, 0))]
    path = written(tmp_path, urdf(parts), "arm.urdf")
    with pytest.raises(gg.DescriptionError, match=r"arm\.urdf: joint 'joint2': expected a largest speed"):
        load_arm(path)
    arm = load_arm(path, speed=[1.5, 0.5], payload=0.2, tip_speed=1.0)
    assert arm.lower.tolist() == [-10.0, -10.0] and arm.upper.tolist() == [10.0, 2.0]
    assert arm.speed.tolist() == [1.5, 0.5] and arm.acceleration.tolist() == [10.0, 10.0]
    assert arm.torque.tolist() == [50.0, 1e6] and (arm.tip_speed, arm.payload) == (1.0, 0.2)
    panda = load_arm("panda.json", acceleration=3.0)
    assert (panda.acceleration == 3.0).all() and panda.speed[0] == 2.175
    for bad in ({"speed": [1.0]}, {"speed": 0.0}, {"torque": "much"}, {"payload": -1.0}, {"acceleration": math.nan}):
        with pytest.raises(gg.ArgumentError, match=next(iter(bad))):
            load_arm(path, **({"speed": 1.0} | bad))  # type: ignore[arg-type]
    with pytest.raises(gg.ArgumentError, match="tip"):
        load_arm("panda.json", tip="link7")


def test_torques_of_mjcf(tmp_path: Path) -> None:
    pytest.importorskip("mujoco")
    actuators = '<actuator><motor joint="joint1" gear="3" forcerange="-2 1"/><motor joint="joint2"/></actuator>'
    path = written(tmp_path, mjcf(random_parts(2, 1), more=actuators), "arm.xml")
    assert load_arm(path, speed=1.0).torque.tolist() == [6.0, 50.0]
    with pytest.raises(gg.DescriptionError, match="give speed="):
        load_arm(path)


def test_the_guard_keeps_apart_what_is_clear_of_each_other(tmp_path: Path) -> None:
    """A planar arm of three links; the third turned onto the base link meets it, and the guard stops it."""
    parts = [Part((0, 0, 0.3), (0, 0, 0), (0, 1, 0), ((0, 0, 0.15), (0, 0, 0), 0.03, 0.2)) for _ in range(3)]
    arm = Arm(load_arm(written(tmp_path, urdf(parts), "arm.urdf")), BARE)
    assert set(arm.description.apart) == {(0, 2), (0, 3), (1, 3)}
    joints, velocities, none = np.zeros((1, 3)), np.zeros((1, 3)), np.zeros((1, 0, 10))
    assert arm.clearance(joints, none)[0] > 0.1
    assert arm.clearance(np.array([[0.0, 2.2, 2.2]]), none)[0] < 0.0
    for _ in range(250):
        joints, velocities, events = arm.guard(joints, velocities, [[0.0, 0.5, 0.5]], none, 0.02)
    assert arm.clearance(joints, none)[0] > 0.004 and events[0], joints


# ---- what is odd or refused ----


def test_axes_that_are_nearly_parallel_are_said_to_be_parallel(tmp_path: Path) -> None:
    """1.5708 is meant to be a quarter of a turn: the common normal would be kilometres away."""
    parts = [Part((0, 0, 0.1), (0, 0, 0)), Part((0.3, 0, 0), (1.5708, 0, 0)), Part((0.3, 0, 0), (0, 3.6e-6, 3.1415))]
    with pytest.warns(gg.DescriptionWarning, match="'joint3' by 3.6e-06 rad"):
        description = load_arm(written(tmp_path, urdf(parts, TIP), "arm.urdf"))
    assert np.abs(description.rows[:, [0, 2]]).max() < 1.0
    mujoco = pytest.importorskip("mujoco")
    compare(mujoco.MjModel.from_xml_path(str(tmp_path / "arm.urdf")), description, 3, 0, tolerance=2e-5)
    first, near, far = (Part((x, 0, 0), (a, b, 0)) for x, a, b in ((0, 0, 0), (0.3, 0.01, 0), (0.3, 0, 0.01)))
    with pytest.raises(gg.DescriptionError, match=r"'joint2'.*within 10 m, got 30 m.*0\.01 rad"):
        load_arm(written(tmp_path, urdf([first, far]), "far.urdf"))
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # these come near to each other nearby
        assert load_arm(written(tmp_path, urdf([first, near]), "near.urdf")).rows[1, 1] == pytest.approx(0.01)


def test_rows_are_exact_down_to_the_angle_where_axes_count_as_parallel() -> None:
    """Chains of two axes that are `angle` off parallel and whose common normal is near: tips to 1e-9."""
    for angle in (0.0, 1e-12, 1e-9, 2e-9, 1e-6, 2e-6, 1e-5, 1e-3, 1e-2, 0.1):
        axis = np.array([0.0, math.sin(angle), math.cos(angle)])
        zero = np.zeros(3)
        joints = [
            Joint("a", "revolute", np.array([0.0, 0.0, 1.0]), zero),
            Joint("b", "revolute", axis, np.array([0.3, 0.0, 0.0])),
        ]
        tip = np.eye(4)
        tip[:3, 3] = 0.5, 0.1, 0.2
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", gg.DescriptionWarning)
            rows, frames = rows_of(Chain(tuple(joints), tip, {}))
        for q in np.random.default_rng(0).uniform(-3, 3, (10, 2)):
            pose = frames[0]
            for k, row in enumerate(rows):
                pose = pose @ moved(row, q[k] if k < 2 else 0.0)
            expected = about(joints[0].axis, zero, q[0]) @ about(axis, joints[1].anchor, q[1]) @ tip
            allowed = 1e-9 if angle < 1e-9 or angle > 1e-6 else 3.0 * angle
            assert np.abs(pose - expected).max() < allowed, angle


def moved(row: np.ndarray, q: float) -> np.ndarray:
    a, alpha, d, theta = row
    return about([1, 0, 0], [0, 0, 0], alpha, a) @ about([0, 0, 1], [0, 0, 0], theta + q, d)


def about(axis: Any, anchor: Any, angle: float, along: float = 0.0) -> np.ndarray:
    """A turn about a line, and a shift along it, by Rodrigues' formula."""
    x, y, z = axis
    k = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]], float)
    out = np.eye(4)
    out[:3, :3] += math.sin(angle) * k + (1.0 - math.cos(angle)) * k @ k
    out[:3, 3] = np.asarray(anchor) - out[:3, :3] @ anchor + along * np.asarray(axis, float)
    return out


def test_joints_of_one_name_are_refused(tmp_path: Path) -> None:
    content = urdf(panda_parts(), TIP)
    first, second = re.findall('<joint name="([^"]*)"', content)[:2]
    path = written(tmp_path, content.replace(f'<joint name="{second}"', f'<joint name="{first}"'), "arm.urdf")
    with pytest.raises(gg.DescriptionError, match=f"joint '{first}': expected one of each name, there are two"):
        load_arm(path)


def test_what_an_arm_is_made_of_is_checked() -> None:
    panda: Any = load_arm("panda.json")
    with pytest.raises(gg.ArgumentError, match="^tool: expected an ArmTool, got Sdf"):
        Arm(panda, gg.Sdf.sphere(0.01))  # type: ignore[arg-type]
    with pytest.raises(gg.ArgumentError, match="^description: expected an ArmDescription, got str"):
        Arm("panda.json", BARE)  # type: ignore[arg-type]


# ---- among grains ----


def test_the_example_of_the_guide_runs(tmp_path: Path, monkeypatch: Any) -> None:
    names = run_example(PAGE.partition("## Arms from files")[2], "arm.urdf", tmp_path, monkeypatch)
    assert (names["state"][:, :2] > 0.05).all() and np.ptp(names["state"], axis=0).max() == 0.0
    assert np.array(names["world"].tool_poses).shape == (4, 4, 7)
    assert np.abs(names["arm"].torques(names["state"][:, :2], names["world"].wrenches[:, -1])).max() > 0.0


def test_the_example_with_a_robot_of_mujoco_runs(tmp_path: Path, monkeypatch: Any) -> None:
    pytest.importorskip("mujoco")
    names = run_example(PAGE, "arm.xml", tmp_path, monkeypatch)
    assert names["both"].wrenches.shape == (4, 1, 6) and not names["both"].diverged.any()
    assert names["robots"].data[0].qpos[0] > 0.0


def run_example(page: str, name: str, folder: Path, monkeypatch: Any) -> dict[str, Any]:
    """Runs the first program of a page beside its first file, which gets a name; returns what it leaves."""
    content, code = (re.findall(rf"```{kind}\n(.*?)```", page, re.DOTALL)[0] for kind in ("xml", "python"))
    written(folder, content, name)
    monkeypatch.chdir(folder)
    names: dict[str, Any] = {"__name__": "guide"}
    exec(compile(code, "robots.md", "exec"), names)
    return names


def test_an_arm_from_a_file_pushes_grains(tmp_path: Path) -> None:
    """Two joints swing a ball of the file's through a bed, by the drive that the excavator's arm has."""
    ball = '<collision><origin xyz="0.25 0 -0.22"/><geometry><sphere radius="0.06"/></geometry></collision>'
    parts = [
        Part((0, 0, 0.3), (0, 0, 0), capsule=((0, 0, -0.1), (0, 0, 0), 0.02, 0.05)),
        Part((0.2, 0, 0), (0, 0, 0), capsule=((0.12, 0, 0), (0, 1.5, 0), 0.02, 0.1), more=ball),
    ]
    arm = Arm(load_arm(written(tmp_path, urdf(parts), "arm.urdf"), tip="link2"), BARE)
    scene = gg.Scene(((-0.6, -0.6, 0), (0.6, 0.6, 0.6)))
    scene.add_material(radius=0.02, density=1500.0, friction=0.5)
    scene.fill_box(0, (0.3, 0.12, 0.0), (0.55, 0.4, 0.2), count=100, seed=0)
    for k, (_, sdf) in enumerate(arm.shapes):
        scene.add_tool(sdf, name=f"part{k}")
    world = scene.build(solver=gg.Solver(iterations=20))
    world.set_drive(arm.drive(0.05, np.zeros((0, 7)), (), np.zeros((0, 10)), ()))
    state = np.zeros((1, 2 * 2 + 3))
    state[0, :2] = -0.5, -0.3
    world.set_tool_poses(world.drive_poses(state))
    world.step(5e-3, 100)
    before = np.array(world.positions[0])
    wrench = np.zeros(6)
    for _ in range(40):
        state, _ = world.step_driven(5e-3, 10, np.array([[0.5, 0.5]]), state)
        wrench = np.maximum(wrench, np.abs(np.array(world.wrenches)[0]).max(axis=0))
    assert state[0, 0] > 0.5
    shift = np.array(world.positions[0]) - before
    assert (shift[:, 1] > 0.05).sum() > 10, "grains went along"
    assert wrench[:3].max() > 0.5
    frames = arm.frames(state[:, :2])[0]
    assert np.abs(np.array(world.tool_poses)[0, 2, :3] - frames[2, :3]).max() < 1e-5
