"""arms.py: robots of our own making as URDF and MJCF files, for tests of what reads them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np


@dataclass
class Part:
    """A link behind a joint, which carries one capsule.

    Attributes:
        place: of its frame in that of the link before [m].
        turn: roll, pitch, yaw, about axes that stand still [rad].
        axis: of the joint in its frame.
        capsule: place, turn, radius and length between the ends; the length of 0 is a sphere.
        kind: of the joint.
        limits: lower, upper [rad], velocity [rad/s], effort [N m].
        more: XML of more shapes in its frame, in the format of the file.
    """

    place: Sequence[float]
    turn: Sequence[float]
    axis: Sequence[float] = (0.0, 0.0, 1.0)
    capsule: tuple[Sequence[float], Sequence[float], float, float] = ((0, 0, 0.1), (0, 0, 0), 0.03, 0.1)
    kind: str = "revolute"
    limits: tuple[float, float, float, float] = (-3.0, 3.0, 2.0, 50.0)
    more: str = ""
    name: str = field(default="")


def random_parts(count: int, seed: int, *, square: bool = False) -> list[Part]:
    """Joints anywhere; `square`: axes and offsets along x, y, z, so that many are parallel, meet or are one line."""
    draw, parts = np.random.default_rng(seed), []
    for _ in range(count):
        if square:
            place = draw.integers(-1, 2, 3) * draw.choice([0.1, 0.25])
            turn, axis = 0.5 * math.pi * draw.integers(-1, 3, 3), np.eye(3)[draw.integers(3)] * draw.choice([-1.0, 2.0])
        else:
            place, turn, axis = draw.uniform(-0.4, 0.4, 3), draw.uniform(-3.0, 3.0, 3), draw.normal(size=3)
        capsule = (draw.uniform(-0.2, 0.2, 3), draw.uniform(-3, 3, 3), 0.02, draw.uniform(0.01, 0.2))
        parts.append(Part(place, turn, axis, capsule))
    return parts


def text(values: Sequence[float]) -> str:
    """Numbers as XML has them, to the bit."""
    return " ".join(repr(float(value)) for value in values)


def urdf(parts: Sequence[Part], tip: tuple[Sequence[float], Sequence[float]] = ((0, 0, 0), (0, 0, 0))) -> str:
    """Links base, link1, link2 ..., and tip, which is fixed; MuJoCo reads it with its frames as they are."""
    out = [
        '<robot name="test"><mujoco><compiler fusestatic="false"/></mujoco>',
        f'<link name="base">{_sphere()}</link>',
    ]
    before = "base"
    for k, part in enumerate(parts, 1):
        name = part.name or f"link{k}"
        place, turn, radius, length = part.capsule
        shape = (
            f'<collision><origin xyz="{text(place)}" rpy="{text(turn)}"/><geometry>'
            f'<capsule radius="{radius!r}" length="{float(length)!r}"/></geometry></collision>'
        )
        lower, upper, speed, effort = part.limits
        out.append(f'<link name="{name}">{_MASS}{shape}{part.more}</link>')
        out.append(
            f'<joint name="joint{k}" type="{part.kind}"><parent link="{before}"/><child link="{name}"/>'
            f'<origin xyz="{text(part.place)}" rpy="{text(part.turn)}"/><axis xyz="{text(part.axis)}"/>'
            f'<limit lower="{lower!r}" upper="{upper!r}" velocity="{speed!r}" effort="{effort!r}"/></joint>'
        )
        before = name
    out.append(f'<link name="tip">{_MASS}</link><joint name="flange" type="fixed"><parent link="{before}"/>')
    out.append(f'<child link="tip"/><origin xyz="{text(tip[0])}" rpy="{text(tip[1])}"/></joint></robot>')
    return "\n".join(out)


def mjcf(
    parts: Sequence[Part],
    tip: tuple[Sequence[float], Sequence[float]] = ((0, 0, 0), (0, 0, 0)),
    *,
    drawn: Sequence[float] | None = None,
    anchors: Sequence[Sequence[float]] | None = None,
    more: str = "",
) -> str:
    """The same robot; `drawn`: angles in which the file draws it; `anchors`: points of the axes; `more`: sections."""
    out = ['<mujoco><compiler angle="radian" eulerseq="XYZ"/><worldbody><body name="base">']
    for k, part in enumerate(parts, 1):
        place, turn, radius, length = part.capsule
        lower, upper, _, effort = part.limits
        ref = f'ref="{float(drawn[k - 1])!r}"' if drawn is not None else ""
        anchor = f'pos="{text(anchors[k - 1])}"' if anchors is not None else ""
        out.append(
            f'<body name="{part.name or f"link{k}"}" pos="{text(part.place)}" euler="{text(part.turn)}">'
            f'<joint name="joint{k}" axis="{text(part.axis)}" range="{lower!r} {upper!r}" {anchor} {ref} '
            f'actuatorfrcrange="{-effort!r} {effort!r}"/>'
            f'<geom type="capsule" pos="{text(place)}" euler="{text(turn)}" size="{radius!r} {0.5 * length!r}"/>'
            f"{part.more}"
        )
    out.append(f'<body name="tip" pos="{text(tip[0])}" euler="{text(tip[1])}"/>')
    return "\n".join(out) + "</body>" * (len(parts) + 1) + f"</worldbody>{more}</mujoco>"


_MASS = '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>'


def _sphere() -> str:
    return '<collision><geometry><sphere radius="0.05"/></geometry></collision>'
