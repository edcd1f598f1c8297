"""What a step is read for, in one call: the values of the readers that it stands for."""

from __future__ import annotations

import numpy as np
import pytest

import granular_gym as gg
from granular_gym.engine.results import turned_boxes

LOWER, UPPER = (-0.5, -0.5, 0.0), (0.5, 0.5, 1.0)


CUDA = gg.info()["devices"]["cuda"]
needs_gpu = pytest.mark.skipif(not CUDA["available"], reason=f"no cuda: {CUDA['reason']}")


@pytest.fixture(params=["cpu", pytest.param("cuda", marks=needs_gpu)])
def world(request):
    scene = gg.Scene(bounds=(LOWER, UPPER))
    sand = scene.add_material(radius=0.05, density=1500.0, friction=0.4, name="sand")
    rng = np.random.default_rng(0)
    scene.add_grains(sand, rng.uniform((-0.4, -0.4, 0.1), (0.4, 0.4, 0.9), (40, 3)))
    scene.add_tool(gg.Sdf.box((0.1, 0.1, 0.1)), name="block", pose=(0.0, 0.0, 0.2))
    for name, height in (("sky", 1.0), ("low", 0.5)):
        camera = gg.DepthCamera.orthographic(
            height=6, width=8, extent=0.5, position=(0, 0, height), target=(0, 0, 0), up=(0, 1, 0), near=0.0, far=height
        )
        scene.add_camera(camera, name=name)
    with scene.build(env_count=3, device=request.param, overlaps="ignore") as made:
        made.step(1e-3, 20, tool_poses=np.array([[[0.01 * k, 0, 0.2, 1, 0, 0, 0]] for k in range(3)]))
        yield made


def same(one, other):
    return type(one) is type(other) and one.dtype == other.dtype and np.array_equal(one, other)


def test_results_are_those_of_the_readers(world):
    rng = np.random.default_rng(1)
    corners = np.sort(rng.uniform(-0.4, 0.8, (2, 3, 4, 3)).astype(np.float32), axis=0)
    poses = np.zeros((3, 2, 7), np.float32)
    poses[..., 2:5] = 0.4, 0.6, 0.8
    halves = np.full((2, 3), 0.2, np.float32)
    grid, plan = (LOWER, UPPER, (2, 3, 4)), (LOWER[:2], UPPER[:2], (5, 2))
    labels = rng.integers(0, 2, (3, 40)).astype(np.uint8)
    fresh = np.array([False, True, False])
    request = world.request(images=(("sky", (0.1, 0.9), "uint8"), (1,)), cells=grid, columns=plan, wrenches=True)
    for _ in range(2):  # a request is used again
        read = world.results(
            request,
            boxes=np.ascontiguousarray(np.concatenate(corners, axis=-1)),
            turned_boxes=turned_boxes(poses, halves, 3),
            labels=labels,
            fresh=fresh,
        )
        counts, distances = world.box_stats(*corners)
        assert same(read.box_counts, counts) and same(read.box_distances, distances)
        assert same(read.turned_box_counts, world.count_boxes(poses, halves))
        assert same(read.cell_counts, world.count_cells(*grid, labels=labels.astype(bool)))
        assert same(read.column_counts, world.count_columns(*plan))
        assert same(read.wrenches, world.wrenches) and read.wrenches.any()
        counters = world.counters(fresh)
        assert counters.keys() == read.counters.keys() and all(
            same(read.counters[key], counters[key]) for key in counters
        )
        assert read.fast_tool_count.dtype == np.int64 and not read.fast_tool_count.any()
        first, second = read.images
        assert same(first, world.depth("sky", limits=(0.1, 0.9), dtype="uint8")) and same(second, world.depth("low"))


def test_what_is_not_asked_for_is_not_read(world):
    read = world.results(world.request())
    assert read[:6] == (None,) * 6 and read.images == () and set(read.counters) == set(world.counters())
    request = world.request(images=(("sky",),))
    assert world.results(request, images=False).images == ()
    assert len(world.results(request).images) == 1
    assert world.results(world.request(cells=(LOWER, UPPER, (1, 1, 1)))).cell_counts.tolist() == [[[[40]]]] * 3


def test_results_are_fresh(world):
    request = world.request(images=(("sky",),), wrenches=True)
    before = world.results(request)
    copies = before.wrenches.copy(), before.images[0].copy()
    world.step(1e-3, 50)
    after = world.results(request)
    assert np.array_equal(before.wrenches, copies[0]) and np.array_equal(before.images[0], copies[1])
    assert not np.array_equal(after.wrenches, copies[0])


@needs_gpu
@pytest.mark.parametrize("world", ["cuda"], indirect=True)
def test_a_gpu_is_waited_for_once(world):
    corners = np.array([(*LOWER, *UPPER), (0, 0, 0, 0.2, 0.2, 0.2)], np.float32)
    boxes, turned = np.tile(corners, (3, 1, 1)), turned_boxes(np.tile([0, 0, 0.5, 1, 0, 0, 0], (1, 1)), [[0.3] * 3], 3)
    plan = LOWER[:2], UPPER[:2], (5, 2)
    request = world.request(
        images=(("sky",), ("low", None, "uint8")), cells=(LOWER, UPPER, (2, 2, 2)), columns=plan, wrenches=True
    )
    read = {}
    for output in ("numpy", "device"):
        world.step(1e-3, 1)
        before = world.info["waits"]
        read[output] = world.results(request, boxes=boxes, turned_boxes=turned, output=output)
        assert world.info["waits"] == before + 1
        sky, low = read[output].images
        assert same(np.asarray(sky), world.depth("sky")) and same(np.asarray(low), world.depth("low", dtype="uint8"))
        assert same(read[output].wrenches, world.wrenches)
        assert same(read[output].turned_box_counts, world.count_boxes([[0, 0, 0.5, 1, 0, 0, 0]], [[0.3] * 3]))
    assert isinstance(read["device"].images[0], gg.DeviceArray) and read["numpy"].box_counts[0, 0] == 40


def test_wrong_requests_and_arrays_are_refused(world):
    boxes = np.zeros((3, 1, 6), np.float32)
    request = world.request()
    for call in (
        lambda: world.request(images=(("ground",),)),
        lambda: world.request(images=(("sky", (0.0, np.nan)),)),
        lambda: world.request(images=(("sky", None, "int8"),)),
        lambda: world.request(images=(("sky",),) * 17),
        lambda: world.request(cells=(UPPER, LOWER, (1, 1, 1))),
        lambda: world.request(columns=(LOWER[:2], UPPER[:2], (0, 1))),
        lambda: world.request(wrenches=1),
        lambda: world.results(request, boxes=boxes[:2]),
        lambda: world.results(request, boxes=boxes.astype(np.float64)),
        lambda: world.results(request, boxes=np.full_like(boxes, np.nan)),
        lambda: world.results(request, boxes=boxes - np.arange(6, dtype=np.float32)),
        lambda: world.results(request, turned_boxes=np.zeros((3, 1, 10), np.float32)),
        lambda: world.results(request, fresh=np.zeros(2, bool)),
        lambda: world.results(world.request(images=(("sky", (1.0, 1.0)),))),
    ):
        with pytest.raises(gg.ArgumentError):
            call()
    if world.device == "cpu":
        with pytest.raises(gg.BackendError):
            world.results(request, output="device")
    world.results(request)


def test_poses_are_refused_by_the_engine(world):
    before = world.state_hash()
    for bad in (np.nan, np.inf, 1e30):
        poses = np.zeros((3, 1, 7), np.float32)
        poses[..., 3], poses[2, 0, 1] = 1.0, bad
        for call in (lambda given=poses: world.step(1e-3, 1, given), lambda given=poses: world.set_tool_poses(given)):
            with pytest.raises(gg.ArgumentError, match=r"poses: expected finite .* for tool 0 of env 2"):
                call()
    assert world.state_hash() == before
