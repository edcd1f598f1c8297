"""policy.py: a checkpoint that plays: deterministic actions, held as long as in training."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import GranularError
from . import checkpoint
from .features import features_of

ALGORITHMS = ("PPO", "TD3")


def algorithm_class(name: str) -> type:
    """The class of Stable-Baselines3.

    Raises:
        GranularError: it is not installed.
    """
    try:
        import stable_baselines3
    except ImportError as error:
        raise GranularError("training needs Stable-Baselines3: pip install 'granular_gym[train]'") from error
    return getattr(stable_baselines3, name)  # type: ignore[no-any-return]


class Actor:
    """Acts for every env of a batch, or for a single env.

    Args:
        model: of Stable-Baselines3.
        env: a GranularVectorEnv or GranularEnv with depth="uint8", wrapped or not.
        repeat: env steps an action is held.
    """

    def __init__(self, model: Any, env: Any, repeat: int) -> None:
        self.model, self.repeat = model, repeat
        self.task = env.unwrapped.task
        self.single = not hasattr(env.unwrapped, "num_envs")
        self.features = features_of(env.unwrapped.spec.id, self.task.observation_space)
        self._held: NDArray[np.float32] | None = None
        self._left = 0

    def act(self, observation: Any) -> NDArray[np.float32]:
        """Actions (num_envs, k), or (k,) for a single env."""
        if self._left == 0:
            arrays = self.task.read()[3]
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
    model = algorithm_class(about["algorithm"]).load(io.BytesIO(members["model.zip"]), device="cpu")  # type: ignore[attr-defined]
    return Actor(model, env, about["settings"]["repeat"])
