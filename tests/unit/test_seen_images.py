"""Segmentations and colour images: whose surface a pixel sees, which is the one whose depth it has."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np
import pytest

import granular_gym as gg
from testbed import planar as planar_scenes
from testbed.continuum import EYES, shown

NOTHING, FLOOR = -1, -2
BALL, BAR = -3, -4
PLACES = np.array([[0.06 * (k % 5 - 2), 0.06 * (k // 5 - 2), 0.03 + 0.004 * (k % 3)] for k in range(25)], np.float32)
RADII = np.float32(0.02) + np.float32(0.004) * (np.arange(25) % 4).astype(np.float32)
LEVEL: dict[str, Any] = {"position": (0.0, -0.5, 0.5), "target": (0.0, 0.0, 0.5)}
ABOVE: dict[str, Any] = {"position": (0.0, 0.0, 0.5), "target": (0.0, 0.0, 0.0), "up": (0.0, 1.0, 0.0)}


def few_grains() -> gg.Scene:
    """Grains of several sizes on a floor, a ball over them and a bar beside them."""
    scene = gg.Scene(((-0.2, -0.2, 0.0), (0.2, 0.2, 0.5)))
    sand = scene.add_material(density=1500.0)
    scene.add_grains(sand, PLACES, RADII)
    scene.add_tool(gg.Sdf.sphere(0.03), name="ball", pose=(0.06, 0.0, 0.2))
    scene.add_tool(gg.Sdf.box((0.02, 0.18, 0.01)), name="bar", pose=(-0.18, 0.0, 0.1))
    scene.add_camera(gg.DepthCamera.orthographic(height=100, width=120, extent=0.2, far=1.0, **ABOVE), name="sky")
    scene.add_camera(gg.DepthCamera.orthographic(height=20, width=20, extent=0.2, far=0.5, **ABOVE), name="short")
    aside: dict[str, Any] = {"position": (0.4, -0.3, 0.1), "target": (0.0, 0.0, 0.1), "far": 3.0}
    scene.add_camera(gg.DepthCamera.perspective(height=60, width=80, fov=0.9, **aside), name="side")
    return scene


@pytest.fixture
def world() -> Any:
    with few_grains().build(env_count=2, num_threads=1, overlaps="ignore") as made:
        yield made


def test_ids_are_those_of_the_depths(world: gg.World) -> None:
    """Every pixel of the orthographic image against all spheres, in double precision."""
    depth, seen = world.depth("sky")[0], world.segmentation("sky")[0]
    assert seen.dtype == np.int32 and seen.shape == depth.shape
    assert {FLOOR, BALL, BAR, *range(25)} - {11, 12, 13} <= set(np.unique(seen).tolist())
    pixel = 2 * 0.2 / 100
    x = ((np.arange(120) + 0.5) - 60) * pixel
    y = -((np.arange(100) + 0.5) - 50) * pixel
    across = (x[None, :, None] - PLACES[:, 0]) ** 2 + (y[:, None, None] - PLACES[:, 1]) ** 2
    under = RADII.astype(float) ** 2 - across
    height = np.where(under > 0, PLACES[:, 2] + np.sqrt(np.maximum(under, 0.0)), -1.0)
    grain = seen >= 0
    assert grain.sum() > 1000
    own = np.take_along_axis(height, np.maximum(seen, 0)[:, :, None].astype(np.int64), axis=2)[:, :, 0]
    np.testing.assert_allclose(0.5 - depth[grain], own[grain], atol=2e-5)
    assert (own[grain] >= height.max(axis=2)[grain] - 2e-5).all()
    np.testing.assert_allclose(depth[seen == FLOOR], 0.5, atol=1e-6)
    assert (height.max(axis=2)[seen == FLOOR] < 2e-3).all()


def test_what_reads_far_is_nothing(world: gg.World) -> None:
    depth, seen = world.depth("side"), world.segmentation("side")
    np.testing.assert_array_equal(seen == NOTHING, depth == 3.0)
    assert (seen == NOTHING).any()
    # the floor lies at the end of this camera's range
    assert (world.segmentation("short") != FLOOR).all() and (world.segmentation("short") == NOTHING).any()


def test_a_grain_takes_its_pixels_along(world: gg.World) -> None:
    """In one env alone; depths are the same whether ids are kept or not, and whichever is read first."""
    depth, before = world.depth("sky"), world.segmentation("sky")
    places = world.positions[1:].copy()
    places[0, 0] += np.float32((0.0, 0.1, 0.2))
    world.set_grains(positions=places, envs=[1])
    after = world.segmentation("sky")
    np.testing.assert_array_equal(before[0], after[0])
    moved = np.argwhere(after[1] == 0).mean(axis=0) - np.argwhere(before[1] == 0).mean(axis=0)
    np.testing.assert_allclose(moved, (-0.1 / 0.004, 0.0), atol=0.6)
    with few_grains().build(env_count=2, num_threads=1, overlaps="ignore") as other:
        other.set_grains(positions=places, envs=[1])
        np.testing.assert_array_equal(other.depth("sky"), world.depth("sky"))
    np.testing.assert_array_equal(world.depth("sky")[0], depth[0])


def test_tools_that_are_out_are_not_seen(world: gg.World) -> None:
    assert (world.segmentation("sky") == BALL).any()
    world.set_tool_active("ball", False)
    assert not (world.segmentation("sky") == BALL).any() and (world.segmentation("sky") == BAR).any()


def test_one_drawing_gives_all(world: gg.World) -> None:
    """Once segmentations are read after depths, a depth brings its segmentation along."""
    drawn = []
    for read in ((), ("segmentation", "color"), ("segmentation", "color"), (), ()):
        world.set_grains(positions=world.positions)
        before = world.info["drawn"]
        world.depth("sky")
        for name in read:
            getattr(world, name)("sky")
        drawn.append((world.info["drawn"] - before) // 2)
    assert drawn == [1, 2, 1, 1, 1]


def test_colours(world: gg.World) -> None:
    """Flat faces towards the light show their paint, faces away from it the ambient share, misses the background."""
    red, blue = (200, 30, 20), (20, 40, 220)
    colors = np.full((25, 3), 90)
    world.paint(grain_colors=colors, tool_colors=[red, blue], background=(1, 2, 3), light=(0, 0, 2), ambient=0.25)
    seen, rgb = world.segmentation("sky"), world.color("sky")
    assert rgb.dtype == np.uint8 and rgb.shape == (*seen.shape, 3)
    # a cubic stands for the curve of sRGB: dark colours are off by up to 5
    assert np.abs(rgb[seen == BAR].astype(int) - blue).max() <= 5
    middle = rgb[0, 50, int(60 + 0.06 / 0.004)].astype(int)
    assert seen[0, 50, int(60 + 0.06 / 0.004)] == BALL and np.abs(middle - red).max() <= 5
    # matt: the red of the ball falls with the cosine, from its middle to its rim
    ball = rgb[0, 50][seen[0, 50] == BALL][:, 0].astype(int)
    assert (np.diff(ball[: len(ball) // 2]) >= 0).all() and ball.min() < 0.85 * ball.max()
    assert (rgb[seen >= 0][:, 0] <= 92).all() and (rgb[seen >= 0][:, 0] >= 40).all()
    world.paint(grain_colors=colors, light=(0, 0, -1), ambient=0.0, background=(1, 2, 3))
    np.testing.assert_array_equal(world.color("sky")[seen != NOTHING], 0)
    side = world.segmentation("side")
    np.testing.assert_array_equal(
        world.color("side")[side == NOTHING], np.broadcast_to((1, 2, 3), (np.sum(side == -1), 3))
    )


def test_classes_are_those_of_codes(world: gg.World) -> None:
    """In a byte; where `far` is the floor, what reads it is the floor in the light."""
    table = {NOTHING: 0, FLOOR: 1, BALL: 3, BAR: 4}
    for camera in ("sky", "side", "short"):
        codes, classes = world.segmentation(camera), world.segmentation(camera, dtype="uint8")
        assert classes.dtype == np.uint8
        np.testing.assert_array_equal(classes, np.vectorize(lambda code: table.get(code, 2))(codes))
    at_end = world.depth("short") == 0.5
    assert at_end.any() and (world.segmentation("short", far_is_floor=True)[at_end] == FLOOR).all()
    assert (world.segmentation("short", dtype="uint8", far_is_floor=True)[at_end] == 1).all()
    floor = world.color("sky")[world.segmentation("sky") == FLOOR]
    np.testing.assert_array_equal(world.color("short", far_is_floor=True)[at_end], floor[: at_end.sum()])
    for one, other in (
        (world.color("short"), world.color("short", far_is_floor=True)),
        (world.segmentation("short"), world.segmentation("short", far_is_floor=True)),
    ):
        np.testing.assert_array_equal(one[~at_end], other[~at_end])
        assert (one[at_end] != other[at_end]).any()


def test_envs_have_colours_of_their_own(world: gg.World) -> None:
    """Each what it would have alone; the array that was given may change afterwards."""
    draw = np.random.default_rng(0)
    own = draw.integers(0, 256, (2, 25, 3)).astype(np.uint8)
    alone = []
    for env in range(2):
        world.paint(grain_colors=own[env])
        alone.append(world.color("sky")[env])
    world.paint(grain_colors=own)
    own[:] = 0
    np.testing.assert_array_equal(world.color("sky"), alone)
    np.testing.assert_array_equal(world.color("sky", channels_first=True), np.moveaxis(alone, -1, 1))
    assert (alone[0] != alone[1]).any()


def test_copies_pickles_and_branches_keep_the_paint(world: gg.World) -> None:
    own = np.random.default_rng(1).integers(0, 256, (2, 25, 3))
    plain = world.color("side")
    for grain_colors in (own[0], own):
        world.paint(
            grain_colors=grain_colors, tool_colors=[(1, 200, 3), (4, 5, 200)], background=(9, 8, 7), ambient=0.5
        )
        seen = world.color("side")
        assert (seen != plain).any()
        with copy.deepcopy(world) as one, pickle.loads(pickle.dumps(world)) as other, world.branch(3) as branch:
            np.testing.assert_array_equal(one.color("side"), seen)
            np.testing.assert_array_equal(other.color("side"), seen)
            np.testing.assert_array_equal(branch.color("side"), seen[[0, 0, 0]])


def test_a_byte_has_room_for_253_tools() -> None:
    for count in (253, 254):
        scene = gg.Scene(((-1, -1, 0), (1, 1, 1)))
        scene.add_material(density=1000.0, radius=0.1)
        scene.add_grains(0, [(0.0, 0.0, 0.1)])
        for height in [0.3] * (count - 1) + [0.35]:
            scene.add_tool(gg.Sdf.sphere(0.1), pose=(0.0, 0.0, height))
        scene.add_camera(gg.DepthCamera.orthographic(height=4, width=4, extent=0.1, far=1.0, **ABOVE), name="sky")
        with scene.build(num_threads=1) as made:
            if count == 254:
                with pytest.raises(gg.ArgumentError, match="^dtype: expected int32 where there are more than 253"):
                    made.segmentation("sky", dtype="uint8")
            else:
                assert made.segmentation("sky", dtype="uint8").max() == 255


def test_default_colours_tell_grains_from_tools(world: gg.World) -> None:
    seen, rgb = world.segmentation("side"), world.color("side").astype(int)
    for code in (BALL, FLOOR, NOTHING):
        assert np.abs(rgb[seen == code].mean(axis=0) - rgb[seen >= 0].mean(axis=0)).max() > 30


@pytest.mark.parametrize("threads", [1, 2])
def test_threads_do_not_matter(world: gg.World, threads: int) -> None:
    with few_grains().build(env_count=2, num_threads=threads, overlaps="ignore") as other:
        np.testing.assert_array_equal(other.color("side"), world.color("side"))
        np.testing.assert_array_equal(other.segmentation("side"), world.segmentation("side"))


def test_matter_reads_the_nearest_particle() -> None:
    with shown().build(env_count=1, num_threads=1) as world:
        name = next(iter(EYES))
        depth, seen, rgb = world.depth(name)[0], world.segmentation(name)[0], world.color(name)[0]
        assert (seen >= 0).sum() > 100 and {BALL, BAR} & set(np.unique(seen).tolist())
        np.testing.assert_array_equal(seen == NOTHING, depth == EYES[name].far)
        # colours do not depend on what was drawn in between
        world.picture(name)
        np.testing.assert_array_equal(world.color(name)[0], rgb)
        eye = EYES[name]
        rows, columns = np.nonzero(seen >= 0)
        pixel = 2.0 * eye.extent / eye.height
        x, y = (columns + 0.5 - eye.width / 2) * pixel, (rows + 0.5 - eye.height / 2) * pixel
        t = depth[rows, columns].astype(float)
        local = np.stack([x * t, y * t, t], 1) if eye.kind == "perspective" else np.stack([x, y, t], 1)
        points = _turned(eye.pose[3:], local) + np.array(eye.pose[:3])
        scaled = np.linalg.norm(points[:, None] - world.positions[0], axis=2) / world.radii[0]
        own = scaled[np.arange(len(points)), seen[rows, columns]]
        np.testing.assert_allclose(own, scaled.min(axis=1), rtol=1e-3)


def test_planar_grains() -> None:
    """Seen from the front each outline is its own, with a face towards the camera; edges look up and down."""
    shape = gg.Shape2D.octagon(0.1)
    scene = gg.Scene(bounds=((0, 0), (1, 1)))
    scene.add_material(density=1000.0, shape=shape)
    scene.set_pair_field(gg.PairField.build(shape, shape, **planar_scenes.COARSE))
    scene.add_grains(0, [(0.3, 0.5), (0.7, 0.5)], angles=[0.0, 0.4])
    front: dict[str, Any] = {"position": (0.5, 0.5, 2.0), "target": (0.5, 0.5, 0.0), "up": (0.0, 1.0, 0.0), "far": 4.0}
    scene.add_camera(gg.DepthCamera.orthographic(height=40, width=40, extent=0.5, **front), name="front")
    with scene.build(num_threads=1) as world:
        world.paint(grain_colors=[(90, 10, 10), (10, 90, 10)], light=(0, 0, 1), background=(0, 0, 0))
        seen, rgb = world.segmentation("front")[0], world.color("front")[0].astype(int)
        assert (seen[20, 12], seen[20, 28]) == (0, 1)
        for grain, color in enumerate(((90, 10, 10), (10, 90, 10))):
            assert (seen == grain).sum() > 20 and np.abs(rgb[seen == grain] - color).max() <= 5


def test_spheres_of_clumps_read_their_ids() -> None:
    """And the field of a body that is met as it is reads as the tool that it is."""
    scene = gg.Scene(((-1, -1, 0), (1, 1, 1)))
    scene.add_material(density=1000.0, shape=gg.Clump([(-0.1, 0, 0), (0.1, 0, 0)], [0.12, 0.12]))
    ids = scene.add_grains(0, [(-0.4, 0.0, 0.3)])
    plain = scene.add_material(density=1000.0)
    scene.add_body(
        gg.Sdf.box((0.1, 0.1, 0.1)), mass=1.0, material=plain, pose=(0.5, 0.0, 0.5, 1.0, 0.0, 0.0, 0.0), name="crate"
    )
    scene.add_camera(gg.DepthCamera.orthographic(height=50, width=100, extent=0.5, far=1.0, **LEVEL), name="front")
    with scene.build(num_threads=1) as world:
        seen = world.segmentation("front")[0]
        assert set(np.unique(seen).tolist()) == {*ids, NOTHING, -3}
        assert world.tool_names[0] == "crate"
        assert np.argwhere(seen == ids[0])[:, 1].mean() < np.argwhere(seen == ids[1])[:, 1].mean()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda w: w.segmentation("moon"), "camera"),
        (lambda w: w.color("sky", "paper"), "output"),
        (lambda w: w.paint(grain_colors=np.zeros((3, 3), int)), "grain_colors"),
        (lambda w: w.paint(grain_colors=np.zeros((3, 25, 3), int)), "grain_colors"),
        (lambda w: w.paint(grain_colors=np.full((2, 25, 3), -1)), "grain_colors"),
        (lambda w: w.paint(grain_colors=[[(1, 2, 3)], [(1, 2)]]), "grain_colors"),
        (lambda w: w.segmentation("sky", dtype="int64"), "dtype"),
        (lambda w: w.segmentation("sky", far_is_floor=2), "far_is_floor"),
        (lambda w: w.color("sky", far_is_floor=None), "far_is_floor"),
        (lambda w: w.color("sky", channels_first="yes"), "channels_first"),
        (lambda w: w.paint(tool_colors=[(0, 0, 256), (0, 0, 0)]), "tool_colors"),
        (lambda w: w.paint(background=(1, 2)), "background"),
        (lambda w: w.paint(light=(0, 0, 0)), "light"),
        (lambda w: w.paint(ambient=1.5), "ambient"),
    ],
)
def test_bad_arguments(world: gg.World, call: Any, message: str) -> None:
    with pytest.raises(gg.ArgumentError, match=f"^{message}"):
        call(world)


def _turned(quaternion: Any, points: Any) -> Any:
    w, *v = quaternion
    turn = np.array(v)
    return points + 2.0 * np.cross(turn, np.cross(turn, points) + w * points)
