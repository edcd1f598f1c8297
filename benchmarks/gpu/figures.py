"""figures.py: pictures of the results of benchmarks/gpu/run.py."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks import plots
from benchmarks.measure import Row
from benchmarks.plots import median


def targets(axes: Any, rows: list[Row]) -> None:
    """Bars of figures over their targets."""
    (ax,) = axes
    mine = [row for row in rows if "met" in row][::-1]
    shares = [max(row["share"], 1e-3) for row in mine]
    ax.barh(range(len(mine)), shares, color=["#4a8f5c" if row["met"] else "#c25b3f" for row in mine])
    ax.axvline(1.0, color="0.2", lw=1)
    for k, row in enumerate(mine):
        text = f" {median(row[row['figure']]):.3g} of {row['wanted']:.3g}"
        ax.text(shares[k], k, text, va="center", fontsize=8)
    ax.set_yticks(range(len(mine)), [f"{row['name']}\n{row['figure']}" for row in mine], fontsize=7)
    ax.set_xscale("log")
    ax.margins(x=0.25)
    ax.set_xlabel("measured / target (above 1: met)")


def crossover(axes: Any, rows: list[Row]) -> None:
    """Time of a step by grains, and the line of real time."""
    (ax,) = axes
    mine = [row for row in rows if "us_per_step" in row]
    ax.plot([row["grains"] for row in mine], [median(row["us_per_step"]) for row in mine], "o-")
    ax.axhline(1e3, color="0.4", ls="--", label="real time at 1 ms")
    ax.set_xscale("log")
    ax.set_yscale("log")
    ax.set_xlabel("grains")
    ax.set_ylabel("us per step")
    ax.legend()


def kernels(axes: Any, rows: list[Row]) -> None:
    """Bars of the two kernels, side by side."""
    (ax,) = axes
    sizes = list(dict.fromkeys((row["envs"], row["grains"]) for row in rows))
    for k, kernel in enumerate(("team", "graph")):
        mine = {(row["envs"], row["grains"]): median(row["us_per_step"]) for row in rows if row["requested"] == kernel}
        # an incomplete case lacks some
        heights = [mine.get(size, 0.0) for size in sizes]
        ax.bar([i + 0.4 * (k - 0.5) for i in range(len(sizes))], heights, 0.38, label=kernel)
    ax.set_xticks(range(len(sizes)), [f"{e} x {g}" for e, g in sizes], fontsize=8)
    ax.set_yscale("log")
    ax.set_xlabel("envs x grains")
    ax.set_ylabel("us per step of all envs")
    ax.legend()


def streams(axes: Any, rows: list[Row]) -> None:
    """Concurrent over sequential time of two worlds."""
    (ax,) = axes
    ax.bar([row["name"].replace(", ", "\n") for row in rows], [row["ratio"] for row in rows], color="#3a6ea8")
    ax.axhline(1.0, color="0.4", ls="--")
    ax.axhline(0.5, color="0.7", lw=1)
    ax.tick_params(axis="x", labelsize=7)
    ax.set_ylabel("time together / time apart (0.5: full overlap)")


def phases(axes: Any, rows: list[Row]) -> None:
    """Stacked bars of nanoseconds per grain and substep."""
    (ax,) = axes
    names = sorted({n for row in rows for n in row["phases_us"]}, key=lambda n: -rows[-1]["phases_us"].get(n, 0.0))
    bottom = [0.0] * len(rows)
    for k, name in enumerate(names[:10]):
        values = [1e3 * row["phases_us"].get(name, 0.0) / (row["grains"] * row["envs"]) for row in rows]
        ax.bar([row["name"] for row in rows], values, bottom=bottom, label=name, color=f"C{k}")
        bottom = [a + b for a, b in zip(bottom, values, strict=True)]
    ax.set_ylabel("ns per grain and substep")
    ax.legend(fontsize=7)


def hash_size(axes: Any, rows: list[Row]) -> None:
    """Speed by buckets per grain, and that of the cell grid."""
    (ax,) = axes
    mine = [row for row in rows if row["buckets_per_grain"]]
    ax.plot([row["buckets_per_grain"] for row in mine], [row["times_real_time"] for row in mine], "o-", label="hash")
    for row in rows:
        if row["buckets_per_grain"] is None:
            ax.axhline(row["times_real_time"], color="0.4", ls="--", label="sorted cells")
    ax.axvline(2.0, color="0.7", lw=1)
    ax.set_xscale("log")
    ax.set_xlabel("buckets per grain")
    ax.set_ylabel("simulated s per s, lists built in every substep")
    ax.set_ylim(bottom=0)
    ax.legend()


def gears(axes: Any, rows: list[Row]) -> None:
    """Speed by gears and by grains."""
    for ax, axis in zip(axes, ("gears", "grains"), strict=True):
        mine = [row for row in rows if row["axis"] == axis]
        speeds = [median(row["times_real_time"]) for row in mine]
        ax.plot([row[axis] for row in mine], speeds, "o-")
        ax.set_xlabel(axis)
        ax.set_ylabel("simulated s per s")
        ax.set_ylim(bottom=0)
    axes[1].set_xscale("log")
    axes[1].set_yscale("log")


#: drawing, number of panels and title by case
PLOTS: dict[str, tuple[Callable[[Any, list[Row]], None], int, str]] = {
    "targets": (targets, 1, "Figures and their targets"),
    "crossover": (crossover, 1, "Beds in real time"),
    "kernels": (kernels, 1, "One kernel per step (team), one per phase (graph)"),
    "streams": (streams, 1, "Two worlds on two streams"),
    "phases": (phases, 1, "Time by phase"),
    "hash_size": (hash_size, 1, "Settled column, size of the hash table"),
    "gears": (gears, 2, "Turning gears in a tower of grains"),
}


def draw(name: str, rows: list[Row], facts: Row, path: Path) -> bool:
    """Draws one table; False where the case has no picture or matplotlib is not installed."""
    if name not in PLOTS:
        return False
    drawing, panels, title = PLOTS[name]
    machine = f"{facts.get('gpu')}, {facts.get('cpu')}, CUDA {facts.get('runtime_version')}, {facts.get('date')}"
    return plots.save(drawing, panels, rows, machine, path, title)
