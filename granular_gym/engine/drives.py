"""drives.py: `Drive`: how the actions of an agent move the tools of an env, computed where the world runs.

A drive is kinematic: from actions in [-1, 1] and a state (joint positions, the pose of a vehicle, ...) follow the state
after a control period and the poses of all tools. `World.step_driven` runs it as a phase of the engine
(csrc/geometry/drives.h), so that actions on a GPU need not come to the host. Vehicles and arms make theirs
(granular_gym/tasks/vehicle.py, arm.py); tools on slides and hinges are described here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from granular_gym.base import checks

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
    """

    kind: str
    action_count: int
    state_count: int
    index: NDArray[np.int32]
    value: NDArray[np.float64]


@dataclass(frozen=True)
class Joint:
    """A slide or hinge.

    Attributes:
        action: index of the action that moves it; None: it stays where the state has it.
        rate: speed at action 1 [m/s or rad/s]; with `position`: position at action 1 [m or rad].
        lower: limit [m or rad].
        upper: limit.
        position: the action sets the position, not the speed.
        wraps: an angle without limits, kept in [-pi, pi); it turns by at most pi in a control period.
    """

    action: int | None = None
    rate: float = 0.0
    lower: float = -np.inf
    upper: float = np.inf
    position: bool = False
    wraps: bool = False


@dataclass(frozen=True)
class Axis:
    """A tool that follows a joint.

    Attributes:
        tool: index among all tools.
        joint: index among all joints.
        kind: one of AXES.
        factor: the tool moves by that much per position of the joint.
    """

    tool: int
    joint: int
    kind: str
    factor: float = 1.0


#: stands for no limit: far beyond any scene, and finite
_FAR = 1e9


def joint_drive(
    joints: Sequence[Joint], axes: Sequence[Axis], poses: NDArray[np.floating], period: float, action_count: int
) -> Drive:
    """The drive of tools on slides and hinges; its state are the positions of the joints.

    Args:
        joints: all joints of an env.
        axes: which tools they move; several of one tool act in this order, slides along the axes of the world.
        poses: (tool_count, 7) of the tools where all joints are 0.
        period: control period [s].
        action_count: actions of an env.

    Raises:
        ArgumentError: an axis of no such kind. `World.set_drive` finds what else does not fit.
    """
    for k, axis in enumerate(axes):
        checks.choice(f"axes[{k}].kind", axis.kind, AXES)
    index = [len(joints), len(axes)]
    for joint in joints:
        index += [-1 if joint.action is None else joint.action, joint.position, joint.wraps]
    for axis in axes:
        index += [axis.tool, axis.joint, AXES.index(axis.kind)]
    limits = [(joint.rate, period, max(joint.lower, -_FAR), min(joint.upper, _FAR)) for joint in joints]
    value = np.concatenate([np.ravel(limits), [axis.factor for axis in axes], np.ravel(poses)])
    return Drive("joints", action_count, len(joints), np.array(index, np.int32), value.astype(np.float64))
