"""action_names.py: what each action of a task is called, what 1 stands for, and the keys that move it.

One table for all who let a person drive: the live view's sliders and keys, keyboards and gamepads of recordings.
Letters of the view's own camera (W, A, S, D, Q, E) move no action.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from granular_gym.tasks.registry import bare_id, unversioned

#: pairs of keys for actions in turn: the first raises, the second lowers; further actions have none
KEY_PAIRS = (
    ("I", "K"),
    ("J", "L"),
    ("Y", "H"),
    ("U", "O"),
    ("T", "G"),
    ("R", "F"),
    ("V", "B"),
    ("Z", "X"),
)
#: the key that sets all actions to 0
ZERO_KEY = "space"

# by what they do, for one hand: the letters lie as the directions do on a common keyboard
_AHEAD, _LEFT, _UP, _TURN_LEFT = KEY_PAIRS[:4]
_RIGHT, _TURN_RIGHT = _LEFT[::-1], _TURN_LEFT[::-1]


@dataclass(frozen=True)
class ActionAxis:
    """One action, a number in [-1, 1].

    Attributes:
        name: what it is, and where positive ones point if the name does not tell.
        full: what 1 stands for, with its unit.
        keys: that raise and lower it: capital letters; None: too many actions for the keys.
    """

    name: str
    full: str
    keys: tuple[str, str] | None = None

    @property
    def label(self) -> str:
        """Name and unit, as "forward speed, 1 = 0.8 m/s"."""
        return f"{self.name}, 1 = {self.full}" if self.full else self.name


def _in_turn(axes: list[tuple[str, str]]) -> list[ActionAxis]:
    """Actions (name, full) with keys in the order of KEY_PAIRS."""
    return [ActionAxis(name, full, KEY_PAIRS[k] if k < len(KEY_PAIRS) else None) for k, (name, full) in enumerate(axes)]


def _bulldozer(task: Any) -> list[ActionAxis]:
    return [ActionAxis("forward speed", "0.8 m/s", _AHEAD), ActionAxis("yaw rate, left positive", "1 rad/s", _LEFT)]


_JOINTS = ("base", "shoulder", "upper arm", "elbow", "forearm", "wrist", "bucket")


def _excavator(task: Any) -> list[ActionAxis]:
    """Joint speeds, or torques where the task takes them."""
    torque = getattr(task, "control", "velocity") == "torque"
    limits, unit = (("87", "12"), "N m") if torque else (("2.175", "2.61"), "rad/s")
    kind = "torque" if torque else "speed"
    return _in_turn(
        [(f"joint {k + 1} ({joint}), {kind}", f"{limits[k >= 4]} {unit}") for k, joint in enumerate(_JOINTS)]
    )


def _silo(task: Any) -> list[ActionAxis]:
    axes = [
        ActionAxis("opening rate of the gate", "1.0 m/s", _AHEAD),
        ActionAxis("speed of the receiver along x", "0.5 m/s", _RIGHT),
        ActionAxis("shaking amplitude, none below 0", "8 mm", _UP),
    ]
    return axes[: task.action_space.shape[0]]


def _level(task: Any) -> list[ActionAxis]:
    return [
        ActionAxis("speed forward", "0.5 m/s", _AHEAD),
        ActionAxis("speed sideways, left positive", "0.5 m/s", _LEFT),
        ActionAxis("speed up", "0.5 m/s", _UP),
        ActionAxis("yaw rate, left positive", "1.2 rad/s", _TURN_LEFT),
    ]


def _pour(task: Any) -> list[ActionAxis]:
    return [
        ActionAxis("speed of the cup along x", "0.6 m/s", _RIGHT),
        ActionAxis("speed of the cup up", "0.4 m/s", _AHEAD),
        ActionAxis("tilt rate towards +x", "1.2 rad/s", _TURN_RIGHT),
    ]


def _gear_tower(task: Any) -> list[ActionAxis]:
    count = task.action_space.shape[0]
    return _in_turn([(f"speed of gear {k}, counter-clockwise from above", "5 rad/s") for k in range(count)])


def _ant(task: Any) -> list[ActionAxis]:
    legs = {4: "front right", 1: "front left", 2: "back left", 3: "back right"}
    return _in_turn([(f"{joint} of leg {k} ({legs[k]}), torque", "30 N m") for k in legs for joint in ("hip", "ankle")])


def _dough(task: Any) -> list[ActionAxis]:
    return [
        ActionAxis("speed of the roller along x", "0.2 m/s", _RIGHT),
        ActionAxis("speed of the roller up", "0.1 m/s", _AHEAD),
        ActionAxis("turn rate of the roller, rolls towards +x", "5 rad/s", _TURN_RIGHT),
    ]


#: by task, of all its versions; figures are those of the tasks' pages
_AXES: dict[str, Callable[[Any], list[ActionAxis]]] = {
    "granular_gym/Bulldozer": _bulldozer,
    "granular_gym/Excavator": _excavator,
    "granular_gym/ExcavatorForce": _excavator,
    "granular_gym/Silo": _silo,
    "granular_gym/Level": _level,
    "granular_gym/Pour": _pour,
    "granular_gym/GearTower": _gear_tower,
    "granular_gym/AntOnSand": _ant,
    "granular_gym/Dough": _dough,
}


def action_axes(env: Any) -> tuple[ActionAxis, ...]:
    """The actions of an env, in order; of a task that is not in the table by number, "action 0", with keys in turn.

    Args:
        env: a GranularEnv or GranularVectorEnv, wrapped or not.
    """
    bare = env.unwrapped
    name = "" if bare.spec is None else unversioned(bare_id(bare.spec.id))
    make = _AXES.get(name)
    if make is not None:
        return tuple(make(bare.task))
    return tuple(_in_turn([(f"action {k}", "") for k in range(bare.task.action_space.shape[0])]))


def action_names(env: Any) -> tuple[str, ...]:
    """Name and unit of each action of an env, as "forward speed, 1 = 0.8 m/s"; arguments: `action_axes`."""
    return tuple(axis.label for axis in action_axes(env))
