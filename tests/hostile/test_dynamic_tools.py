"""Bad input to tools with a mass is refused with a typed error that names it, and nothing changes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import granular_gym as gg
from granular_gym.engine.drives import Axis, Joint, joint_drive
from testbed.beds import DENSITY, RADIUS
from testbed.dynamic_tools import press, pressed


def scene(**tool: Any) -> gg.Scene:
    made = gg.Scene(((-1, -1, 0), (1, 1, 1)))
    made.add_grains(made.add_material(density=DENSITY), [[0.0, 0.0, 0.5]], RADIUS)
    made.add_tool(gg.Sdf.sphere(0.1), name="ball", pose=(0.5, 0.0, 0.5), **tool)
    return made


@pytest.mark.parametrize(
    ("tool", "message"),
    [
        ({"mass": 0.0}, "^mass: expected a finite number > 0"),
        ({"mass": -1.0}, "^mass: expected"),
        ({"mass": np.nan}, "^mass: expected"),
        ({"mass": "2"}, "^mass: expected a number"),
        ({"mass": 1.0, "free": "xw"}, '^free: expected axes of "xyz"'),
        ({"mass": 1.0, "free": "zz"}, "^free: expected"),
        ({"mass": 1.0, "free": ""}, "^free: expected"),
        ({"mass": 1.0, "free": 2}, "^free: expected"),
        ({"free": "z"}, "^mass: expected a mass along with free"),
        ({"travel": {"z": (0, 1)}}, "^mass: expected a mass along with free and travel"),
        ({"mass": 1.0, "travel": (0, 1)}, "^travel: expected a dict"),
        ({"mass": 1.0, "free": "z", "travel": {"x": (0, 1)}}, "^travel: axis: expected"),
        ({"mass": 1.0, "travel": {"z": (1, 0)}}, r'^travel\["z"\]: expected a lower end below'),
        ({"mass": 1.0, "travel": {"z": (0, np.nan)}}, r'^travel\["z"\]: expected'),
        ({"mass": 1.0, "travel": {"z": 3.0}}, r'^travel\["z"\]: expected'),
    ],
)
def test_a_scene_refuses(tool: dict[str, Any], message: str) -> None:
    with pytest.raises(gg.ArgumentError, match=message):
        scene(**tool)


@pytest.mark.parametrize(
    ("tool", "solver", "message"),
    [
        ({"mass": 1e-30}, {}, "^mass: expected a value in"),
        ({"mass": 1.0, "travel": {"z": (0.6, 0.9)}}, {}, "^travel: expected a range on z that holds the start, 0.5 m"),
        ({"mass": 1.0}, {"mode": "paper"}, "^mass: tools have none in mode paper"),
    ],
)
def test_a_world_refuses(tool: dict[str, Any], solver: dict[str, Any], message: str) -> None:
    with pytest.raises(gg.ArgumentError, match=message):
        scene(**tool).build(solver=gg.Solver(**solver))


def test_planar_scenes_refuse() -> None:
    plane = gg.Scene(((0, 0), (1, 1)))
    plane.add_material(density=1.0, shape=gg.Shape2D.octagon(0.1))
    with pytest.raises(gg.ArgumentError, match="^mass: tools of planar scenes have none"):
        plane.add_tool(gg.Sdf.sphere(0.1), mass=1.0)


@pytest.mark.parametrize("name", ["force", "velocity"])
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("ball", (0.0, 0.0)), "^{0}: expected shape"),
        (("ball", 3.0), "^{0}: expected shape"),
        (("ball", np.zeros((3, 3))), "^{0}: expected shape"),
        (("ball", (0.0, 0.0, np.inf)), "^{0}: expected finite"),
        (("ball", (0.0, "a", 0.0)), "^{0}: expected"),
        (("ball", (0.0, 0.0, 0.0), 7), "^envs: expected"),
        (("blade", (0.0, 0.0, 0.0)), "^tool: expected one with a mass"),
        (("bal", (0.0, 0.0, 0.0)), "^tool: expected a tool"),
        ((5, (0.0, 0.0, 0.0)), "^tool: expected"),
    ],
)
def test_setting_refuses(name: str, arguments: tuple[Any, ...], message: str) -> None:
    with pressed().build(env_count=2, device="cpu", num_threads=1) as world:
        before = world.state_hash(0)
        with pytest.raises(gg.ArgumentError, match=message.format(name)):
            getattr(world, f"set_tool_{name}")(*arguments)
        assert world.state_hash(0) == before
        with pytest.raises(gg.ArgumentError, match="^tool: expected one with a mass"):
            getattr(world, f"tool_{name}")("blade")


def test_targets_of_tools_with_a_mass() -> None:
    """The pose that it has, or NaN; anything else is refused, a part of NaN too, and nothing moves."""
    with pressed().build(env_count=2, device="cpu", num_threads=1) as world:
        press(world, 2)
        before, poses = world.state_hash(1), world.tool_poses
        for wrong in (poses[0, 1] + np.float32(1e-3), [np.nan, *poses[0, 1, 1:]]):
            asked = poses.copy()
            asked[1, 1] = wrong
            with pytest.raises(
                gg.ArgumentError, match="^tool_poses: expected NaN, or the pose that it has, for tool 1"
            ):
                world.step(1e-3, 1, tool_poses=asked)
        assert world.state_hash(1) == before
        world.step(1e-3, 1, tool_poses=poses)
        poses[:] = np.nan
        with pytest.raises(gg.ArgumentError, match="^tool_poses: .* for tool 0 of env 0"):
            world.step(1e-3, 1, tool_poses=poses)
        with pytest.raises(gg.ArgumentError, match="^poses: expected finite positions"):
            world.set_tool_poses(poses)


def test_drives_do_not_move_them() -> None:
    drive = joint_drive([Joint(0, 0.5, -0.2, 0.3)], [Axis(0, 0, "x")], np.array([[0.0, 0, 0, 1, 0, 0, 0]]), 0.1, 1)
    with (
        scene(mass=1.0).build(num_threads=1) as world,
        pytest.raises(gg.ArgumentError, match="^drive: expected a world"),
    ):
        world.set_drive(drive)


def test_a_state_of_other_masses_belongs_to_another_scene() -> None:
    """Mass, axes and travel are part of the scene."""
    with scene(mass=1.0).build() as world:
        state = world.save_state()
    for tool in ({}, {"mass": 2.0}, {"mass": 1.0, "free": "z"}, {"mass": 1.0, "travel": {"z": (0.2, 0.7)}}):
        with scene(**tool).build() as world, pytest.raises(gg.StateError, match="another scene"):
            world.load_state(state)


def test_scenes_without_them_keep_their_fingerprint() -> None:
    """Beds that were saved before there were tools with a mass are found."""
    plain, heavy = scene(), scene(mass=1.0)
    assert plain.fingerprint() != heavy.fingerprint()
    frozen = plain.freeze()
    assert "tool_mass" in frozen.arrays
    del frozen.arrays["tool_mass"], frozen.arrays["tool_free"]
    frozen.arrays["tool_mass"] = np.zeros((9, 7), np.float32)
    frozen.arrays["tool_free"] = np.zeros((9, 3), np.int32)
    assert frozen.digest() == plain.fingerprint()
