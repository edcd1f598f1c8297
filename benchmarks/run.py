"""run.py: measures speed, and with every speed accuracy.

    python benchmarks/run.py [column phases broad_phase scaling bulldozer overhead convergence gears planar planar_laws]
                             [--quick] [--out FOLDER]
    python -m benchmarks ...

Prints a table per case and writes FOLDER/<case>.json and .png (default benchmarks/results/cpu). --quick takes under
three minutes and covers less; all cases take under fifteen minutes on two slow cores. A case is a function of `quick`
that returns the rows of its table; to add one, add it to CASES and to plots.PLOTS.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

if __package__ in (None, ""):
    # run as a script: import packages from the root of the project
    sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks import columns, gears, growth, measure, overhead, piles, plots, tasks
from benchmarks.measure import Row

OUT = Path(__file__).resolve().parent / "results" / "cpu"


@dataclass(frozen=True)
class Case:
    """A table: a line about it, the function that measures its rows, and the columns that are printed."""

    about: str
    rows: Callable[[bool], list[Row]]
    columns: tuple[str, ...]


QUALITY = ("residual", "overlap_mean_pct", "overlap_max_pct")
COUNTERS = ("escaped_count", "fast_count", "diverged")
CASES: dict[str, Case] = {
    "column": Case(
        "settled column, dt 1 ms, 10 iterations, one thread; simulated s per processor s",
        columns.column,
        ("sim_per_cpu", "ratio", "sinking_pct_per_s", *QUALITY, "contacts_per_grain", *COUNTERS),
    ),
    "phases": Case(
        "time by phase of the settled column, one thread",
        columns.phases,
        (
            "ms_per_substep",
            "iterate_ms",
            "list_contacts_ms",
            "count_contacts_ms",
            "prepare_contacts_ms",
            "search_ms",
            *QUALITY,
        ),
    ),
    "broad_phase": Case(
        "cell grid and the linked hash of the paper, one thread",
        columns.broad_phase,
        ("ms_per_substep", "rebuild_count", *QUALITY, "bytes_per_grain", *COUNTERS),
    ),
    "scaling": Case(
        "cost as grains, tools, mesh triangles and envs grow",
        growth.scaling,
        (
            "ms_per_substep",
            "us_per_grain_substep",
            "wall_ms_per_env_substep",
            "grid_seconds",
            "bytes_per_grain",
            *QUALITY,
            *COUNTERS,
        ),
    ),
    "bulldozer": Case(
        "env steps per second of the bulldozer, all cores",
        tasks.bulldozer,
        ("env_steps_per_s", "env_steps_per_cpu_s", *QUALITY, *COUNTERS),
    ),
    "overhead": Case(
        "Python's own time of a batched env step of the bulldozer [us]; the core on one thread",
        overhead.overhead,
        (
            "overhead_us",
            "overhead_cpu_us",
            "warm_us",
            "warm_cpu_us",
            "core_us",
            "core_calls",
            "clock_us",
            *QUALITY,
            "contacts_per_grain",
            *COUNTERS,
        ),
    ),
    "convergence": Case(
        "the settled column against iterations, step and mode, one thread",
        columns.convergence,
        ("sim_per_cpu", "rms_speed", "sinking_pct_per_s", *QUALITY, *COUNTERS),
    ),
    "gears": Case(
        "the gear tower of the paper, dt 2 ms, 10 iterations, one thread; simulated s per processor s",
        gears.gears,
        ("sim_per_cpu", *QUALITY, "contacts_per_grain", *COUNTERS),
    ),
    "planar": Case(
        "settled piles of nonconvex grains in the plane, dt 1 ms, 20 iterations",
        piles.planar,
        ("ms_per_step", "cpu_ms_per_step", *QUALITY, "contacts_per_grain", "bytes_per_grain", *COUNTERS),
    ),
    "planar_laws": Case(
        "a settled pile of # on two threads: impulses with a table, the published springs with table and networks",
        piles.planar_laws,
        ("dt", "ms_per_step", "s_per_simulated_s", *QUALITY, "contacts_per_grain", *COUNTERS),
    ),
}


def text(value: Any) -> str:
    """A value as text: median (smallest-largest) of a spread, a number with four digits."""
    if value is None:
        return "-"
    if isinstance(value, dict):
        return f"{value['median']:.4g} ({value['min']:.4g}-{value['max']:.4g})"
    if isinstance(value, float):
        return f"{value:.3g}" if abs(value) < 1e4 else f"{value:.0f}"
    return str(value)


def table(rows: list[Row], names: tuple[str, ...]) -> str:
    """Rows as aligned text; columns that no row fills are left out."""
    shown = ["name", *(n for n in names if any(n in row for row in rows))]
    cells = [shown, *([text(row.get(n)) for n in shown] for row in rows)]
    widths = [max(len(line[k]) for line in cells) for k in range(len(shown))]
    return "\n".join(
        "  ".join(c.ljust(w) if k == 0 else c.rjust(w) for k, (c, w) in enumerate(zip(line, widths, strict=True)))
        for line in cells
    )


def verdicts(name: str, rows: list[Row]) -> list[str]:
    """Whether the targets are met, a line each."""
    found = []
    for row in rows:
        if name == "column" and row["grains"] == 10_000 and "ratio" in row:
            found.append((row["ratio"], columns.TARGET_RATIO, "times LAMMPS at 10,000 grains"))
        if name == "bulldozer" and (row["preset"], row["grains"], row["envs"]) == ("fast", 1000, 4):
            cores = row["threads"]
            speed = row["env_steps_per_s"]["median"]
            what = f"env steps/s on {cores} threads, fast, 1,000 grains, 4 envs"
            if cores == 1:
                speed, what = row["env_steps_per_cpu_s"]["median"], what.replace("steps/s", "steps per processor s")
            found.append((speed, tasks.TARGET / (2 if cores == 1 else 1), what))
    lines = [f"{'met' if v >= t else 'MISSED'}: {v:.3g} {what} (target: at least {t:g})" for v, t, what in found]
    for row in rows:
        if name == "planar" and (row["shape"], row["grains"], row["threads"]) == ("#", piles.TARGET_GRAINS, 2):
            took, most = row["ms_per_step"]["median"], piles.TARGET_MS
            lines.append(
                f"{'met' if took <= most else 'MISSED'}: {took:.3g} ms a step of 11,000 # (target: at most {most:g})"
            )
        if name == "overhead" and row["envs"] in overhead.TARGET_US:
            took, most = row["overhead_us"]["median"], overhead.TARGET_US[row["envs"]]
            what = f"us of Python in a batched step of {row['envs']} envs (target: at most {most:g})"
            lines.append(f"{'met' if took <= most else 'MISSED'}: {took:.3g} {what}")
    memory = [row["bytes_per_grain"] for row in rows if row.get("axis") == "grains"]
    if memory:
        most, limit = max(memory), growth.BYTES_PER_GRAIN_LIMIT
        lines.append(f"{'met' if most <= limit else 'MISSED'}: {most:.0f} bytes per grain (target: at most {limit:g})")
    return lines


def report(name: str, quick: bool, facts: Row, out: Path) -> None:
    """Measures one case; prints it; writes its files."""
    case = CASES[name]
    print(f"\n{name}: {case.about}", flush=True)
    start = time.perf_counter()
    rows = case.rows(quick)
    print(table(rows, case.columns))
    targets = verdicts(name, rows)
    for line in targets:
        print(line)
    print(f"({time.perf_counter() - start:.0f} s, load {measure.load_average():.1f})", flush=True)
    result = {
        "case": name,
        "about": case.about,
        "quick": quick,
        "targets": targets,
        "load_at_end": measure.load_average(),
        "facts": facts,
        "rows": rows,
    }
    (out / f"{name}.json").write_text(json.dumps(result, indent=1) + "\n")
    if not plots.draw(name, rows, facts, out / f"{name}.png"):
        print("no picture: matplotlib is not installed")


def main(arguments: list[str] | None = None) -> int:
    """Runs the command line; returns the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0], prog="benchmarks")
    parser.add_argument("names", nargs="*", metavar="case", help=f"of {', '.join(CASES)}; none: all")
    parser.add_argument("--quick", action="store_true", help="smaller scenes, under three minutes")
    parser.add_argument("--out", type=Path, default=OUT, help="folder for JSON and PNG")
    args = parser.parse_args(arguments)
    unknown = [name for name in args.names if name not in CASES]
    if unknown:
        parser.error(f"case: expected some of {', '.join(CASES)}, got {', '.join(unknown)}")
    args.out.mkdir(parents=True, exist_ok=True)
    facts = measure.facts()
    print("\n".join(f"{key:<14} {value}" for key, value in facts.items()))
    for name in args.names or CASES:
        report(name, args.quick, facts, args.out)
    print(f"\nwrote {args.out}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
