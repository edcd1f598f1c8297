"""Experience that learners draw from: n-step returns, demonstrations in memory and in files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from granular_gym.errors import ArgumentError, StateError
from granular_gym.tasks.state_vector import Entry, StateVector
from granular_gym.training.replay import Replay, half_mirrored

GAMMA, STEPS = 0.9, 3


def filled(rows: int, capacity: int, broken: int = -1) -> tuple[Replay, list[dict[str, Any]]]:
    """A replay of one env whose observation is the number of the step; episodes of 7 and 5 steps in turns, every other
    one terminated; step `broken` diverged."""
    replay = Replay(capacity, 1, np.dtype((np.float32, (1,))), 1, GAMMA, STEPS)
    steps, left, long, terminal = [], 7, True, False
    for k in range(rows):
        left -= 1
        ended = left == 0
        step = {
            "reward": float(k % 4),
            "ended": ended or k == broken,
            "terminated": ended and terminal,
            "next": k + 0.5,
        }
        steps.append(step)
        row = np.array([[k]], np.float32)
        replay.add(
            row, -row, row, np.array([step["reward"]]), row + 0.5, np.array([step["terminated"]]),
            np.array([step["ended"]]), np.array([k == broken]),
        )  # fmt: skip
        if ended:
            long, terminal = not long, not terminal
            left = 7 if long else 5
    return replay, steps


@pytest.mark.parametrize("rows, capacity", [(3, 64), (40, 64), (150, 64)])
def test_n_step_returns_are_those_of_the_episode(rows: int, capacity: int) -> None:
    replay, steps = filled(rows, capacity)
    found = replay.sample(np.random.default_rng(0), 400)
    oldest = max(0, rows - capacity)
    assert set(found.observations[:, 0].astype(int)) == set(range(oldest, rows))
    for k in range(400):
        first = int(found.observations[k, 0])
        assert found.actions[k, 0] == -first
        total, discount, last = 0.0, 1.0, first
        for last in range(first, min(first + STEPS, rows)):
            total += discount * steps[last]["reward"]
            discount *= GAMMA
            if steps[last]["ended"]:
                break
        value = 0.0 if steps[last]["terminated"] else discount
        # the observation after a step that goes on is that of the next step, which the ring keeps once
        after = steps[last]["next"] if steps[last]["ended"] or last == rows - 1 else last + 1
        assert found.rewards[k] == pytest.approx(total) and found.discounts[k] == pytest.approx(value)
        assert found.following[k, 0] == pytest.approx(after)


def test_a_step_that_diverged_is_counted_and_never_drawn() -> None:
    replay, _ = filled(40, 64, broken=10)
    found = replay.sample(np.random.default_rng(1), 2000)
    assert replay.skipped == 1 and 10 not in found.observations[:, 0]
    before = found.observations[:, 0] == 9
    # the episode ends with the last observation that can be trusted
    assert before.any() and (found.following[before, 0] == 10).all() and np.allclose(found.discounts[before], GAMMA)
    replay.add(*(np.full((1, 1), np.nan, np.float32),) * 3, np.array([np.nan]), np.full((1, 1), np.nan),
               np.zeros(1, bool), np.zeros(1, bool), np.zeros(1, bool))  # fmt: skip
    assert replay.skipped == 2 and np.isfinite(replay.sample(np.random.default_rng(2), 500).rewards).all()


def test_where_every_step_diverged_none_is_drawn() -> None:
    empty, broken = filled(0, 8)[0], filled(1, 8, broken=0)[0]
    for replay in (empty, broken):
        assert not replay.usable
        with pytest.raises(ArgumentError, match="replay: expected a step of an env that had not diverged, got none of"):
            replay.sample(np.random.default_rng(0), 4)
    ring = filled(20, 8)[0]
    assert ring.usable and len(ring) == 8 and ring.added == 20


def test_observations_with_as_many_numbers_as_actions_are_mirrored_as_observations() -> None:
    vector = StateVector([Entry("left", "", (1,)), Entry("right", "", (-1,))], action_signs=(-1, 1))
    rows = np.ones((64, 2), np.float32)
    names = ("observations", "actions", "labels", "rewards", "following")
    fields = dict(zip(names, (rows, 2 * rows, 3 * rows, rows[:, 0], 4 * rows), strict=True))
    seen, actions, labels, rewards, following = half_mirrored(np.random.default_rng(0), vector, **fields)
    half = seen[:, 1] < 0.0
    assert 0 < half.sum() < 64 and (rewards == 1.0).all() and (seen[:, 0] == 1.0).all()
    assert ((following == 4 * seen).all(axis=1)).all()
    for array, size in ((actions, 2.0), (labels, 3.0)):
        assert (array[half] == (-size, size)).all() and (array[~half] == size).all()


def learner_env(**arguments: Any) -> Any:
    """Two envs of few grains, whose episodes last 12 decisions."""
    pytest.importorskip("stable_baselines3", reason="Stable-Baselines3 is not installed")
    from granular_gym.training.batch import make_batch
    from granular_gym.training.learner_env import LearnerEnv

    fixed = {"grain_count": 40, "num_threads": 1, "observation": "state", "frame_skip": 5, "max_episode_steps": 12}
    return LearnerEnv(make_batch("granular_gym/Bulldozer-v1", 2, {**fixed, **arguments}))


@pytest.mark.torch
def test_demonstrations_are_whole_episodes_and_survive_a_file(tmp_path: Path) -> None:
    env = learner_env()
    from granular_gym.training import demonstrations

    shown = demonstrations.collect(env, 3, seed=5)
    steps = shown.steps
    assert len(shown.returns) == 3 and len(steps["rewards"]) == 36 and steps["ended"].sum() == 3
    assert not steps["terminated"].any() and not steps["diverged"].any()
    assert np.abs(steps["labels"]).max() <= 1.0 and (steps["actions"] != steps["labels"]).any()
    # within an episode the observation after a step is the one before the next
    inner = ~steps["ended"][:-1]
    assert np.array_equal(steps["following"][:-1][inner], steps["observations"][1:][inner])
    again = demonstrations.load(shown.save(tmp_path / "shown.npz"))
    assert again.about == shown.about and all(np.array_equal(again.steps[name], steps[name]) for name in steps)
    again.check_for(env.about)
    same = demonstrations.collect(env, 3, seed=5)
    assert all(np.array_equal(same.steps[name], steps[name]) for name in steps)
    plain = demonstrations.collect(env, 2, seed=5, disturbance=0.0).steps
    assert np.array_equal(plain["actions"], plain["labels"])
    with pytest.raises(ArgumentError, match="disturbance"):
        demonstrations.collect(env, 2, seed=5, disturbance=-0.1)
    env.close()


@pytest.mark.torch
def test_dough_is_demonstrated_as_its_recipe_says() -> None:
    """Deciding as often as the learner, every episode succeeds, with noise as without."""
    pytest.importorskip("stable_baselines3", reason="Stable-Baselines3 is not installed")
    from granular_gym.training import demonstrations
    from granular_gym.training.batch import make_batch
    from granular_gym.training.learner_env import LearnerEnv
    from granular_gym.training.recipes import recipe

    dough = "granular_gym/Dough-v0"
    how = recipe(dough, "SAC")
    arguments = {**how.pop("arguments"), "preset": "train", "num_threads": 1}
    env = LearnerEnv(make_batch(dough, 2, arguments), **how)
    shown = demonstrations.collect(env, 2, seed=0)
    assert (shown.returns / env.scale).min() > 0.7 and len(shown.steps["rewards"]) == 200
    assert np.array_equal(shown.steps["actions"], shown.steps["labels"])
    disturbed = demonstrations.collect(env, 2, seed=0, disturbance=0.05)
    assert (disturbed.returns / env.scale).min() > 0.7
    assert not np.array_equal(disturbed.steps["actions"], disturbed.steps["labels"])
    env.close()


@pytest.mark.torch
@pytest.mark.parametrize("name, changed", [
    ("frame_skip", {"frame_skip": 4}),
    ("observation", {"observation": "images"}),
    ("preset", {"preset": "accurate"}),
])  # fmt: skip
def test_demonstrations_of_another_pace_or_observation_are_refused(name: str, changed: dict[str, Any]) -> None:
    env, other = learner_env(), learner_env(**changed)
    from granular_gym.training.demonstrations import Demonstrations

    with pytest.raises(ArgumentError, match=f"demonstrations: expected {name}"):
        Demonstrations(env.about, {}, np.zeros(0)).check_for(other.about)
    env.close()
    other.close()


@pytest.mark.torch
def test_demonstrations_with_other_arguments_of_the_task_are_refused(tmp_path: Path) -> None:
    env, harder = learner_env(), learner_env(grain_count=50, difficulty="hard", friction_range=(0.3, 0.5))
    paid, formed = learner_env(reward="level"), learner_env(reward="change")
    from granular_gym.training import demonstrations
    from granular_gym.training.demonstrations import Demonstrations

    shown = demonstrations.collect(paid, 1)
    with pytest.raises(ArgumentError, match="expected the task's argument reward='change' as in training, got 'level'"):
        demonstrations.load(shown.save(tmp_path / "paid.npz")).check_for(env.about)
    own = Demonstrations(env.about, {}, np.zeros(0))
    own.check_for(harder.about)
    own.check_for(formed.about)
    # a file of before these were kept says less; one of `dataset` has the arguments that were given
    old = {name: value for name, value in env.about.items() if name not in ("actions", "task_arguments")}
    Demonstrations(old, {}, np.zeros(0)).check_for(paid.about)
    with pytest.raises(ArgumentError, match="the task's argument reward='level' as in training, got 'change'"):
        Demonstrations({**old, "arguments": {"reward": "change"}}, {}, np.zeros(0)).check_for(paid.about)
    for about in ({**env.about, "actions": 3}, old):
        three = Demonstrations(about, {**shown.steps, "actions": np.zeros((12, 3))}, np.zeros(0))
        with pytest.raises(ArgumentError, match="demonstrations: expected actions 2 as in training, got 3"):
            three.check_for(env.about)
    for each in (env, harder, paid, formed):
        each.close()


@pytest.mark.torch
def test_a_damaged_file_of_demonstrations_is_refused(tmp_path: Path) -> None:
    pytest.importorskip("stable_baselines3", reason="Stable-Baselines3 is not installed")
    from granular_gym.training import demonstrations

    path = tmp_path / "shown.npz"
    with pytest.raises(StateError, match="no such file"):
        demonstrations.load(path)
    for content in (b"", b"PK\x03\x04 cut short", b"not a file of arrays"):
        path.write_bytes(content)
        with pytest.raises(StateError, match="damaged"):
            demonstrations.load(path)
    np.savez(path, something=np.zeros(3))
    with pytest.raises(StateError, match="damaged"):
        demonstrations.load(path)
