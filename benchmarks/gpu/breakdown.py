"""breakdown.py: time of a step on a GPU by phase and by kernel, and figures of the paper GranularGym (2023)."""

from __future__ import annotations

import subprocess
import threading
import time
from collections.abc import Iterator
from typing import Any

import granular_gym as gg
from benchmarks import measure, plots
from benchmarks.gpu import drives
from benchmarks.gpu.case import FULL, Run, driven
from benchmarks.gpu.drives import Drive, TowerDrive
from benchmarks.gpu.programs import built
from benchmarks.gpu.targets import BLOCK_GRAINS, KERNELS, MODES
from benchmarks.measure import Row
from testbed import standard


def _bed_drive(run: Run, envs: int, grains: int, layers: int, **more: Any) -> Drive:
    substeps = max(2, min(run.sizes.substeps // 2, 50_000_000 // (envs * grains)))
    return Drive(drives.bed(grains, layers, run.device), run.device, env_count=envs, substeps=substeps, **more)


def kernels(run: Run) -> Iterator[Row]:
    """One persistent kernel for a step, with a block for each env ("block", where its bodies fit into shared memory) or
    many ("team"), and one kernel per phase ("graph")."""
    for envs, grains, layers in run.sizes.kernels:
        for kernel in KERNELS:
            if kernel == "block" and grains > BLOCK_GRAINS:
                continue
            name = f"{envs} x {grains} grains, {kernel}"
            row = driven(run, name, lambda e=envs, g=grains, n=layers, k=kernel: _bed_drive(run, e, g, n, kernel=k))
            yield {**row, "requested": kernel}


def streams(run: Run) -> Iterator[Row]:
    """Two worlds on separate streams, stepped by two host threads: one after the other, and concurrently.

    The ratio is the concurrent time over the sequential time: 0.5 for full overlap, 1 for none. A persistent kernel
    launches as many blocks as its grains can use, up to all that fit on the GPU; two kernels that need more than that
    together do not run concurrently.
    """
    s = run.sizes
    for grains in s.streams:
        layers = min(s.layers, grains // 100)
        for kernel in KERNELS[1:]:
            pair: list[Drive] = []
            try:
                for _ in range(2):
                    pair.append(_bed_drive(run, 1, grains, layers, kernel=kernel))
                _together(pair)
                alone, together = [], []
                for _ in range(s.repeats):
                    alone.append(sum(measure.time_block(lambda drive: drive.step(), drive)[1] for drive in pair))
                    together.append(_together(pair))
                row: Row = {"name": f"two worlds x {grains} grains, {kernel}", "grains": grains, "envs": 1}
                row.update({"requested": kernel, "worlds": 2, "substeps": pair[0].substeps})
                row["us_apart"] = measure.spread([1e6 * t / pair[0].substeps for t in alone])
                row["us_together"] = measure.spread([1e6 * t / pair[0].substeps for t in together])
                row["ratio"] = plots.median(row["us_together"]) / plots.median(row["us_apart"])
                row.update(measure.quality(pair[0].world))
            finally:
                for drive in pair:
                    drive.close()
            yield row


def _together(pair: list[Drive]) -> float:
    """Steps a block of each concurrently; returns the time until both are done [s]."""
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


def modes(run: Run) -> Iterator[Row]:
    """The same beds by both convergent modes: coloured Gauss-Seidel, whose threads meet after every colour, and Jacobi
    iterations, whose threads meet once. Ten each, and as many sweeps as are no less accurate than ten iterations; the
    residuals stand beside the times."""
    for envs, grains, layers in run.sizes.phases:
        for name, settings in MODES.items():

            def build(e: int = envs, g: int = grains, n: int = layers, s: dict[str, Any] = settings) -> Drive:
                return _bed_drive(run, e, g, n, solver=gg.Solver(**s))

            yield {**driven(run, f"{envs} x {grains} grains, {name}", build), "mode": name}


def phases(run: Run) -> Iterator[Row]:
    """Time by phase within the kernel that runs all of them, and where each is a kernel of its own."""
    cases = [(*sizes, kernel) for sizes in run.sizes.phases for kernel in ("auto", "graph")]
    for envs, grains, layers, kernel in cases:
        drive = _bed_drive(run, envs, grains, layers, kernel=kernel)
        try:
            drive.step()
            drive.world.profile(True)
            drive.step()
            seconds = drive.world.profile(False)
            row: Row = {"name": f"{envs} x {grains} grains, {kernel}", "grains": drive.world.grain_count, "envs": envs}
            parts = {name: 1e6 * s / drive.substeps for name, s in seconds.items() if s > 0.0}
            row["phases_us"] = parts
            row["us_per_step"] = sum(parts.values())
            row.update(measure.quality(drive.world))
            row.update({"iterations": drive.world.solver.iterations, "solver_mode": drive.world.solver.mode})
            row["roofline_us"] = 1e6 * run.roofline(row)
            row.update({f"{name}_us": us for name, us in sorted(parts.items(), key=lambda item: -item[1])[:7]})
        finally:
            drive.close()
        yield row


def sort(run: Run) -> Iterator[Row]:
    """The engine's sort by cells and that of CUB (cub_sort.cu), in beds whose lists are rebuilt.

    Both sort equal numbers of grains; CUB with two cells per grain, from grains in the order of ids.
    """
    program = built("cub_sort")
    for envs, grains, layers in run.sizes.phases:
        drive = _bed_drive(run, envs, grains, layers, kernel="graph")
        try:
            world = drive.world
            world.profile(True)
            rounds = 20 if run.sizes is FULL else 2
            for _ in range(rounds):
                # setting the solver drops the lists
                world.set_solver(world.solver)
                world.step(drive.dt, 1)
            parts = {name: 1e6 * t / rounds for name, t in world.profile(False).items() if t > 0.0}
            row: Row = {"name": f"{envs} x {world.grain_count} grains", "grains": world.grain_count, "envs": envs}
            row.update({"rounds": rounds, "order_us": parts["order"], "search_us": parts["search"]})
            row["us_per_step"] = sum(parts.values())
            if program:
                words = [str(program), str(world.grain_count), str(2 * world.grain_count), str(envs)]
                done = subprocess.run(words, capture_output=True, text=True, timeout=60)
                if done.returncode == 0:
                    row["cub_us"] = float(done.stdout)
                    row["ratio"] = row["order_us"] / row["cub_us"]
                else:
                    # no GPU: emulated kernels, or the CPU
                    print(f"CUB's sort was not timed: {done.stderr.strip()}")
            row.update(measure.quality(world))
        finally:
            drive.close()
        yield row


# ---- figures of the paper ----

RATIOS = (0.01, 0.05, 0.125, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0)


def hash_size(run: Run) -> Iterator[Row]:
    """GranularGym (2023), figure 3: speed of the settled column by size of the hash table.

    Lists are built in every substep, as in the paper; times are those of the kernels, one for each phase.
    """
    s = run.sizes
    count, half_width = s.column
    scene = standard.standard_column(count, half_width=half_width)
    with scene.build(device=run.device) as world:
        world.step(standard.DT, s.settle)
        positions = world.positions[0]
    for ratio in (None, *RATIOS) if s is FULL else (None, 0.05, 2.0):
        solver = gg.Solver() if ratio is None else gg.Solver(broad_phase="linked_hash", hash_ratio=ratio)
        with scene.build(device=run.device, solver=solver) as world:
            world.set_grains(positions=positions)
            if run.device != "cpu":
                world._core.set_kernel("graph")
            world.step(standard.DT, max(s.settle // 20, 1))
            world.profile(True)
            substeps = max(s.substeps // 10, 2)
            for _ in range(substeps):
                # setting the solver drops the lists
                world.set_solver(solver)
                world.step(standard.DT, 1)
            parts = {name: 1e6 * t / substeps for name, t in world.profile(False).items() if t > 0.0}
            name = "sorted cells" if ratio is None else f"hash table, {ratio:g} per grain"
            row: Row = {"name": name, "buckets_per_grain": ratio, "grains": count, "us_per_step": sum(parts.values())}
            row["times_real_time"] = 1e6 * standard.DT / row["us_per_step"]
            row["phases_us"] = parts
            row["search_us"] = parts.get("search", 0.0)
            row.update(measure.quality(world))
        yield row


def gears(run: Run) -> Iterator[Row]:
    """GranularGym (2023), figure 9: speed by numbers of turning gears and of grains."""
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
    """Two speeds to compare builds: run this case with PYTHONPATH at the other build."""
    s = run.sizes
    pairs = ((1, s.bed, s.layers), (s.envs, 100 * s.env_layers, s.env_layers))
    for e, g, n in pairs:
        yield driven(run, f"{e} x {g} grains", lambda e=e, g=g, n=n: _bed_drive(run, e, g, n))
