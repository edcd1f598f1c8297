"""vehicle.py: kinematics of a tracked vehicle that steers by its tracks and cannot leave its field.

The vehicle moves along its heading and turns about its centre (unicycle, midpoint rule). Its outline in plan is a
rectangle that holds hull and blade. After each step the centre is clamped to where the whole outline, at the new
heading, lies inside the field: against a wall the vehicle slides along it, turning pushes it off the wall, and it never
gets stuck. Sines and cosines come from Python's math, one env at a time, so that env k alone equals env k among many.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.floating]


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

    def corners(self, pose: Floats) -> Floats:
        """Corners of the outline in the field, (N, 4, 2) [m], for poses (N, 3): x, y, yaw."""
        local = [(x, y) for x in (self.rear, self.front) for y in (-self.half_width, self.half_width)]
        out = np.empty((len(pose), 4, 2))
        for row, (x, y, yaw) in enumerate(np.asarray(pose, np.float64).tolist()):
            c, s = math.cos(yaw), math.sin(yaw)
            out[row] = [(x + c * a - s * b, y + s * a + c * b) for a, b in local]
        return out

    def room(self, yaw: float) -> tuple[float, float, float, float]:
        """Where the centre may be at a heading: x lower, x upper, y lower, y upper [m]."""
        c, s = math.cos(yaw), math.sin(yaw)
        xs = [c * a - s * b for a in (self.rear, self.front) for b in (-self.half_width, self.half_width)]
        ys = [s * a + c * b for a in (self.rear, self.front) for b in (-self.half_width, self.half_width)]
        gap = self.clearance
        return (
            self.lower[0] + gap - min(xs),
            self.upper[0] - gap - max(xs),
            self.lower[1] + gap - min(ys),
            self.upper[1] - gap - max(ys),
        )

    def clamp(self, x: float, y: float, yaw: float) -> tuple[float, float, float]:
        """The nearest pose of the same heading that keeps the outline inside the field."""
        x0, x1, y0, y1 = self.room(yaw)
        return min(max(x, x0), x1), min(max(y, y0), y1), yaw

    def advance(self, pose: Floats, actions: Floats, duration: float) -> Floats:
        """Poses after `duration` [s].

        Args:
            pose: (N, 3) x [m], y [m], yaw [rad] (not wrapped, so that headings stay continuous).
            actions: (N, 2) in [-1, 1]: share of the forward speed, share of the turn rate (left positive).
            duration: of the step [s].

        Returns:
            (N, 3) float64.
        """
        out = np.empty((len(pose), 3))
        rows = zip(np.asarray(pose, np.float64).tolist(), np.asarray(actions, np.float64).tolist(), strict=True)
        for row, ((x, y, yaw), (forward, turn)) in enumerate(rows):
            change = turn * self.turn_rate * duration
            middle = yaw + 0.5 * change
            way = forward * self.speed * duration
            out[row] = self.clamp(x + way * math.cos(middle), y + way * math.sin(middle), yaw + change)
        return out


def wrap_angle(angle: Floats) -> Floats:
    """Angles folded into [-pi, pi)."""
    return (np.asarray(angle) + math.pi) % (2.0 * math.pi) - math.pi


def yaw_quaternions(yaw: Floats) -> Floats:
    """Unit quaternions (N, 4) w x y z of turns about z by yaw (N,) [rad]."""
    out = np.zeros((len(yaw), 4))
    for row, angle in enumerate(np.asarray(yaw, np.float64).tolist()):
        out[row, 0], out[row, 3] = math.cos(0.5 * angle), math.sin(0.5 * angle)
    return out
