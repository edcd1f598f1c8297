"""show.py: a picture of an episode for people: rays above splats, frame by frame."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from granular_gym._core import write_png
from granular_gym.base import checks
from granular_gym.errors import ArgumentError
from granular_gym.learned.data import Dataset

#: smallest height of an image on the page, in pixels
_HEIGHT = 192


def sheet(dataset: Dataset, split: str, episode: int, camera: int, columns: int) -> NDArray[np.uint8]:
    """Frames evenly in time from left to right, by the engine's rays above, by the training renderer below.

    Args:
        dataset: with the episode.
        split: "train" or "test".
        episode: index in it.
        camera: index.
        columns: number of frames.

    Returns:
        (height, width, 3) uint8.

    Raises:
        ArgumentError: there is no such episode, camera, or number of frames.
    """
    episodes = dataset.train if checks.choice("split", split, ["train", "test"]) == "train" else dataset.test
    if not len(episodes):
        raise ArgumentError(f"split: expected one with episodes, {split} has none")
    shown = episodes[checks.integer("episode", episode, 0, len(episodes) - 1)]
    eye = checks.integer("camera", camera, 0, len(dataset.cameras) - 1)
    last = len(shown.color) - 1
    frames = np.rint(np.linspace(0, last, checks.integer("columns", columns, 1, last + 1))).astype(int)
    rows = [np.concatenate(list(images[frames, eye]), axis=1) for images in (shown.color, shown.splat_color)]
    factor = -(-_HEIGHT // dataset.cameras[eye].height)
    return np.ascontiguousarray(np.concatenate(rows).repeat(factor, axis=0).repeat(factor, axis=1))


def show(
    folder: str, out: str | Path, split: str = "train", episode: int = 0, camera: int = 0, columns: int = 5
) -> str:
    """Writes a `sheet` to a PNG file and says what it shows.

    Raises:
        ArgumentError: see `sheet`; or `out` is there already.
        DatasetError: the folder holds no dataset.
    """
    target = checks.path("out", out)
    if target.exists():
        raise ArgumentError(f"out: expected a file that is not there yet, {target} is; nothing is overwritten")
    dataset = Dataset.load(folder)
    write_png(target, sheet(dataset, split, episode, camera, columns))
    return f"{dataset.describe()}\n{target}: rays above, splats below"
