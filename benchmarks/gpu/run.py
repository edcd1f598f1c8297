"""run.py: speed and accuracy on a GPU, with targets.

    python -m benchmarks.gpu [speed batch bulldozer crossover depth planar overhead kernels modes limits matter streams
        phases sort hash_size gears price] [--quick] [--device cuda] [--out FOLDER]

Prints a table per case and writes FOLDER/<case>.json, row by row, and .png. A step returns when it is complete, so
times are wall times: medians of five blocks after two that are not timed. Speeds have a roofline: the speed if a step
only moved its arrays through the GPU's memory (roofline.py). --quick runs every case at a tiny size, to test that it
runs (also where kernels are emulated on the CPU); its speeds mean nothing.
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
    # after an installed granular_gym: another build may be measured
    sys.path.append(str(Path(__file__).resolve().parents[2]))

import granular_gym as gg
from benchmarks import measure, plots
from benchmarks.gpu import breakdown, figures, matter, programs, target_cases
from benchmarks.gpu.case import ACCURACY, FULL, SPEED, TINY, VERDICT, Run
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
    "speed": GpuCase("one world", target_cases.speed, (*SPEED, "roofline_us", *VERDICT, *ACCURACY)),
    "batch": GpuCase("many envs in one world", target_cases.batch, (*SPEED, "roofline_us", *VERDICT, *ACCURACY)),
    "bulldozer": GpuCase("env steps per second", target_cases.bulldozer, ("env_steps_per_s", *VERDICT, *ACCURACY)),
    "crossover": GpuCase(
        "largest bed in real time",
        target_cases.crossover,
        (*SPEED, "roofline_us", "real_time_grains", *VERDICT, *ACCURACY),
    ),
    "depth": GpuCase(
        "depth images per second", target_cases.depth, ("images_per_s", "render_us", "rounds", *VERDICT, *ACCURACY)
    ),
    "overhead": GpuCase(
        "Python's own time of a batched env step [us]",
        target_cases.vector_overhead,
        ("overhead_us", "overhead_cpu_us", "warm_us", "core_us", "core_calls", "clock_us", *VERDICT, *ACCURACY),
    ),
    "planar": GpuCase(
        "nonconvex grains in a plane", target_cases.planar, (*SPEED, "env_steps_per_s", *VERDICT, *ACCURACY)
    ),
    "kernels": GpuCase("by kernel", breakdown.kernels, ("kernel", *SPEED, "roofline_us", *ACCURACY)),
    "modes": GpuCase("by mode of the solver", breakdown.modes, (*SPEED, "roofline_us", *ACCURACY)),
    "limits": GpuCase("what this GPU does at best", programs.limits, ("value", "unit")),
    "matter": GpuCase(
        "continuous matter",
        matter.matter,
        ("us_per_step", "particle_steps_per_s", *matter.CERTIFICATE, "bytes_per_particle", "diverged"),
    ),
    "streams": GpuCase(
        "two worlds on two streams [us per substep]", breakdown.streams, ("us_apart", "us_together", "ratio", *ACCURACY)
    ),
    "phases": GpuCase(
        "time by phase [us per substep]",
        breakdown.phases,
        ("us_per_step", "iterate_us", "search_us", "prepare_contacts_us", "count_contacts_us", *ACCURACY),
    ),
    "sort": GpuCase(
        "the sort by cells and that of CUB [us]",
        breakdown.sort,
        ("order_us", "cub_us", "ratio", "search_us", *ACCURACY),
    ),
    "hash_size": GpuCase(
        "speed against hash table size", breakdown.hash_size, ("us_per_step", "times_real_time", *ACCURACY)
    ),
    "gears": GpuCase("speed against bodies and grains", breakdown.gears, (*SPEED, *ACCURACY)),
    "price": GpuCase("two speeds to compare builds", breakdown.price, (*SPEED, *ACCURACY)),
}


def facts(device: str) -> Row:
    """Facts about the machine, the GPU and the build."""
    gpus = gg.info()["devices"]["cuda"]["gpus"]
    number = int(device.partition(":")[2] or 0)
    gpu = gpus[number] if device != "cpu" and gpus else {}
    return {"gpu": gpu.get("name", "none"), **{k: v for k, v in gpu.items() if k != "name"}, **measure.facts()}


def folder_name(gpu: str) -> str:
    """The name of a GPU as the name of a folder."""
    return "_".join("".join(c if c.isalnum() else " " for c in gpu).split())


def report(name: str, run: Run, about: Row, out: Path) -> None:
    """Measures one case; prints it; writes its files, after each row."""
    case = CASES[name]
    print(f"\n{name}: {case.about}", flush=True)
    start = time.perf_counter()
    rows: list[Row] = []

    def write(complete: bool) -> None:
        result = {"case": name, "about": case.about, "quick": run.sizes is TINY, "complete": complete, "facts": about}
        # atomically: the process may be ended at any time
        part = out / f".{name}.json"
        part.write_text(json.dumps({**result, "rows": rows}, indent=1) + "\n")
        os.replace(part, out / f"{name}.json")

    with warnings.catch_warnings():
        # some cases are outside the stable settings
        warnings.simplefilter("ignore", gg.StabilityWarning)
        for row in case.rows(run):
            rows.append(row)
            write(False)
            print(f"  {time.perf_counter() - start:5.1f} s  {row['name']}", flush=True)
    write(True)
    print(table(rows, case.columns))
    for row in rows:
        if "met" in row:
            verdict = "met" if row["met"] else "SHORT"
            value = plots.median(row[row["figure"]])
            bound = f", roofline {row['roofline']:.4g}" if "roofline" in row else ""
            print(f"{verdict}: {row['name']}: {row['figure']} {value:.4g} (target {row['wanted']:.4g}{bound})")
    print(f"({time.perf_counter() - start:.0f} s)", flush=True)
    figures.draw(name, rows, about, out / f"{name}.png")


def draw_targets(folder: Path) -> int:
    """Draws all figures with targets, from the files of the cases."""
    results = [
        json.loads((folder / f"{name}.json").read_text()) for name in CASES if (folder / f"{name}.json").exists()
    ]
    rows = [row for result in results for row in result["rows"] if "met" in row]
    if rows:
        figures.draw("targets", rows, results[0]["facts"], folder / "targets.png")
    return 0


def main(arguments: list[str] | None = None) -> int:
    """Runs the command line; returns the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0], prog="benchmarks.gpu")
    parser.add_argument("names", nargs="*", metavar="case", help=f"of {', '.join(CASES)}; none: all")
    parser.add_argument("--quick", action="store_true", help="tiny sizes, to test that it runs")
    parser.add_argument("--device", default="cuda", help="cuda, cuda:1, or cpu")
    parser.add_argument("--out", type=Path, help="folder for JSON and PNG; default benchmarks/results/<GPU>")
    parser.add_argument("--draw", type=Path, metavar="FOLDER", help="only draw FOLDER/targets.png from its JSON files")
    args = parser.parse_args(arguments)
    if args.draw:
        return draw_targets(args.draw)
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
