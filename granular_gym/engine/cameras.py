"""cameras.py: what a depth camera is: a picture size, a projection and a pose.

The camera frame has +x to the right of the image, +y down and +z along the view. Depth is measured along +z [m]; a ray
that hits nothing between near and far reads exactly `far`.
"""

from __future__ import annotations

import dataclasses
import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from granular_gym.base import checks, rotations
from granular_gym.errors import ArgumentError

#: values of gg_camera_kind
_KINDS = {"perspective": 1, "orthographic": 2}
LARGEST_SIDE = 16384


@dataclasses.dataclass(frozen=True)
class DepthCamera:
    """A camera; made by `perspective` or `orthographic`.

    Attributes:
        kind: "perspective" or "orthographic".
        height: rows [pixels].
        width: columns [pixels]; pixels are square.
        extent: tangent of half the vertical field of view, or half the height of the view [m].
        near: nothing nearer is seen [m].
        far: nothing further is seen, and what a miss reads [m].
        pose: x y z qw qx qy qz of the camera frame, in the world or in the tool it rides on.
    """

    kind: str
    height: int
    width: int
    extent: float
    near: float
    far: float
    pose: tuple[float, ...]

    def __post_init__(self) -> None:
        checks.choice("kind", self.kind, list(_KINDS))
        checks.integer("height", self.height, 1, LARGEST_SIDE)
        checks.integer("width", self.width, 1, LARGEST_SIDE)
        checks.number("extent", self.extent, 0.0, above=True)
        checks.number("near", self.near, 0.0, above=self.kind == "perspective")
        checks.number("far", self.far, 0.0, above=True)
        if not self.far > self.near:
            raise ArgumentError(f"far: expected more than near = {self.near}, got {self.far}")
        object.__setattr__(self, "pose", tuple(float(x) for x in checks.pose("pose", self.pose)))

    @classmethod
    def perspective(
        cls,
        *,
        height: int,
        width: int,
        fov: float = 1.0,
        position: Any = None,
        target: Any = None,
        up: Any = None,
        pose: Any = None,
        near: float = 0.01,
        far: float = 10.0,
    ) -> DepthCamera:
        """A pinhole camera.

        Args:
            height: rows [pixels].
            width: columns [pixels].
            fov: vertical field of view [rad], in (0, 3.1].
            position: where the camera stands [m].
            target: the point it looks at [m].
            up: direction that is up in the image; by default +z, or +y for a camera that looks straight up or down.
            pose: x y z qw qx qy qz of the camera frame instead of position, target and up.
            near: nothing nearer is seen [m].
            far: nothing further is seen [m].
        """
        angle = checks.number("fov", fov, 0.0, 3.1, above=True)
        full = _pose(position, target, up, pose)
        return cls("perspective", height, width, math.tan(0.5 * angle), near, far, full)

    @classmethod
    def orthographic(
        cls,
        *,
        height: int,
        width: int,
        extent: float,
        position: Any = None,
        target: Any = None,
        up: Any = None,
        pose: Any = None,
        near: float = 0.0,
        far: float = 10.0,
    ) -> DepthCamera:
        """A camera with parallel rays.

        Args:
            height: rows [pixels].
            width: columns [pixels].
            extent: half the height of the view [m].
            position: centre of the view, where depth is 0 [m].
            target: the point it looks at [m].
            up: direction that is up in the image; by default +z, or +y for a camera that looks straight up or down.
            pose: x y z qw qx qy qz of the camera frame instead of position, target and up.
            near: nothing nearer is seen [m].
            far: nothing further is seen [m].
        """
        return cls("orthographic", height, width, extent, near, far, _pose(position, target, up, pose))

    def __repr__(self) -> str:
        """Size, projection, range, position and direction of view; lengths in metres."""
        place, view = ([round(float(x), 3) + 0.0 for x in vector] for vector in (self.pose[:3], self.forward))
        return (
            f"DepthCamera({self.kind}, {self.height} x {self.width}, extent {self.extent:.4g}, "
            f"{self.near:g} .. {self.far:g} m, at {place}, towards {view})"
        )

    @property
    def forward(self) -> NDArray[np.float64]:
        """Direction of view (3,), in the world or in the tool."""
        return rotations.rotate(np.array(self.pose[3:]), np.array([0.0, 0.0, 1.0]))

    def integers(self, tool: int = -1) -> NDArray[np.int32]:
        """The row of integers the engine takes: kind, height, width, tool."""
        return np.array([_KINDS[self.kind], self.height, self.width, tool], np.int32)

    def floats(self) -> NDArray[np.float32]:
        """The row of floats the engine takes: pose, extent, near, far."""
        return np.array([*self.pose, self.extent, self.near, self.far], np.float32)


def look_at(position: Any, target: Any, up: Any = None) -> tuple[float, ...]:
    """Pose x y z qw qx qy qz of a camera frame at `position` that looks at `target`.

    Args:
        position: (3,) [m].
        target: (3,) [m], not the position.
        up: (3,) direction that is up in the image; by default +z, or +y for a view straight up or down.
    """
    start = checks.vector("position", position).astype(np.float64)
    forward = checks.vector("target", target).astype(np.float64) - start
    length = float(np.linalg.norm(forward))
    if length < 1e-9:
        raise ArgumentError(f"target: expected a point other than position, got {target!r}")
    forward /= length
    if up is None:
        upward = np.array([0.0, 0.0, 1.0]) if abs(forward[2]) < 0.9999 else np.array([0.0, 1.0, 0.0])
    else:
        upward = checks.vector("up", up).astype(np.float64)
    right = np.cross(forward, upward)
    if float(np.linalg.norm(right)) < 1e-6 * max(float(np.linalg.norm(upward)), 1e-9):
        raise ArgumentError(f"up: expected a direction that is not along the view, got {up!r}")
    right /= np.linalg.norm(right)
    down = np.cross(forward, right)
    rotation = rotations.from_matrix(np.stack([right, down, forward], axis=1))
    return (*map(float, start), *map(float, rotation))


def _pose(position: Any, target: Any, up: Any, pose: Any) -> tuple[float, ...]:
    if pose is not None:
        if position is not None or target is not None or up is not None:
            raise ArgumentError("pose: expected either a pose or position and target, got both")
        return tuple(float(x) for x in checks.pose("pose", pose))
    if position is None or target is None:
        raise ArgumentError("position: expected position and target, or a pose")
    return look_at(position, target, up)
