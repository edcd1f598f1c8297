"""gpu.py: speed on a GPU beside what was promised, and beside every speed what it costs in accuracy.

    python -m benchmarks.gpu [speed batch bulldozer crossover depth overhead kernels streams phases hash_size gears
        price] [--quick] [--device cuda] [--out FOLDER]

Prints a table per case and writes FOLDER/<case>.json, row by row as they come, and .png. A step returns when it is
computed, so times are of the clock on the wall: medians of five blocks after two that are not timed. Beside a speed
stands its floor: what it would be if the step did nothing but move its arrays through the GPU's memory
(gpu_floor.py). --quick runs every case at a tiny size, to see that it runs (also where kernels are emulated on the
CPU); its speeds mean nothing.
"""

from __future__ import annotations

import argparse
import dataclasses
import importlib.util
import json
import math
import os
import sys
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

if __package__ in (None, ""):
    # behind an installed granular_gym: another build may be measured
    sys.path.append(str(Path(__file__).resolve().parent.parent))

import granular_gym as gg
from benchmarks import gpu_floor, gpu_plots, gpu_scenes, measure, overhead, plots, scenes
from benchmarks.gpu_promises import KERNEL_SIZES, PROMISES, STREAM_SIZES, WAYS
from benchmarks.gpu_scenes import Drive, TowerDrive
from benchmarks.measure import Row, Subject
from benchmarks.run import COUNTERS, QUALITY, table
from granular_gym.grain_task import Pace

OUT = Path(__file__).resolve().parent / "results"
#: the env step of the bulldozers
PACE = Pace(2e-3, 50, 10)


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
    phases=tuple(size for size in KERNEL_SIZES if size[0] * size[1] >= 50_000),
    streams=STREAM_SIZES,
    column=(50_000, 15.0),
    settle=800,
    gears=(2, 4, 6, 8),
    tower=10_000,
    towers=(1_000, 3_000, 10_000, 30_000, 100_000, 300_000),
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
        rate, row["bandwidth_of"] = gpu_floor.bandwidth(self.gpu)
        row["bytes_per_grain_step"] = gpu_floor.bytes_per_grain(
            row["contacts_per_grain"], row["iterations"], row.get("rolling", False)
        )
        grains = row["grains"] * row["envs"]
        row["working_set_mb"] = 1e-6 * grains * gpu_floor.resident(row["contacts_per_grain"], row.get("rolling", False))
        return grains * row["bytes_per_grain_step"] / rate


def promise(row: Row, key: str, floor: float | None = None) -> Row:
    """Notes what a row was promised to reach (a key of PROMISES), whether it did, and what its floor would give."""
    asked = PROMISES[key]
    value = float(plots.median(row[asked.figure]))
    met = value <= asked.wanted if asked.at_most else value >= asked.wanted
    row.update({"promise": key, "promised": asked.figure, "wanted": asked.wanted, "at_most": asked.at_most, "met": met})
    row["share"] = asked.wanted / max(value, 1e-12) if asked.at_most else value / asked.wanted
    if floor is None and asked.figure in row.get("floors", {}):
        floor = row["floors"][asked.figure]
    if floor is not None:
        row["floor"] = floor
    return row


def driven(run: Run, name: str, build: Callable[[], Drive | TowerDrive], **facts: Any) -> Row:
    """Times blocks of a Drive."""
    row = measure.run(_subject(name, build, facts), run.sizes.repeats)
    return _speeds(run, row)


def _subject(name: str, build: Callable[[], Drive | TowerDrive], facts: Row) -> Subject:
    def made() -> Drive | TowerDrive:
        drive = build()
        facts.update({"dt": drive.dt, "substeps": drive.substeps, "iterations": drive.world.solver.iterations})
        facts.update({"grains": drive.world.grain_count, "envs": drive.world.env_count})
        rolling = drive.world._core.get_materials()[0][..., 2].max(initial=0.0) > 0.0
        facts["rolling"] = bool(rolling) and drive.world.solver.mode == "convergent"
        return drive

    def look(drive: Drive) -> Row:
        # the counters of a step keep its worst moment
        return {**measure.quality(drive.world), **facts}

    return Subject(name, made, lambda drive: drive.step(), look, 0.0, warm_up=2)


def _speeds(run: Run, row: Row) -> Row:
    """What the time of a block comes to, and would come to at the floor."""
    wall = row["wall_seconds"]
    for key in ("cpu_seconds", "sim_per_cpu", "simulated_seconds", "threads"):
        row.pop(key, None)
    grains = row["grains"] * row["envs"]
    row["us_per_step"] = {key: 1e6 * value / row["substeps"] for key, value in wall.items()}
    per_second = [row["substeps"] / value for value in wall.values()]
    row["times_real_time"] = measure.spread([row["dt"] * rate for rate in per_second])
    row["grain_steps_per_s"] = measure.spread([grains * rate for rate in per_second])
    least = max(run.floor(row), 1e-12)
    row["floor_us"] = 1e6 * least
    row["floors"] = {
        "us_per_step": 1e6 * least,
        "times_real_time": row["dt"] / least,
        "grain_steps_per_s": grains / least,
    }
    return row


# what was promised -------------------------------------------------------------------------------------------------


def speed(run: Run) -> Iterator[Row]:
    """One world: bulldozing, excavating, and a large bed."""
    s = run.sizes

    def bed(count: int, substeps: int) -> Callable[[], Drive]:
        return lambda: Drive(gpu_scenes.bed(count, s.layers, run.device), run.device, substeps=substeps)

    def tooled(make: Any, dt: float, substeps: int) -> Callable[[], Drive]:
        def build() -> Drive:
            scene, ends = make(s.bed, s.layers, dt * substeps, run.device)
            return Drive(scene, run.device, dt, substeps, ends)

        return build

    blade = tooled(gpu_scenes.pushed, 1e-3, s.substeps)
    yield promise(driven(run, f"{s.bed} grains, blade, 1 ms", blade), "blade")
    bucket = tooled(gpu_scenes.dug, 5e-4, s.substeps)
    yield promise(driven(run, f"{s.bed} grains, bucket, 0.5 ms", bucket), "bucket")
    large = bed(s.large, max(s.substeps // 4, 2))
    yield promise(driven(run, f"{s.large} grains at rest, 1 ms", large), "large")
    yield driven(run, f"{s.bed} grains at rest, 1 ms", bed(s.bed, s.substeps))


def crossover(run: Run) -> Iterator[Row]:
    """The largest bed that is computed in real time at 1 ms: a ladder, and the line between its steps."""
    s = run.sizes
    rows: list[Row] = []
    for count in s.ladder:
        substeps = max(2, min(s.substeps, 50_000_000 // count))
        row = driven(
            run,
            f"{count} grains at rest, 1 ms",
            lambda n=count, k=substeps: Drive(gpu_scenes.bed(n, s.layers, run.device), run.device, substeps=k),
        )
        rows.append(row)
        yield row
        if plots.median(row["us_per_step"]) > 1.3e3:
            break
    largest, note = real_time_count([(r["grains"], plots.median(r["us_per_step"])) for r in rows])
    # beside the figure stands what it costs in the largest bed that was fast enough
    like = [row for row in rows if row["grains"] <= largest] or rows[:1]
    found: Row = {key: like[-1][key] for key in (*SEEN, "bytes_per_grain_step", "bandwidth_of") if key in like[-1]}
    found.update({"name": f"largest in real time ({note})", "real_time_grains": largest})
    least = 1e-3 * gpu_floor.bandwidth(run.gpu)[0] / like[-1]["bytes_per_grain_step"]
    yield promise(found, "crossover", least)


def real_time_count(points: list[tuple[int, float]], limit: float = 1e3) -> tuple[float, str]:
    """Grains at which a step takes `limit` us, between (grains, us per step), and how that was found."""
    below = [p for p in points if p[1] <= limit]
    above = [p for p in points if p[1] > limit]
    if not below:
        return 0.0, f"even {points[0][0]} grains take longer"
    if not above:
        return float(below[-1][0]), "at least: the ladder ends there"
    (n0, t0), (n1, t1) = below[-1], above[0]
    share = math.log(limit / t0) / math.log(t1 / t0)
    return n0 * (n1 / n0) ** share, f"between {n0} and {n1}"


def batch(run: Run) -> Iterator[Row]:
    """Many envs in one world."""
    s = run.sizes
    small = driven(
        run,
        f"{s.envs} envs x {100 * s.env_layers} grains",
        lambda: Drive(
            gpu_scenes.bed(100 * s.env_layers, s.env_layers, run.device), run.device, env_count=s.envs, substeps=50
        ),
    )
    yield promise(small, "batch")
    envs, tiles, layers = s.wide
    wide = driven(
        run,
        f"{envs} envs x {100 * tiles * layers} grains",
        lambda: Drive(
            gpu_scenes.bed(100 * tiles * layers, layers, run.device),
            run.device,
            env_count=envs,
            substeps=max(2, s.substeps // 8),
        ),
    )
    yield promise(wide, "wide")


def best_output(device: str) -> str:
    """Where torch is, tensors; on a CPU arrays."""
    return "numpy" if device == "cpu" else "torch" if importlib.util.find_spec("torch") else "device"


def bulldozer(run: Run) -> Iterator[Row]:
    """Env steps per second, two depth cameras and rewards included; actions are random and the same in every run."""
    s = run.sizes
    output = best_output(run.device)
    steps, grains = (4, 100 * s.env_layers) if s is FULL else (1, 20)
    last: dict[str, Any] = {}

    def step(envs: Any) -> None:
        for _ in range(steps):
            action = envs.action_space.sample()
            # the vehicles drive forward on the average, so that they meet the heap
            action[:, 0] = np.abs(action[:, 0])
            observations, *_, last["infos"] = envs.step(action)
        last["pose"] = observations["pose"]
        envs.task.world.stats  # noqa: B018  waits for the images

    def look(envs: Any) -> Row:
        row = overhead.batch_quality(last["infos"], grains)
        row.update({"grains": grains, "envs": envs.num_envs, "dt": PACE.dt, "output": output})
        row.update({"substeps": PACE.substeps, "iterations": PACE.iterations, "rolling": True})
        images = envs.task.images.values()
        row["pixels"] = sum(image.camera.height * image.camera.width for image in images)
        row["images"] = len(images)
        return row

    name = f"{s.envs} bulldozers x {grains} grains, 50 substeps"
    subject = Subject(
        name,
        lambda: overhead.bulldozers(s.envs, grains, run.device, output, PACE),
        step,
        look,
        0.1 * steps * s.envs,
        {},
        warm_up=2,
    )
    row = measure.run(subject, s.repeats)
    for key in ("cpu_seconds", "sim_per_cpu", "simulated_seconds"):
        row.pop(key)
    row["env_steps_per_s"] = measure.spread([steps * s.envs / w for w in row["wall_seconds"].values()])
    seen = s.envs * gpu_floor.bytes_per_image(row["pixels"], row["images"] * grains) / gpu_floor.bandwidth(run.gpu)[0]
    least = row["substeps"] * run.floor(row) + seen
    yield promise(row, "bulldozer", s.envs / least)


def depth(run: Run) -> Iterator[Row]:
    """Depth images that stay on the GPU, rendered anew for every image that is counted.

    An image is rendered where something moved since the last one, and otherwise only handed out again; so the world
    takes a step before each round, which is not timed. A round is timed from the call to the end of the copy, on the
    clock on the wall; the profile of the world must say of each that it rendered.
    """
    s = run.sizes
    pixels, rounds = (64, 20) if s is FULL else (16, 2)
    for camera in ("sky", "side"):
        with gpu_scenes.filmed(s.env_layers, pixels, run.device, camera).build(s.envs, device=run.device) as world:
            world.step(scenes.DT, 2)
            images_per_s, rendering, rendered = [], [], 0
            for block in range(s.repeats + 1):
                wall, render = 0.0, 0.0
                for _ in range(rounds):
                    took, inside = render_once(world, camera)
                    rendered += block > 0
                    wall, render = wall + took, render + inside
                if block > 0:
                    images_per_s.append(rounds * s.envs / wall)
                    rendering.append(1e6 * render / rounds)
            if rendered != rounds * s.repeats:
                raise RuntimeError(f"{camera}: expected {rounds * s.repeats} rounds that render, got {rendered}")
            row: Row = {
                "name": f"{camera}: {pixels} x {pixels}, {world.grain_count} grains, {s.envs} envs",
                "images_per_s": measure.spread(images_per_s),
                "render_us": measure.spread(rendering),
                "rounds": rendered,
                "grains": world.grain_count,
                "envs": s.envs,
                "mean_depth": float(world.depth(camera)[0].mean()),
                **measure.quality(world),
            }
            rate, row["bandwidth_of"] = gpu_floor.bandwidth(run.gpu)
            yield promise(row, camera, rate / gpu_floor.bytes_per_image(pixels * pixels, world.grain_count))


def render_once(world: gg.World, camera: str) -> tuple[float, float]:
    """One image of every env of a state that was not yet seen: seconds on the wall, and seconds of the rendering phase.

    Raises:
        RuntimeError: nothing was rendered.
    """
    output = "numpy" if world.device == "cpu" else "device"
    world.profile(False)
    world.step(scenes.DT, 1)
    # a profile times each phase by events, and waits for it: a little is added to the figure, nothing taken off
    world.profile(True)
    start = time.perf_counter()
    world.depth(camera, output)
    world.materials  # noqa: B018  a small read: waits for the copy
    wall = time.perf_counter() - start
    inside = world.profile(False)["render_depth"]
    if not inside > 0.0:
        raise RuntimeError(f"{camera}: nothing was rendered in this round; it would time a copy alone")
    return wall, inside


def vector_overhead(run: Run) -> Iterator[Row]:
    """What Python adds to a batched step of the bulldozer: see overhead.py."""
    s = run.sizes
    pace = PACE if s is FULL else Pace(2e-3, 2, 2)
    for key, count in (("overhead_1", 1), ("overhead_many", s.envs)):
        envs = overhead.bulldozers(count, 50 if s is FULL else 10, run.device, best_output(run.device), pace)
        try:
            row = {"name": f"vector step of {count} bulldozers", **overhead.vector_step(envs, 50 if s is FULL else 3)}
        finally:
            envs.close()
        yield promise(row, key)


# what is inside -----------------------------------------------------------------------------------------------------


def _bed_drive(run: Run, envs: int, grains: int, layers: int, kernel: str = "auto") -> Drive:
    substeps = max(2, min(run.sizes.substeps // 2, 50_000_000 // (envs * grains)))
    return Drive(
        gpu_scenes.bed(grains, layers, run.device), run.device, env_count=envs, substeps=substeps, kernel=kernel
    )


def kernels(run: Run) -> Iterator[Row]:
    """One kernel that lives through a step ("team") beside one kernel per phase ("graph")."""
    for envs, grains, layers in run.sizes.kernels:
        for kernel in WAYS:
            name = f"{envs} x {grains} grains, {kernel}"
            row = driven(run, name, lambda e=envs, g=grains, n=layers, k=kernel: _bed_drive(run, e, g, n, k))
            yield {**row, "asked": kernel}


def streams(run: Run) -> Iterator[Row]:
    """Two worlds, each on a stream of its own, driven by two threads of the host: one after the other, and together.

    The ratio is the time together over the time one after the other: 0.5 where they overlap in full, 1 where not at
    all. A kernel that lives through a step takes as many blocks as its grains can use, up to all that the GPU holds;
    two that need more than that together cannot run at once.
    """
    s = run.sizes
    for grains in s.streams:
        layers = min(s.layers, grains // 100)
        for kernel in WAYS:
            pair: list[Drive] = []
            try:
                for _ in range(2):
                    pair.append(_bed_drive(run, 1, grains, layers, kernel))
                _together(pair)
                alone, together = [], []
                for _ in range(s.repeats):
                    alone.append(sum(measure.time_block(lambda drive: drive.step(), drive)[1] for drive in pair))
                    together.append(_together(pair))
                row: Row = {"name": f"two worlds x {grains} grains, {kernel}", "grains": grains, "envs": 1}
                row.update({"asked": kernel, "worlds": 2, "substeps": pair[0].substeps})
                row["us_apart"] = measure.spread([1e6 * t / pair[0].substeps for t in alone])
                row["us_together"] = measure.spread([1e6 * t / pair[0].substeps for t in together])
                row["ratio"] = plots.median(row["us_together"]) / plots.median(row["us_apart"])
                row.update(measure.quality(pair[0].world))
            finally:
                for drive in pair:
                    drive.close()
            yield row


def _together(pair: list[Drive]) -> float:
    """One block of each, at once; the time until both are done."""
    gate = threading.Barrier(len(pair) + 1)
    faults: list[BaseException] = []

    def work(drive: Drive) -> None:
        gate.wait()
        try:
            drive.step()
        except Exception as error:
            faults.append(error)

    threads = [threading.Thread(target=work, args=(drive,)) for drive in pair]
    for thread in threads:
        thread.start()
    gate.wait()
    start = time.perf_counter()
    for thread in threads:
        thread.join()
    took = time.perf_counter() - start
    if faults:
        raise faults[0]
    return took


def phases(run: Run) -> Iterator[Row]:
    """Time by phase, each phase a kernel of its own."""
    for envs, grains, layers in run.sizes.phases:
        drive = _bed_drive(run, envs, grains, layers)
        try:
            drive.step()
            drive.world.profile(True)
            drive.step()
            seconds = drive.world.profile(False)
            row: Row = {"name": f"{envs} x {grains} grains", "grains": drive.world.grain_count, "envs": envs}
            parts = {name: 1e6 * s / drive.substeps for name, s in seconds.items() if s > 0.0}
            row["phases_us"] = parts
            row["us_per_step"] = sum(parts.values())
            row.update(measure.quality(drive.world))
            row["iterations"] = drive.world.solver.iterations
            row["floor_us"] = 1e6 * run.floor(row)
            row.update({f"{name}_us": us for name, us in sorted(parts.items(), key=lambda item: -item[1])[:7]})
        finally:
            drive.close()
        yield row


# the paper's figures -------------------------------------------------------------------------------------------------

RATIOS = (0.01, 0.05, 0.125, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0)


def hash_size(run: Run) -> Iterator[Row]:
    """GranularGym (2023), figure 3: speed of the resting column against the size of the hash table.

    Lists are built in every substep, as in the paper; times are those of the kernels, each phase a kernel of its own.
    """
    s = run.sizes
    count, half_width = s.column
    scene = scenes.column_scene(count, half_width=half_width)
    with scene.build(device=run.device) as world:
        world.step(scenes.DT, s.settle)
        places = world.positions[0]
    for ratio in (None, *RATIOS) if s is FULL else (None, 0.05, 2.0):
        solver = gg.Solver() if ratio is None else gg.Solver(broad_phase="linked_hash", hash_ratio=ratio)
        with scene.build(device=run.device, solver=solver) as world:
            world.set_grains(positions=places)
            world.step(scenes.DT, max(s.settle // 20, 1))
            world.profile(True)
            substeps = max(s.substeps // 10, 2)
            for _ in range(substeps):
                # changed settings drop the lists
                world.set_solver(solver)
                world.step(scenes.DT, 1)
            parts = {name: 1e6 * t / substeps for name, t in world.profile(False).items() if t > 0.0}
            name = "sorted cells" if ratio is None else f"hash table, {ratio:g} per grain"
            row: Row = {"name": name, "buckets_per_grain": ratio, "grains": count, "us_per_step": sum(parts.values())}
            row["times_real_time"] = 1e6 * scenes.DT / row["us_per_step"]
            row["phases_us"] = parts
            row["search_us"] = parts.get("search", 0.0)
            row.update(measure.quality(world))
        yield row


def gears(run: Run) -> Iterator[Row]:
    """GranularGym (2023), figure 9: speed against the number of turning gears, and of grains."""
    s = run.sizes
    cases = [("gears", n, s.tower) for n in s.gears]
    cases += [("grains", max(s.gears), n) for n in s.towers]
    for axis, count, grains in cases:
        substeps = max(2, min(s.substeps // 4, 20_000_000 // grains))
        row = driven(
            run,
            f"{grains} grains, {count} gears",
            lambda c=count, g=grains, k=substeps: TowerDrive(run.device, c, g, k),
        )
        yield {**row, "axis": axis, "gears": count}


def price(run: Run) -> Iterator[Row]:
    """Two speeds to compare builds by: run this case with PYTHONPATH at the other build."""
    s = run.sizes
    pairs = ((1, s.bed, s.layers), (s.envs, 100 * s.env_layers, s.env_layers))
    for e, g, n in pairs:
        row = driven(run, f"{e} x {g} grains", lambda e=e, g=g, n=n: _bed_drive(run, e, g, n))
        yield {**row, "build": gg.__file__}


SPEED = ("us_per_step", "times_real_time", "grain_steps_per_s")
VERDICT = ("wanted", "share", "met", "floor")
SEEN = (*QUALITY, "contacts_per_grain", "rebuild_count", *COUNTERS)


@dataclasses.dataclass(frozen=True)
class GpuCase:
    """A table, see benchmarks.run.Case; `rows` takes a Run."""

    about: str
    rows: Callable[[Run], Iterator[Row]]
    columns: tuple[str, ...]


CASES: dict[str, GpuCase] = {
    "speed": GpuCase("one world", speed, (*SPEED, "floor_us", *VERDICT, *SEEN)),
    "batch": GpuCase("many envs in one world", batch, (*SPEED, "floor_us", *VERDICT, *SEEN)),
    "bulldozer": GpuCase("env steps per second", bulldozer, ("env_steps_per_s", *VERDICT, *SEEN)),
    "crossover": GpuCase(
        "largest bed in real time", crossover, (*SPEED, "floor_us", "real_time_grains", *VERDICT, *SEEN)
    ),
    "depth": GpuCase("depth images per second", depth, ("images_per_s", "render_us", "rounds", *VERDICT, *SEEN)),
    "overhead": GpuCase(
        "Python's own time of a batched env step [us]",
        vector_overhead,
        ("overhead_us", "overhead_cpu_us", "warm_us", "core_us", "core_calls", "clock_us", *VERDICT, *SEEN),
    ),
    "kernels": GpuCase("how a step is run", kernels, ("kernel", *SPEED, "floor_us", *SEEN)),
    "streams": GpuCase(
        "two worlds on two streams [us per substep]", streams, ("us_apart", "us_together", "ratio", *SEEN)
    ),
    "phases": GpuCase(
        "time by phase [us per substep]",
        phases,
        ("us_per_step", "iterate_us", "search_us", "prepare_contacts_us", "count_contacts_us", *SEEN),
    ),
    "hash_size": GpuCase("speed against hash table size", hash_size, ("us_per_step", "times_real_time", *SEEN)),
    "gears": GpuCase("speed against bodies and grains", gears, (*SPEED, *SEEN)),
    "price": GpuCase("two speeds to compare builds by", price, (*SPEED, *SEEN)),
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
    gpu_plots.draw(name, rows, about, out / f"{name}.png")


def draw_promises(folder: Path) -> int:
    """One picture of all that was promised, from the files of the cases."""
    results = [
        json.loads((folder / f"{name}.json").read_text()) for name in CASES if (folder / f"{name}.json").exists()
    ]
    rows = [row for result in results for row in result["rows"] if "met" in row]
    if rows:
        gpu_plots.draw("promises", rows, results[0]["facts"], folder / "promises.png")
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
