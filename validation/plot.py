"""plot.py: one small picture per check and set."""

from __future__ import annotations

import io
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from validation.check import Check, Result

INK, TARGET = "#3a6ea8", "#c8883a"


def save(check: Check, results: list[Result], path: Path) -> bool:
    """Draws a check; False where matplotlib is not installed."""
    try:
        import matplotlib
    except ImportError:
        return False
    matplotlib.use("Agg")
    from matplotlib import pyplot

    path.parent.mkdir(parents=True, exist_ok=True)
    figure = pyplot.figure(figsize=(4.4 * check.panels, 3.3), layout="constrained")
    check.draw(figure, results)
    buffer = io.BytesIO()
    figure.savefig(buffer, dpi=90)
    pyplot.close(figure)
    # few colours suffice for lines and dots; matplotlib depends on Pillow
    from PIL import Image

    picture = Image.open(buffer).convert("RGB").quantize(64, dither=Image.Dither.NONE)
    picture.save(path, optimize=True)
    return True


def panels(figure: Any, labels: Sequence[tuple[str, str]]) -> list[Any]:
    """Axes side by side with labels for x and y."""
    axes = list(figure.subplots(1, len(labels), squeeze=False)[0])
    for ax, (x, y) in zip(axes, labels, strict=True):
        ax.set_xlabel(x)
        ax.set_ylabel(y)
        ax.grid(alpha=0.25, linewidth=0.5)
    return axes


def band(ax: Any, low: float, high: float, text: str = "target") -> None:
    """Draws a target range along y."""
    ax.axhspan(low, high, color=TARGET, alpha=0.25, linewidth=0, label=text)


def legend(ax: Any) -> None:
    """Adds a small legend, where there are labels."""
    if ax.get_legend_handles_labels()[0]:
        ax.legend(fontsize=7)
