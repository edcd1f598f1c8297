"""Bodies with fields in scenes and worlds: what is seen, placed and read of them, and what is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import granular_gym as gg
from granular_gym.errors import ArgumentError, OverlapError

HALF = (0.03, 0.02, 0.01)
BOX = gg.Sdf.box(HALF)
POSE = (0.01, 0.02, 0.1, np.cos(0.2), 0.0, np.sin(0.2), 0.0)


def room(**bounds: Any) -> gg.Scene:
    """A box of .2 m without gravity, with a material."""
    scene = gg.Scene(((-0.1,) * 3, (0.1, 0.1, 0.2)), gravity=(0.0, 0.0, 0.0), **bounds)
    scene.add_material(density=1000.0, radius=0.004)
    return scene


@pytest.mark.parametrize(
    ("solid", "volume", "moments"),
    [
        (BOX, 4.8e-5, np.array([0.0005, 0.001, 0.0013]) / 3.0),
        (gg.Sdf.sphere(0.02), 4.0 / 3.0 * np.pi * 8e-6, np.full(3, 1.6e-4)),
        (gg.Sdf.cylinder(0.02, 0.03), np.pi * 2.4e-5, np.array([4e-4, 4e-4, 2e-4])),
        (gg.Sdf.box(HALF).at((0.1, 0.0, -0.2)), 4.8e-5, np.array([0.0005, 0.001, 0.0013]) / 3.0),
    ],
)
def test_mass_properties_of_fields(solid: gg.Sdf, volume: float, moments: np.ndarray) -> None:
    """Volume, centre of mass and moments over the volume, by the formulas of the shapes."""
    clump = gg.Clump.under_surface(solid, 60)
    assert clump.volume == pytest.approx(volume, rel=1e-3)
    np.testing.assert_allclose(np.diag(clump.inertia) / clump.volume, moments, rtol=2e-3)
    np.testing.assert_allclose(-clump.origin, solid.parts[0].pose[:3], atol=1e-9)


def test_spheres_lie_under_the_surface_and_in_the_corners() -> None:
    """They touch it from within; a box has one in each corner; a mesh has the mass properties of its faces."""
    clump = gg.Clump.under_surface(BOX, 100)
    radius = float(clump.radii[0])
    beyond = np.abs(clump.centers) + radius - np.array(HALF)
    np.testing.assert_allclose(beyond.max(axis=1), 0.0, atol=2e-3 * radius)
    assert np.sum((np.abs(beyond) < 1e-3 * radius).all(axis=1)) == 8
    corners = np.array(np.meshgrid(*[(-1, 1)] * 3, indexing="ij")).reshape(3, -1).T * HALF
    faces = [[0, 1, 3], [0, 3, 2], [4, 6, 7], [4, 7, 5], [0, 4, 5], [0, 5, 1], [2, 3, 7], [2, 7, 6], [0, 2, 6]]
    faces += [[0, 6, 4], [1, 5, 7], [1, 7, 3]]
    box = gg.Clump.under_surface(gg.Mesh(corners, faces), 100)
    assert box.volume == pytest.approx(4.8e-5, rel=1e-9)
    np.testing.assert_allclose(box.inertia, np.diag(np.diag(clump.inertia)), rtol=1e-4, atol=1e-12)


def test_a_body_is_seen_as_its_field() -> None:
    """Depths are those of a tool of the same shape, before and after it was placed elsewhere."""
    images = []
    for body in (True, False):
        scene = room()
        eye = gg.DepthCamera.perspective(height=40, width=50, fov=0.8, position=(0.1, -0.3, 0.3), target=(0, 0, 0.1))
        scene.add_camera(eye, name="eye")
        if body:
            scene.add_body(BOX, 0.1, name="box", spheres=20)
        else:
            scene.add_tool(BOX, name="box")
        with scene.build(num_threads=1) as world:
            images.append(world.depth("eye").copy())
            if body:
                world.set_clumps(np.array([POSE]))
                np.testing.assert_allclose(world.tool_poses[0, 0], POSE, atol=1e-7)
            else:
                world.set_tool_poses(np.float32([POSE]))
            images.append(world.depth("eye").copy())
    for image, other in ((0, 2), (1, 3)):
        np.testing.assert_allclose(images[image], images[other], atol=1e-6)
    assert np.abs(images[0] - images[1]).max() > 0.01


def test_a_field_has_the_frame_of_its_solid_whatever_its_principal_axes() -> None:
    """A union off its centre of mass, whose principal axes are turned: a probe sees it where the pose says."""
    union = gg.Sdf.union(gg.Sdf.box((0.03, 0.01, 0.01)), gg.Sdf.sphere(0.015).at((0.03, 0.02, 0.01)))
    clump = gg.Clump.under_surface(union, 40)
    assert np.abs(clump.principal[1][1:]).max() > 0.05
    images = []
    for body in (True, False):
        scene = room()
        sky = gg.DepthCamera.orthographic(height=60, width=60, extent=0.2, position=(0, 0, 0.5), target=(0,) * 3, far=1)
        scene.add_camera(sky, name="sky")
        if body:
            scene.add_body(union, 0.1, pose=POSE, spheres=40)
        else:
            scene.add_tool(union.at(clump.origin), pose=POSE)
        with scene.build(num_threads=1) as world:
            images.append(world.depth("sky").copy())
    np.testing.assert_allclose(images[0], images[1], atol=1e-6)


def test_what_a_field_cannot_be_is_refused() -> None:
    """Planes, too few spheres, names of tools, other modes, small periods, drives of its tool, a body in grains."""
    scene = room()
    scene.add_tool(BOX, name="blade")
    for call, words in (
        (lambda: scene.add_body(gg.Sdf.plane(), 1.0), "sdf: expected a solid with an end on all sides"),
        (lambda: scene.add_body(BOX, 1.0, spheres=2), "spheres: expected"),
        (lambda: scene.add_body(BOX, 1.0, name="blade"), "'blade' is taken by another tool"),
        (lambda: scene.add_body(gg.Sdf.box((0.1, 0.1, 1e-5)), 1.0), "spheres: expected"),
    ):
        with pytest.raises(ArgumentError, match=words):
            call()
    assert (len(scene.bodies), len(scene.tools)) == (0, 1)
    scene.add_body(BOX, 0.1, pose=POSE, spheres=20)
    bell = gg.Bell(sliding=1.0, stiffness=1e4, damping=1.0)
    with pytest.raises(ArgumentError, match="bodies with surfaces have gauss_seidel alone"):
        scene.build(solver=gg.Solver(mode="bell", bell=bell))
    around = room(boundary={"x": "periodic"})
    around.add_body(gg.Sdf.sphere(0.06), 0.1, spheres=20)
    with pytest.raises(ArgumentError, match="a radius below a quarter of the period"):
        around.build()
    with scene.build(num_threads=1) as world:
        moved = world.tool_poses.copy()
        moved[0, 1, 0] += 0.01
        with pytest.raises(ArgumentError, match="which goes with a body: set_clumps places it"):
            world.set_tool_poses(moved)
        with pytest.raises(ArgumentError, match="forces, a body or another engine move"):
            world.step(1e-3, 1, moved)
        with pytest.raises(ArgumentError, match="tool 1 goes with a body: set_clumps and set_clump_wrenches move it"):
            world.set_tool_force(1, (0.0, 0.0, 1.0))
        moved[0, 1] = np.nan
        world.step(1e-3, 1, moved)
        world.set_tool_poses(moved)
        np.testing.assert_allclose(world.tool_poses[0, 1], POSE, atol=1e-7)
    scene.add_grains(0, [POSE[:3]])
    with pytest.raises(OverlapError, match="body0"):
        scene.build()
