"""curves.py: how the losses of a table's runs fell: a CSV of all runs, and a picture where Matplotlib is installed."""

from __future__ import annotations

import csv
import importlib.util
import io
import statistics
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from granular_gym.base import cache
from granular_gym.learned import curve

NAME, PICTURE = "curves.csv", "curves.png"


class Place(NamedTuple):
    """A run's place in a table, and its folder."""

    scene: str
    model: str
    seed: int
    folder: Path


def write_curves(runs: Sequence[Place], out: Path) -> None:
    """Writes curves.csv: the rows of all runs that have some; and curves.png.

    Raises:
        OSError: they cannot be written.
    """
    rows: list[dict[str, str]] = []
    for run in runs:
        path = run.folder / curve.NAME
        if path.exists():
            place = {"scene": run.scene, "model": run.model, "seed": str(run.seed)}
            with path.open(newline="") as file:
                rows += [{**place, **row} for row in csv.DictReader(file)]
    text = io.StringIO()
    columns = ("scene", "model", "seed", *curve.COLUMNS)
    writer = csv.DictWriter(text, columns, restval="", extrasaction="ignore", lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    cache.write_atomic(out / NAME, text.getvalue().encode())
    if rows and importlib.util.find_spec("matplotlib") is not None:
        draw_curves(rows, out / PICTURE)


def draw_curves(rows: Sequence[dict[str, str]], path: Path) -> None:
    """Draws losses over iterations, a panel a scene: the median over seeds, from the least to the most of them shaded.

    Args:
        rows: of curves.csv.
        path: PNG.
    """
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt
    from matplotlib.lines import Line2D

    losses: dict[str, dict[str, dict[int, list[float]]]] = {}
    for row in rows:
        if row["loss"]:  # empty where all rollouts diverged
            at = losses.setdefault(row["scene"], {}).setdefault(row["model"], {})
            at.setdefault(int(row["iteration"]), []).append(float(row["loss"]))
    names = list(dict.fromkeys(model for models in losses.values() for model in models))
    colors = {name: plt.get_cmap("tab10" if len(names) <= 10 else "tab20")(k) for k, name in enumerate(names)}
    figure, panels = plt.subplots(
        1, len(losses), figsize=(2.5 + 4.5 * len(losses), 4.0), layout="constrained", sharey=True, squeeze=False
    )
    for axes, (scene, models) in zip(panels[0], losses.items(), strict=True):
        for model, at in models.items():
            steps = sorted(at)
            axes.plot(steps, [statistics.median(at[k]) for k in steps], linewidth=1.6, color=colors[model])
            low, high = [min(at[k]) for k in steps], [max(at[k]) for k in steps]
            axes.fill_between(steps, low, high, color=colors[model], alpha=0.2, linewidth=0.0)
        axes.set_yscale("log")
        axes.set_title(scene)
        axes.set_xlabel("iteration")
        axes.grid(alpha=0.3)
        axes.spines[["top", "right"]].set_visible(False)
    panels[0][0].set_ylabel("loss")
    lines = [Line2D([], [], color=color, label=name) for name, color in colors.items()]
    figure.legend(handles=lines, loc="outside right upper", fontsize=8)
    buffer = io.BytesIO()
    figure.savefig(buffer, dpi=110, format="png")
    plt.close(figure)
    cache.write_atomic(path, buffer.getvalue())
