"""learner_env.py: a batch of envs as a learner plays it: features for observations, an action held over several steps.

The learner decides every `repeat` env steps. Its reward is the task's reward over those steps, or its change (then the
sum over an episode is how far the last reward is above the first; discounted by g it is, but for a constant, (1 - g)
times the discounted sum of the rewards themselves: where episodes do not end the two have the same best policy).
Returns that are reported are those of the task, unscaled.
"""

from __future__ import annotations

import inspect
import json
import os
import pickle
from typing import Any

import numpy as np
from numpy.typing import NDArray
from stable_baselines3.common.vec_env import VecEnv, VecEnvWrapper

from granular_gym.base import checks
from granular_gym.tasks.flat import refuse_flat
from granular_gym.tasks.recipe import REWARDS
from granular_gym.tasks.state_vector import StateVector
from granular_gym.training.features import Features, Whole, features_of
from granular_gym.training.recipes import OF_A_RUN
from granular_gym.training.rows import Mirror, Rows
from granular_gym.training.sb3 import sb3_vec_env

#: arguments of tasks that change neither what a number of an observation, an action or a reward means nor how the world
#: follows from actions, or that `about` names by themselves
_NOT_OF_MEANING = (
    *OF_A_RUN, "env_count", "render_mode", "grain_count", "difficulty", "friction_range", "randomize",
    "preset", "frame_skip", "observation", "depth", "reads_state", "sensor", "touch", "vision",
)  # fmt: skip


class LearnerEnv(VecEnvWrapper):
    """A batch of envs for a learner of Stable-Baselines3.

    Args:
        batch: made by `batch.make_batch`.
        repeat: env steps per decision, >= 1.
        reward: "sum" or "change" of the task's reward over a decision.
        scale: the learner's reward is multiplied by it.

    Raises:
        ArgumentError: an argument is not what it should be.
    """

    reset_infos: Any

    def __init__(self, batch: Any, *, repeat: int = 1, reward: str = "sum", scale: float = 1.0) -> None:
        refuse_flat(batch, "this learner")
        adapter: VecEnv = sb3_vec_env(batch)
        self.batch = batch
        self.repeat: int = checks.integer("repeat", repeat, 1)
        self.reward: str = checks.choice("reward", reward, REWARDS)
        self.scale: float = checks.number("scale", scale, 0.0)
        task, space = batch.task, batch.single_observation_space
        # images and the vector together are for who looks at images
        self._whole: bool = task.shows_images and task.shows_state
        self.features: Features = Whole(space) if self._whole else features_of(batch.spec.id, space)
        super().__init__(adapter, observation_space=self.features.space)
        self._actions: Any = None
        self._last = np.full(self.num_envs, np.nan)  # the task's reward of the step before; NaN as an episode begins
        self._returns = np.zeros(self.num_envs)  # of the episodes that run, as the task pays them
        self._lengths = np.zeros(self.num_envs, np.int64)  # [control periods]
        self.env_steps: int = 0  # control periods played by all envs since the beginning

    def reset(self) -> Rows:
        """Features of the first observations."""
        observations = self.venv.reset()
        self.reset_infos = self.venv.reset_infos
        self._last[:], self._returns[:], self._lengths[:] = np.nan, 0.0, 0
        return self.features(observations, self.reset_infos)  # type: ignore[arg-type, unused-ignore]

    def step_async(self, actions: Any) -> None:
        """Takes the actions; step_wait plays them."""
        self._actions = actions

    def step_wait(self) -> tuple[Rows, NDArray[np.float32], NDArray[np.bool_], list[dict[str, Any]]]:
        """Holds the actions for `repeat` env steps; an episode that ends cuts the decision of all envs short.

        The info of an episode that ended has "episode": "r" (return of the task) and "l" (control periods).
        """
        paid = np.zeros(self.num_envs)
        for _ in range(self.repeat):
            observations, rewards, dones, infos = self.venv.step(self._actions)
            rewards = rewards.astype(np.float64)
            before = np.where(np.isnan(self._last), rewards, self._last)
            paid += rewards - before if self.reward == "change" else rewards
            self._last = np.where(dones, np.nan, rewards)
            self._returns += rewards
            self._lengths += self.batch.task.frame_skip
            self.env_steps += self.num_envs * self.batch.task.frame_skip
            if dones.any():
                break
        current = list(infos)  # of the observations: an episode that ended has already been followed by the next
        for env in np.flatnonzero(dones):
            info = infos[env]
            ended = {name: part[None] for name, part in info["terminal_observation"].items()}
            info["terminal_observation"] = self.features(ended, [info])[0]
            info["episode"] = {"r": float(self._returns[env]), "l": int(self._lengths[env])}
            current[env] = self.venv.reset_infos[env]
            self._returns[env], self._lengths[env] = 0.0, 0
        self.reset_infos = self.venv.reset_infos
        scaled = (self.scale * paid).astype(np.float32)
        return self.features(observations, current), scaled, dones, infos  # type: ignore[arg-type, unused-ignore]

    @property
    def state_vector(self) -> StateVector | None:
        """What the features are, where they are the task's own vector."""
        task = self.batch.task
        vector: StateVector | None = None if task.shows_images else task.state_vector
        return vector

    @property
    def mirror(self) -> StateVector | Mirror | None:
        """What mirrors features and actions, left for right; None where that is not known."""
        task = self.batch.task
        if not self._whole:
            return self.state_vector
        axes = {name: image.mirror_axis for name, image in task.pixels.items()}
        if task.vision.kinds:  # the light comes from one side
            return None
        return None if None in axes.values() else Mirror(task.state_vector, axes)

    @property
    def about(self) -> dict[str, Any]:
        """What experience of this batch means to a learner: task and its arguments, observation, action, pace and
        reward."""
        task = self.batch.task
        return {
            "task": self.batch.spec.id,
            "observation": task.observation,
            "features": self.features.size,
            "actions": int(self.batch.single_action_space.shape[0]),
            "preset": task.preset,
            "frame_skip": task.frame_skip,
            "repeat": self.repeat,
            "reward": self.reward,
            "scale": self.scale,
            "task_arguments": _meaning_of(type(task), self.batch.spec.kwargs),
        }

    # snapshots -------------------------------------------------------------------------------------------------------

    def save(self) -> bytes:
        """Everything that shapes the future of the batch, the state of the grains included."""
        counters = (self._last, self._returns, self._lengths, self.env_steps)
        settings = {"repeat": self.repeat, "reward": self.reward, "scale": self.scale}
        return pickle.dumps({"batch": self.batch, "counters": counters, "settings": settings})

    @classmethod
    def load(cls, saved: bytes) -> LearnerEnv:
        """The batch that `save` wrote, at the same moment, bit for bit."""
        state = pickle.loads(saved)
        env = cls(state["batch"], **state["settings"])
        env._last, env._returns, env._lengths, env.env_steps = state["counters"]
        return env


def _meaning_of(task_class: type, given: dict[str, Any]) -> dict[str, Any]:
    """Arguments of a task that say what its experience means, by name, as JSON holds them.

    Args:
        task_class: of the task.
        given: its arguments; the others are as its constructors have them.
    """
    found: dict[str, Any] = {}
    for cls in task_class.__mro__:
        parameters = inspect.signature(vars(cls)["__init__"]).parameters if "__init__" in vars(cls) else {}
        for name, parameter in parameters.items():
            if parameter.default is not parameter.empty and name not in _NOT_OF_MEANING:
                found.setdefault(name, given.get(name, parameter.default))
    plain: dict[str, Any] = json.loads(json.dumps(found, default=_plain))
    return plain


def _plain(value: Any) -> Any:
    """A value that JSON does not hold, as one that it does: of objects what kind they are."""
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    return value.tolist() if isinstance(value, (np.ndarray, np.generic)) else type(value).__name__
