"""images.py: the depth images that tasks observe: their cameras, spaces and encoding; cameras for pictures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from gymnasium.spaces import Box

from granular_gym.base import checks
from granular_gym.engine.cameras import DepthCamera
from granular_gym.engine.outputs import cast, kit_of
from granular_gym.engine.point_clouds import points_of
from granular_gym.engine.readout import ImageRequest
from granular_gym.engine.scene import Scene
from granular_gym.tasks.depth_sensor import SensorNoise
from granular_gym.tasks.upright import Upright

POINTS = "points"  # the encoding of images as points


@dataclass(frozen=True)
class Image:
    """A depth image of the observation: what `camera` sees.

    Attributes:
        camera: its size and range are those of the image.
        tool: name of the tool that the camera rides on; None: it is fixed.
        drawn: the task draws the image itself, as if that camera had taken it.
        mirror_axis: along which the image turns round where the scene is mirrored, left for right, as that of the
            state vector: -1: along its rows, -2: along its columns; None: neither.
        floor: what reads `far` is the floor, a surface as others are, and not a miss.
    """

    camera: DepthCamera
    tool: str | None = None
    drawn: bool = False
    mirror_axis: int | None = None
    floor: bool = False

    @property
    def limits(self) -> tuple[float, float]:
        """Nearest and furthest depth [m]."""
        return self.camera.near, self.camera.far


class DepthImages:
    """The depth images of a task.

    Args:
        images: by name.
        encoding: "float32": (H, W) [m]; "uint8": (1, H, W), 0 near and 255 far, as learners want images; "points":
            (H W, 4), for each pixel the place [m] of what it shows, in the frame of what the camera is fixed to, and 1,
            or the place where its ray ends, and 0.
        noise: errors of what the cameras see; None: there are none. Images that the task draws have none.

    Raises:
        ArgumentError: another encoding.
    """

    def __init__(self, images: Mapping[str, Image], encoding: str, noise: SensorNoise | None = None) -> None:
        self.images = images
        self.noise = noise
        self.seen: list[str] = [name for name, image in images.items() if not image.drawn]
        self.encoding: str = checks.choice("depth", encoding, ["float32", "uint8", POINTS])
        #: what the engine reads: it makes bytes of what needs no other change
        self._read_as = "uint8" if encoding == "uint8" and noise is None else "float32"

    def spaces(self) -> dict[str, Box]:
        """The space of each image, by name."""
        return {name: self._space(image) for name, image in self.images.items()}

    def _space(self, image: Image) -> Box:
        camera = image.camera
        shape = camera.height, camera.width
        if self.encoding == "uint8":
            return Box(0, 255, (1, *shape), np.uint8)
        if self.encoding == POINTS:
            ends = np.stack([points_of(np.full(shape, depth, np.float32), camera) for depth in image.limits])
            # a point between the ends of a ray may be a rounding error beyond both
            slack = 1e-5 * (np.abs(ends).max() + camera.far)
            low, high = np.append(ends.min((0, 1)) - slack, 0.0), np.append(ends.max((0, 1)) + slack, 1.0)
            every = np.ones((shape[0] * shape[1], 1))
            return Box((every * low).astype(np.float32), (every * high).astype(np.float32), dtype=np.float32)
        return Box(*image.limits, shape, np.float32)

    def add_cameras(self, scene: Scene) -> None:
        """Adds the cameras of all images that the task does not draw itself."""
        for name in self.seen:
            scene.add_camera(self.images[name].camera, name=name, tool=self.images[name].tool)

    def requests(self) -> list[ImageRequest]:
        """What `World.request` takes to read what the cameras see."""
        return [(name, self.images[name].limits, self._read_as) for name in self.seen]

    def observed(self, images: Sequence[Any]) -> dict[str, Any]:
        """The images that were requested, in their order, as observations (env_count, ...) by name."""
        shown = {}
        for number, (name, depth) in enumerate(zip(self.seen, images, strict=True)):
            if self._read_as == "uint8":  # learners want bytes with a channel
                shown[name] = depth.reshape(depth.shape[0], 1, *depth.shape[1:])
            elif self.noise is None:
                shown[name] = self._points(name, depth) if self.encoding == POINTS else depth
            else:
                image = self.images[name]
                shown[name] = self.encode(name, *self.noise.measured(depth, number, image.limits, image.floor))
        return shown

    def encode(self, name: str, depth: Any, lost: Any = None) -> Any:
        """Depth images (n, H, W) [m] as the observation `name` shows them.

        Args:
            name: of the image.
            depth: NumPy array or torch tensor; what the task drew, or a sensor measured.
            lost: (n, H, W) pixels that the sensor lost; None: none.
        """
        kit, (near, far) = kit_of(depth), self.images[name].limits
        if self.encoding == "uint8":
            shares = kit.clip((depth[:, None] - near) / (far - near), 0.0, 1.0)
            return cast(kit.round(shares * 255.0), "uint8")
        clipped = kit.clip(depth, near, far)
        return self._points(name, clipped, lost) if self.encoding == POINTS else clipped

    def _points(self, name: str, depth: Any, lost: Any = None) -> Any:
        """Depth images (n, H, W) within their limits as points (n, H W, 4)."""
        image, kit = self.images[name], kit_of(depth)
        seen = depth < image.camera.far
        if image.floor:
            seen = seen | True if lost is None else ~lost
        marks = cast(seen.reshape(len(depth), -1, 1), "float32")
        return kit.concatenate((points_of(depth, image.camera), marks), -1)


def sky_camera(height: int, width: int, extent: float, altitude: float, near: float = 0.0) -> DepthCamera:
    """A camera over the middle of the field; row 0 is its upper y edge, the floor reads `altitude`.

    Args:
        height: rows [pixels].
        width: columns [pixels].
        extent: half the height of the view [m].
        altitude: of the camera over the floor [m].
        near: nothing nearer is seen [m].
    """
    return DepthCamera.orthographic(
        height=height,
        width=width,
        extent=extent,
        position=(0.0, 0.0, altitude),
        target=(0.0, 0.0, 0.0),
        up=(0.0, 1.0, 0.0),
        near=near,
        far=altitude,
    )


def view_camera(
    position: Any, target: Any, *, fov: float = 0.62, shape: tuple[int, int] = (480, 640), near: float = 0.1,
    far: float = 20.0, upright: Upright = Upright(False),  # noqa: B008
) -> DepthCamera:  # fmt: skip
    """A perspective camera for pictures.

    Args:
        position: of the camera [m].
        target: what is in the middle of the picture [m].
        fov: vertical field of view [rad].
        shape: rows and columns [pixels].
        near: nothing nearer is seen [m].
        far: nothing further is seen [m].
        upright: how the scene stands in the world.
    """
    return upright.perspective(
        height=shape[0], width=shape[1], fov=fov, position=position, target=target, near=near, far=far
    )
