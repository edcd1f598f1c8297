"""records.py: what a run leaves to be read: a CSV with a row per episode, and the plot of return over wall clock."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from granular_gym.base import cache
from granular_gym.errors import StateError

EPISODES = "episodes.csv"
#: number of the episode, env steps and seconds of training when it ended, return of the task, length [env steps],
#: success (0 or 1) at its end
COLUMNS = ("episode", "env_steps", "seconds", "return", "length", "success")
WINDOW = 100  # episodes of the running mean, as in "GranularGym (2023)", figure 8

COLORS = ("#3a6ea8", "#c8583a", "#3e965c", "#8a5fb0", "#c77d0a")  # of curves

Row = dict[str, Any]


def write_episodes(folder: Path, rows: Sequence[Row]) -> None:
    """Writes the CSV, whole or not at all.

    Raises:
        OSError: it cannot be written; the file that was there is untouched.
    """
    text = io.StringIO()
    writer = csv.DictWriter(text, COLUMNS, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    cache.write_atomic(folder / EPISODES, text.getvalue().encode())


def read_episodes(path: Path) -> list[dict[str, float]]:
    """The rows of a CSV as numbers.

    Raises:
        StateError: not such a file.
    """
    try:
        with path.open(newline="") as file:
            return [{name: float(row[name]) for name in COLUMNS} for row in csv.DictReader(file)]
    except (OSError, KeyError, TypeError, ValueError) as error:
        raise StateError(f"{path}: expected the columns {', '.join(COLUMNS)} ({error})") from None


def running_mean(values: Sequence[float], window: int = WINDOW) -> np.ndarray[Any, Any]:
    """Mean of each value and up to `window` - 1 before it."""
    sums = np.cumsum(np.concatenate([[0.0], np.asarray(values, np.float64)]))
    ends = np.arange(1, len(sums))
    begins = np.maximum(ends - window, 0)
    result: np.ndarray[Any, Any] = (sums[ends] - sums[begins]) / (ends - begins)
    return result


def plot_curves(
    path: Path,
    title: str,
    curves: dict[str, Sequence[Sequence[Row]]],
    baselines: dict[str, float],
    window: int = WINDOW,
) -> None:
    """Draws return over wall clock.

    Args:
        path: PNG.
        title: of the plot.
        curves: for each name the runs (one per seed), each the rows of its episodes.
        baselines: returns drawn as horizontal lines, by name.
        window: episodes of the running mean.
    """
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(7.0, 4.2), layout="constrained")
    for color, (name, runs) in zip(COLORS, curves.items(), strict=False):
        label: str | None = name
        for rows in runs:
            minutes = [row["seconds"] / 60.0 for row in rows]
            returns = [row["return"] for row in rows]
            axes.scatter(minutes, returns, s=4, color=color, alpha=0.25, linewidths=0)
            # envs that began together end together: a point for all of them
            last = [k for k in range(len(rows)) if k + 1 == len(rows) or minutes[k + 1] - minutes[k] > 1e-3]
            means = running_mean(returns, window)[last]
            axes.plot([minutes[k] for k in last], means, color=color, linewidth=1.8, label=label)
            label = None
    for style, (name, value) in zip(("--", ":", "-."), baselines.items(), strict=False):
        axes.axhline(
            value, color="#555555", linestyle=style, linewidth=1.0, label=f"{name} {round(value, 3) + 0.0:.3g}"
        )
    axes.set_xlabel("wall clock [min]")
    axes.set_ylabel(f"return of an episode (line: mean of the last {window})")
    axes.set_title(title)
    axes.grid(alpha=0.3)
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(fontsize=8)
    buffer = io.BytesIO()
    figure.savefig(buffer, dpi=120, format="png")
    plt.close(figure)
    cache.write_atomic(path, buffer.getvalue())
