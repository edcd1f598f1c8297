"""ant_state.py: what `AntOnSand-v0` shows with observation="state": torso, joints, loads and bed."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from granular_gym.base.types import Floats
from granular_gym.envs.ant_model import JOINTS, LEGS
from granular_gym.tasks.state_vector import Entry, StateVector

MAP = 6  # columns of the map along each side
HEIGHT, SPEED, TURNING, JOINT_SPEED, HILL = 0.3, 0.5, 3.0, 5.0, 0.05  # [m], [m/s], [rad/s], [rad/s], [m]


def _plain(name: str, meaning: str, count: int) -> Entry:
    return Entry(name, meaning, (1,) * count)


VECTOR = StateVector(
    [
        _plain("height", "of the torso over the level of the bed, 0.135 m [0.3 m]", 1),
        _plain("up", "the torso's z axis in the axes of the world", 3),
        _plain("heading", "cosine and sine of its yaw", 2),
        _plain("velocity", "of the torso along x, y, z of the world [0.5 m/s]", 3),
        _plain("turning", "its angular velocity in its own axes [3 rad/s]", 3),
        _plain("joints", "angles, -1 .. 1 over their range, hip and ankle of each leg", JOINTS),
        _plain("velocities", "of the joints [5 rad/s]", JOINTS),
        _plain("feet", "force of the grains on each shin along x, y, z of the world [weight of the robot]", 3 * LEGS),
        _plain(
            "bed",
            "height of the grains over squares of 0.24 m around the robot over their mean, rows from -y to y, each "
            "from -x to x [0.05 m]",
            MAP * MAP,
        ),
    ]
)


def axes_up(quaternions: Floats) -> Floats:
    """z axes (n, 3) of orientations w x y z (n, 4)."""
    w, x, y, z = quaternions.T
    return np.stack([2.0 * (x * z + w * y), 2.0 * (y * z - w * x), 1.0 - 2.0 * (x * x + y * y)], axis=1)


def yaws(quaternions: Floats) -> Floats:
    """Yaw (n,) of orientations w x y z (n, 4) [rad]."""
    w, x, y, z = quaternions.T
    result: Floats = np.arctan2(2.0 * (w * z + x * y), 1.0 - 2.0 * (y * y + z * z))
    return result


def state_of(
    *, height: Floats, quaternion: Floats, motion: Floats, joints: Floats, velocities: Floats, feet: Floats,
    heights: Floats, weight: float, middle: Floats, half_range: Floats,
) -> NDArray[np.float32]:  # fmt: skip
    """The vectors of n envs, (n, VECTOR.size).

    Args:
        height: (n,) of the torso over the level of the bed [m].
        quaternion: (n, 4) of the torso.
        motion: (n, 6) its velocity [m/s], and angular velocity in its own axes [rad/s].
        joints: (n, 8) [rad].
        velocities: (n, 8) [rad/s].
        feet: (n, 4, 3) force of the grains on each shin [N].
        heights: (n, MAP, MAP) of the bed [m].
        weight: of the robot [N].
        middle: (8,) of the joints' ranges [rad].
        half_range: (8,) half of them [rad].
    """
    yaw = yaws(quaternion)
    return VECTOR.joined(
        [
            height / HEIGHT,
            axes_up(quaternion),
            np.stack([np.cos(yaw), np.sin(yaw)], axis=1),
            motion[:, :3] / SPEED,
            motion[:, 3:] / TURNING,
            (joints - middle) / half_range,
            velocities / JOINT_SPEED,
            feet.reshape(len(feet), -1) / weight,
            ((heights - heights.mean(axis=(1, 2), keepdims=True)) / HILL).reshape(len(heights), -1),
        ]
    )
