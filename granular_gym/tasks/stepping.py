"""stepping.py: `Stepping`: how a task steps its world, and what it reads of it, in one call of the engine each.

A task with a `drive` has its tools moved where the world runs: actions on a GPU stay there. `readings` and `counted`
say what is read of the world after a step; `results` holds it.
"""

from __future__ import annotations

import abc
from collections.abc import Sequence
from typing import Any, cast

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from granular_gym import _core
from granular_gym.base.types import Arrays, Floats
from granular_gym.engine.drives import Drive
from granular_gym.engine.outputs import Output, lies_on
from granular_gym.engine.results import Request, Results
from granular_gym.engine.world import World
from granular_gym.errors import ArgumentError
from granular_gym.tasks.actions import check_actions, device_actions
from granular_gym.tasks.complete import check_asked
from granular_gym.tasks.images import DepthImages
from granular_gym.tasks.pace import Pace


class Stepping(abc.ABC):
    """The part of `Task` that steps the world and reads it."""

    env_count: int
    world_grain_count: int  # what the world counts in an env: grains, or the spheres of clumps
    frame_skip: int  # control periods per env step
    pace: Pace
    action_space: spaces.Box
    depth_images: DepthImages
    fresh: NDArray[np.bool_]  # (env_count,) just reset: no step of the episode was made
    #: where images of observations go ("numpy", ...): they are read with the results of a step; None: when observed
    image_output: Output | None = None
    shows_images: bool  # observations hold images
    reads_wrenches: bool = False  # whatever `readings` says
    _skipping: bool = False  # more control periods of the same env step follow
    _idle: bool = False  # envs wait for their reset: it comes before the observation
    _paid: Floats | None = None  # (env_count,) in this env step before its last control period
    _over: NDArray[np.bool_]  # (env_count,) where there is such pay: terminated before that
    _tallies: tuple[Arrays, ...] = ()  # counters of this env step before its last control period
    _fault: tuple[int, int] | None = None  # env and index of an action on the GPU that was not finite
    _request: Request | None = None
    _results: Results | None = None
    _results_at: int = -1  # changes of the world that the results know
    _images_as: Output | None = None  # where the images of the results went; None: they are not there, or taken
    _counters_taken: bool = False  # those of the results

    @property
    @abc.abstractmethod
    def world(self) -> World:
        """The world of all envs."""

    # hooks -----------------------------------------------------------------------------------------------------------

    @abc.abstractmethod
    def advance(self, actions: Any, idle: NDArray[np.bool_]) -> None:
        """Steps the world by one control period.

        Args:
            actions: (env_count, k) float32 in [-1, 1]; of a task with a drive maybe an array on the world's GPU, which
                `simulate_driven` takes.
            idle: (env_count,) envs that wait for their reset: their tools stay still.
        """

    @abc.abstractmethod
    def evaluate(self) -> tuple[Floats, NDArray[np.bool_], Arrays]:
        """Rewards (env_count,) float64, terminated (env_count,), infos: arrays (env_count, ...) by name; all fresh."""

    def drive(self) -> Drive | None:
        """How actions move the tools, for `simulate_driven`; None: `advance` computes their poses."""
        return None

    def readings(self) -> dict[str, Any]:
        """What is read of the world at every step besides counters and images: arguments of `World.request`."""
        return {}

    def counted(self) -> dict[str, Any]:
        """In which boxes, or by which labels, grains are counted now: arguments of `World.results`."""
        return {}

    # stepping --------------------------------------------------------------------------------------------------------

    def step(self, actions: Any, idle: NDArray[np.bool_]) -> None:
        """Advances all envs by one env step; arguments: `advance`."""
        self._idle = bool(np.count_nonzero(idle))
        if self.frame_skip > 1:
            idle = self._skip(actions, idle)
        self._advance(actions, idle)

    def _skip(self, actions: Any, idle: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """The control periods of an env step but the last; returns which envs are idle in that one."""
        self._paid, self._over = np.zeros(self.env_count), np.zeros(self.env_count, bool)
        self._tallies, self._skipping = (), True
        try:
            for _ in range(self.frame_skip - 1):
                self._advance(actions, idle | self._over)
                rewards, terminated, _ = self.evaluate()
                self._paid += np.where(self._over, 0.0, rewards)
                self._over |= terminated & ~idle
                self._tallies = (*self._tallies, self._take_counters())
        finally:
            self._skipping = False
        return idle | self._over

    def _advance(self, actions: Any, idle: NDArray[np.bool_]) -> None:
        """One control period."""
        self.advance(actions, idle)
        self._check_fault()
        if np.count_nonzero(self.fresh):  # the task stepped the world itself
            self.fresh.fill(False)
            self._results = None

    def take_actions(self, actions: Any, idle: NDArray[np.bool_]) -> Any:
        """Checked actions (env_count, k): on the host, or where they are if a drive reads them on the world's GPU.

        Raises:
            ArgumentError: not numbers, wrong shape, or, on the host, not finite where an env is not idle.
        """
        world = self.world
        if world.has_drive and lies_on(actions, world.device):
            return device_actions("actions", actions, (self.env_count, *self.action_space.shape))
        return check_actions("actions", actions, self.action_space, idle)

    def simulate(self, tool_poses: Floats, substeps: int | None = None) -> None:
        """Steps the world at the task's pace.

        Args:
            tool_poses: (env_count, tool_count, 7) that the tools reach, see `World.step`.
            substeps: None: those of one control period.
        """
        count = self.pace.substeps if substeps is None else substeps
        self.world.step(dt=self.pace.dt, substeps=count, tool_poses=tool_poses)
        self.fresh.fill(False)

    def simulate_driven(
        self,
        actions: Any,
        idle: NDArray[np.bool_],
        state: Floats,
        substeps: int | None = None,
        **stroke: float,
    ) -> Floats:
        """The same with tools moved by the drive.

        Args:
            actions: of `advance`.
            idle: of `advance`.
            state: (env_count, n) of the drive before the control period.
            substeps: None: those of one control period.
            stroke: `share` and `scale` of `World.step_driven`.

        Returns:
            The state after the control period.
        """
        count = self.pace.substeps if substeps is None else substeps
        try:
            after, fault = self.world.step_driven(self.pace.dt, count, actions, state, idle, **stroke)
        except BufferError:  # on the GPU, but of another type, or not contiguous
            actions = check_actions("actions", actions, self.action_space, idle)
            after, fault = self.world.step_driven(self.pace.dt, count, actions, state, idle, **stroke)
        self._fault = fault or self._fault
        self.fresh.fill(False)
        return after

    def tool_wrenches(self) -> Floats:
        """Mean wrench of the grains on each tool over the last control period, as `World.wrenches` gives it."""
        wrenches: Floats = self.results.wrenches
        return wrenches

    def share_in(self, lower: Any, upper: Any) -> Floats:
        """Share of the grains of each env whose centre lies in a box, (env_count,), or in n boxes, (env_count, n).

        Args:
            lower: (3,), (env_count, 3) or (env_count, n, 3) corner [m].
            upper: likewise the other corner [m].
        """
        return self.shares_of(self.world.box_stats(lower, upper)[0])

    def shares_of(self, counts: NDArray[np.int64]) -> Floats:
        """Counts of grains as shares of all grains of an env."""
        # NumPy takes several times as long where the types of two numbers differ
        shares: Floats = counts.astype(np.float64) / self.world_grain_count
        return shares

    def sums_of(self, counts: NDArray[np.int64], weights: NDArray[np.int64]) -> Floats:
        """Weighted sums of counts of grains as shares of all grains of an env, (env_count, m).

        Args:
            counts: (env_count, k).
            weights: (k, m).
        """
        return _core.count_shares(counts, weights, self.world_grain_count)

    def unless_fresh(self, values: NDArray[Any]) -> NDArray[Any]:
        """Values (env_count, n), and 0 in envs that were just reset: there they are those of the episode before."""
        return np.where(self.fresh[:, None], 0.0, values) if np.count_nonzero(self.fresh) else values

    def _check_fault(self) -> None:
        """Raises where an action on the GPU was not finite."""
        if self._fault is not None:
            (env, action), self._fault = self._fault, None
            raise ArgumentError(
                f"actions: expected finite numbers, got one that is not at [{env}, {action}]; the tools of that env "
                "stayed, and the step was made"
            )

    # what is read --------------------------------------------------------------------------------------------------

    @property
    def results(self) -> Results:
        """What `readings` and `counted` ask for, in the state the world is in: all of it is read in one call."""
        if self._results is None or self._results_at != self.world.changes:
            unseen = self._idle or self._skipping or not self.shows_images
            return self._read(None if unseen else self.image_output)
        return self._results

    def _read(self, image_output: Output | None) -> Results:
        """Reads the results; image_output: where the images go, None: they are not needed."""
        world = self.world
        if self._request is None:
            also = {"wrenches": True} if self.reads_wrenches else {}
            asked = {**check_asked(self, "readings", self.readings()), **also}
            self._request = world.request(images=self.depth_images.requests(), **asked)
        images, output = image_output is not None, image_output or "numpy"
        counted = check_asked(self, "counted", self.counted())
        results = world.results(self._request, **counted, fresh=self.fresh, images=images, output=output)
        self._results, self._results_at, self._images_as = results, world.changes, image_output
        self._counters_taken = False
        return results

    def _take_images(self, output: Output) -> Sequence[Any]:
        """The images of observations, which the caller may change."""
        results = self.results
        if self._images_as != output:
            results = self._read(output)
        self._images_as = None  # the next caller gets others
        return results.images

    def _take_counters(self) -> Arrays:
        """The counters of the last step, which the caller may change."""
        results: Any = self.results
        counters = self.world.counters(self.fresh) if self._counters_taken else results.counters
        self._counters_taken = True  # the next caller gets others
        return cast(Arrays, counters)
