"""point_clouds.py: the points that depth images show, batched, on the host or as torch tensors."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from granular_gym.base import checks, rotations
from granular_gym.engine.cameras import DepthCamera
from granular_gym.engine.outputs import kit_of
from granular_gym.errors import ArgumentError

Floats = NDArray[np.float32]


class PointCloud(NamedTuple):
    """What `World.point_cloud` returns.

    Attributes:
        points: (env_count, height * width, 3) float32 [m], a point for each pixel, row by row from the top.
        seen: (env_count, height * width) bool: the ray hit something between near and far; other points lie at `far`.
    """

    points: Any
    seen: Any


def rays(camera: DepthCamera, pose: Any = None) -> tuple[Floats, Floats]:
    """Where the rays of a camera begin and which way they go: depth d is at begin + d * way.

    Args:
        camera: the camera.
        pose: (7,) or (n, 7), x y z qw qx qy qz of what the camera is fixed to; None: points are in its frame.

    Returns:
        Both (height * width, 3), or (n, height * width, 3), float32 [m].
    """
    scale = 2.0 * camera.extent / camera.height
    x = scale * (np.arange(camera.width) + 0.5 - 0.5 * camera.width)
    y = scale * (np.arange(camera.height) + 0.5 - 0.5 * camera.height)
    across = np.stack([*(axis.ravel() for axis in np.meshgrid(x, y)), np.zeros(x.size * y.size)], axis=1)
    ahead = np.broadcast_to([0.0, 0.0, 1.0], across.shape)
    begin, way = (across, ahead) if camera.kind == "orthographic" else (np.zeros_like(across), across + ahead)
    frames = [np.array(camera.pose)]
    if pose is not None:
        frames.append(checks.floats("pose", pose, (7,), (None, 7)).astype(np.float64)[..., None, :])
    for frame in frames:
        begin = rotations.rotate(frame[..., 3:], begin) + frame[..., :3]
        way = rotations.rotate(frame[..., 3:], way)
    return begin.astype(np.float32), way.astype(np.float32)


def points_of(depth: Any, camera: DepthCamera, pose: Any = None) -> Any:
    """The points that depth images show.

    Args:
        depth: (..., height, width) [m] along the view of the camera, a NumPy array or a torch tensor, as `World.depth`
            gives it. Misses, which read `far`, become points at `far`: leave out those where depth >= camera.far.
        camera: that took the images.
        pose: (7,) x y z qw qx qy qz of the tool that the camera rides on, or (n, 7) for images (n, height, width).
            None: points are in the frame in which the camera's own pose is: the world, or that tool.

    Returns:
        (..., height * width, 3) float32 [m], row by row from the top, of the kind of `depth` and where it is.

    Raises:
        ArgumentError: images of another size than the camera's or of bytes, or a pose that is none.
    """
    checks.instance("camera", camera, DepthCamera)
    kit, size = kit_of(depth), (camera.height, camera.width)
    if kit is np:
        depth = checks.host_array(depth)
    if str(depth.dtype).rpartition(".")[2] == "uint8":
        raise ArgumentError('depth: expected metres, got uint8, shares of a range: read images with dtype="float32"')
    if tuple(depth.shape[-2:]) != size:
        raise ArgumentError(f"depth: expected images of {size[0]} x {size[1]} pixels, got shape {tuple(depth.shape)}")
    lines = rays(camera, pose)
    if lines[0].ndim == 3 and (depth.ndim != 3 or depth.shape[0] != len(lines[0])):
        raise ArgumentError(f"pose: expected one for each image of shape {tuple(depth.shape)}, got {len(lines[0])}")
    if kit is np:
        begin, way = lines
        depth = depth.astype(np.float32, copy=False)
    else:
        begin, way = (kit.from_numpy(each).to(depth.device) for each in lines)
        depth = depth.to(kit.float32)
    return begin + depth.reshape(*depth.shape[:-2], -1, 1) * way
