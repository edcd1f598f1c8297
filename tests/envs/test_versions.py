"""Older versions of tasks stay as they were; the newest differs in what it shows, and has the bare name."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from env_helpers import same, small

from granular_gym.envs.bulldozer import BulldozerTask, BulldozerV1Env, BulldozerV1Task
from granular_gym.errors import ArgumentError
from granular_gym.tasks.expert import scripted_expert
from granular_gym.tasks.registry import newest_ids, task_class, task_id, task_ids, unversioned, version
from granular_gym.training.recipes import recipe, recipe_of

#: what version 0 of a task observes, by the shapes of its entries
ZEROTH = {
    "granular_gym/Bulldozer-v0": {"ego": (36, 36), "sky": (36, 72), "pose": (3,)},
    "granular_gym/Silo-v0": {"side": (48, 64), "flow": (9,)},
    "granular_gym/GearTower-v0": {"sky": (36, 36), "drive": (5,)},
    "granular_gym/Level-v0": {"sky": (36, 54), "target": (36, 54), "blade": (8,)},
    "granular_gym/Pour-v0": {"side": (48, 64), "cup": (36, 36), "state": (8,)},
    "granular_gym/Excavator-v0": {
        "wrist": (36, 36), "side": (36, 72), "joints": (7,), "velocities": (7,), "wrench": (6,), "bin": (2,),
    },
}  # fmt: skip
#: how version 1 is asked for the rewards of version 0, where not by "paper"
PAPER = {"granular_gym/Bulldozer-v1": "level"}
LATER = [name for name in newest_ids() if version(name) > 0]


def test_every_task_has_one_newest_version() -> None:
    assert [unversioned(name) for name in newest_ids()] == list(dict.fromkeys(map(unversioned, task_ids())))
    for name in newest_ids():
        assert version(name) == max(version(other) for other in task_ids() if unversioned(other) == unversioned(name))
    assert {unversioned(name) for name in LATER} == {unversioned(name) for name in ZEROTH}


@pytest.mark.parametrize("name", task_ids())
def test_names_lead_to_versions(name: str) -> None:
    assert task_id(name) == task_id(name.rpartition("/")[2].lower()) == name
    newest = next(other for other in newest_ids() if unversioned(other) == unversioned(name))
    assert task_id(unversioned(name)) == newest
    with pytest.warns(UserWarning, match="latest versioned"):
        env = gym.make(unversioned(name))
    assert env.spec.id == newest, "as Gymnasium has it"
    env.close()


@pytest.mark.parametrize("name", ZEROTH)
def test_an_older_version_is_made_with_gymnasium_s_warning(name: str) -> None:
    with pytest.warns(DeprecationWarning, match="is out of date"):
        env = gym.make(name, **small(name))
    assert {key: box.shape for key, box in env.observation_space.spaces.items()} == ZEROTH[name]
    observation, _ = env.reset(seed=0)
    assert env.observation_space.contains(observation)
    env.close()


@pytest.mark.parametrize("name", LATER)
def test_versions_play_the_same_episode(name: str, make_vec: Any) -> None:
    old = make_vec(f"{unversioned(name)}-v0", 2, **small(name))
    new = make_vec(name, 2, reward=PAPER.get(name, "paper"), **small(name))
    state = make_vec(name, 2, observation="state", **small(name))
    blind = state.reset(seed=3)
    shown, ours = old.reset(seed=3), new.reset(seed=3)
    rng = np.random.default_rng(0)
    for _ in range(4):
        kept = {key: ours[0][key] for key in shown[0]}
        assert same(kept, shown[0]) and same(ours[1:], shown[1:])
        assert same(blind[-1], shown[-1]), "what is shown changes nothing"
        assert new.observation_space.contains(ours[0])
        actions = rng.uniform(-1.0, 1.0, old.action_space.shape).astype(np.float32)
        shown, ours, blind = old.step(actions), new.step(actions), state.step(actions)
    assert same(scripted_expert(old).act(), scripted_expert(new).act())


@pytest.mark.parametrize("name", [name for name in LATER if name not in PAPER])
def test_rewards_are_scaled_unless_they_are_the_paper_s(name: str, make_vec: Any) -> None:
    scaled, paper = (make_vec(name, 2, reward=reward, **small(name)) for reward in ("change", "paper"))
    full = scaled.unwrapped.task.full_return
    for envs in (scaled, paper):
        envs.reset(seed=3)
    for _ in range(3):
        actions = np.ones(scaled.action_space.shape, np.float32)
        ours, theirs = scaled.step(actions)[1], paper.step(actions)[1]
        assert np.array_equal(ours, theirs / full)
    with pytest.raises(ArgumentError, match="reward: expected"):
        make_vec(name, 2, reward="much", **small(name))


def test_a_version_is_a_subclass_with_env_classes_of_its_own(make: Any) -> None:
    assert issubclass(BulldozerV1Task, BulldozerTask)
    assert 'make("granular_gym/Bulldozer-v1")' in str(BulldozerV1Env.__doc__)
    assert type(make("granular_gym/Bulldozer-v1").unwrapped) is BulldozerV1Env


@pytest.mark.parametrize("name", ZEROTH)
def test_versions_are_learned_alike(name: str) -> None:
    newest = task_id(unversioned(name))
    old, new, kind = recipe(name, "TD3"), recipe(newest, "TD3", "images"), task_class(newest)
    assert new["scale"] == pytest.approx(kind.full_return * old["scale"]) and new["repeat"] == old["repeat"]
    assert recipe_of(name).log_std == recipe_of(newest).log_std
    for algorithm in ("SAC", "TD3", "PPO"):
        found = recipe(newest, algorithm)
        assert found["arguments"]["observation"] == "state" and found["arguments"]["frame_skip"] == old["repeat"]
