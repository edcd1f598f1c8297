"""cameras.py: pinhole cameras, as projections and as depth cameras of the engine.

The camera frame is that of the engine: +x to the right of the image, +y down, +z along the view. Pixel (row, column)
has its centre at (column + 0.5, row + 0.5) of the image plane, the axis meets it in the middle of the image.
"""

from __future__ import annotations

import dataclasses
import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from granular_gym.base import checks, rotations
from granular_gym.engine.cameras import DepthCamera
from granular_gym.errors import ArgumentError, DatasetError

Floats = NDArray[np.float64]

#: colour where nothing is seen, 0 .. 255
BACKGROUND = (190, 205, 220)


@dataclasses.dataclass(frozen=True, eq=False)
class PinholeCamera:
    """A calibrated camera.

    Attributes:
        height: rows [pixels].
        width: columns [pixels].
        focal: focal length [pixels]; pixels are square.
        world_to_camera: (4, 4) rigid motion from the world to the camera frame, float64.
        near: nothing nearer is seen [m].
        far: nothing further is seen, and what a miss reads [m].

    Raises:
        ArgumentError: a value out of range, or a matrix that is not a rigid motion.
    """

    height: int
    width: int
    focal: float
    world_to_camera: Floats
    near: float
    far: float

    def __post_init__(self) -> None:
        checks.integer("height", self.height, 1, 16384)
        checks.integer("width", self.width, 1, 16384)
        checks.number("focal", self.focal, 0.0, above=True)
        checks.number("near", self.near, 0.0, above=True)
        if not checks.number("far", self.far, 0.0) > self.near:
            raise ArgumentError(f"far: expected more than near = {self.near}, got {self.far}")
        matrix = checks.doubles("world_to_camera", self.world_to_camera, (4, 4))
        turn = matrix[:3, :3]
        error = max(
            np.abs(turn @ turn.T - np.eye(3)).max(),
            np.abs(matrix[3] - (0, 0, 0, 1)).max(),
            abs(np.linalg.det(turn) - 1),
        )
        if error > 1e-4:
            raise ArgumentError(f"world_to_camera: expected a rigid motion, got a matrix {error:.2g} from the nearest")
        object.__setattr__(self, "world_to_camera", matrix)

    @classmethod
    def of(cls, camera: DepthCamera) -> PinholeCamera:
        """The same camera as one of the engine, which must be a perspective one."""
        if camera.kind != "perspective":
            raise ArgumentError(f"camera: expected a perspective camera, got {camera!r}")
        turn = rotations.rotate(np.array(camera.pose[3:])[None], np.eye(3)).T
        matrix = np.eye(4)
        matrix[:3, :3] = turn.T
        matrix[:3, 3] = -turn.T @ np.array(camera.pose[:3])
        focal = 0.5 * camera.height / camera.extent
        return cls(camera.height, camera.width, focal, matrix, camera.near, camera.far)

    @property
    def position(self) -> Floats:
        """Where the camera stands (3,) [m]."""
        result: Floats = -self.world_to_camera[:3, :3].T @ self.world_to_camera[:3, 3]
        return result

    def depth_camera(self) -> DepthCamera:
        """The same camera for a scene of the engine."""
        turn = rotations.from_matrix(self.world_to_camera[:3, :3].T)
        pose = (*map(float, self.position), *map(float, turn))
        extent = 0.5 * self.height / self.focal
        return DepthCamera("perspective", self.height, self.width, extent, self.near, self.far, pose)

    def project(self, points: Any) -> tuple[Floats, Floats]:
        """Where points are seen.

        Args:
            points: (..., 3) in the world [m].

        Returns:
            Image coordinates (..., 2), column and row [pixels], and depth along the view (...) [m]. Points with no
            depth have coordinates that are not finite.
        """
        local = np.asarray(points, np.float64) @ self.world_to_camera[:3, :3].T + self.world_to_camera[:3, 3]
        depth = local[..., 2]
        with np.errstate(divide="ignore", invalid="ignore"):
            image = self.focal * local[..., :2] / depth[..., None] + (0.5 * self.width, 0.5 * self.height)
        return image, depth

    def unproject(self, depth: Any) -> Floats:
        """Points (height, width, 3) in the world whose depths along the view are (height, width) [m]."""
        deep = checks.doubles("depth", depth, (self.height, self.width))
        columns = (np.arange(self.width) + 0.5 - 0.5 * self.width) / self.focal
        rows = (np.arange(self.height) + 0.5 - 0.5 * self.height) / self.focal
        local = np.stack([columns[None] * deep, rows[:, None] * deep, deep], axis=-1)
        result: Floats = (local - self.world_to_camera[:3, 3]) @ self.world_to_camera[:3, :3]
        return result

    def to_json(self) -> dict[str, Any]:
        """The calibration as numbers and lists."""
        return {**dataclasses.asdict(self), "world_to_camera": self.world_to_camera.tolist()}

    @classmethod
    def from_json(cls, name: str, value: Any) -> PinholeCamera:
        """The inverse of `to_json`.

        Args:
            name: of the camera in messages.
            value: what was read.

        Raises:
            DatasetError: fields are missing or unknown, or out of range.
        """
        fields = [field.name for field in dataclasses.fields(cls)]
        if not isinstance(value, dict) or sorted(value) != sorted(fields):
            got = sorted(value) if isinstance(value, dict) else value
            raise DatasetError(f"{name}: expected the calibration {sorted(fields)}, got {got!r}")
        try:
            return cls(**value)
        except ArgumentError as error:
            raise DatasetError(f"{name}: {error}") from error


def around(bounds: Any, count: int = 4, pixels: int = 64, fov: float = 0.75) -> list[PinholeCamera]:
    """Cameras on a circle around a box that look slightly down at its lower half; they miss the corners of its floor.

    Args:
        bounds: (2, 3) of the box [m].
        count: of cameras, the first at 45 degrees between +x and +y.
        pixels: height and width of the images.
        fov: field of view [rad].
    """
    corners = checks.doubles("bounds", bounds, (2, 3))
    half = 0.5 * float((corners[1] - corners[0])[:2].max())
    center = corners.mean(axis=0)
    center[2] = corners[0, 2] + 0.45 * half
    away = 1.15 * half / math.tan(0.5 * fov) + 0.3 * half
    cameras = []
    for number in range(checks.integer("count", count, 1, 64)):
        angle = 2.0 * math.pi * (number + 0.5) / count if count > 1 else 0.25 * math.pi
        offset = np.array([math.cos(angle) * math.cos(0.45), math.sin(angle) * math.cos(0.45), math.sin(0.45)])
        camera = DepthCamera.perspective(
            height=pixels,
            width=pixels,
            fov=fov,
            position=center + away * offset,
            target=center,
            near=round(0.1 * away, 3),
            far=round(2.5 * away, 3),
        )
        cameras.append(PinholeCamera.of(camera))
    return cameras
