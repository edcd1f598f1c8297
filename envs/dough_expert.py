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
FAR = 0.004  # [m] of the dough's middle off the target's, from which on it is pushed, so often at most
PUSHES = 4
STRAY = 0.003  # [m] the same, within which passes go to and fro
#: what dough that is pushed springs back by, as a share of its height: its shear strain at yield
RECOIL = 0.08
DEEPEST = 0.015  # [m] that a pass goes below the one before
OFF = 5e-4  # [m] the dough may stand too high when its thickness is right
BESIDE = 0.135  # [m] from the dough's middle to the axis of a roller that comes down beside it
SLOWEST = 0.15  # share of the full speed at which the roller pushes at least
ARRIVED = 1e-3  # [m]
LIFTED = 0.004  # [m] that actions which are not followed exactly may lift a roller off the table


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
        self.pushes = 0  # that were made
        self.way = 0.0  # of the push under way, along x; 0: there is none
        self.held = False  # whether the roller is on the table
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
        """Down beside the dough, and on until it will spring back to where it is wanted."""
        stray = view.aim - view.middle
        if self.way == 0.0:
            self.way = math.copysign(1.0, stray) if abs(stray) > FAR else 0.0
        left = self.way * stray + RECOIL * float(view.heights.max())
        low = self._reached(dough.GAP[0] - view.gap)
        behind = self.way * (view.middle - view.x)
        if self.way == 0.0 or left < ARRIVED or (low and behind < 0.0):
            self.way, self.held = 0.0, False
            self.phase = "leave"
            return None
        if not low:
            start = min(max(view.middle - self.way * BESIDE, -dough.REACH), dough.REACH)
            return (0.0, -1.0, 0.0) if self.way * (start - view.x) > -0.01 else self._over(view, start)
        along = self.way * max(self._along(0.0, left), SLOWEST)
        return along, self._back(dough.GAP[0] - view.gap), -along

    def _leave(self, view: View) -> Action | None:
        """Away from the dough before it rises, which would roll the dough back."""
        aside = view.x - view.middle
        if abs(aside) > BESIDE - 0.02 or view.gap > float(view.heights.max()):
            self.pushes += 1
            self.phase = "raise"
            return None
        return math.copysign(1.0, aside), 0.0, 0.0

    def _raise(self, view: View) -> Action | None:
        """Over the dough to the start of a pass; or to push once more, where passes do not lead it to the middle."""
        if abs(view.aim - view.middle) > FAR and self.pushes < PUSHES:
            self.phase = "push"
            return None
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
            if high < OFF:
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
        high = min(1.5 * float(view.heights.max()) + 0.01, dough.GAP[1])
        return (0.0, 1.0, 0.0) if view.gap < high - 1e-6 else (self._along(view.x, x), 0.0, 0.0)

    def _reached(self, off: float) -> bool:
        """Whether the roller is on the table, which is `off` above it [m]: once it has been, until it is lifted."""
        self.held = off > -1e-6 or (self.held and off > -LIFTED)
        return self.held

    def _back(self, off: float) -> float:
        """The action that takes back what it was lifted."""
        back: float = max(off / (dough.LIFTING * self.task.step_period), -1.0) if off < -1e-6 else 0.0
        return back

    def _up(self, view: View, x: float) -> float:
        """The action that leads to the level of the pass at x."""
        gap = view.thickness + view.slope * (x - view.aim) + self.level
        up: float = (gap - view.gap) / (dough.LIFTING * self.task.step_period)
        return up

    def _along(self, x: float, end: float) -> float:
        """The action that leads from one x to another."""
        along: float = min(max((end - x) / (dough.SPEED * self.task.step_period), -1.0), 1.0)
        return along


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
