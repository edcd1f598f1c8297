"""silo_expert.py: the scripted operator of the silo: opens the gate by Beverloo's law, corrects what is off.

Rate of discharge through a slot of width D for grains of diameter d: c (D - 1.4 d)^1.5 (Beverloo et al. 1961, plane
form). The wanted rate is the commanded one plus what would remove the present error within a short time; the law gives
the opening. Slots narrower than about 2.7 d clog: below that the gate pulses between shut and that width. A gate that
stands open without flow is opened further until grains come.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from granular_gym.base.types import Floats
from granular_gym.envs.silo import GATE_SPEED, RECEIVER_SPEED, SiloTask
from granular_gym.envs.silo_programme import rate_at, share_by
from granular_gym.tasks.expert import Experts

C = 6.0  # [share/s/m^1.5]: measured on the silo of the task, 500 and 2,000 grains
NARROWEST = 2.8  # [d] that does not clog
CATCH_UP = 0.4  # [s] in which an error is to be removed
FALL = 0.08  # [s] from the gate to where a grain counts as discharged
SMALLEST = 0.03  # [share/s] wanted rates below it: shut
SWING = 0.16  # [m] the receiver goes to either side, so that its heap is spread


class SiloExperts(Experts):
    """Operates gate and receiver of every env of a silo task."""

    task: SiloTask

    def forget(self, env: int) -> None:
        """There is no plan but the time."""

    def actions(self) -> Floats:
        """Opening rate, receiver speed and, where there is one, shaking."""
        task = self.task
        diameter = 2.0 * task.radius
        narrowest = NARROWEST * diameter
        # what still comes out while the gate shuts
        closing = flow(task.opening, diameter) * (0.4 * task.opening / GATE_SPEED + FALL)
        closing = np.where(task.rate > 0.0, closing, 0.0)
        opening = 0.5 * narrowest / GATE_SPEED
        soon = task.time + FALL + opening
        target, rate = share_by(soon, task.ends, task.rates), rate_at(soon, task.ends, task.rates)
        error = target - task.discharged
        wanted = rate + error / CATCH_UP
        width = 1.4 * diameter + (np.maximum(wanted, 0.0) / C) ** (2.0 / 3.0)
        width = np.maximum(width, narrowest + 0.25 * np.maximum(task.still - 0.15, 0.0))
        # the least that an opening lets out: half of it is the best a pulse can do
        pulse = flow(narrowest, diameter) * (narrowest / GATE_SPEED + FALL)
        is_open = task.opening > 0.0
        last = task.dose - task.discharged
        enough = np.where(is_open, np.minimum(error, last) <= closing, np.minimum(error, last) < 0.5 * pulse)
        steady = (width > narrowest) & (last > pulse) & (error > -0.5 * pulse)
        shut = (wanted < SMALLEST) | (enough & ~steady)
        width = np.where(shut, 0.0, np.minimum(width, task.outlet))
        gate = (width - task.opening) / (GATE_SPEED * task.step_period)
        swing = [math.sin(2.0 * t) if r > 0.15 else 0.0 for t, r in zip(task.time, task.received, strict=True)]
        receiver = (SWING * np.array(swing) - task.receiver_x) / (RECEIVER_SPEED * task.step_period)
        columns = [gate, receiver]
        if task.shaker:
            columns.append(np.where((task.still > 0.2) & (width > 0.0), 1.0, -1.0))
        return np.stack(columns, axis=1)


def flow(width: Any, diameter: float) -> Any:
    """Rate of discharge through a slot [share/s] by its width [m]."""
    return C * np.maximum(width - 1.4 * diameter, 0.0) ** 1.5
