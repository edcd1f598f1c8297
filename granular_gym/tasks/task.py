"""task.py: what a task is, apart from the two Gymnasium interfaces that show it.

A task plays `env_count` copies of one game in one world. It builds the scene, maps actions to tool poses, reads
observations, rewards and infos, and starts chosen envs afresh with each env's own random generator. `gym_envs.py` wraps
the same task as a `gymnasium.Env` (one copy) and as a `gymnasium.vector.VectorEnv` (many): the rules exist once.

Key ideas: the world is opened at the first reset, so that making, pickling and closing a task starts no thread;
whatever is random in env k is drawn from generator k only and whatever is computed for env k uses row k only, so that
env k alone equals env k among many, bit for bit.
"""

from __future__ import annotations

import abc
import copy
import operator
from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
from gymnasium import spaces
from gymnasium.error import ClosedEnvironmentError
from gymnasium.utils import seeding
from numpy.typing import NDArray

from granular_gym import _core
from granular_gym.base.checks import host_array
from granular_gym.errors import ArgumentError

Floats = NDArray[np.floating[Any]]
Arrays = dict[str, NDArray[Any]]


def check_seed(name: str, seed: Any) -> int | None:
    """Returns a seed as a Python int >= 0, or None.

    Args:
        name: what the message calls the argument.
        seed: None or an integer of any kind.

    Raises:
        ArgumentError: not an integer, or negative.
    """
    if seed is None:
        return None
    try:
        value = operator.index(seed)
    except TypeError:
        raise ArgumentError(f"{name}: expected an integer >= 0 or None, got {seed!r}") from None
    if value < 0:
        raise ArgumentError(f"{name}: expected an integer >= 0, got {value}")
    return value


def check_actions(name: str, actions: Any, space: spaces.Box, env_count: int, used: NDArray[np.bool_]) -> Floats:
    """Returns actions as a fresh float32 array clipped to the bounds of the space.

    Args:
        name: what messages call the argument.
        actions: anything array-like of real numbers, on the host or a GPU, shape (env_count, k).
        space: Box of one env, shape (k,).
        env_count: number of rows wanted.
        used: (env_count,) rows that matter; the others may hold anything and read 0.

    Raises:
        ArgumentError: not numbers, wrong shape, or a used entry that is NaN or infinite.
    """
    try:
        array = host_array(actions)
    except (TypeError, ValueError) as error:
        raise ArgumentError(f"{name}: expected an array of numbers, got {type(actions).__name__} ({error})") from None
    if array.dtype.kind not in "fiub":
        raise ArgumentError(f"{name}: expected real numbers, got dtype {array.dtype}")
    shape = (env_count, *space.shape)
    if array.shape != shape:
        raise ArgumentError(f"{name}: expected shape {shape}, got {array.shape}")
    if np.count_nonzero(used) < env_count:
        array = np.where(used[:, None], array, 0)
    if not _core.all_finite(array):
        index = tuple(int(i) for i in np.argwhere(~np.isfinite(array))[0])
        raise ArgumentError(f"{name}: expected finite numbers, got {array[index]} at {list(index)}")
    return _core.clipped(array, space.low, space.high)


def copies_of(saved: dict[str, Any], count: int) -> dict[str, Any]:
    """What `Task.save` gave for one env, for a task of `count` copies of that env."""
    return {
        "world": saved["world"] * count,
        "generators": [copy.deepcopy(saved["generators"][0]) for _ in range(count)],
        "seeds": saved["seeds"] * count,
        "fresh": np.repeat(saved["fresh"], count),
        "memory": {name: np.repeat(values, count, axis=0) for name, values in saved["memory"].items()},
    }


class Task(abc.ABC):
    """A game played in `env_count` copies.

    Subclasses set `observation_space` (a flat Dict of Box) and `action_space` (a Box in [-1, 1]) of one env in their
    constructor, list in `memory` the attributes that hold their per-env state, and fill in the five hooks below.

    Args:
        env_count: number of copies, >= 1.
        render_mode: None, "rgb_array" or "depth_array".
    """

    metadata: ClassVar[dict[str, Any]] = {"render_modes": ["rgb_array", "depth_array"], "render_fps": 10}
    memory: ClassVar[tuple[str, ...]] = ()
    device: str = "cpu"  # where the world runs; tasks that leave the choice set it
    observation_space: spaces.Dict
    action_space: spaces.Box

    def __init__(self, env_count: int, render_mode: str | None = None) -> None:
        if isinstance(env_count, bool) or not isinstance(env_count, (int, np.integer)) or env_count < 1:
            raise ArgumentError(f"env_count: expected an integer >= 1, got {env_count!r}")
        if render_mode is not None and render_mode not in self.metadata["render_modes"]:
            raise ArgumentError(f"render_mode: expected None or {self.metadata['render_modes']}, got {render_mode!r}")
        self.env_count = int(env_count)
        self.render_mode = render_mode
        self.generators: list[np.random.Generator | None] = [None] * self.env_count
        self.seeds: list[int | None] = [None] * self.env_count
        self.fresh = np.ones(self.env_count, bool)  # just reset: counters of the step before are not theirs
        self.closed = False
        self._world: Any = None

    # hooks -----------------------------------------------------------------------------------------------------------

    @abc.abstractmethod
    def build(self) -> Any:
        """Builds the world of all copies."""

    @abc.abstractmethod
    def start(self, envs: NDArray[np.int32], options: dict[str, Any]) -> None:
        """Starts new episodes in the listed envs; draws from `self.generator(k)` only."""

    @abc.abstractmethod
    def advance(self, actions: Floats, held: NDArray[np.bool_]) -> None:
        """Steps the world once with actions (env_count, k); held envs keep their tools still."""

    @abc.abstractmethod
    def observe(self) -> Arrays:
        """Observations of all envs, fresh arrays (env_count, ...) by key of the observation space."""

    def observe_as(self, output: str) -> dict[str, Any]:
        """The same as `output` arrays, see `World.read`.

        Made on the host and copied to the GPU, unless a task overrides it: what it reads from the world, depth above
        all, need not leave the GPU.
        """
        observations = self.observe()
        return observations if output == "numpy" else self.give(observations, output)

    @abc.abstractmethod
    def outcome(self) -> tuple[Floats, NDArray[np.bool_], Arrays]:
        """Reward (env_count,) float64, terminated (env_count,), infos: arrays (env_count, ...) by name; all fresh."""

    @abc.abstractmethod
    def picture(self, env: int) -> NDArray[np.uint8]:
        """A picture for people, (H, W, 3) uint8."""

    @abc.abstractmethod
    def depth_picture(self, env: int) -> Floats:
        """A depth image of one env, (H, W) float32 [m]."""

    # the machinery shared by all tasks -------------------------------------------------------------------------------

    @property
    def world(self) -> Any:
        """The world; opened on first use.

        Raises:
            ClosedEnvironmentError: after close().
        """
        self.check_open()
        if self._world is None:
            self._world = self.build()
        return self._world

    def check_open(self) -> None:
        """Raises ClosedEnvironmentError after close()."""
        if self.closed:
            raise ClosedEnvironmentError(f"{type(self).__name__} is closed; make a new one")

    def generator(self, env: int) -> np.random.Generator:
        """The random generator of one env; seeded by the system where no seed was ever given."""
        generator = self.generators[env]
        if generator is None:
            generator, self.seeds[env] = seeding.np_random(None)
            self.generators[env] = generator
        return generator

    def reset(self, envs: NDArray[np.int32], seeds: Sequence[int | None], options: dict[str, Any] | None) -> None:
        """Starts new episodes in the listed envs.

        Args:
            envs: env indices, ascending.
            seeds: one per listed env; None keeps the running generator.
            options: given to the task.
        """
        for env, seed in zip(envs, seeds, strict=True):
            if seed is not None:
                self.generators[env], self.seeds[env] = seeding.np_random(seed)
        if len(envs):
            self.start(envs, dict(options or {}))
            self.fresh[envs] = True

    def step(self, actions: Floats, held: NDArray[np.bool_]) -> None:
        """Advances all envs by one step."""
        self.advance(actions, held)
        self.fresh[:] = False

    def read(self) -> tuple[Floats, NDArray[np.bool_], NDArray[np.bool_], Arrays]:
        """Reward, terminated, diverged (env_count,), and infos of the state the world is in.

        A diverged env (a position or velocity stopped being finite) earns 0 for that step and is not terminated: the
        wrappers truncate it.
        """
        reward, terminated, infos = self.outcome()
        for name, values in infos.items():
            if values.dtype.kind == "f" and not _core.all_finite(values):
                infos[name] = np.where(np.isfinite(values), values, 0.0)
        # after a reset no step was made yet: the counters of the episode before must not leak into the new one
        infos.update(self.world.counters(self.fresh))
        diverged = infos["diverged"]
        if np.count_nonzero(diverged) or not _core.all_finite(reward):
            reward = np.where(diverged | ~np.isfinite(reward), 0.0, reward)
            terminated = terminated & ~diverged
        return reward, terminated, diverged, infos

    def give(self, arrays: Arrays, output: str) -> dict[str, Any]:
        """Arrays of the host as `output`, see `World.put`."""
        return {name: self.world.put(array, output) for name, array in arrays.items()}

    def save(self) -> dict[str, Any] | None:
        """Everything that shapes the future of all envs, picklable; None while no world is open."""
        if self._world is None:
            return None
        return {
            "world": [self._world.save_state(env=env) for env in range(self.env_count)],
            "generators": self.generators,
            "seeds": self.seeds,
            "fresh": self.fresh.copy(),
            "memory": {name: np.copy(getattr(self, name)) for name in self.memory},
        }

    def load(self, saved: dict[str, Any] | None) -> None:
        """Goes back to what save() returned."""
        if saved is None:
            return
        for env, state in enumerate(saved["world"]):
            self.world.load_state(state, envs=[env])
        self.generators = list(saved["generators"])
        self.seeds = list(saved["seeds"])
        self.fresh = saved["fresh"].copy()
        for name, values in saved["memory"].items():
            setattr(self, name, values.copy())

    def close(self) -> None:
        """Frees the world; calling it again does nothing."""
        if self._world is not None:
            self._world.close()
            self._world = None
        self.closed = True
