"""loaded.py: episodes of training in memory, with the pictures that a run looks at and no others.

An episode on disk is unpacked whenever it is asked for: far too slow for a step of training.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from granular_gym.errors import ArgumentError
from granular_gym.learned.settings import PICTURES, Settings
from granular_gym.learned.starts import STARTS, Begin


@dataclass(frozen=True, eq=False)
class Loaded(Begin):
    """An episode as training sees it: what is known of its start, and pictures.

    Attributes:
        shown: (T+1, C, H, W, 3) uint8 pictures, or None.
        shown_depth: (T+1, C, H, W) [m], or None.
    """

    shown: NDArray[np.uint8] | None
    shown_depth: NDArray[np.float32] | None


def load(dataset: Any, settings: Settings) -> list[Loaded]:
    """The training episodes of a dataset.

    Raises:
        ArgumentError: no episodes, pictures that are missing or of another number of frames, too many views, or a start
            that cannot be found in pictures.
    """
    cameras, views = len(dataset.cameras), settings.views
    if views is not None and views > cameras:
        raise ArgumentError(f"views: expected up to {cameras}, the cameras of the dataset, got {views}")
    if not len(dataset.train):
        raise ArgumentError("train: expected episodes to learn from, got none")
    return [_load(f"train[{k}]", dataset, episode, settings) for k, episode in enumerate(dataset.train)]


def _load(name: str, dataset: Any, episode: Any, settings: Settings) -> Loaded:
    color, depth = PICTURES[settings.pictures]
    images = settings.supervision == "images"
    return Loaded(
        **vars(STARTS[settings.start](dataset, episode, settings.pictures, settings.views)),
        shown=_pictures(f"{name}.{color}", episode, color, settings) if images else None,
        shown_depth=_pictures(f"{name}.{depth}", episode, depth, settings) if images and settings.depth else None,
    )


def _pictures(name: str, episode: Any, key: str, settings: Settings) -> NDArray[Any]:
    value, wanted = getattr(episode, key, None), len(episode.positions)
    if value is None or len(value) != wanted:
        raise ArgumentError(
            f"{name}: expected {wanted} frames of pictures, got {'none' if value is None else len(value)}"
        )
    result: NDArray[Any] = np.ascontiguousarray(value[:, : settings.views])
    return result
