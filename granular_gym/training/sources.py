"""sources.py: the episodes of each kind of dataset, see `datasets.KINDS`."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from dataclasses import replace as changed
from typing import Any

import numpy as np

from granular_gym.errors import ArgumentError, StateError
from granular_gym.training.batch import make_batch
from granular_gym.training.datasets import EPISODES, Request
from granular_gym.training.demonstrations import Demonstrations, DisturbedExpert, Player, RandomPlayer, record
from granular_gym.training.export import read_sac
from granular_gym.training.learner_env import LearnerEnv
from granular_gym.training.recipes import OF_A_RUN, recipe, recipe_of
from granular_gym.training.run import versions

#: as many as the training scripts play at once: the same seed then gives the same episodes
ENVS = 8


def expert(request: Request) -> Demonstrations:
    """Episodes of the scripted expert."""
    return _played(request, lambda batch, draw: DisturbedExpert(batch, 0.0, draw))


def noisy(request: Request) -> Demonstrations:
    """Episodes of the disturbed expert."""
    most = recipe_of(request.task).disturbance if request.disturbance is None else request.disturbance
    return _played(request, lambda batch, draw: DisturbedExpert(batch, most, draw), disturbance=most)


def uniform(request: Request) -> Demonstrations:
    """Episodes of random actions."""
    return _played(request, RandomPlayer)


def replay(request: Request) -> Demonstrations:
    """The newest whole episodes in the replay buffer of a run of SAC."""
    assert request.run is not None
    about, members = read_sac(request.run)
    settings = about["settings"]
    if settings["task"] != request.task:
        raise ArgumentError(f"run: expected one of {request.task}, got one of {settings['task']}")
    try:
        env = LearnerEnv.load(members["envs.pickle"])
        episodes = pickle.loads(members["replay.pickle"]).own.episodes()
    except Exception as error:  # of an archive that is whole but was written by other versions
        raise StateError(f"{request.run}: expected a run of these versions of the packages ({error})") from error
    learner = env.about
    env.close()
    count = request.episodes or len(episodes)
    if not 1 <= count <= len(episodes):
        raise ArgumentError(f"episodes: expected at most {len(episodes)}, the whole ones in {request.run}, got {count}")
    found = Demonstrations.of(learner, episodes[-count:])
    trained = {"env_steps": about["env_steps"], "episodes": len(about["episodes"]), "versions": about["versions"]}
    return _described(found, request, settings["seed"], settings["arguments"], run=trained)


def _played(request: Request, make_player: Callable[[Any, np.random.Generator], Player], **more: Any) -> Demonstrations:
    """Episodes that are played now; what is learned from are the actions played."""
    found = recipe(request.task, "SAC")
    arguments = {**found.pop("arguments"), "num_threads": 1, **request.arguments}
    env = LearnerEnv(make_batch(request.task, ENVS, arguments), **found)
    seed = request.seed or 0
    try:
        played = record(env, request.episodes or EPISODES, seed, lambda draw: make_player(env.batch, draw))
    finally:
        env.close()
    played = changed(played, steps={**played.steps, "labels": played.steps["actions"]})
    return _described(played, request, seed, arguments, **more)


def _described(
    found: Demonstrations, request: Request, seed: int, arguments: dict[str, Any], **more: Any
) -> Demonstrations:
    """The dataset with what `datasets.make_dataset` says of it."""
    about = {
        **found.about,
        "kind": request.kind,
        "seed": seed,
        "episodes": len(found.returns),
        "mean_return": float(found.returns.mean() / found.about["scale"]),
        "arguments": {name: value for name, value in arguments.items() if name not in OF_A_RUN},
        "versions": versions(),
    }
    return changed(found, about={**about, **more})
