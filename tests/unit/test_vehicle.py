"""Vehicles in a field: the motion written out in Python, and an env of a batch beside the same env alone."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from granular_gym import _core
from granular_gym.errors import ArgumentError
from granular_gym.tasks.vehicle import TrackedVehicle, sin_cos, view_from, wrap_angle, yaw_quaternions

VEHICLE = TrackedVehicle(
    rear=-0.45,
    front=0.62,
    half_width=0.47,
    lower=(-4.0, -2.0),
    upper=(4.0, 2.0),
    speed=0.8,
    turn_rate=1.3,
    clearance=0.06,
)


def one_step(pose: list[float], along: float, across: float, turn: float) -> list[float]:
    """The motion of one vehicle by Python's own sines."""
    x, y, yaw = pose
    c, s = math.cos(yaw + 0.5 * turn), math.sin(yaw + 0.5 * turn)
    x, y, yaw = x + along * c - across * s, y + along * s + across * c, yaw + turn
    c, s = math.cos(yaw), math.sin(yaw)
    corners = [
        (c * a - s * b, s * a + c * b)
        for a, b in itertools.product((VEHICLE.rear, VEHICLE.front), (-VEHICLE.half_width, VEHICLE.half_width))
    ]
    place = []
    for axis, value in enumerate((x, y)):
        lower = VEHICLE.lower[axis] + VEHICLE.clearance - min(corner[axis] for corner in corners)
        upper = VEHICLE.upper[axis] - VEHICLE.clearance - max(corner[axis] for corner in corners)
        place.append(min(max(value, lower), upper))
    return [*place, yaw]


def poses(count: int) -> np.ndarray:
    rng = np.random.default_rng(count)
    return VEHICLE.clamp(rng.uniform((-4.0, -2.0, -40.0), (4.0, 2.0, 40.0), (count, 3)))


def test_moves_as_written_out_in_python() -> None:
    rng = np.random.default_rng(0)
    start, moves = poses(500), rng.uniform(-0.3, 0.3, (500, 3))
    expected = [one_step(pose, *move) for pose, move in zip(start.tolist(), moves.tolist(), strict=True)]
    assert np.abs(VEHICLE.move(start, moves) - expected).max() < 1e-14
    actions = rng.uniform(-1.0, 1.0, (500, 2)).astype(np.float32)
    driven = VEHICLE.advance(start, actions, 0.1)
    ways = [(0.8 * 0.1 * forward, 0.0, 1.3 * 0.1 * turn) for forward, turn in actions.astype(np.float64).tolist()]
    expected = [one_step(pose, *way) for pose, way in zip(start.tolist(), ways, strict=True)]
    assert np.abs(driven - expected).max() < 1e-14


def test_the_outline_stays_inside_and_touches_the_room_s_edge() -> None:
    corners = VEHICLE.corners(poses(300))
    assert (np.abs(corners) <= np.array([4.0, 2.0]) - VEHICLE.clearance + 1e-12).all()
    x0, x1, y0, y1 = VEHICLE.center_limits(0.7)
    edge = VEHICLE.corners(np.array([[x0, y0, 0.7], [x1, y1, 0.7]]))
    assert edge[0].min(axis=0) == pytest.approx([-3.94, -1.94]) and edge[1].max(axis=0) == pytest.approx([3.94, 1.94])


@pytest.mark.parametrize("count", [1, 2, 3, 7, 8, 65])
def test_an_env_is_the_same_alone_and_in_a_batch(count: int) -> None:
    rng = np.random.default_rng(1)
    start, actions = poses(count), rng.uniform(-1.0, 1.0, (count, 2))
    moved, quaternions, outlines = (
        VEHICLE.advance(start, actions, 0.1),
        yaw_quaternions(start[:, 2]),
        VEHICLE.corners(start),
    )
    for env in range(count):
        alone = slice(env, env + 1)
        assert np.array_equal(moved[alone], VEHICLE.advance(start[alone], actions[alone], 0.1))
        assert np.array_equal(quaternions[alone], yaw_quaternions(start[alone, 2]))
        assert np.array_equal(outlines[alone], VEHICLE.corners(start[alone]))


def test_a_vehicle_that_stands_keeps_its_bits() -> None:
    start = poses(200)
    assert np.array_equal(VEHICLE.clamp(start), start)


def test_sines_of_headings_that_were_never_folded() -> None:
    rng = np.random.default_rng(2)
    for size, error in ((1.0, 3e-16), (1e6, 1e-15), (1e9, 2e-14)):
        angles = rng.uniform(-size, size, 5000)
        sines, cosines = sin_cos(angles)
        assert np.abs(sines - [math.sin(a) for a in angles.tolist()]).max() <= error
        assert np.abs(cosines - [math.cos(a) for a in angles.tolist()]).max() <= error


def test_wrapped_angles_are_those_of_numpy() -> None:
    rng = np.random.default_rng(3)
    angles = np.concatenate([rng.uniform(-10, 10, 997), [math.pi, -math.pi, 0.0, 3 * math.pi, 1e9, -1e9]])
    assert np.array_equal(wrap_angle(angles), (angles + math.pi) % (2 * math.pi) - math.pi)
    assert np.array_equal(wrap_angle(angles.reshape(17, 59)[:, ::2]), wrap_angle(angles).reshape(17, 59)[:, ::2])


def test_numbers_within_bounds() -> None:
    rng = np.random.default_rng(4)
    lower, upper = np.array([-1.0, -0.5, 0.0], np.float32), np.array([1.0, 0.1, 1e30], np.float32)
    for table in (rng.normal(size=(50, 3)), rng.normal(size=(3, 50)).T.astype(np.float32), rng.integers(-2, 3, (4, 3))):
        clipped = _core.clipped((table,), lower, upper)
        assert clipped.dtype == np.float32 and clipped.flags.c_contiguous
        assert np.array_equal(clipped, np.clip(table, lower, upper).astype(np.float32))
        for columns in (table.T, list(table.T), (table[:, 0], table[:, 1:]), [table[:, :1], table[:, 1], table[:, 2]]):
            assert np.array_equal(_core.clipped(columns, lower, upper), clipped), "however they are cut"
    holes = _core.clipped([np.array([[np.nan, np.inf, -np.inf]])], lower, upper)
    assert holes.tolist() == [[0.0, 0.0, 0.0]]
    assert _core.clipped([np.zeros((0, 3))], lower, upper).shape == (0, 3)
    two = np.zeros((2, 2))
    for columns in (lower, [], [two], [two, two], [two, two[0, :1]], [two, two[:1, :1]], [two[None], two[0]]):
        with pytest.raises(ArgumentError, match="^columns: expected"):
            _core.clipped(columns, lower, upper)
    for bad in ((lower[:2], upper), (lower, upper[:, None]), (lower.astype(np.float64), upper)):
        with pytest.raises(ArgumentError, match="^(low|upp)er: expected"):
            _core.clipped([np.zeros((2, 3))], *bad)


def test_infos_with_masks() -> None:
    values = {"a": np.arange(3), "b": np.zeros((3, 2))}
    infos = _core.masked(values, 3)
    assert list(infos) == ["a", "_a", "b", "_b"] and all(infos[name] is values[name] for name in values)
    assert all(infos[f"_{name}"].tolist() == [True] * 3 and infos[f"_{name}"].dtype == bool for name in values)
    assert not np.shares_memory(infos["_a"], infos["_b"]) and _core.masked({}, 3) == {}
    for bad in (({1: values["a"]}, 3), ([], 3), (values, -1)):
        with pytest.raises((TypeError, ValueError)):
            _core.masked(*bad)


def test_actions_within_bounds() -> None:
    for table in (np.array([[-2.0, 0.3]]), np.array([[3, -1]]), np.float32([[0.1, -1.5], [2.0, 1.0]])[:, ::-1]):
        clipped = _core.clip_actions(table)
        assert clipped is not None and clipped.dtype == np.float32 and clipped.base is None
        assert np.array_equal(clipped, np.clip(table, -1, 1).astype(np.float32))
    assert _core.clip_actions(np.array([[0.0, np.nan]])) is None and _core.clip_actions(np.array([[-np.inf]])) is None


def test_points_seen_from_vehicles() -> None:
    """The bits that NumPy gives, but for sines."""
    rng = np.random.default_rng(5)
    poses, points = rng.uniform(-4.0, 4.0, (100, 3)), rng.uniform(-4.0, 4.0, (100, 2))
    points[0] = poses[0, :2]
    headings, seen = view_from(poses, points)
    (s, c), (x, y) = sin_cos(poses[:, 2]), (points - poses[:, :2]).T
    ahead, left = c * x + s * y, c * y - s * x
    distance = np.maximum(np.sqrt(ahead * ahead + left * left), 1e-9)
    assert np.array_equal(headings, np.stack([c, s], axis=1, dtype=np.float32))
    assert np.array_equal(seen, np.stack([ahead, left, ahead / distance, left / distance], axis=1, dtype=np.float32))
    assert seen[0].tolist() == [0.0] * 4
    by_hand = view_from(np.array([[1.0, 2.0, 0.5 * math.pi]]), np.array([[1.0, 5.0]]))
    assert by_hand[0][0] == pytest.approx([0.0, 1.0], abs=1e-7) and by_hand[1][0] == pytest.approx([3.0, 0.0, 1.0, 0.0])


def test_bad_arrays_are_refused() -> None:
    good, outline = np.zeros((2, 3)), np.zeros(8)
    for bad in (
        np.zeros((2, 2)),
        np.zeros((3, 3)),
        np.zeros((2, 3), np.float32),
        np.full((2, 3), np.nan),
        [[0.0] * 3] * 2,
    ):
        with pytest.raises(ArgumentError, match="^moves: expected"):
            _core.vehicle_move(outline, good, bad)  # type: ignore[arg-type]
    with pytest.raises(ArgumentError, match="^vehicle: expected shape"):
        _core.vehicle_move(np.zeros(7), good, good)
    with pytest.raises(ArgumentError, match="^yaws: expected finite"):
        _core.vehicle_bounds(outline, np.array([0.0, np.inf]))
    with pytest.raises(ArgumentError, match="^angles: expected a NumPy array"):
        _core.sin_cos([0.0])  # type: ignore[arg-type]
    with pytest.raises(ArgumentError, match="^array: expected a NumPy array"):
        _core.all_finite([0.0])  # type: ignore[arg-type]
    with pytest.raises(ArgumentError, match="^points: expected shape"):
        _core.vehicle_view(good, np.zeros((3, 2)))
    with pytest.raises(ArgumentError, match="^tables: expected"):
        _core.smoothed(np.zeros((2, 3)))
    with pytest.raises(ArgumentError, match="^counts: expected"):
        _core.lacey_index(np.zeros((2, 3, 3), np.int64))
    for counts in (np.zeros((2, 3, 3), np.int64), np.zeros((2, 3, 2)), np.zeros((2, 6, 2), np.int64)[:, ::2]):
        with pytest.raises(ArgumentError, match="^counts: expected"):
            _core.mixing(counts)  # type: ignore[arg-type]
    table, weights = np.zeros((2, 3), np.int64), np.zeros((3, 4), np.int64)
    for counts in (table[0], table.astype(np.int32), np.zeros((2, 6), np.int64)[:, ::2], None):
        with pytest.raises(ArgumentError, match="^counts: expected"):
            _core.count_shares(counts, weights, 1.0)  # type: ignore[arg-type]
    for other in (weights[:2], weights[0], weights.astype(float)):
        with pytest.raises(ArgumentError, match="^weights: expected"):
            _core.count_shares(table, other, 1.0)  # type: ignore[arg-type]
    for poses in (np.zeros((2, 2)), np.zeros((2, 3), np.float32), good[:, ::-1]):
        with pytest.raises(ArgumentError, match="^poses: expected"):
            _core.tilted_boxes(poses, np.zeros((1, 5)))  # type: ignore[arg-type]
    with pytest.raises(ArgumentError, match="^boxes: expected"):
        _core.tilted_boxes(good, np.zeros((1, 4)))
    with pytest.raises(ArgumentError, match="^actions: expected"):
        _core.clip_actions(np.zeros(3))


def test_weighted_counts_over_a_whole() -> None:
    rng = np.random.default_rng(6)
    counts, weights = rng.integers(0, 50_000, (40, 5)), rng.integers(-2, 3, (5, 3))
    shares = _core.count_shares(counts, weights, 700)
    assert np.array_equal(shares, (counts @ weights).astype(np.float64) / 700)
    assert np.array_equal(_core.count_shares(counts[7:8], weights, 700), shares[7:8])
    assert _core.count_shares(counts[:, :0], weights[:0], 700).tolist() == [[0.0] * 3] * 40
    assert _core.count_shares(counts[:0], weights, 700).shape == (0, 3)


def test_boxes_of_tilted_bodies() -> None:
    """Corners of the boxes, once in the frame of the body and turned with it, once as World takes the boxes."""
    rng = np.random.default_rng(7)
    poses, boxes = rng.uniform(-2.0, 2.0, (20, 3)), rng.uniform(0.1, 1.0, (4, 5))
    placed = _core.tilted_boxes(poses, boxes)
    assert placed.shape == (20, 4, 10) and not placed[..., [1, 4, 6]].any()
    assert np.array_equal(placed[..., 7:], np.broadcast_to(np.float32(boxes[:, 2:]), (20, 4, 3)))
    for (x, z, tilt), row in zip(poses, placed, strict=True):
        assert np.array_equal(_core.tilted_boxes(np.array([[x, z, tilt]]), boxes)[0], row)
        s, c = math.sin(tilt), math.cos(tilt)
        for (along, up, *_), box in zip(boxes, row, strict=True):
            assert box[[0, 2]] == pytest.approx([x + c * along + s * up, z + c * up - s * along], abs=1e-6)
            assert box[[3, 5]] == pytest.approx([math.cos(0.5 * tilt), math.sin(0.5 * tilt)], abs=1e-6)


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64, np.longdouble])
def test_finite_numbers(dtype: type) -> None:
    array = np.ones((5, 7, 3), dtype)
    assert _core.all_finite(array) and _core.all_finite(array[:, ::2].T) and _core.all_finite(array[:0])
    array[0, 0, 0] = np.finfo(dtype).max if dtype is not np.longdouble else 1e300
    array[0, 0, 1] = np.finfo(dtype).tiny / 4
    assert _core.all_finite(array)
    for bad in (np.nan, np.inf, -np.inf):
        array[4, 6, 2] = bad
        assert not _core.all_finite(array) and not _core.all_finite(array.T)
        assert _core.all_finite(array[:, :6])
        whole = np.full(3, 7), np.ones(2, bool), np.ones((2, 2), np.float32)
        assert _core.all_finite() and _core.all_finite(*whole, array[:0]) and not _core.all_finite(*whole, array)
