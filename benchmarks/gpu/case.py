"""case.py: the sizes of the cases of run.py, and timing of a drive with its roofline and target."""

from __future__ import annotations

import dataclasses
import importlib.util
from collections.abc import Callable
from typing import Any

from benchmarks import measure, piles, plots
from benchmarks.gpu import roofline
from benchmarks.gpu.drives import Drive, SiloDrive, TowerDrive
from benchmarks.gpu.targets import KERNEL_SIZES, PHASES_FROM, STREAM_SIZES, TARGETS
from benchmarks.measure import Row, Subject
from benchmarks.run import COUNTERS, QUALITY
from granular_gym.engine.solver import CONVERGENT

Driven = Drive | SiloDrive | TowerDrive

# columns of tables
SPEED = ("us_per_step", "times_real_time", "grain_steps_per_s")
VERDICT = ("wanted", "share", "met", "roofline")
ACCURACY = (*QUALITY, "contacts_per_grain", "rebuild_count", *COUNTERS)


@dataclasses.dataclass(frozen=True)
class Sizes:
    """Sizes of the scenes."""

    layers: int  # layers of a bed
    bed: int  # grains of the standard bed
    large: int
    ladder: tuple[int, ...]  # grains of the beds among which the largest in real time is found
    envs: int  # envs of a batch
    env_layers: int  # its layers of 100 grains
    wide: tuple[int, int, int]  # envs, tiles, layers of the batch of larger envs
    substeps: int  # substeps of a timed block of the standard bed
    kernels: tuple[tuple[int, int, int], ...]  # envs, grains, layers
    phases: tuple[tuple[int, int, int], ...]  # likewise
    streams: tuple[int, ...]  # grains of each of two worlds
    column: tuple[int, float]  # grains and half width [diameters] of the tall column
    settle: int  # its substeps of settling
    gears: tuple[int, ...]
    tower: int  # grains of the tower for the cases by number of gears
    towers: tuple[int, ...]
    pile: tuple[int, float]  # # grains, and time to settle [s]
    silos: tuple[int, int]  # envs, # grains
    repeats: int = measure.REPEATS


FULL = Sizes(
    layers=20,
    bed=50_000,
    large=500_000,
    ladder=(250_000, 500_000, 1_000_000, 1_500_000, 2_000_000, 3_000_000),
    envs=1024,
    env_layers=10,
    wide=(148, 4, 25),
    substeps=400,
    kernels=KERNEL_SIZES,
    phases=tuple(size for size in KERNEL_SIZES if size[0] * size[1] >= PHASES_FROM),
    streams=STREAM_SIZES,
    column=(50_000, 15.0),
    settle=800,
    gears=(2, 4, 6, 8),
    tower=10_000,
    towers=(1_000, 3_000, 10_000, 30_000, 100_000, 300_000),
    pile=(piles.TARGET_GRAINS, piles.SETTLE[0]),
    silos=(1024, 300),
)
TINY = Sizes(
    layers=2,
    bed=200,
    large=400,
    ladder=(200, 400),
    envs=3,
    env_layers=1,
    wide=(2, 2, 1),
    substeps=2,
    kernels=((1, 100, 1), (3, 100, 1)),
    phases=((1, 100, 1),),
    streams=(100,),
    column=(100, 3.0),
    settle=4,
    gears=(3,),
    tower=500,
    towers=(500,),
    pile=(40, 0.01),
    silos=(2, 12),
    repeats=2,
)


@dataclasses.dataclass(frozen=True)
class Run:
    """The arguments of a case."""

    sizes: Sizes
    device: str
    gpu: str = ""  # name of the GPU

    def roofline(self, row: Row) -> float:
        """Memory-bound time of one substep of a row's grains [s]; adds the data it follows from to the row."""
        rate, row["bandwidth_of"] = roofline.bandwidth(self.gpu)
        contacts, rolling, mode = row["contacts_per_grain"], row.get("rolling", False), row["solver_mode"]
        row["bytes_per_grain_step"] = roofline.bytes_per_grain(contacts, row["iterations"], rolling, mode)
        grains = row["grains"] * row["envs"]
        row["working_set_mb"] = 1e-6 * grains * roofline.resident(contacts, rolling, mode)
        return grains * row["bytes_per_grain_step"] / rate


def with_target(row: Row, key: str, bound: float | None = None) -> Row:
    """Adds a target to a row, and whether it is met.

    Args:
        row: with the figure of the target.
        key: of TARGETS.
        bound: roofline of the figure; default: that of the row.
    """
    target = TARGETS[key]
    value = float(plots.median(row[target.figure]))
    met = value <= target.wanted if target.at_most else value >= target.wanted
    row.update({"target": key, "figure": target.figure, "wanted": target.wanted, "at_most": target.at_most, "met": met})
    row["share"] = target.wanted / max(value, 1e-12) if target.at_most else value / target.wanted
    if bound is None:
        bound = row.get("rooflines", {}).get(target.figure)
    if bound is not None:
        row["roofline"] = bound
    return row


def driven(run: Run, name: str, build: Callable[[], Driven], bounded: bool = True, **facts: Any) -> Row:
    """Times blocks of a drive.

    Args:
        run: arguments of the case.
        name: of the row.
        build: makes the drive.
        bounded: add the roofline, which is known for spheres only.
        facts: further columns.
    """
    row = measure.run(_subject(name, build, facts), run.sizes.repeats)
    return _speeds(run, row, bounded)


def _subject(name: str, build: Callable[[], Driven], facts: Row) -> Subject:
    def build_drive() -> Driven:
        drive = build()
        facts.update({"dt": drive.dt, "substeps": drive.substeps, "iterations": drive.world.solver.iterations})
        facts.update({"grains": drive.world.grain_count, "envs": drive.world.env_count})
        rolling = drive.world._core.get_materials()[0][..., 2].max(initial=0.0) > 0.0
        facts["rolling"] = bool(rolling) and drive.world.solver.mode in CONVERGENT
        facts["solver_mode"] = drive.world.solver.mode
        return drive

    def look(drive: Driven) -> Row:
        # the counters of a step hold its largest values
        return {**measure.quality(drive.world), **facts}

    return Subject(name, build_drive, lambda drive: drive.step(), look, 0.0, warm_up=2)


def _speeds(run: Run, row: Row, bounded: bool) -> Row:
    """Adds speeds that follow from the time of a block, and their rooflines."""
    wall = row["wall_seconds"]
    for key in ("cpu_seconds", "sim_per_cpu", "simulated_seconds", "threads"):
        row.pop(key, None)
    grains = row["grains"] * row["envs"]
    row["us_per_step"] = {key: 1e6 * value / row["substeps"] for key, value in wall.items()}
    per_second = [row["substeps"] / value for value in wall.values()]
    row["times_real_time"] = measure.spread([row["dt"] * rate for rate in per_second])
    row["grain_steps_per_s"] = measure.spread([grains * rate for rate in per_second])
    if not bounded:
        return row
    seconds = max(run.roofline(row), 1e-12)
    row["roofline_us"] = 1e6 * seconds
    row["rooflines"] = {
        "us_per_step": 1e6 * seconds,
        "times_real_time": row["dt"] / seconds,
        "grain_steps_per_s": grains / seconds,
    }
    return row


def best_output(device: str) -> str:
    """Output type of a task: NumPy on a CPU; on a GPU torch where installed, else device arrays."""
    return "numpy" if device == "cpu" else "torch" if importlib.util.find_spec("torch") else "device"
