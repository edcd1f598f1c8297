"""bulldozer_expert.py: the scripted drivers that learners are compared with.

`BulldozerExpert` may read what a learner may not (grain positions, the goal, the exact pose). It plans push by push:

1. *Choose a push.* Many straight lines into the goal, by direction and lateral offset, are scored by the grains outside
   the goal that the blade would take along, up to what it can hold, over the time the push costs.
2. *Get behind it.* Dijkstra on a coarse grid whose cells cost more where grains lie under the vehicle finds the path
   around the heap to the start of the line; the vehicle drives it in whichever direction it already faces.
3. *Align, push, stop* with the blade just inside the goal, so that nothing is pushed out at the far side; back up;
   plan again.
"""

from __future__ import annotations

import heapq
import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from granular_gym.base.types import Floats
from granular_gym.envs.bulldozer import BulldozerTask
from granular_gym.tasks.expert import Drivers
from granular_gym.tasks.vehicle import TrackedVehicle

CELL = 0.2  # [m] of the planning grid
DIRECTIONS = 36
OFFSETS = (-0.55, -0.4, -0.2, 0.0, 0.2, 0.4, 0.55)  # [m] of a push line from the goal's centre
BACK_UP = 0.35  # [m] after a push
INTO_GOAL = 0.12  # [m] the blade goes past the goal's edge
BEHIND = 0.2  # [m] between the blade and the nearest grain where a push starts
OVERHEAD = 3.0  # [s] of a push: turning, settling


def angle_difference(a: float, b: float) -> float:
    """a - b folded into [-pi, pi)."""
    return (a - b + math.pi) % (2.0 * math.pi) - math.pi


@dataclass(frozen=True)
class Push:
    """One straight push: the vehicle's centre goes from `start` along `heading` for `length` [m]."""

    start: tuple[float, float]
    heading: float
    length: float
    gain: float


@dataclass
class BulldozerExpert:
    """Drives one vehicle.

    Args:
        vehicle: its outline, speeds and field.
        duration: of an env step [s].
        blade_x: x of the blade's face in the vehicle frame [m].
        blade_width: [m].
        capacity: grains the blade takes along in one push.
    """

    vehicle: TrackedVehicle
    duration: float
    blade_x: float
    blade_width: float
    capacity: float
    _phase: str = "plan"
    _path: list[tuple[float, float]] = field(default_factory=list)
    _backwards: bool = False
    _push: Push | None = None
    _left: float = 0.0  # [m] of backing up
    _patience: int = 0  # steps until a plan that got stuck is dropped

    def reset(self) -> None:
        """Forgets the plan."""
        self._phase, self._path, self._push, self._left = "plan", [], None, 0.0

    def act(self, pose: Floats, grains: Floats, lower: Floats, upper: Floats) -> Floats:
        """The next action.

        Args:
            pose: (3,) x, y, yaw of the vehicle.
            grains: (n, 3) positions [m].
            lower: (3,) corner of the goal box [m].
            upper: (3,) the other corner [m].

        Returns:
            (2,) float32 in [-1, 1].
        """
        x, y, yaw = (float(v) for v in pose)
        self._patience -= 1
        if self._patience < 0 and self._phase != "plan":
            self._phase = "plan"
        # a phase that is over hands on to the next within the same step
        for _ in range(8):
            action = getattr(self, "_do_" + self._phase)(x, y, yaw, grains, lower, upper)
            if action is not None:
                return np.clip(np.array(action, np.float32), -1.0, 1.0)
        return np.zeros(2, np.float32)

    # phases: each returns (forward, turn) or None when it is over ---------------------------------------------------

    def _do_plan(self, x: float, y: float, yaw: float, grains: Floats, lower: Floats, upper: Floats) -> None:
        points = np.asarray(grains, np.float64)[:, :2]
        inside = np.all((points >= lower[:2]) & (points <= upper[:2]), axis=1)
        if inside.all():
            self._go("wait", 10)
            return
        travel_cost = TravelCost(self.vehicle, points, inside, (x, y))
        push = best_push(self, points, inside, lower, upper, travel_cost)
        if push is None:
            self._go("wait", 10)
            return
        self._push = push
        self._path = travel_cost.path(push.start)
        heading = math.atan2(self._path[0][1] - y, self._path[0][0] - x)
        near = math.hypot(self._path[-1][0] - x, self._path[-1][1] - y) < CELL
        self._backwards = not near and abs(angle_difference(heading, yaw)) > 0.5 * math.pi
        self._go("travel", 150)

    def _do_travel(self, x: float, y: float, yaw: float, *_: Any) -> tuple[float, float] | None:
        while self._path and math.hypot(self._path[0][0] - x, self._path[0][1] - y) < (
            0.08 if len(self._path) == 1 else 0.25
        ):
            self._path.pop(0)
        if not self._path:
            self._go("align", 60)
            return None
        dx, dy = self._path[0][0] - x, self._path[0][1] - y
        error = angle_difference(math.atan2(dy, dx) + (math.pi if self._backwards else 0.0), yaw)
        forward = math.hypot(dx, dy) / (self.vehicle.speed * self.duration)
        if abs(error) > 0.6:
            forward = 0.0
        else:
            forward = min(forward, 1.0) * math.cos(error) ** 4
        return (-forward if self._backwards else forward), self._turn(error)

    def _do_align(self, x: float, y: float, yaw: float, *_: Any) -> tuple[float, float] | None:
        assert self._push is not None
        error = angle_difference(self._push.heading, yaw)
        if abs(error) < 0.03:
            self._go("push", int(2.0 * self._push.length / (self.vehicle.speed * self.duration)) + 30)
            return None
        return 0.0, self._turn(error)

    def _do_push(self, x: float, y: float, yaw: float, *_: Any) -> tuple[float, float] | None:
        push = self._push
        assert push is not None
        c, s = math.cos(push.heading), math.sin(push.heading)
        along = (x - push.start[0]) * c + (y - push.start[1]) * s
        across = -(x - push.start[0]) * s + (y - push.start[1]) * c
        left = push.length - along
        if left < 0.01:
            self._left = BACK_UP
            self._go("back", 60)
            return None
        # steer back to the line
        error = angle_difference(push.heading - math.atan(1.5 * across), yaw)
        return min(1.0, left / (self.vehicle.speed * self.duration)), self._turn(0.6 * error)

    def _do_back(self, *_: Any) -> tuple[float, float] | None:
        if self._left <= 0.0:
            self._go("plan", 0)
            return None
        self._left -= self.vehicle.speed * self.duration
        return -1.0, 0.0

    def _do_wait(self, *_: Any) -> tuple[float, float] | None:
        if self._patience <= 0:
            self._go("plan", 0)
        return 0.0, 0.0

    def _go(self, phase: str, patience: int) -> None:
        self._phase, self._patience = phase, patience

    def _turn(self, error: float) -> float:
        """Turn action that removes a heading error, in one step where the turn rate allows."""
        return error / (self.vehicle.turn_rate * self.duration)


class TravelCost:
    """What it costs to drive from one point to every cell of a coarse grid, grains under the vehicle included.

    Args:
        vehicle: its outline and field.
        points: (n, 2) grains [m].
        inside: (n,) grains in the goal, which must not be disturbed.
        start: (x, y) of the vehicle [m].
    """

    cost: Floats
    parent: NDArray[np.int64]

    def __init__(
        self, vehicle: TrackedVehicle, points: Floats, inside: NDArray[np.bool_], start: tuple[float, float]
    ) -> None:
        self.lower: Floats = np.array(vehicle.lower)
        size = np.array(vehicle.upper) - self.lower
        self.count: NDArray[np.int64] = np.maximum(np.round(size / CELL).astype(int), 1)
        nx, ny = (int(n) for n in self.count)
        # grains within the half width of each cell's centre, those in the goal counting twice
        cells = np.clip(((points - self.lower) / CELL).astype(int), 0, self.count - 1)
        weight = np.where(inside, 2.0, 1.0)
        load = np.bincount(cells[:, 0] * ny + cells[:, 1], weight, nx * ny).reshape(nx, ny)
        reach = math.ceil(vehicle.half_width / CELL)
        padded = np.pad(load, reach)
        blur = np.zeros_like(load)
        for i in range(2 * reach + 1):
            for j in range(2 * reach + 1):
                if math.hypot(i - reach, j - reach) * CELL <= vehicle.half_width + 0.5 * CELL:
                    blur += padded[i : i + nx, j : j + ny]
        share = blur / max(len(points), 1)
        # a metre through one per cent of the grains costs as much as three metres of free ground
        self.price: Floats = (1.0 + 200.0 * share).ravel()
        gap = vehicle.half_width + vehicle.clearance
        centers = self.lower + (np.indices((nx, ny)).reshape(2, -1).T + 0.5) * CELL
        free = ((centers > self.lower + gap) & (centers < np.array(vehicle.upper) - gap)).all(axis=1)
        self.price[~free] += 20.0
        self.cost, self.parent = self._dijkstra(self.cell(start), nx, ny)

    def cell(self, point: Any) -> int:
        """Index of the cell that holds a point (x, y)."""
        i, j = np.clip(((np.asarray(point) - self.lower) / CELL).astype(int), 0, self.count - 1)
        return int(i) * int(self.count[1]) + int(j)

    def _dijkstra(self, start: int, nx: int, ny: int) -> tuple[Floats, NDArray[np.int64]]:
        price = self.price.tolist()
        cost = [math.inf] * (nx * ny)
        parent = np.full(nx * ny, -1, np.int64)
        cost[start] = 0.0
        queue = [(0.0, start)]
        steps = [(i, j, math.hypot(i, j) * CELL) for i in (-1, 0, 1) for j in (-1, 0, 1) if i or j]
        while queue:
            reached, cell = heapq.heappop(queue)
            if reached > cost[cell]:
                continue
            i0, j0 = divmod(cell, ny)
            for i, j, length in steps:
                if 0 <= i0 + i < nx and 0 <= j0 + j < ny:
                    other = (i0 + i) * ny + j0 + j
                    total = reached + length * 0.5 * (price[cell] + price[other])
                    if total < cost[other] - 1e-12:
                        cost[other] = total
                        parent[other] = cell
                        heapq.heappush(queue, (total, other))
        return np.array(cost), parent

    def center(self, cell: int) -> tuple[float, float]:
        """Centre of a cell [m]."""
        i, j = divmod(cell, int(self.count[1]))
        return float(self.lower[0] + (i + 0.5) * CELL), float(self.lower[1] + (j + 0.5) * CELL)

    def path(self, target: tuple[float, float]) -> list[tuple[float, float]]:
        """Waypoints to a target [m], the target itself last; corners that save nothing are cut."""
        cells = [self.cell(target)]
        while self.parent[cells[-1]] >= 0:
            cells.append(int(self.parent[cells[-1]]))
        points = [self.center(cell) for cell in reversed(cells)]
        points[-1] = target
        # from each kept point, jump to the furthest later one whose straight line costs no more than the grid's
        kept, at = [], 0
        while at < len(points) - 1:
            jump = at + 1
            for later in range(len(points) - 1, at + 1, -1):
                along = self.cost[self.cell(points[later])] - self.cost[self.cell(points[at])]
                if self.straight(points[at], points[later]) <= along + 0.1:
                    jump = later
                    break
            kept.append(points[jump])
            at = jump
        return kept or [target]

    def straight(self, a: tuple[float, float], b: tuple[float, float]) -> float:
        """Cost of the straight line from a to b."""
        length = math.hypot(b[0] - a[0], b[1] - a[1])
        samples = max(int(length / (0.5 * CELL)), 1)
        t = (np.arange(samples) + 0.5) / samples
        points = np.array(a) + t[:, None] * (np.array(b) - np.array(a))
        cells = np.clip(((points - self.lower) / CELL).astype(int), 0, self.count - 1)
        return float(length * self.price[cells[:, 0] * self.count[1] + cells[:, 1]].mean())


def interval_in_box(
    points: Floats, direction: Floats, lower: Floats, upper: Floats
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Where lines point + t direction lie inside a box: (entry, exit) (m,), entry > exit where they miss it."""
    with np.errstate(divide="ignore", invalid="ignore"):
        a = (lower - points) / direction
        b = (upper - points) / direction
    entry = np.nan_to_num(np.minimum(a, b), nan=-np.inf, posinf=np.inf, neginf=-np.inf).max(axis=1)
    leave = np.nan_to_num(np.maximum(a, b), nan=np.inf, posinf=np.inf, neginf=-np.inf).min(axis=1)
    return entry, leave


def best_push(
    expert: BulldozerExpert,
    points: Floats,
    inside: NDArray[np.bool_],
    lower: Floats,
    upper: Floats,
    travel_cost: TravelCost,
) -> Push | None:
    """The push that brings most grains into the goal per second; None where no line reaches a grain."""
    vehicle = expert.vehicle
    box_lower, box_upper = np.asarray(lower[:2], np.float64), np.asarray(upper[:2], np.float64)
    center = 0.5 * (box_lower + box_upper)
    outside = points[~inside]
    half = 0.5 * expert.blade_width
    best, best_score = None, 0.0
    for k in range(DIRECTIONS):
        heading = 2.0 * math.pi * k / DIRECTIONS
        u = np.array([math.cos(heading), math.sin(heading)])
        n = np.array([-u[1], u[0]])
        along, across = (outside - center) @ u, (outside - center) @ n
        for offset in OFFSETS:
            # both ends of the blade must come to lie inside the goal, and short of its far side
            ends = center + np.outer([offset - 0.9 * half, offset + 0.9 * half], n)
            entry, leave = interval_in_box(ends, u, box_lower, box_upper)
            stop = float(entry.max()) + INTO_GOAL
            if not stop < float(leave.min()) - 0.5:
                continue
            swath = (np.abs(across - offset) < 0.9 * half) & (along < stop)
            if not swath.any():
                continue
            push = _push_along(expert, center + offset * n, u, heading, np.sort(along[swath]), stop)
            if push is None:
                continue
            travel = travel_cost.cost[travel_cost.cell(push.start)] / vehicle.speed
            seconds = travel + 2.0 * push.length / vehicle.speed + OVERHEAD
            score = push.gain / seconds
            if score > best_score:
                best, best_score = push, score
    return best


def _push_along(
    expert: BulldozerExpert, origin: Floats, u: Floats, heading: float, along: Floats, stop: float
) -> Push | None:
    """The push on one line: starts behind the last grain, or where the field allows."""
    vehicle = expert.vehicle
    x0, x1, y0, y1 = vehicle.center_limits(heading)
    entry, leave = interval_in_box(origin[None], u, np.array([x0, y0]), np.array([x1, y1]))
    earliest, latest = float(entry[0]), float(leave[0])
    end = min(stop - expert.blade_x, latest)
    # behind all but a few stragglers of the swath
    begin = float(along[int(0.02 * len(along))]) - BEHIND - expert.blade_x
    begin = min(max(begin, earliest), end)
    if end - begin < 0.1:
        return None
    taken = float((along > begin + expert.blade_x).sum())
    point = origin + begin * u
    if earliest > latest:
        return None
    return Push((float(point[0]), float(point[1])), heading, end - begin, min(taken, expert.capacity))


#: share of the grains the blade of the bulldozer takes along: measured on heaps of 2,000 grains
BULLDOZER_CAPACITY = 0.4
#: x of the blade's cutting edge, and the width between its wings [m]
BULLDOZER_BLADE = (0.52, 0.82)


class BulldozerDrivers(Drivers):
    """Scripted experts for all envs of a bulldozer task."""

    task: BulldozerTask

    def make_driver(self, task: BulldozerTask) -> BulldozerExpert:
        """A driver of the task's vehicle."""
        return BulldozerExpert(
            vehicle=task.vehicle,
            duration=task.step_period,
            blade_x=BULLDOZER_BLADE[0],
            blade_width=BULLDOZER_BLADE[1],
            capacity=BULLDOZER_CAPACITY * task.world_grain_count,
        )

    def drive(self, env: int, positions: Floats) -> Floats:
        """Forward speed and yaw rate."""
        pose, goal = self.task.pose[env], self.task.goal[env]
        result: Floats = self.drivers[env].act(pose, positions, goal[:3], goal[3:])
        return result
