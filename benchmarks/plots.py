"""plots.py: one picture per table; matplotlib is imported only to draw one."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks.measure import Row


def median(value: Any) -> float:
    """Median of a spread, or the number itself."""
    return float(value["median"] if isinstance(value, dict) else value)


def _errors(values: list[Any]) -> list[list[float]]:
    """Distances from the median to the smallest and the largest."""
    return [[median(v) - v["min"] for v in values], [v["max"] - median(v) for v in values]]


def column(axes: Any, rows: list[Row]) -> None:
    """Bars of simulated seconds per processor second."""
    (ax,) = axes
    values = [row["sim_per_cpu"] for row in rows]
    names = [row["name"].replace(", ", "\n") for row in rows]
    colors = ["#c8883a" if row.get("code") == "LAMMPS" else "#3a6ea8" for row in rows]
    ax.bar(range(len(rows)), [median(v) for v in values], color=colors, yerr=_errors(values), capsize=4)
    for k, row in enumerate(rows):
        label = f"{median(row['sim_per_cpu']):.4g}" + (f"\n{row['ratio']:.1f} x LAMMPS" if "ratio" in row else "")
        ax.text(k, median(row["sim_per_cpu"]), label, ha="center", va="bottom", fontsize=8)
    ax.set_xticks(range(len(rows)), names, fontsize=8)
    ax.set_yscale("log")
    ax.margins(y=0.25)
    ax.set_ylabel("simulated s per processor s, one thread")
    ax.set_title("Settled column")


def phases(axes: Any, rows: list[Row]) -> None:
    """Stacked bars of nanoseconds per grain and substep."""
    (ax,) = axes
    names = sorted({n for row in rows for n in row["phases_ms"]}, key=lambda n: -rows[-1]["phases_ms"].get(n, 0.0))
    bottom = [0.0] * len(rows)
    for k, name in enumerate(names[:9]):
        values = [1e6 * row["phases_ms"].get(name, 0.0) / row["grains"] for row in rows]
        ax.bar([row["name"] for row in rows], values, bottom=bottom, label=name, color=f"C{k}")
        bottom = [a + b for a, b in zip(bottom, values, strict=True)]
    ax.set_ylabel("ns per grain and substep, one thread")
    ax.set_title("Time by phase, settled column")
    ax.legend(fontsize=8)


def broad_phase(axes: Any, rows: list[Row]) -> None:
    """Bars of milliseconds per substep."""
    (ax,) = axes
    ax.bar([row["name"].replace(", ", "\n") for row in rows], [row["ms_per_substep"] for row in rows], color="#3a6ea8")
    ax.set_ylabel("ms per substep, one thread")
    ax.set_title(f"Broad phase, {rows[0]['grains']} grains at rest")
    ax.tick_params(axis="x", labelsize=8)


def scaling(axes: Any, rows: list[Row]) -> None:
    """Cost against grains, tools, triangles and envs."""
    for ax, axis in zip(axes[:3], ("grains", "tools", "triangles"), strict=True):
        mine = [row for row in rows if row["axis"] == axis]
        # from the time of a block to the drawn value: per grain where their number varies
        factors = [row["ms_per_substep"] / median(row["cpu_seconds"]) for row in mine]
        if axis == "grains":
            factors = [1e3 * f / row["grains"] for f, row in zip(factors, mine, strict=True)]
        spreads = [{k: v * f for k, v in row["cpu_seconds"].items()} for row, f in zip(mine, factors, strict=True)]
        ax.errorbar([r[axis] for r in mine], [median(s) for s in spreads], yerr=_errors(spreads), marker="o", capsize=3)
        ax.set_xscale("log")
        ax.set_xlabel(axis)
        ax.set_ylabel(("us per grain and substep" if axis == "grains" else "ms per substep") + ", one thread")
        ax.set_ylim(bottom=0)
    ax = axes[3]
    for threads in sorted({row["threads"] for row in rows if row["axis"] == "envs"}):
        mine = [row for row in rows if row["axis"] == "envs" and row["threads"] == threads]
        ax.plot(
            [r["envs"] for r in mine], [r["wall_ms_per_env_substep"] for r in mine], "o-", label=f"{threads} threads"
        )
    ax.set_xscale("log", base=2)
    ax.set_xlabel("envs")
    ax.set_ylabel("wall ms per env and substep")
    ax.set_ylim(bottom=0)
    ax.legend()


def bulldozer(axes: Any, rows: list[Row]) -> None:
    """Env steps per second against envs, a line per number of grains."""
    most = max(row["threads"] for row in rows)
    for ax, preset in zip(axes, ("fast", "accurate"), strict=True):
        for count in sorted({row["grains"] for row in rows}):
            mine = [r for r in rows if (r["preset"], r["grains"], r["threads"]) == (preset, count, most)]
            values = [row["env_steps_per_s"] for row in mine]
            if mine:
                ax.errorbar(
                    [r["envs"] for r in mine],
                    [median(v) for v in values],
                    yerr=_errors(values),
                    marker="o",
                    capsize=3,
                    label=f"{count} grains",
                )
        ax.set_xscale("log", base=2)
        ax.set_yscale("log")
        ax.set_xlabel("envs")
        ax.set_ylabel(f"env steps per second, {most} threads")
        ax.set_title(f"Bulldozer, {preset}")
        ax.legend(fontsize=8)


def overhead(axes: Any, rows: list[Row]) -> None:
    """Python's own time of a batched step by envs."""
    (ax,) = axes
    for key, label in (("overhead_us", "after a step of the core"), ("warm_us", "the core answers at once")):
        values = [row[key] for row in rows]
        counts, medians = [row["envs"] for row in rows], [median(v) for v in values]
        ax.errorbar(counts, medians, yerr=_errors(values), marker="o", capsize=3, label=label)
    ax.axhline(20.0, color="0.4", ls="--", label="target")
    ax.set_xscale("log", base=2)
    ax.set_yscale("log")
    ax.set_xlabel("envs")
    ax.set_ylabel("us of Python per batched step")
    ax.legend()


def convergence(axes: Any, rows: list[Row]) -> None:
    """Residual and overlap against iterations."""
    lines: dict[tuple[str, float], list[Row]] = {}
    for row in rows:
        lines.setdefault((row["mode"], row["dt"]), []).append(row)
    shown = (
        ("residual", "residual [m/s]"),
        ("overlap_mean_pct", "mean overlap [% of d]"),
        ("rms_speed", "rms speed [m/s]"),
    )
    for ax, (key, label) in zip(axes, shown, strict=True):
        for (mode, dt), mine in lines.items():
            style = "o-" if mode == "gauss_seidel" else "s--"
            ax.plot([r["iterations"] for r in mine], [r[key] for r in mine], style, label=f"{mode}, dt {1e3 * dt:g} ms")
        ax.set_xscale("log", base=2)
        ax.set_yscale("log")
        ax.set_xlabel("iterations")
        ax.set_ylabel(label)
    axes[0].legend(fontsize=7)


def gears(axes: Any, rows: list[Row]) -> None:
    """Speed over real time by number of gears, and by number of grains."""
    for ax, axis in zip(axes, ("gears", "grains"), strict=True):
        fixed = "grains" if axis == "gears" else "gears"
        chosen = [r for r in rows if r["axis"] == axis]
        if axis == "grains":
            chosen += [r for r in rows if r["axis"] == "gears" and r["gears"] == chosen[0]["gears"]]
        chosen.sort(key=lambda r: r[axis])
        values = [r["sim_per_cpu"] for r in chosen]
        ax.errorbar([r[axis] for r in chosen], [median(v) for v in values], yerr=_errors(values), marker="o", capsize=4)
        ax.set_xlabel(f"{axis} ({chosen[0][fixed]} {fixed})")
        ax.set_ylabel("simulated s per processor s, one thread")
    axes[0].set_ylim(bottom=0.0)
    axes[1].set_xscale("log")
    axes[1].set_yscale("log")
    axes[1].set_xticks([r["grains"] for r in chosen], [f"{r['grains']:,}" for r in chosen], fontsize=8)
    axes[1].set_xticks([], minor=True)
    axes[0].set_title("Gear tower")


def planar(axes: Any, rows: list[Row]) -> None:
    """Processor time of a step against the number of grains."""
    for shape in dict.fromkeys(row["shape"] for row in rows):
        mine = [row for row in rows if row["shape"] == shape and row["threads"] == 1]
        axes[0].plot(
            [row["grains"] for row in mine], [row["cpu_ms_per_step"]["median"] for row in mine], "o-", label=shape
        )
    axes[0].set(xscale="log", yscale="log", xlabel="grains", ylabel="processor time of a step [ms]")
    axes[0].legend()


def planar_laws(axes: Any, rows: list[Row]) -> None:
    """Wall time of a simulated second, by law and field."""
    names = [f"{row['name']}, {1e3 * row['dt']:g} ms" for row in rows]
    values = [row["s_per_simulated_s"] for row in rows]
    axes[0].barh(names, [median(value) for value in values], xerr=_errors(values))
    axes[0].invert_yaxis()
    axes[0].set(xscale="log", xlabel=f"seconds per simulated second, {rows[0]['grains']:,} #, 2 threads")
    axes[0].axvline(1.0, color="black", linewidth=0.5)


#: table -> (drawing, panels)
PLOTS: dict[str, tuple[Callable[[Any, list[Row]], None], int]] = {
    "column": (column, 1),
    "phases": (phases, 1),
    "broad_phase": (broad_phase, 1),
    "scaling": (scaling, 4),
    "bulldozer": (bulldozer, 2),
    "overhead": (overhead, 1),
    "convergence": (convergence, 3),
    "gears": (gears, 2),
    "planar": (planar, 1),
    "planar_laws": (planar_laws, 1),
}


def draw(name: str, rows: list[Row], facts: Row, path: Path) -> bool:
    """Draws one table; False where matplotlib is not installed."""
    drawing, panels = PLOTS[name]
    machine = f"{facts['cpu']}, {facts['cores']} cores, {facts['compiler']}, kernel {facts['kernel']}, {facts['date']}"
    return save(drawing, panels, rows, machine, path)


def save(
    drawing: Callable[[Any, list[Row]], None], panels: int, rows: list[Row], machine: str, path: Path, title: str = ""
) -> bool:
    """Draws rows into a file, above a line about the machine; False where matplotlib is not installed."""
    try:
        import matplotlib
    except ImportError:
        return False
    matplotlib.use("Agg")
    from matplotlib import pyplot

    columns = 2 if panels == 4 else panels
    lines = -(-panels // columns)
    width = 8.0 if panels == 1 else 5.0 * columns
    figure, axes = pyplot.subplots(lines, columns, figsize=(width, 4.2 * lines + 0.6), squeeze=False)
    drawing(list(axes.flat), rows)
    if title:
        figure.suptitle(title)
    figure.text(0.01, 0.005, machine, fontsize=7, color="0.4")
    figure.tight_layout(rect=(0, 0.02, 1, 1))
    figure.savefig(path, dpi=110)
    pyplot.close(figure)
    return True
