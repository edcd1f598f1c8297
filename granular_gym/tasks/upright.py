"""upright.py: one description of a scene for spheres in space and for shapes in the plane.

A task with a plane of motion is described in x (along), y (across) and z (up). In a planar world y is up and z is
across: everything is turned about the x axis by a quarter.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from granular_gym.base.types import Floats
from granular_gym.engine.cameras import DepthCamera
from granular_gym.shapes.sdf import Sdf

#: takes z to y and y to -z
_TURN = (math.sqrt(0.5), -math.sqrt(0.5), 0.0, 0.0)


@dataclass(frozen=True)
class Upright:
    """How a scene stands in the world.

    Attributes:
        planar: the world is planar.
    """

    planar: bool

    def solid(self, solid: Sdf) -> Sdf:
        """A solid."""
        return solid.at(quaternion=_TURN) if self.planar else solid

    def points(self, points: Any) -> Floats:
        """Points (..., 3) x, y, z [m]."""
        array = np.asarray(points, np.float64)
        return np.stack([array[..., 0], array[..., 2], -array[..., 1]], axis=-1) if self.planar else array

    def box(self, lower: Any, upper: Any) -> tuple[Floats, Floats]:
        """Lower and upper corner of a box with these corners (..., 3) [m]."""
        one, other = self.points(lower), self.points(upper)
        return np.minimum(one, other), np.maximum(one, other)

    def orthographic(self, position: Any, target: Any, **kwargs: Any) -> DepthCamera:
        """`DepthCamera.orthographic` whose pictures have z up."""
        return DepthCamera.orthographic(**self._aim(position, target), **kwargs)

    def perspective(self, position: Any, target: Any, **kwargs: Any) -> DepthCamera:
        """`DepthCamera.perspective` whose pictures have z up."""
        return DepthCamera.perspective(**self._aim(position, target), **kwargs)

    def _aim(self, position: Any, target: Any) -> dict[str, Any]:
        up = self.points((0.0, 0.0, 1.0))
        return {"position": tuple(self.points(position)), "target": tuple(self.points(target)), "up": tuple(up)}
