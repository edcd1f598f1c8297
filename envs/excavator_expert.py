"""excavator_expert.py: the scripted driver of the excavator task that learners are compared with.

`ScoopExpert` may read what a learner may not (grain positions). It works scoop by scoop:

1. *Choose a strip* of the tray, as wide as the bucket, where most grains lie, and how deep to bite there.
2. *Follow waypoints* of the bucket's lip: over the far end of the strip, down into the bed, back through it towards
   the base, curl, lift, swing, over the bin, tip, wait, away. A waypoint is the lip's distance from the base, azimuth
   and height, the azimuth the bucket turns its back to, and its curl; between two the five numbers run smoothly.
3. *Turn the motion into joint velocities* by damped least squares on the arm's Jacobian at the lip (Wampler 1986;
   Nakamura and Hanafusa 1986), with what is left of the seven joints drawn to a comfortable posture.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from granular_gym.base.types import Floats
from granular_gym.envs.excavator import ExcavatorTask
from granular_gym.tasks.arm import Arm
from granular_gym.tasks.expert import Drivers

LIP = (0.078, 0.0, 0.157)  # [m] in the bucket's frame
DAMPING = 0.02  # of the least squares, in units of the Jacobian (1 rad/s moves the lip by 1 m/s)
POSTURE_GAIN = 1.0  # [1/s] towards the posture, in the null space
POSTURE = np.array([0.0, -0.3, 0.0, -2.2, 0.0, 2.0, 0.0])  # [rad]; joints 1, 2, 4, 6 are left to the task
POSTURE_WEIGHT = np.array([0.0, 0.0, 1.0, 0.0, 1.0, 0.0, 0.3])
SWEEP, TURN = 0.6, 2.0  # [m/s], [rad/s] of the lip between waypoints
DIG_SPEED = 0.26  # [m/s] in the bed
STRIPS = (-0.066, -0.033, 0.0, 0.033, 0.066)  # [m] y of a strip's middle from the tray's
STRIP_HALF = 0.064  # [m] half the inner width of the bucket
BITE = 0.065  # [m] depth below the surface
FLOOR, UNDER = 0.019, 0.006  # [m] the lip keeps above the table, and above a grain on it
FAR, NEAR = 0.011, 0.055  # [m] the back keeps from the far end of the tray, the lip from the near one
BUCKET_LENGTH = 0.146  # [m] from the lip to the back
CARRY_HEIGHT, CARRY_RADIUS = 0.40, 0.37  # [m] of the lip; the wrist is further out
DUMP_RANGE = (0.44, 0.53)  # [m] distance at which the wrist can tip the bucket
LAG, PATIENCE = 0.04, 20  # [m] the lip may lag behind its target; steps until an arm that lags goes home
DIG_CURL, DRAG_CURL, CARRY_CURL, DUMP_CURL = -0.8, -0.05, 0.6, -1.25  # [rad]


@dataclass(frozen=True)
class Waypoint:
    """Where the lip shall be, and how fast it gets there.

    Attributes:
        goal: distance from the base's axis [m], azimuth [rad], height [m], heading [rad], curl [rad].
        speed: of the lip [m/s].
        pause: steps to wait there.
    """

    goal: tuple[float, float, float, float, float]
    speed: float = SWEEP
    pause: int = 0


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
    _from: Floats | None = None
    _step: int = 0
    _target: Floats = field(default_factory=lambda: np.zeros(3))  # of the lip in the last step
    _lag: int = 0  # steps the arm has lagged; negative: steps left of going home

    def reset(self) -> None:
        """Forgets the plan."""
        self.scoops, self._waypoints, self._from, self._step, self._lag = 0, [], None, 0, 0

    def act(self, joints: Floats, grains: Floats, bin_position: Floats) -> Floats:
        """The next action.

        Args:
            joints: (7,) [rad].
            grains: (n, 3) positions [m].
            bin_position: (2,) of the bin's middle [m].

        Returns:
            (7,) float32 in [-1, 1].
        """
        if self._lag < 0:
            self._lag += 1
            return self._action(2.0 * (POSTURE - joints))
        if not self._waypoints:
            self._waypoints = self.plan(np.asarray(grains, np.float64), np.asarray(bin_position, np.float64))
            self._from = None
        if self._from is None:
            self._from, self._step = self.where(joints), 0
        point = self._waypoints[0]
        goal = np.array(point.goal)
        change = goal - self._from
        distance = math.hypot(change[0], change[2], change[1] * max(self._from[0], goal[0]))
        turn = max(abs(change[3]), abs(change[4]))
        steps = max(math.ceil(1.5 * max(distance / point.speed, turn / TURN) / self.duration), 1)
        # the target waits for an arm that lags, and the scoop is given up where waiting does not help
        lagging = self._step > 0 and float(np.linalg.norm(self._lip(joints) - self._target)) > LAG
        self._lag = self._lag + 1 if lagging else 0
        self._step += not lagging
        if self._lag > PATIENCE:
            self._waypoints, self._lag = [], -PATIENCE
            return self._action(2.0 * (POSTURE - joints))
        t = min(self._step / steps, 1.0)
        # a smooth start and end: the top speed is 1.5 times the mean
        now = self._from + change * (t * t * (3.0 - 2.0 * t))
        rho, azimuth, height, heading, curl = (float(v) for v in now)
        self._target = np.array([rho * math.cos(azimuth), rho * math.sin(azimuth), height])
        wanted = joint_velocities(self.arm, joints, self._target, bucket_rotation(heading, curl), self.duration)
        if self._step >= steps + point.pause:
            self._waypoints.pop(0)
            # the next motion starts where this one was to end, not where the arm lags
            self._from, self._step = goal, 0
        return self._action(wanted)

    def _action(self, wanted: Floats) -> Floats:
        """Joint velocities as shares of their limits."""
        share = wanted / self.arm.description.speed
        # all joints slow down together, so that the lip stays on its path
        return (share / max(1.0, float(np.abs(share).max()))).astype(np.float32)

    def _lip(self, joints: Floats) -> Floats:
        """Where the lip is [m]."""
        frame = self.arm.frames(joints[None])[0, -1]
        result: Floats = frame[:3] + matrix_of(frame[3:]) @ np.array(LIP)
        return result

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
        y, surface, middle = self._strip(bed, 0.5 * (near + far))
        # a grain under the floor of the bucket must not be squeezed against the table
        low = max(FLOOR, 2.0 * self.radius + UNDER, surface - BITE)
        # start the bite behind where most grains of the strip are
        begin = min(far, max(middle + 0.12, near + 0.14))
        end = max(near, begin - 0.20)
        azimuth = math.atan2(bin_position[1], bin_position[0])
        distance = math.hypot(bin_position[0], bin_position[1])
        over = max(self.bin_height + 0.06, 0.20)
        middle_rho = min(max(distance + 0.02, DUMP_RANGE[0]), DUMP_RANGE[1])
        self.scoops += 1

        def dig(x: float, z: float, curl: float, speed: float, pause: int = 0) -> Waypoint:
            return Waypoint((math.hypot(x, cy + y), math.atan2(cy + y, x), z, 0.0, curl), speed, pause)

        def carry(rho: float, z: float, curl: float, speed: float = SWEEP, pause: int = 0) -> Waypoint:
            return Waypoint((rho, azimuth, z, azimuth, curl), speed, pause)

        return [
            dig(begin, surface + 0.09, DIG_CURL, SWEEP),
            dig(begin - 0.01, low, DIG_CURL, DIG_SPEED),
            dig(end + 0.04, low, DRAG_CURL, DIG_SPEED),
            dig(end + 0.01, low + 0.05, 0.6 * CARRY_CURL, DIG_SPEED),
            dig(end + 0.04, 0.24, CARRY_CURL, DIG_SPEED, 2),
            dig(end + 0.04, CARRY_HEIGHT, CARRY_CURL, SWEEP),
            carry(CARRY_RADIUS, CARRY_HEIGHT, CARRY_CURL),
            carry(middle_rho, over + 0.06, 0.15),
            carry(middle_rho, over, DUMP_CURL, SWEEP, 6),
            carry(CARRY_RADIUS, CARRY_HEIGHT, DRAG_CURL),
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
