"""world_tools.py: what a user sets of the tools of a world: poses, which take part, forces on those with a mass."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from granular_gym.base import checks, names
from granular_gym.engine.driven import Driven
from granular_gym.engine.results import Floats
from granular_gym.errors import ArgumentError

#: what the engine keeps of the motion of a tool with a mass, in its order
_MOTIONS = "velocity", "force", "angular_velocity", "torque"


class WorldTools(Driven):
    """A world whose tools can be set; and the checks of arguments by env that all settings share."""

    changes: int

    # ---- any tool ----

    def set_tool_poses(self, poses: Any, envs: Any = None) -> None:
        """Moves the tools of the listed envs at once, without velocity: (listed, tool_count, 7) or (tool_count, 7).

        Those with a mass are at rest then; the force on them stays.
        """
        listed, count = self._envs(envs)
        self.changes += 1
        self._core.set_tool_poses(listed, self._poses("poses", poses, count))

    def set_tool_active(self, tool: int | str, active: Any, envs: Any = None) -> None:
        """Takes a tool of the listed envs out, or puts it back.

        While it is out, grains pass through it, its wrench is 0, and neither cameras nor pictures see it. It keeps its
        pose, may be moved, and cameras ride on it; one with a mass stands still. Where it comes back among grains they
        are pushed out, as from any overlap; `stats["overlap_max"]` tells how deep they were. Part of a state.

        Args:
            tool: by index or name.
            active: one bool for all, or (listed,).
            envs: None (all), an index, a list of indices or a mask.
        """
        index = self._tool(tool)
        listed, count = self._envs(envs)
        now = self._core.get_tools_active()
        now = now if listed is None else now[listed]
        now[:, index] = checks.flags("active", active, count)
        self.changes += 1
        self._core.set_tools_active(listed, now)

    # ---- tools with a mass ----

    def set_tool_force(self, tool: int | str, force: Any, envs: Any = None) -> None:
        """Sets the force on a tool with a mass, which acts until it is set anew; 0 at first. Part of a state.

        Args:
            tool: by index or name.
            force: (listed, 3) or (3,), at the tool's origin in world axes [N]; what points along an axis that is not
                free is taken up by the tool's guide.
            envs: None (all), an index, a list of indices or a mask.

        Raises:
            ArgumentError: the tool has no mass, or the force is not finite or of another shape.
        """
        self._set_motion(tool, "force", force, envs)

    def set_tool_velocity(self, tool: int | str, velocity: Any, envs: Any = None) -> None:
        """Sets the velocity of a tool with a mass: (listed, 3) or (3,) [m/s]; along axes that are not free it stays 0.

        Raises:
            ArgumentError: the tool has no mass, or the velocity is not finite or of another shape.
        """
        self._set_motion(tool, "velocity", velocity, envs)

    def set_tool_torque(self, tool: int | str, torque: Any, envs: Any = None) -> None:
        """Sets the torque on a tool with an inertia, which acts until it is set anew; 0 at first. Part of a state.

        Args:
            tool: by index or name.
            torque: (listed, 3) or (3,), in world axes [N m].
            envs: None (all), an index, a list of indices or a mask.

        Raises:
            ArgumentError: the tool has no inertia, or the torque is not finite or of another shape.
        """
        self._set_motion(tool, "torque", torque, envs)

    def set_tool_angular_velocity(self, tool: int | str, angular_velocity: Any, envs: Any = None) -> None:
        """Sets the angular velocity of a tool with an inertia: (listed, 3) or (3,), in world axes [rad/s].

        Raises:
            ArgumentError: the tool has no inertia, or the angular velocity is not finite or of another shape.
        """
        self._set_motion(tool, "angular_velocity", angular_velocity, envs)

    def tool_force(self, tool: int | str) -> Floats:
        """The force that `set_tool_force` gave a tool with a mass (env_count, 3) [N].

        Raises:
            ArgumentError: the tool has no mass.
        """
        return self._motion(tool, "force")

    def tool_velocity(self, tool: int | str) -> Floats:
        """Velocity of a tool with a mass (env_count, 3) [m/s].

        Raises:
            ArgumentError: the tool has no mass.
        """
        return self._motion(tool, "velocity")

    def tool_torque(self, tool: int | str) -> Floats:
        """The torque that `set_tool_torque` gave a tool with a mass (env_count, 3) [N m]; 0 of one that does not turn.

        Raises:
            ArgumentError: the tool has no mass.
        """
        return self._motion(tool, "torque")

    def tool_angular_velocity(self, tool: int | str) -> Floats:
        """Angular velocity of a tool with a mass (env_count, 3), in world axes [rad/s]; 0 of one that does not turn.

        Raises:
            ArgumentError: the tool has no mass.
        """
        return self._motion(tool, "angular_velocity")

    def _motion(self, tool: int | str, name: str) -> Floats:
        return self._core.get_tool_motion(self._tool(tool))[_MOTIONS.index(name)]

    def _set_motion(self, tool: int | str, name: str, value: Any, envs: Any) -> None:
        index = self._tool(tool)
        listed, count = self._envs(envs)
        rows = self._per_env(name, value, (3,), count)
        self.changes += 1
        self._core.set_tool_motion(listed, index, *(rows if each == name else None for each in _MOTIONS))

    def _motion_of_tools(self) -> tuple[Floats, dict[int, Floats]]:
        """Poses of all tools and velocities of those with a mass: what a step changes without being told to."""
        if self.coupled_tools:
            raise ArgumentError("settle_impulses: expected a world without coupled tools, another engine moves them")
        masses = self._frozen.arrays["tool_mass"]
        if masses[:, 7].any():
            raise ArgumentError("settle_impulses: expected a world without tools on springs, which must stay loaded")
        massive = np.flatnonzero(masses[:, 0])
        return self._core.get_tool_poses(), {int(k): self._core.get_tool_motion(int(k))[0] for k in massive}

    def _restore_motion_of_tools(self, motion: tuple[Floats, dict[int, Floats]]) -> None:
        poses, velocities = motion
        if velocities:
            self._core.set_tool_poses(None, poses)
        for tool, velocity in velocities.items():
            self._core.set_tool_motion(None, tool, velocity, None, None, None)

    # ---- arguments by env ----

    def _tool(self, value: int | str) -> int:
        return names.index("tool", value, self.tool_names, "tool")

    def _envs(self, value: Any) -> tuple[NDArray[np.int32] | None, int]:
        listed = checks.envs(value, self.env_count)
        return listed, self.env_count if listed is None else len(listed)

    def _per_env(self, name: str, value: Any, shape: tuple[int, ...], count: int) -> Floats:
        """float32 (count, *shape) from that shape or one for all."""
        return _for_each(checks.floats(name, value, (count, *shape), shape), shape, count)

    def _angles(self, name: str, value: Any, shape: tuple[int, ...], count: int) -> Floats:
        """The same for angles [rad]."""
        return _for_each(checks.angles(name, value, (count, *shape), shape), shape, count)

    def _poses(self, name: str, value: Any, count: int) -> Floats:
        """float32 (count, tool_count, 7) from that shape or one for all; the engine checks the numbers."""
        shape = self.tool_count, 7
        return _for_each(checks.floats(name, value, (count, *shape), shape, finite=False), shape, count)


def _for_each(array: Floats, shape: tuple[int, ...], count: int) -> Floats:
    """(count, *shape) from that shape or one for all."""
    return array if array.ndim > len(shape) else np.ascontiguousarray(np.broadcast_to(array, (count, *shape)))
