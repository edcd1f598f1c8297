"""played.py: a task as the live view plays it: one env or a batch, and what acts in it."""

from __future__ import annotations

import inspect
from typing import Any

import gymnasium as gym
import numpy as np
from numpy.typing import NDArray

from granular_gym.base import checks
from granular_gym.errors import ArgumentError
from granular_gym.tasks.expert import scripted_expert
from granular_gym.tasks.registry import entry_of, task_class
from granular_gym.training.policies import BUILT_IN, load_policy, trained_arguments
from granular_gym.viewing.world_view import Look


class Played:
    """Envs of a task with a policy, which have been reset.

    Args:
        name: id of the task.
        policy: see `load_policy`; None: actions are given to `step`.
        count: number of envs.
        seed: of the first episode; env k has seed + k.
        arguments: of the task; default: those that a policy in a file was trained with.

    Raises:
        ArgumentError: an unknown argument or policy, or a value that the task refuses.
    """

    def __init__(self, name: str, policy: str | None, count: int, seed: int, arguments: dict[str, Any]) -> None:
        self.name, self.policy, self.count = name, policy, count
        self.arguments = {**({} if policy is None else trained_arguments(name, policy)), **arguments}
        if self.arguments.get("max_episode_steps") is not None:
            checks.integer("max_episode_steps", self.arguments["max_episode_steps"], 1)
        try:
            if count == 1:
                self.env: Any = gym.make(name, **self.arguments)
            else:
                self.env = gym.make_vec(name, num_envs=count, autoreset_mode="Disabled", **self.arguments)
        except TypeError as error:
            # the constructor's message names the unknown argument
            raise ArgumentError(f"argument: {error}") from None
        try:
            self._observation, _ = self.env.reset(seed=seed)
            self.env.action_space.seed(seed)
            self._expert = scripted_expert(self.env) if policy == BUILT_IN[0] else None
            self._act: Any = None
            if policy is not None and self._expert is None:
                self._act = load_policy(policy, self.env)
        except BaseException:
            self.env.close()
            raise
        self.returns, self.rewards = np.zeros(count), np.zeros(count)
        self._infos: dict[str, Any] = {}

    @property
    def task(self) -> Any:
        """The task."""
        return self.env.unwrapped.task

    @property
    def look(self) -> Look:
        """How the task's world is shown."""
        task = self.task
        return Look(task.grain_colors, task.tool_colors or None, task.floor_mark, task.view)

    @property
    def measure(self) -> str:
        """The info that says how well an episode goes."""
        return entry_of(self.name).measure

    def step(self, action: NDArray[np.float32] | None = None) -> NDArray[np.bool_]:
        """One env step.

        Args:
            action: (k,) of every env, where no policy acts.

        Returns:
            Where the episode is over (count,).
        """
        if action is not None:
            actions: Any = action if self.count == 1 else np.tile(action, (self.count, 1))
        else:
            actions = self._act(self._observation) if self._expert is None else self._expert.act()
        self._observation, reward, terminated, truncated, self._infos = self.env.step(actions)
        self.rewards = np.atleast_1d(np.asarray(reward, np.float64))
        self.returns += self.rewards
        return np.atleast_1d(np.asarray(terminated | truncated))

    def reset(self, over: NDArray[np.bool_]) -> None:
        """New episodes in the masked envs (count,)."""
        self._observation, _ = self.env.reset(**({} if self.count == 1 else {"options": {"reset_mask": over}}))
        self.returns[over], self.rewards[over] = 0.0, 0.0
        if self._expert is not None:
            self._expert.reset(over)

    def values(self) -> dict[str, NDArray[Any]]:
        """Reward, return and the infos that are one number per env, (count,) by name."""
        numbers = {"reward": self.rewards, "return": self.returns}
        for name, value in self._infos.items():
            array = np.asarray(value)
            array = array[None] if self.count == 1 else array
            if array.shape == (self.count,) and not name.startswith("_") and array.dtype.kind in "fiub":
                numbers[name] = array
        return numbers

    def close(self) -> None:
        """Frees the envs."""
        self.env.close()


def check_alike(first: Played, second: Played) -> None:
    """Refuses two tasks that cannot be stepped alike.

    Raises:
        ArgumentError: steps of different length, or, where a person drives both, different actions.
    """
    periods = [each.task.step_period for each in (first, second)]
    if periods[0] != periods[1]:
        raise ArgumentError(
            f"beside: expected a task whose steps last as long as the first's, {periods[0]:g} s, got {periods[1]:g} s"
        )
    shapes = [each.task.action_space.shape for each in (first, second)]
    if first.policy is None and shapes[0] != shapes[1]:
        raise ArgumentError(
            f"beside: expected a task with as many actions as the first, {shapes[0][0]}, as both are driven, "
            f"got {shapes[1][0]}"
        )


def difference(first: Played, second: Played) -> tuple[str, str]:
    """Labels of two tasks: what they differ by, or that one is a copy of the other."""
    texts: tuple[list[str], list[str]] = ([], [])
    if first.policy != second.policy:
        for text, each in zip(texts, (first, second), strict=True):
            text.append(str(each.policy))
    for name in sorted({*first.arguments, *second.arguments}):
        values = [each.arguments.get(name, _default(each.name, name)) for each in (first, second)]
        if values[0] != values[1]:
            for text, value in zip(texts, values, strict=True):
                text.append(f"{name}={value}")
    if not texts[0]:
        return "first", "copy"
    return ", ".join(texts[0]), ", ".join(texts[1])


def _default(task: str, argument: str) -> Any:
    """What an argument of a task is where it is not given."""
    for cls in task_class(task).__mro__:
        parameters = inspect.signature(vars(cls)["__init__"]).parameters if "__init__" in vars(cls) else {}
        if argument in parameters:
            return parameters[argument].default
    return None
