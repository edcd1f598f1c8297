"""excavator_force_expert.py: the scripted driver of ExcavatorForce: that of the excavator, who digs where the arm can.

It bites less deep, and where the grains hold the bucket up it goes on to the next waypoint: it lifts what it has.
"""

from __future__ import annotations

from dataclasses import dataclass

from granular_gym.base.types import Floats
from granular_gym.envs.excavator_expert import DIG, ScoopDrivers, ScoopExpert
from granular_gym.envs.excavator_force import ExcavatorForceTask
from granular_gym.envs.excavator_model import GAINS

BITE = 0.03  # [m]
HELD_UP = 0.25  # [s] without progress until a waypoint in the bed is given up
SOFTER = 0.1  # of the gains where the task takes torques, which are held for a whole control period


@dataclass
class GentleScoopExpert(ScoopExpert):  # type: ignore[misc, unused-ignore]
    """Drives one arm that grains push back."""

    def act(self, joints: Floats, grains: Floats, bin_position: Floats) -> Floats:
        """See `ScoopExpert.act`."""
        idle: int = self._idle  # type: ignore[has-type, unused-ignore]
        held_up = idle * self.duration > HELD_UP
        if held_up and self._waypoints and self._waypoints[0].pace == DIG:
            self._waypoints.pop(0)
            self._from, self._best, self._idle = self.where(joints), 0.0, 0
        action: Floats = super().act(joints, grains, bin_position)
        return action


class ForceDrivers(ScoopDrivers):  # type: ignore[misc, unused-ignore]
    """Joint velocities; where the task takes torques, those that track them."""

    task: ExcavatorForceTask

    def make_driver(self, task: ExcavatorForceTask) -> ScoopExpert:
        """A driver of the task's arm."""
        height = task.difficulty.bin_height
        return GentleScoopExpert(task.arm, task.step_period, task.tray, height, task.radius, BITE)

    def drive(self, env: int, positions: Floats) -> Floats:
        """Joint velocities, or torques."""
        wanted: Floats = super().drive(env, positions)
        if self.task.control == "velocity":
            return wanted
        arm = self.task.arm.description
        lag = wanted * arm.speed - self.task.velocities[env]
        torques: Floats = SOFTER * GAINS * lag / arm.torque
        return torques
