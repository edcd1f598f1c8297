"""run.py: speed on a GPU beside what was promised, and beside every speed what it costs in accuracy.

    python -m benchmarks.gpu [speed batch bulldozer crossover depth planar overhead kernels streams phases sort
        hash_size gears price] [--quick] [--device cuda] [--out FOLDER]

Prints a table per case and writes FOLDER/<case>.json, row by row as they come, and .png. A step returns when it is
computed, so times are of the clock on the wall: medians of five blocks after two that are not timed. Beside a speed
stands its floor: what it would be if the step did nothing but move its arrays through the GPU's memory
(roofline.py). --quick runs every case at a tiny size, to see that it runs (also where kernels are emulated on the
CPU); its speeds mean nothing.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import os
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path

if __package__ in (None, ""):
    # behind an installed granular_gym: another build may be measured
    sys.path.append(str(Path(__file__).resolve().parents[2]))

import granular_gym as gg
from benchmarks import measure, plots
from benchmarks.gpu import breakdown, figures, target_cases
from benchmarks.gpu.case import FULL, SEEN, SPEED, TINY, VERDICT, Run
from benchmarks.measure import Row
from benchmarks.run import table

OUT = Path(__file__).resolve().parents[1] / "results"


@dataclasses.dataclass(frozen=True)
class GpuCase:
    """A table, see benchmarks.run.Case; `rows` takes a Run."""

    about: str
    rows: Callable[[Run], Iterator[Row]]
    columns: tuple[str, ...]


CASES: dict[str, GpuCase] = {
    "speed": GpuCase("one world", target_cases.speed, (*SPEED, "floor_us", *VERDICT, *SEEN)),
    "batch": GpuCase("many envs in one world", target_cases.batch, (*SPEED, "floor_us", *VERDICT, *SEEN)),
    "bulldozer": GpuCase("env steps per second", target_cases.bulldozer, ("env_steps_per_s", *VERDICT, *SEEN)),
    "crossover": GpuCase(
        "largest bed in real time", target_cases.crossover, (*SPEED, "floor_us", "real_time_grains", *VERDICT, *SEEN)
    ),
    "depth": GpuCase(
        "depth images per second", target_cases.depth, ("images_per_s", "render_us", "rounds", *VERDICT, *SEEN)
    ),
    "overhead": GpuCase(
        "Python's own time of a batched env step [us]",
        target_cases.vector_overhead,
        ("overhead_us", "overhead_cpu_us", "warm_us", "core_us", "core_calls", "clock_us", *VERDICT, *SEEN),
    ),
    "planar": GpuCase("nonconvex grains in a plane", target_cases.planar, (*SPEED, "env_steps_per_s", *VERDICT, *SEEN)),
    "kernels": GpuCase("how a step is run", breakdown.kernels, ("kernel", *SPEED, "floor_us", *SEEN)),
    "streams": GpuCase(
        "two worlds on two streams [us per substep]", breakdown.streams, ("us_apart", "us_together", "ratio", *SEEN)
    ),
    "phases": GpuCase(
        "time by phase [us per substep]",
        breakdown.phases,
        ("us_per_step", "iterate_us", "search_us", "prepare_contacts_us", "count_contacts_us", *SEEN),
    ),
    "sort": GpuCase(
        "the sort by cells beside the toolkit's [us]",
        breakdown.sort,
        ("order_us", "cub_us", "ratio", "search_us", *SEEN),
    ),
    "hash_size": GpuCase(
        "speed against hash table size", breakdown.hash_size, ("us_per_step", "times_real_time", *SEEN)
    ),
    "gears": GpuCase("speed against bodies and grains", breakdown.gears, (*SPEED, *SEEN)),
    "price": GpuCase("two speeds to compare builds by", breakdown.price, (*SPEED, *SEEN)),
}


def facts(device: str) -> Row:
    """What the figures were measured on."""
    gpus = gg.info()["devices"]["cuda"]["gpus"]
    number = int(device.partition(":")[2] or 0)
    gpu = gpus[number] if device != "cpu" and gpus else {}
    return {"gpu": gpu.get("name", "none"), **{k: v for k, v in gpu.items() if k != "name"}, **measure.facts()}


def folder_name(gpu: str) -> str:
    """The name of a GPU as that of a folder."""
    return "_".join("".join(c if c.isalnum() else " " for c in gpu).split())


def report(name: str, run: Run, about: Row, out: Path) -> None:
    """Measures one case, prints it and writes its files; what was measured is written before the next row begins."""
    case = CASES[name]
    print(f"\n{name}: {case.about}", flush=True)
    start = time.perf_counter()
    rows: list[Row] = []

    def write(complete: bool) -> None:
        result = {"case": name, "about": case.about, "quick": run.sizes is TINY, "complete": complete, "facts": about}
        # a process that is ended while it writes must not leave half a file
        whole = out / f".{name}.json"
        whole.write_text(json.dumps({**result, "rows": rows}, indent=1) + "\n")
        os.replace(whole, out / f"{name}.json")

    with warnings.catch_warnings():
        # some cases go where the solver warns not to
        warnings.simplefilter("ignore", gg.StabilityWarning)
        for row in case.rows(run):
            rows.append(row)
            write(False)
            print(f"  {time.perf_counter() - start:5.1f} s  {row['name']}", flush=True)
    write(True)
    print(table(rows, case.columns))
    for row in rows:
        if "met" in row:
            said = "met" if row["met"] else "SHORT"
            reached = plots.median(row[row["promised"]])
            beside = f", floor {row['floor']:.4g}" if "floor" in row else ""
            print(f"{said}: {row['name']}: {row['promised']} {reached:.4g} (promised {row['wanted']:.4g}{beside})")
    print(f"({time.perf_counter() - start:.0f} s)", flush=True)
    figures.draw(name, rows, about, out / f"{name}.png")


def draw_promises(folder: Path) -> int:
    """One picture of all that was promised, from the files of the cases."""
    results = [
        json.loads((folder / f"{name}.json").read_text()) for name in CASES if (folder / f"{name}.json").exists()
    ]
    rows = [row for result in results for row in result["rows"] if "met" in row]
    if rows:
        figures.draw("promises", rows, results[0]["facts"], folder / "promises.png")
    return 0


def main(arguments: list[str] | None = None) -> int:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0], prog="benchmarks.gpu")
    parser.add_argument("names", nargs="*", metavar="case", help=f"of {', '.join(CASES)}; none: all")
    parser.add_argument("--quick", action="store_true", help="tiny sizes: only to see that it runs")
    parser.add_argument("--device", default="cuda", help="cuda, cuda:1, or cpu")
    parser.add_argument("--out", type=Path, help="folder for JSON and PNG; default benchmarks/results/<GPU>")
    parser.add_argument("--draw", type=Path, metavar="FOLDER", help="only draw FOLDER/promises.png of its JSON files")
    args = parser.parse_args(arguments)
    if args.draw:
        return draw_promises(args.draw)
    unknown = [name for name in args.names if name not in CASES]
    if unknown:
        parser.error(f"case: expected some of {', '.join(CASES)}, got {', '.join(unknown)}")
    try:
        gg.Scene(((0, 0, 0), (1, 1, 1))).build(device=args.device).close()
    except gg.GranularError as error:
        print(error, file=sys.stderr)
        return 2
    about = facts(args.device)
    out = args.out or OUT / folder_name(about["gpu"])
    out.mkdir(parents=True, exist_ok=True)
    print("\n".join(f"{key:<14} {value}" for key, value in about.items()))
    for name in args.names or CASES:
        report(name, Run(TINY if args.quick else FULL, args.device, about["gpu"]), about, out)
    print(f"\nwrote {out}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
