"""URDF and MJCF files that are no arms: each is refused by an error that names file and entry."""

from __future__ import annotations

from pathlib import Path

import pytest

import granular_gym as gg
from granular_gym.task import load_arm
from testbed.arms import Part, mjcf, random_parts, urdf


def written(folder: Path, content: str, name: str) -> Path:
    path = folder / name
    path.write_text(content)
    return path


ARM = urdf([Part((0, 0, 0.2), (0.1, 0, 0)), Part((0, 0.1, 0.2), (1, 0, 0))])
EXTRA = (
    '<link name="{0}">{2}</link><joint name="j{0}" type="{1}"><parent link="link1"/><child link="{0}"/></joint></robot>'
)
SPHERE = '<collision><geometry><sphere radius="0.1"/></geometry></collision>'


@pytest.mark.parametrize(
    ("old", "new", "word"),
    [
        ("</robot>", "", "expected XML"),
        ("<robot", "<model", "expected XML"),
        ('type="revolute"', 'type="prismatic"', "joint 'joint1': expected a kind .*'prismatic'"),
        ('type="revolute"', 'type="floating"', "joint 'joint1': expected a kind .*'floating'"),
        ("<limit", '<mimic joint="joint1"/><limit', "joint 'joint1': .*it follows 'joint1'"),
        ("<limit", "<limits", "joint 'joint1': expected an element <limit>"),
        ('lower="-3.0"', 'lower="3.0"', "joint 'joint1': expected lower < upper"),
        ('lower="-3.0"', 'lower="20"', "joint 'joint1': expected"),
        ('velocity="2.0"', 'velocity="-2.0"', "joint 'joint1': speed"),
        ('velocity="2.0"', 'velocity="fast"', "joint 'joint1': limit: .*'velocity', got 'fast'"),
        ('axis xyz="0.0 0.0 1.0"', 'axis xyz="0 0 0"', "joint 'joint1': expected an axis of some length"),
        ('axis xyz="0.0 0.0 1.0"', 'axis xyz="0 nan 1"', "joint 'joint1': axis: .*'0 nan 1'"),
        ('axis xyz="0.0 0.0 1.0"', 'axis xyz="0 1"', "joint 'joint1': axis: .*'0 1'"),
        ('xyz="0.0 0.0 0.2"', 'xyz="0 0 inf"', "joint 'joint1': origin"),
        ('xyz="0.0 0.0 0.2"', 'xyz="0 0 1e30"', "joint 'joint1': expected finite numbers"),
        ('<child link="link2"/>', "", "joint 'joint2': expected an element <child>"),
        ('<parent link="link1"/>', '<parent link="lonk1"/>', "'link2'.*'lonk1'.*did you mean 'link1'"),
        ('<child link="link2"/>', '<child link="lonk2"/>', "joint 'joint2': child.*'lonk2'"),
        ('<parent link="base"/>', '<parent link="link2"/>', "base: .*form a loop|tip: "),
        ('<child link="link2"/>', '<child link="link1"/>', "link 'link1': expected one joint .*'joint1' and 'joint2'"),
        ('<link name="link2">', '<link name="link1">', "link 'link1': expected a name of its own"),
        ('name="joint1"', 'nome="joint1"', "joint: expected an attribute 'name'"),
        ('<sphere radius="0.05"/>', '<cone radius="0.05"/>', r"link 'base': collision\[0\]: .*<cone>"),
        ('<sphere radius="0.05"/>', "", r"link 'base': collision\[0\]: .*nothing"),
        ('<sphere radius="0.05"/>', '<sphere radius="0"/>', r"link 'base': collision\[0\]: sphere: radius"),
        ('<sphere radius="0.05"/>', '<box size="1 2"/>', r"link 'base': collision\[0\]: box"),
        ('<sphere radius="0.05"/>', '<mesh filename="no.stl"/>', r"link 'base': collision\[0\]: .*no 'no.stl'"),
        ('<sphere radius="0.05"/>', '<mesh filename="http://a/b.stl"/>', r"link 'base': collision\[0\]: .*http"),
        (
            '<sphere radius="0.05"/>',
            '<mesh filename="arm.urdf"/>',
            r"link 'base': collision\[0\]: path: .*\.stl, \.obj or \.ply",
        ),
        ("</robot>", EXTRA.format("eye", "fixed", ""), "tip: .*'eye', 'tip'|tip: .*'tip', 'eye'"),
        ("</robot>", "<a:b xmlns:a='http://wiki.ros.org/xacro'/></robot>", "xacro"),
        ("</robot>", "</robot>" + SPHERE, "expected XML"),
    ],
)
def test_urdf_files_that_are_refused(tmp_path: Path, old: str, new: str, word: str) -> None:
    assert old in ARM
    path = written(tmp_path, ARM.replace(old, new, 1), "arm.urdf")
    with pytest.raises(gg.DescriptionError, match=rf"(?s)arm\.urdf: .*({word})"):
        load_arm(path)


def test_links_that_are_asked_for_must_be_there(tmp_path: Path) -> None:
    path = written(tmp_path, ARM, "arm.urdf")
    with pytest.raises(gg.DescriptionError, match="base: .*'base', 'link1', 'link2', 'tip'.*did you mean 'link1'"):
        load_arm(path, base="lnk1")
    with pytest.raises(gg.DescriptionError, match="tip: .*'flange'"):
        load_arm(path, tip="flange")
    with pytest.raises(gg.DescriptionError, match="tip: expected a link that 'link2' carries"):
        load_arm(path, base="link2", tip="link1")
    with pytest.raises(gg.DescriptionError, match="tip: expected a link that moves against 'link2', got 'tip'"):
        load_arm(path, base="link2")
    with pytest.raises(gg.DescriptionError, match="joints: expected at most 14, got 15"):
        load_arm(written(tmp_path, urdf(random_parts(15, 0)), "long.urdf"))
    with pytest.raises(gg.ArgumentError, match=r"path: suffix: .*'\.urdf', '\.xml'.*'\.dae'"):
        load_arm(written(tmp_path, ARM, "arm.dae"))
    with pytest.raises(OSError):
        load_arm(tmp_path / "missing.urdf")
    with pytest.raises(gg.ArgumentError, match="path"):
        load_arm(3)  # type: ignore[arg-type]


def test_what_other_joints_move_is_left_out_with_a_warning(tmp_path: Path) -> None:
    finger = EXTRA.format("finger", "prismatic", SPHERE)
    with pytest.warns(gg.DescriptionWarning, match="left out: 'finger'"):
        one = load_arm(written(tmp_path, ARM.replace("</robot>", finger), "arm.urdf"), tip="tip")
    eye = EXTRA.format("eye", "fixed", SPHERE)
    two = load_arm(written(tmp_path, ARM.replace("</robot>", eye), "arm.urdf"), tip="tip")
    assert [len(link.capsules) for link in one.links] == [1, 1, 1]
    assert [len(link.capsules) for link in two.links] == [1, 2, 1], "what is fixed to a link is part of it"


@pytest.mark.parametrize(
    ("old", "new", "word"),
    [
        ("</mujoco>", "", "expected XML"),
        ("</mujoco>", "<sensr/></mujoco>", "MuJoCo refuses it: .*sensr"),
        ('name="joint1"', 'name="joint1" type="slide"', "joint 'joint1': expected a kind .*'slide'"),
        ('name="joint1"', 'name="joint1" type="ball"', "joint 'joint1': expected a kind .*'ball'|refuses"),
        ("</mujoco>", '<equality><joint joint1="joint2" joint2="joint1"/></equality></mujoco>', "it follows 'joint1'"),
        ("</mujoco>", '<equality><weld name="w" body1="link1" body2="tip"/></equality></mujoco>', "'w' closes a loop"),
        ('<body name="tip"', '<geom type="plane" size="1 1 1"/><body name="tip"', "plane"),
        ("<mujoco>", "<mujoco><!-- ", "expected XML"),
    ],
)
def test_mjcf_files_that_are_refused(tmp_path: Path, old: str, new: str, word: str) -> None:
    pytest.importorskip("mujoco")
    whole = mjcf([Part((0, 0, 0.2), (0.1, 0, 0)), Part((0, 0.1, 0.2), (1, 0, 0))])
    load_arm(written(tmp_path, whole, "arm.xml"), speed=1.0)
    assert old in whole
    path = written(tmp_path, whole.replace(old, new, 1), "arm.xml")
    with pytest.raises(gg.DescriptionError, match=rf"(?s)arm\.xml: .*({word})"):
        load_arm(path, speed=1.0)
    with pytest.raises(gg.DescriptionError, match=r"suffix \.urdf"):
        load_arm(written(tmp_path, ARM, "robot.xml"), speed=1.0)
