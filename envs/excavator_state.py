"""excavator_state.py: what `Excavator-v1` shows with observation="state": arm, bucket, bed and bin."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from granular_gym.arms.description import ArmDescription
from granular_gym.base.types import Floats
from granular_gym.tasks.heights import HeightGrid, sampled
from granular_gym.tasks.state_vector import Entry, StateVector, mirrored_map

CELL, MARGIN = 0.05, 2  # [m] side of a column; columns round the tray that catch what lies beside it
LIP = (0.078, 0.0, 0.157)  # [m] in the bucket's frame
#: middle and half extents of what the bucket holds, in its frame [m]
INSIDE = (0.010, 0.0, 0.105), (0.075, 0.064, 0.055)
BED = 0.06  # [m] mean height of the bed
TURNS = (-1, 1, -1, 1, -1, 1, -1)  # what the mirror does to the joints of the arm

VECTOR = StateVector(
    [
        Entry("joints", "angles, -1 .. 1 over their range", TURNS),
        Entry("velocities", "of the joints over the largest", TURNS),
        Entry("mouth", "the bucket's x axis, along which its mouth opens", (1, -1, 1)),
        Entry("floor", "its z axis, from the flange to its floor", (1, -1, 1)),
        Entry("lip over the tray", "x, y from the tray's middle, z over the table [0.3 m]", (1, -1, 1)),
        Entry("lip over the bin", "x, y from the bin's middle, z over its walls [0.3 m]", (1, -1, 1)),
        Entry("lip over the bed", "height over the bed below it, or the nearest, clipped [0.1 m]", (1,)),
        Entry("bin", "x, y of its middle from the arm's base [0.5 m]", (1, -1)),
        Entry("force", "of the grains on the bucket, in its frame [20 N]", (1, -1, 1)),
        Entry("torque", "likewise [2 N m]", (-1, 1, -1)),
        Entry("load", "largest joint torque that holds them over the joint's limit", (1,)),
        Entry("in the bucket", "share of the grains [0.05]", (1,)),
        Entry("in the bin", "share [0.1]", (1,)),
        Entry("on the table", "share [0.02]", (1,)),
        Entry("lifted", "share [0.05]", (1,)),
        mirrored_map(
            "bed",
            "height of the grains over columns of the tray of 5 cm, what the bucket holds there among them, near side "
            "of the tray first, each from its right (-y) to its left, -1: none, 0: 0.06 m",
            (8, 6),
        ),
    ],
    action_signs=TURNS,
)  # fmt: skip


def tray_grid(tray: tuple[float, float, float, float]) -> HeightGrid:
    """Columns over a tray (middle x, y and half lengths [m]) and MARGIN more on each side."""
    x, y, half_x, half_y = tray
    reach = MARGIN * CELL
    shape = (round(2.0 * half_y / CELL) + 2 * MARGIN, round(2.0 * half_x / CELL) + 2 * MARGIN)
    lower, upper = (x - half_x - reach, y - half_y - reach), (x + half_x + reach, y + half_y + reach)
    return HeightGrid(lower, upper, shape)


def axes_of(bucket: Floats) -> tuple[Floats, Floats, Floats]:
    """x, y and z axes (n, 3) of frames x y z qw qx qy qz (n, 7)."""
    w, x, y, z = bucket[:, 3:].T
    return (
        np.stack([1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y + w * z), 2.0 * (x * z - w * y)], axis=1),
        np.stack([2.0 * (x * y - w * z), 1.0 - 2.0 * (x * x + z * z), 2.0 * (y * z + w * x)], axis=1),
        np.stack([2.0 * (x * z + w * y), 2.0 * (y * z - w * x), 1.0 - 2.0 * (x * x + y * y)], axis=1),
    )


def point_of(bucket: Floats, point: tuple[float, float, float]) -> Floats:
    """A point of the buckets' frames in the world (n, 3) [m]."""
    x, y, z = axes_of(bucket)
    result: Floats = bucket[:, :3] + point[0] * x + point[1] * y + point[2] * z
    return result


def inside_boxes(bucket: Floats) -> NDArray[np.float32]:
    """The insides of buckets as turned boxes (n, 1, 10)."""
    half = np.broadcast_to(INSIDE[1], (len(bucket), 3))
    return np.concatenate([point_of(bucket, INSIDE[0]), bucket[:, 3:], half], axis=1)[:, None].astype(np.float32)


def state_of(
    grid: HeightGrid,
    arm: ArmDescription,
    *,
    joints: Floats,
    velocities: Floats,
    bucket: Floats,
    tray: tuple[float, float],
    bins: Floats,
    bin_height: float,
    wrench: Floats,
    load: Floats,
    held: Floats,
    shares: Floats,
    heights: Floats,
) -> NDArray[np.float32]:
    """The vectors of n envs, (n, VECTOR.size).

    Args:
        grid: of `heights`, from `tray_grid`.
        arm: its limits.
        joints: (n, 7) [rad].
        velocities: (n, 7) [rad/s].
        bucket: (n, 7) x y z [m] qw qx qy qz.
        tray: x, y of its middle [m].
        bins: (n, 2) x, y of their middles [m].
        bin_height: of its walls [m].
        wrench: (n, 6) of the grains on the bucket in its frame [N, N m].
        load: (n,) largest joint torque over its limit.
        held: (n,) share of the grains in the bucket.
        shares: (n, 3) in the bin, on the table, lifted.
        heights: (n, rows, columns) of the bed [m].
    """
    lip = point_of(bucket, LIP)
    mouth, _, floor = axes_of(bucket)
    below = sampled(grid, heights, lip[:, :1], lip[:, 1:2])[:, 0]
    inner = heights[:, MARGIN:-MARGIN, MARGIN:-MARGIN]
    return VECTOR.joined(
        [
            (2.0 * joints - arm.lower - arm.upper) / (arm.upper - arm.lower),
            velocities / arm.speed,
            mouth,
            floor,
            (lip - np.array([*tray, 0.0])) / 0.3,
            np.concatenate([lip[:, :2] - bins, lip[:, 2:] - bin_height], axis=1) / 0.3,
            (lip[:, 2] - below) / 0.1,
            bins / 0.5,
            wrench[:, :3] / 20.0,
            wrench[:, 3:] / 2.0,
            load,
            held / 0.05,
            shares / (0.1, 0.02, 0.05),
            inner.transpose(0, 2, 1).reshape(len(lip), -1) / BED - 1.0,
        ]
    )
