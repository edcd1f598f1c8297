"""rows.py: modified Denavit-Hartenberg rows of axes that lie anywhere.

Frame k stands on axis k, its z along it. Its x and its origin are those of the common normal to axis k + 1, so that row
k + 1 (alpha, a about and along x; theta, d about and along the next z) tells the next axis exactly. Frame 0 is frame 1
in the drawn posture: the first row is zero. The tip is told by fixed rows: one where its z has a common normal with the
last axis near by, else two, over its x, which then is far from parallel to that axis.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from granular_gym.arms.description import LARGEST_ROWS, Array
from granular_gym.arms.tree import Chain
from granular_gym.errors import ArgumentError, DescriptionWarning

#: [rad] axes this near to parallel are: the error is that of rounding
PARALLEL = 1e-9
#: [rad] axes are meant to be parallel below this angle, if their common normal is further off than NEAR or hard to tell
MISALIGNED, UNCLEAR = 2e-3, 1e-6
#: [m] as far as a common normal of an arm's axes may be off the joints
NEAR, FAR = 2.0, 10.0
#: sine of the angle above which one row tells the tip
_STEEP = 0.1


@dataclass(frozen=True, eq=False)
class _Line:
    """An axis: a point [m] and a unit vector."""

    point: Array
    along: Array


@dataclass(frozen=True, eq=False)
class _Normal:
    """The common normal of two lines: its foot on each, its direction, and the angle between the lines about it."""

    foot: Array
    other: Array
    along: Array
    angle: float


def rows_of(chain: Chain) -> tuple[Array, Array]:
    """Rows and frames of a chain.

    Returns:
        (rows, 4) a, alpha, d, theta: joints, then what leads to the tip; and (joints + 1, 4, 4) frames 0 .. joints in
        the frame of the base, as drawn.

    Raises:
        ArgumentError: too many joints, or axes so near to parallel that a frame would stand far from the arm.
    """
    count = len(chain.joints)
    lines, normals = [_Line(chain.joints[0].anchor, chain.joints[0].axis)], []
    bent: list[str] = []
    for before, joint in zip(chain.joints, chain.joints[1:], strict=False):
        last, line = lines[-1], _Line(joint.anchor, joint.axis)
        sine = float(np.linalg.norm(np.cross(last.along, line.along)))
        off = 0.0 if sine < PARALLEL else _off(last, line)
        if sine < UNCLEAR or (sine < MISALIGNED and off > NEAR):
            line = _Line(line.point, last.along * np.sign(last.along @ line.along))
            bent += [f"{joint.name!r} by {sine:.2g} rad"] if sine > PARALLEL else []
        elif off > FAR:
            raise ArgumentError(
                f"joint {joint.name!r}: expected an axis whose common normal with that of {before.name!r} is within "
                f"{FAR:g} m, got {off:.3g} m: they are {sine:.2g} rad from parallel"
            )
        normals.append(_normal(last, line))
        lines.append(line)
    if bent:
        warnings.warn(
            f"axes that are nearly parallel to those before them are taken as parallel: {', '.join(bent)}",
            DescriptionWarning,
            stacklevel=4,
        )
    tip = chain.tip
    for line in _to_tip(lines[-1], tip):
        normals.append(_normal(lines[-1], line))
        lines.append(line)
    if len(lines) > LARGEST_ROWS:
        raise ArgumentError(f"joints: expected at most {LARGEST_ROWS - len(lines) + count}, got {count}")
    origins, x_axes = [normal.foot for normal in normals] + [tip[:3, 3]], [n.along for n in normals] + [tip[:3, 0]]
    rows, drawn = np.zeros((len(lines), 4)), [joint.drawn for joint in chain.joints]
    for k, (normal, line) in enumerate(zip(normals, lines[1:], strict=True), 1):
        length = float((normal.other - normal.foot) @ normal.along)
        offset = float((origins[k] - normal.other) @ line.along)
        rows[k] = length, normal.angle, offset, _angle(x_axes[k - 1], x_axes[k], line.along)
    rows[:count, 3] -= drawn
    frames = np.array([_frame(o, x, line.along) for o, x, line in zip(origins, x_axes, lines[:count], strict=False)])
    return rows, np.concatenate([frames[:1], frames])


def _to_tip(last: _Line, tip: Array) -> Sequence[_Line]:
    """The axes of the fixed rows that lead from the last joint to the tip."""
    place, goal = tip[:3, 3], _Line(tip[:3, 3], tip[:3, 2])
    sine = float(np.linalg.norm(np.cross(last.along, goal.along)))
    if sine < 1e-15 or (sine > _STEEP and _off(last, goal) < NEAR):
        return [goal]
    # of the two axes across the tip's z, at least one is far from parallel to the last joint's
    return [_Line(place, tip[:3, 0]), goal] if abs(last.along @ tip[:3, 0]) < 0.8 else [_Line(place, tip[:3, 1]), goal]


def _off(one: _Line, other: _Line) -> float:
    """How far the feet of the common normal of two lines that are not parallel are from their points [m]."""
    normal = _normal(one, other)
    return float(max(np.linalg.norm(normal.foot - one.point), np.linalg.norm(normal.other - other.point)))


def _normal(one: _Line, other: _Line) -> _Normal:
    """The common normal; of parallel lines the one through the point of the first."""
    cross = np.cross(one.along, other.along)
    sine, cosine, gap = float(np.linalg.norm(cross)), float(one.along @ other.along), other.point - one.point
    if sine >= PARALLEL:
        foot = one.point + one.along * (np.cross(gap, other.along) @ cross / sine**2)
        end = other.point + other.along * (np.cross(gap, one.along) @ cross / sine**2)
        return _Normal(foot, end, cross / sine, math.atan2(sine, cosine))
    across = gap - one.along * (gap @ one.along)
    length = float(np.linalg.norm(across))
    if length < 1e-9 * (1.0 + float(np.linalg.norm(gap))):  # one line: any direction across it
        across = np.eye(3)[int(np.abs(one.along).argmin())]
    across = across - one.along * (across @ one.along)
    across /= np.linalg.norm(across)
    foot_offset = across * (gap @ across)
    return _Normal(one.point, one.point + foot_offset, across, 0.0 if cosine > 0.0 else math.pi)


def _angle(one: Array, other: Array, axis: Array) -> float:
    """From one vector to another about an axis that is across both [rad]."""
    return math.atan2(float(np.cross(one, other) @ axis), float(one @ other))


def _frame(origin: Array, x: Array, z: Array) -> Array:
    frame = np.eye(4)
    frame[:3] = np.stack([x, np.cross(z, x), z, origin], axis=1)
    return frame
