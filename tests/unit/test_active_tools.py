"""Tools that are taken out and put back: contacts, wrenches, cameras, envs, states."""

from __future__ import annotations

import numpy as np
import pytest

import granular_gym as gg
from testbed.beds import DENSITY, GRAVITY, RADIUS, mass

DT = 1e-3
WEIGHT = mass() * GRAVITY


def shelf(count: int = 9) -> gg.Scene:
    """Grains at rest on a shelf above the floor, seen from above."""
    scene = gg.Scene(((-0.1, -0.1, 0.0), (0.1, 0.1, 0.4)))
    sand = scene.add_material(density=DENSITY, friction=0.5, rolling_friction=0.1)
    places = [[3 * RADIUS * (k % 3 - 1), 3 * RADIUS * (k // 3 - 1), 0.1 + RADIUS] for k in range(count)]
    scene.add_grains(sand, np.reshape(places, (count, 3)), RADIUS)
    scene.add_tool(gg.Sdf.box((0.03, 0.03, 0.01)), name="far", pose=(0.0, 0.0, 0.3, 1, 0, 0, 0))
    scene.add_tool(gg.Sdf.box((0.05, 0.05, 0.01)), name="shelf", pose=(0.0, 0.0, 0.09, 1, 0, 0, 0))
    scene.add_camera(
        gg.DepthCamera.orthographic(height=8, width=8, extent=0.2, position=(0, 0, 0.4), target=(0, 0, 0), far=1.0),
        name="sky",
    )
    return scene


@pytest.mark.parametrize("tool", ["shelf", 1])
def test_taken_out_and_put_back(tool):
    """Per env: grains fall, the wrench is 0, and what comes back carries again."""
    with shelf().build(env_count=3, num_threads=1) as world:
        assert world.tools_active.all() and world.tools_active.shape == (3, 2)
        world.step(DT, 100)
        world.set_tool_active(tool, [False, True], envs=[2, 0])
        assert world.tools_active.tolist() == [[True, True], [True, True], [True, False]]
        world.step(DT, 100)
        fall = 0.1 + RADIUS - world.positions[:, :, 2]
        np.testing.assert_allclose(fall[:2], 0.0, atol=1e-3 * RADIUS)
        np.testing.assert_allclose(fall[2], 0.5 * GRAVITY * 0.1**2, rtol=0.02)
        np.testing.assert_allclose(world.wrenches[:2, 1, 2], -9 * WEIGHT, rtol=1e-3)
        assert not world.wrenches[2].any() and world.stats["tool_contact_count"].tolist() == [9, 9, 0]
        # below the grains again
        poses = world.tool_poses[2]
        poses[1, 2] = 0.02
        world.set_tool_poses(poses, envs=2)
        world.set_tool_active(tool, True, envs=2)
        world.step(DT, 500)
        world.step(DT)
        assert world.wrenches[2, 1, 2] == pytest.approx(-9 * WEIGHT, rel=1e-2)


def test_put_back_into_grains():
    """They are pushed out without being thrown, and the overlap is counted."""
    with shelf().build(num_threads=1) as world:
        world.set_tool_active("shelf", False)
        poses = world.tool_poses[0]
        poses[1, 2] += 0.6 * RADIUS
        world.set_tool_poses(poses)
        world.step(DT)
        assert world.stats["overlap_max"][0] == 0.0
        world.set_tool_active("shelf", True)
        world.step(DT)
        assert world.stats["overlap_max"][0] == pytest.approx(0.3, rel=0.01)
        world.step(DT, 300)
        assert world.stats["diverged"][0] == 0
        np.testing.assert_allclose(world.positions[0, :, 2], 0.1 + 1.6 * RADIUS, rtol=1e-3)
        assert np.abs(world.velocities).max() < 1e-3


def test_cameras_and_pictures_do_not_see_it():
    """Depth is that of a scene without the tool, in that env only; likewise a picture."""
    with shelf(0).build(env_count=2, num_threads=1) as world:
        before, drawn = world.depth("sky"), world.picture("sky", env=1)
        world.set_tool_active("shelf", False, envs=1)
        world.set_tool_active("far", False, envs=1)
        after = world.depth("sky")
        assert np.array_equal(before[0], after[0])
        np.testing.assert_allclose(after[1], 0.4, atol=1e-6)
        assert before[1].min() < 0.1
        assert not np.array_equal(world.picture("sky", env=1), drawn)
        world.set_tool_active(0, True)
        world.set_tool_active(1, True)
        assert np.array_equal(world.depth("sky"), before)


def test_it_moves_on_while_it_is_out():
    """Its pose follows its targets, its speed is no reason to look further for contacts."""
    with shelf().build(num_threads=1) as world:
        world.set_tool_active("far", False)
        target = world.tool_poses[0]
        target[0, 2] = -5.0
        world.step(DT, 10, tool_poses=target)
        assert world.tool_poses[0, 0, 2] == pytest.approx(-5.0)
        assert world.stats["fast_tool_count"][0] == 0 and not world.wrenches[0, 0].any()


def test_a_state_keeps_it():
    """Saved, loaded, branched and copied; the hash tells."""
    with shelf().build(env_count=2, num_threads=1) as world:
        same = world.state_hash(0)
        assert same == world.state_hash(1)
        world.set_tool_active("shelf", False, envs=1)
        assert world.state_hash(1) != same
        state = world.save_state(1)
        world.step(DT, 50)
        end = world.state_hash(1)
        world.load_state(state, envs=0)
        assert world.tools_active.tolist() == [[True, False], [True, False]]
        world.step(DT, 50)
        assert world.state_hash(0) == end != world.state_hash(1)
        with world.branch(2) as other:
            assert other.tools_active.tolist() == [[True, False]] * 2


def test_more_than_64_parts():
    """Those that are not sorted out slice by slice are left out likewise."""
    scene = gg.Scene(((-0.1, -0.1, 0.0), (0.1, 0.1, 0.4)))
    sand = scene.add_material(density=DENSITY)
    scene.add_grains(sand, [[0.0, 0.0, 0.1 + RADIUS]], RADIUS)
    away = gg.Sdf.union(*(gg.Sdf.sphere(0.01).at((5.0 + k, 0.0, 0.0)) for k in range(70)))
    scene.add_tool(away, name="away")
    scene.add_tool(gg.Sdf.box((0.05, 0.05, 0.01)), name="shelf", pose=(0.0, 0.0, 0.09, 1, 0, 0, 0))
    with scene.build(num_threads=1) as world:
        world.step(DT, 20)
        assert world.stats["tool_contact_count"][0] == 1
        world.set_tool_active("shelf", False)
        world.step(DT, 20)
        assert world.stats["tool_contact_count"][0] == 0


def test_planar():
    """The tools of planar grains too."""
    scene = gg.Scene(((-1.0, 0.0), (1.0, 2.0)))
    stone = scene.add_material(density=1000.0, shape=gg.Shape2D.octagon(0.1))
    scene.add_grains(stone, [[0.0, 1.0]])
    steel = scene.add_material(density=1000.0, name="steel")
    scene.add_tool(gg.Sdf.box((0.5, 0.1, 1.0)), name="shelf", material=steel, pose=(0.0, 0.8, 0.0, 1, 0, 0, 0))
    with scene.build(env_count=2, num_threads=1) as world:
        world.set_tool_active("shelf", False, envs=1)
        world.step(DT, 500)
        held, fell = world.positions[:, 0, 1]
        assert held > 0.95 and fell < 0.3 and not world.wrenches[1].any()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("gate", True), "^tool: expected a tool, 'far', 'shelf'"),
        ((2, True), "^tool: expected"),
        ((0, 1), "^active: expected True, False or 2 of them, got 1"),
        ((0, [True]), "^active: expected"),
        ((0, True, 5), "^envs: expected"),
    ],
)
def test_refused(arguments, message):
    with shelf().build(env_count=2, num_threads=1) as world, pytest.raises(gg.ArgumentError, match=message):
        world.set_tool_active(*arguments)


def test_overlaps_with_what_is_out_are_none():
    """Those with what is in are found."""
    with shelf().build(num_threads=1) as world:
        poses = world.tool_poses[0]
        poses[1, 2] += RADIUS
        world.set_tool_poses(poses)
        assert len(world.overlaps().pairs) == 9
        world.set_tool_active("shelf", False)
        assert len(world.overlaps().pairs) == 0
