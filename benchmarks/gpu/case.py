"""case.py: what a case of run.py is given, and how a drive is timed beside its floor and what was promised."""

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

Driven = Drive | SiloDrive | TowerDrive

# columns of tables
SPEED = ("us_per_step", "times_real_time", "grain_steps_per_s")
VERDICT = ("wanted", "share", "met", "floor")
SEEN = (*QUALITY, "contacts_per_grain", "rebuild_count", *COUNTERS)


@dataclasses.dataclass(frozen=True)
class Sizes:
    """How large everything is."""

    layers: int  # of a bed
    bed: int  # grains of the standard bed
    large: int
    ladder: tuple[int, ...]  # of the search for the largest bed in real time
    envs: int  # of a batch
    env_layers: int  # 100 grains each
    wide: tuple[int, int, int]  # envs, tiles, layers of the batch of larger envs
    substeps: int  # of a timed block of the standard bed
    kernels: tuple[tuple[int, int, int], ...]  # envs, grains, layers
    phases: tuple[tuple[int, int, int], ...]  # likewise
    streams: tuple[int, ...]  # grains of each of two worlds
    column: tuple[int, float]  # grains and half width [diameters] of the tall column
    settle: int  # its substeps
    gears: tuple[int, ...]
    tower: int  # grains of the tower where its gears are counted
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
    """What a case is asked for."""

    sizes: Sizes
    device: str
    gpu: str = ""  # name of what it runs on

    def floor(self, row: Row) -> float:
        """Least time of one substep of a row's grains [s]; notes what it follows from."""
        rate, row["bandwidth_of"] = roofline.bandwidth(self.gpu)
        row["bytes_per_grain_step"] = roofline.bytes_per_grain(
            row["contacts_per_grain"], row["iterations"], row.get("rolling", False)
        )
        grains = row["grains"] * row["envs"]
        row["working_set_mb"] = 1e-6 * grains * roofline.resident(row["contacts_per_grain"], row.get("rolling", False))
        return grains * row["bytes_per_grain_step"] / rate


def promise(row: Row, key: str, floor: float | None = None) -> Row:
    """Notes what a row was promised to reach (a key of TARGETS), whether it did, and what its floor would give."""
    asked = TARGETS[key]
    value = float(plots.median(row[asked.figure]))
    met = value <= asked.wanted if asked.at_most else value >= asked.wanted
    row.update({"promise": key, "promised": asked.figure, "wanted": asked.wanted, "at_most": asked.at_most, "met": met})
    row["share"] = asked.wanted / max(value, 1e-12) if asked.at_most else value / asked.wanted
    if floor is None and asked.figure in row.get("floors", {}):
        floor = row["floors"][asked.figure]
    if floor is not None:
        row["floor"] = floor
    return row


def driven(run: Run, name: str, build: Callable[[], Driven], floored: bool = True, **facts: Any) -> Row:
    """Times blocks of a drive.

    Args:
        run: what the case is given.
        name: of the row.
        build: makes the drive.
        floored: the bytes that a step must move are known (roofline.py: those of spheres).
        facts: further columns.
    """
    row = measure.run(_subject(name, build, facts), run.sizes.repeats)
    return _speeds(run, row, floored)


def _subject(name: str, build: Callable[[], Driven], facts: Row) -> Subject:
    def made() -> Driven:
        drive = build()
        facts.update({"dt": drive.dt, "substeps": drive.substeps, "iterations": drive.world.solver.iterations})
        facts.update({"grains": drive.world.grain_count, "envs": drive.world.env_count})
        rolling = drive.world._core.get_materials()[0][..., 2].max(initial=0.0) > 0.0
        facts["rolling"] = bool(rolling) and drive.world.solver.mode == "convergent"
        return drive

    def look(drive: Driven) -> Row:
        # the counters of a step keep its worst moment
        return {**measure.quality(drive.world), **facts}

    return Subject(name, made, lambda drive: drive.step(), look, 0.0, warm_up=2)


def _speeds(run: Run, row: Row, floored: bool) -> Row:
    """What the time of a block comes to, and would come to at the floor."""
    wall = row["wall_seconds"]
    for key in ("cpu_seconds", "sim_per_cpu", "simulated_seconds", "threads"):
        row.pop(key, None)
    grains = row["grains"] * row["envs"]
    row["us_per_step"] = {key: 1e6 * value / row["substeps"] for key, value in wall.items()}
    per_second = [row["substeps"] / value for value in wall.values()]
    row["times_real_time"] = measure.spread([row["dt"] * rate for rate in per_second])
    row["grain_steps_per_s"] = measure.spread([grains * rate for rate in per_second])
    if not floored:
        return row
    least = max(run.floor(row), 1e-12)
    row["floor_us"] = 1e6 * least
    row["floors"] = {
        "us_per_step": 1e6 * least,
        "times_real_time": row["dt"] / least,
        "grain_steps_per_s": grains / least,
    }
    return row


def best_output(device: str) -> str:
    """Where torch is, tensors; on a CPU arrays."""
    return "numpy" if device == "cpu" else "torch" if importlib.util.find_spec("torch") else "device"
