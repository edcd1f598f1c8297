"""drives.py: `Drive`: how the actions of an agent move the tools of an env, computed where the world runs.

A drive is kinematic: from actions in [-1, 1] and a state (joint positions, the pose of a vehicle, ...) follow the state
after a control period and the poses of all tools. `World.step_driven` runs it as a phase of the engine
(csrc/geometry/drives.h), so that actions on a GPU need not come to the host. Vehicles and arms make theirs
(granular_gym/tasks/vehicle.py, arm.py); tools on slides and hinges are described here.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from granular_gym.base import checks
from granular_gym.errors import ArgumentError

#: kinds of drives, in the order of csrc/geometry/drives.h
KINDS = ("joints", "vehicle", "arm")
#: kinds of axes: slides along x y z of the world, hinges about x y z of the tool
AXES = ("x", "y", "z", "turn_x", "turn_y", "turn_z")


@dataclass(frozen=True, eq=False)
class Drive:
    """A drive as the engine takes it.

    Attributes:
        kind: one of KINDS.
        action_count: actions of an env.
        state_count: numbers of its state.
        index: (n,) int32, and
        value: (m,) float64: what it is made of, in the order that the file of its kind states.
        tool_count: tools of which it has poses; None: however many a world has.
    """

    kind: str
    action_count: int
    state_count: int
    index: NDArray[np.int32]
    value: NDArray[np.float64]
    tool_count: int | None = None


@dataclass(frozen=True)
class Joint:
    """A slide or hinge.

    Attributes:
        action: index of the action that moves it; None: it stays where the state has it.
        rate: speed at action 1 [m/s or rad/s]; with `position`: position at action 1 [m or rad].
        lower: limit [m or rad].
        upper: limit.
        position: the action sets the position, not the speed.
        wraps: an angle without limits, kept in [-pi, pi). It turns by at most pi in a control period, else tools would
            turn the other way; it moves no slides, and hinges by whole factors, as others would jump where it wraps.

    Raises:
        ArgumentError: a value that makes no sense, or limits the wrong way round.
    """

    action: int | None = None
    rate: float = 0.0
    lower: float = -np.inf
    upper: float = np.inf
    position: bool = False
    wraps: bool = False

    def __post_init__(self) -> None:
        if self.action is not None:
            checks.integer("action", self.action, 0)
        checks.number("rate", self.rate)
        if _limit("lower", self.lower) > _limit("upper", self.upper):
            raise ArgumentError(f"lower, upper: expected lower <= upper, got {self.lower!r} and {self.upper!r}")
        checks.flag("position", self.position)
        checks.flag("wraps", self.wraps)


@dataclass(frozen=True)
class Axis:
    """A tool that follows a joint.

    Attributes:
        tool: index among all tools.
        joint: index among all joints.
        kind: one of AXES.
        factor: the tool moves by that much per position of the joint.

    Raises:
        ArgumentError: a value that makes no sense; `joint_drive` finds a joint, tool or action that is not there.
    """

    tool: int
    joint: int
    kind: str
    factor: float = 1.0

    def __post_init__(self) -> None:
        checks.integer("tool", self.tool, 0)
        checks.integer("joint", self.joint, 0)
        checks.choice("kind", self.kind, AXES)
        checks.number("factor", self.factor)


#: stands for no limit: far beyond any scene, and finite
_FAR = 1e9


def _limit(name: str, value: Any) -> float:
    """A number, or an infinite one, which is no limit."""
    return value if isinstance(value, float) and math.isinf(value) else checks.number(name, value)


def joint_drive(joints: Sequence[Joint], axes: Sequence[Axis], poses: Any, period: float, action_count: int) -> Drive:
    """The drive of tools on slides and hinges; its state are the positions of the joints.

    Args:
        joints: all joints of an env.
        axes: which tools they move; several of one tool act in this order, slides along the axes of the world.
        poses: (tool_count, 7) of the tools where all joints are 0.
        period: control period [s].
        action_count: actions of an env.

    Raises:
        ArgumentError: an action, joint or tool that is not there, or an argument that is not what it should be.
            `World.set_drive` finds poses of other tools than a world has.
    """
    rest = checks.doubles("poses", poses, (None, 7))
    length = checks.number("period", period, 0.0, above=True)
    actions = checks.integer("action_count", action_count, 1)
    for name, given in (("joints", joints), ("axes", axes)):
        if isinstance(given, str) or not isinstance(given, Sequence):
            raise ArgumentError(f"{name}: expected a sequence, got {type(given).__name__}")
    for k, joint in enumerate(joints):
        checks.instance(f"joints[{k}]", joint, Joint)
        if joint.action is not None:
            checks.integer(f"joints[{k}].action", joint.action, 0, actions - 1)
        if joint.wraps:
            most = math.pi if joint.position else math.pi / length
            checks.number(f"joints[{k}].rate", joint.rate, -most, most)
    for k, axis in enumerate(axes):
        checks.instance(f"axes[{k}]", axis, Axis)
        checks.integer(f"axes[{k}].tool", axis.tool, 0, len(rest) - 1)
        checks.integer(f"axes[{k}].joint", axis.joint, 0, len(joints) - 1)
        if joints[axis.joint].wraps:
            checks.choice(f"axes[{k}].kind", axis.kind, AXES[3:])
            if axis.factor != round(axis.factor):
                raise ArgumentError(
                    f"axes[{k}].factor: expected a whole number where the angle wraps, got {axis.factor}"
                )
    index = [len(joints), len(axes)]
    for joint in joints:
        index += [-1 if joint.action is None else joint.action, joint.position, joint.wraps]
    for axis in axes:
        index += [axis.tool, axis.joint, AXES.index(axis.kind)]
    limits = [(joint.rate, length, max(joint.lower, -_FAR), min(joint.upper, _FAR)) for joint in joints]
    value = np.concatenate([np.ravel(limits), [axis.factor for axis in axes], np.ravel(rest)])
    numbers = np.array(index, np.int32), value.astype(np.float64)
    return Drive("joints", actions, len(joints), *numbers, tool_count=len(rest))
