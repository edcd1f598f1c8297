"""gpu.py: speed on a GPU beside what was promised, and beside every speed what it costs in accuracy.

    python -m benchmarks.gpu [speed crossover batch bulldozer depth overhead kernels phases hash_size gears price]
        [--quick] [--device cuda] [--out FOLDER]

Prints a table per case and writes FOLDER/<case>.json and .png. A step returns when it is computed, so times are of the
clock on the wall: medians of five blocks after two that are not timed. --quick runs every case at a tiny size, to see
that it runs (also where kernels are emulated on the CPU); its speeds mean nothing.
"""

from __future__ import annotations

import argparse
import cProfile
import dataclasses
import importlib.util
import json
import math
import pstats
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

if __package__ in (None, ""):
    # behind an installed granular_gym: another build may be measured
    sys.path.append(str(Path(__file__).resolve().parent.parent))

import gymnasium as gym

import granular_gym as gg
from benchmarks import gpu_plots, gpu_scenes, measure, plots, scenes
from benchmarks.gpu_scenes import Drive, TowerDrive
from benchmarks.measure import Row, Subject
from benchmarks.run import COUNTERS, QUALITY, table
from granular_gym.grain_task import Pace

OUT = Path(__file__).resolve().parent / "results"
TASK = "granular_gym/Bulldozer-v0"


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
    kernels=((1, 1_000, 10), (1, 10_000, 20), (1, 50_000, 20), (1, 500_000, 20), (64, 1_000, 10), (1024, 1_000, 10)),
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


def promise(row: Row, key: str, wanted: float, at_most: bool = False) -> Row:
    """Notes what a row was promised to reach, and whether it did."""
    value = float(plots.median(row[key]))
    row.update({"promised": key, "wanted": wanted, "met": value <= wanted if at_most else value >= wanted})
    row["share"] = wanted / max(value, 1e-12) if at_most else value / wanted
    return row


def driven(run: Run, name: str, build: Callable[[], Drive | TowerDrive], **facts: Any) -> Row:
    """Times blocks of a Drive."""
    row = measure.run(_subject(name, build, facts), run.sizes.repeats)
    return _speeds(row)


def _subject(name: str, build: Callable[[], Drive | TowerDrive], facts: Row) -> Subject:
    def made() -> Drive | TowerDrive:
        drive = build()
        facts.update({"dt": drive.dt, "substeps": drive.substeps, "iterations": drive.world.solver.iterations})
        facts.update({"grains": drive.world.grain_count, "envs": drive.world.env_count})
        return drive

    def look(drive: Drive) -> Row:
        # the counters of a step keep its worst moment
        return {**measure.quality(drive.world), **facts}

    return Subject(name, made, lambda drive: drive.step(), look, 0.0, warm_up=2)


def _speeds(row: Row) -> Row:
    """What the time of a block comes to."""
    wall = row["wall_seconds"]
    for key in ("cpu_seconds", "sim_per_cpu", "simulated_seconds", "threads"):
        row.pop(key, None)
    grains = row["grains"] * row["envs"]
    row["us_per_step"] = {key: 1e6 * value / row["substeps"] for key, value in wall.items()}
    per_second = [row["substeps"] / value for value in wall.values()]
    row["times_real_time"] = measure.spread([row["dt"] * rate for rate in per_second])
    row["grain_steps_per_s"] = measure.spread([grains * rate for rate in per_second])
    return row


# what was promised -------------------------------------------------------------------------------------------------


def speed(run: Run) -> list[Row]:
    """One world: bulldozing, excavating, and a large bed."""
    s = run.sizes
    rows = []

    def bed(count: int, substeps: int) -> Callable[[], Drive]:
        return lambda: Drive(gpu_scenes.bed(count, s.layers, run.device), run.device, substeps=substeps)

    def tooled(make: Any, dt: float, substeps: int) -> Callable[[], Drive]:
        def build() -> Drive:
            scene, ends = make(s.bed, s.layers, dt * substeps, run.device)
            return Drive(scene, run.device, dt, substeps, ends)

        return build

    rows.append(driven(run, f"{s.bed} grains at rest, 1 ms", bed(s.bed, s.substeps)))
    pushed = driven(run, f"{s.bed} grains, blade, 1 ms", tooled(gpu_scenes.pushed, 1e-3, s.substeps))
    rows.append(promise(pushed, "us_per_step", 50.0, at_most=True))
    dug = driven(run, f"{s.bed} grains, bucket, 0.5 ms", tooled(gpu_scenes.dug, 5e-4, s.substeps))
    rows.append(promise(dug, "times_real_time", 10.0))
    large = driven(run, f"{s.large} grains at rest, 1 ms", bed(s.large, max(s.substeps // 4, 2)))
    rows.append(promise(large, "times_real_time", 2.5))
    return rows


def crossover(run: Run) -> list[Row]:
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
        if plots.median(row["us_per_step"]) > 1.3e3:
            break
    largest, note = real_time_count([(r["grains"], plots.median(r["us_per_step"])) for r in rows])
    found: Row = {"name": f"largest in real time ({note})", "real_time_grains": largest}
    rows.append(promise(found, "real_time_grains", 1.5e6))
    return rows


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


def batch(run: Run) -> list[Row]:
    """Many envs in one world."""
    s = run.sizes
    small = driven(
        run,
        f"{s.envs} envs x {100 * s.env_layers} grains",
        lambda: Drive(
            gpu_scenes.bed(100 * s.env_layers, s.env_layers, run.device), run.device, env_count=s.envs, substeps=50
        ),
    )
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
    return [promise(small, "grain_steps_per_s", 1.5e9), promise(wide, "times_real_time", 1.0)]


def _envs(run: Run, envs: int, grains: int, output: str) -> Any:
    """A batch of bulldozers whose env step is 50 substeps of 2 ms, after its first reset."""
    made = gym.make_vec(
        TASK,
        num_envs=envs,
        vectorization_mode="vector_entry_point",
        grain_count=grains,
        preset="accurate",
        device=run.device,
        output=output,
    )
    made.task.pace = Pace(2e-3, 50, 10)
    made.reset(seed=0)
    made.action_space.seed(0)
    return made


def best_output() -> str:
    """Where torch is, tensors."""
    return "torch" if importlib.util.find_spec("torch") else "device"


def bulldozer(run: Run) -> list[Row]:
    """Env steps per second, two depth cameras and rewards included; actions are random and the same in every run."""
    s = run.sizes
    steps, grains, output = (4, 100 * s.env_layers, best_output()) if s is FULL else (1, 20, best_output())
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
        infos = last["infos"]
        row: Row = {
            "residual": float(np.max(infos["residual"])),
            "overlap_mean_pct": 100.0 * float(np.mean(infos["overlap_mean"])),
            "overlap_max_pct": 100.0 * float(np.max(infos["overlap_max"])),
            "contacts_per_grain": float(np.mean(infos["contact_count"])) / grains,
        }
        row.update({key: int(np.sum(infos[key])) for key in COUNTERS})
        row.update({"grains": grains, "envs": envs.num_envs, "substeps": 50, "dt": 2e-3, "output": output})
        return row

    name = f"{s.envs} bulldozers x {grains} grains, 50 substeps"
    subject = Subject(name, lambda: _envs(run, s.envs, grains, output), step, look, 0.1 * steps * s.envs, {}, warm_up=2)
    row = measure.run(subject, s.repeats)
    for key in ("cpu_seconds", "sim_per_cpu", "simulated_seconds"):
        row.pop(key)
    row["env_steps_per_s"] = measure.spread([steps * s.envs / w for w in row["wall_seconds"].values()])
    return [promise(row, "env_steps_per_s", 3e4)]


def depth(run: Run) -> list[Row]:
    """Depth images that stay on the GPU."""
    s = run.sizes
    rows = []
    pixels, rounds = (64, 20) if s is FULL else (16, 1)
    for camera in ("sky", "side"):

        def look(world: gg.World, rounds: int, camera: str = camera) -> None:
            for _ in range(rounds):
                world.depth(camera, "device" if world.device != "cpu" else "numpy")
            world.stats  # noqa: B018  waits for the images

        with gpu_scenes.filmed(s.env_layers, pixels, run.device).build(env_count=s.envs, device=run.device) as world:
            world.step(scenes.DT, 2)
            look(world, 1)
            times = [measure.time_block(lambda w: look(w, rounds), world)[1] for _ in range(s.repeats)]
            images = rounds * s.envs
            row: Row = {
                "name": f"{camera}: {pixels} x {pixels}, {world.grain_count} grains, {s.envs} envs",
                "images_per_s": measure.spread([images / t for t in times]),
                "grains": world.grain_count,
                "envs": s.envs,
                "mean_depth": float(world.depth(camera)[0].mean()),
            }
            rows.append(promise(row, "images_per_s", 1e6))
    return rows


def overhead(run: Run) -> list[Row]:
    """What a batched step of the bulldozer costs besides the step of its world."""
    s = run.sizes
    rows = []
    count = 30 if s is FULL else 2
    for envs_count in sorted({1, s.envs}):
        envs = _envs(run, envs_count, 50 if s is FULL else 10, best_output())
        try:
            task, inside = envs.task, [0.0]
            actions = envs.action_space.sample()
            stepped = task.world.step

            def timed(*args: Any, inside: list[float] = inside, stepped: Any = stepped, **kwargs: Any) -> None:
                start = time.perf_counter()
                stepped(*args, **kwargs)
                inside[0] += time.perf_counter() - start

            task.world.step = timed
            outside = []
            for _ in range(count):
                inside[0] = 0.0
                start = time.perf_counter()
                envs.step(actions)
                task.world.stats  # noqa: B018  waits for the images
                outside.append(1e6 * (time.perf_counter() - start - inside[0]))
            profile = cProfile.Profile()
            profile.enable()
            for _ in range(count):
                envs.step(actions)
            profile.disable()
            row: Row = {"name": f"vector step of {envs_count} bulldozers", "envs": envs_count}
            row["overhead_us"] = measure.spread(outside)
            row["shares_us"] = _shares(profile, count)
            row["core_us"] = sum(us for name, us in row["shares_us"].items() if "_core" in name)
            rows.append(promise(row, "overhead_us", 20.0, at_most=True))
        finally:
            envs.close()
    return rows


def _shares(profile: cProfile.Profile, count: int, most: int = 14) -> dict[str, float]:
    """Own time of the dearest functions [us per step], without the world's step; the profiler's own cost is in it."""
    found: dict[str, float] = {}
    for (file, _, function), entry in pstats.Stats(profile).stats.items():  # type: ignore[attr-defined]
        name = f"{Path(file).name}:{function}" if file not in ("~", "") else function
        if "'step' of" not in name:
            found[name] = found.get(name, 0.0) + 1e6 * entry[2] / count
    return dict(sorted(found.items(), key=lambda item: -item[1])[:most])


# what is inside -----------------------------------------------------------------------------------------------------


def _bed_drive(run: Run, envs: int, grains: int, layers: int, kernel: str = "auto") -> Drive:
    substeps = max(2, min(run.sizes.substeps // 2, 50_000_000 // (envs * grains)))
    return Drive(
        gpu_scenes.bed(grains, layers, run.device), run.device, env_count=envs, substeps=substeps, kernel=kernel
    )


def kernels(run: Run) -> list[Row]:
    """One kernel that lives through a step ("team") beside one kernel per phase ("graph")."""
    rows = []
    for envs, grains, layers in run.sizes.kernels:
        for kernel in ("team", "graph", "auto"):
            name = f"{envs} x {grains} grains, {kernel}"
            row = driven(run, name, lambda e=envs, g=grains, n=layers, k=kernel: _bed_drive(run, e, g, n, k))
            rows.append({**row, "asked": kernel})
    return rows


def phases(run: Run) -> list[Row]:
    """Time by phase, each phase a kernel of its own."""
    rows = []
    for envs, grains, layers in run.sizes.kernels[-3:]:
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
            row.update({f"{name}_us": us for name, us in sorted(parts.items(), key=lambda item: -item[1])[:7]})
            rows.append(row)
        finally:
            drive.close()
    return rows


# the paper's figures -------------------------------------------------------------------------------------------------

RATIOS = (0.01, 0.05, 0.125, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0)


def hash_size(run: Run) -> list[Row]:
    """GranularGym (2023), figure 3: speed of the resting column against the size of the hash table.

    Lists are built in every substep, as in the paper; times are those of the kernels, each phase a kernel of its own.
    """
    s = run.sizes
    count, half_width = s.column
    scene = scenes.column_scene(count, half_width=half_width)
    with scene.build(device=run.device) as world:
        world.step(scenes.DT, s.settle)
        places = world.positions[0]
    rows = []
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
            rows.append(row)
    return rows


def gears(run: Run) -> list[Row]:
    """GranularGym (2023), figure 9: speed against the number of turning gears, and of grains."""
    s = run.sizes
    rows = []
    cases = [("gears", n, s.tower) for n in s.gears]
    cases += [("grains", max(s.gears), n) for n in s.towers]
    for axis, count, grains in cases:
        substeps = max(2, min(s.substeps // 4, 20_000_000 // grains))
        row = driven(
            run,
            f"{grains} grains, {count} gears",
            lambda c=count, g=grains, k=substeps: TowerDrive(run.device, c, g, k),
        )
        rows.append({**row, "axis": axis, "gears": count})
    return rows


def price(run: Run) -> list[Row]:
    """Two speeds to compare builds by: run this case with PYTHONPATH at the other build."""
    s = run.sizes
    pairs = ((1, s.bed, s.layers), (s.envs, 100 * s.env_layers, s.env_layers))
    rows = [driven(run, f"{e} x {g} grains", lambda e=e, g=g, n=n: _bed_drive(run, e, g, n)) for e, g, n in pairs]
    for row in rows:
        row["build"] = gg.__file__
    return rows


SPEED = ("us_per_step", "times_real_time", "grain_steps_per_s")
VERDICT = ("wanted", "share", "met")
SEEN = (*QUALITY, "contacts_per_grain", "rebuild_count", *COUNTERS)


@dataclasses.dataclass(frozen=True)
class GpuCase:
    """A table, see benchmarks.run.Case; `rows` takes a Run."""

    about: str
    rows: Callable[[Run], list[Row]]
    columns: tuple[str, ...]


CASES: dict[str, GpuCase] = {
    "speed": GpuCase("one world", speed, (*SPEED, *VERDICT, *SEEN)),
    "crossover": GpuCase("largest bed in real time", crossover, (*SPEED, "real_time_grains", *VERDICT, *SEEN)),
    "batch": GpuCase("many envs in one world", batch, (*SPEED, *VERDICT, *SEEN)),
    "bulldozer": GpuCase("env steps per second", bulldozer, ("env_steps_per_s", *VERDICT, *SEEN)),
    "depth": GpuCase("depth images per second", depth, ("images_per_s", "mean_depth", *VERDICT)),
    "overhead": GpuCase("a vector step without its world's", overhead, ("overhead_us", "core_us", *VERDICT)),
    "kernels": GpuCase("how a step is run", kernels, ("kernel", *SPEED, *SEEN)),
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
    """Measures one case, prints it and writes its files."""
    case = CASES[name]
    print(f"\n{name}: {case.about}", flush=True)
    start = time.perf_counter()
    with warnings.catch_warnings():
        # some cases go where the solver warns not to
        warnings.simplefilter("ignore", gg.StabilityWarning)
        rows = case.rows(run)
    print(table(rows, case.columns))
    for row in rows:
        if "met" in row:
            said = "met" if row["met"] else "SHORT"
            reached = plots.median(row[row["promised"]])
            print(f"{said}: {row['name']}: {row['promised']} {reached:.4g} (promised {row['wanted']:.4g})")
    print(f"({time.perf_counter() - start:.0f} s)", flush=True)
    result = {"case": name, "about": case.about, "quick": run.sizes is TINY, "facts": about, "rows": rows}
    (out / f"{name}.json").write_text(json.dumps(result, indent=1) + "\n")
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
        report(name, Run(TINY if args.quick else FULL, args.device), about, out)
    print(f"\nwrote {out}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
