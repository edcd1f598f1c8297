"""measure.py: timing of scenes, and the measures of accuracy that go with every speed.

Work on one thread is measured by the processor time of this process, which other programs affect little; work on
several threads also by wall time. A figure is the median of the repeats, with the smallest and the largest.
"""

from __future__ import annotations

import json
import os
import platform
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

import granular_gym as gg
from testbed.beds import DT

Row = dict[str, Any]
REPEATS = 5


@dataclass(frozen=True)
class Subject:
    """One row of a table: what is built, stepped and measured.

    Attributes:
        name: label in tables and plots.
        build: makes the object that is stepped.
        step: one block of work on it, always the same.
        measure: further columns, measured after the last block.
        seconds: simulated time of one block [s].
        facts: further columns.
        warm_up: number of blocks before timing.
    """

    name: str
    build: Callable[[], Any]
    step: Callable[[Any], None]
    measure: Callable[[Any], Row]
    seconds: float
    facts: Row = field(default_factory=dict)
    warm_up: int = 1


def spread(values: list[float]) -> Row:
    """Smallest, median and largest value."""
    return {"min": min(values), "median": statistics.median(values), "max": max(values)}


def timed(step: Callable[[Any], Any], target: Any) -> tuple[Any, tuple[float, float]]:
    """What `step(target)` returns, and its processor and wall time [s]."""
    cpu, wall = time.process_time(), time.perf_counter()
    result = step(target)
    return result, (time.process_time() - cpu, time.perf_counter() - wall)


def time_block(step: Callable[[Any], None], target: Any) -> tuple[float, float]:
    """Processor and wall time of one block [s]."""
    return timed(step, target)[1]


def run(subject: Subject, repeats: int = REPEATS) -> Row:
    """Builds, warms up, times and measures one subject."""
    target = subject.build()
    try:
        for _ in range(subject.warm_up):
            subject.step(target)
        times = [time_block(subject.step, target) for _ in range(repeats)]
        row: Row = {"name": subject.name, **subject.facts}
        row["cpu_seconds"] = spread([cpu for cpu, _ in times])
        row["wall_seconds"] = spread([wall for _, wall in times])
        row["simulated_seconds"] = subject.seconds
        row["sim_per_cpu"] = spread([subject.seconds / max(cpu, 1e-9) for cpu, _ in times])
        row["repeats"] = repeats
        row.update(subject.measure(target))
        return row
    finally:
        target.close()


def quality(world: gg.World) -> Row:
    """Residual, overlap and counters of the last step, over all envs; overlaps in % of a diameter."""
    stats = world.stats
    overlapping = int(stats["overlap_count"].sum())
    return {
        "residual": float(stats["residual"].max()),
        "overlap_mean_pct": 100.0 * float(stats["overlap_sum"].sum()) / max(overlapping, 1),
        "overlap_max_pct": 100.0 * float(stats["overlap_max"].max()),
        "contacts_per_grain": float(stats["contact_count"].sum()) / max(world.grain_count * world.env_count, 1),
        "rebuild_count": int(stats["rebuild_count"].sum()),
        "escaped_count": int(stats["escaped_count"].sum()),
        "fast_count": int(stats["fast_count"].sum()),
        "diverged": int(stats["diverged"].sum()),
        "bytes_per_grain": world.info["memory"] / max(world.grain_count * world.env_count, 1),
        "kernel": world.info["kernel"],
        "threads": world.info["thread_count"],
    }


def world_subject(name: str, build: Callable[[], gg.World], substeps: int, dt: float = DT, **more: Any) -> Subject:
    """A subject that steps a world."""
    measure = more.pop("measure", quality)
    warm_up = more.pop("warm_up", 1)
    return Subject(name, build, lambda w: w.step(dt, substeps), measure, dt * substeps, more, warm_up)


def sinking(world: gg.World, before: float, seconds: float) -> float:
    """Loss of mean height per simulated second since it was `before` [%/s]."""
    return 100.0 * (before - mean_height(world)) / before / seconds


def mean_height(world: gg.World) -> float:
    """Mean height of all grains [m]."""
    return float(world.positions[..., 2].mean(dtype=np.float64))


def _cpu_model() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.machine()


def load_average() -> float:
    """Mean number of runnable processes over the last minute; above the number of cores timings suffer."""
    return os.getloadavg()[0] if hasattr(os, "getloadavg") else float("nan")


def facts() -> Row:
    """Facts about the machine and the build."""
    info = gg.info()
    return {
        "cpu": _cpu_model(),
        "cores": info["threads"],
        "system": f"{platform.system()} {platform.machine()}",
        "date": time.strftime("%Y-%m-%d"),
        "load_at_start": load_average(),
        **{key: info[key] for key in ("version", "compiler", "flags", "kernel", "python", "numpy", "debug")},
    }


def save(path: Path, facts: Row, rows: list[Row]) -> None:
    """Writes rows to a file, beside those of other names that it has; notes the load on the machine."""
    path.parent.mkdir(parents=True, exist_ok=True)
    old: Row = json.loads(path.read_text()) if path.is_file() else {"rows": []}
    kept = [row for row in old["rows"] if row["name"] not in {one["name"] for one in rows}]
    found = {"facts": {**facts, "load_at_end": load_average()}, "rows": [*kept, *rows]}
    path.write_text(json.dumps(found, indent=1) + "\n")
