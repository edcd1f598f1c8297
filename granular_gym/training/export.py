"""export.py: a trained policy out of a checkpoint into a file with its card, see `pretrained`."""

from __future__ import annotations

import io
import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from granular_gym.errors import StateError
from granular_gym.tasks.state_vector import NAME as STATE
from granular_gym.training import checkpoint, evaluation
from granular_gym.training.batch import make_batch
from granular_gym.training.policies import algorithm_class
from granular_gym.training.pretrained import Card, Pretrained, entries_of, write_pretrained
from granular_gym.training.recipes import EPISODES, FIRST_SEED, OF_A_RUN, OFFICIAL


def export(run: Path, path: Path, name: str, episodes: int = EPISODES) -> Card:
    """Writes the policy of a run, evaluated as the file will be played.

    Args:
        run: folder of a run of SAC on a task's state vector.
        path: of the file.
        name: of the policy.
        episodes: of the evaluation, from seed FIRST_SEED on.

    Returns:
        The card.

    Raises:
        StateError: the checkpoint is missing or damaged, or of another algorithm or observation.
        GranularError: the `train` extra or safetensors is not installed.
        OSError: the file cannot be written.
    """
    about, members = read_sac(run)
    settings = about["settings"]
    model = algorithm_class("SAC").load(io.BytesIO(members["model.zip"]))
    batch = make_batch(settings["task"], 1, settings["arguments"])
    entries = entries_of(batch.task.state_vector)
    batch.close()
    report = run / "report.json" if run.is_dir() else run.with_name("report.json")
    command = json.loads(report.read_text())["command"] if report.exists() else ""
    arguments = {key: value for key, value in settings["arguments"].items() if key not in OF_A_RUN} | OFFICIAL
    card: Card = {
        "name": name,
        "task": settings["task"],
        "arguments": arguments,
        "entries": entries,
        "algorithm": about["algorithm"],
        "command": command,
        "seed": settings["seed"],
        "env_steps": about["env_steps"],
        "seconds": about["seconds"],
        "training": {"arguments": settings["arguments"], "learner": asdict(model.settings)},
        "versions": about["versions"],
    }
    return write_policy(path, model, card, episodes)


def read_sac(run: Path) -> tuple[dict[str, Any], dict[str, bytes]]:
    """The checkpoint of a run of SAC on a task's state vector, see `checkpoint.read`.

    Raises:
        StateError: it is missing or damaged, or of another algorithm or observation.
    """
    about, members = checkpoint.read(run)
    shown = about["settings"]["arguments"].get("observation", "images")
    if about["algorithm"] != "SAC" or shown != STATE:
        raise StateError(f"{run}: expected SAC on observation={STATE!r}, got {about['algorithm']} on {shown!r}")
    return about, members


def write_policy(path: Path, model: Any, card: Card, episodes: int = EPISODES) -> Card:
    """Writes a policy, evaluated as the file will be played.

    Args:
        path: of the file.
        model: a learner with an `actor`.
        card: what `pretrained.KEYS` name but for the "results", which are put in.
        episodes: of the evaluation, from seed FIRST_SEED on.

    Returns:
        The card.

    Raises:
        GranularError: safetensors is not installed.
        OSError: the file cannot be written.
    """
    weights = weights_of(model)
    policy = Pretrained(card, weights)
    card["results"] = results_of(policy, range(FIRST_SEED, FIRST_SEED + episodes))
    write_pretrained(path, card, weights)
    return card


def weights_of(model: Any) -> dict[str, NDArray[np.float32]]:
    """The layers of the actor of a learner, as `Pretrained` takes them."""
    weights: dict[str, NDArray[np.float32]] = {}
    layers = -1
    for layer in model.actor.net:
        kind = type(layer).__name__
        if kind == "ReLU":
            continue
        layers += kind == "Linear"
        prefix = f"{layers}." if kind == "Linear" else f"{layers}.norm."
        for part, values in layer.state_dict().items():
            weights[prefix + part] = values.numpy()
    # the other half of the last layer is the spread of exploration
    for part in ("weight", "bias"):
        weights[f"{layers}.{part}"] = np.ascontiguousarray(weights[f"{layers}.{part}"][: model.action_size])
    return weights


def results_of(policy: Pretrained, seeds: range, changes: dict[str, Any] | None = None) -> dict[str, Any]:
    """What a policy, random actions and the expert earn on the same seeds.

    Args:
        policy: plays as its card says.
        seeds: of the episodes.
        changes: arguments of the task that shall differ from those on the card.

    Returns:
        "seeds" first and last, the means of "learned", "random" and "expert" (see `evaluation.summary`), "returns" of
        the policy by seed, and its "share_of_expert".
    """
    card = policy.card
    arguments = {**card["arguments"], **(changes or {})}
    rows = evaluation.evaluate(card["task"], arguments, lambda batch, _: policy.policy(batch), seeds)
    # those that did not learn decide at every control period
    plain = {**arguments, "frame_skip": 1}
    drivers = {"random": evaluation.random_driver, "expert": evaluation.expert_driver}
    means = {
        name: evaluation.summary(evaluation.evaluate(card["task"], plain, driver, seeds))
        for name, driver in drivers.items()
    }
    means["learned"] = evaluation.summary(rows)
    share = evaluation.share_of_expert(*(means[name]["return"] for name in ("learned", "random", "expert")))
    returns = [row["return"] for row in rows]
    return {"seeds": [seeds[0], seeds[-1]], **means, "returns": returns, "share_of_expert": share}
