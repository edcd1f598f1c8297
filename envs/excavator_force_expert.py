"""excavator_force_expert.py: the scripted driver of ExcavatorForce: that of the excavator, who digs where the arm can.

It bites where the bed is highest, along an arc: the lip goes in steeply and turns level, with the floor behind it held
clear of the bed, which would carry the whole arm. Where a motor comes to its limit the lip rises and shakes sideways
until the grains before it give way. Where they do not, it lifts what it has.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace

import numpy as np

from granular_gym.base.types import Floats
from granular_gym.envs.excavator_expert import (
    CARRY_CURL,
    CARRY_HEIGHT,
    FLOOR,
    STRIP_HALF,
    SWEEP,
    UNDER,
    ScoopDrivers,
    ScoopExpert,
    Waypoint,
)
from granular_gym.envs.excavator_force import ExcavatorForceTask
from granular_gym.envs.excavator_model import GAINS

BITE = 0.065  # [m] depth below the surface
SIDES = (-0.06, -0.03, 0.0, 0.03, 0.06)  # [m] y of a bite's middle from the tray's: grains pass between bucket and wall
STARTS = 6  # places along the tray where a bite may begin
CELLS, LENGTH = 4, 0.16  # a bite is looked at in so many cells; length [m]
ATTACK, STEEPEST = 0.8, 0.85  # [rad] slope of the way into the bed; of the bucket
CLEAR = 0.15  # [rad] of the floor behind the lip to the lip's way
PIECES = 4  # of the arc
HEEL = 0.1  # [m] from the lip to where the floor bends up: the bucket curls about it
ADVANCE_OUT, RISE_OUT = 0.01, 0.01  # [m] in a third of the curl
DIG, LIFT = (0.15, 0.1), (0.6, 0.2)  # as SWEEP: in the bed, out of it
HELD_UP = 0.25  # [s] without progress until a waypoint in the bed is given up
OVERLOAD, SHAKEN = 0.8, 0.3  # share of a torque limit from which the lip rises; from which it shakes
RISE, HIGHEST, SINK = 0.004, 0.03, 0.9  # [m] in a step, at most; what is left of it in the next step without overload
SHAKE, SHAKES = 0.2, 2.5  # [rad/s] of joint 1, [1/s]
FEW = 4.0 / 500.0  # share of the grains that is not worth the way to the bin
LIFTED = 5  # waypoints left when the bucket is out of the bed
BACK, REACH = 0.12, 0.02  # [m] the lip keeps from the far end of the tray; beyond where a level bucket may begin
REPEATED = 0.02  # [m] of height that a place where it bit lately is worth less
SOFTER = 0.1  # of the gains where the task takes torques, which are held for a whole control period


@dataclass
class GentleScoopExpert(ScoopExpert):  # type: ignore[misc, unused-ignore]
    """Drives one arm that grains push back.

    Attributes:
        load: largest torque of the motors 2 to 7 over their limits, told before `act`.
    """

    load: float = 0.0
    _raised: float = 0.0  # [m] of the waypoints in the bed
    _steps: int = 0
    _judged: int = 0  # bites
    _bites: list[tuple[float, float]] = field(default_factory=list)  # y and x where the last ones began

    def reset(self) -> None:
        """See `ScoopExpert.reset`."""
        super().reset()
        self.load, self._raised, self._steps, self._judged, self._bites = 0.0, 0.0, 0, 0, []

    @property
    def _in_bed(self) -> bool:
        left: list[Waypoint] = self._waypoints  # type: ignore[has-type, unused-ignore]
        return bool(left) and left[0].pace == DIG

    def act(self, joints: Floats, grains: Floats, bin_position: Floats) -> Floats:
        """See `ScoopExpert.act`."""
        self._steps += 1
        idle: int = self._idle  # type: ignore[has-type, unused-ignore]
        if self._in_bed and idle * self.duration > HELD_UP:
            self._waypoints.pop(0)
            self._from, self._best, self._idle = self.where(joints), 0.0, 0
        if len(self._waypoints) == LIFTED and self._judged < self.scoops:
            self._judged = self.scoops
            if self.share_held(joints, grains) < FEW:
                self._waypoints.clear()
                self._from, self._best, self._idle = self.where(joints), 0.0, 0
        self._raise()
        action: Floats = super().act(joints, grains, bin_position)
        return action

    def _raise(self) -> None:
        """Raises the waypoints in the bed as long as a motor is overloaded."""
        before = self._raised if self._in_bed else 0.0
        self._raised = 0.0
        if not self._in_bed:
            return
        self._raised = min(before + RISE, HIGHEST) if self.load > OVERLOAD else SINK * before
        change = self._raised - before
        for k, point in enumerate(self._waypoints):
            if point.pace == DIG:
                rho, azimuth, height, heading, curl = point.goal
                self._waypoints[k] = replace(point, goal=(rho, azimuth, height + change, heading, curl))
        if self._from is not None:
            self._from = self._from + np.array([0.0, 0.0, change, 0.0, 0.0])

    def _action(self, wanted: Floats) -> Floats:
        """See `ScoopExpert._action`."""
        if self._in_bed and self.load > SHAKEN:
            wanted = wanted.copy()
            wanted[0] += SHAKE * math.cos(2.0 * math.pi * SHAKES * self._steps * self.duration)
        action: Floats = super()._action(wanted)
        return action

    def choose(self, bed: Floats, near: float, far: float) -> tuple[float, float, float, float]:
        """y from the tray's middle, x, height of the surface, and largest height there, of the best bite [m]."""
        best, most = (0.0, far, 2.0 * self.radius, 2.0 * self.radius), -1.0
        for y in SIDES:
            strip = bed[np.abs(bed[:, 1] - self.tray[1] - y) < STRIP_HALF]
            for x in np.linspace(near + LENGTH, far, STARTS):
                cells = np.floor((x + 0.02 - strip[:, 0]) / (LENGTH + 0.02) * CELLS).astype(int)
                tops = np.array([strip[cells == k, 2].max(initial=0.0) for k in range(CELLS)]) + self.radius
                value = float(tops.mean()) - REPEATED * ((y, float(x)) in self._bites[-4:])
                if value > most:
                    most, best = value, (y, float(x), float(tops.mean()), float(tops.max()))
        self._bites.append(best[:2])
        return best

    def dig(self, ends: tuple[float, float], y: float, bed: Floats) -> list[Waypoint]:
        """See `ScoopExpert.dig`."""
        near, far = ends
        side, begin, surface, top = self.choose(bed, near, min(far + REACH, self.tray[0] + self.tray[2] - BACK))
        y += side
        low = max(FLOOR, 2.0 * self.radius + UNDER, surface - BITE)
        bend = (surface - low) / (1.0 - math.cos(ATTACK))

        def at(x: float, z: float, curl: float, pace: tuple[float, float] = DIG) -> Waypoint:
            return Waypoint((math.hypot(x, y), math.atan2(y, x), z, 0.0, curl), pace)

        ahead = 0.03 + top - surface
        points = [at(begin + ahead, surface + ahead + 0.02, -ATTACK, SWEEP)]
        for k in range(PIECES + 1):
            slope = ATTACK * (1.0 - k / PIECES)
            x, z = begin - bend * (math.sin(ATTACK) - math.sin(slope)), low + bend * (1.0 - math.cos(slope))
            points.append(at(max(x, near), z, -min(slope + CLEAR, STEEPEST)))
        end = max(near, begin - LENGTH)
        points.append(at(end, low, -CLEAR))
        heel = end + HEEL * math.cos(CLEAR), low + HEEL * math.sin(CLEAR)
        x = end
        for k in range(1, 4):
            curl = -CLEAR + (CARRY_CURL + CLEAR) * k / 3
            x = heel[0] - HEEL * math.cos(curl) - ADVANCE_OUT * k
            points.append(at(x, heel[1] + HEEL * math.sin(curl) + RISE_OUT * k, curl))
        return [*points, at(x + 0.02, 0.24, CARRY_CURL, LIFT), at(x + 0.03, CARRY_HEIGHT, CARRY_CURL, SWEEP)]


class ForceDrivers(ScoopDrivers):  # type: ignore[misc, unused-ignore]
    """Joint velocities; where the task takes torques, those that track them."""

    task: ExcavatorForceTask

    def make_driver(self, task: ExcavatorForceTask) -> ScoopExpert:
        """A driver of the task's arm."""
        return GentleScoopExpert(task.arm, task.step_period, task.tray, task.difficulty.bin_height, task.radius)

    def drive(self, env: int, positions: Floats) -> Floats:
        """Joint velocities, or torques."""
        # joint 1 carries the shaking
        self.drivers[env].load = float(np.abs(self.task.motor_shares()[env, 1:]).max())
        wanted: Floats = super().drive(env, positions)
        if self.task.control == "velocity":
            return wanted
        arm = self.task.arm.description
        lag = wanted * arm.speed - self.task.velocities[env]
        torques: Floats = SOFTER * GAINS * lag / arm.torque
        return torques
