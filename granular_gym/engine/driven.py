"""driven.py: the part of `World` that turns the actions of an agent into tool poses, see drives.py."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from granular_gym.base import checks
from granular_gym.base.types import Floats as AnyFloats
from granular_gym.engine.drives import KINDS, Drive
from granular_gym.engine.outputs import lies_on
from granular_gym.engine.readout import Readout
from granular_gym.engine.results import Floats
from granular_gym.errors import ArgumentError


class Driven(Readout):
    """A world whose tools a drive can move."""

    #: calls so far that may have changed grains or tools
    changes: int
    _drive: Drive | None = None

    def _judge(self, dt: float) -> None:
        """Warns of the dangers of a time step, when it changes."""
        raise NotImplementedError

    @property
    def has_drive(self) -> bool:
        """Whether a drive was set."""
        return self._drive is not None

    def set_drive(self, drive: Drive) -> None:
        """Sets how `step_driven` turns actions into tool poses.

        Raises:
            ArgumentError: it does not move all tools, or its arrays do not fit its kind.
        """
        if not isinstance(drive, Drive):
            raise ArgumentError(f"drive: expected a Drive, got {type(drive).__name__}")
        kind = KINDS.index(checks.choice("drive.kind", drive.kind, KINDS))
        if drive.tool_count not in (None, self.tool_count):
            raise ArgumentError(
                f"drive: expected poses of all {self.tool_count} tools of the world, got those of {drive.tool_count}"
            )
        self._core.set_drive(kind, drive.action_count, drive.state_count, drive.index, drive.value)
        self._drive = drive

    def drive_poses(self, state: AnyFloats) -> Floats:
        """Poses (n, tool_count, 7) of the tools for states (n, state_count) of the drive."""
        return self._core.drive_poses(_state(state))

    def step_driven(
        self,
        dt: float,
        substeps: int,
        actions: Any,
        state: AnyFloats,
        idle: NDArray[np.bool_] | None = None,
        share: float = 1.0,
        scale: float = 1.0,
    ) -> tuple[NDArray[np.float64], tuple[int, int] | None]:
        """Advances all envs like `step`, with tools moved by the drive, where the world runs.

        Args:
            dt: length of a substep [s].
            substeps: >= 1. The tools move by the drive's period, or a share of it, however long dt * substeps is: that
                should be as long.
            actions: (env_count, action_count), clamped to [-1, 1]; an array on the world's GPU that exports DLPack is
                neither copied nor waited for.
            state: (env_count, state_count) before the control period.
            idle: (env_count,) envs whose tools stay; None: none.
            share: of the period's motion that is done at the end of this step, in (0, 1]: a period may be made in
                several steps from the same state.
            scale: of the positions that actions set in this step, 0 .. 1.

        Returns:
            The state after the whole period, and None, or the env and the index of an action on the GPU that is not
            finite: the tools of that env stayed.

        Raises:
            ArgumentError: as `step`; an action on the host that is not finite; no drive was set.
            BufferError: an array on a GPU that is not float32, contiguous, of this shape, on the GPU of the world.
        """
        if self._drive is None:
            raise ArgumentError("drive: expected a drive, none was set")
        length, part, size = checks.number("dt", dt), checks.number("share", share), checks.number("scale", scale)
        if not lies_on(actions, self.device):
            shape = self.env_count, self._drive.action_count
            actions = checks.floats("actions", actions, shape, finite=False)
        self._judge(length)
        self.changes += 1
        return self._core.step_driven(length, substeps, actions, _state(state), idle, part, size)


def _state(value: Any) -> NDArray[np.float64]:
    try:
        return np.ascontiguousarray(value, np.float64)
    except (TypeError, ValueError):
        raise ArgumentError(f"state: expected an array of numbers, got {type(value).__name__}") from None
