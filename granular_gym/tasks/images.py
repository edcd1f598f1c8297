"""images.py: the depth images that tasks observe: their cameras, spaces and encoding; cameras for pictures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from gymnasium.spaces import Box
from numpy.typing import NDArray

from granular_gym.base import checks
from granular_gym.base.types import Floats
from granular_gym.engine.cameras import DepthCamera
from granular_gym.engine.readout import ImageRequest
from granular_gym.engine.scene import Scene
from granular_gym.tasks.upright import Upright


@dataclass(frozen=True)
class Image:
    """A depth image of the observation: what `camera` sees.

    Attributes:
        camera: its size and range are those of the image.
        tool: name of the tool that the camera rides on; None: it is fixed.
        drawn: the task draws the image itself, as if that camera had taken it.
        mirror_axis: along which the image turns round where the scene is mirrored, left for right, as that of the
            state vector: -1: along its rows, -2: along its columns; None: neither.
    """

    camera: DepthCamera
    tool: str | None = None
    drawn: bool = False
    mirror_axis: int | None = None

    @property
    def limits(self) -> tuple[float, float]:
        """Nearest and furthest depth [m]."""
        return self.camera.near, self.camera.far


class DepthImages:
    """The depth images of a task.

    Args:
        images: by name.
        encoding: "float32": (H, W) [m]; "uint8": (1, H, W), 0 near and 255 far, as learners want images.

    Raises:
        ArgumentError: another encoding.
    """

    def __init__(self, images: Mapping[str, Image], encoding: str) -> None:
        self.images = images
        self.seen: list[str] = [name for name, image in images.items() if not image.drawn]
        self.encoding: str = checks.choice("depth", encoding, ["float32", "uint8"])

    def spaces(self) -> dict[str, Box]:
        """The space of each image, by name."""
        return {name: self._space(image) for name, image in self.images.items()}

    def _space(self, image: Image) -> Box:
        shape = image.camera.height, image.camera.width
        if self.encoding == "uint8":
            return Box(0, 255, (1, *shape), np.uint8)
        return Box(*image.limits, shape, np.float32)

    def add_cameras(self, scene: Scene) -> None:
        """Adds the cameras of all images that the task does not draw itself."""
        for name in self.seen:
            scene.add_camera(self.images[name].camera, name=name, tool=self.images[name].tool)

    def requests(self) -> list[ImageRequest]:
        """What `World.request` takes to read what the cameras see."""
        return [(name, self.images[name].limits, self.encoding) for name in self.seen]

    def observed(self, images: Sequence[Any]) -> dict[str, Any]:
        """The images that were requested, in their order, as observations (env_count, ...) by name."""
        return {name: self._with_channel(depth) for name, depth in zip(self.seen, images, strict=True)}

    def _with_channel(self, depth: Any) -> Any:
        # learners want bytes with a channel
        return depth if self.encoding == "float32" else depth.reshape(depth.shape[0], 1, *depth.shape[1:])

    def encode(self, name: str, depth: Floats) -> NDArray[Any]:
        """Depth images that the task drew, (n, H, W) [m], as the observation `name` shows them."""
        near, far = self.images[name].limits
        if self.encoding == "float32":
            return np.clip(depth, np.float32(near), np.float32(far))
        result: NDArray[Any] = np.rint(np.clip((depth[:, None] - near) / (far - near), 0.0, 1.0) * 255.0).astype(
            np.uint8
        )
        return result


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
