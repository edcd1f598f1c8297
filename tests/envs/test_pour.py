"""The rules of the pouring task."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from granular_gym.envs.pour import (
    BOUNDS,
    CUP,
    CUP_TILT,
    CUP_X,
    CUP_Z,
    DIFFICULTIES,
    SPILL_COST,
    SPILL_HEIGHT,
    TARGET_HALF_Y,
    TARGET_HEIGHT,
    WALL,
)
from granular_gym.tasks.expert import scripted_expert

POUR = "granular_gym/Pour-v0"


def test_spaces(make: Any) -> None:
    metres, images = make(POUR).observation_space, make(POUR, depth="uint8").observation_space
    assert metres["side"].shape == (48, 64) and metres["cup"].shape == (36, 36) and metres["state"].shape == (8,)
    assert images["side"].shape == (1, 48, 64) and images["cup"].dtype == np.uint8
    assert make(POUR).action_space.shape == (3,)


def test_a_standing_cup_holds_every_grain(make: Any) -> None:
    env = make(POUR, grain_count=500, difficulty="hard")
    for seed in range(2):
        _, info = env.reset(seed=seed)
        task = env.unwrapped.task
        assert info["held"] == 1.0 and info["received"] == info["spilled"] == 0.0 and not info["success"]
        # shaken about, but upright
        for step in range(12):
            info = env.step([1.0 if step % 4 < 2 else -1.0, 1.0 if step % 2 else -1.0, 0.0])[4]
        assert info["held"] > 0.99 and info["escaped_count"] == 0
        assert task.world.positions[0][:, 2].min() > task.cup[0, 1] - CUP[2], "grains go through the cup's floor"


def test_a_cup_turned_over_spills_all(make: Any) -> None:
    env = make(POUR, grain_count=300)
    _, info = env.reset(seed=0)
    dose, total = info["dose"], 0.0
    for _ in range(110):
        _, reward, _, _, info = env.step([-1.0, 0.0, 1.0])
        total += reward
    x, y, z = env.unwrapped.task.world.positions[0].T
    assert info["spilled"] > 0.95 and info["spilled"] == pytest.approx((z < SPILL_HEIGHT).mean())
    assert info["held"] < 0.05 and not info["success"]
    assert total == pytest.approx(100.0 * (1.0 - info["dose_error"] / dose) - 100.0 * SPILL_COST * info["spilled"])
    assert (x > BOUNDS[0][0]).all() and (np.abs(y) < BOUNDS[1][1]).all() and info["escaped_count"] == 0


@pytest.mark.parametrize("count", [45, 64, 100, 138, 161, 295, 310])
def test_no_coarse_grain_lies_beside_the_cup_when_an_episode_begins(make: Any, count: int) -> None:
    env = make(POUR, grain_count=count)
    for seed in range(3):
        env.reset(seed=seed)
        task = env.unwrapped.task
        x, y, z = task.world.positions[0].T
        center_x, center_z, _ = task.cup[0]
        assert (np.abs(x - center_x) < CUP[0]).all() and (np.abs(y) < CUP[1]).all() and (z > center_z - CUP[2]).all()


def test_shares_are_counts_of_grains(make: Any) -> None:
    env = make(POUR, grain_count=500)
    env.reset(seed=1)
    task = env.unwrapped.task
    expert = scripted_expert(env)
    for _ in range(90):
        info = env.step(expert.act())[4]
    x, y, z = task.world.positions[0].T
    inside = (np.abs(x - task.target_x[0]) <= task.difficulty.half_width) & (np.abs(y) <= TARGET_HALF_Y)
    inside &= z <= WALL + TARGET_HEIGHT + task.radius
    assert info["received"] == pytest.approx(inside.mean()) and info["received"] > 0.05
    assert info["held"] + info["received"] + info["spilled"] <= 1.0 + 1e-9
    assert info["mass"] == pytest.approx(info["received"] * task.mass)


def test_the_cup_keeps_its_limits_and_clears_the_target(make: Any) -> None:
    env = make(POUR, grain_count=5)
    rng = np.random.default_rng(0)
    env.reset(seed=0)
    corners = np.array([[a * (CUP[0] + WALL), b * (CUP[2] + WALL)] for a in (-1, 1) for b in (-1, 1)])
    for step in range(200):
        if step % 20 == 0:
            action = rng.choice([-1.0, 1.0], 3)
        x, z, tilt = env.step(action)[0]["state"][:3].tolist()
        for value, (low, high) in ((x, CUP_X), (z, CUP_Z), (tilt, CUP_TILT)):
            assert low - 1e-5 <= value <= high + 1e-5
        heights = z - math.sin(tilt) * corners[:, 0] + math.cos(tilt) * corners[:, 1]
        assert heights.min() > WALL + TARGET_HEIGHT


def test_episodes_differ_by_seed_and_difficulty(make: Any) -> None:
    for name, difficulty in DIFFICULTIES.items():
        env = make(POUR, difficulty=name)
        drawn = []
        for seed in range(5):
            observation, info = env.reset(seed=seed)
            state = observation["state"]
            assert difficulty.dose[0] <= info["dose"] <= difficulty.dose[1]
            assert difficulty.distance[0] - 1e-6 <= state[3] <= difficulty.distance[1] + 1e-6
            drawn.append((info["dose"], float(state[0]), float(state[3])))
        assert len(set(drawn)) == 5


def test_expert_pours_the_dose_and_random_does_not(make_vec: Any) -> None:
    envs = make_vec(POUR, 2, grain_count=500, autoreset_mode="Disabled")
    envs.reset(seed=[0, 0])
    expert = scripted_expert(envs)
    envs.action_space.seed(0)
    returns = np.zeros(2)
    for _ in range(180):
        actions = envs.action_space.sample()
        actions[0] = expert.act()[0]
        _, rewards, _, truncated, infos = envs.step(actions)
        returns += rewards
    assert truncated.all() and not infos["diverged"].any()
    assert infos["success"].tolist() == [True, False] and returns[0] > returns[1] + 50.0
