"""hoppers.py: hoppers over an outlet, parametric: a wedge between two glass walls, or a cone; steep, or flat.

Both stand around the z axis. A wedge has two plates that slope towards a slot along y and end in its lips, and two
upright walls above them; a cone is the same section turned about the axis, over a round outlet. A slope of 0 is a flat
bottom. One side (x < 0) can be a solid of its own, so that it can be shaken alone.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from granular_gym.base.rotations import from_matrix
from granular_gym.base.types import Floats
from granular_gym.shapes.mesh import Mesh
from granular_gym.shapes.sdf import Sdf

#: thickness of plates and walls [m]
WALL = 0.06
#: sides of the polygon that stands for a circle
SEGMENTS = 96


@dataclass(frozen=True)
class Hopper:
    """A hopper.

    Attributes:
        is_round: a cone; else a wedge.
        slope: of the bottom [rad], 0 (flat) .. below pi / 2.
        outlet: distance of the lips, or diameter of the round outlet [m].
        lips: z of the outlet [m].
        top: z of the walls' upper edge [m].
        reach: half the width, or the radius, of the inside above the bottom [m].
        half_depth: half the distance of the glass walls of a wedge [m].
    """

    is_round: bool
    slope: float
    outlet: float
    lips: float
    top: float
    reach: float
    half_depth: float

    @property
    def shoulder(self) -> float:
        """z where the bottom meets the upright walls [m]."""
        return self.lips + (self.reach - 0.5 * self.outlet) * math.tan(self.slope)

    def sides(self, radius: float) -> tuple[Sdf, Sdf]:
        """The half at x < 0 and the half at x > 0; bottom and upright wall are a part each.

        Args:
            radius: of the grains [m]; edges are sharp enough for them.
        """
        if not self.is_round:
            return self._plates(-1.0), self._plates(1.0)
        return self._shell(0.5 * math.pi, math.pi, radius), self._shell(-0.5 * math.pi, math.pi, radius)

    def whole(self, radius: float) -> Sdf:
        """Both halves in one."""
        return self._shell(0.0, 2.0 * math.pi, radius) if self.is_round else Sdf.union(*self.sides(radius))

    def _plates(self, side: float) -> Sdf:
        slope, deep = self.slope, self.half_depth + 0.05  # into the glass
        # the plate's upper face runs from the lip to below the wall
        length = (self.reach - 0.5 * self.outlet) / math.cos(slope) + WALL
        middle = np.array([0.5 * self.outlet, self.lips]) + 0.5 * length * np.array([math.cos(slope), math.sin(slope)])
        middle += 0.5 * WALL * np.array([math.sin(slope), -math.cos(slope)])
        plate = Sdf.box((0.5 * length, deep, 0.5 * WALL)).at((side * middle[0], 0.0, middle[1]), tilted(-side * slope))
        wall = Sdf.box((0.5 * WALL, deep, 0.5 * (self.top - self.shoulder)))
        center = side * (self.reach + 0.5 * WALL), 0.0, 0.5 * (self.top + self.shoulder)
        return Sdf.union(plate, wall.at(center))

    def _shell(self, begin: float, turn: float, radius: float) -> Sdf:
        along = np.array([math.cos(self.slope), math.sin(self.slope)])
        below = WALL * np.array([along[1], -along[0]])
        lip = np.array([0.5 * self.outlet, self.lips])
        end = lip + along * ((self.reach - 0.5 * self.outlet) / along[0] + WALL)
        outer = self.reach + WALL
        bottom = revolved(np.array([lip, end, end + below, lip + below]), begin, turn)
        corners = [[self.reach, self.shoulder], [self.reach, self.top], [outer, self.top], [outer, self.shoulder]]
        upright = revolved(np.array(corners), begin, turn)
        fine = min(max(0.8 * radius, 0.008), 0.015)
        return Sdf.union(Sdf.from_mesh(bottom, spacing=fine), Sdf.from_mesh(upright, spacing=0.02))

    def layer(self, z: float, step: float, radius: float) -> Floats:
        """Positions of grains at one height, a square lattice clear of all walls, (n, 2) [m].

        Args:
            z: of their centres [m], above the lips.
            step: of the lattice [m].
            radius: of the grains [m].
        """
        half = self.reach
        if self.slope > 0.0:
            half = min(half, 0.5 * self.outlet + (z - self.lips) / math.tan(self.slope) - 0.1 * radius)
        half -= 1.15 * radius / (math.sin(self.slope) if self.slope > 0.0 and half < self.reach else 1.0)
        xs = centered(int(2.0 * max(half, 0.0) / step) + 1, step)
        if not self.is_round:
            ys = centered(max(int((2.0 * self.half_depth - 2.1 * radius) / step) + 1, 1), step)
            return np.stack([a.ravel() for a in np.meshgrid(xs, ys, indexing="ij")], axis=1)
        points = np.stack([a.ravel() for a in np.meshgrid(xs, xs, indexing="ij")], axis=1)
        result: Floats = points[np.hypot(*points.T) <= max(half, 0.0) + 1e-9]
        return result


def centered(count: int, step: float) -> Floats:
    """So many points around 0, `step` [m] apart."""
    return (np.arange(count) - 0.5 * (count - 1)) * step


def tilted(angle: float) -> Floats:
    """Quaternion of a turn about the y axis that lowers +x by `angle` [rad]."""
    c, s = math.cos(angle), math.sin(angle)
    return from_matrix(np.array([[c, 0.0, s], [0.0, 1.0, 0.0], [-s, 0.0, c]]))


def revolved(profile: Floats, begin: float, turn: float) -> Mesh:
    """The solid that a convex section sweeps when it is turned about the z axis.

    Args:
        profile: corners (k, 2): distance from the axis and z [m], clockwise seen with the distance to the right.
        begin: angle at which the sweep begins [rad].
        turn: how far it is turned [rad], up to 2 pi; less than that leaves two ends, which are closed.
    """
    whole = turn >= 2.0 * math.pi - 1e-9
    steps = max(round(SEGMENTS * turn / (2.0 * math.pi)), 3)
    count, rings = len(profile), steps if whole else steps + 1
    points = [
        (r * math.cos(begin + turn * k / steps), r * math.sin(begin + turn * k / steps), z)
        for k in range(rings)
        for r, z in profile.tolist()
    ]
    faces = []
    for k in range(steps):
        here, there = k * count, (k + 1) % rings * count
        for a in range(count):
            b = (a + 1) % count
            faces += [(here + a, there + b, there + a), (here + a, here + b, there + b)]
    if not whole:
        last = (rings - 1) * count
        for a in range(1, count - 1):
            faces += [(0, a + 1, a), (last, last + a, last + a + 1)]
    return Mesh(points, faces)
