"""pour_expert.py: the scripted hand that pours: brings the lip over the target, tilts by the flow, turns back in time.

The lip is kept over the near part of the target while the cup tilts, as the stream lands a little ahead of it. The
wanted flow falls with what is missing; the cup is tilted while the flow is less, and turned back before the dose is
reached by what is expected to run on.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from granular_gym.base.types import Floats
from granular_gym.envs.pour import CUP, CUP_Z, LIFTING, SPEED, TILTING, PourTask
from granular_gym.tasks.expert import Experts

AHEAD = 0.18  # [m] the stream lands beyond the lip
REST = 0.45  # [rad] the cup may be tilted before its lip is over the target
SMOOTH = 0.3  # share of a new measurement of the flow
TURN_BACK = -0.4  # share of the tilt rate: faster throws grains over the target
STEEP, SLOW = 1.15, 0.22  # [rad] from there on the cup tilts at this share of the tilt rate
RUN_ON = 0.4  # [s] of the present flow that follows after the cup turns back


class PourExperts(Experts):
    """Moves the cup of every env of a pouring task."""

    task: PourTask
    flow: Floats
    before: Floats
    done: NDArray[np.bool_]

    def forget(self, env: int) -> None:
        """Forgets the flow and that the dose was met."""
        count = self.task.env_count
        if not hasattr(self, "flow"):
            self.flow, self.before, self.done = np.zeros(count), np.ones(count), np.zeros(count, bool)
        self.flow[env], self.before[env], self.done[env] = 0.0, self.task.held[env], False

    def actions(self) -> Floats:
        """Speeds along x and z, tilt rate."""
        task = self.task
        actions = np.zeros((task.env_count, 3))
        for env in range(task.env_count):
            x, z, tilt = task.cup[env].tolist()
            held = float(task.held[env])
            self.flow[env] += SMOOTH * ((self.before[env] - held) / task.step_period - self.flow[env])
            self.before[env] = held
            flow = float(self.flow[env])
            missing = float(task.dose[env]) - (1.0 - held)
            c, s = math.cos(tilt), math.sin(tilt)
            lip = x + c * CUP[0] + s * CUP[2]
            aim = float(task.target_x[env]) - AHEAD
            offset = aim - lip
            # the cup does not follow while it turns back: that would throw grains
            actions[env, 0] = 0.0 if self.done[env] else offset / (SPEED * task.step_period)
            actions[env, 1] = (CUP_Z[0] - z) / (LIFTING * task.step_period)
            wanted = min(max(0.7 * missing, 0.04), 0.2)
            if missing < max(RUN_ON * flow, 0.004):
                self.done[env] = True
            elif missing > 0.015 and flow < 0.005:
                self.done[env] = False
            if self.done[env]:
                turn = TURN_BACK
            elif abs(offset) > 0.1 and tilt > REST:
                turn = 0.0
            else:
                # nothing comes out of a cup that stands; near the angle where grains slide, slowly
                turn = 1.0 if tilt < STEEP else min(max(1.5 * (wanted - flow) / wanted, -SLOW), SLOW)
            actions[env, 2] = turn
            # a cup that stands upright again needs no further turning
            if self.done[env] and tilt <= 0.0:
                actions[env, 2] = -tilt / (TILTING * task.step_period)
        return actions
