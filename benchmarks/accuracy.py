"""accuracy.py: settings of the solver compared by what they get right, beside the work and time they take.

    python -m benchmarks.accuracy [CASE...] --solver iterations=10 --solver mode=gauss_seidel,iterations=40,dt=2e-3
                                  [--seeds 3] [--dt 1e-3] [--limit] [--out FOLDER]

Prints a table per case, the median over the seeds and half of the range, and merges it into FOLDER/accuracy.json
(default benchmarks/results/cpu), which has further columns. A bed that was solved badly packs too densely, carries its
load over too many contacts and goes on sinking: judge by contacts and drift; height and solid fraction do not approach
their limits monotonically. --limit stores the results as the converged limits, from which the differences in brackets
are counted.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from benchmarks import measure
from benchmarks.accuracy_cases import CASES
from benchmarks.measure import Row
from benchmarks.settings import Setting

OUT = Path(__file__).resolve().parent / "results" / "cpu"
#: columns that are compared with the limit by difference
COMPARED = ("fraction", "contacts", "fraction_2s", "contacts_2s")
#: what is printed
COLUMNS = (
    *("height", "fraction", "contacts", "drift", "contacts_2s", "drift_2s", "holds", "height_change_pct", "sunk_pct"),
    *("sunk_1s_pct", "force", "passed", "passed_late", "speed_max", "force_over_weight", "overlap_mean_pct"),
    *("overlap_max_pct", "energy_rise_pct", "rms_over_g_dt", "pair_iterations_per_s", "cpu_ms_per_grain_s"),
)


def measured(case: str, variant: str, setting: Setting, dt: float, seeds: int) -> Row:
    """A row: a spread of every column over the seeds."""
    about = CASES[case]
    found = [about.rows(setting, dt, seed, **about.variants[variant]) for seed in range(1, seeds + 1)]
    names = [name for name in found[0] if all(name in one for one in found)]
    columns = {name: measure.spread([float(one[name]) for one in found]) for name in names}
    head = {"case": case, "variant": variant, "setting": setting.label, "solver": repr(setting.solver()), "dt": dt}
    return {**head, "seeds": seeds, **columns}


def key(row: Row) -> tuple[Any, ...]:
    """What makes a row another row."""
    return tuple(row[name] for name in ("case", "variant", "setting", "dt"))


def against(row: Row, limits: list[Row]) -> Row | None:
    """The limit of a row."""
    of = [one for one in limits if (one["case"], one["variant"]) == (row["case"], row["variant"])]
    return of[-1] if of else None


def text(name: str, row: Row, limit: Row | None) -> str:
    """A cell: the median, half of the range, the difference from the limit."""
    if name not in row:
        return "-"
    spread = row[name]
    half = 0.5 * (spread["max"] - spread["min"])
    cell = f"{spread['median']:.3g}" if abs(spread["median"]) < 100 else f"{spread['median']:.0f}"
    if name in ("fraction", "contacts", "height", "fraction_2s", "contacts_2s", "height_2s"):
        cell = f"{spread['median']:.3f}"
    if name == "pair_iterations_per_s":
        return f"{spread['median'] / 1e6:.1f}M"
    if half > 5e-3 * abs(spread["median"]) or name in COMPARED:
        cell += f" ±{half:.2g}"
    if limit is not None and name in limit:
        if name in COMPARED:
            cell += f" ({spread['median'] - limit[name]['median']:+.3f})"
        elif name.startswith("height"):
            cell += f" ({100.0 * (spread['median'] / limit[name]['median'] - 1.0):+.1f} %)"
    return cell


def table(rows: list[Row], limits: list[Row]) -> str:
    """Rows in Markdown."""
    names = [name for name in COLUMNS if any(name in row for row in rows)]
    variants = any(row["variant"] for row in rows)
    first = ["setting", "dt [ms]", *(["variant"] if variants else [])]
    lines = [first + names]
    for row in rows:
        start = [row["setting"], f"{1e3 * row['dt']:g}", *([row["variant"]] if variants else [])]
        limit = against(row, limits)
        broken = " BROKEN" if row.get("broken", {}).get("max") else ""
        start[0] += broken
        lines.append(start + [text(name, row, limit) for name in names])
    widths = [max(len(line[k]) for line in lines) for k in range(len(lines[0]))]
    shown = ["| " + " | ".join(c.ljust(w) for c, w in zip(line, widths, strict=True)) + " |" for line in lines]
    return "\n".join([shown[0], "|" + "|".join("-" * (w + 2) for w in widths) + "|", *shown[1:]])


def stored(path: Path) -> dict[str, Any]:
    """What was measured before."""
    return json.loads(path.read_text()) if path.is_file() else {"facts": {}, "limits": [], "rows": []}


def merged(old: list[Row], new: list[Row], by: Any) -> list[Row]:
    """Old rows with the new ones in their places, the others behind."""
    fresh = {by(row): row for row in new}
    kept = [fresh.pop(by(row), row) for row in old]
    return [*kept, *fresh.values()]


def main(arguments: list[str] | None = None) -> int:
    """Runs the command line; returns the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0], prog="benchmarks.accuracy")
    parser.add_argument("cases", nargs="*", metavar="case", help=f"of {', '.join(CASES)}; none: all")
    parser.add_argument("--solver", action="append", type=Setting.parse, help="name=value,...; dt is a name, too")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--dt", type=float, default=None, help="time step where a setting names none [s]")
    parser.add_argument("--limit", action="store_true", help="these are the converged limits")
    parser.add_argument("--out", type=Path, default=OUT, help="folder for accuracy.json")
    args = parser.parse_args(arguments)
    unknown = [name for name in args.cases if name not in CASES]
    if unknown:
        parser.error(f"case: expected some of {', '.join(CASES)}, got {', '.join(unknown)}")
    args.out.mkdir(parents=True, exist_ok=True)
    path = args.out / "accuracy.json"
    for name in args.cases or CASES:
        case = CASES[name]
        print(f"\n{name}: {case.about}\n", flush=True)
        rows = []
        for setting in args.solver or [Setting.parse("")]:
            given = setting.dt or args.dt
            for dt in (given,) if given else case.steps:
                rows += [measured(name, variant, setting, dt, args.seeds) for variant in case.variants]
        data = stored(path)
        data["facts"] = measure.facts()
        data["rows"] = merged(data["rows"], rows, key)
        if args.limit:
            data["limits"] = merged(data["limits"], rows, lambda row: (row["case"], row["variant"]))
        path.write_text(json.dumps(data, indent=1) + "\n")
        print(table(rows, data["limits"]), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
