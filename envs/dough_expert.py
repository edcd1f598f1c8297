"""dough_expert.py: the scripted baker: pushes the dough under the target's middle, then rolls it out to and fro.

Pushing, the roller lies on the table beside the dough and turns against its way, so that the dough rolls off it as a
gear does. Rolling, it turns as it goes and its gap follows the target's thickness, at first high above it and with each
pass lower, by what the dough still stands too high after the pass before. A pass drags the dough along a little, so the
next one leads to the side where it is wanted.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from granular_gym.base.types import Floats
from granular_gym.envs import dough
from granular_gym.envs.dough_state import middle_of
from granular_gym.tasks.expert import Drivers

#: an action: along, up, turn
Action = tuple[float, float, float]
CLOSE = 0.004  # [m] off the target's middle, within which dough is rolled out
STRAY = 0.003  # [m] the same, within which passes go to and fro
DEEPEST = 0.015  # [m] that a pass goes below the one before
OFF = 5e-4  # [m] the dough may stand too high when its thickness is right
BESIDE = 0.12  # [m] from the dough's middle to the axis of a roller that comes down beside it
SLOWEST = 0.3  # share of the full speed at which the roller pushes at least
ARRIVED = 1e-3  # [m]


@dataclass
class View:
    """What an action depends on: the roller's place and gap, the dough's heights and middle, and the target [m]."""

    x: float
    gap: float
    heights: Floats
    target: Floats
    middle: float
    aim: float
    thickness: float  # of the target in its middle
    slope: float  # its rise along x
    half: float  # its half length


class Baker:
    """Plans for one env."""

    def __init__(self, task: dough.DoughTask) -> None:
        self.task = task
        self.reset()

    def reset(self) -> None:
        """Forgets the plan."""
        self.phase = "push"
        self.level = math.inf  # [m] of the roller over the target in the pass under way
        self.end = 1.0  # side to which it leads

    def act(self, env: int, heights: Floats) -> Action:
        """The action for a state with these column heights (rows, columns) [m]."""
        view = self._look(env, heights)
        while (action := getattr(self, "_" + self.phase)(view)) is None:
            pass
        result: Action = action
        return result

    def _look(self, env: int, heights: Floats) -> View:
        x, gap, _ = self.task.roller[env].tolist()
        target = self.task.target[env]
        middle, aim = (float(middle_of(dough.GRID, part[None])[0]) for part in (heights, target))
        return View(x, gap, heights, target, middle, aim, *shape_of(target, aim))

    # phases: each returns an action, or None where the next one goes on ----------------------------------------------

    def _push(self, view: View) -> Action | None:
        """Down beside the dough, and on until it is where it is wanted."""
        if abs(view.aim - view.middle) < CLOSE:
            self.phase = "raise"
            return None
        way = math.copysign(1.0, view.aim - view.middle)
        start = view.middle - way * BESIDE
        if view.gap > dough.GAP[0] + 1e-6:
            if way * (start - view.x) > -ARRIVED or (
                way * (view.middle - view.x) > 0.0 and view.gap < dough.GAP[1] / 2
            ):
                return 0.0, -1.0, 0.0
            return self._over(view, start)
        if way * (view.middle - view.x) < 0.0:  # pushed too far
            self.phase = "raise"
            return None
        along = way * max(abs(self._along(view.middle, view.aim)), SLOWEST)
        return along, 0.0, -along

    def _raise(self, view: View) -> Action | None:
        """Over the dough to the start of a pass."""
        start = view.aim - self.end * view.half
        if abs(view.x - start) > ARRIVED:
            return self._over(view, start)
        self.level = min(self.level, float(view.heights.max()) - view.thickness)
        self.phase = "lower"
        return None

    def _lower(self, view: View) -> Action | None:
        """Down to its level."""
        up = self._up(view, view.x)
        if up > -0.1:
            self.phase = "roll"
            return None
        return 0.0, up, 0.0

    def _roll(self, view: View) -> Action | None:
        """To the end of the pass at its level over the target."""
        end = view.aim + self.end * view.half
        if abs(view.x - end) < ARRIVED:
            high = float((view.heights - view.target)[view.target > 0.85 * view.target.max()].mean())
            stray = view.aim - view.middle
            if high < OFF and abs(stray) < STRAY:
                self.phase = "rest"
                return None
            self.level -= min(max(high, 0.0), DEEPEST)
            leads, self.end = self.end, math.copysign(1.0, stray) if abs(stray) > STRAY else -self.end
            self.phase = "raise" if self.end == leads else "roll"
            return None
        along = self._along(view.x, end)
        return along, self._up(view, view.x + along * dough.SPEED * self.task.step_period), along

    def _rest(self, view: View) -> Action | None:
        """Off the dough."""
        return 0.0, 1.0, 0.0

    def _over(self, view: View, x: float) -> Action:
        """Over the dough to a place."""
        high = min(1.5 * float(view.heights.max()) + 0.01, dough.GAP[1]) - 1e-6
        return (0.0, 1.0, 0.0) if view.gap < high else (self._along(view.x, x), 0.0, 0.0)

    def _up(self, view: View, x: float) -> float:
        """The action that leads to the level of the pass at x."""
        gap = view.thickness + view.slope * (x - view.aim) + self.level
        return (gap - view.gap) / (dough.LIFTING * self.task.step_period)

    def _along(self, x: float, end: float) -> float:
        """The action that leads from one x to another."""
        return min(max((end - x) / (dough.SPEED * self.task.step_period), -1.0), 1.0)


def shape_of(target: Floats, aim: float) -> tuple[float, float, float]:
    """Thickness of a target in its middle [m], how it rises along x, and its half length [m]."""
    x = dough.GRID.centers()[0][0]
    row = target.shape[0] // 2
    near = np.abs(x - aim) < 0.04
    slope, thickness = np.polyfit(x[near] - aim, target[row - 1 : row + 1, near].mean(axis=0), 1).tolist()
    return thickness, slope, dough.half_length(thickness)


class DoughExperts(Drivers):
    """Rolls the dough of every env of a dough-rolling task."""

    task: dough.DoughTask
    drivers: list[Baker]

    def make_driver(self, task: Any) -> Baker:
        """A baker for one env."""
        return Baker(task)

    def drive(self, env: int, positions: Floats) -> Floats:
        """See `Drivers.drive`."""
        return np.array(self.drivers[env].act(env, self.task.heights()[env]))
