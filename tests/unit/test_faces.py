"""What tools, bodies and cameras make of periodic faces, as docs/tools.md says it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import granular_gym as gg

RADIUS = 0.02
BOX = gg.Sdf.box((0.05, 0.2, 0.05))


def scene_of(grains: Any, gravity: Any = None) -> gg.Scene:
    """Grains in a box of 1 m that is periodic sideways."""
    scene = gg.Scene(((0, 0, 0), (1, 1, 1)), gravity, boundary={"x": "periodic", "y": "periodic"})
    scene.add_material(density=2000.0, radius=RADIUS, rolling_friction=0.5)
    scene.add_grains(0, grains)
    return scene


@pytest.mark.parametrize(("places", "heights"), [((0.0,), (0.27, 0.02)), ((0.0, 1.0), (0.27, 0.27))])
def test_a_tool_across_a_face_is_met_where_it_is(places: Any, heights: Any) -> None:
    scene = scene_of([[0.02, 0.5, 0.3], [0.97, 0.5, 0.3]])
    for x in places:
        scene.add_tool(BOX, pose=(x, 0.5, 0.2))
    with scene.build(device="cpu", num_threads=1) as world:
        world.step(1e-3, 1000)
        assert world.positions[0, :, 2] == pytest.approx(heights, abs=1e-4)


def test_a_body_has_an_image_and_comes_back() -> None:
    scene = scene_of([[0.99, 0.5, 0.13]])
    body = scene.add_body(gg.Sdf.box((0.05, 0.05, 0.05)), mass=5.0, pose=(0.01, 0.5, 0.05))
    with scene.build(device="cpu", num_threads=1) as world:
        world.step(1e-3, 300)
        assert world.positions[0, 0, 2] == pytest.approx(0.12, abs=1e-4), "it lies on the image"
        pose = world.clump_poses[0]
        pose[:, 0] = [0.5, 0.95]
        motion = np.zeros((world.clump_count, 6))
        motion[body, 0] = 1.0
        world.set_gravity((0, 0, 0))
        world.set_clumps(pose, motion)
        world.step(1e-3, 100)
        assert world.clump_poses[0, body, 0] == pytest.approx(0.05, abs=1e-3)
        assert world.tool_poses[0, 0] == pytest.approx(world.clump_poses[0, body], abs=1e-6)


def test_a_tool_with_a_mass_does_not_come_back() -> None:
    scene = scene_of([[0.1, 0.5, 0.5]], (0, 0, 0))
    scene.add_tool(BOX, name="ram", pose=(0.9, 0.5, 0.5), mass=1.0)
    with scene.build(device="cpu", num_threads=1) as world:
        world.set_tool_velocity("ram", (1, 0, 0))
        world.step(1e-3, 500)
        assert world.tool_poses[0, 0, 0] == pytest.approx(1.4, abs=1e-3)
        assert world.positions[0, 0] == pytest.approx([0.1, 0.5, 0.5], abs=1e-6)


def test_a_camera_draws_no_image() -> None:
    scene = scene_of([[0.01, 0.5, 0.5]], (0, 0, 0))
    above: dict[str, Any] = {"position": (0.5, 0.5, 1.0), "target": (0.5, 0.5, 0.0), "up": (0.0, 1.0, 0.0)}
    scene.add_camera(gg.DepthCamera.orthographic(height=100, width=200, extent=0.5, far=1.0, **above))
    with scene.build(device="cpu", num_threads=1) as world:
        columns = np.flatnonzero((world.segmentation(0)[0] >= 0).any(axis=0))
        assert len(columns) == 4 and (np.abs(0.01 * (columns + 0.5) - 0.5 - 0.01) <= RADIUS).all()
