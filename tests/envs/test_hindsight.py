"""Hindsight: a relabelled episode is what would have been seen and paid, had that goal been drawn."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import gymnasium as gym
import numpy as np
import pytest

from granular_gym import ArgumentError
from granular_gym.tasks.expert import scripted_expert
from granular_gym.tasks.heights import HeightGrid

BULLDOZER = "granular_gym/Bulldozer-v1"
ARGUMENTS: dict[str, Any] = {"grain_count": 40, "num_threads": 1, "observation": "state", "frame_skip": 5}


def twins() -> Any:
    """Two envs with the same grains and vehicles; the goal of the second lies where those of the first are pushed."""
    envs: Any = gym.make_vec(BULLDOZER, num_envs=2, **ARGUMENTS)
    envs.reset(seed=[3, 3])
    task = envs.task
    task.goal[1] = task.goal[0] + np.float32([-1.7, 0.1, 0.0, -1.7, 0.1, 0.0])
    heap = task.world.positions[0, :, :2].mean(axis=0)
    task.pose[:] = heap[0] - 1.1, heap[1], 0.0
    task.world.set_tool_poses(task.world.drive_poses(task.pose))
    task._plan_goals()
    task._measure()
    return envs


def memory() -> Any:
    """Of two envs."""
    pytest.importorskip("torch", reason="torch is not installed")
    from granular_gym.training.hindsight import Hindsight
    from granular_gym.training.replay import Replay

    return Hindsight(2, Replay(64, 1, np.dtype((np.float32, (139,))), 2, 0.98, 3))


def test_vectors_are_computed_as_they_were_seen() -> None:
    envs: Any = gym.make_vec(BULLDOZER, num_envs=3, **{**ARGUMENTS, "grain_count": 100})
    seen = envs.reset(seed=1)[0]["state"]
    expert, task = scripted_expert(envs), envs.task
    for _ in range(25):
        relabelled = task.state_for(task.achieved_goal(), task.desired_goal(), task.context())
        assert relabelled.dtype == seen.dtype and relabelled.tobytes() == seen.tobytes()
        seen = envs.step(expert.act())[0]["state"]
    envs.close()


def test_columns_are_counted_as_the_world_does() -> None:
    """Also of grains on borders, at the walls and beyond them."""
    grid = HeightGrid((-1.0, -0.5), (1.0, 0.7), (6, 9))
    envs: Any = gym.make_vec(BULLDOZER, num_envs=2, **ARGUMENTS)
    envs.reset(seed=0)
    draw = np.random.default_rng(0)
    points = draw.uniform((-1.2, -0.7, 0.0), (1.2, 0.9, 1.0), (2, 40, 3)).astype(np.float32)
    points[:, :4, 0], points[:, 2:6, 1] = (-1.0, 1.0, 0.0, 1.0 / 9.0), (-0.5, 0.7, 0.1, 0.0)
    envs.task.world.set_grains(positions=points)
    assert np.array_equal(grid.counts_of(points), envs.task.world.count_columns(*grid.columns))
    envs.close()


def test_an_episode_is_relabelled_as_it_would_have_been(monkeypatch: Any) -> None:
    envs, kept, scale = twins(), memory(), 10.0
    task = envs.task
    one: Any = SimpleNamespace(batch=envs, scale=scale)
    draw = np.random.default_rng(0)
    seen, paid = [task.sense_state()], []
    states = [task.world.positions]
    for _ in range(8):
        actions = np.tile(draw.uniform(0.5, 1.0, 2).astype(np.float32), (2, 1)) * np.float32([1.0, 0.1])
        kept.watch(one, actions)
        observations, rewards, *_ = envs.step(actions)
        seen.append(observations["state"])
        paid.append(rewards)
        states.append(task.world.positions)
    assert all(np.array_equal(*pair) for pair in states) and np.abs(np.array(paid)[:, 1]).max() > 1e-3
    goal = task.desired_goal()[1]
    monkeypatch.setattr(task, "goals_near", lambda draw, achieved, count: np.stack([goal] * count))
    kept.end(one, np.array([True, False]), np.zeros(2, bool), draw)
    assert len(kept.replay) == 7, "the state after the last decision is not relabelled"
    (relabelled,) = kept.replay.episodes()
    assert np.array_equal(relabelled["observations"], np.array(seen)[:7, 1])
    assert np.array_equal(relabelled["following"], np.array(seen)[1:8, 1])
    assert relabelled["rewards"] == pytest.approx(scale * np.array(paid)[:7, 1], rel=1e-6, abs=1e-9)
    assert not relabelled["terminated"].any() and not np.array_equal(relabelled["observations"], np.array(seen)[:7, 0])
    # what is drawn from it goes over the steps of that episode alone
    drawn = kept.replay.sample(draw, 200)
    first = (drawn.observations[:, None] == relabelled["observations"][None]).all(axis=2).argmax(axis=1)
    for k, at in enumerate(first.tolist()):
        steps = relabelled["rewards"][at : at + 3]
        assert drawn.rewards[k] == pytest.approx((steps * 0.98 ** np.arange(len(steps))).sum(), abs=1e-5)
        assert np.array_equal(drawn.following[k], relabelled["following"][min(at + 2, 6)])
    envs.close()


def test_an_env_that_diverged_is_not_relabelled() -> None:
    envs, kept = twins(), memory()
    one: Any = SimpleNamespace(batch=envs, scale=1.0)
    for _ in range(3):
        kept.watch(one, np.zeros((2, 2), np.float32))
    kept.end(one, np.ones(2, bool), np.array([True, False]), np.random.default_rng(0))
    assert len(kept.replay) == 2
    kept.end(one, np.ones(2, bool), np.zeros(2, bool), np.random.default_rng(0))
    assert len(kept.replay) == 2, "the episodes were relabelled already"
    envs.close()


def test_goals_lie_where_grains_were_moved_to() -> None:
    envs = twins()
    task, achieved = envs.task, np.repeat(envs.achieved_goal()[:1], 2, axis=0)
    achieved[1, :5, 0] += 1.0
    goals = task.goals_near(np.random.default_rng(0), achieved, 200)
    place = achieved[1, :5, :2]
    inside = ((place >= goals[:, None, :2]) & (place <= goals[:, None, 3:5])).all(axis=2).any(axis=1)
    assert inside.mean() > 0.9 and len(np.unique(goals[:, 0])) > 100
    assert goals[:, 3:5] - goals[:, :2] == pytest.approx(2.0, abs=1e-6)
    assert task.goals_near(np.random.default_rng(0), achieved[:1], 3).shape == (3, 6), "where nothing moved, too"
    envs.close()


# the learner ---------------------------------------------------------------------------------------------------------


def begin(folder: Path, **more: Any) -> Any:
    """A run of SAC with hindsight, of two envs whose episodes last 6 decisions."""
    pytest.importorskip("stable_baselines3", reason="Stable-Baselines3 is not installed")
    from granular_gym.training.run import Run, Settings
    from granular_gym.training.sac import SAC, SacSettings

    chosen = {"demonstrations": 0, "epochs": 1, "critic_updates": 2, "warm_up": 16, "batch": 8, "width": 8}
    tiny = SacSettings(**{**chosen, "capacity": 40, "hindsight": 0.5, **more})
    settings = Settings(BULLDOZER, {**ARGUMENTS, "max_episode_steps": 6}, 2, 1, "sum", 10.0, seed=3, chunk=10)
    return Run.begin(folder, settings, lambda env, seed: SAC(env, seed, tiny))


@pytest.mark.torch
@pytest.mark.parametrize("demonstrations", [0, 2])
def test_a_resumed_run_is_the_uninterrupted_one(demonstrations: int, tmp_path: Path) -> None:
    straight = begin(tmp_path / "straight", demonstrations=demonstrations)
    from granular_gym.training.run import Run

    begun = 5 * 6 * demonstrations  # demonstrations are env steps, too
    straight.train(env_steps=begun + 300)
    first = begin(tmp_path / "halves", demonstrations=demonstrations)
    first.train(env_steps=begun + 150)
    first.close()
    second = Run.resume(tmp_path / "halves")
    second.train(env_steps=begun + 300)
    one, two = straight.model, second.model
    for name, values in one.actor.state_dict().items():
        assert np.array_equal(values.numpy(), two.actor.state_dict()[name].numpy())
    kept = (run.replay_buffer.relabelled.replay.episodes() for run in (one, two))
    for relabelled, again in zip(*kept, strict=True):
        assert all(np.array_equal(relabelled[name], again[name]) for name in relabelled)
    assert len(one.replay_buffer.relabelled.replay) > 10
    straight.close()
    second.close()


@pytest.mark.torch
@pytest.mark.parametrize("demonstrations, rows", [(0, 4), (2, 2)])
def test_the_share_of_a_batch_that_is_relabelled(demonstrations: int, rows: int, tmp_path: Path) -> None:
    """Of own experience, which is the whole batch or the half of it that is not demonstrations."""
    run = begin(tmp_path, demonstrations=demonstrations)
    run.train(env_steps=200 + 60 * demonstrations)
    relabelled = run.model.replay_buffer.relabelled.replay
    relabelled._rewards[:] = 1000.0
    found, shown = run.model._sample()
    assert len(found.rewards) == 8 and shown == 2 * demonstrations
    assert (found.rewards >= 1000.0).sum() == (found.rewards[-rows:] >= 1000.0).sum() == rows
    run.close()


@pytest.mark.torch
@pytest.mark.parametrize(
    ("task", "changed", "learner"),
    [
        (BULLDOZER, {"observation": "images"}, {}),
        (BULLDOZER, {"reward": "level"}, {}),
        (BULLDOZER, {}, {"repeat": 2}),
        (BULLDOZER, {}, {"reward": "change"}),
        ("granular_gym/Silo-v1", {}, {}),
    ],
)
def test_what_cannot_be_relabelled_is_refused(task: str, changed: dict[str, Any], learner: dict[str, Any]) -> None:
    pytest.importorskip("stable_baselines3", reason="Stable-Baselines3 is not installed")
    from granular_gym.training.batch import make_batch
    from granular_gym.training.learner_env import LearnerEnv
    from granular_gym.training.sac import SAC, SacSettings

    env = LearnerEnv(make_batch(task, 2, {**ARGUMENTS, **changed}), **learner)
    with pytest.raises(ArgumentError, match="^hindsight: expected"):
        SAC(env, 0, SacSettings(hindsight=0.5))
    env.close()
    with pytest.raises(ArgumentError, match="^hindsight: expected"):
        SacSettings(hindsight=1.5)
