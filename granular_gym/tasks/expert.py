"""expert.py: what the scripted experts of all tasks have in common: they act for every env of a batch.

An expert may read what a learner may not (grain positions, the goal, the exact state of the task); learners are
compared with it. `registry.py` says which expert plays which task; `scripted_expert` makes it.
"""

from __future__ import annotations

import abc
from typing import Any

import numpy as np
from numpy.typing import NDArray

from granular_gym.base.types import Floats
from granular_gym.errors import ArgumentError
from granular_gym.tasks.registry import entry_of, loaded


class _Begun(abc.ABCMeta):
    """Makes experts that have forgotten every plan once their whole constructor has run, whatever it sets when."""

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        made = super().__call__(*args, **kwargs)
        made.reset()
        return made


class Experts(metaclass=_Begun):
    """Scripted experts for all envs of a task.

    What they remember of each env is made in their constructor, after that of this class; `forget` is first called
    once it is through.

    Args:
        env: a GranularEnv or GranularVectorEnv, wrapped or not, that has been reset.
    """

    def __init__(self, env: Any) -> None:
        self.task: Any = env.unwrapped.task
        self.single: bool = not hasattr(env.unwrapped, "num_envs")

    @abc.abstractmethod
    def forget(self, env: int) -> None:
        """Forgets the plan for one env."""

    @abc.abstractmethod
    def actions(self) -> Floats:
        """Actions for the state the envs are in, (env_count, k)."""

    def reset(self, mask: NDArray[np.bool_] | None = None) -> None:
        """Forgets the plans of all envs, or of the masked ones: call it when their episodes begin."""
        for env in range(self.task.env_count):
            if mask is None or mask[env]:
                self.forget(env)

    def act(self) -> Floats:
        """Actions in [-1, 1]: (k,) for a single env, (num_envs, k) for a batch."""
        actions = np.clip(self.actions(), -1.0, 1.0).astype(np.float32)
        return actions[0] if self.single else actions


class Drivers(Experts):
    """Scripted experts that keep one driver per env: an object that plans for one env and has `reset()`.

    Args:
        env: a GranularEnv or GranularVectorEnv, wrapped or not, that has been reset.
    """

    def __init__(self, env: Any) -> None:
        task = env.unwrapped.task
        self.drivers: list[Any] = [self.make_driver(task) for _ in range(task.env_count)]
        super().__init__(env)

    @abc.abstractmethod
    def make_driver(self, task: Any) -> Any:
        """A driver for one env of a task."""

    @abc.abstractmethod
    def drive(self, env: int, positions: Floats) -> Floats:
        """The action (k,) of one env.

        Args:
            env: index.
            positions: (world_grain_count, 3) of its grains, or of the spheres of clumps [m].
        """

    def forget(self, env: int) -> None:
        """Forgets the plan for one env."""
        self.drivers[env].reset()

    def actions(self) -> Floats:
        """Actions for the state the envs are in, (env_count, k)."""
        positions = self.task.world.positions
        return np.stack([self.drive(env, positions[env]) for env in range(self.task.env_count)])


def scripted_expert(env: Any) -> Experts:
    """The scripted expert of an env's task, see `Experts`.

    Args:
        env: an env made by `gymnasium.make` or `make_vec` with a task of this package, that has been reset.

    Raises:
        ArgumentError: the env is none of this package's tasks, nor registered by `register_task`, or its task has no
            scripted expert.
    """
    if not hasattr(getattr(env, "unwrapped", None), "spec"):
        raise ArgumentError(f"env: expected an env of granular_gym, got {type(env).__name__}")
    spec = env.unwrapped.spec
    name = "" if spec is None else spec.id
    path = entry_of(name).expert
    if path is None:
        raise ArgumentError(f"env: expected a task with a scripted expert, {name} was registered without one")
    if not hasattr(env.unwrapped, "task"):
        raise ArgumentError(f"env: expected an env of granular_gym, got {type(env.unwrapped).__name__}")
    expert: Experts = loaded(path)(env)
    return expert
