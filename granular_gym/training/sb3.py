"""sb3.py: shows a GranularVectorEnv to Stable-Baselines3 as one of its own VecEnv, without a worker process per env.

SB3 resets inside the step that ends an episode, keeps the last observation in info["terminal_observation"], says in
info["TimeLimit.truncated"] whether time ran out, and takes infos as a list of dicts: wrapped.py does all that.
Stable-Baselines3 is imported only when the adapter is made.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

from gymnasium.vector import VectorEnv

from granular_gym.errors import ArgumentError, GranularError
from granular_gym.training.wrapped import WrappedBatch

if TYPE_CHECKING:
    from stable_baselines3.common.vec_env import VecEnv


def sb3_vec_env(vector_env: VectorEnv[Any, Any, Any]) -> VecEnv:
    """Wraps a native batch for Stable-Baselines3.

    Gymnasium's vector wrappers round the batch apply. Those of rewards, actions and statistics (SB3 shows the
    "episode" of `RecordEpisodeStatistics`) go with either autoreset mode. Those of observations need "Disabled": the
    last observation of an episode then goes through them, too.

    Args:
        vector_env: made with autoreset_mode="SameStep" or "Disabled", in vector wrappers or not; for instance
            `gymnasium.make_vec("granular_gym/Bulldozer-v1", num_envs=8, autoreset_mode="SameStep", depth="uint8")`.

    Returns:
        A `stable_baselines3.common.vec_env.VecEnv`; closing it closes the batch.

    Raises:
        ArgumentError: not a GranularVectorEnv inside, another autoreset mode, or a wrapper that cannot be used:
            one that changes observations with "SameStep", `NormalizeReward` with "Disabled"; `NormalizeObservation`,
            `DictInfoToList` and `ArrayConversion` (`NumpyToTorch`) never can.
        GranularError: Stable-Baselines3 is not installed.
    """
    batch = WrappedBatch(vector_env)
    adapter: VecEnv = _adapter_class()(batch)
    return adapter


@functools.cache
def _adapter_class() -> Any:
    """The adapter; its base class exists only where Stable-Baselines3 does."""
    try:
        from stable_baselines3.common.vec_env import VecEnv
    except ImportError as error:
        raise GranularError("sb3_vec_env needs Stable-Baselines3: pip install 'stable-baselines3>=2.8'") from error

    class GranularVecEnv(VecEnv):
        """A batch behind Stable-Baselines3's interface."""

        def __init__(self, batch: WrappedBatch) -> None:
            self.batch = batch
            self.vector_env = env = batch.vector_env
            self.render_mode = env.render_mode
            self._pending: Any = None
            super().__init__(batch.num_envs, env.single_observation_space, env.single_action_space)
            self.metadata = env.metadata

        def reset(self) -> Any:
            """Starts all envs; seeds given by seed() and options by set_options() are used once."""
            seeds = None if all(seed is None for seed in self._seeds) else list(self._seeds)
            options = self._options[0] if self._options else {}
            if any(other != options for other in self._options):
                raise ArgumentError(f"options: expected the same for all envs of a batch, got {self._options!r}")
            observations, self.reset_infos = self.batch.reset(seeds, options or None)
            self._reset_seeds()
            self._reset_options()
            return observations

        def step_async(self, actions: Any) -> None:
            """Takes the actions; step_wait plays them."""
            self._pending = actions

        def step_wait(self) -> tuple[Any, Any, Any, list[dict[str, Any]]]:
            """Observations, rewards float32, dones, one info per env."""
            observations, rewards, dones, infos, begun = self.batch.step(self._pending)
            self._pending = None
            # SB3 reports the info of the episode that ended; that of the new one is in reset_infos
            self.reset_infos = [old if new is None else new for new, old in zip(begun, self.reset_infos, strict=True)]
            return observations, rewards, dones, infos

        def close(self) -> None:
            """Closes the batch."""
            self.vector_env.close()

        def get_images(self) -> Any:
            """One picture per env."""
            return self.vector_env.render() or [None] * self.num_envs

        def get_attr(self, attr_name: str, indices: Any = None) -> list[Any]:
            """The attribute of the wrappers or the batch, once per env."""
            values = self.batch.get(attr_name)
            return [values[env] for env in self._get_indices(indices)]

        def set_attr(self, attr_name: str, value: Any, indices: Any = None) -> None:
            """Sets an attribute of the wrappers or the batch, which all envs share."""
            if len(list(self._get_indices(indices))) != self.num_envs:
                raise ArgumentError(f"indices: expected all envs, the batch has one {attr_name!r} for all")
            self.batch.set(attr_name, value)

        def env_method(self, method_name: str, *args: Any, indices: Any = None, **kwargs: Any) -> list[Any]:
            """Calls a method of the wrappers or the batch once; one result per env."""
            values = self.batch.call(method_name, *args, **kwargs)
            return [values[env] for env in self._get_indices(indices)]

        def env_is_wrapped(self, wrapper_class: Any, indices: Any = None) -> list[bool]:
            """Whether a vector wrapper round the batch is of that class."""
            return [self.batch.is_wrapped(wrapper_class) for _ in self._get_indices(indices)]

    return GranularVecEnv
