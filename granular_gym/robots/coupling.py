"""coupling.py: steps a world and the robots of another engine together; what such an engine must offer.

The other engine says how its links move without grains and how they yield; the contact solve finds their motion
together with that of the grains (`World.set_coupled`); the engine takes the impulses and moves on. Nothing lags, so no
ratio of grain to link mass is unstable.
"""

from __future__ import annotations

import copy
import warnings
from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from granular_gym.base import checks
from granular_gym.engine.state import State
from granular_gym.engine.stats import Counters, counters_of_all
from granular_gym.engine.world import World
from granular_gym.errors import ArgumentError, StabilityWarning, StateError

Doubles = NDArray[np.float64]

#: a robot of which a number is larger is no longer sane; MuJoCo's own limit
LARGEST = 1e10


class Links(NamedTuple):
    """The links of one env that grains meet, in the axes of the world; n of them.

    Attributes:
        poses: origins and orientations (n, 7): x y z [m], w x y z.
        twists: velocity of the origin [m/s], angular velocity [rad/s] (n, 6).
        accelerations: the same per second, as they were without grains (n, 6).
        response: change of the stacked twists per impulse [N s] and moment [N m s] at the origins (6 n, 6 n);
            symmetric, positive semi-definite.
    """

    poses: Doubles
    twists: Doubles
    accelerations: Doubles
    response: Doubles


class Robots(Protocol):
    """What another engine offers, env by env. Its links are the coupled tools of a scene, in the same order."""

    #: names of the links
    names: list[str]
    #: number of envs
    env_count: int

    @property
    def dt(self) -> float:
        """Length of its time step [s]."""
        ...

    def links(self, env: int) -> Links:
        """Where the links are, how they move and how they yield."""

    def advance(self, env: int, impulses: Doubles, steps: int) -> bool:
        """Moves on by `steps` time steps, in which grains gave the links these impulses and moments (n, 6) in all.

        Returns:
            Whether all is finite; a robot that is not stays as it was before.
        """

    def save(self, env: int) -> bytes:
        """All that shapes its future."""

    def load(self, env: int, state: bytes) -> None:
        """Takes it back; StateError: it is that of another robot."""


class CoupledState(NamedTuple):
    """A saved world and its robots, env by env, and what `Coupling` tells of the last `step`."""

    world: State
    robots: tuple[bytes, ...]
    wrenches: Doubles
    counters: Counters


class Coupling:
    """A world and robots that step together.

    Args:
        world: whose scene has the robots' links as coupled tools, in their order (`MujocoRobots.add_to`).
        robots: as many as the world has envs.
        mode: "coupled": links are solved together with the contacts. "lagged": links move as if grains were not there,
            and take the impulses afterwards, as two programs do that exchange forces; unstable where the grains that a
            link carries outweigh it, of which a StabilityWarning tells.

    Raises:
        ArgumentError: other links or another number of envs.
    """

    def __init__(self, world: World, robots: Robots, mode: str = "coupled") -> None:
        if world.coupled_tools != robots.names:
            raise ArgumentError(f"robots: expected links {world.coupled_tools} of the world, got {robots.names}")
        if world.env_count != robots.env_count:
            raise ArgumentError(f"robots: expected {world.env_count} of them, one for each env, got {robots.env_count}")
        self.world = world
        self.robots = robots
        self.mode: str = checks.choice("mode", mode, ("coupled", "lagged"))
        #: whether the robot of an env is no longer finite (env_count,); it stands still then, until it is placed or a
        #: state is loaded; the others go on
        self.diverged: NDArray[np.bool_] = np.zeros(world.env_count, bool)
        self._none: NDArray[np.bool_] = np.zeros(world.env_count, bool)
        #: mean wrench of the grains on each link over the last `step` (env_count, links, 6) [N], [N m]
        self.wrenches: Doubles = np.zeros((world.env_count, len(robots.names), 6))
        #: of the last `step`, as `World.counters` has them of one step of the world: the largest overlap and residual,
        #: the sum of fast grains, else what holds at its end
        self.counters: Counters = world.counters()
        self._warned = False
        envs, n = world.env_count, len(robots.names)
        twists = np.zeros((2, envs, n, 6))
        #: what the world was told, with a first axis of envs
        self._told = Links(np.zeros((envs, n, 7)), twists[0], twists[1], np.zeros((envs, 6 * n, 6 * n)))

    def step(self, steps: int = 1, exchange: int = 1, still: Any = None) -> None:
        """Advances world and robots by `steps` time steps of the robots.

        Args:
            steps: >= 1.
            exchange: time steps between two exchanges; in between a link moves on by itself with the inverse inertia
                that it had. Divides `steps`.
            still: (env_count,) bool, in which envs the robot stands still all the while; None: in none.

        Raises:
            ArgumentError: no such numbers.
            CapacityError: the grains overlap massively.
        """
        count, each = checks.integer("steps", steps, 1), checks.integer("exchange", exchange, 1)
        if count % each:
            raise ArgumentError(f"exchange: expected a divisor of {count} steps, got {each}")
        held = self._none if still is None else self._mask("still", still)
        total, tallies = np.zeros_like(self.wrenches), []
        for _ in range(count // each):
            self._tell(range(self.world.env_count), held)
            self.world.step(self.robots.dt, each)
            impulses = self.world.coupled_state().impulses
            total += impulses
            tallies.append(self.world.counters())
            for env in np.flatnonzero(~(held | self.diverged)):
                self.diverged[env] = not self.robots.advance(int(env), impulses[env], each)
        self.wrenches = total / (count * self.robots.dt)
        self.counters = counters_of_all(tallies)
        if self.mode == "lagged" and not self._warned:
            self._warn_of_lag()

    def place(self, envs: Any = None) -> None:
        """Tells the world where robots are that were moved from outside, for who looks before the next step.

        `diverged` of these envs is cleared, unless a robot is still not sane.

        Args:
            envs: None (all), an index, a list of indices or a mask.
        """
        listed = checks.envs(envs, self.world.env_count)
        rows = range(self.world.env_count) if listed is None else [int(env) for env in listed]
        if len(rows):
            self.diverged[rows] = False
            self._tell(rows, self._none)

    def _tell(self, envs: Sequence[int], still: NDArray[np.bool_]) -> None:
        """Tells the world where the links of these envs are, how they move and how they yield.

        A robot whose links are no longer sane diverged: its links stay where they are.
        """
        told = self._told
        for env in envs:
            for every, own in zip(told, self.robots.links(env), strict=True):
                every[env] = own
        if not all(np.vdot(every, every) < LARGEST**2 for every in told):
            lost = [env for env in envs if not all((np.abs(every[env]) < LARGEST).all() for every in told)]
            self.diverged[lost] = True
            told.poses[lost] = self.world.coupled_state().poses[lost]
        if self.mode == "lagged":
            told.response[:] = 0.0
        if still.any() or self.diverged.any():
            for every in told[1:]:
                every[still | self.diverged] = 0.0
        if len(envs) == self.world.env_count:
            self.world.set_coupled(*told)
        else:
            rows = list(envs)
            poses, twists, accelerations, responses = (every[rows] for every in told)
            self.world.set_coupled(poses, twists, accelerations, responses, envs=rows)

    def _mask(self, name: str, mask: Any) -> NDArray[np.bool_]:
        flags = np.asarray(mask)
        if flags.dtype != np.bool_ or flags.shape != (self.world.env_count,):
            raise ArgumentError(f"{name}: expected bool ({self.world.env_count},), got {flags.dtype} {flags.shape}")
        return flags

    def mass_ratios(self) -> Doubles:
        """Mass of the grains that touch the links, over the smallest mass that a link has in any direction
        (env_count,)."""
        ratios = np.zeros(self.world.env_count)
        tools = [list(self.world.tool_names).index(name) for name in self.robots.names]
        mass = self.world.grain_masses
        for env in range(self.world.env_count):
            pairs = self.world.contacts(env).pairs
            response = self.robots.links(env).response
            for k, tool in enumerate(tools):
                touching = np.unique(pairs[pairs[:, 1] == -1 - tool, 0])
                yielding = float(np.linalg.eigvalsh(response[6 * k : 6 * k + 3, 6 * k : 6 * k + 3]).max())
                ratios[env] = max(ratios[env], float(mass[env, touching].sum()) * yielding)
        return ratios

    def _warn_of_lag(self) -> None:
        ratio = float(self.mass_ratios().max())
        if ratio >= 1.0:
            self._warned = True
            warnings.warn(
                f"mode: expected grains on a link that weigh less than it where forces lag, got {ratio:.2g} times its "
                'mass: it will oscillate; mode="coupled" does not',
                StabilityWarning,
                stacklevel=3,
            )

    def save_state(self) -> CoupledState:
        """Everything that shapes the future of the world and its robots, and `wrenches` and `counters`."""
        robots = tuple(self.robots.save(env) for env in range(self.world.env_count))
        return CoupledState(self.world.save_state(), robots, self.wrenches.copy(), copy.deepcopy(self.counters))

    def load_state(self, state: CoupledState) -> None:
        """Takes a saved state back, to the bit.

        Raises:
            StateError: of another world or robot, or of another number of envs; nothing has changed then.
        """
        if len(state.robots) != self.world.env_count:
            raise StateError(f"state: expected {self.world.env_count} robots, got {len(state.robots)}")
        before = [self.robots.save(env) for env in range(len(state.robots))]
        try:
            for env, saved in enumerate(state.robots):
                self.robots.load(env, saved)
            self.world.load_state(state.world)
        except StateError:
            for env, saved in enumerate(before):
                self.robots.load(env, saved)
            raise
        self.wrenches, self.counters = state.wrenches.copy(), copy.deepcopy(state.counters)
        self.diverged[:] = False
