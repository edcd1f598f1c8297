"""sb3.py: shows a GranularVectorEnv to Stable-Baselines3 as one of its own VecEnv, without a worker process per env.

SB3 resets inside the step that ends an episode, keeps the last observation in info["terminal_observation"], says in
info["TimeLimit.truncated"] whether time ran out, and takes infos as a list of dicts. Stable-Baselines3 is imported
only when the adapter is made.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

import numpy as np

from granular_gym.errors import ArgumentError, GranularError
from granular_gym.tasks.gym_envs import AutoresetMode, GranularVectorEnv

if TYPE_CHECKING:
    from stable_baselines3.common.vec_env import VecEnv


def split_infos(infos: dict[str, Any], count: int) -> list[dict[str, Any]]:
    """Gymnasium's dict of arrays with masks as one dict per env."""
    split: list[dict[str, Any]] = [{} for _ in range(count)]
    for key, values in infos.items():
        mask = infos.get("_" + key)
        if mask is None:
            continue  # a mask itself
        parts = split_infos(values, count) if isinstance(values, dict) else values
        for env in np.flatnonzero(mask):
            value = parts[env]
            split[env][key] = value.item() if isinstance(value, np.generic) else value
    return split


def sb3_vec_env(vector_env: GranularVectorEnv) -> VecEnv:
    """Wraps a native batch for Stable-Baselines3.

    Args:
        vector_env: made with autoreset_mode="SameStep", for instance
            `gymnasium.make_vec("granular_gym/Bulldozer-v1", num_envs=8, autoreset_mode="SameStep", depth="uint8")`.

    Returns:
        A `stable_baselines3.common.vec_env.VecEnv`; closing it closes the batch.

    Raises:
        ArgumentError: not a GranularVectorEnv, or another autoreset mode.
        GranularError: Stable-Baselines3 is not installed.
    """
    if not isinstance(vector_env, GranularVectorEnv):
        raise ArgumentError(f"vector_env: expected a GranularVectorEnv, got {type(vector_env).__name__}")
    if vector_env.autoreset_mode is not AutoresetMode.SAME_STEP:
        mode = vector_env.autoreset_mode.value
        raise ArgumentError(f"vector_env: expected one made with autoreset_mode='SameStep', got {mode!r}")
    if vector_env.output != "numpy":
        raise ArgumentError(f"vector_env: expected one made with output='numpy', got {vector_env.output!r}")
    return _adapter_class()(vector_env)


@functools.cache
def _adapter_class() -> type:
    """The adapter; its base class exists only where Stable-Baselines3 does."""
    try:
        from stable_baselines3.common.vec_env import VecEnv
    except ImportError as error:
        raise GranularError("sb3_vec_env needs Stable-Baselines3: pip install 'stable-baselines3>=2.8'") from error

    class GranularVecEnv(VecEnv):
        """A GranularVectorEnv behind Stable-Baselines3's interface."""

        def __init__(self, vector_env: GranularVectorEnv) -> None:
            self.vector_env = vector_env
            self.render_mode = vector_env.render_mode
            self._pending: Any = None
            super().__init__(vector_env.num_envs, vector_env.single_observation_space, vector_env.single_action_space)
            self.metadata = vector_env.metadata

        def reset(self) -> dict[str, Any]:
            """Starts all envs; seeds given by seed() are used once."""
            seeds = None if all(seed is None for seed in self._seeds) else list(self._seeds)
            options = next((option for option in self._options if option), None)
            observations, infos = self.vector_env.reset(seed=seeds, options=options)
            self.reset_infos = split_infos(infos, self.num_envs)
            self._reset_seeds()
            self._reset_options()
            return observations

        def step_async(self, actions: Any) -> None:
            """Takes the actions; step_wait plays them."""
            self._pending = actions

        def step_wait(self) -> tuple[Any, Any, Any, list[dict[str, Any]]]:
            """Observations, rewards float32, dones, one info per env."""
            observations, rewards, terminated, truncated, infos = self.vector_env.step(self._pending)
            self._pending = None
            split = split_infos(infos, self.num_envs)
            for env in range(self.num_envs):
                final = split[env].pop("final_obs", None)
                last = split[env].pop("final_info", None)
                if final is not None:
                    # SB3 reports the info of the episode that ended; that of the new one is in reset_infos
                    self.reset_infos[env] = split[env]
                    split[env] = {**last, "terminal_observation": final}
                split[env]["TimeLimit.truncated"] = bool(truncated[env] and not terminated[env])
            return observations, rewards.astype(np.float32), terminated | truncated, split

        def close(self) -> None:
            """Closes the batch."""
            self.vector_env.close()

        def get_images(self) -> Any:
            """One picture per env."""
            return self.vector_env.render() or [None] * self.num_envs

        def get_attr(self, attr_name: str, indices: Any = None) -> list[Any]:
            """The attribute of the batch, once per env."""
            values = self.vector_env.call(attr_name) if hasattr(self.vector_env, attr_name) else None
            if values is None:
                raise AttributeError(f"{type(self.vector_env).__name__} has no attribute {attr_name!r}")
            return [values[env] for env in self._get_indices(indices)]

        def set_attr(self, attr_name: str, value: Any, indices: Any = None) -> None:
            """Sets an attribute of the batch, which all envs share."""
            if len(list(self._get_indices(indices))) != self.num_envs:
                raise ArgumentError(f"indices: expected all envs, the batch has one {attr_name!r} for all")
            setattr(self.vector_env, attr_name, value)

        def env_method(self, method_name: str, *args: Any, indices: Any = None, **kwargs: Any) -> list[Any]:
            """Calls a method of the batch once; one result per env."""
            values = self.vector_env.call(method_name, *args, **kwargs)
            return [values[env] for env in self._get_indices(indices)]

        def env_is_wrapped(self, wrapper_class: Any, indices: Any = None) -> list[bool]:
            """A native batch has no wrappers inside."""
            return [False for _ in self._get_indices(indices)]

    return GranularVecEnv
