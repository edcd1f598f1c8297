"""Older versions of tasks stay as they were; the newest differs in what it shows, and has the bare name."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from env_helpers import same, small

from granular_gym.envs.bulldozer import BulldozerTask, BulldozerV1Env, BulldozerV1Task
from granular_gym.tasks.expert import scripted_expert
from granular_gym.tasks.registry import newest_ids, task_id, task_ids, unversioned, version
from granular_gym.training.recipes import exploration, recipe

#: what version 0 of a task observes, by the shapes of its entries
ZEROTH = {
    "granular_gym/Bulldozer-v0": {"ego": (36, 36), "sky": (36, 72), "pose": (3,)},
    "granular_gym/Silo-v0": {"side": (48, 64), "flow": (9,)},
    "granular_gym/GearTower-v0": {"sky": (36, 36), "drive": (5,)},
}
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
    old, new = (make_vec(f"{unversioned(name)}-v{k}", 2, **small(name)) for k in range(2))
    shown, ours = old.reset(seed=3), new.reset(seed=3)
    rng = np.random.default_rng(0)
    for _ in range(4):
        kept = {key: ours[0][key] for key in shown[0]}
        assert same(kept, shown[0]) and same(ours[1:], shown[1:])
        assert new.observation_space.contains(ours[0])
        actions = rng.uniform(-1.0, 1.0, old.action_space.shape).astype(np.float32)
        shown, ours = old.step(actions), new.step(actions)
    assert same(scripted_expert(old).act(), scripted_expert(new).act())


def test_a_version_is_a_subclass_with_env_classes_of_its_own(make: Any) -> None:
    assert issubclass(BulldozerV1Task, BulldozerTask)
    assert 'make("granular_gym/Bulldozer-v1")' in str(BulldozerV1Env.__doc__)
    assert type(make("granular_gym/Bulldozer-v1").unwrapped) is BulldozerV1Env


@pytest.mark.parametrize("name", ZEROTH)
def test_versions_are_learned_alike(name: str) -> None:
    newest = task_id(unversioned(name))
    assert recipe(name, "TD3") == recipe(newest, "TD3") and exploration(name) == exploration(newest)
