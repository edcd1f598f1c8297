"""Points of depth images lie where the grains and tools are, in the frame asked for, on the host and as tensors."""

from __future__ import annotations

import importlib.util
from typing import Any

import numpy as np
import pytest

import granular_gym as gg
from granular_gym.base import rotations
from granular_gym.errors import ArgumentError

RADIUS = 0.2
CENTER = np.array([0.3, -0.2, 0.5])
HALF = (0.1, 0.2, 0.05)


@pytest.fixture
def world() -> Any:
    """A ball and a turned box that carries a camera, two envs, seen aslant."""
    scene = gg.Scene(bounds=((-2, -2, 0), (2, 2, 2)), gravity=(0.0, 0.0, 0.0))
    sand = scene.add_material(radius=RADIUS, density=1000.0)
    scene.add_grains(sand, positions=CENTER[None])
    turn = (np.cos(0.3), 0.0, 0.0, np.sin(0.3))
    scene.add_tool(gg.Sdf.box(HALF), name="box", material=sand, pose=(-0.9, 0.4, 0.9, *turn))
    aslant = {"height": 24, "width": 40, "position": (0.4, -1.8, 1.4), "target": (0.0, 0.0, 0.4)}
    scene.add_camera(gg.DepthCamera.perspective(fov=1.1, **aslant), name="pinhole")
    scene.add_camera(gg.DepthCamera.orthographic(extent=1.0, **aslant), name="parallel")
    down = gg.DepthCamera.perspective(height=9, width=9, position=(0.0, 0.0, -0.1), target=(0.0, 0.0, -1.0), far=3.0)
    scene.add_camera(down, name="riding", tool="box")
    with scene.build(env_count=2) as built:
        built.set_grains(positions=CENTER[None] + [[0.0, 0.3, 0.1]], envs=[1])
        yield built


@pytest.mark.parametrize("camera", ["pinhole", "parallel"])
def test_points_lie_on_what_is_seen(world: Any, camera: str) -> None:
    points, seen = world.point_cloud(camera)
    assert points.shape == (2, 24 * 40, 3) and seen.shape == (2, 24 * 40)
    assert points.dtype == np.float32 and seen.dtype == bool
    for env in range(2):
        there = points[env][seen[env]].astype(np.float64)
        ball = np.abs(np.linalg.norm(there - world.positions[env, 0], axis=1) - RADIUS)
        pose = world.tool_poses[env, 0].astype(np.float64)
        inside = np.abs(rotations.rotate(pose[3:] * [1, -1, -1, -1], there - pose[:3])) - HALF
        box, floor = np.abs(inside.max(axis=1)), np.abs(there[:, 2])
        assert np.minimum(np.minimum(ball, box), floor).max() < 2e-3
        assert (ball < 2e-3).sum() > 5 and (box < 2e-3).sum() > 3 and (floor < 2e-3).sum() > 100


def test_the_frame_of_the_camera(world: Any) -> None:
    points = world.point_cloud("pinhole", frame="camera").points.reshape(2, 24, 40, 3)
    assert np.array_equal(points[..., 2], world.depth("pinhole"))
    # +x to the right, +y down
    assert (points[:, :, 0, 0] < 0).all() and (points[:, :, -1, 0] > 0).all()
    assert (points[:, 0, :, 1] < 0).all() and (points[:, -1, :, 1] > 0).all()


def test_a_camera_that_rides_on_a_tool(world: Any) -> None:
    poses = world.tool_poses
    poses[1, 0, :3] += [0.5, 0.1, 0.2]
    world.set_tool_poses(poses)
    points, seen = world.point_cloud("riding")
    assert seen.all() and np.abs(points[..., 2]).max() < 2e-3  # the floor, from both places
    middle = points.reshape(2, 81, 3)[:, 40]
    assert np.abs(middle[:, :2] - poses[:, 0, :2]).max() < 2e-3
    camera = world._frozen.cameras["riding"].camera
    assert np.array_equal(points, gg.points_of(world.depth("riding"), camera, poses[:, 0]))


def test_misses_lie_at_far_and_are_not_seen() -> None:
    camera = gg.DepthCamera.perspective(height=2, width=3, position=(0, 0, 0), target=(1, 0, 0), far=5.0)
    points = gg.points_of(np.full((2, 3), 5.0), camera)
    assert points.shape == (6, 3) and np.allclose(points[:, 0], 5.0)


@pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="torch is not installed")
def test_tensors_hold_the_same_bits(world: Any) -> None:
    import torch

    for camera in ("pinhole", "parallel", "riding"):
        ours, theirs = world.point_cloud(camera), world.point_cloud(camera, "torch")
        assert all(isinstance(each, torch.Tensor) for each in theirs)
        assert all(np.array_equal(one, two.cpu().numpy()) for one, two in zip(ours, theirs, strict=True))


def test_refusals(world: Any) -> None:
    camera = world._frozen.cameras["pinhole"].camera
    with pytest.raises(ArgumentError, match=r"^camera: expected"):
        world.point_cloud("nobody")
    with pytest.raises(ArgumentError, match=r"^frame: expected"):
        world.point_cloud("pinhole", frame="tool")
    with pytest.raises(ArgumentError, match=r"^output: expected"):
        world.point_cloud("pinhole", "device")
    with pytest.raises(ArgumentError, match=r"^depth: expected images of 24 x 40 pixels, got shape \(40, 24\)"):
        gg.points_of(np.zeros((40, 24)), camera)
    with pytest.raises(ArgumentError, match=r"^depth"):
        gg.points_of("nothing", camera)
    with pytest.raises(ArgumentError, match="^depth: expected metres, got uint8"):
        gg.points_of(world.depth("pinhole", dtype="uint8"), camera)
    with pytest.raises(ArgumentError, match=r"^pose: expected one for each image"):
        gg.points_of(np.zeros((3, 24, 40)), camera, np.tile([0, 0, 0, 1.0, 0, 0, 0], (2, 1)))
    with pytest.raises(ArgumentError, match=r"^camera: expected"):
        gg.points_of(np.zeros((24, 40)), "pinhole")  # type: ignore[arg-type]
