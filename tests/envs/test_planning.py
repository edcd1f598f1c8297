"""The planner: its predictions are exact, and its return is at least that of its guide."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from env_helpers import BULLDOZER, same, small

import granular_gym as gg
from granular_gym.tasks.expert import scripted_expert
from granular_gym.tasks.registry import task_ids
from granular_gym.tasks.task import copies_of
from granular_gym.training.planning import Planner, correlated_noise

#: a task whose reward depends on every action at once
GEARS = "granular_gym/GearTower-v1"
HORIZON = 6


def play(env: Any, actions: Any) -> list[float]:
    return [float(env.step(action)[1]) for action in actions]


@pytest.mark.parametrize("name", task_ids())
def test_copies_have_the_future_of_the_env(name: str, make: Any, make_vec: Any) -> None:
    env, copies = make(name, **small(name)), make_vec(name, num_envs=3, **small(name))
    env.reset(seed=7)
    actions = np.random.default_rng(0).uniform(-1, 1, (4, *env.action_space.shape)).astype(np.float32)
    play(env, actions[:2])
    task, batch = env.unwrapped.task, copies.unwrapped.task
    batch.load(copies_of(task.save(), 3))
    for action in actions[2:]:
        task.step(action[None], np.zeros(1, bool))
        batch.step(np.repeat(action[None], 3, axis=0), np.zeros(3, bool))
        alone, among = task.outcome(), batch.outcome()
        for env_index in range(3):
            assert batch.world.state_hash(env_index) == task.world.state_hash(0)
            assert among[0][env_index] == alone[0][0]
            assert same({k: v[env_index] for k, v in among[3].items()}, {k: v[0] for k, v in alone[3].items()})


@pytest.mark.parametrize("guided", [True, False])
def test_what_is_foreseen_happens(guided: bool, make: Any, make_vec: Any) -> None:
    env, copies = make(GEARS, **small(GEARS)), make_vec(GEARS, num_envs=5, **small(GEARS))
    env.reset(seed=2)
    planner = Planner(
        copies,
        guide=scripted_expert(_reset(copies)) if guided else None,
        horizon=HORIZON,
        interval=HORIZON,
        rounds=2,
        last_weight=3.0,
    )
    first = planner.act(env)
    rewards = play(env, [first]) + [play(env, [planner.act(env)])[0] for _ in range(HORIZON - 1)]
    assert planner.steps_tried == 2 * 5 * HORIZON
    assert planner.expected == pytest.approx(sum(rewards) + 2.0 * rewards[-1], abs=1e-9)


def test_it_does_at_least_as_well_as_its_guide_and_as_its_last_plan(make: Any, make_vec: Any) -> None:
    env, copies, other = (
        make(GEARS, **small(GEARS)),
        make_vec(GEARS, num_envs=6, **small(GEARS)),
        make(GEARS, **small(GEARS)),
    )
    for each in (env, other):
        each.reset(seed=4)
    expert = scripted_expert(other)
    guided = sum(play(other, [expert.act()])[0] for _ in range(HORIZON))
    expected = []
    for seed in range(4):
        guide = scripted_expert(_reset(copies))
        planner = Planner(copies, guide=guide, horizon=HORIZON, interval=1, noise=0.8, seed=seed)
        planner.plan(env)
        expected.append(planner.expected)
    assert min(expected) >= guided, "the guide's own way is among those that are tried"
    assert max(expected) > guided, "some noise is better than none"
    before = planner.expected
    planner.plan(env)
    assert planner.expected >= before, "the best sequence is tried again"


def test_the_same_seed_plans_the_same(make: Any, make_vec: Any) -> None:
    played = []
    for seed in (1, 1, 2):
        env = make(GEARS, **small(GEARS))
        env.reset(seed=3)
        planner = Planner(make_vec(GEARS, num_envs=4, **small(GEARS)), horizon=4, interval=2, seed=seed)
        played.append(np.array([planner.act(env) for _ in range(3)]))
        planner.reset()
        assert planner.expected == -np.inf
    assert np.array_equal(played[0], played[1]) and not np.array_equal(played[0], played[2])
    assert played[0].dtype == np.float32 and np.abs(played[0]).max() <= 1.0


def test_noise_is_correlated_in_time() -> None:
    noise = correlated_noise(np.random.default_rng(0), 4000, 30, 2, 0.8)
    assert noise.shape == (4000, 30, 2)
    assert noise.std(axis=0) == pytest.approx(np.ones((30, 2)), abs=0.06)
    assert (noise[:, 10] * noise[:, 11]).mean() == pytest.approx(0.8, abs=0.05)
    assert (noise[..., 0] * noise[..., 1]).mean() == pytest.approx(0.0, abs=0.03)


def test_a_copy_that_diverges_is_not_chosen(make: Any, make_vec: Any) -> None:
    env, copies = make(), make_vec(num_envs=4)
    env.reset(seed=1)
    planner = Planner(copies, horizon=3, interval=3)
    outcome = planner.task.outcome

    def broken() -> Any:
        reward, terminated, _, infos = outcome()
        return reward + np.array([0.0, 0.0, 0.0, 1e6]), terminated, np.arange(4) == 3, infos

    planner.task.outcome = broken  # type: ignore[method-assign]
    planner.plan(env)
    assert np.isfinite(planner.expected) and planner.expected < 1e6


@pytest.mark.parametrize(
    "arguments, word",
    [
        ({"horizon": 0}, "horizon"),
        ({"horizon": 5, "interval": 6}, "interval"),
        ({"rounds": 0}, "rounds"),
        ({"noise": [1.0, 2.0, 3.0]}, "noise"),
        ({"correlation": 1.0}, "correlation"),
        ({"temperature": 0.0}, "temperature"),
        ({"last_weight": -1.0}, "last_weight"),
        ({"seed": -1}, "seed"),
    ],
)
def test_bad_arguments(arguments: dict[str, Any], word: str, make_vec: Any) -> None:
    with pytest.raises(gg.ArgumentError, match=word):
        Planner(make_vec(num_envs=3), **arguments)


def test_copies_of_another_kind_are_refused(make: Any, make_vec: Any) -> None:
    with pytest.raises(gg.ArgumentError, match="copies"):
        Planner(make_vec(num_envs=2))
    with pytest.raises(gg.ArgumentError, match="copies"):
        Planner(make())
    planner = Planner(make_vec(num_envs=3))
    silo = make("granular_gym/Silo-v1")
    silo.reset(seed=0)
    with pytest.raises(gg.ArgumentError, match="env"):
        planner.act(silo)
    finer = make(BULLDOZER, grain_count=61)
    finer.reset(seed=0)
    with pytest.raises(gg.StateError):
        planner.act(finer)
    with pytest.raises(gg.ArgumentError, match="reset"):
        planner.act(make())
    longer = make(frame_skip=2)
    longer.reset(seed=0)
    with pytest.raises(gg.ArgumentError, match=r"env: expected steps of .* s, as those of the copies"):
        planner.act(longer)


@pytest.mark.parametrize("seen, planned", [({"sensor": "structured_light"}, {}), ({}, {"sensor": "structured_light"})])
def test_copies_need_not_see_as_the_env_does(seen: Any, planned: Any, make: Any, make_vec: Any) -> None:
    plain, env = make(), make(**seen)
    actions = []
    for each, copies in ((plain, make_vec(num_envs=3)), (env, make_vec(num_envs=3, **planned))):
        each.reset(seed=0)
        actions.append(Planner(copies, horizon=3, interval=1).act(each))
    assert np.array_equal(*actions)


def _reset(copies: Any) -> Any:
    copies.reset(seed=0)
    return copies
