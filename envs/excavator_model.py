"""excavator_model.py: the arm of the excavator as a model of MuJoCo, made from its description (`assets/panda.json`).

Frames, ranges of the joints and torques are those of the description. Masses of the links are about those that
Gaz et al., "Dynamic Identification of the Franka Emika Panda Robot With Retrieval of Feasible Parameters" (2019),
identified; their inertia is that of the capsules that the guard sees, evenly filled. The bucket and the inertia of the
rotors are ours. Motors carry the weight of the arm besides their torque limits, as the real controller does. Capsules
meet table, tray and bin; links meet no link.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from granular_gym.base.types import Floats
from granular_gym.errors import MissingError
from granular_gym.tasks.arm import Arm

try:
    import mujoco
except ImportError as error:  # pragma: no cover
    raise MissingError('ExcavatorForce needs MuJoCo: pip install "granular_gym[mujoco]"') from error

MASSES = (4.97, 0.65, 3.23, 3.59, 1.23, 1.67, 0.74)  # [kg] of the links 1 to 7
BUCKET_MASS = 1.0  # [kg]
ARMATURE = 0.3  # [kg m2] of the rotors, seen from the joints
#: [N m s/rad] torque of a joint per difference to the velocity that it is told
GAINS = np.array([400.0, 400.0, 400.0, 400.0, 100.0, 100.0, 100.0])
INTEGRAL = 10.0  # [1/s] torque per difference of angle over that per difference of velocity
#: how actions drive the joints
CONTROLS = ("velocity", "torque")


def names_of(arm: Arm) -> list[str]:
    """Names of the links that move: link1 .. link7, bucket."""
    return [*(f"link{frame}" for frame, _ in arm.shapes[1:-1]), "bucket"]


def excavator_model(arm: Arm, control: str, dt: float, tray: Floats, walls: Floats) -> Any:
    """The mujoco.MjModel.

    Args:
        arm: with the bucket; its base stands at the origin.
        control: one of CONTROLS: an actuator takes the velocity of its joint [rad/s], or the share of its torque limit.
        dt: time step [s].
        tray: walls, centre and half extents (n, 6) [m].
        walls: those of the bin about its middle, which is a mocap body.
    """
    description, bodies, depth = arm.description, [], 0
    rows = np.concatenate([description.rows, np.reshape(arm.tool.rows, (-1, 4))])
    capsules = {link.frame: link.capsules for link in description.links} | {len(rows): arm.tool.capsules}
    masses = dict(enumerate(MASSES, start=1)) | {len(rows): BUCKET_MASS}
    for frame, (a, alpha, d, theta) in enumerate(rows, start=1):
        place = (a, -math.sin(alpha) * d, math.cos(alpha) * d)
        about_x, about_z = (
            (math.cos(0.5 * alpha), math.sin(0.5 * alpha)),
            (math.cos(0.5 * theta), math.sin(0.5 * theta)),
        )
        turn = (
            about_x[0] * about_z[0],
            about_x[1] * about_z[0],
            -about_x[1] * about_z[1],
            about_x[0] * about_z[1],
        )
        name = "bucket" if frame == len(rows) else f"link{frame}"
        bodies.append(f'<body name="{name}" pos="{_text(place)}" quat="{_text(turn)}" gravcomp="1">')
        if frame <= description.joint_count:
            lower, upper = description.lower[frame - 1], description.upper[frame - 1]
            bodies.append(f'<joint name="joint{frame}" type="hinge" axis="0 0 1" range="{_text((lower, upper))}"/>')
        bodies += _geoms(capsules.get(frame, np.zeros((0, 7))), masses.get(frame, 0.0))
        depth += 1
    drives = [_drive(k + 1, control, float(torque), float(GAINS[k])) for k, torque in enumerate(description.torque)]
    boxes = ['<geom type="plane" size="3 3 1" class="still"/>', *_boxes(tray)]
    return mujoco.MjModel.from_xml_string(
        f"""<mujoco><compiler angle="radian" autolimits="true"/>
        <option timestep="{dt!r}" integrator="implicitfast"/>
        <default><joint armature="{ARMATURE!r}" limited="true"/><geom contype="1" conaffinity="2"/>
        <default class="still"><geom contype="2" conaffinity="1"/></default></default>
        <worldbody>{"".join(boxes)}<body name="bin" mocap="true">{"".join(_boxes(walls))}</body>
        {"".join(bodies)}{"</body>" * depth}</worldbody><actuator>{"".join(drives)}</actuator></mujoco>"""
    )


def lead(data: Any, velocities: Floats, torque: Floats) -> None:
    """Sets the references of the motors of an arm for the next control period.

    The activation of a motor is the angle it is drawn to, ahead of the reference by `velocities / INTEGRAL`: its torque
    is then proportional to the difference to the velocity and to the integral of it. That integral never asks for more
    than the limit, so that it is forgotten as soon as the load is.

    Args:
        data: mujoco.MjData; `ctrl` holds the velocities of the last control period.
        velocities: (7,) of the next one [rad/s].
        torque: (7,) limits [N m].
    """
    most = torque / (INTEGRAL * GAINS)
    reference = np.clip(data.act - data.ctrl / INTEGRAL, data.qpos - most, data.qpos + most)
    data.act[:] = reference + velocities / INTEGRAL


def _text(values: Sequence[float] | Floats) -> str:
    return " ".join(repr(float(value)) for value in values)


def _geoms(capsules: Floats, mass: float) -> list[str]:
    """Capsules that share a mass by their volumes; a sphere where the ends are one."""
    spans = np.linalg.norm(capsules[:, 3:6] - capsules[:, :3], axis=1)
    volumes = math.pi * capsules[:, 6] ** 2 * (spans + 4.0 / 3.0 * capsules[:, 6])
    geoms = []
    for row, span, share in zip(capsules, spans, mass * volumes / max(float(volumes.sum()), 1e-12), strict=True):
        shape = f'type="capsule" fromto="{_text(row[:6])}"' if span > 1e-6 else f'type="sphere" pos="{_text(row[:3])}"'
        geoms.append(f'<geom {shape} size="{float(row[6])!r}" mass="{float(share)!r}"/>')
    return geoms


def _boxes(table: Floats) -> list[str]:
    return [f'<geom type="box" pos="{_text(row[:3])}" size="{_text(row[3:])}" class="still"/>' for row in table]


def _drive(joint: int, control: str, torque: float, gain: float) -> str:
    if control == "torque":
        return f'<motor joint="joint{joint}" gear="{torque!r}" ctrlrange="-1 1"/>'
    return (
        f'<general joint="joint{joint}" dyntype="integrator" gainprm="{INTEGRAL * gain!r}" biastype="affine" '
        f'biasprm="0 {-INTEGRAL * gain!r} {-gain!r}" forcerange="{-torque!r} {torque!r}"/>'
    )
