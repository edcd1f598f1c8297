"""silo_parts.py: the silo's leaves and receiver as solids, and the camera that looks through its glass."""

from __future__ import annotations

import numpy as np

from granular_gym.base.rotations import from_matrix
from granular_gym.engine.cameras import DepthCamera
from granular_gym.shapes.sdf import Sdf
from granular_gym.tasks.hoppers import WALL
from granular_gym.tasks.upright import Upright

OUTLET_HEIGHT = 0.90  # [m] z of the hopper's lips
LEAF = 0.022  # [m] half thickness of a leaf of the gate; its nose is round
LEAF_LENGTH = 0.32  # [m]
RECEIVER = (0.5, 0.42)  # [m] half width and height inside
RECEIVER_FLOOR = 0.15  # [m] z inside


def side_camera(near: float, far: float, upright: Upright) -> DepthCamera:
    """A camera before the silo that sees what lies between two planes y = near and y = far [m]."""
    away, height = 2.0, 1.05
    return upright.orthographic(
        height=48,
        width=64,
        extent=height,
        position=(0.0, -away, height),
        target=(0.0, 0.0, height),
        near=away + near,
        far=away + max(far, 0.2),
    )


def leaf_solid(side: float, deep: float) -> Sdf:
    """The leaf of the gate on one side (-1: left), its round nose at x = 0 where the gate is closed.

    Args:
        side: -1 or 1.
        deep: half its size along y [m].
    """
    z = OUTLET_HEIGHT - LEAF
    plate = Sdf.box((0.5 * (LEAF_LENGTH - LEAF), deep, LEAF)).at((side * 0.5 * (LEAF_LENGTH + LEAF), 0.0, z))
    along_y = from_matrix(np.array([[1.0, 0.0, 0.0], [0.0, 0.0, 1.0], [0.0, -1.0, 0.0]]))
    return Sdf.union(plate, Sdf.cylinder(LEAF, deep).at((side * LEAF, 0.0, z), along_y))


def receiver_solid(deep: float) -> Sdf:
    """A trough, `deep` half its size along y [m]: floor and two end walls; the glass closes its sides."""
    half, height = RECEIVER
    floor = Sdf.box((half + WALL, deep, 0.5 * WALL)).at((0.0, 0.0, RECEIVER_FLOOR - 0.5 * WALL))
    ends = [
        Sdf.box((0.5 * WALL, deep, 0.5 * (height + WALL))).at(
            (side * (half + 0.5 * WALL), 0.0, RECEIVER_FLOOR + 0.5 * (height - WALL))
        )
        for side in (-1.0, 1.0)
    ]
    return Sdf.union(floor, *ends)
