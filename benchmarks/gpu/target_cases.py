"""target_cases.py: the scenes whose speed on a GPU has a target."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import granular_gym as gg
from benchmarks import measure, overhead, piles, plots
from benchmarks.gpu import drives, roofline
from benchmarks.gpu.case import ACCURACY, FULL, Run, best_output, driven, with_target
from benchmarks.gpu.drives import Drive, SiloDrive
from benchmarks.measure import Row, Subject
from granular_gym.tasks.pace import Pace
from testbed import standard

#: dt [s], substeps and iterations of an env step of the bulldozers
PACE = Pace(2e-3, 50, 10)


def speed(run: Run) -> Iterator[Row]:
    """One world: bulldozing, excavating, and a large bed."""
    s = run.sizes

    def bed(count: int, substeps: int) -> Callable[[], Drive]:
        return lambda: Drive(drives.bed(count, s.layers, run.device), run.device, substeps=substeps)

    def tooled(make: Any, dt: float, substeps: int) -> Callable[[], Drive]:
        def build() -> Drive:
            scene, ends = make(s.bed, s.layers, dt * substeps, run.device)
            return Drive(scene, run.device, dt, substeps, ends)

        return build

    blade = tooled(drives.pushed, 1e-3, s.substeps)
    yield with_target(driven(run, f"{s.bed} grains, blade, 1 ms", blade), "blade")
    bucket = tooled(drives.dug, 5e-4, s.substeps)
    yield with_target(driven(run, f"{s.bed} grains, bucket, 0.5 ms", bucket), "bucket")
    large = bed(s.large, max(s.substeps // 4, 2))
    yield with_target(driven(run, f"{s.large} grains at rest, 1 ms", large), "large")
    yield driven(run, f"{s.bed} grains at rest, 1 ms", bed(s.bed, s.substeps))


def crossover(run: Run) -> Iterator[Row]:
    """The largest bed in real time at 1 ms, interpolated between beds of the ladder."""
    s = run.sizes
    rows: list[Row] = []
    for count in s.ladder:
        substeps = max(2, min(s.substeps, 50_000_000 // count))
        row = driven(
            run,
            f"{count} grains at rest, 1 ms",
            lambda n=count, k=substeps: Drive(drives.bed(n, s.layers, run.device), run.device, substeps=k),
        )
        rows.append(row)
        yield row
        if plots.median(row["us_per_step"]) > 1.3e3:
            break
    largest, note = real_time_count([(r["grains"], plots.median(r["us_per_step"])) for r in rows])
    # with the accuracy of the largest bed that was fast enough
    like = [row for row in rows if row["grains"] <= largest] or rows[:1]
    found: Row = {key: like[-1][key] for key in (*ACCURACY, "bytes_per_grain_step", "bandwidth_of") if key in like[-1]}
    found.update({"name": f"largest in real time ({note})", "real_time_grains": largest})
    bound = 1e-3 * roofline.bandwidth(run.gpu)[0] / like[-1]["bytes_per_grain_step"]
    yield with_target(found, "crossover", bound)


def real_time_count(points: list[tuple[int, float]], limit: float = 1e3) -> tuple[float, str]:
    """Number of grains at which a step takes `limit` us, from points (grains, us per step), and how it was found."""
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
            drives.bed(100 * s.env_layers, s.env_layers, run.device), run.device, env_count=s.envs, substeps=50
        ),
    )
    yield with_target(small, "batch")
    envs, tiles, layers = s.wide
    wide = driven(
        run,
        f"{envs} envs x {100 * tiles * layers} grains",
        lambda: Drive(
            drives.bed(100 * tiles * layers, layers, run.device),
            run.device,
            env_count=envs,
            substeps=max(2, s.substeps // 8),
        ),
    )
    yield with_target(wide, "wide")


def bulldozer(run: Run) -> Iterator[Row]:
    """Env steps per second with two depth cameras and rewards; actions are random and the same in every run."""
    s = run.sizes
    output = best_output(run.device)
    steps, grains = (4, 100 * s.env_layers) if s is FULL else (1, 20)
    last: dict[str, Any] = {}

    def step(envs: Any) -> None:
        for _ in range(steps):
            action = envs.action_space.sample()
            # forward speeds only, so that the vehicles meet the heap
            action[:, 0] = np.abs(action[:, 0])
            observations, *_, last["infos"] = envs.step(action)
        last["pose"] = observations["pose"]
        envs.task.world.stats  # noqa: B018  waits for the images

    def look(envs: Any) -> Row:
        row = overhead.batch_quality(last["infos"], grains)
        row.update({"grains": grains, "envs": envs.num_envs, "dt": PACE.dt, "output": output})
        row.update({"substeps": PACE.substeps, "iterations": PACE.iterations, "rolling": True})
        row["solver_mode"] = envs.task.world.solver.mode
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
    images = s.envs * roofline.bytes_per_image(row["pixels"], row["images"] * grains) / roofline.bandwidth(run.gpu)[0]
    seconds = row["substeps"] * run.roofline(row) + images
    yield with_target(row, "bulldozer", s.envs / seconds)


def depth(run: Run) -> Iterator[Row]:
    """Depth images that stay on the GPU; every image that counts is rendered.

    An image is rendered only after a step, and returned again otherwise; so a step that is not timed precedes each
    round. A round is timed from the call to the end of the copy, in wall time; the profile of the world must show that
    it rendered.
    """
    s = run.sizes
    pixels, rounds = (64, 20) if s is FULL else (16, 2)
    for camera in ("sky", "side"):
        with drives.filmed(s.env_layers, pixels, run.device, camera).build(s.envs, device=run.device) as world:
            world.step(standard.DT, 2)
            images_per_s, rendering, rendered = [], [], 0
            for block in range(s.repeats + 1):
                wall, render = 0.0, 0.0
                for _ in range(rounds):
                    elapsed, inside = render_once(world, camera)
                    rendered += block > 0
                    wall, render = wall + elapsed, render + inside
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
            rate, row["bandwidth_of"] = roofline.bandwidth(run.gpu)
            yield with_target(row, camera, rate / roofline.bytes_per_image(pixels * pixels, world.grain_count))


def render_once(world: gg.World, camera: str) -> tuple[float, float]:
    """Renders one image of every env after a new step: wall time and time of the rendering phase [s].

    Raises:
        RuntimeError: nothing was rendered.
    """
    output = "numpy" if world.device == "cpu" else "device"
    world.profile(False)
    world.step(standard.DT, 1)
    # a profile times each phase by events and waits for it, which slightly increases the time
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
    """Python's time of a batched step of the bulldozer: see overhead.py."""
    s = run.sizes
    pace = PACE if s is FULL else Pace(2e-3, 2, 2)
    for key, count in (("overhead_1", 1), ("overhead_many", s.envs)):
        envs = overhead.bulldozers(count, 50 if s is FULL else 10, run.device, best_output(run.device), pace)
        try:
            row = {"name": f"vector step of {count} bulldozers", **overhead.vector_step(envs, 50 if s is FULL else 3)}
        finally:
            envs.close()
        yield with_target(row, key)


def planar(run: Run) -> Iterator[Row]:
    """Nonconvex planar grains: a settled pile of #, and many silos of # that discharge.

    Their memory traffic is not counted, so these speeds have no roofline.
    """
    s = run.sizes
    count, settle = s.pile

    def pile() -> Drive:
        solver = gg.Solver(iterations=piles.ITERATIONS)
        return Drive(piles.scene_of("#", count), run.device, substeps=s.substeps // 2, before=settle, solver=solver)

    yield with_target(driven(run, f"pile of {count} #, 1 ms", pile, bounded=False), "pile")
    envs, grains = s.silos
    steps = 4 if s is FULL else 1
    row = driven(
        run,
        f"{envs} silos x {grains} #",
        lambda: SiloDrive(run.device, envs, grains, steps * PACE.substeps),
        bounded=False,
    )
    row["env_steps_per_s"] = measure.spread([steps * envs / wall for wall in row["wall_seconds"].values()])
    yield row
