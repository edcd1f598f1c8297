"""features.py: what a learner observes: a short vector computed from the observation of a task.

A small network on a CPU learns faster from a few dozen numbers than from thousands of pixels, and a replay buffer of
them is small. Images are averaged over blocks; the bulldozer's sky camera is read further, see `Bulldozer`. Nothing
enters that is not in the observation or, for the goal box of Bulldozer-v0, in the info.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from granular_gym.base.types import Arrays, Floats
from granular_gym.errors import ArgumentError
from granular_gym.tasks.registry import bare_id, entry_of, loaded
from granular_gym.tasks.state_vector import NAME as STATE
from granular_gym.tasks.vision import GRAIN, RGB, SEGMENTATION, TOOL
from granular_gym.training.rows import Rows, record_kind, records

BLOCKS = 6  # an image is averaged over so many blocks along each side
SKY_FAR = 3.0  # [m] depth of the floor below the bulldozer's sky camera
SKY_HALF = (4.0, 2.0)  # [m] half of the field it sees
VEHICLE = (-0.50, 0.62, 0.52)  # [m] rear, front, half width of what hides the grains below the vehicle
DEPTHS = ("ego", "sky")  # images of the bulldozer that its features read on their own
THIN = 0.03  # [m] lower heights are noise of the image

#: info of one env
Info = dict[str, Any]


def averaged(images: NDArray[Any]) -> Floats:
    """Images (n, 1, H, W) or (n, H, W) of 0 .. 255 averaged over BLOCKS x BLOCKS blocks, in [-1, 1]: (n, BLOCKS^2)."""
    values: Floats = images.reshape(images.shape[0], *images.shape[-2:]).astype(np.float32)
    for axis, size in ((1, values.shape[1]), (2, values.shape[2])):
        starts = np.linspace(0, size, BLOCKS + 1).astype(int)[:-1]
        counts = np.diff(np.append(starts, size)).astype(np.float32)
        shape = [-1 if k == axis else 1 for k in range(3)]
        values = np.add.reduceat(values, starts, axis=axis) / counts.reshape(shape)
    return values.reshape(len(values), -1) / 127.5 - 1.0


def averages(name: str, images: NDArray[Any]) -> list[Floats]:
    """What is averaged of an image of bytes: depth itself, the channels of colours, where grains and where tools are.

    Args:
        name: of the image in the observation.
        images: (n, ...) uint8, of colours with their channels first.
    """
    planes = [images]
    if name.endswith(f"_{RGB}"):
        planes = list(np.moveaxis(images, 1, 0))
    elif name.endswith(f"_{SEGMENTATION}"):
        planes = [255.0 * (images == GRAIN), 255.0 * (images >= TOOL)]
    return [averaged(plane) for plane in planes]


def scaled(values: Floats, space: spaces.Box) -> Floats:
    """Numbers (n, k) of a bounded space scaled to [-1, 1]."""
    low, high = space.low.astype(np.float64), space.high.astype(np.float64)
    return 2.0 * (values - low) / (high - low) - 1.0


class Features:
    """Features of any task: every image averaged over blocks (`averages`), every other entry scaled to [-1, 1].

    Args:
        space: observation space of one env, made with depth="uint8".

    Raises:
        ArgumentError: images are not bytes.
    """

    images: list[str]
    vectors: list[tuple[str, spaces.Box]]
    kind: np.dtype[Any]  # of the features of one env

    def __init__(self, space: spaces.Dict) -> None:
        self.images, self.vectors = [], []
        for name, part in space.spaces.items():
            if not isinstance(part, spaces.Box):
                raise ArgumentError(f"space[{name!r}]: expected a Box, got {part}")
            if part.dtype == np.uint8:
                self.images.append(name)
            elif len(part.shape) == 1:
                self.vectors.append((name, part))
            else:
                raise ArgumentError(f"space[{name!r}]: expected images of bytes (depth='uint8'), got {part}")
        self.size: int = self(space_example(space), [{}]).shape[1]
        self.kind = np.dtype((np.float32, (self.size,)))

    @property
    def space(self) -> spaces.Space[Any]:
        """Space of the features of one env."""
        return spaces.Box(-np.inf, np.inf, (self.size,), np.float32)

    def __call__(self, observations: Arrays, infos: Sequence[Info]) -> Rows:
        """Features (n, size) of observations (n, ...) by name and one info per env."""
        parts = [part for name in self.images for part in averages(name, observations[name])]
        parts += [scaled(observations[name], part) for name, part in self.vectors]
        return np.concatenate(parts, axis=1, dtype=np.float32)


class State(Features):
    """The task's own vector (`observation="state"`), as it is."""

    def __call__(self, observations: Arrays, infos: Sequence[Info]) -> NDArray[np.float32]:
        """Features (n, size): the vectors."""
        return np.asarray(observations[STATE], np.float32)


class Whole(Features):
    """The observation as it is, in records: for learners that look at images themselves."""

    def __init__(self, space: spaces.Dict) -> None:
        self._space = space
        self.kind: np.dtype[Any] = record_kind(space)
        self.size: int = sum(math.prod(self.kind[name].shape) for name in space.spaces)

    @property
    def space(self) -> spaces.Dict:
        """Space of the records of one env, entry by entry."""
        return self._space

    def __call__(self, observations: Arrays, infos: Sequence[Info]) -> Rows:
        """Records (n,) of observations (n, ...) by name."""
        return records(self.kind, observations)


class Bulldozer(Features):
    """Features of the bulldozer: the vehicle's view of heap and goal.

    The sky camera gives the height of the grains over the field. Of those outside the goal box: centre and spread; of
    all: the share inside. Positions are in the vehicle's frame, in units of 4 m. The ego camera is averaged over
    blocks, and so is what cameras see besides depth.
    """

    def goals(self, observations: Arrays, infos: Sequence[Info]) -> Floats:
        """Lower x, lower y, upper x, upper y of the goal boxes, (n, 4) [m]."""
        return np.asarray(observations["goal"], np.float64)

    def __call__(self, observations: Arrays, infos: Sequence[Info]) -> NDArray[np.float32]:
        """Features (n, size), see the class."""
        pose = np.asarray(observations["pose"], np.float64)
        goal = self.goals(observations, infos)
        x, y, yaw = pose.T[:, :, None, None]
        heights = SKY_FAR * (1.0 - observations["sky"][:, 0].astype(np.float64) / 255.0)
        rows, columns = heights.shape[1:]
        across = ((np.arange(columns) + 0.5) / columns * 2.0 - 1.0)[None, None, :] * SKY_HALF[0]
        along = (1.0 - (np.arange(rows) + 0.5) / rows * 2.0)[None, :, None] * SKY_HALF[1]
        c, s = np.cos(yaw), np.sin(yaw)
        ahead = c * (across - x) + s * (along - y)
        left = -s * (across - x) + c * (along - y)
        hidden = (ahead > VEHICLE[0]) & (ahead < VEHICLE[1]) & (np.abs(left) < VEHICLE[2])
        heights = np.where(hidden | (heights < THIN), 0.0, heights)
        low, high = goal[:, :2, None, None], goal[:, 2:, None, None]
        inside = (across >= low[:, 0]) & (across <= high[:, 0]) & (along >= low[:, 1]) & (along <= high[:, 1])
        outside = np.where(inside, 0.0, heights)
        total, remaining = heights.sum(axis=(1, 2)), outside.sum(axis=(1, 2))
        weight = outside / np.maximum(remaining, 1e-9)[:, None, None]
        middle = 0.5 * (goal[:, :2] + goal[:, 2:]) - pose[:, :2]
        cos, sin = c[:, 0, 0], s[:, 0, 0]
        target = np.stack([cos * middle[:, 0] + sin * middle[:, 1], -sin * middle[:, 0] + cos * middle[:, 1]], axis=1)
        heap = np.stack([(weight * ahead).sum(axis=(1, 2)), (weight * left).sum(axis=(1, 2))], axis=1)
        heap = np.where(remaining[:, None] > 0.0, heap, target)
        da, dl = ahead - heap[:, 0, None, None], left - heap[:, 1, None, None]
        spread = np.stack([(weight * a * b).sum(axis=(1, 2)) for a, b in ((da, da), (dl, dl), (da, dl))], axis=1)
        share = 1.0 - remaining / np.maximum(total, 1e-9)
        parts = [
            heap / 4.0,
            target / 4.0,
            unit(heap),
            unit(target),
            unit(target - heap),
            2.0 * spread,
            2.0 * share[:, None] - 1.0,
            pose[:, :2] / SKY_HALF,
            np.stack([cos, sin], axis=1),
            averaged(observations["ego"]),
            *(part for name in self.images if name not in DEPTHS for part in averages(name, observations[name])),
        ]
        return np.concatenate(parts, axis=1, dtype=np.float32)


class BulldozerV0(Bulldozer):
    """The same of Bulldozer-v0, which draws a goal in every episode and shows it in info["goal"] only."""

    def goals(self, observations: Arrays, infos: Sequence[Info]) -> Floats:
        """See `Bulldozer.goals`."""
        boxes = np.stack([np.asarray(info.get("goal", np.zeros(6)), np.float64) for info in infos])
        return boxes[:, [0, 1, 3, 4]]


class Silo(Features):
    """Features of the silo: besides those of any task, what "flow" says of the programme, at the scale that counts.

    The reward is lost where the discharge is off by a twentieth of the content; scaled to what it may be at all, that
    is too small a difference to learn from.
    """

    def __call__(self, observations: Arrays, infos: Sequence[Info]) -> NDArray[np.float32]:
        """Features (n, size), see the class."""
        flow = np.asarray(observations["flow"], np.float64)
        discharged = 1.0 - flow[:, 0]
        columns = [
            (flow[:, 5] - discharged) / 0.1,  # behind the programme
            (flow[:, 6] - discharged) / 0.5,  # still to come
            flow[:, 2] / 0.05,  # spilled
            flow[:, 3] / 0.25,  # rates, measured and commanded
            flow[:, 4] / 0.25,
        ]
        return np.concatenate([super().__call__(observations, infos), clipped(columns)], axis=1, dtype=np.float32)


def clipped(columns: Sequence[Floats]) -> Floats:
    """Columns (n,) side by side, within [-2, 2]: (n, k)."""
    return np.clip(np.stack(columns, axis=1), -2.0, 2.0)


def unit(vectors: Floats) -> Floats:
    """Vectors (n, 2) of length one; short ones stay short."""
    result: Floats = vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 0.1)
    return result


def space_example(space: spaces.Dict) -> Arrays:
    """A batch of one observation of zeros."""
    return {name: np.zeros((1, *part.shape), part.dtype) for name, part in space.spaces.items()}  # type: ignore[misc]


def features_of(task: str, space: spaces.Dict) -> Features:
    """The features a task is learned with.

    Args:
        task: id of the task; its own features, see `register_task`, go before those of this file.
        space: observation space of one env, made with depth="uint8".
    """
    if list(space.spaces) == [STATE]:
        return State(space)
    if all(part.dtype == np.uint8 for part in space.spaces.values()):
        return Features(space)  # nothing but images
    own = entry_of(task).features
    kind: type[Features] = _FEATURES.get(bare_id(task), Features) if own is None else loaded(own)
    return kind(space)


#: of the tasks of this package, where averages do not do
_FEATURES = {
    "granular_gym/Bulldozer-v0": BulldozerV0,
    "granular_gym/Bulldozer-v1": Bulldozer,
    "granular_gym/Silo-v0": Silo,
    "granular_gym/Silo-v1": Silo,
}
