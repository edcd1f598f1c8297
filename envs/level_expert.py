"""level_expert.py: the scripted grader: strikes the bed off at the target's height, lane by lane, to and fro.

A pass: go to one end of a lane with the blade raised, lower it to the target there, and drive to the other end with
the blade's edge following the target surface; what stands above is taken along and fills what lies below. Lanes run
along the field; each is passed in the direction that carries material from where there is too much to where there is
too little, and the lane with most to carry comes first.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from granular_gym.base.types import Floats
from granular_gym.envs import level
from granular_gym.tasks.expert import Experts

#: [m] the blade's edge is held above the target
EDGE = 0.02
#: an action: forward, left, up, turn
Action = tuple[float, float, float, float]


@dataclass
class Pass:
    """A drive along a straight line with the blade across it."""

    start: tuple[float, float]
    heading: float
    length: float


class LevelExperts(Experts):
    """Drives the blade of every env of a levelling task."""

    task: level.LevelTask

    def __init__(self, env: Any) -> None:
        self.plans: list[Pass | None] = []
        self.phases: list[str] = []
        self.recent: list[list[int]] = []
        self.edges: list[float] = []
        super().__init__(env)

    def forget(self, env: int) -> None:
        """Forgets the pass under way."""
        while len(self.plans) <= env:
            self.plans.append(None)
            self.phases.append("plan")
            self.recent.append([])
            self.edges.append(EDGE)
        self.plans[env], self.phases[env], self.recent[env] = None, "plan", []

    def actions(self) -> Floats:
        """Forward, left, up, turn."""
        heights = self.task.heights()
        return np.array([self._act(env, heights[env]) for env in range(self.task.env_count)])

    def _act(self, env: int, heights: Floats) -> Action:
        for _ in range(5):
            action = getattr(self, "_" + self.phases[env])(env, heights)
            if action is not None:
                result: Action = action
                return result
        return 0.0, 0.0, 0.0, 0.0

    # phases: each returns an action, or None when it is over ----------------------------------------------------------

    def _plan(self, env: int, heights: Floats) -> None:
        """Chooses the pass that moves most material to where it lacks."""
        target = self.task.target[env]
        excess = heights - target
        x, y = level.GRID.centers()
        reach_x = level.HALF_X - level.CLEARANCE - level.BLADE_THICKNESS
        reach_y = level.HALF_Y - level.CLEARANCE - level.BLADE_THICKNESS
        best, best_score, best_key = None, -math.inf, 0
        key = 0
        for along, across, reach, side in ((x, y, reach_x, reach_y), (y, x, reach_y, reach_x)):
            lanes = np.linspace(-1.0, 1.0, 5) * (side - level.BLADE_HALF_WIDTH)
            for lane in lanes:
                inside = np.abs(across - lane) < level.BLADE_HALF_WIDTH
                for direction in (1.0, -1.0):
                    key += 1
                    order = np.argsort(direction * along[inside], kind="stable")
                    # carried: what has piled up before the blade, never less than nothing
                    load, moved = 0.0, 0.0
                    for value in excess[inside][order].tolist():
                        before = load
                        load = max(load + value, 0.0)
                        moved += before - load if value < 0.0 else 0.0
                    score = moved / (1.0 + reach) - (1e3 if key in self.recent[env][-2:] else 0.0)
                    if score > best_score:
                        start = -direction * reach
                        point = (start, lane) if along is x else (lane, start)
                        turn = 0.0 if along is x else 0.5 * math.pi
                        heading = turn if direction > 0 else turn + math.pi
                        best, best_score, best_key = Pass(point, heading, 2.0 * reach), score, key
        # what was pushed against the walls is lost to the field: where it lacks material, the blade cuts less
        inner = slice(level.MARGIN, -level.MARGIN)
        self.edges[env] = EDGE + max(-float(excess[inner, inner].mean()), 0.0)
        self.plans[env] = best
        self.recent[env].append(best_key)
        self.phases[env] = "raise"

    def _raise(self, env: int, heights: Floats) -> Action | None:
        z = self.task.pose[env, 2]
        if z > heights.max() + 0.1 or z >= level.LIFT[1] - 1e-6:
            self.phases[env] = "travel"
            return None
        return 0.0, 0.0, 1.0, 0.0

    def _travel(self, env: int, heights: Floats) -> Action | None:
        plan = self.plans[env]
        assert plan is not None
        x, y, _, yaw = self.task.pose[env].tolist()
        dx, dy = plan.start[0] - x, plan.start[1] - y
        # a blade is the same seen from behind: half a turn is never needed
        error = (plan.heading - yaw + 0.5 * math.pi) % math.pi - 0.5 * math.pi
        if math.hypot(dx, dy) < 0.03 and abs(error) < 0.03:
            self.phases[env] = "lower"
            return None
        c, s = math.cos(yaw), math.sin(yaw)
        step = level.SPEED * self.task.step_period
        forward, left = (c * dx + s * dy) / step, (-s * dx + c * dy) / step
        most = max(abs(forward), abs(left), 1.0)
        return forward / most, left / most, 0.0, error / (level.TURNING * self.task.step_period)

    def _lower(self, env: int, heights: Floats) -> Action | None:
        up = self._height(env, 0.0) - self.task.pose[env, 2]
        if up > -0.02:
            self.phases[env] = "strike"
            return None
        return 0.0, 0.0, up / (level.LIFTING * self.task.step_period), 0.0

    def _strike(self, env: int, heights: Floats) -> Action | None:
        plan = self.plans[env]
        assert plan is not None
        x, y, z, yaw = self.task.pose[env].tolist()
        c, s = math.cos(plan.heading), math.sin(plan.heading)
        done = (x - plan.start[0]) * c + (y - plan.start[1]) * s
        if done > plan.length - 0.02:
            self.phases[env] = "plan"
            return None
        sign = 1.0 if math.cos(yaw - plan.heading) > 0.0 else -1.0
        step = level.SPEED * self.task.step_period
        up = (self._height(env, step) - z) / (level.LIFTING * self.task.step_period)
        return sign * min(1.0, (plan.length - done) / step), 0.0, up, 0.0

    def _height(self, env: int, ahead: float) -> float:
        """Where the blade's edge should be: the target's height under it, a little ahead [m]."""
        plan = self.plans[env]
        assert plan is not None
        x, y = self.task.pose[env, :2]
        c, s = math.cos(plan.heading), math.sin(plan.heading)
        width = np.linspace(-0.8, 0.8, 5) * level.BLADE_HALF_WIDTH
        points = np.stack([x + ahead * c - width * s, y + ahead * s + width * c], axis=1)
        wanted = float(self.task.target[env][level.GRID.cells_of(points)].mean())
        result: float = min(max(wanted + self.edges[env], level.LIFT[0]), level.LIFT[1])
        return result
