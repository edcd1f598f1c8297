"""evaluate.py: how good a simulator is: rollouts of whole episodes against where particles were and what cameras saw.

A rollout that diverges has no measures: it is counted and named, and no mean has anything of it.
"""

from __future__ import annotations

import csv
import dataclasses
import io
import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from granular_gym.base import cache, checks
from granular_gym.learned import metrics
from granular_gym.learned.losses import Render
from granular_gym.learned.needs import torch
from granular_gym.learned.rollout import Rollout, rollout
from granular_gym.learned.settings import PICTURES, START_NAMES
from granular_gym.learned.simulator import Simulator
from granular_gym.learned.starts import STARTS, Begin

ROWS, SUMMARY = "episodes.csv", "summary.json"
#: frames of an episode, evenly spaced and the last among them, at which costly measures are taken
_SAMPLES = 4


@dataclass(frozen=True)
class Measures:
    """Of an episode, or means of several; None where there is none.

    Attributes:
        chamfer: mean over frames of the Chamfer distance, see `metrics.chamfer` [m].
        chamfer_last: at the last frame [m].
        chamfer_diameters: `chamfer` over the diameter of a particle.
        emd: exact earth mover's distance, mean of four frames [m].
        sinkhorn: its upper bound at the last frame, beside it [m].
        mse: mean square distance of particles known one by one [m^2]; of a start found in pictures none are.
        bond_change: mean relative change of lengths of bonds at the last frame.
        bond_change_true: of the episode itself.
        psnr: of pictures by the training renderer against those of true positions: of the mean square error of four
            frames together, which is less than the mean of their PSNRs where they differ. Infinite where all are equal.
        ssim: of the same pictures, mean of four frames.
        psnr_camera, ssim_camera: the same against the engine's cameras; the renderer's own error is in them.
    """

    chamfer: float | None = None
    chamfer_last: float | None = None
    chamfer_diameters: float | None = None
    emd: float | None = None
    sinkhorn: float | None = None
    mse: float | None = None
    bond_change: float | None = None
    bond_change_true: float | None = None
    psnr: float | None = None
    ssim: float | None = None
    psnr_camera: float | None = None
    ssim_camera: float | None = None


@dataclass(frozen=True)
class Verdict:
    """Of an episode.

    Attributes:
        episode: its index.
        diverged_at: frame, or None.
        reason: why it diverged.
        measures: of its rollout; empty where it diverged.
    """

    episode: int
    diverged_at: int | None
    reason: str
    measures: Measures


@dataclass(frozen=True)
class Report:
    """Of a set of episodes.

    Attributes:
        verdicts: by episode.
        mean: of those that did not diverge.
        diverged: number of those that did.
    """

    verdicts: list[Verdict]
    mean: Measures
    diverged: int

    def write(self, folder: Path) -> None:
        """Writes episodes.csv and summary.json.

        Raises:
            OSError: they cannot be written.
        """
        text = io.StringIO()
        columns = ["episode", "diverged_at", "reason", *[each.name for each in dataclasses.fields(Measures)]]
        writer = csv.DictWriter(text, columns, lineterminator="\n")
        writer.writeheader()
        for each in self.verdicts:
            row = {"episode": each.episode, "diverged_at": each.diverged_at, "reason": each.reason}
            writer.writerow({**row, **dataclasses.asdict(each.measures)})
        folder.mkdir(parents=True, exist_ok=True)
        cache.write_atomic(folder / ROWS, text.getvalue().encode())
        cache.write_atomic(folder / SUMMARY, (json.dumps(self.summary(), indent=1) + "\n").encode())

    def summary(self) -> dict[str, Any]:
        """What JSON can hold of it: a PSNR that is infinite, of equal pictures, is None."""
        means = {
            name: value if value is None or math.isfinite(value) else None
            for name, value in dataclasses.asdict(self.mean).items()
        }
        return {"episodes": len(self.verdicts), "diverged": self.diverged, **means}


def evaluate(
    simulator: Simulator,
    dataset: Any,
    episodes: Sequence[Any],
    render: Render | None = None,
    start: str = "known",
    pictures: str = "splat",
    views: int | None = None,
) -> Report:
    """Rolls a simulator through episodes.

    Args:
        simulator: any model.
        dataset: what they are of.
        episodes: of it, or of another with the same radius and frames.
        render: the training renderer; None: no measures of pictures.
        start: from what each begins, "known" or "pictures", see `Settings`.
        pictures: where the start is looked for, "splat" or "camera", see `Settings`.
        views: in the first so many cameras; None: in all.

    Raises:
        ArgumentError: what `rollout` refuses, an unknown start or pictures, or a start that cannot be found in them.
        MissingError: a library of a measure is not installed.
    """
    checks.choice("start", start, START_NAMES)
    checks.choice("pictures", pictures, list(PICTURES))
    verdicts = []
    for index, episode in enumerate(episodes):
        begin = STARTS[start](dataset, episode, pictures, views)
        predicted = rollout(simulator, dataset, begin)
        whole = predicted.diverged_at is None
        measures = _measure(predicted, dataset, begin, episode, render) if whole else Measures()
        verdicts.append(Verdict(index, predicted.diverged_at, predicted.reason, measures))
    whole_ones = [each.measures for each in verdicts if each.diverged_at is None]
    return Report(verdicts, _mean(whole_ones), len(verdicts) - len(whole_ones))


def _measure(predicted: Rollout, dataset: Any, begin: Begin, episode: Any, render: Render | None) -> Measures:
    there, truth = predicted.positions, episode.positions
    frames = len(truth) - 1
    some = sorted({math.ceil(frames * (k + 1) / _SAMPLES) for k in range(_SAMPLES)})
    chamfers = [metrics.chamfer(there[t], truth[t]) for t in range(1, frames + 1)]
    exact = there.shape == truth.shape and there.shape[1] <= metrics.LARGEST_EXACT
    values: dict[str, float | None] = {
        "chamfer": float(np.mean(chamfers)),
        "chamfer_last": chamfers[-1],
        "chamfer_diameters": float(np.mean(chamfers)) / (2.0 * float(dataset.radius)),
        "emd": float(np.mean([metrics.emd(there[t], truth[t]) for t in some])) if exact else None,
        "sinkhorn": metrics.sinkhorn(there[-1], truth[-1]),
        "mse": metrics.position_mse(there[1:], truth[1:]) if begin.known else None,
    }
    if len(begin.bonds):
        values["bond_change"] = _bond_change(there[-1], begin)
    if len(episode.bonds):
        values["bond_change_true"] = _bond_change(truth[-1], episode)
    if render is not None:
        with torch.no_grad():
            colors = torch.as_tensor(np.asarray(begin.colors, np.float32))
            shown = render(torch.as_tensor(there[some]), colors).color.clamp(0.0, 1.0).numpy()
        for name, key in (("", "splat_color"), ("_camera", "color")):
            real = np.asarray(getattr(episode, key))[some]
            values["psnr" + name] = metrics.psnr(shown, real)
            if min(shown.shape[-3:-1]) >= metrics.WINDOW:
                values["ssim" + name] = metrics.ssim(shown, real)
    return Measures(**values)


def _bond_change(positions: Any, episode: Any) -> float:
    one, two = (positions[np.asarray(episode.bonds)[:, k]] for k in (0, 1))
    return float(np.abs(np.linalg.norm(two - one, axis=1) / episode.rest_lengths - 1.0).mean())


def _mean(measures: Sequence[Measures]) -> Measures:
    """Means of what there is; an infinite PSNR, of equal pictures, stays infinite."""
    values: dict[str, float | None] = {}
    for each in dataclasses.fields(Measures):
        known = [value for one in measures if (value := getattr(one, each.name)) is not None]
        values[each.name] = float(np.mean(known)) if known else None
    return Measures(**values)
