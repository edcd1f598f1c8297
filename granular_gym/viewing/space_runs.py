"""space_runs.py: what all experiments in space share: how their pictures are taken, and how lengths follow numbers."""

from __future__ import annotations

import abc
import math
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from granular_gym.engine.cameras import DepthCamera
from granular_gym.engine.solver import Solver
from granular_gym.viewing.scene_runs import SceneRun

Floats = NDArray[np.float64]
Point = tuple[float, float, float]

GRAVITY = 9.81
#: of pictures
HEIGHT, WIDTH = 480, 640


class SpaceRun(SceneRun, abc.ABC):
    """An experiment in space, seen in perspective.

    Attributes:
        eye: where the camera stands [m].
        target: what it looks at [m].
        fov: its vertical field of view [rad].
        up: what is upwards in its pictures.
    """

    solver: Solver = Solver()
    show_walls: ClassVar[bool] = False
    light: ClassVar[tuple[float, float, float]] = (0.3, -0.6, 0.8)
    eye: Point
    target: Point
    fov: float = 0.6
    up: ClassVar[Point] = (0.0, 0.0, 1.0)

    def camera(self) -> DepthCamera:
        return DepthCamera.perspective(
            height=HEIGHT,
            width=WIDTH,
            fov=self.fov,
            position=self.eye,
            target=self.target,
            up=self.up,
            far=50.0,
        )


def scaled(grains: int, of: int) -> float:
    """Lengths of an experiment with as many grains, over those with another number."""
    return math.pow(max(grains, 1) / of, 1.0 / 3.0)
