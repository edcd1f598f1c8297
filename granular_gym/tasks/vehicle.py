"""vehicle.py: kinematics of a tracked vehicle that steers by its tracks and cannot leave its field.

The vehicle moves along its heading and turns about its centre (unicycle, midpoint rule). Its outline in plan is a
rectangle that holds hull and blade. After each step the centre is clamped to where the whole outline, at the new
heading, lies inside the field: against a wall the vehicle slides along it, turning pushes it off the wall, and it
never gets stuck. The engine computes it (csrc/geometry/vehicle.h), each env from its own row alone, so that env k alone
equals env k among many; NumPy's sines may depend on where in an array an angle stands.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from granular_gym import _core
from granular_gym.base import checks
from granular_gym.base.names import refuse_unknown
from granular_gym.base.types import Floats
from granular_gym.engine.drives import Drive
from granular_gym.errors import ArgumentError

#: in which a vehicle moves, in the order of csrc/geometry/drive_vehicle.h
DIRECTIONS = ("ahead", "left", "up", "turn")


@dataclass(frozen=True)
class TrackedVehicle:
    """A vehicle in a rectangular field.

    Args:
        rear: x of the outline's rear edge in the vehicle frame (x forward), negative [m].
        front: x of the front edge [m].
        half_width: of the outline [m].
        lower: (x, y) of the field's lower corner [m].
        upper: (x, y) of the field's upper corner [m].
        speed: at full forward action [m/s].
        turn_rate: at full yaw action [rad/s].
        clearance: kept between the outline and the walls [m].
    """

    rear: float
    front: float
    half_width: float
    lower: tuple[float, float]
    upper: tuple[float, float]
    speed: float
    turn_rate: float
    clearance: float

    @property
    def reach(self) -> float:
        """Largest distance of the outline from the centre [m]."""
        return math.hypot(max(self.front, -self.rear), self.half_width)

    @cached_property
    def _outline(self) -> NDArray[np.float64]:
        """Outline and field as the engine takes them."""
        return np.array([self.rear, self.front, self.half_width, *self.lower, *self.upper, self.clearance], np.float64)

    def corners(self, pose: Floats) -> Floats:
        """Corners of the outline in the field, (N, 4, 2) [m], for poses (N, 3): x, y, yaw."""
        pose = np.asarray(pose, np.float64)[:, None]
        a = np.array([self.rear, self.rear, self.front, self.front])
        b = self.half_width * np.array([-1.0, 1.0, -1.0, 1.0])
        s, c = (part[:, None] for part in sin_cos(pose[:, 0, 2]))
        result: Floats = pose[:, :, :2] + np.stack([c * a - s * b, s * a + c * b], axis=2)
        return result

    def center_limits(self, yaw: float) -> tuple[float, float, float, float]:
        """Limits of the centre at a heading [rad]: x lower, x upper, y lower, y upper [m]."""
        x0, x1, y0, y1 = _core.vehicle_bounds(self._outline, np.array([yaw], np.float64))[0].tolist()
        return x0, x1, y0, y1

    def clamp(self, pose: Floats) -> Floats:
        """The nearest poses (N, 3) of the same headings that keep the outline inside the field."""
        return self.move(pose, np.zeros(np.shape(pose)))

    def move(self, pose: Floats, moves: Floats) -> Floats:
        """Poses after one move in the vehicle's own frame, inside the field.

        Args:
            pose: (N, 3) x [m], y [m], yaw [rad] (not wrapped, so that headings stay continuous).
            moves: (N, 3) along the heading [m], across it to the left [m], turn to the left [rad].

        Returns:
            (N, 3) float64.
        """
        start, shift = np.ascontiguousarray(pose, np.float64), np.ascontiguousarray(moves, np.float64)
        return _core.vehicle_move(self._outline, start, shift)

    def advance(self, pose: Floats, actions: Floats, duration: float) -> Floats:
        """Poses after `duration` [s].

        Args:
            pose: (N, 3) as in `move`.
            actions: (N, 2) in [-1, 1]: share of the forward speed, share of the turn rate (left positive).
            duration: of the step [s].

        Returns:
            (N, 3) float64.
        """
        ahead, turn = (np.asarray(actions, np.float64) * (self.speed, self.turn_rate) * duration).T
        return self.move(pose, np.stack([ahead, np.zeros_like(ahead), turn], axis=1))

    def drive(
        self,
        period: float,
        rates: Mapping[str, tuple[int, float]],
        lift: tuple[float, float] | None = None,
    ) -> Drive:
        """The drive of tools that share the vehicle's frame; its state is x [m], y [m], with `lift` z [m], yaw [rad].

        Args:
            period: control period [s].
            rates: by direction ("ahead", "left", "up", "turn"): the action, and the speed at full action [m/s, rad/s];
                each action moves one direction.
            lift: limits of z [m]; None: z is 0.

        Raises:
            ArgumentError: an unknown direction, "up" without `lift`, actions that are not 0 .. n - 1 of n directions,
                or a number that makes no sense.
        """
        directions = [name for name in DIRECTIONS if name != "up" or lift is not None]
        refuse_unknown("rates", checks.mapping("rates", rates), directions)
        length = checks.number("period", period, 0.0, above=True)
        if sorted(action for action, _ in rates.values()) != list(range(len(rates))):
            raise ArgumentError(f"rates: expected an action for each direction, 0 .. {len(rates) - 1}, got {rates!r}")
        for name, (_, rate) in rates.items():
            checks.number(f"rates[{name!r}]", rate)
        moved = [rates.get(name, (-1, 0.0)) for name in DIRECTIONS]
        index = [lift is not None, *(action for action, _ in moved)]
        limits = checks.doubles("lift", (0.0, 0.0) if lift is None else lift, (2,))
        if limits[0] > limits[1]:
            raise ArgumentError(f"lift: expected lower <= upper, got {lift!r}")
        value = [*self._outline, *(rate for _, rate in moved), length, *limits]
        states = 3 if lift is None else 4
        return Drive("vehicle", len(rates), states, np.array(index, np.int32), np.array(value, np.float64))


def view_from(pose: Floats, points: Floats) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """How vehicles see points.

    Args:
        pose: (N, 3) x [m], y [m], yaw [rad].
        points: (N, 2) one for each [m].

    Returns:
        Headings (N, 2): cosine and sine of the yaw; and the points (N, 4): ahead and to the left of the vehicle [m],
        cosine and sine of the bearing (1, 0: straight ahead; 0, 1: on the left).
    """
    return _core.vehicle_view(np.ascontiguousarray(pose, np.float64), np.ascontiguousarray(points, np.float64))


def sin_cos(angle: Floats) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Sines and cosines of angles (N,) [rad], each from its angle alone, wherever in the array it stands."""
    return _core.sin_cos(np.ascontiguousarray(angle, np.float64))


def wrap_angle(angle: Floats) -> Floats:
    """Angles folded into [-pi, pi)."""
    return _core.wrap_angles(angle)


def yaw_quaternions(yaw: Floats) -> Floats:
    """Unit quaternions (N, 4) w x y z of turns about z by yaw (N,) [rad]."""
    out = np.zeros((len(yaw), 4))
    out[:, 3], out[:, 0] = sin_cos(0.5 * np.asarray(yaw, np.float64))
    return out
