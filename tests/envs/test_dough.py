"""The rules of the dough-rolling task."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from env_helpers import follow, same

import granular_gym as gg
from granular_gym.envs.dough import (
    DENSITY,
    DIFFICULTIES,
    GAP,
    GRID,
    REACH,
    ROLLER,
    SHAPES,
    SKY_HEIGHT,
    SPEED,
    TURNING,
    VOLUME,
    half_length,
    lump_of,
    wedge,
)
from granular_gym.envs.dough_state import middle_of
from granular_gym.tasks.expert import scripted_expert
from granular_gym.tasks.heights import HeightGrid

DOUGH = "granular_gym/Dough-v0"
CELL = math.prod(GRID.cell)


def heights_of_a_block(count: int) -> np.ndarray[Any, Any]:
    """Column heights of a block of dough of 20 x 20 x 4 cm of so many particles along its height."""
    size = 0.04 / count
    axes = [np.arange(round(length / size)) for length in (0.2, 0.2, 0.04)]
    x, y, z = (part.ravel() for part in np.meshgrid(*axes, indexing="ij"))
    points = (np.stack([x, y, z], axis=1) + 0.5) * size - (0.5 * size * len(axes[0]), 0.5 * size * len(axes[1]), 0.0)
    heights: np.ndarray[Any, Any] = GRID.heights_of(GRID.counts_of(points[None]), size**3)[0]
    return heights


def test_heights_are_those_of_the_surface_at_any_resolution() -> None:
    fine = HeightGrid(GRID.lower, GRID.upper, (8 * GRID.shape[0], 8 * GRID.shape[1]))
    x, y = fine.centers()
    wanted = GRID.heights_under(np.where((np.abs(x) < 0.1) & (np.abs(y) < 0.1), 0.04, 0.0))
    assert wanted.sum() * CELL == pytest.approx(0.2 * 0.2 * 0.04)
    assert wanted.max() == pytest.approx(0.04), "edges do not blur the middle"
    for count, bound in ((2, 4e-3), (4, 2e-3), (8, 5e-4)):
        assert np.abs(heights_of_a_block(count) - wanted).max() < bound


def test_heights_are_the_volume_that_stands_there(make: Any) -> None:
    """Of rolled dough: in its middle to 2 mm, as particles are counted. Their tops are higher, by less than the half
    distance at which contacts hold them: layers of rolled dough are closer to each other than that."""
    env = make(DOUGH, grain_count=1000, difficulty="easy")
    env.reset(seed=0)
    task, expert = env.unwrapped.task, scripted_expert(env)
    for _ in range(60):
        env.step(expert.act())
    places, heights, radius = task.world.positions[0], task.heights()[0], 0.03
    middle, half_distance = places[:, :2].mean(axis=0), 0.5 * (VOLUME / 1000) ** (1.0 / 3.0)
    near = np.hypot(*(places[:, :2] - middle).T) < radius
    x, y = GRID.centers()
    inside = np.hypot(x - middle[0], y - middle[1]) < radius
    assert inside.sum() >= 4
    assert heights[inside].mean() == pytest.approx(near.mean() * VOLUME / (math.pi * radius**2), abs=2e-3)
    for at in (-0.02, 0.0, 0.02):
        # the highest particles of a fifth of that disc
        fifth = near & (np.abs(places[:, 0] - middle[0] - at) < 0.006)
        top = np.sort(places[fifth, 2])[-6:].mean() + half_distance
        assert 0.0 < top - heights[GRID.cells_of(np.array([[middle[0] + at, middle[1]]]))][0] < half_distance


@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
@pytest.mark.parametrize("count", [1, 60, 1000])
def test_a_lump_has_its_particles_and_its_shape(count: int, shape: tuple[float, float, float]) -> None:
    distance = (VOLUME / count) ** (1.0 / 3.0)
    lump = lump_of(count, distance, shape)
    assert lump.shape == (count, 3) and lump[:, 2].min() == pytest.approx(0.5 * distance)
    assert len(np.unique(np.round(lump / distance * 2.0), axis=0)) == count
    assert math.prod(shape) == pytest.approx(1.0, abs=0.01)
    if count == 1000:
        assert np.ptp(lump, axis=0) + distance == pytest.approx(0.1 * np.array(shape), abs=1.1 * distance)


def test_targets_hold_the_dough_and_lie_in_the_field(make: Any) -> None:
    for name, difficulty in DIFFICULTIES.items():
        env = make(DOUGH, difficulty=name)
        for seed in range(6):
            observation, info = env.reset(seed=seed)
            task = env.unwrapped.task
            target, heights = task.target[0], task.heights()[0]
            assert target.sum() * CELL == pytest.approx(VOLUME) == heights.sum() * CELL
            assert target[:, [0, -1]].max() < 1e-3 and target[[0, -1]].max() < 1e-3
            low, high = difficulty.thickness
            assert 0.9 * low < target.max() < 1.01 * high * (1.0 + difficulty.slope)
            off = middle_of(GRID, target[None])[0] - middle_of(GRID, heights[None])[0]
            assert abs(off) < difficulty.offset + 0.02, "a wedge has its middle where it is thick"
            assert info["error_share"] == 1.0 and not info["success"]
            seen = SKY_HEIGHT - observation["target"]
            assert seen.mean() == pytest.approx(target.mean(), rel=0.01)


def test_a_wedge_rises_to_its_end() -> None:
    flat, rising = wedge(0.02, 0.035, 0.0), wedge(0.02, 0.035, 0.3)
    assert np.allclose(flat, flat[::-1]) and middle_of(GRID, flat[None])[0] == pytest.approx(0.02, abs=1e-3)
    assert middle_of(GRID, rising[None])[0] > 0.025
    inside = flat > 0.95 * flat.max()
    slope = np.polyfit(GRID.centers()[0][inside], rising[inside], 1)[0]
    assert slope == pytest.approx(0.3 * 0.035 / half_length(0.035), rel=0.2)


def test_the_error_is_that_of_the_column_heights(make: Any) -> None:
    env = make(DOUGH, grain_count=150, difficulty="hard")
    env.reset(seed=1)
    task, expert = env.unwrapped.task, scripted_expert(env)
    first, total = task.error[0], 0.0
    for _ in range(60):
        _, reward, _, _, info = env.step(expert.act())
        total += reward
    error = np.abs(task.heights()[0] - task.target[0]).mean()
    assert info["error"] == pytest.approx(error) and info["error_share"] == pytest.approx(error / first)
    assert total == pytest.approx((first - error) / first, abs=1e-9) and total > 0.3


#: of where the roller may be, by what they are
LIMITS = {"left": -REACH, "right": REACH, "low": GAP[0], "high": GAP[1]}


def test_the_roller_keeps_its_limits_and_rolls_without_slip(make: Any) -> None:
    env = make(DOUGH, grain_count=20)
    env.reset(seed=0)
    task, rng, reached = env.unwrapped.task, np.random.default_rng(1), set()
    for step in range(120):
        if step % 15 == 0:
            action = rng.choice([-1.0, 1.0], 3)
        x, gap, _ = task.roller[0]
        seen = env.step(action)[0]["roller"]
        moved = np.clip([x + 0.1 * SPEED * action[0], gap + 0.01 * action[1]], [-REACH, GAP[0]], [REACH, GAP[1]])
        assert seen[:2] == pytest.approx(moved, abs=1e-6)
        reached |= {name for name, bound in LIMITS.items() if bound in moved}
        assert task.world.tool_poses[0, 0, 2] == pytest.approx(ROLLER + task.roller[0, 1], abs=1e-6)
    assert reached == set(LIMITS)
    assert pytest.approx(ROLLER * TURNING) == SPEED
    # the lower side of a roller that goes ahead and turns with it rests
    env.reset(seed=0)
    task.roller[0] = 0.0, 0.1, 0.0
    env.step([0.5, 0.0, 0.5])
    w, _, y, _ = task.world.tool_poses[0, 0, 3:]
    assert 2.0 * math.atan2(y, w) * ROLLER == pytest.approx(task.roller[0, 0], abs=1e-6) and task.roller[0, 0] > 0.0


def test_a_roller_that_turns_drags_the_dough(make: Any) -> None:
    """Held in the dough, it carries the upper side along as it turns, and feels it."""
    middles, loads = [], []
    for turn in (-1.0, 1.0):
        env = make(DOUGH, grain_count=300, difficulty="easy")
        env.reset(seed=0)
        task = env.unwrapped.task
        start = float(task.world.positions[0, :, 0].mean())
        task.roller[0, 0] = start
        task.world.set_tool_poses(task.world.drive_poses(task.roller))
        for _ in range(9):
            env.step([0.0, -1.0, 0.0])
        for _ in range(10):
            seen = env.step([0.0, 0.0, 0.2 * turn])[0]["roller"]
        middles.append(float(task.world.positions[0, :, 0].mean()) - start)
        loads.append(seen[2:])
    assert middles[0] > 0.003 and middles[1] < -0.003, (
        "below the axis the surface of a roller that turns to +x goes to -x"
    )
    assert loads[0][1] > 0.0 and loads[1][1] > 0.0
    assert loads[0][2] * loads[1][2] < 0.0, "the torque holds the roller back"


@pytest.mark.parametrize("count", [60, pytest.param(300, marks=pytest.mark.full)])
def test_dough_keeps_on_the_table_and_its_volume(count: int, make: Any) -> None:
    """Pressed to the lowest gap wherever the roller goes, dough neither leaks through the table nor loses volume."""
    env = make(DOUGH, grain_count=count, difficulty="hard")
    env.reset(seed=2)
    task, expert = env.unwrapped.task, scripted_expert(env)
    distance = (VOLUME / count) ** (1.0 / 3.0)
    for step in range(60):
        action = expert.act() if step < 20 else np.array([(-1.0) ** (step // 10), -1.0, (-1.0) ** (step // 10)])
        info = env.step(action)[4]
        assert not info["diverged"] and info["escaped_count"] == 0
        assert task.world.stats["unsolved_count"][0] == 0
        assert task.world.positions[0, :, 2].min() > -0.1 * distance
    for _ in range(20):
        env.step([0.0, 1.0, 0.0])
    assert (DENSITY / task.world.densities).mean() == pytest.approx(1.0, abs=0.02)
    # at rest it neither trembles nor creeps
    places = task.world.positions
    env.step([0.0, 0.0, 0.0])
    assert np.abs(task.world.positions - places).max() < 1e-4


def test_steps_of_20_ms_are_near_those_of_5_ms(make: Any) -> None:
    """The same actions at the presets: the error left differs by little of the error at the start."""
    plan = None
    shares = {}
    for preset in ("fast", "accurate", "train"):
        env = make(DOUGH, grain_count=150, preset=preset, difficulty="easy")
        env.reset(seed=3)
        expert = scripted_expert(env)
        played = [] if plan is None else plan
        for step in range(30):  # by then the expert has rolled it
            if plan is None:
                played.append(expert.act())
            info = env.step(played[step])[4]
            assert env.unwrapped.task.world.stats["unsolved_count"][0] == 0
        plan, shares[preset] = played, info["error_share"]
    assert abs(shares["fast"] - shares["accurate"]) < 0.05 and abs(shares["train"] - shares["accurate"]) < 0.2


def test_values_are_drawn_for_dough_and_wood(make_vec: Any) -> None:
    ranges = [
        gg.MaterialRanges(pair=("dough", "wood"), friction=(0.3, 0.9)),
        gg.MaterialRanges(density=(900.0, 1300.0), pair=("dough", "dough")),
    ]
    envs = make_vec(DOUGH, 3, randomize=ranges)
    infos = envs.reset(seed=3)[1]
    pairs, densities = envs.unwrapped.task.world.materials
    assert len(set(infos["dough_wood_friction"])) == 3
    assert np.array_equal(pairs[:, 0, 1, 0], infos["dough_wood_friction"].astype(np.float32))
    assert np.array_equal(densities[:, 0], infos["dough_density"].astype(np.float32))
    plain = make_vec(DOUGH, 3, difficulty="hard")
    plain.reset(seed=3)
    task = plain.unwrapped.task
    assert np.array_equal(task.world.materials[0][:, 0, 1, 0], task.friction.astype(np.float32))
    low, high = DIFFICULTIES["hard"].friction
    assert (task.friction >= low).all() and (task.friction <= high).all() and len(set(task.friction)) == 3


def test_states_restore_bit_for_bit_in_the_middle_of_a_pass(make: Any) -> None:
    env = make(DOUGH, grain_count=200, difficulty="hard")
    env.reset(seed=5)
    expert = scripted_expert(env)
    for _ in range(30):
        env.step(expert.act())
    task = env.unwrapped.task
    saved = task.save()
    ran = follow(env, 8)
    task.load(saved)
    assert same(follow(env, 8), ran)


@pytest.mark.parametrize(
    ("kwargs", "message"),
    [
        ({"grain": "cube"}, "^grain: expected one of 'sphere', got 'cube'"),
        ({"difficulty": "stale"}, "^difficulty"),
        ({"observation": "pixels"}, "^observation"),
        ({"grain_count": 2.5}, "^grain_count"),
    ],
)
def test_bad_arguments(kwargs: dict[str, Any], message: str, make: Any) -> None:
    with pytest.raises(gg.ArgumentError, match=message):
        make(DOUGH, **kwargs)


@pytest.mark.parametrize(
    "difficulty", [pytest.param(name, marks=() if name == "hard" else pytest.mark.full) for name in DIFFICULTIES]
)
def test_expert_rolls_and_random_does_not(difficulty: str, make_vec: Any, full: bool) -> None:
    seeds = 2 if full else 1
    envs = make_vec(DOUGH, 2 * seeds, grain_count=200, difficulty=difficulty, autoreset_mode="Disabled")
    envs.reset(seed=[*range(seeds), *range(seeds)])
    expert = scripted_expert(envs)
    envs.action_space.seed(0)
    returns = np.zeros(2 * seeds)
    for _ in range(200):
        actions = envs.action_space.sample()
        actions[:seeds] = expert.act()[:seeds]
        _, rewards, _, truncated, infos = envs.step(actions)
        returns += rewards
    assert truncated.all() and not infos["diverged"].any() and not infos["escaped_count"].any()
    assert infos["success"][:seeds].all() and not infos["success"][seeds:].any()
    assert returns[:seeds].min() > 0.6 and returns[seeds:].max() < 0.5
