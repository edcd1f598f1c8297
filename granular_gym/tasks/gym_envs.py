"""gym_envs.py: the two Gymnasium interfaces of a task: `GranularVectorEnv` (a native batch) and `GranularEnv` (one).

Both run the same `Task` (task.py). The batch follows Gymnasium 1.x: all three autoreset modes, final observations kept,
infos as arrays with masks, integer seed s meaning s + k for env k. `gymnasium.make_vec` puts no wrapper around a native
batch, so the time limit and the check that reset came first live here. Observations are fresh arrays at every
call, or lie in the caller's (`out`).

An env that diverged (a position stopped being finite) is truncated with info["diverged"] and started afresh by the
autoreset, while its neighbours carry on.
"""

from __future__ import annotations

import copy
import enum
import math
from collections.abc import Mapping
from typing import Any, ClassVar

import gymnasium as gym
import numpy as np
from gymnasium import spaces
from gymnasium.envs.registration import EnvSpec
from gymnasium.error import ResetNeeded
from gymnasium.vector import VectorEnv
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from granular_gym import _core
from granular_gym.base import checks
from granular_gym.base.names import unknown
from granular_gym.base.types import Arrays
from granular_gym.engine.device import check_device
from granular_gym.engine.outputs import Output, check_output, torch_stream
from granular_gym.errors import ArgumentError
from granular_gym.tasks.actions import check_actions
from granular_gym.tasks.arguments import check_arguments, check_options
from granular_gym.tasks.complete import check_complete
from granular_gym.tasks.flat import Buffers, flattened
from granular_gym.tasks.images import POINTS
from granular_gym.tasks.registry import entry_of, is_task
from granular_gym.tasks.task import Task

try:
    from gymnasium.vector import AutoresetMode
except ImportError:  # Gymnasium 1.0 knows only the first mode and has no name for it

    class AutoresetMode(enum.Enum):  # type: ignore[no-redef]
        """When a finished env starts its next episode."""

        NEXT_STEP = "NextStep"
        SAME_STEP = "SameStep"
        DISABLED = "Disabled"


#: arguments of a batch that are not its task's
VECTOR_ARGUMENTS = ("num_envs", "max_episode_steps", "autoreset_mode", "render_mode", "output", "flat", "out")


def check_autoreset_mode(mode: Any) -> AutoresetMode:
    """Returns an autoreset mode given as the enum, its value ("NextStep") or its name in any case ("next_step")."""
    for known in AutoresetMode:
        if mode is known or (isinstance(mode, str) and mode.lower() in (known.name.lower(), known.value.lower())):
            return known
    raise unknown("autoreset_mode", mode, [known.value for known in AutoresetMode])


def rows(arrays: Arrays, env: int) -> Arrays:
    """Fresh copies of row `env` of each array."""
    return {key: np.array(values[env]) for key, values in arrays.items()}


def per_env(value: Any, env_count: int) -> tuple[Any, ...]:
    """A value once per env: its items where it has one for each."""
    if isinstance(value, (tuple, list, np.ndarray)) and len(value) == env_count:
        return tuple(value)
    return (value,) * env_count


def skipping_limit(env: Any) -> float:
    """Env steps after which the control periods of an episode are over, where a step is several of them.

    Gymnasium's own limit counts env steps; an episode of a task lasts as long whatever the frame skip. An env that the
    caller registered has the limit that it was registered with alone.
    """
    if env.spec is None or not is_task(env.spec.id):
        return math.inf
    steps: float = entry_of(env.spec.id).steps / env.task.frame_skip
    return steps


def shown_space(task: Task, flat: bool) -> Any:
    """The observation space of one env of a task: a Dict, or with `flat` a Box, which is not what its type says."""
    space = task.shown_space
    return spaces.flatten_space(space) if flat else space


class GranularVectorEnv(VectorEnv[dict[str, Any], Any, Any]):
    """A batch of envs of one task in one world.

    Args:
        num_envs: number of envs.
        max_episode_steps: episodes are truncated after this many steps; None: never. `make_vec` passes the task's. With
            `frame_skip` they are also truncated where the control periods of the task's are over.
        autoreset_mode: "NextStep" (default), "SameStep" or "Disabled", or Gymnasium's AutoresetMode.
        render_mode: None, "rgb_array" or "depth_array".
        output: of observations, rewards, terminated and truncated: "numpy"; "torch": tensors on the GPU the world runs
            on (`device="cuda"`), or on the host; "device": DeviceArrays, which JAX and CuPy take by DLPack. With the
            last two rewards are float32 and depth images never visit the host; with "torch" the world works on the
            stream that torch works on at the call. Infos, final observations among them, stay NumPy arrays.
        flat: observations are vectors, those of `gymnasium.spaces.flatten`, in place of a Dict.
        out: arrays that `reset` and `step` write into and return, by name: "observations" (a dict by key of arrays like
            the observations, or with `flat` one array), "rewards" (float64 or float32), "terminated", "truncated";
            some or all; each call overwrites what the one before wrote. `output` must be "numpy".
        **task_kwargs: given to the task.

    Raises:
        ArgumentError: an argument is not what it should be, for instance `output="device"` on the CPU.
        BackendError: the device is missing.
        GranularError: `output="torch"`, and it is not installed.
    """

    task_class: ClassVar[type[Task]]

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if hasattr(cls, "task_class"):  # a base of several env classes leaves it open
            cls.metadata = cls.task_class.metadata

    def __init__(
        self,
        num_envs: int = 1,
        *,
        max_episode_steps: int | None = None,
        autoreset_mode: str | AutoresetMode = AutoresetMode.NEXT_STEP,
        render_mode: str | None = None,
        output: Output = "numpy",
        flat: bool = False,
        out: Mapping[str, Any] | None = None,
        **task_kwargs: Any,
    ) -> None:
        self.closed: bool = True  # a constructor that fails leaves nothing for __del__ to close
        check_arguments(self.task_class, task_kwargs, VECTOR_ARGUMENTS)
        checks.integer("num_envs", num_envs, 1)
        if max_episode_steps is not None:
            checks.integer("max_episode_steps", max_episode_steps, 1)
        self._kwargs = {
            "num_envs": num_envs,
            "max_episode_steps": max_episode_steps,
            "autoreset_mode": autoreset_mode,
            "render_mode": render_mode,
            "output": output,
            "flat": flat,
            "out": out,
            **task_kwargs,
        }
        self.output: Output = check_output(output)
        self.autoreset_mode: AutoresetMode = check_autoreset_mode(autoreset_mode)
        self.task: Task = self.task_class(env_count=num_envs, render_mode=render_mode, **task_kwargs)
        check_complete(self.task)
        # whoever asks for arrays on a GPU may touch it: "auto" is settled here, not at the first reset
        if self.output == "device" and check_device(self.task.device) == "cpu":
            raise ArgumentError(
                f"output: expected 'numpy' or 'torch' on the CPU (device={self.task.device!r}), got 'device'"
            )
        if self.output == "device" and (self.task.noise is not None or self.task.depth_images.encoding == POINTS):
            raise ArgumentError("output: expected 'numpy' or 'torch' with a sensor or depth='points', got 'device'")
        self.flat: bool = checks.flag("flat", flat)
        if self.output == "device" and self.flat:
            raise ArgumentError("output: expected 'numpy' or 'torch' with flat=True, got 'device'")
        if self.output != "numpy" and out is not None:
            raise ArgumentError(f"out: expected None with output={self.output!r}")
        self.task.image_output = self.output
        self.num_envs: int = self.task.env_count
        self.max_episode_steps = max_episode_steps
        self.render_mode = render_mode
        self.metadata: dict[str, Any] = {
            **self.task.metadata,
            "render_fps": self.task.render_fps,
            "autoreset_mode": self.autoreset_mode,
        }
        self.single_observation_space: spaces.Dict = shown_space(self.task, self.flat)
        self.single_action_space: spaces.Box = self.task.action_space
        self.observation_space: spaces.Space[dict[str, Any]] = batch_space(self.single_observation_space, self.num_envs)
        self.action_space: spaces.Space[Any] = batch_space(self.single_action_space, self.num_envs)
        self._buffers: Buffers | None = None if out is None else Buffers(out, self.observation_space, self.num_envs)
        self._elapsed = np.zeros(self.num_envs, np.int64)
        self._started = np.zeros(self.num_envs, bool)
        self._finished = np.zeros(self.num_envs, bool)  # the episode has ended and no new one has begun
        self._some_finished = False
        self.closed = False

    # random numbers --------------------------------------------------------------------------------------------------

    @property  # type: ignore[misc, unused-ignore]
    def np_random(self) -> tuple[np.random.Generator, ...]:  # type: ignore[override, unused-ignore]
        """The random generators of the envs, as Gymnasium's own vector envs give them."""
        return tuple(self.task.generator(env) for env in range(self.num_envs))

    @property
    def np_random_seed(self) -> tuple[int | None, ...]:  # type: ignore[override, unused-ignore]
        """The seed each env was last given."""
        return tuple(self.task.seeds)

    def _seeds(self, seed: Any) -> list[int | None]:
        """One seed per env: None, s + k for an integer s, or a list's own."""
        if seed is None:
            return [None] * self.num_envs
        if isinstance(seed, (list, tuple, np.ndarray)):
            if len(seed) != self.num_envs:
                raise ArgumentError(f"seed: expected {self.num_envs} seeds, one per env, got {len(seed)}")
            return [checks.optional_seed(f"seed[{env}]", one) for env, one in enumerate(seed)]
        first = checks.seed("seed", seed)
        return [first + env for env in range(self.num_envs)]

    # episodes --------------------------------------------------------------------------------------------------------

    @property
    def writes_into_buffers(self) -> bool:
        """Whether what `reset` and `step` return are arrays of the caller, which the next call overwrites."""
        return self._buffers is not None

    def reset(  # type: ignore[override, unused-ignore]
        self,
        *,
        seed: int | list[int | None] | None = None,
        options: dict[str, Any] | None = None,
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """Starts new episodes.

        Args:
            seed: None (generators run on), an integer s (env k gets s + k), or one seed or None per env.
            options: "reset_mask": bool (num_envs,), at least one True: only these envs start afresh. The rest is given
                to the task, which must know its keys (`Task.option_names`); most tasks have none.

        Returns:
            Observations of all envs (num_envs, ...) and the infos of those that were reset.

        Raises:
            ArgumentError: a seed, the mask or an option is not what it should be.
        """
        options = check_options(options, ("reset_mask", *self.task.option_names))
        mask = self._check_mask(options.pop("reset_mask")) if "reset_mask" in options else np.ones(self.num_envs, bool)
        seeds = self._seeds(seed)
        self._join_stream()
        self._reset_envs(mask, seeds, options)
        infos = self._infos(self.task.outcome().infos, mask)
        return self._observe(), infos

    def _observe(self) -> Any:
        """Observations of all envs, as they are returned."""
        shown: Any = self.task.observe(self.output)
        if self.flat:
            target = None if self._buffers is None else self._buffers.observations
            shown = flattened(self.task.shown_space, shown, target)
        return shown if self._buffers is None else self._buffers.put(shown)

    def _join_stream(self) -> None:
        """Has the world work on the stream that torch works on now."""
        if self.output == "torch" and self.task.world.device != "cpu":
            stream = torch_stream(self.task.world.device)
            if stream != self.task.world.stream:
                self.task.world.set_stream(stream)

    def _check_mask(self, mask: Any) -> NDArray[np.bool_]:
        name = "options['reset_mask']"
        if not isinstance(mask, np.ndarray) or mask.dtype != np.bool_:
            raise ArgumentError(f"{name}: expected a numpy array of bool, got {mask!r}")
        if mask.shape != (self.num_envs,):
            raise ArgumentError(f"{name}: expected shape ({self.num_envs},), got {mask.shape}")
        if not mask.any():
            raise ArgumentError(f"{name}: expected at least one True, got none")
        waiting = ~self._started & ~mask
        if waiting.any():
            raise ResetNeeded(f"{name}: envs {np.flatnonzero(waiting).tolist()} were never reset; reset all envs first")
        return mask

    def _reset_envs(self, mask: NDArray[np.bool_], seeds: list[int | None], options: dict[str, Any] | None) -> None:
        """New episodes in the masked envs."""
        envs = np.flatnonzero(mask).astype(np.int32)
        self.task.reset(envs, [seeds[env] for env in envs], options)
        self._elapsed[mask] = 0
        self._started[mask] = True
        self._finished[mask] = False
        self._some_finished = bool(self._finished.any())

    def step(self, actions: Any) -> tuple[dict[str, Any], Any, Any, Any, dict[str, Any]]:  # type: ignore[override, unused-ignore]
        """Advances every env by one step.

        Args:
            actions: (num_envs, k) real numbers, on the host or a GPU; outside [-1, 1] they are clipped. Contiguous
                float32 on the GPU of the world stays there: it is neither copied nor waited for.

        Returns:
            Observations, rewards (num_envs,) float64 (float32 unless output is "numpy"), terminated and truncated
            (num_envs,) bool, infos.

        Raises:
            ResetNeeded: before the first reset, or, with autoreset disabled, where a finished env was not reset.
            ArgumentError: actions of a wrong shape or kind, NaN or infinite. Those that stay on the GPU are found out
                after the step, which was made with the tools of such envs at rest.
        """
        task = self.task
        task.check_open()
        if np.count_nonzero(self._started) < self.num_envs:
            raise ResetNeeded("step() was called before reset()")
        idle, some_idle = self._finished, self._some_finished
        if some_idle:
            if self.autoreset_mode is AutoresetMode.DISABLED:
                raise ResetNeeded(
                    f"envs {np.flatnonzero(idle).tolist()} have finished; reset them with options['reset_mask'] first"
                )
            idle = idle.copy()  # in next-step mode this step is the reset of these envs
        actions = task.take_actions(actions, idle)
        self._join_stream()
        task.step(actions, idle)
        self._elapsed += 1
        if some_idle:
            self._reset_envs(idle, [None] * self.num_envs, None)
        rewards, terminated, truncated, values = task.outcome()
        if self.max_episode_steps is not None:
            truncated |= self._elapsed >= self.max_episode_steps
        if task.frame_skip > 1:
            truncated |= self._elapsed >= skipping_limit(self)
        if some_idle:
            rewards[idle], terminated[idle], truncated[idle] = 0.0, False, False
        self._finished = terminated | truncated
        self._some_finished = bool(np.count_nonzero(self._finished))
        if self.autoreset_mode is not AutoresetMode.SAME_STEP or not self._some_finished:
            infos = _core.masked(values, self.num_envs)
        else:
            finals = self._finals(task.observe(), values, self._finished)
            self._reset_envs(self._finished.copy(), [None] * self.num_envs, None)
            everyone = np.ones(self.num_envs, bool)
            infos = {**self._infos(task.outcome().infos, everyone, values, ~finals["_final_obs"]), **finals}
        if self.output != "numpy":
            flags = {"rewards": rewards.astype(np.float32), "terminated": terminated, "truncated": truncated}
            rewards, terminated, truncated = task.to_output(flags, self.output).values()
        if self._buffers is not None:
            rewards, terminated, truncated = self._buffers.put_flags(rewards, terminated, truncated)
        return self._observe(), rewards, terminated, truncated, infos

    def _infos(
        self,
        values: Arrays,
        mask: NDArray[np.bool_],
        others: Arrays | None = None,
        other_mask: NDArray[np.bool_] | None = None,
    ) -> dict[str, Any]:
        """Infos in Gymnasium's form: `values` of the masked envs with masks; `others` where `other_mask` says so."""
        infos: dict[str, Any] = {}
        for name, array in values.items():
            if others is not None and other_mask is not None:
                array = np.where(other_mask.reshape(-1, *[1] * (array.ndim - 1)), others[name], array)
            infos[name] = np.where(mask.reshape(-1, *[1] * (array.ndim - 1)), array, np.zeros((), array.dtype))
            infos["_" + name] = mask.copy()
        return infos

    def _finals(self, observations: Arrays, values: Arrays, mask: NDArray[np.bool_]) -> dict[str, Any]:
        """The last observation and info of the masked envs, as Gymnasium's SyncVectorEnv hands them out."""
        final_obs = np.full(self.num_envs, None, dtype=object)
        space = self.task.shown_space
        for env in np.flatnonzero(mask):
            row = rows(observations, int(env))
            final_obs[env] = spaces.flatten(space, row) if self.flat else row
        return {
            "final_obs": final_obs,
            "_final_obs": mask.copy(),
            "final_info": self._infos(values, mask),
            "_final_info": mask.copy(),
        }

    # the rest of the interface ---------------------------------------------------------------------------------------

    def render(self) -> tuple[NDArray[Any], ...] | None:  # type: ignore[override, unused-ignore]
        """One image per env by `render_mode`: (H, W, 3) uint8 or (H, W) float32 [m]; None without a mode."""
        if self.render_mode is None:
            return None
        if not self._started.all():
            raise ResetNeeded("render() was called before reset()")
        if self.render_mode == "depth_array":
            return tuple(self.task.depth_pictures())
        return tuple(self.task.picture(env) for env in range(self.num_envs))

    def call(self, name: str, *args: Any, **kwargs: Any) -> tuple[Any, ...]:
        """What the method or attribute `name` gives, once per env, as Gymnasium's vector envs do."""
        value = getattr(self, name)
        if callable(value):
            value = value(*args, **kwargs)
        return per_env(value, self.num_envs)

    def get_attr(self, name: str) -> tuple[Any, ...]:
        """The attribute `name`, once per env."""
        return self.call(name)

    def close_extras(self, **kwargs: Any) -> None:
        """Frees the world."""
        self.task.close()

    def __getstate__(self) -> dict[str, Any]:
        return {
            "kwargs": self._kwargs,
            "spec": self.spec,
            "closed": self.closed,
            "task": self.task.save(),
            "counters": (self._elapsed.copy(), self._started.copy(), self._finished.copy()),
        }

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__init__(**state["kwargs"])  # type: ignore[misc, unused-ignore]
        self.spec: EnvSpec | None = state["spec"]
        self.task.load(state["task"])
        self._elapsed, self._started, self._finished = (array.copy() for array in state["counters"])
        self._some_finished = bool(self._finished.any())
        if state["closed"]:
            self.close()


class GranularEnv(gym.Env[dict[str, Any], Any]):
    """One env of a task: the batch of one, with Python numbers in place of arrays.

    Args:
        render_mode: None, "rgb_array" or "depth_array".
        flat: observations are vectors, those of `gymnasium.spaces.flatten`, in place of a Dict.
        **task_kwargs: given to the task.

    Raises:
        ArgumentError: an argument is not what it should be.
    """

    task_class: ClassVar[type[Task]]
    metadata: dict[str, Any]

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if hasattr(cls, "task_class"):  # a base of several env classes leaves it open
            cls.metadata = cls.task_class.metadata

    def __init__(self, render_mode: str | None = None, *, flat: bool = False, **task_kwargs: Any) -> None:
        check_arguments(self.task_class, task_kwargs, ("render_mode", "flat"))
        self._kwargs = {"render_mode": render_mode, "flat": flat, **task_kwargs}
        self.task: Task = self.task_class(env_count=1, render_mode=render_mode, **task_kwargs)
        check_complete(self.task)
        self.task.image_output = "numpy"
        self.metadata: dict[str, Any] = {**self.task.metadata, "render_fps": self.task.render_fps}
        self.render_mode = render_mode
        self.flat: bool = checks.flag("flat", flat)
        self.observation_space: spaces.Dict = shown_space(self.task, self.flat)
        self.action_space: spaces.Box = self.task.action_space
        self._started = False
        self._elapsed = 0  # env steps

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Arrays, dict[str, Any]]:
        """Starts a new episode.

        Args:
            seed: integer >= 0, or None: the generator runs on.
            options: None or a dict, whose keys are those of the task (`Task.option_names`); most tasks have none.

        Returns:
            Observation (fresh arrays) and info.
        """
        self.task.check_open()
        options = check_options(options, self.task.option_names)
        super().reset(seed=checks.optional_seed("seed", seed))
        self.task.generators[0] = self.np_random
        self.task.reset(np.zeros(1, np.int32), [None], options)
        self._started, self._elapsed = True, 0
        return self._observe(), self._info(self.task.outcome().infos)

    def _observe(self) -> Any:
        """The observation, as it is returned."""
        shown = rows(self.task.observe(), 0)
        return spaces.flatten(self.task.shown_space, shown) if self.flat else shown

    def step(self, action: Any) -> tuple[Arrays, float, bool, bool, dict[str, Any]]:
        """Advances by one step.

        Args:
            action: (k,) real numbers; outside [-1, 1] they are clipped.

        Returns:
            Observation (fresh arrays), reward, terminated, truncated (where the env diverged; with `frame_skip` also
            where the control periods of an episode are over, else `gymnasium.make` adds the time limit), info.

        Raises:
            ResetNeeded: before the first reset.
            ArgumentError: an action of a wrong shape or kind, NaN or infinite.
        """
        self.task.check_open()
        if not self._started:
            raise ResetNeeded("step() was called before reset()")
        try:
            batch = np.asarray(action)[None]
        except (TypeError, ValueError) as error:
            raise ArgumentError(f"action: expected an array of numbers ({error})") from None
        if batch.shape[1:] != self.action_space.shape:
            raise ArgumentError(f"action: expected shape {self.action_space.shape}, got {batch.shape[1:]}")
        idle = np.zeros(1, bool)
        self.task.step(check_actions("action", batch, self.task.action_space, idle, single=True), idle)
        rewards, terminated, truncated, values = self.task.outcome()
        self._elapsed += 1
        observation = self._observe()
        over = bool(truncated[0]) or (self.task.frame_skip > 1 and self._elapsed >= skipping_limit(self))
        return observation, float(rewards[0]), bool(terminated[0]), over, self._info(values)

    @staticmethod
    def _info(values: Arrays) -> dict[str, Any]:
        return {name: array[0].item() if array.ndim == 1 else np.array(array[0]) for name, array in values.items()}

    def render(self) -> NDArray[Any] | None:  # type: ignore[override, unused-ignore]
        """An image by `render_mode`: (H, W, 3) uint8 or (H, W) float32 [m]; None without a mode."""
        if self.render_mode is None:
            return None
        if not self._started:
            raise ResetNeeded("render() was called before reset()")
        return self.task.picture(0) if self.render_mode == "rgb_array" else self.task.depth_pictures()[0]

    def close(self) -> None:
        """Frees the world; calling it again does nothing."""
        if hasattr(self, "task"):  # absent where the constructor failed
            self.task.close()

    def __getstate__(self) -> dict[str, Any]:
        return {
            "kwargs": self._kwargs,
            "spec": self.spec,
            "closed": self.task.closed,
            "task": self.task.save(),
            "random": (copy.deepcopy(self._np_random), self._np_random_seed),
            "started": self._started,
            "elapsed": self._elapsed,
        }

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__init__(**state["kwargs"])  # type: ignore[misc, unused-ignore]
        self.spec: EnvSpec | None = state["spec"]
        self.task.load(state["task"])
        self._np_random, self._np_random_seed = state["random"]
        self.task.generators[0] = self._np_random
        self._started, self._elapsed = state["started"], state["elapsed"]
        if state["closed"]:
            self.close()
