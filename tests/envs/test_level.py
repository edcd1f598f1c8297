"""The rules of the levelling task."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import granular_gym as gg
from granular_gym.envs.level import (
    BLADE_HALF_WIDTH,
    BLADE_THICKNESS,
    DIFFICULTIES,
    GRID,
    HALF_X,
    HALF_Y,
    HILLS,
    LIFT,
    MARGIN,
    SKY_HEIGHT,
    SKY_SHAPE,
)
from granular_gym.errors import ArgumentError
from granular_gym.tasks.expert import scripted_expert
from granular_gym.tasks.heights import PACKING, HeightGrid, errors, smooth
from granular_gym.tasks.surface_task import enlarged

LEVEL = "granular_gym/Level-v0"


def world_of(beds: Any) -> gg.World:
    """A small world with grains at these positions (env_count, n, 3)."""
    beds = np.asarray(beds, np.float32)
    scene = gg.Scene(((-3.0, -3.0, -1.0), (3.0, 3.0, 3.0)))
    scene.add_grains(scene.add_material(density=1000.0), beds[0], 1e-3)
    world = scene.build(len(beds), device="cpu", num_threads=1, overlaps="ignore")
    world.set_grains(positions=beds)
    return world


def test_heights_keep_the_volume() -> None:
    rng = np.random.default_rng(0)
    grid = HeightGrid((-1.0, 0.0), (1.0, 1.0), (5, 7))
    grains = rng.uniform((-1.3, -0.2, 0.0), (1.3, 1.2, 1.0), (1, 500, 3))
    with world_of(grains) as world:
        heights = grid.heights(world, 1e-4)
    dx, dy = grid.cell
    assert heights.shape == (1, 5, 7) and heights.sum() * dx * dy * PACKING == pytest.approx(500 * 1e-4)
    assert smooth(np.ones((3, 4))) == pytest.approx(np.ones((3, 4)))


def test_smoothing_is_mirrored_at_the_edges() -> None:
    tables = np.random.default_rng(2).normal(size=(3, 2, 4, 5))
    padded = np.pad(tables, [(0, 0), (0, 0), (1, 1), (0, 0)], mode="edge")
    rows = 0.25 * padded[:, :, :-2] + 0.5 * tables + 0.25 * padded[:, :, 2:]
    padded = np.pad(rows, [(0, 0), (0, 0), (0, 0), (1, 1)], mode="edge")
    assert np.array_equal(smooth(tables), 0.25 * padded[..., :-2] + 0.5 * rows + 0.25 * padded[..., 2:])
    assert np.array_equal(smooth(tables[0, 1, :, ::2][:1]), smooth(tables[0, 1, :, ::2].copy()[:1]))
    line = smooth(np.array([[0.0, 4.0, 0.0]]))
    assert line.tolist() == [[1.0, 2.0, 1.0]]


def test_heights_of_a_flat_and_of_a_sloping_bed() -> None:
    grid = HeightGrid((0.0, 0.0), (2.0, 1.0), (5, 10))
    x, y = (a.ravel() for a in np.meshgrid((np.arange(200) + 0.5) / 100, (np.arange(100) + 0.5) / 100))
    volume = 2.0 * 1.0 * PACKING / len(x)
    # grains lie closer the further along x: the height grows with x away from the walls
    beds = [np.stack([x, y, 0 * x], axis=1), np.stack([2.0 * np.sqrt(x / 2.0), y, 0 * x], axis=1)]
    with world_of(beds) as world:
        flat, slope = grid.heights(world, volume)
    # a grain is divided into parts of 1/1024 along each axis
    assert flat == pytest.approx(np.ones((5, 10)), abs=1e-3)
    centers = grid.centers()[0]
    assert slope[:, 2:-2] == pytest.approx(centers[:, 2:-2], abs=0.01)


def test_heights_of_a_batch_are_those_of_each_bed_alone() -> None:
    grains = np.random.default_rng(3).uniform((-1.0, -0.7, 0.0), (1.0, 0.7, 1.0), (5, 400, 3)).astype(np.float32)
    with world_of(grains) as world:
        together = GRID.heights(world, 1e-4)
    assert together.shape == (5, *GRID.shape)
    for k, bed in enumerate(grains):
        with world_of([bed]) as world:
            assert np.array_equal(together[k], GRID.heights(world, 1e-4)[0])


def test_errors_are_means_over_the_cells_within_the_margin() -> None:
    rng = np.random.default_rng(5)
    counts, target = rng.integers(0, 2**31, (300, *GRID.shape)), rng.random((300, *GRID.shape))
    heights = GRID.heights_of(counts, 1e-3)
    off = np.abs(heights - target)
    found = errors(heights, target, MARGIN)
    inner = off[:, MARGIN:-MARGIN, MARGIN:-MARGIN]
    assert np.array_equal(found, inner.mean(axis=(1, 2))), "the order of the sum is that of NumPy"
    assert np.array_equal(found[7:8], errors(heights[7:8], target[7:8], MARGIN))
    assert errors(heights, target, 0) == pytest.approx(off.mean(axis=(1, 2)))
    for margin in (-1, 4):
        with pytest.raises(ArgumentError, match="^margin: expected"):
            errors(heights, target, margin)
    with pytest.raises(ArgumentError, match="^targets: expected shape"):
        errors(heights, target[1:], MARGIN)


def test_the_error_is_that_of_the_column_heights(make: Any) -> None:
    env = make(LEVEL, grain_count=500, difficulty="hard")
    total = 0.0
    env.reset(seed=1)
    task = env.unwrapped.task
    first = task.error[0]
    for _ in range(15):
        _, reward, _, _, info = env.step([0.5, 0.3, -1.0, 0.2])
        total += reward
    inner = slice(MARGIN, -MARGIN)
    error = np.abs(task.heights()[0] - task.target[0])[inner, inner].mean()
    assert info["error"] == pytest.approx(error) and info["error_share"] == pytest.approx(error / first)
    assert total == pytest.approx(100.0 * (first - error) / first, abs=1e-6), "rewards add up to the gain"
    assert error != first, "the blade has moved something"


def test_targets_hold_what_the_bed_holds(make: Any) -> None:
    for name, difficulty in DIFFICULTIES.items():
        env = make(LEVEL, difficulty=name, grain_count=500)
        spans = []
        for seed in range(4):
            observation, info = env.reset(seed=seed)
            task = env.unwrapped.task
            assert task.target[0].mean() == pytest.approx(task.heights()[0].mean(), abs=1e-9)
            assert info["error_share"] == pytest.approx(1.0) and not info["success"] and info["error"] > 0.04
            spans.append(float(np.ptp(task.target[0])))
            seen = SKY_HEIGHT - observation["target"]
            assert seen.mean() == pytest.approx(task.target[0].mean(), abs=0.02)
        assert (max(spans) < 1e-9) == (difficulty.tilt == 0.0)


def test_the_shown_target_lies_as_the_camera_sees(make: Any) -> None:
    x, y = GRID.centers()
    seen = enlarged((x + 10.0 * y)[None], SKY_SHAPE)[0]
    # row 0 is the upper y edge, column 0 the lower x edge, as in the sky image
    assert seen[0, 0] > seen[-1, 0] and seen[0, -1] > seen[0, 0]
    env = make(LEVEL, grain_count=500)
    sky = SKY_HEIGHT - env.reset(seed=2)[0]["sky"]
    heights = enlarged(env.unwrapped.task.heights(), SKY_SHAPE)[0]
    free = sky < LIFT[1]
    assert np.corrcoef(sky[free], heights[free])[0, 1] > 0.7


def test_the_blade_never_leaves_the_field(make: Any) -> None:
    env = make(LEVEL, grain_count=1)
    env.reset(seed=0)
    rng = np.random.default_rng(1)
    half = np.array([[a * 0.5 * BLADE_THICKNESS, b * BLADE_HALF_WIDTH] for a in (-1, 1) for b in (-1, 1)])
    for step in range(300):
        if step % 10 == 0:
            action = rng.choice([-1.0, 0.0, 1.0], 4)
        blade = env.step(action)[0]["blade"]
        x, y, z, s, c = (float(v) for v in blade[:5])
        assert math.hypot(s, c) == pytest.approx(1.0, abs=1e-6) and LIFT[0] - 1e-6 <= z <= LIFT[1] + 1e-6
        corners = np.array([x, y]) + half @ np.array([[c, s], [-s, c]])
        assert (np.abs(corners) < (HALF_X - 0.12, HALF_Y - 0.12)).all()


def test_forward_and_sideways_are_those_of_the_blade(make: Any) -> None:
    env = make(LEVEL, grain_count=1)
    env.reset(seed=0)
    task = env.unwrapped.task
    task.pose[0] = (0.0, 0.0, 0.5, 0.7)
    env.step([1.0, 0.0, 0.0, 0.0])
    assert task.pose[0] == pytest.approx([0.05 * math.cos(0.7), 0.05 * math.sin(0.7), 0.5, 0.7])
    task.pose[0] = (0.0, 0.0, 0.5, 0.7)
    env.step([0.0, 1.0, 1.0, 0.0])
    assert task.pose[0] == pytest.approx([-0.05 * math.sin(0.7), 0.05 * math.cos(0.7), 0.55, 0.7])


def test_beds_rest_and_keep_in_the_trough(make: Any) -> None:
    env = make(LEVEL, grain_count=500, difficulty="easy")
    task = env.unwrapped.task
    for number in range(len(HILLS)):
        env.reset(seed=0)
        task.world.load_state(task.bed(number))
        places = task.world.positions[0]
        for _ in range(3):
            info = env.step([0.0, 0.0, 1.0, 0.0])[4]
        assert np.abs(task.world.positions[0] - places).max() < 0.1 * task.radius and info["escaped_count"] == 0


@pytest.mark.slow
def test_expert_levels_and_random_does_not(make_vec: Any) -> None:
    envs = make_vec(LEVEL, 2, grain_count=500, difficulty="easy", autoreset_mode="Disabled")
    envs.reset(seed=[1, 1])
    expert = scripted_expert(envs)
    envs.action_space.seed(0)
    returns = np.zeros(2)
    for _ in range(300):
        actions = envs.action_space.sample()
        actions[0] = expert.act()[0]
        _, rewards, _, truncated, infos = envs.step(actions)
        returns += rewards
    assert truncated.all() and not infos["diverged"].any() and not infos["escaped_count"].any()
    assert infos["success"].tolist() == [True, False] and returns[0] > returns[1] + 30.0
