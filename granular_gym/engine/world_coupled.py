"""world_coupled.py: coupled tools: links of robots that another engine moves, solved together with the contacts."""

from __future__ import annotations

from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from granular_gym import _core
from granular_gym.base import checks
from granular_gym.engine.frozen import FrozenScene
from granular_gym.errors import ArgumentError

Doubles = NDArray[np.float64]

_DOUBLE = np.dtype(np.float64)


class CoupledState(NamedTuple):
    """What `World.coupled_state` reads.

    Attributes:
        poses: float64 (env_count, coupled, 7): x y z [m], w x y z.
        twists: float64 (env_count, coupled, 6): velocity of the origin [m/s], angular velocity [rad/s].
        impulses: float64 (env_count, coupled, 6): of the grains over the last step [N s], their moments about the
            origin [N m s].
    """

    poses: Doubles
    twists: Doubles
    impulses: Doubles


class WorldCoupled:
    """The part of a `World` that another engine talks to. All of it in the axes of the world."""

    _core: _core.World
    _frozen: FrozenScene
    env_count: int
    changes: int

    @cached_property
    def _coupled_count(self) -> int:
        return len(self.coupled_tools)

    @property
    def coupled_tools(self) -> list[str]:
        """Names of the coupled tools, in the order of the arrays here."""
        flags = self._frozen.arrays["tool_free"][:, 3]
        return [name for name, index in self._frozen.tool_names.items() if flags[index]]

    def set_coupled(
        self,
        poses: Any = None,
        twists: Any = None,
        accelerations: Any = None,
        responses: Any = None,
        envs: Any = None,
    ) -> None:
        """Tells the next step where the coupled tools of the listed envs are, how they move and how they yield.

        What is None stays. During a step of several substeps they go on with their accelerations and with what grains
        change of their twists; afterwards the other engine takes `coupled_state().impulses` and says it anew.

        Args:
            poses: (listed, coupled, 7), or without the first axis for all: x y z [m], w x y z.
            twists: (.., 6) velocity of the origin [m/s], angular velocity [rad/s].
            accelerations: likewise [m/s2], [rad/s2], as they were without grains.
            responses: (.., 6 coupled, 6 coupled): how the twists change per impulse and moment at the origins [N s],
                [N m s]; J H^-1 J^T of a robot with the Jacobian J of the origins and the mass matrix H. Symmetric and
                positive semi-definite. 0 at first: nothing yields.
            envs: None (all), an index, a list of indices or a mask.

        Raises:
            ArgumentError: the world has no coupled tool, or a value that makes no sense.
        """
        count = self._coupled_count
        if not count:
            raise ArgumentError("set_coupled: expected a world with a coupled tool, this one has none")
        listed = checks.envs(envs, self.env_count)
        number = self.env_count if listed is None else len(listed)
        self.changes += 1
        self._core.set_coupled(
            listed,
            _of_envs("poses", poses, (number, count, 7)),
            _of_envs("twists", twists, (number, count, 6)),
            _of_envs("accelerations", accelerations, (number, count, 6)),
            _of_envs("responses", responses, (number, 6 * count, 6 * count)),
        )

    def coupled_state(self) -> CoupledState:
        """Where the coupled tools are after the last step, how fast, and what grains did to them.

        Raises:
            ArgumentError: the world has no coupled tool.
        """
        return CoupledState(*self._core.get_coupled())


def _of_envs(name: str, value: Any, shape: tuple[int, int, int]) -> Doubles | None:
    if value is None:
        return None
    if type(value) is np.ndarray and value.dtype is _DOUBLE and value.shape == shape:
        return np.ascontiguousarray(value)  # of steps, many times a second; the engine checks the numbers
    return np.ascontiguousarray(np.broadcast_to(checks.doubles(name, value, shape[1:], shape), shape))
