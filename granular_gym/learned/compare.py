"""compare.py: a film or a sheet of an episode and of what models make of it, drawn by the engine's rays."""

from __future__ import annotations

import argparse
import dataclasses
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from granular_gym._core import write_png
from granular_gym.base import checks
from granular_gym.errors import ArgumentError
from granular_gym.learned import checkpoints
from granular_gym.learned.data import Dataset
from granular_gym.learned.pictures import RayCast
from granular_gym.learned.rollout import rollout
from granular_gym.viewing.film import Film

#: height of a picture [pixels], and frames of a sheet
_HEIGHT, _COLUMNS = 240, 6
#: a film is this many times slower than what it shows
_SLOW = 4


def compare(dataset: Any, models: Sequence[Path], episode: int, camera: int) -> NDArray[np.uint8]:
    """Pictures of a test episode and, in the order of the models, of their rollouts from its true start.

    A rollout that diverges stays at its last good frame.

    Returns:
        (1 + models, frames, height, width, 3) uint8 sRGB.

    Raises:
        ArgumentError: there is no such episode or camera, or a model does not fit the data.
        StateError: no checkpoint, or a damaged one.
    """
    if not len(dataset.test):
        raise ArgumentError("data: expected a dataset with test episodes, got none")
    shown = dataset.test[checks.integer("episode", episode, 0, len(dataset.test) - 1)]
    eye = dataset.cameras[checks.integer("camera", camera, 0, len(dataset.cameras) - 1)]
    larger = _HEIGHT / eye.height
    eye = dataclasses.replace(eye, height=_HEIGHT, width=round(eye.width * larger), focal=eye.focal * larger)
    count = len(shown.positions)
    tracks = [shown.positions, *(rollout(checkpoints.load(each), dataset, shown).positions for each in models)]
    rays = RayCast([eye], dataset.radius, np.rint(shown.colors * 255.0).astype(np.uint8), count)
    try:
        rows = [rays(np.concatenate([track, np.repeat(track[-1:], count - len(track), axis=0)]))[0] for track in tracks]
    finally:
        rays.close()
    return np.stack(rows)[:, :, 0]


def add_compare(parser: argparse.ArgumentParser) -> None:
    """The arguments of compare."""
    parser.add_argument("data", type=Path, help="folder that make-data wrote")
    parser.add_argument("models", type=Path, nargs="+", metavar="MODEL", help="folders of runs, or checkpoints")
    parser.add_argument("--episode", type=int, default=0, help="index of the test episode (0)")
    parser.add_argument("--camera", type=int, default=0, help="index (0)")
    parser.add_argument("--out", type=Path, required=True, help="film (.mp4) or sheet (.png) to write")


def run_compare(options: argparse.Namespace) -> int:
    """Draws; exit status 0."""
    target = options.out
    if target.suffix not in (".mp4", ".png"):
        raise ArgumentError(f"out: expected a file that ends in .mp4 or .png, got {target}")
    if target.exists():
        raise ArgumentError(f"out: expected a file that is not there yet, {target} is; nothing is overwritten")
    dataset = Dataset.load(options.data)
    rows = compare(dataset, options.models, options.episode, options.camera)
    if target.suffix == ".png":
        frames = np.rint(np.linspace(0, rows.shape[1] - 1, min(_COLUMNS, rows.shape[1]))).astype(int)
        lines = [np.concatenate(list(row[frames]), axis=1) for row in rows]
        write_png(target, np.ascontiguousarray(np.concatenate(lines)))
        order = "from above"
    else:
        with Film(target, max(1, round(1.0 / (dataset.dt * _SLOW)))) as film:
            for frame in range(rows.shape[1]):
                film.add(np.ascontiguousarray(np.concatenate(list(rows[:, frame]), axis=1)))
        order = f"from the left, {_SLOW} times slower than time"
    print(f"{target}: {order}: the truth, {', '.join(str(each) for each in options.models)}")
    return 0
