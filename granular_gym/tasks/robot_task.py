"""robot_task.py: `RobotTask`: a task whose tools are links of robots of another engine, which grains push back.

World and robots step together (`granular_gym.robots.coupling`), at the time step of the task's pace. What the robots
remember is an array of the task like any other, so that snapshots, copies, pickles and planners need to know nothing
of them.
"""

from __future__ import annotations

import abc
from typing import Any, ClassVar, cast

import numpy as np
from numpy.typing import NDArray

from granular_gym.base.types import Arrays, Floats
from granular_gym.engine.world import World
from granular_gym.robots.coupling import Coupling, Robots
from granular_gym.tasks.task import Task


class RobotTask(Task):
    """A task of robots among grains.

    Besides the hooks of `Task` a subclass fills in `make_robots`; its `bed_scene` adds their links as coupled tools;
    its `begin` sets the robots of the listed envs and calls `place_robots`; its `advance` gives them their controls and
    calls `simulate_robots`. Its `episode_state` begins with that of this class.

    Args:
        env_count: number of envs.
        kwargs: see `Task`.
    """

    episode_state: ClassVar[tuple[str, ...]] = ("robot_state", "robots_diverged", "wrenches")

    def __init__(self, env_count: int = 1, **kwargs: Any) -> None:
        super().__init__(env_count, **kwargs)
        #: one for each env; they step by `pace.dt`
        self.robots: Robots = self.make_robots()
        #: (env_count,) robots that are no longer finite: they stand still until their next episode
        self.robots_diverged: NDArray[np.bool_] = np.zeros(self.env_count, bool)
        #: mean wrench of the grains on each link over the last control period (env_count, links, 6) [N], [N m], about
        #: the link's origin, in the axes of the world; 0 where an episode begins
        self.wrenches: Floats = np.zeros((self.env_count, len(self.robots.names), 6))
        self._coupling: Coupling | None = None

    @abc.abstractmethod
    def make_robots(self) -> Robots:
        """`env_count` robots, whose time step is `pace.dt`."""

    # the state of the robots -----------------------------------------------------------------------------------------

    @property
    def robot_state(self) -> NDArray[np.uint8]:
        """All that shapes the future of the robots, as bytes (env_count, n)."""
        return np.stack([np.frombuffer(self.robots.save(env), np.uint8) for env in range(self.env_count)])

    @robot_state.setter
    def robot_state(self, states: NDArray[np.uint8]) -> None:
        for env, state in enumerate(states):
            self.robots.load(env, state.tobytes())

    # the world -------------------------------------------------------------------------------------------------------

    def build(self) -> World:
        """See `Task.build`; couples the robots to the world."""
        world = super().build()
        self._coupling = Coupling(world, self.robots)
        return world

    @property
    def coupling(self) -> Coupling:
        """World and robots."""
        world = self.world
        assert self._coupling is not None and self._coupling.world is world
        return self._coupling

    def place_robots(self, envs: NDArray[np.int32]) -> None:
        """Puts the links where the robots of the listed envs were set to, as episodes begin."""
        self.robots_diverged[envs], self.wrenches[envs] = False, 0.0
        coupling = self.coupling
        coupling.diverged[:] = self.robots_diverged
        coupling.place(envs)

    def simulate_robots(self, idle: NDArray[np.bool_], substeps: int | None = None) -> None:
        """Steps world and robots together.

        Args:
            idle: of `advance`; their robots stand still.
            substeps: time steps; None: those of one control period.
        """
        coupling = self.coupling
        coupling.diverged[:] = self.robots_diverged
        coupling.step(self.pace.substeps if substeps is None else substeps, still=idle)
        self.robots_diverged = coupling.diverged.copy()
        self.wrenches = coupling.wrenches
        self.fresh.fill(False)

    def tool_wrenches(self) -> Floats:
        """See `Stepping`; those of tools that are no links stay 0."""
        names = self.world.tool_names
        wrenches = np.zeros((self.env_count, len(names), 6))
        wrenches[:, [names.index(name) for name in self.robots.names]] = self.wrenches
        return wrenches

    def _take_counters(self) -> Arrays:
        """Those of the last control period; a robot that is no longer finite diverged, too."""
        last = cast(Arrays, self.coupling.counters)
        counters = {name: np.where(self.fresh, np.zeros((), last[name].dtype), last[name]) for name in last}
        counters["diverged"] = counters["diverged"] | self.robots_diverged
        return counters
