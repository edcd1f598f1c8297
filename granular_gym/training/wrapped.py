"""wrapped.py: a native batch, alone or in Gymnasium's vector wrappers, as a learner plays it that never calls reset.

In the step that ends an episode the next one begins: the observation is already that of the new episode, the last one
of the old is in its info. With autoreset_mode="Disabled" that is a reset of the envs that ended, through all wrappers,
so that wrappers of observations transform the last one and the first alike.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from gymnasium.vector import VectorEnv, VectorObservationWrapper, VectorWrapper
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from granular_gym.errors import ArgumentError
from granular_gym.tasks.gym_envs import GranularVectorEnv, check_autoreset_mode, per_env

#: wrappers of Gymnasium that cannot be used, by class, and why
REFUSED = {
    "ArrayConversion": "observations must stay NumPy arrays",
    "DictInfoToList": "infos must stay a dict; they are split here",
    "NormalizeObservation": "it cannot begin one env's episode alone; use Stable-Baselines3's VecNormalize",
}
SAME_STEP, DISABLED = check_autoreset_mode("SameStep"), check_autoreset_mode("Disabled")


class Steps(NamedTuple):
    """What a step of a batch gives.

    Attributes:
        observations: (num_envs, ...), where an episode ended the first of the next one.
        rewards: (num_envs,) float32.
        dones: (num_envs,) an episode ended.
        infos: one dict per env; where an episode ended that of its end, with "terminal_observation"; everywhere
            "TimeLimit.truncated".
        reset_infos: one dict per env where an episode ended, that of the beginning of the next; None elsewhere.
    """

    observations: Any
    rewards: NDArray[np.float32]
    dones: NDArray[np.bool_]
    infos: list[dict[str, Any]]
    reset_infos: list[dict[str, Any] | None]


def split_infos(infos: dict[str, Any], count: int) -> list[dict[str, Any]]:
    """Gymnasium's dict of arrays with masks as one dict per env; what has no mask is of all envs."""
    split: list[dict[str, Any]] = [{} for _ in range(count)]
    for key, values in infos.items():
        if key.startswith("_") and key[1:] in infos:
            continue  # a mask itself
        parts = split_infos(values, count) if isinstance(values, dict) else values
        for env in np.flatnonzero(infos.get("_" + key, np.ones(count, bool))):
            value = parts[env]
            split[env][key] = value.item() if isinstance(value, np.generic) else value
    return split


def row(observations: Any, env: int) -> Any:
    """A copy of the observation of one env."""
    if isinstance(observations, dict):
        return {key: row(part, env) for key, part in observations.items()}
    if isinstance(observations, tuple):
        return tuple(row(part, env) for part in observations)
    return np.array(observations[env])


def _mixed(mask: NDArray[np.bool_], chosen: Any, others: Any) -> Any:
    """Observations: `chosen` where the mask says so, else `others`."""
    if isinstance(chosen, dict):
        return {key: _mixed(mask, part, others[key]) for key, part in chosen.items()}
    if isinstance(chosen, tuple):
        return tuple(_mixed(mask, *parts) for parts in zip(chosen, others, strict=True))
    return np.where(mask.reshape(-1, *[1] * (np.ndim(chosen) - 1)), chosen, others)


def layers(vector_env: Any) -> Iterator[VectorEnv[Any, Any, Any]]:
    """The wrappers round a batch from the outermost inwards, and the batch itself."""
    while isinstance(vector_env, VectorWrapper):
        yield vector_env
        vector_env = vector_env.env
    yield vector_env


class WrappedBatch:
    """A GranularVectorEnv, in vector wrappers or not, that begins the next episode in the step that ends one.

    Args:
        vector_env: made with autoreset_mode "SameStep" or "Disabled" and output "numpy"; in wrappers of observations
            "Disabled", since with "SameStep" they do not see the last observation of an episode.

    Raises:
        ArgumentError: no such batch, or a wrapper that cannot be used; the message says which and why.
    """

    def __init__(self, vector_env: VectorEnv[Any, Any, Any]) -> None:
        *wrappers, batch = layers(vector_env)
        if not isinstance(batch, GranularVectorEnv):
            raise ArgumentError(
                f"vector_env: expected a GranularVectorEnv, in vector wrappers or not, got {type(batch).__name__}"
            )
        if batch.autoreset_mode not in (SAME_STEP, DISABLED):
            mode = batch.autoreset_mode.value
            raise ArgumentError(
                f"vector_env: expected one made with autoreset_mode='SameStep' or 'Disabled', got {mode!r}"
            )
        if batch.output != "numpy":
            raise ArgumentError(f"vector_env: expected one made with output='numpy', got {batch.output!r}")
        if batch.writes_into_buffers:
            raise ArgumentError("vector_env: expected one made without out: learners keep what they saw before a step")
        self.vector_env = vector_env
        self.num_envs: int = batch.num_envs
        self._batch = batch
        self._resets: bool = batch.autoreset_mode is DISABLED
        for wrapper in wrappers:
            self._check(wrapper)
        single, whole = vector_env.single_observation_space, vector_env.observation_space
        if batch_space(single, self.num_envs) != whole:
            raise ArgumentError(
                f"vector_env: expected observation_space to be {self.num_envs} of its single_observation_space "
                f"({single}), got {whole}; give the wrapper both"
            )
        if not self._resets and single != batch.single_observation_space:
            raise ArgumentError(
                "vector_env: expected autoreset_mode='Disabled' where a wrapper changes observations, got 'SameStep'"
            )

    def _check(self, wrapper: VectorEnv[Any, Any, Any]) -> None:
        """Refuses a wrapper that would give wrong observations, rewards or infos."""
        name = type(wrapper).__name__
        for base in type(wrapper).__mro__:
            if base.__module__.startswith("gymnasium.") and base.__name__ in REFUSED:
                raise ArgumentError(f"vector_env: {name} cannot be used: {REFUSED[base.__name__]}")
            if base.__module__.startswith("gymnasium.") and base.__name__ == "NormalizeReward" and self._resets:
                raise ArgumentError(
                    f"vector_env: expected autoreset_mode='SameStep' with {name}, which forgets the returns of all "
                    "envs when one is reset, got 'Disabled'"
                )
        if isinstance(wrapper, VectorObservationWrapper) and not self._resets:
            raise ArgumentError(
                f"vector_env: expected autoreset_mode='Disabled' with {name}, which does not see last observations "
                "otherwise, got 'SameStep'"
            )

    def reset(self, seeds: list[int | None] | None, options: dict[str, Any] | None) -> tuple[Any, list[dict[str, Any]]]:
        """Begins an episode in every env.

        Args:
            seeds: one or None per env; None: generators run on.
            options: given to the task.

        Returns:
            Observations (num_envs, ...) and one info per env.
        """
        observations, infos = self.vector_env.reset(seed=seeds, options=options)  # type: ignore[arg-type, unused-ignore]
        return observations, split_infos(self._checked(infos), self.num_envs)

    def step(self, actions: Any) -> Steps:
        """Advances every env by one step."""
        observations, rewards, terminated, truncated, infos = self.vector_env.step(actions)
        split = split_infos(self._checked(infos), self.num_envs)
        dones = np.logical_or(terminated, truncated)
        begun: list[dict[str, Any] | None] = [None] * self.num_envs
        if self._resets and dones.any():
            last = observations
            first, fresh = self.vector_env.reset(options={"reset_mask": dones.copy()})
            observations = _mixed(dones, first, last)
            beginnings = split_infos(self._checked(fresh), self.num_envs)
            for env in np.flatnonzero(dones):
                begun[env] = beginnings[env]
                split[env]["terminal_observation"] = row(last, int(env))
        elif not self._resets:
            for env in np.flatnonzero(dones):
                final, end = split[env].pop("final_obs"), split[env].pop("final_info")
                # what wrappers added in this step is of the episode that ended
                begun[env] = {key: value for key, value in split[env].items() if key in end}
                split[env] = {**split[env], **end, "terminal_observation": final}
        for info, stopped, ended in zip(split, truncated, terminated, strict=True):
            info["TimeLimit.truncated"] = bool(stopped and not ended)
        return Steps(observations, np.asarray(rewards, np.float32), dones, split, begun)

    def _checked(self, infos: Any) -> dict[str, Any]:
        if not isinstance(infos, dict):
            raise ArgumentError(f"vector_env: expected wrappers that leave infos a dict, got {type(infos).__name__}")
        return infos

    # attributes ------------------------------------------------------------------------------------------------------

    def _owner(self, name: str) -> VectorEnv[Any, Any, Any]:
        """The outermost of wrappers and batch that has an attribute.

        Raises:
            AttributeError: none has.
        """
        for layer in layers(self.vector_env):
            if hasattr(layer, name):
                return layer
        raise AttributeError(f"{self.vector_env} has no attribute {name!r}")

    def get(self, name: str) -> tuple[Any, ...]:
        """An attribute of the wrappers or the batch, once per env."""
        return per_env(getattr(self._owner(name), name), self.num_envs)

    def set(self, name: str, value: Any) -> None:
        """Sets an attribute where it is, or, where nothing has it, on the batch."""
        owner = next((layer for layer in layers(self.vector_env) if hasattr(layer, name)), self._batch)
        setattr(owner, name, value)

    def call(self, name: str, *args: Any, **kwargs: Any) -> tuple[Any, ...]:
        """What a method of the wrappers or the batch gives, once per env."""
        return per_env(getattr(self._owner(name), name)(*args, **kwargs), self.num_envs)

    def is_wrapped(self, wrapper_class: type) -> bool:
        """Whether one of the wrappers is of a class."""
        return any(isinstance(layer, wrapper_class) for layer in layers(self.vector_env) if layer is not self._batch)
