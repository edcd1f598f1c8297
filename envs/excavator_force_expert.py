"""excavator_force_expert.py: the scripted driver of ExcavatorForce: that of the excavator, who digs where the arm can.

Joint 6 is the weak one: it holds 40 to 50 N along the tray at the lip. The bite goes straight down with a steep lip,
nearly to the table, then along the tray while the floor turns level, but for what keeps it clear of the bed. Joints at
their limits give way and go on as soon as grains do; a waypoint that the bucket does not come nearer to is given up.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from granular_gym.base.types import Floats
from granular_gym.envs.excavator import TRAY_HEIGHT
from granular_gym.envs.excavator_expert import (
    CARRY_CURL,
    PATIENCE,
    POSTURE,
    STRIP_HALF,
    ScoopDrivers,
    ScoopExpert,
    Waypoint,
    bucket_rotation,
    joint_velocities,
)
from granular_gym.envs.excavator_force import ExcavatorForceTask
from granular_gym.envs.excavator_model import GAINS

LOW = 0.02  # [m] of the lip over the table: higher, it skims the bed
SIDES = (-0.05, -0.025, 0.0, 0.025, 0.05)  # [m] y of a bite's middle from the tray's: no cheek at a wall
BEGINS = (0.0, 0.03)  # [m] from the far end of the lip's way to where a bite may begin
LENGTH, PIECES = 0.16, 4  # [m] of the way along the tray; of it
STEEP, CLEAR = -0.85, -0.2  # [rad] curl of the bucket on the way down, and at the end of the way along the tray
ABOVE, RIM = 0.05, 0.04  # [m] of the lip over the bed, and over the tray's walls, before it bites
RISE_OUT, ADVANCE_OUT = 0.05, 0.04  # [m] while the bucket curls
OUT = 0.26  # [m] height of the lip from which the arm swings to the bin
#: as SWEEP: in the bed, out of it; slower bites bring less, faster ones hit grains harder
DIG, LIFT = (0.4, 0.1), (0.6, 0.2)
HELD_UP = 0.25  # [s] without progress until a waypoint in the bed is given up
CARRY = 2  # waypoints left when the bucket is out of the bed
FEW = 4.0 / 500.0  # share of the grains that is not worth the way to the bin
SWING, ARRIVED = 5.0, 0.03  # [1/s] rate at which joints go to a posture; [rad] from it where they are there
BLOCKED = 3.0  # [s] until a swing is given up
SEARCH = 40  # steps of the search for a posture
LATELY = 4  # bites: their places come last
SOFTER = 0.1  # of the gains where the task takes torques, which are held for a whole control period


@dataclass(frozen=True)
class Swing(Waypoint):  # type: ignore[misc, unused-ignore]
    """A waypoint to whose posture the joints go straight, as fast as they can."""


@dataclass
class PatientScoopExpert(ScoopExpert):  # type: ignore[misc, unused-ignore]
    """Drives one arm that grains push back."""

    _judged: int = 0  # bites
    _bites: list[tuple[float, float]] = field(default_factory=list)  # y and x where the last ones began
    _posture: tuple[Waypoint, Floats] | None = None  # of the last swing (7,) [rad]

    def reset(self) -> None:
        """See `ScoopExpert.reset`."""
        super().reset()
        self._judged, self._bites, self._posture = 0, [], None
        # declared anew for type checkers, which do not find the base class
        self._waypoints: list[Waypoint] = []
        self._idle: int = 0

    def act(self, joints: Floats, grains: Floats, bin_position: Floats) -> Floats:
        """See `ScoopExpert.act`."""
        if self._idle >= 0:
            self._judge(joints, grains)
            if not self._waypoints:
                self._waypoints = self.plan(np.asarray(grains, np.float64), np.asarray(bin_position, np.float64))
            point = self._waypoints[0]
            if isinstance(point, Swing):
                gap = self.posture(point) - joints
                self._idle += 1
                if self._idle * self.duration > BLOCKED:
                    self._waypoints, self._idle = [], -round(PATIENCE / self.duration)
                elif float(np.abs(gap).max()) > ARRIVED:
                    swing: Floats = self._action(SWING * gap)
                    return swing
                else:
                    self._go_on(joints)
        action: Floats = super().act(joints, grains, bin_position)
        return action

    def _go_on(self, joints: Floats) -> None:
        """To the next waypoint, from where the bucket is."""
        self._waypoints.pop(0)
        self._from, self._best, self._idle = self.where(joints), 0.0, 0

    def _judge(self, joints: Floats, grains: Floats) -> None:
        """Gives up a waypoint where grains hold the bucket, and a scoop that brought little."""
        if not self._waypoints:
            return
        if self._waypoints[0].pace == DIG and self._idle * self.duration > HELD_UP:
            self._go_on(joints)
        if len(self._waypoints) == CARRY and self._judged < self.scoops:
            self._judged = self.scoops
            if self.share_held(joints, grains) < FEW:
                self._waypoints = []

    def posture(self, point: Waypoint) -> Floats:
        """Joint angles (7,) [rad] at a waypoint."""
        if self._posture is None or self._posture[0] is not point:
            rho, azimuth, height, heading, curl = point.goal
            lip = np.array([rho * math.cos(azimuth), rho * math.sin(azimuth), height])
            arm, joints = self.arm.description, POSTURE.copy()
            joints[0] = azimuth
            for _ in range(SEARCH):
                velocities = joint_velocities(self.arm, joints, lip, bucket_rotation(heading, curl), self.duration)
                joints = np.clip(joints + self.duration * velocities, arm.lower, arm.upper)
            self._posture = point, joints
        return self._posture[1]

    def plan(self, grains: Floats, bin_position: Floats) -> list[Waypoint]:
        """See `ScoopExpert.plan`: bite, swing over the bin, tip."""
        *bite, _, over, tip, _ = super().plan(grains, bin_position)
        return [*bite, Swing(over.goal), tip]

    def choose(self, bed: Floats, far: float) -> tuple[float, float, float]:
        """y from the tray's middle, x, and height of the surface where most grains lie high [m]."""
        best, most = (0.0, far, 2.0 * self.radius), (False, -1.0)
        for y in SIDES:
            strip = bed[np.abs(bed[:, 1] - self.tray[1] - y) < STRIP_HALF]
            for x in (far - begin for begin in BEGINS):
                cut = strip[(strip[:, 0] > x - LENGTH) & (strip[:, 0] < x), 2]
                value = (y, x) not in self._bites[-LATELY:], float(cut.sum())
                if len(cut) and value > most:
                    most, best = value, (y, x, float(np.quantile(cut, 0.9)) + self.radius)
        self._bites.append(best[:2])
        return best

    def dig(self, ends: tuple[float, float], y: float, bed: Floats) -> list[Waypoint]:
        """See `ScoopExpert.dig`."""
        near, far = ends
        side, begin, surface = self.choose(bed, far)
        y += side

        def at(x: float, z: float, curl: float, pace: tuple[float, float] = DIG) -> Waypoint:
            return Waypoint((math.hypot(x, y), math.atan2(y, x), z, 0.0, curl), pace)

        over = max(surface + ABOVE, TRAY_HEIGHT + RIM)
        points: list[Waypoint] = [Swing(at(begin + 0.01, over, STEEP).goal), at(begin, LOW, STEEP)]
        for k in range(1, PIECES + 1):
            share = k / PIECES
            points.append(at(max(near, begin - LENGTH * share), LOW, STEEP + (CLEAR - STEEP) * share))
        end = max(near, begin - LENGTH)
        for k in range(1, 4):
            share = k / 3
            x = max(near - 0.01, end - ADVANCE_OUT * share)
            points.append(at(x, LOW + RISE_OUT * share, CLEAR + (CARRY_CURL - CLEAR) * share))
        return [*points, at(max(near - 0.01, end - ADVANCE_OUT) + 0.02, OUT, CARRY_CURL, LIFT)]


class ForceDrivers(ScoopDrivers):  # type: ignore[misc, unused-ignore]
    """Joint velocities; where the task takes torques, those that track them."""

    task: ExcavatorForceTask

    def make_driver(self, task: ExcavatorForceTask) -> ScoopExpert:
        """A driver of the task's arm."""
        return PatientScoopExpert(task.arm, task.step_period, task.tray, task.difficulty.bin_height, task.radius)

    def drive(self, env: int, positions: Floats) -> Floats:
        """Joint velocities, or torques."""
        wanted: Floats = super().drive(env, positions)
        if self.task.control == "velocity":
            return wanted
        arm = self.task.arm.description
        lag = wanted * arm.speed - self.task.velocities[env]
        torques: Floats = SOFTER * GAINS * lag / arm.torque
        return torques
