"""description.py: what is known of a serial arm of revolute joints, wherever it was read.

Kinematics are rows of modified Denavit-Hartenberg parameters (Craig, Introduction to Robotics, section 3.6), as
csrc/geometry/arm.h computes with them.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from granular_gym.base import rotations
from granular_gym.shapes.sdf import Sdf

Array = NDArray[np.float64]

LARGEST_ROWS = 15  # of a chain, tool included (csrc/geometry/arm.h holds 16)
LARGEST_CAPSULES = 64
LARGEST_ANGLE = 10.0  # [rad] of a joint; kinematics are checked up to there


def _no_rods() -> Array:
    return np.zeros((0, 7))


def _identity() -> Array:
    return np.array([0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0])


@dataclass(frozen=True, eq=False)
class Link:
    """What rides on one frame; each row is ax ay az bx by bz radius in the frame [m].

    Attributes:
        frame: index; 0 stands with the base, k is the frame of joint k.
        capsules: (n, 7) the shape, and what the guard keeps apart.
        cylinders: (n, 7) further shape (housings) that the guard does not check.
        covers: (n, 7) capsules that are no shape, but which the guard keeps apart: they cover shapes of other kinds.
        solid: further shape of any kind in the frame, which the guard does not check; None: there is none.
    """

    frame: int
    capsules: Array
    cylinders: Array
    covers: Array = field(default_factory=_no_rods)
    solid: Sdf | None = None

    def sdf(self) -> Sdf:
        """The shape as a tool."""
        parts = [_rod(row, "capsule") for row in self.capsules] + [_rod(row, "cylinder") for row in self.cylinders]
        return Sdf.union(parts if self.solid is None else [*parts, self.solid])

    @property
    def guarded(self) -> Array:
        """(n, 7) all capsules that the guard keeps apart."""
        return np.concatenate([self.capsules, self.covers])


@dataclass(frozen=True, eq=False)
class ArmDescription:
    """A serial arm of revolute joints, from `load_arm`.

    Attributes:
        name: of the arm, for messages.
        rows: (rows, 4) a [m], alpha [rad], d [m], theta [rad] in modified (Craig) form; joints first, then the fixed.
        lower: (joints,) [rad].
        upper: (joints,) [rad].
        speed: (joints,) largest [rad/s].
        acceleration: (joints,) largest [rad/s2].
        torque: (joints,) largest [N m].
        tip_speed: Cartesian limit [m/s].
        payload: the arm may carry [kg].
        links: shapes by frame.
        apart: pairs of frames whose capsules must not meet.
        joint_names: from base to tip; empty: not told.
        base: (7,) x y z qw qx qy qz of frame 0 in the frame of the base link.
    """

    name: str
    rows: Array
    lower: Array
    upper: Array
    speed: Array
    acceleration: Array
    torque: Array
    tip_speed: float
    payload: float
    links: tuple[Link, ...]
    apart: tuple[tuple[int, int], ...]
    joint_names: tuple[str, ...] = ()
    base: Array = field(default_factory=_identity)

    @property
    def joint_count(self) -> int:
        """Number of joints."""
        return len(self.lower)


def _rod(row: Array, kind: str) -> Sdf:
    """A capsule or cylinder from its ends and radius."""
    start, end, radius = row[:3], row[3:6], float(row[6])
    length = float(np.linalg.norm(end - start))
    if length < 1e-9:
        return Sdf.sphere(radius).at(start)
    make = Sdf.capsule if kind == "capsule" else Sdf.cylinder
    return make(radius, 0.5 * length).at(0.5 * (start + end), rotations.from_z_to((end - start) / length))
