"""Counts of grains in rotated boxes, cells and columns, against NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import granular_gym as gg

LOWER, UPPER = (-1.0, -0.5, 0.0), (1.0, 0.5, 1.5)
ENVS, GRAINS = 3, 400


@pytest.fixture
def beds() -> Any:
    """Positions of grains, some of them outside the grid (env_count, n, 3)."""
    return np.random.default_rng(5).uniform((-1.2, -0.7, 0.0), (1.2, 0.7, 2.0), (ENVS, GRAINS, 3)).astype(np.float32)


@pytest.fixture
def world(beds: Any, backend: str) -> Any:
    """A world with a grain at each of these positions."""
    scene = gg.Scene(((-2.0, -2.0, -1.0), (2.0, 2.0, 3.0)))
    scene.add_grains(scene.add_material(density=1000.0), beds[0], 1e-3)
    with scene.build(ENVS, device=backend) as built:
        built.set_grains(positions=beds)
        yield built


def rotations(quaternions: Any) -> Any:
    """Matrices (..., 3, 3) of unit quaternions."""
    w, x, y, z = np.moveaxis(np.asarray(quaternions, np.float64), -1, 0)
    rows = [
        [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
    ]
    return np.moveaxis(np.array(rows), (0, 1), (-2, -1))


def test_boxes(world: Any, beds: Any) -> None:
    rng = np.random.default_rng(1)
    poses = np.concatenate([rng.uniform(-0.5, 0.5, (ENVS, 4, 3)), rng.normal(size=(ENVS, 4, 4))], axis=2)
    halves = rng.uniform(0.2, 0.8, (ENVS, 4, 3))
    counts = world.count_boxes(poses, halves)
    assert counts.dtype == np.int64 and counts.shape == (ENVS, 4)
    turns = rotations(poses[..., 3:] / np.linalg.norm(poses[..., 3:], axis=-1, keepdims=True))
    away = beds[:, None].astype(np.float64) - poses[:, :, None, :3]
    inside = (np.abs(np.einsum("eknj,ekji->ekni", away, turns)) <= halves[:, :, None]).all(axis=-1)
    first = inside & (np.cumsum(inside, axis=1) == 1)
    np.testing.assert_array_equal(counts, first.sum(axis=-1))
    # the same boxes in all envs, and none
    np.testing.assert_array_equal(world.count_boxes(poses[0], halves[0])[0], counts[0])
    assert world.count_boxes(np.zeros((0, 7)), np.zeros((0, 3))).shape == (ENVS, 0)


def test_a_box_along_the_axes_counts_as_box_stats_does(world: Any) -> None:
    counts = world.count_boxes([[0.1, 0.0, 0.5, 1.0, 0.0, 0.0, 0.0]], [[0.5, 0.25, 0.5]])
    np.testing.assert_array_equal(counts[:, 0], world.box_stats((-0.4, -0.25, 0.0), (0.6, 0.25, 1.0))[0])


def test_cells(world: Any, beds: Any) -> None:
    shape = (4, 3, 5)
    counts = world.count_cells(LOWER, UPPER, shape)
    assert counts.dtype == np.int64 and counts.shape == (ENVS, *shape) and (counts.sum(axis=(1, 2, 3)) == GRAINS).all()
    cells = ((beds - np.float32(LOWER)) / (np.float32(UPPER) - np.float32(LOWER)) * shape).astype(np.float64)
    at = np.clip(np.floor(cells), 0, np.array(shape) - 1).astype(int)
    wanted, kinds = np.zeros((ENVS, *shape, 2), int), np.random.default_rng(2).random((ENVS, GRAINS)) < 0.3
    for env in range(ENVS):
        np.add.at(wanted[env], (*at[env].T, kinds[env].astype(int)), 1)
    np.testing.assert_array_equal(counts, wanted.sum(axis=-1))
    np.testing.assert_array_equal(world.count_cells(LOWER, UPPER, shape, kinds), wanted)


def test_columns(world: Any, beds: Any) -> None:
    nx, ny = 6, 4
    counts = world.count_columns(LOWER[:2], UPPER[:2], (nx, ny))
    assert counts.dtype == np.int64 and counts.shape == (ENVS, ny, nx)
    np.testing.assert_array_equal(counts.sum(axis=(1, 2)), GRAINS << 20)
    wanted = np.zeros((ENVS, ny, nx))
    places = np.clip((beds[..., :2] - np.float64(LOWER[:2])) / (2.0, 1.0) * (nx, ny), 0.0, (nx, ny)) - 0.5
    low = np.floor(places).astype(int)
    for right in (0, 1):
        for above in (0, 1):
            weight = np.abs((1 - right, 1 - above) - (places - low)).prod(axis=-1)
            column, row = np.clip(low[..., 0] + right, 0, nx - 1), np.clip(low[..., 1] + above, 0, ny - 1)
            np.add.at(wanted, (np.arange(ENVS)[:, None], row, column), weight)
    # shares are rounded to 1/1024 along each axis
    np.testing.assert_allclose(counts / 2.0**20, wanted, atol=GRAINS / 1024 / 10)


def test_an_env_that_diverged(world: Any) -> None:
    """Grains that are not finite are not counted."""
    velocities = world.velocities
    velocities[1] = 3e38
    world.set_grains(velocities=velocities)
    world.step(1e-3, 2)
    assert world.stats["diverged"].tolist() == [0, 1, 0]
    finite = np.isfinite(world.positions).all(axis=-1).sum(axis=1)
    np.testing.assert_array_equal(world.count_cells(LOWER, UPPER, (1, 1, 1)).ravel(), finite)
    np.testing.assert_array_equal(world.count_columns(LOWER[:2], UPPER[:2], (2, 2)).sum(axis=(1, 2)), finite << 20)


def test_threads_change_nothing(beds: Any) -> None:
    found = []
    for threads in (1, 3):
        scene = gg.Scene(((-2.0, -2.0, -1.0), (2.0, 2.0, 3.0)))
        scene.add_grains(scene.add_material(density=1000.0), beds[0], 1e-3)
        with scene.build(ENVS, device="cpu", num_threads=threads) as world:
            world.set_grains(positions=beds)
            found.append(
                [world.count_columns(LOWER[:2], UPPER[:2], (6, 4)), world.count_cells(LOWER, UPPER, (5, 5, 5))]
            )
    assert all(np.array_equal(a, b) for a, b in zip(*found, strict=True))


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda w: w.count_boxes(np.zeros((2, 6)), np.zeros((2, 3))), "poses: expected shape"),
        (lambda w: w.count_boxes(np.zeros((1, 7)), np.ones((1, 3))), "poses: expected unit quaternions"),
        (lambda w: w.count_boxes([[0, 0, 0, 1, 0, 0, 0]], [[1, 1]]), "half_sizes: expected shape"),
        (lambda w: w.count_boxes([[0, 0, 0, 1, 0, 0, 0]], [[1, -1, 1]]), "half sizes >= 0"),
        (lambda w: w.count_boxes([[np.nan, 0, 0, 1, 0, 0, 0]], [[1, 1, 1]]), "poses: expected finite"),
        (lambda w: w.count_cells(UPPER, LOWER, (2, 2, 2)), "lower: expected less than upper"),
        (lambda w: w.count_cells(LOWER, UPPER, (2, 0, 2)), "shape: expected 1 .. "),
        (lambda w: w.count_cells(LOWER, UPPER, (1000, 1000, 2)), "shape: expected 1 to 1000000 cells in all"),
        (lambda w: w.count_cells(LOWER, UPPER, (2, 2)), "shape: expected shape"),
        (lambda w: w.count_cells(LOWER, UPPER, (2, 2, 2.5)), "shape: expected an array of integers"),
        (lambda w: w.count_cells(LOWER, UPPER, (2, 2, 2), np.zeros((ENVS, 3), bool)), "labels: expected shape"),
        (
            lambda w: w.count_cells(LOWER, UPPER, (2, 2, 2), np.zeros((ENVS, GRAINS))),
            "labels: expected an array of bools",
        ),
        (lambda w: w.count_columns(LOWER, UPPER, (2, 2)), "lower: expected shape"),
        (lambda w: w.count_columns((0.0, 0.0), (np.inf, 1.0), (2, 2)), "upper: expected finite"),
        (lambda w: w.count_columns((0.0, 0.0), (1.0, 1.0), (2, 2), "abacus"), "output: expected one of"),
    ],
)
def test_refusals(world: Any, call: Any, said: str) -> None:
    with pytest.raises(gg.ArgumentError, match=said):
        call(world)
