"""policies.py: what acts, by name: the scripted expert, random actions, somebody at a keyboard or gamepad, what was
trained, or a function of the user's.

What was trained plays deterministic actions; a checkpoint holds each as long as in training.
"""

from __future__ import annotations

import importlib
import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from granular_gym.base import checks
from granular_gym.errors import ArgumentError, GranularError, StateError
from granular_gym.tasks.expert import scripted_expert
from granular_gym.tasks.flat import refuse_flat
from granular_gym.tasks.registry import bare_id, loaded
from granular_gym.teleop.gamepad import Gamepad
from granular_gym.teleop.keyboard import Keyboard
from granular_gym.training import checkpoint
from granular_gym.training.features import Features, Whole, features_of
from granular_gym.training.pretrained import is_pretrained, load_pretrained, pretrained_names, read_card

#: gives an action for an observation
Policy = Callable[[Any], Any]


def _expert(env: Any) -> Policy:
    expert = scripted_expert(env)
    return lambda observation: expert.act()


def _random(env: Any) -> Policy:
    return lambda observation: env.action_space.sample()


#: makes each policy that needs no file, from an env that has been reset
_MAKERS: dict[str, Callable[[Any], Policy]] = {
    "expert": _expert,
    "random": _random,
    "keyboard": Keyboard,
    "gamepad": Gamepad,
}
BUILT_IN = tuple(_MAKERS)
#: algorithms that checkpoints may be of, and where their classes are
ALGORITHMS = {
    "PPO": "stable_baselines3:PPO",
    "TD3": "stable_baselines3:TD3",
    "SAC": "granular_gym.training.sac:SAC",
}


def policy_names() -> list[str]:
    """Policies that are known by a name: those that need no file, and those that come with the package."""
    return [*BUILT_IN, *pretrained_names()]


def algorithm_class(name: str) -> Any:
    """The class of an algorithm: of Stable-Baselines3, or one like them.

    Raises:
        StateError: there is no such algorithm.
        GranularError: torch or Stable-Baselines3 is not installed.
    """
    if name not in ALGORITHMS:
        raise StateError(f"algorithm: expected one of {', '.join(ALGORITHMS)}, got {name!r}")
    return of_training(ALGORITHMS[name])


def of_training(path: str) -> Any:
    """What "module:name" stands for, in a module that needs the `train` extra.

    Raises:
        GranularError: torch or Stable-Baselines3 is not installed.
    """
    try:
        return loaded(path)
    except ImportError as error:
        raise GranularError("training needs Stable-Baselines3: pip install 'granular_gym[train]'") from error


class Actor:
    """Acts for every env of a batch, or for a single env.

    Args:
        model: of an algorithm of ALGORITHMS.
        env: a GranularVectorEnv or GranularEnv with depth="uint8", wrapped or not.
        repeat: env steps an action is held.

    Raises:
        StateError: the model looks at images that the env does not show.
    """

    model: Any
    repeat: int

    def __init__(self, model: Any, env: Any, repeat: int) -> None:
        refuse_flat(env, "this policy")
        self.model, self.repeat = model, repeat
        self.task: Any = env.unwrapped.task
        self.single: bool = not hasattr(env.unwrapped, "num_envs")
        looks_at = getattr(model, "looks_at", ())
        if missing := sorted(set(looks_at) - set(self.task.shown_space.spaces)):
            raise StateError(
                f"policy: expected an env that shows it {', '.join(looks_at)}, got one without {', '.join(missing)}"
            )
        space = self.task.shown_space
        self.features: Features = Whole(space) if looks_at else features_of(env.unwrapped.spec.id, space)
        self._held: NDArray[np.float32] | None = None
        self._left = 0

    def act(self, observation: Any) -> NDArray[np.float32]:
        """Actions (num_envs, k), or (k,) for a single env."""
        if self._left == 0:
            arrays = self.task.outcome().infos
            infos = [{name: values[env] for name, values in arrays.items()} for env in range(self.task.env_count)]
            batch = {name: part[None] for name, part in observation.items()} if self.single else observation
            self._held = self.model.predict(self.features(batch, infos), deterministic=True)[0]
            self._left = self.repeat
        self._left -= 1
        assert self._held is not None
        return self._held[0] if self.single else self._held


def load_actor(path: Path, env: Any) -> Actor:
    """The policy of a checkpoint.

    Args:
        path: the checkpoint, or the folder of its run.
        env: what it will play, made with depth="uint8".

    Raises:
        StateError: the checkpoint is damaged, or made for other spaces.
        GranularError: Stable-Baselines3 is not installed.
    """
    about, members = checkpoint.read(path)
    model = algorithm_class(about["algorithm"]).load(io.BytesIO(members["model.zip"]), device="cpu")
    return Actor(model, env, about["settings"]["repeat"])


def load_policy(name: str, env: Any) -> Policy:
    """A policy by name.

    Args:
        name: one of `policy_names`, the path of a training run's checkpoint (it ends in ".zip") or of an exported
            policy (".safetensors"), or "module:function": the function is called once with the env and returns a
            function from observation to action.
        env: the env it will play, which has been reset.

    Raises:
        ArgumentError: there is no such policy, it is not a function, or somebody is to steer a batch of envs, or
            without a terminal.
        StateError: the file is damaged, or for other spaces than those of the env.
        GranularError: it is a file, and the extra that reads it (`train` or `policies`) is not installed; or somebody
            is to steer, and there is no gamepad, or pygame, of the extra `teleop`, is not installed.
    """
    if name in _MAKERS:
        return _MAKERS[name](env)
    if _is_checkpoint(name):
        return load_actor(Path(name), env).act
    if is_pretrained(name):
        return load_pretrained(name).policy(env)
    module, colon, function = checks.text("policy", name).partition(":")
    if not (module and colon and function):
        known = ", ".join(policy_names())
        raise ArgumentError(
            f"policy: expected one of {known}, a checkpoint.zip, a file.safetensors or 'module:function', got {name!r}"
        )
    try:
        make = getattr(importlib.import_module(module), function)
    except (ImportError, AttributeError) as error:
        raise ArgumentError(f"policy: expected a module and a function in it, got {name!r} ({error})") from None
    policy = make(env) if callable(make) else None
    if policy is None or not callable(policy):
        raise ArgumentError(
            f"policy: expected {name!r} to return a function from observation to action, got {policy!r}"
        )
    result: Policy = policy
    return result


def _is_checkpoint(name: str) -> bool:
    return name.endswith(".zip")


def trained_arguments(task: str, policy: str) -> dict[str, Any]:
    """Arguments of the task that a policy in a file plays with; none for other policies.

    Raises:
        ArgumentError: it was trained on another task.
        StateError: the file is damaged.
        GranularError: safetensors, which reads it, is not installed.
    """
    if _is_checkpoint(policy):
        trained = checkpoint.read_about(Path(policy))["settings"]
    elif is_pretrained(policy):
        trained = read_card(policy)
    else:
        return {}
    if bare_id(trained["task"]) != bare_id(task):
        raise ArgumentError(f"policy: expected one trained on {task}, {policy} was trained on {trained['task']}")
    return {**trained["arguments"], "depth": "uint8"}


def baseline_returns(policy: str) -> tuple[float, float] | None:
    """Mean returns of random actions and of the expert on the card of a policy; None where it has no card."""
    if not is_pretrained(policy):
        return None
    results = read_card(policy)["results"]
    return results["random"]["return"], results["expert"]["return"]
