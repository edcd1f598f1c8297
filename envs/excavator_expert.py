"""excavator_expert.py: the scripted driver of the excavator task that learners are compared with.

`ScoopExpert` may read what a learner may not (grain positions). It works scoop by scoop:

1. *Choose a strip* of the tray, as wide as the bucket, where most grains lie, and how deep to bite there.
2. *Follow waypoints* of the bucket's lip: over the far end of the strip, down into the bed, back through it towards
   the base, curl, lift, swing, over the bin, tip, wait, away. A waypoint is the lip's distance from the base, azimuth
   and height, the azimuth the bucket turns its back to, and its curl; between two the five numbers run straight.
   How fast depends on where the arm is along the way, not on the time: what it does next can be learned from what is
   seen.
3. *Turn the motion into joint velocities* by damped least squares on the arm's Jacobian at the lip (Wampler 1986;
   Nakamura and Hanafusa 1986), with what is left of the seven joints drawn to a comfortable posture.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from granular_gym.base.types import Floats
from granular_gym.envs.excavator import ExcavatorTask
from granular_gym.envs.excavator_state import INSIDE, LIP
from granular_gym.tasks.arm import Arm
from granular_gym.tasks.expert import Drivers

DAMPING = 0.02  # of the least squares, in units of the Jacobian (1 rad/s moves the lip by 1 m/s)
POSTURE_GAIN = 1.0  # [1/s] towards the posture, in the null space
POSTURE = np.array([0.0, -0.3, 0.0, -2.2, 0.0, 2.0, 0.0])  # [rad]; joints 1, 2, 4, 6 are left to the task
POSTURE_WEIGHT = np.array([0.0, 0.0, 1.0, 0.0, 1.0, 0.0, 0.3])
#: speed of the lip [m/s], and share of a way on which it speeds up, and slows down: in the air, in the bed
SWEEP, DIG = (1.0, 0.1), (0.22, 0.4)
TURN = 4.0  # [rad/s] of the bucket
STRIPS = (-0.066, -0.033, 0.0, 0.033, 0.066)  # [m] y of a strip's middle from the tray's
STRIP_HALF = INSIDE[1][1]  # [m] half the inner width of the bucket
BITE = 0.065  # [m] depth below the surface
FLOOR, UNDER = 0.019, 0.006  # [m] the lip keeps above the table, and above a grain on it
FAR, NEAR = 0.011, 0.055  # [m] the back keeps from the far end of the tray, the lip from the near one
BUCKET_LENGTH = 0.146  # [m] from the lip to the back
CARRY_HEIGHT, CARRY_RADIUS = 0.40, 0.37  # [m] of the lip; the wrist is further out
DUMP_RANGE = (0.44, 0.53)  # [m] distance at which the wrist can tip the bucket
ANGLE = 0.15  # [m] a turn by 1 rad is as far as this
CRAWL = 0.25  # share of the speed at the ends of a way
TRACKING = 8.0  # [1/s] rate at which the arm returns to its way
ADVANCE, PATIENCE = 0.01, 1.0  # share of a way that counts as progress; time [s] until an arm without it goes home
LEFT = 0.003  # share of the grains in a bucket that counts as empty
DIG_CURL, DRAG_CURL, CARRY_CURL, DUMP_CURL = -0.8, -0.05, 0.6, -1.25  # [rad]


@dataclass(frozen=True)
class Waypoint:
    """Where the lip shall be, and how fast it gets there.

    Attributes:
        goal: distance from the base's axis [m], azimuth [rad], height [m], heading [rad], curl [rad].
        pace: speed of the lip and share of the way there, SWEEP or DIG.
        empties: whether it waits there until the bucket is empty.
    """

    goal: tuple[float, float, float, float, float]
    pace: tuple[float, float] = SWEEP
    empties: bool = False


@dataclass(frozen=True)
class Way:
    """The straight way to a waypoint, in its five numbers.

    Attributes:
        begin: (5,) where it begins.
        change: (5,) from there to the waypoint.
        duration: at the waypoint's speed [s].
        ramp: the waypoint's.
    """

    begin: Floats
    change: Floats
    duration: float
    ramp: float

    @classmethod
    def to(cls, point: Waypoint, begin: Floats) -> Way:
        """The way from five numbers to a waypoint."""
        change, (speed, ramp) = np.array(point.goal) - begin, point.pace
        distance = math.hypot(change[0], change[2], change[1] * max(begin[0], point.goal[0]))
        return cls(begin, change, max(distance / speed, float(np.abs(change[3:]).max()) / TURN), ramp)

    def share(self, now: Floats) -> float:
        """How far along it five numbers are, 0 .. 1: the nearest point, by metres, and radians times ANGLE."""
        weight = np.array([1.0, max(self.begin[0], self.begin[0] + self.change[0]), 1.0, ANGLE, ANGLE]) ** 2
        length = float(np.sum(weight * self.change**2))
        along = float(np.sum(weight * (now - self.begin) * self.change))
        return min(max(along / length, 0.0), 1.0) if length > 0.0 else 1.0

    def after(self, share: float, duration: float) -> float:
        """The share reached that much later [s]: slowly at both ends."""
        speed = max(CRAWL, min(1.0, share / self.ramp, (1.0 - share) / self.ramp)) / max(self.duration, duration)
        return min(1.0, share + speed * duration)


def bucket_rotation(heading: float, curl: float) -> Floats:
    """Axes of the bucket as columns (3, 3): the mouth faces against `heading` [rad], `curl` [rad] lifts the lip."""
    c, s = math.cos(heading), math.sin(heading)
    cg, sg = math.cos(curl), math.sin(curl)
    return np.array([[-cg * c, -s, -sg * c], [-cg * s, c, -sg * s], [sg, 0.0, -cg]])


def matrix_of(q: Floats) -> Floats:
    """Rotation matrix of a unit quaternion w x y z."""
    w, x, y, z = (float(v) for v in q)
    return np.array(
        [
            [1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y - w * z), 2.0 * (x * z + w * y)],
            [2.0 * (x * y + w * z), 1.0 - 2.0 * (x * x + z * z), 2.0 * (y * z - w * x)],
            [2.0 * (x * z - w * y), 2.0 * (y * z + w * x), 1.0 - 2.0 * (x * x + y * y)],
        ]
    )


def rotation_vector(m: Floats) -> Floats:
    """Axis times angle (3,) [rad] of a rotation matrix; the angle is below pi for errors of tracking."""
    v = 0.5 * np.array([m[2, 1] - m[1, 2], m[0, 2] - m[2, 0], m[1, 0] - m[0, 1]])
    sine = float(np.linalg.norm(v))
    if sine < 1e-9:
        return v
    return v * (math.atan2(sine, 0.5 * (float(np.trace(m)) - 1.0)) / sine)


def joint_velocities(arm: Arm, joints: Floats, lip: Floats, rotation: Floats, duration: float) -> Floats:
    """Joint velocities (joints,) [rad/s] that bring the lip to a pose within one step, as far as they can.

    Args:
        arm: with the bucket.
        joints: (joints,) now [rad].
        lip: (3,) where the lip shall be [m].
        rotation: (3, 3) axes of the bucket there.
        duration: of the step [s].
    """
    frame = arm.frames(joints[None])[0, -1]
    now = matrix_of(frame[3:])
    jacobian = arm.jacobian(joints[None], LIP)[0]
    twist = np.concatenate([lip - (frame[:3] + now @ np.array(LIP)), rotation_vector(rotation @ now.T)]) / duration
    square = jacobian @ jacobian.T + DAMPING**2 * np.eye(6)
    inverse = jacobian.T @ np.linalg.inv(square)
    posture = POSTURE_GAIN * POSTURE_WEIGHT * (POSTURE - joints)
    result: Floats = inverse @ twist + posture - inverse @ (jacobian @ posture)
    return result


@dataclass
class ScoopExpert:
    """Drives one arm.

    Args:
        arm: with the bucket.
        duration: of an env step [s].
        tray: (4,) middle x, y and half lengths x, y of the tray's inside [m].
        bin_height: of the bin's walls [m].
        radius: of a grain [m].
    """

    arm: Arm
    duration: float
    tray: tuple[float, float, float, float]
    bin_height: float
    radius: float
    scoops: int = 0
    _waypoints: list[Waypoint] = field(default_factory=list)
    _from: Floats | None = None  # where the way to the first waypoint begins
    _best: float = 0.0  # furthest share of it so far
    _idle: int = 0  # steps without progress; negative: steps left of going home

    def reset(self) -> None:
        """Forgets the plan."""
        self.scoops, self._waypoints, self._from, self._best, self._idle = 0, [], None, 0.0, 0

    def act(self, joints: Floats, grains: Floats, bin_position: Floats) -> Floats:
        """The next action.

        Args:
            joints: (7,) [rad].
            grains: (n, 3) positions [m].
            bin_position: (2,) of the bin's middle [m].

        Returns:
            (7,) float32 in [-1, 1].
        """
        if self._idle < 0:
            self._idle += 1
            return self._action(2.0 * (POSTURE - joints))
        now = self.where(joints)
        if self._from is None:
            self._from = now
        while True:
            if not self._waypoints:
                self._waypoints = self.plan(np.asarray(grains, np.float64), np.asarray(bin_position, np.float64))
            point = self._waypoints[0]
            way = Way.to(point, self._from)
            share = way.share(now)
            # it has arrived where what is left takes less than a step
            if (1.0 - share) * way.duration >= CRAWL * self.duration:
                break
            if point.empties and self._idle * self.duration < PATIENCE and self.holds(joints, grains):
                break
            self._waypoints.pop(0)
            self._from, self._best, self._idle = np.array(point.goal), 0.0, 0
        self._idle = 0 if share > self._best + ADVANCE else self._idle + 1
        self._best = max(self._best, share)
        if self._idle * self.duration > PATIENCE:
            # it is held up: the scoop is given up
            self._waypoints, self._from, self._best, self._idle = [], None, 0.0, -round(PATIENCE / self.duration)
            return self._action(2.0 * (POSTURE - joints))
        # back to the way, and along it
        back = min(1.0, TRACKING * self.duration) * (way.begin + share * way.change - now)
        target = now + back + (way.after(share, self.duration) - share) * way.change
        rho, azimuth, height, heading, curl = (float(v) for v in target)
        lip = np.array([rho * math.cos(azimuth), rho * math.sin(azimuth), height])
        return self._action(joint_velocities(self.arm, joints, lip, bucket_rotation(heading, curl), self.duration))

    def share_held(self, joints: Floats, grains: Floats) -> float:
        """Of the grains in the bucket."""
        frame = self.arm.frames(joints[None])[0, -1]
        local = (np.asarray(grains, np.float64) - frame[:3]) @ matrix_of(frame[3:])
        return float((np.abs(local - INSIDE[0]) < INSIDE[1]).all(axis=1).mean())

    def holds(self, joints: Floats, grains: Floats) -> bool:
        """Whether more than a few grains are in the bucket."""
        return self.share_held(joints, grains) > LEFT

    def _action(self, wanted: Floats) -> Floats:
        """Joint velocities as shares of their limits."""
        share = wanted / self.arm.description.speed
        # all joints slow down together, so that the lip stays on its path
        return (share / max(1.0, float(np.abs(share).max()))).astype(np.float32)

    def where(self, joints: Floats) -> Floats:
        """The five numbers of a waypoint for the pose the arm is in."""
        frame = self.arm.frames(joints[None])[0, -1]
        m = matrix_of(frame[3:])
        lip = frame[:3] + m @ np.array(LIP)
        distance, azimuth = math.hypot(lip[0], lip[1]), math.atan2(lip[1], lip[0])
        # a mouth that faces straight up or down says nothing about the heading
        horizontal = math.hypot(m[0, 0], m[1, 0])
        heading = math.atan2(-m[1, 0], -m[0, 0]) if horizontal > 0.2 else azimuth
        return np.array([distance, azimuth, lip[2], heading, math.atan2(m[2, 0], horizontal)])

    def plan(self, grains: Floats, bin_position: Floats) -> list[Waypoint]:
        """The waypoints of the next scoop."""
        cx, cy, half_x, half_y = self.tray
        inside = (np.abs(grains[:, 0] - cx) < half_x) & (np.abs(grains[:, 1] - cy) < half_y) & (grains[:, 2] < 0.15)
        bed = grains[inside]
        near, far = cx - half_x + NEAR, cx + half_x - BUCKET_LENGTH - FAR
        self.scoops += 1
        bite = self.dig((near, far), cy, bed)
        azimuth = math.atan2(bin_position[1], bin_position[0])
        distance = math.hypot(bin_position[0], bin_position[1])
        over = max(self.bin_height + 0.06, 0.20)
        middle_rho = min(max(distance + 0.02, DUMP_RANGE[0]), DUMP_RANGE[1])

        def carry(rho: float, z: float, curl: float, empties: bool = False) -> Waypoint:
            return Waypoint((rho, azimuth, z, azimuth, curl), empties=empties)

        return [
            *bite,
            carry(CARRY_RADIUS, CARRY_HEIGHT, CARRY_CURL),
            carry(middle_rho, over + 0.06, 0.15),
            carry(middle_rho, over, DUMP_CURL, empties=True),
            carry(CARRY_RADIUS, CARRY_HEIGHT, DRAG_CURL),
        ]

    def dig(self, ends: tuple[float, float], y: float, bed: Floats) -> list[Waypoint]:
        """The waypoints of a bite, down into the bed and up again.

        Args:
            ends: least and largest x of the lip in the tray [m].
            y: of the tray's middle [m].
            bed: (n, 3) the grains in the tray [m].
        """
        near, far = ends
        strip, surface, middle = self._strip(bed, 0.5 * (near + far))
        y += strip
        # a grain under the floor of the bucket must not be squeezed against the table
        low = max(FLOOR, 2.0 * self.radius + UNDER, surface - BITE)
        # start the bite behind where most grains of the strip are
        begin = min(far, max(middle + 0.12, near + 0.14))
        end = max(near, begin - 0.20)

        def at(x: float, z: float, curl: float, pace: tuple[float, float] = DIG) -> Waypoint:
            return Waypoint((math.hypot(x, y), math.atan2(y, x), z, 0.0, curl), pace)

        return [
            at(begin, surface + 0.09, DIG_CURL, SWEEP),
            at(begin - 0.01, low, DIG_CURL),
            at(end + 0.04, low, DRAG_CURL),
            at(end + 0.01, low + 0.05, 0.6 * CARRY_CURL),
            at(end + 0.04, 0.24, CARRY_CURL),
            at(end + 0.04, CARRY_HEIGHT, CARRY_CURL, SWEEP),
        ]

    def _strip(self, bed: Floats, middle: float) -> tuple[float, float, float]:
        """y from the tray's middle, height of the surface and x of the middle of the grains of the best strip [m]."""
        best = (0.0, 0.0, middle)
        most = -1.0
        for y in STRIPS:
            strip = bed[np.abs(bed[:, 1] - self.tray[1] - y) < STRIP_HALF]
            if not len(strip):
                continue
            # volume counts, and depth more than spread
            value = float(strip[:, 2].sum())
            if value > most:
                most = value
                surface = float(np.quantile(strip[:, 2], 0.9)) + self.radius
                best = (y, surface, float(np.median(strip[:, 0])))
        return best


class ScoopDrivers(Drivers):
    """Scripted experts for all envs of an excavator task."""

    task: ExcavatorTask

    def make_driver(self, task: ExcavatorTask) -> ScoopExpert:
        """A driver of the task's arm."""
        return ScoopExpert(task.arm, task.step_period, task.tray, task.difficulty.bin_height, task.radius)

    def drive(self, env: int, positions: Floats) -> Floats:
        """Joint velocities."""
        result: Floats = self.drivers[env].act(self.task.joints[env], positions, self.task.bin[env])
        return result
