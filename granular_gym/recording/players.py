"""players.py: who plays the episodes of a dataset: one policy, or several in turn, with or without noise."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from granular_gym.base import checks
from granular_gym.errors import ArgumentError
from granular_gym.training.disturbance import Disturbance
from granular_gym.training.policies import Policy, load_policy
from granular_gym.training.recipes import recipe_of

#: policies that stand for several
MIXTURES = {"mixed": "expert,noisy,random"}
#: the scripted expert with the noise that the task's recipe gives demonstrations
NOISY = "noisy"


def turns_of(policy: str) -> list[str]:
    """Policies that take turns, an episode each.

    Args:
        policy: one, or several with commas between them: "expert,expert,random" has two thirds of the expert's
            episodes; "mixed" is "expert,noisy,random". Each is "noisy", or a policy as `load_policy` takes it.

    Raises:
        ArgumentError: a name is missing.
    """
    named = checks.text("policy", policy)
    names = [name.strip() for name in MIXTURES.get(named, named).split(",")]
    if not all(names):
        raise ArgumentError(f"policy: expected names with commas between them, got {policy!r}")
    return names


def kind_of(policy: str, noise: float | None) -> str:
    """What the name of a dataset says of who plays, of letters, digits, "-" and "_"."""
    files = (".zip", ".safetensors")
    name = "-".join(Path(part).stem if part.endswith(files) else part for part in policy.split(","))
    text = "".join(letter if letter.isalnum() else "-" for letter in name).strip("-") or "policy"
    return text if noise is None else f"{text}-noise-{round(100 * noise)}"


def noise_of(name: str, noise: float | None, task: str) -> float:
    """The largest share of an action that is disturbed where a policy plays: none of random actions."""
    if name == "random":
        return 0.0
    if noise is None:
        return recipe_of(task).disturbance if name == NOISY else 0.0
    return noise


class Disturbed:
    """A policy whose actions are disturbed; it closes what it plays.

    Args:
        policy: that wants the actions.
        env: that it plays.
        most: largest share of an action that is disturbed.
        seed: of the episode, from which the noise is drawn.
    """

    def __init__(self, policy: Policy, env: Any, most: float, seed: int) -> None:
        self._policy = policy
        self._disturbance = Disturbance((1, *env.action_space.shape), most, np.random.default_rng([seed, 1]))

    def __call__(self, observation: Any) -> Any:
        """The disturbed action (k,)."""
        return self._disturbance.of(np.asarray(self._policy(observation), np.float64)[None])[0]

    def close(self) -> None:
        """Closes the policy, where it can be."""
        getattr(self._policy, "close", lambda: None)()


def player(name: str, noise: float | None, task: str, env: Any, *, seed: int) -> Policy:
    """The policy of an episode.

    Args:
        name: one of `turns_of`.
        noise: largest share of an action that is disturbed; None: none, of "noisy" as the task's recipe says.
        task: its id.
        env: a single env that has been reset.
        seed: of the episode.

    Raises:
        As `load_policy`.
    """
    policy = load_policy("expert" if name == NOISY else name, env)
    most = noise_of(name, noise, task)
    return Disturbed(policy, env, most, seed) if most > 0.0 else policy


def arguments_for(task: str, names: Sequence[str], trained: Any) -> dict[str, Any]:
    """Arguments of the task that all of several policies play with.

    Args:
        task: its id.
        names: of the policies.
        trained: `trained_arguments`, or another function that gives the arguments of one.

    Raises:
        ArgumentError: two were trained with other arguments.
    """
    found: dict[str, Any] = {}
    for name in dict.fromkeys(names):
        for key, value in trained(task, name).items():
            if found.setdefault(key, value) != value:
                raise ArgumentError(
                    f"policy: expected policies of the same task, {key} is {found[key]!r} and {value!r}"
                )
    return found
