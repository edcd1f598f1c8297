"""Continuous matter in depth images and pictures: a smooth surface."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import granular_gym as gg
from testbed.continuum import DOUGH

Image = NDArray[np.float32]

#: distance of particles [m]; half of it is from the outermost centres to the surface, GG_CONTINUUM_REACH
DISTANCE = 0.01
#: radius of a lone particle over that distance, GG_MATTER_LEAN
LONE = 0.5215
#: of the orthographic cameras [m]
PIXEL, AWAY = 0.001, 0.5


def scene_of(*boxes: tuple[Sequence[float], Sequence[float]], points: Any = None, sand: bool = False) -> gg.Scene:
    """Boxes of matter and particles at points, each of its own volume, with cameras from above and from the side."""
    scene = gg.Scene(((0, 0, 0), (0.2, 0.2, 0.2)))
    matter = gg.DruckerPrager(1e5, 0.3, 30.0) if sand else DOUGH
    made_of = scene.add_material(density=1000.0, friction=0.8, continuum=matter)
    for low, high in boxes:
        scene.add_continuum(made_of, low, high, spacing=2.0 * DISTANCE)
    if points is not None:
        scene.add_continuum(made_of, points=points, spacing=2.0 * DISTANCE)
    view = {"height": 200, "width": 200, "extent": 0.1, "near": 0.0, "far": 1.0}
    scene.add_camera(
        gg.DepthCamera.orthographic(position=(0.1, 0.1, AWAY), target=(0.1, 0.1, 0.0), up=(0.0, 1.0, 0.0), **view),
        name="top",
    )
    scene.add_camera(
        gg.DepthCamera.orthographic(position=(0.1, 0.1 - AWAY, 0.1), target=(0.1, 0.1, 0.1), **view), name="side"
    )
    return scene


def images_of(scene: gg.Scene) -> dict[str, Image]:
    with scene.build(num_threads=1) as world:
        return {name: world.depth(name)[0] for name in ("top", "side")}


@pytest.mark.parametrize("sand", [False, True], ids=["dough", "sand"])
def test_a_block_is_flat_where_its_faces_are(sand: bool) -> None:
    """Within a hundredth of the distance of particles; edges are round by half of it."""
    images = images_of(scene_of(((0.06, 0.06, 0.0), (0.14, 0.14, 0.08)), sand=sand))
    for name, face in (("top", AWAY - 0.08), ("side", AWAY - 0.04)):
        off = (images[name] - face) / DISTANCE
        rows = slice(80, 120) if name == "top" else slice(140, 180)
        assert np.abs(off[rows, 80:120]).max() < 0.01, name
    # the silhouette from above is that of the faces, the corners apart
    across = np.flatnonzero(images["top"][100] < AWAY - 0.01)
    assert (across.min(), across.max()) == (60, 139)
    edge = (images["top"][100, 60:80] - (AWAY - 0.08)) / DISTANCE
    assert edge[0] < 0.8 and (np.diff(edge) < 0.01).all() and np.abs(edge[12:]).max() < 0.01


def test_a_lone_particle_is_a_sphere() -> None:
    """Also far from others; its depths are those of that sphere."""
    middle = np.array([0.1, 0.1, 0.1])
    image = images_of(scene_of(((0.0, 0.0, 0.0), (0.02, 0.02, 0.02)), points=[middle]))["top"]
    y, x = (np.mgrid[:200, :200] + 0.5) * PIXEL
    off2 = (x - middle[0]) ** 2 + (y - middle[1]) ** 2
    radius = LONE * DISTANCE
    inside = off2 < (0.98 * radius) ** 2
    wanted = AWAY - middle[2] - np.sqrt(radius**2 - off2[inside])
    assert inside.sum() > 70 and np.abs(image[inside] - wanted).max() < 0.01 * DISTANCE
    beside = (off2 > (1.02 * radius) ** 2) & (off2 < (5.0 * radius) ** 2)
    assert np.abs(image[beside] - AWAY).max() < 1e-5


@pytest.mark.parametrize(("gap", "open_"), [(0.5, False), (1.5, True), (2.0, True), (3.0, True)])
def test_a_crack_is_open(gap: float, open_: bool) -> None:
    """Between two blocks, in units of the distance of particles."""
    half = 0.5 * gap * DISTANCE
    blocks = ((0.06, 0.06, 0.0), (0.1 - half, 0.14, 0.05)), ((0.1 + half, 0.06, 0.0), (0.14 + 2 * half, 0.14, 0.05))
    scene = scene_of(*blocks)
    middle = images_of(scene)["top"][70:130, 99:101]
    if open_:
        assert np.abs(middle - AWAY).max() < 1e-5, "the floor is seen"
    else:
        assert middle.max() < AWAY - 0.05 + 0.5 * DISTANCE


def test_thin_matter_is_seen() -> None:
    """A sheet of one layer, as thick as a particle's distance, without holes; a thread."""
    sheet = images_of(scene_of(((0.05, 0.05, 0.05), (0.15, 0.15, 0.06))))["top"][60:140, 60:140]
    assert np.abs((sheet - (AWAY - 0.06)) / DISTANCE).max() < 0.1
    thread = [(0.05 + k * DISTANCE, 0.1, 0.1) for k in range(11)]
    image = images_of(scene_of(((0.0, 0.0, 0.0), (0.02, 0.02, 0.02)), points=thread))["top"]
    assert np.abs((image[99:101, 50:150] - (AWAY - 0.1)) / DISTANCE + 0.5).max() < 0.1


def test_images_agree() -> None:
    """What a depth camera, `picture_depth` and the colours of a picture show of the same rays."""
    scene = scene_of(((0.06, 0.06, 0.0), (0.12, 0.14, 0.08)), points=[(0.15, 0.15, 0.05)])
    eye = gg.DepthCamera.perspective(
        height=60, width=80, fov=0.6, position=(0.4, -0.2, 0.3), target=(0.1, 0.1, 0.03), near=0.05, far=2.0
    )
    scene.add_camera(eye, name="eye")
    with scene.build(num_threads=1) as world:
        depth = world.depth("eye")[0]
        np.testing.assert_array_equal(world.picture_depth("eye", 0), depth)
        red = np.tile(np.array([255, 0, 0]), (world.grain_count, 1))
        picture = world.picture("eye", 0, grain_colors=red, samples=1).astype(int)
        matter = picture[..., 0] > picture[..., 1] + 30
        places = world.positions[0].copy()
        places[:, 2] += 50.0
        world.set_grains(positions=places)
        np.testing.assert_array_equal(matter, depth < world.depth("eye")[0])
        assert 200 < matter.sum() < 2000


def test_a_particle_far_away_changes_nothing_near() -> None:
    """Cells fold then; sums run in another order."""
    with scene_of(((0.06, 0.06, 0.0), (0.14, 0.14, 0.08)), points=[(0.15, 0.15, 0.15)]).build() as world:
        images = []
        for away in (1.0, 1e3, 1e8):
            places = world.positions[0].copy()
            places[-1] = away, -away, 0.5 * away
            world.set_grains(positions=places)
            images.append([world.depth(name)[0] for name in ("top", "side")])
    for other in images[1:]:
        assert np.abs(np.array(other) - np.array(images[0])).max() < 0.01 * DISTANCE


def test_a_camera_inside_looks_out() -> None:
    scene = scene_of(((0.06, 0.06, 0.02), (0.14, 0.14, 0.1)))
    scene.add_camera(
        gg.DepthCamera.perspective(
            height=12, width=12, fov=0.6, position=(0.1, 0.1, 0.06), target=(0.1, 0.1001, 0.0), near=0.01, far=1.0
        ),
        name="inside",
    )
    with scene.build() as world:
        assert np.abs(world.depth("inside")[0] - 0.06).max() < 1e-3, "the floor is seen"
