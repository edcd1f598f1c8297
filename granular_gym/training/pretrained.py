"""pretrained.py: policies as files of weights with a card, played by NumPy alone.

A file in the safetensors format holds the layers of a multilayer perceptron from a task's state vector to the mean
action, and as metadata its card: what it plays, how it was trained, and what it earned on the official episodes. The
forward pass is in double precision: the rounding of matrix products, which differs between processors, then rarely
reaches the actions. Reading a file runs no code of it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from granular_gym.base import cache, names
from granular_gym.base.assets import asset_names, asset_path
from granular_gym.base.types import Floats
from granular_gym.errors import GranularError, StateError
from granular_gym.tasks.flat import refuse_flat
from granular_gym.tasks.registry import short_name
from granular_gym.tasks.state_vector import NAME as STATE
from granular_gym.tasks.state_vector import StateVector

FOLDER, SUFFIX = "policies", ".safetensors"
FORMAT = "1"
#: added to the variance in layer normalisation, as in torch
EPSILON = 1e-5
#: what a card says
KEYS = ("name", "task", "arguments", "entries", "algorithm", "command", "seed", "env_steps", "seconds", "results")

Card = dict[str, Any]
Weights = Mapping[str, NDArray[np.float32]]


def pretrained_names() -> list[str]:
    """Names of the policies that come with the package."""
    return [Path(name).stem for name in asset_names() if name.startswith(FOLDER + "/") and name.endswith(SUFFIX)]


def is_pretrained(policy: str) -> bool:
    """Whether a policy is one of `pretrained_names`, or a path that ends in .safetensors."""
    return policy.endswith(SUFFIX) or policy in pretrained_names()


def entries_of(vector: StateVector) -> list[list[Any]]:
    """Name and size of each entry of a state vector, as a card holds them."""
    return [[entry.name, entry.size] for entry in vector.entries]


class Pretrained:
    """A policy from a file.

    Args:
        card: what it is; see KEYS.
        weights: of layer k "k.weight" (outputs, inputs) and "k.bias" (outputs,), and where it is normalised
            "k.norm.weight" and "k.norm.bias" (outputs,). Rectified, but for the last, whose tanh is the action.

    Raises:
        StateError: a layer is missing or does not fit the one before it.
    """

    def __init__(self, card: Card, weights: Weights) -> None:
        self.card = card
        self._layers: list[dict[str, Floats]] = []
        size = sum(count for _, count in card["entries"])
        for k in range(sum(name.count(".") == 1 and name.endswith(".weight") for name in weights)):
            layer: dict[str, Floats] = {
                part: np.asarray(weights[f"{k}.{part}"], np.float64)
                for part in ("weight", "bias", "norm.weight", "norm.bias")
                if f"{k}.{part}" in weights
            }
            shape = layer["weight"].shape if {"weight", "bias"} <= layer.keys() else ()
            if (
                len(shape) != 2
                or shape[1] != size
                or any(layer[part].shape != shape[:1] for part in layer.keys() - {"weight"})
            ):
                raise StateError(f"policy {card['name']}: expected layer {k} to take {size} numbers, got shape {shape}")
            size = shape[0]
            self._layers.append(layer)
        if not self._layers:
            raise StateError(f"policy {card['name']}: expected layers, got tensors {sorted(weights)}")
        self.action_size: int = size

    def actions(self, states: NDArray[np.float32]) -> NDArray[np.float32]:
        """Actions (n, k) in [-1, 1] for state vectors (n, size)."""
        values: Floats = np.asarray(states, np.float64)
        for k, layer in enumerate(self._layers):
            values = values @ layer["weight"].T + layer["bias"]
            if "norm.weight" in layer:
                values = values - values.mean(1, keepdims=True)
                deviation = np.sqrt((values * values).mean(1, keepdims=True) + EPSILON)
                values = values / deviation * layer["norm.weight"] + layer["norm.bias"]
            if k < len(self._layers) - 1:
                values = np.maximum(values, 0.0)
        return np.tanh(values).astype(np.float32)

    def policy(self, env: Any) -> Callable[[Any], NDArray[np.float32]]:
        """A function from the observations of an env, or of a batch, to its actions.

        Raises:
            StateError: the env shows another vector, or takes other actions.
        """
        refuse_flat(env, "this policy")
        task = env.unwrapped.task
        shown = entries_of(task.state_vector) if task.state_vector is not None else []
        if not task.shows_state or shown != self.card["entries"]:
            raise StateError(
                f"policy {self.card['name']}: expected an env of {self.card['task']} with observation='state' and the "
                f"entries {self.card['entries']}, got {task.observation!r} and {shown}"
            )
        size = env.unwrapped.action_space.shape[-1]
        if size != self.action_size:
            raise StateError(f"policy {self.card['name']}: expected {self.action_size} actions, the env takes {size}")

        def act(observation: Any) -> NDArray[np.float32]:
            states = np.asarray(observation[STATE])
            return self.actions(states) if states.ndim == 2 else self.actions(states[None])[0]

        return act


def load_pretrained(policy: str) -> Pretrained:
    """A policy by its name or the path of its file.

    Raises:
        ArgumentError: there is no such policy.
        StateError: the file is damaged, or of another format.
        GranularError: safetensors is not installed.
    """
    return Pretrained(*_read(policy, lambda file: {name: file.get_tensor(name) for name in file.keys()}))  # noqa: SIM118


def read_card(policy: str) -> Card:
    """The card of a policy; raises like `load_pretrained`."""
    return _read(policy, lambda file: {})[0]


def table() -> str:
    """The cards of all policies that come with the package, in Markdown."""
    lines = [
        "| policy | task | return: learned, expert, random | share of the expert | success: learned, expert "
        "| env steps | training |",
        "|---|---|---|---|---|---|---|",
    ]
    for card in map(read_card, pretrained_names()):
        results = card["results"]
        returns = ", ".join(f"{results[who]['return']:.3f}" for who in ("learned", "expert", "random"))
        success = ", ".join(f"{100.0 * results[who]['success']:.0f} %" for who in ("learned", "expert"))
        lines.append(
            f"| {card['name']} | {short_name(card['task'])} | {returns} "
            f"| {100.0 * results['share_of_expert']:.0f} % | {success} "
            f"| {card['env_steps']:,} | {card['seconds'] / 60.0:.1f} min |"
        )
    return "\n".join(lines)


def _read(policy: str, tensors: Callable[[Any], Weights]) -> tuple[Card, Weights]:
    safetensors = _library()
    if policy.endswith(SUFFIX):
        path = Path(policy)
    elif policy in pretrained_names():
        path = asset_path(f"{FOLDER}/{policy}{SUFFIX}")
    else:
        raise names.unknown("policy", policy, pretrained_names())
    try:
        with safetensors.safe_open(path, framework="numpy") as file:
            metadata, weights = file.metadata() or {}, tensors(file)
        card = json.loads(metadata.get("card", "{}"))
    except FileNotFoundError:
        raise StateError(f"{path}: expected a policy, there is no such file") from None
    except (safetensors.SafetensorError, OSError, ValueError) as error:
        raise StateError(f"{path}: expected a whole policy, it is damaged or cut short ({error})") from None
    if metadata.get("format") != FORMAT or not set(KEYS) <= card.keys():
        raise StateError(f"{path}: expected a policy of format {FORMAT}, got metadata {sorted(metadata)}")
    return card, weights


def write_pretrained(path: Path, card: Card, weights: Weights) -> None:
    """Writes a policy and its card.

    Raises:
        OSError: the file cannot be written; one that was there is untouched.
        GranularError: safetensors is not installed.
    """
    _library()
    import safetensors.numpy

    metadata = {"format": FORMAT, "card": json.dumps(card)}
    cache.write_atomic(path, safetensors.numpy.save(dict(weights), metadata))


def _library() -> Any:
    try:
        import safetensors
    except ImportError as error:
        raise GranularError("policies in files need safetensors: pip install 'granular_gym[policies]'") from error
    return safetensors
