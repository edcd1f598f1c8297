"""ant_expert.py: the scripted gait of the Ant: a trot by a central pattern generator, the same on sand and on a floor.

Legs that are opposite each other swing together, half a period apart from the other two. Hips sweep to and fro as a
cosine; while a leg goes ahead its ankle bends, so that the foot is lifted. Joints follow by springs and dampers. A hip
sweeps less on the side that the robot is to turn to, so that it keeps its course along x (Ijspeert, "Central pattern
generators for locomotion control in animals and robots", 2008, on such generators).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from granular_gym.base.types import Floats
from granular_gym.envs.ant_model import GEAR, JOINTS, LEGS, STANCE
from granular_gym.envs.ant_state import yaws
from granular_gym.tasks.expert import Experts

#: which joints the motors turn, in their order
MOTORS = np.array([6, 7, 0, 1, 2, 3, 4, 5])
#: of each leg: sign of the hip's angle that takes the foot ahead, of the ankle's that takes it down; phase
AHEAD, DOWN = np.array([-1.0, -1.0, 1.0, 1.0]), np.sign(STANCE[1::2])
PHASES = np.pi * np.array([0.0, 1.0, 0.0, 1.0])


@dataclass(frozen=True)
class Trot:
    """The numbers of the gait.

    Attributes:
        frequency: of a stride [Hz].
        sweep: of the hips to either side [rad].
        stance: angle of the ankles on the ground [rad].
        lift: less by so much in the middle of the swing [rad].
        stiffness: of the joints [N m/rad].
        damping: likewise [N m s/rad].
        steering: share by which hips of one side sweep less per rad of yaw.
    """

    frequency: float = 1.0
    sweep: float = 0.45
    stance: float = 1.1
    lift: float = 0.8
    stiffness: float = 60.0
    damping: float = 3.0
    steering: float = 1.5

    def actions(self, time: Floats, joints: Floats, velocities: Floats, yaw: Floats) -> Floats:
        """Actions (n, 8) of n robots.

        Args:
            time: (n,) since they began to walk [s].
            joints: (n, 8) [rad].
            velocities: (n, 8) [rad/s].
            yaw: (n,) [rad].
        """
        phase = 2.0 * math.pi * self.frequency * time[:, None] + PHASES
        less = np.clip(self.steering * yaw, -0.8, 0.8)[:, None]
        # legs 1 and 2 are on the left: they sweep further where the robot looks too far to the left
        sweep = self.sweep * np.where(np.arange(LEGS) < LEGS // 2, 1.0 + less, 1.0 - less)
        wanted = np.empty((len(time), JOINTS))
        wanted[:, 0::2] = AHEAD * np.clip(sweep * np.cos(phase), -0.5, 0.5)
        wanted[:, 1::2] = DOWN * (self.stance - self.lift * np.maximum(0.0, -np.sin(phase)))
        torques = self.stiffness * (wanted - joints) - self.damping * velocities
        actions: Floats = np.clip(torques[:, MOTORS] / GEAR, -1.0, 1.0)
        return actions


class TrotExperts(Experts):
    """Walks every Ant of a task along x."""

    task: Any

    def __init__(self, env: Any) -> None:
        self.gait: Trot = Trot()
        self.steps: Floats = np.zeros(env.unwrapped.task.env_count)
        super().__init__(env)

    def forget(self, env: int) -> None:
        """Begins the stride anew."""
        self.steps[env] = 0.0

    def actions(self) -> Floats:
        """Torques."""
        data = self.task.robots.data
        pose, motion = np.array([each.qpos for each in data]), np.array([each.qvel for each in data])
        time = self.steps * self.task.step_period
        self.steps = self.steps + 1.0
        return self.gait.actions(time, pose[:, 7:], motion[:, 6:], yaws(pose[:, 3:7]))
