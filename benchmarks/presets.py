"""presets.py: what a preset of the tasks costs and changes: their experts play the same seeds with each.

    python benchmarks/presets.py [TASK ...] [--presets fast train] [--grains 100 300] [--seeds 20]
                                 [--out out/benchmarks]

Complete episodes, medium, one thread; the presets take turns, seed by seed. Prints a table in Markdown and writes
presets.json. Env steps per CPU second are the median over the seeds, without the expert and the reset; return and its
standard error, success, mean overlap and residual are means over seeds and steps; the largest overlap is that of all,
and grains that were fast or escaped are counted over all. "against": the mean of the differences of the return from
that with the first preset on the same seed, and its standard error.
"""

from __future__ import annotations

import argparse
import json
import math
import statistics
import sys
from pathlib import Path

if __package__ in (None, ""):
    # run as a script: import packages from the root of the project
    sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks import measure
from benchmarks.ladder import measure_task
from benchmarks.measure import Row
from granular_gym.tasks.pace import PRESETS
from granular_gym.tasks.registry import newest_ids, short_name, task_id

COLUMNS = {
    "task": "task",
    "grains": "grains",
    "preset": "preset",
    "env_steps_per_cpu_s": "env steps per CPU second",
    "return": "return",
    "against": "against {first}",
    "success": "success",
    "overlap": "overlap, mean / largest [%]",
    "residual": "residual [m/s]",
    "fast_count": "fast",
    "escaped_count": "escaped",
}


def mean_and_error(values: list[float]) -> str:
    """The mean and its standard error, as text."""
    error = statistics.stdev(values) / math.sqrt(len(values)) if len(values) > 1 else math.nan
    digits = 1 if abs(statistics.fmean(values)) < 1000 else 0
    return f"{statistics.fmean(values):,.{digits}f} ± {error:,.{digits}f}"


def summary(task: str, grains: int, preset: str, rows: list[Row], first: list[Row] | None) -> dict[str, str]:
    """A line of the table.

    Args:
        task: its id.
        grains: their number.
        preset: whose line it is.
        rows: one per seed.
        first: those of the first preset; None: these are.
    """
    speed = statistics.median(row["env_steps_per_cpu_s"] for row in rows)
    mean = statistics.fmean(row["overlap_mean_pct"] for row in rows)
    largest = max(row["overlap_max_pct"] for row in rows)
    against = [row["return"] - other["return"] for row, other in zip(rows, first or [], strict=first is not None)]
    return {
        "task": short_name(task),
        "grains": f"{grains:,}",
        "preset": preset,
        "env_steps_per_cpu_s": f"{speed:,.0f}",
        "return": mean_and_error([row["return"] for row in rows]),
        "against": mean_and_error(against) if against else "",
        "success": f"{statistics.fmean(row['success'] == 'True' for row in rows):.0%}",
        "overlap": f"{mean:.2f} / {largest:.0f}",
        "residual": f"{statistics.fmean(row['residual'] for row in rows):.3f}",
        "fast_count": f"{sum(row['fast_count'] for row in rows):,}",
        "escaped_count": str(sum(row["escaped_count"] for row in rows)),
    }


def line(cells: list[str]) -> str:
    """A row of a table in Markdown."""
    return f"| {' | '.join(cells)} |"


def main() -> None:
    """Plays all episodes; prints and writes the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("tasks", nargs="*", help="none: all, each in its newest version")
    parser.add_argument("--presets", nargs="+", choices=list(PRESETS), default=["fast", "train"])
    parser.add_argument("--grains", type=int, nargs="+", default=[100, 300])
    parser.add_argument("--seeds", type=int, default=20, help="number of seeds, from 0")
    parser.add_argument("--out", type=Path, default=Path("out/benchmarks"))
    args = parser.parse_args()
    facts, played, lines = measure.facts(), [], []
    print(f"{facts['cpu']}, one thread, load {facts['load_at_start']:.1f}; {args.seeds} seeds\n")
    print(line([title.format(first=args.presets[0]) for title in COLUMNS.values()]))
    print(line(["---"] * len(COLUMNS)))
    for name in args.tasks or newest_ids():
        task = task_id(name)
        for grains in args.grains:
            rows: dict[str, list[Row]] = {preset: [] for preset in args.presets}
            for seed in range(args.seeds):
                for preset, found in rows.items():
                    row = measure_task(task, grains, math.inf, seed, preset)
                    found.append({**row, "seed": seed, "preset": preset})
            first = rows[args.presets[0]]
            for preset, found in rows.items():
                played += found
                lines.append(summary(task, grains, preset, found, None if found is first else first))
                print(line([lines[-1][key] for key in COLUMNS]), flush=True)
    args.out.mkdir(parents=True, exist_ok=True)
    result = {"facts": {**facts, "load_at_end": measure.load_average()}, "lines": lines, "rows": played}
    (args.out / "presets.json").write_text(json.dumps(result, indent=1) + "\n")
    print(f"\nwrote {args.out / 'presets.json'}")


if __name__ == "__main__":
    main()
