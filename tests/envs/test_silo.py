"""The rules of the silo task."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import granular_gym as gg
from granular_gym.envs.silo import (
    DENSITY,
    DIFFICULTIES,
    GRAINS,
    HALF_LENGTH,
    LEAF,
    OUTLET_HEIGHT,
    RECEIVER,
    RECEIVER_FLOOR,
    SiloEnv,
)
from granular_gym.envs.silo_programme import dose_of, rate_at, share_by
from granular_gym.errors import OverlapError
from granular_gym.tasks.expert import scripted_expert

SILO = "granular_gym/Silo-v1"


def test_spaces(make: Any) -> None:
    metres, images = make(SILO).observation_space, make(SILO, depth="uint8").observation_space
    assert metres["side"].shape == (48, 64) and metres["side"].dtype == np.float32
    assert images["side"].shape == (1, 48, 64) and images["side"].dtype == np.uint8
    assert metres["flow"].shape == (9,) and np.isfinite(metres["flow"].high).all()
    assert make(SILO).action_space.shape == (2,) and make(SILO, shaker=True).action_space.shape == (3,)


@pytest.mark.parametrize(
    "hopper, slope, outlet",
    [("wedge", 55.0, 0.4), ("flat", None, 0.2), ("wedge", 75.0, 0.5), ("cone", 55.0, 0.4), ("cone", 30.0, 0.3)],
)
def test_a_shut_gate_holds_every_grain(make: Any, hopper: str, slope: float | None, outlet: float) -> None:
    env = make(SILO, hopper=hopper, slope=slope, outlet=outlet, grain_count=500, difficulty="easy")
    env.reset(seed=1)
    task = env.unwrapped.task
    world = task.world
    places = world.positions[0]
    assert places[:, 2].min() > OUTLET_HEIGHT, "the bed lies over the gate"
    for _ in range(20):
        info = env.step([-1.0, 1.0])[4]
    assert info["discharged"] == 0.0 and info["escaped_count"] == 0
    moved = np.abs(world.positions[0] - places).max(axis=1)
    radius = task.radius
    assert np.abs(places[:, 1]).max() < task.half_depth - 0.9 * radius
    if hopper == "cone":
        assert np.hypot(places[:, 0], places[:, 1]).max() < task.hopper.reach - 0.9 * radius
    assert moved.mean() < 0.02 * radius and moved.max() < 0.5 * radius, "the bed moves on its own"


@pytest.mark.parametrize("grain, hopper", [("hash", "wedge"), (("octagon", "u"), "flat")])
def test_plane_grains_are_dosed(make: Any, grain: Any, hopper: str) -> None:
    env = make(SILO, grain=grain, hopper=hopper, grain_count=150, difficulty="easy", shaker="wall")
    observation = env.reset(seed=1)[0]
    assert observation in env.observation_space
    task = env.unwrapped.task
    world = task.world
    assert world.planar and world.positions[0, :, 1].min() > OUTLET_HEIGHT, "the bed lies over the gate"
    for _ in range(10):
        info = env.step([-1.0, 1.0, -1.0])[4]
    assert info["discharged"] == 0.0 and info["escaped_count"] == 0
    for step in range(50):
        observation, _, _, _, info = env.step([1.0 if step < 8 else 0.0, 0.0, 1.0 if step > 20 else -1.0])
    x, y, _ = world.positions[0].T
    below = y <= OUTLET_HEIGHT - 2.0 * LEAF
    inside = (
        (np.abs(x - task.receiver_x[0]) <= RECEIVER[0]) & (y >= RECEIVER_FLOOR) & (y <= RECEIVER_FLOOR + RECEIVER[1])
    )
    assert info["discharged"] == pytest.approx(below.mean()) and info["discharged"] > 0.2
    assert info["received"] == pytest.approx(inside.mean(), abs=0.01) and not info["diverged"]
    # grains are drawn as prisms, whose front is slightly before the plane
    side = observation["side"]
    assert ((side > 2.0 - task.radius) & (side < 2.0)).mean() > 0.02
    friction = world.materials[0][0, : len(task.grain), : len(task.grain), 0]
    assert np.allclose(friction, task.friction[0])
    masses = [GRAINS[name](task.radius).area for name in task.grain]
    assert task.mass == pytest.approx(150 * np.mean(masses) * DENSITY * 2.0 * task.half_depth, rel=1e-6)


def test_shares_are_counts_of_grains(make: Any) -> None:
    env = make(SILO, grain_count=500, difficulty="hard")
    env.reset(seed=3)
    task = env.unwrapped.task
    for step in range(60):
        info = env.step([1.0 if step < 6 else 0.0, 1.0 if step > 40 else 0.0])[4]
    x, _, z = task.world.positions[0].T
    below = z <= OUTLET_HEIGHT - 2.0 * LEAF
    inside = (
        (np.abs(x - task.receiver_x[0]) <= RECEIVER[0]) & (z >= RECEIVER_FLOOR) & (z <= RECEIVER_FLOOR + RECEIVER[1])
    )
    assert info["discharged"] == pytest.approx(below.mean()) and info["discharged"] > 0.2
    assert info["received"] == pytest.approx(inside.mean(), abs=0.003)
    assert info["spilled"] == pytest.approx((z <= RECEIVER_FLOOR).mean()) and info["spilled"] > 0.0
    assert info["mass"] == pytest.approx(info["received"] * task.mass)
    assert (np.abs(x) < HALF_LENGTH).all() and info["escaped_count"] == 0
    assert not info["success"], "grains beside the receiver are no success"


def test_reward_follows_the_programme(make: Any) -> None:
    env = make(SILO, reward="paper")
    env.reset(seed=2)
    task = env.unwrapped.task
    for _ in range(30):
        _, reward, _, _, info = env.step([0.3, 0.0])
        error = abs(info["discharged"] - info["commanded"])
        assert reward == pytest.approx(1.0 - min(error / 0.05, 2.0) - min(info["spilled"] / 0.05, 1.0))
    # the programme is the integral of its rates
    times = np.linspace(0.0, 5.0, 2001)
    shares, rates = (of(times[:, None], task.ends, task.rates)[:, 0] for of in (share_by, rate_at))
    assert dose_of(task.ends, task.rates)[0] == info["dose"]
    assert shares[-1] == pytest.approx(rates.sum() * (times[1] - times[0]), abs=2e-3)
    assert shares[-1] == pytest.approx(info["dose"]) and (np.diff(shares) >= -1e-12).all()


def test_programmes_hold_their_rates_from_stage_to_stage() -> None:
    ends, rates = np.array([[1.0, 3.0], [0.5, 0.5]]), np.array([[0.1, 0.2], [0.4, 9.0]])
    times = np.array([[-1.0, 0.0, 0.5, 1.0, 2.0, 3.0, 9.0]]).T.repeat(2, axis=1)
    assert rate_at(times, ends, rates).T.tolist() == [[0, 0.1, 0.1, 0.2, 0.2, 0, 0], [0, 0.4, 0, 0, 0, 0, 0]]
    np.testing.assert_allclose(share_by(times, ends, rates)[:, 0], [0, 0, 0.05, 0.1, 0.3, 0.5, 0.5], atol=1e-15)
    np.testing.assert_allclose(share_by(times, ends, rates)[:, 1], [0, 0, 0.2, 0.2, 0.2, 0.2, 0.2], atol=1e-15)
    assert np.array_equal(dose_of(ends, rates), share_by(np.full(2, 9.0), ends, rates))
    for bad in ((times[:, :1], ends, rates), (0.5, ends, rates), (times, ends, rates[:1]), (times, ends[0], rates)):
        with pytest.raises(gg.ArgumentError, match="^(time|ends|values): expected"):
            share_by(*bad)


def test_programmes_differ_by_seed_and_difficulty(make: Any) -> None:
    for name, difficulty in DIFFICULTIES.items():
        env = make(SILO, difficulty=name)
        doses, places, frictions = [], [], []
        for seed in range(6):
            _, info = env.reset(seed=seed)
            task = env.unwrapped.task
            assert task.rates.shape == (1, difficulty.stages) and task.ends[0, -1] == pytest.approx(difficulty.duration)
            assert (task.rates[0] == 0.0).sum() == difficulty.pause
            doses.append(info["dose"])
            places.append(float(task.receiver_x[0]))
            frictions.append(float(task.world.materials[0][0, 0, 0, 0]))
        assert len(set(doses)) == 6 and max(np.abs(places)) <= difficulty.offset
        assert difficulty.friction[0] - 1e-6 <= min(frictions) and max(frictions) <= difficulty.friction[1] + 1e-6


def test_gate_and_receiver_keep_their_limits(make: Any) -> None:
    env = make(SILO, shaker=True, grain_count=10)
    env.reset(seed=0)
    for _ in range(60):
        env.step([1.0, 1.0, 1.0])
    poses = env.unwrapped.task.world.tool_poses[0]
    assert poses[2, 0] - poses[1, 0] == pytest.approx(0.4)
    assert poses[3, 0] == pytest.approx(0.7) and poses[0, 0] == 0.0, "the shaken hopper ends where it began"


def test_grains_that_are_larger_than_the_silo_is_deep_are_refused(make: Any) -> None:
    with pytest.raises(OverlapError, match="^grain_count: expected more, and so smaller grains, got 1 of radius"):
        make(SILO, grain_count=1).reset(seed=0)


@pytest.mark.parametrize("hopper", ["wedge", "flat", "cone"])
def test_every_hopper_discharges_into_the_receiver(make: Any, hopper: str) -> None:
    env = make(SILO, hopper=hopper, grain_count=500, difficulty="easy")
    observation, _ = env.reset(seed=1)
    far = env.observation_space["side"].high.max()
    rows = slice(19, 27)  # above the gate, where the bed is
    assert (observation["side"][rows, 28:36] < far).mean() > 0.9, "the camera sees the bed"
    task = env.unwrapped.task
    for step in range(25):
        info = env.step([1.0 if step < 6 else 0.0, -20.0 * task.receiver_x[0]])[4]
    assert info["discharged"] > 0.3 and info["spilled"] == 0.0 and info["escaped_count"] == 0
    assert info["received"] > 0.7 * info["discharged"]


@pytest.mark.parametrize("hopper", ["wedge", "cone"])
def test_a_wall_is_shaken_alone(make: Any, hopper: str) -> None:
    env = make(SILO, hopper=hopper, shaker="wall", grain_count=60)
    env.reset(seed=0)
    task = env.unwrapped.task
    wall, rest = task.hopper.sides(task.radius)
    assert len(wall.parts) == len(rest.parts) == 2
    moved: list[Any] = []
    step = task.world.step_driven

    def seen(*args: Any, **kwargs: Any) -> Any:
        after = step(*args, **kwargs)
        moved.append(task.world.tool_poses[0, :, 0].copy())
        return after

    task.world.step_driven = seen
    env.step([0.0, 0.0, 1.0])
    env.step([0.0, 0.0, -1.0])
    there, back, *still = np.array(moved)
    assert there[4] == pytest.approx(0.008) and back[4] == 0.0 and (there[:3] == 0.0).all(), "the hopper stands"
    assert (np.array(still)[:, 4] == 0.0).all()
    assert task.world.tool_poses.shape == (1, 5, 7)


def test_a_narrow_gate_clogs_and_shaking_frees_it(make_vec: Any, full: bool) -> None:
    count = 6 if full else 3

    def discharged(strength: float) -> tuple[np.ndarray, np.ndarray]:
        envs = make_vec(SILO, count, grain_count=500, difficulty="easy", shaker=True)
        envs.reset(seed=0)
        task = envs.unwrapped.task
        for _ in range(80):
            opening = (0.13 - task.opening) / 0.05
            infos = envs.step(np.stack([opening, -20.0 * task.receiver_x, np.full(count, strength)], axis=1))[4]
        return infos["discharged"], infos["clogged"]

    still, clogged = discharged(-1.0)
    assert (still < 0.1).all() and clogged.all()
    shaken, clogged = discharged(1.0)
    assert (shaken > still).all() and shaken.mean() > 3.0 * still.mean() and not clogged.any()


def test_expert_meets_the_dose_and_random_does_not(make_vec: Any) -> None:
    seeds = 2
    envs = make_vec(SILO, 2 * seeds, grain_count=500, autoreset_mode="Disabled", reward="paper")
    envs.reset(seed=[*range(seeds), *range(seeds)])
    expert = scripted_expert(envs)
    envs.action_space.seed(0)
    returns = np.zeros(2 * seeds)
    for _ in range(120):
        actions = envs.action_space.sample()
        actions[:seeds] = expert.act()[:seeds]
        _, rewards, _, truncated, infos = envs.step(actions)
        returns += rewards
    assert truncated.all() and not infos["diverged"].any()
    assert infos["success"][:seeds].all() and (infos["received"][:seeds] > 0.2).all()
    assert (returns[:seeds] > returns[seeds:] + 50.0).all()


@pytest.mark.parametrize(
    "kwargs, word",
    [
        ({"slope": 80}, "slope"),
        ({"slope": "flat"}, "slope"),
        ({"hopper": "flat", "slope": 55.0}, "slope: expected None or 0"),
        ({"hopper": "sphere"}, "hopper: expected one of 'wedge', 'flat', 'cone'"),
        ({"outlet": 0.1}, "outlet"),
        ({"shaker": 1}, "shaker"),
        ({"grain": "sugar"}, "grain: expected one of .*, 'cube', 'rod', 'octagon', 'hash', 'u'"),
        ({"grain": ("hash", "sphere")}, "grain: expected one of 'octagon', 'hash', 'u'"),
        ({"grain": ("hash", "hash")}, "grain: expected a name or several different ones"),
        ({"grain": 3}, "grain: expected"),
        ({"grain": "hash", "hopper": "cone"}, "hopper: expected 'wedge' or 'flat'"),
        ({"shaker": "gate"}, "shaker: expected one of 'hopper', 'wall'"),
    ],
)
def test_bad_arguments_name_themselves(kwargs: dict[str, Any], word: str) -> None:
    with pytest.raises(gg.ArgumentError, match=word):
        SiloEnv(**kwargs)
