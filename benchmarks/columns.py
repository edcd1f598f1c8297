"""columns.py: the settled column: against LAMMPS, by phase, by broad phase, by iterations and time step."""

from __future__ import annotations

import dataclasses
import tempfile
import warnings
from pathlib import Path
from typing import Any

import granular_gym as gg
from benchmarks import lammps, measure
from benchmarks.measure import Row, Subject
from testbed import standard

TARGET_RATIO = 8.0  # speed over that of LAMMPS, 10,000 grains


def resting(count: int, rolling: float = 0.0, threads: int = 1, **solver: Any) -> gg.World:
    """A world with the settled column; solver: settings of the solver."""
    state = standard.resting_column(count, rolling)
    with warnings.catch_warnings():
        # some cases are outside the stable settings
        warnings.simplefilter("ignore", gg.StabilityWarning)
        world = standard.standard_column(count, rolling).build(solver=gg.Solver(**solver), num_threads=threads)
    if solver.get("mode", "gauss_seidel") == "gauss_seidel" and "broad_phase" not in solver:
        world.load_state(state)
    else:
        # states of other settings have another layout: set positions only
        with standard.standard_column(count, rolling).build(num_threads=1) as source:
            source.load_state(state)
            world.set_grains(positions=source.positions[0], velocities=0.0 * source.velocities[0])
    return world


def _block(count: int) -> int:
    """Substeps of a timed block, about a second of work."""
    return max(20, min(400, 2_000_000 // count))


def column(quick: bool) -> list[Row]:
    """The column in granular_gym and LAMMPS, one thread each, in alternating blocks."""
    rows: list[Row] = []
    sizes = [10_000] if quick else [10_000, 50_000]
    for count in sizes:
        rows += _beside_lammps(count, quick)
        if not quick or count == sizes[0]:
            rows.append(_column_alone(count, 0.3))
    return rows


def _sinking_subject(count: int, rolling: float) -> Subject:
    block, height = _block(count), [0.0]

    def build() -> gg.World:
        world = resting(count, rolling)
        world.step(standard.DT, 20)
        height[0] = measure.mean_height(world)
        return world

    def look(world: gg.World) -> Row:
        seconds = measure.REPEATS * block * standard.DT
        return {**measure.quality(world), "sinking_pct_per_s": measure.sinking(world, height[0], seconds)}

    return measure.world_subject(
        f"{count} grains, rolling {rolling:g}", build, block, measure=look, warm_up=0, code="granular_gym", grains=count
    )


def _column_alone(count: int, rolling: float) -> Row:
    return measure.run(_sinking_subject(count, rolling))


def _beside_lammps(count: int, quick: bool) -> list[Row]:
    """Times granular_gym and LAMMPS in alternating blocks."""
    ours = _sinking_subject(count, 0.0)
    if lammps.program() is None:
        print("column: LAMMPS (lmp) is not on the path, measured without it")
        return [measure.run(ours)]
    world = ours.build()
    half_width = standard.COLUMN_HALF_WIDTH[count] * standard.DIAMETER
    steps = max(50, 5_000_000 // count // (2 if quick else 1))
    with tempfile.TemporaryDirectory() as folder:
        peer = lammps.settled(world.positions[0], half_width, Path(folder), 10 * steps if quick else 20 * steps)
        try:
            mine, wall, theirs, looks = [], [], [], []
            for _ in range(measure.REPEATS):
                cpu, clock = measure.time_block(ours.step, world)
                mine.append(cpu)
                wall.append(clock)
                looks.append(peer.run(steps))
                theirs.append(looks[-1]["cpu_seconds"])
            row: Row = {"name": ours.name, **ours.facts, "cpu_seconds": measure.spread(mine)}
            row["wall_seconds"] = measure.spread(wall)
            row["sim_per_cpu"] = measure.spread([ours.seconds / cpu for cpu in mine])
            row["repeats"] = measure.REPEATS
            row.update(ours.measure(world))
            other: Row = {"name": f"{count} grains, LAMMPS", "code": "LAMMPS", "grains": count}
            other["cpu_seconds"] = measure.spread(theirs)
            other["sim_per_cpu"] = measure.spread([steps * lammps.DT / cpu for cpu in theirs])
            other["sinking_pct_per_s"] = (
                100.0
                * (looks[0]["mean_height"] - looks[-1]["mean_height"])
                / (looks[0]["mean_height"] * (measure.REPEATS - 1) * steps * lammps.DT)
            )
            other.update({key: looks[-1][key] for key in ("overlap_mean_pct", "overlap_max_pct", "contacts_per_grain")})
            other["repeats"] = measure.REPEATS
            row["ratio"] = row["sim_per_cpu"]["median"] / other["sim_per_cpu"]["median"]
            pairs = [(ours.seconds / a) / (steps * lammps.DT / b) for a, b in zip(mine, theirs, strict=True)]
            row["ratio_by_pair"] = measure.spread(pairs)
            return [row, other]
        finally:
            peer.close()
            world.close()


def phases(quick: bool) -> list[Row]:
    """Time by phase of the settled column."""
    rows = []
    for count in [3_000, 10_000] if quick else [3_000, 10_000, 50_000]:
        block = _block(count)
        with resting(count) as world:
            world.step(standard.DT, block)
            world.profile(True)
            cpu, _ = measure.time_block(lambda w, n=block: w.step(standard.DT, n), world)
            seconds = world.profile(False)
            total = sum(seconds.values())
            # the profile is in wall time: its shares are applied to the processor time
            parts = {name: 1e3 * cpu / block * s / total for name, s in seconds.items() if s > 1e-4 * total}
            row: Row = {
                "name": f"{count} grains",
                "grains": count,
                "ms_per_substep": 1e3 * cpu / block,
                "phases_ms": parts,
            }
            row.update(measure.quality(world))
            row.update({f"{name}_ms": ms for name, ms in sorted(parts.items(), key=lambda item: -item[1])[:7]})
            rows.append(row)
    return rows


def broad_phase(quick: bool) -> list[Row]:
    """Cell grid and the linked hash of the paper: candidate lists built in every substep, or reused."""
    rows = []
    count = 3_000 if quick else 10_000
    substeps = _block(count) // 4

    def rebuild(world: gg.World) -> None:
        for _ in range(substeps):
            # setting the solver drops the lists
            world.set_solver(world.solver)
            world.step(standard.DT, 1)

    for kind in ("cells", "linked_hash"):
        subject = measure.world_subject(
            f"{kind}, lists reused",
            lambda k=kind: resting(count, broad_phase=k),
            substeps,
            grains=count,
            broad_phase=kind,
        )
        built = dataclasses.replace(subject, name=f"{kind}, lists built in every substep", step=rebuild)
        for one in (subject, built):
            row = measure.run(one)
            row["ms_per_substep"] = 1e3 * row["cpu_seconds"]["median"] / substeps
            rows.append(row)
    return rows


MODES: dict[str, Row] = {
    "gauss_seidel": {},
    "jacobi": {"mode": "jacobi"},
    "jacobi without momentum": {"mode": "jacobi", "nesterov": False},
    "paper": {"mode": "paper"},
}


def convergence(quick: bool) -> list[Row]:
    """Residual, overlap and sinking by iterations and step: each mode, and Jacobi without acceleration."""
    count = 3_000 if quick else 10_000
    seconds = 0.1 if quick else 0.2
    settings = [(mode, its, standard.DT) for mode in MODES for its in (5, 10, 20, 40)]
    settings += [("gauss_seidel", its, dt) for dt in (5e-4, 2e-3, 5e-3) for its in (5, 10, 20, 40)]
    return [_converged(count, seconds, *setting) for setting in settings]


def _converged(count: int, seconds: float, mode: str, iterations: int, dt: float) -> Row:
    substeps = round(seconds / dt)
    solver = {"iterations": iterations, "alpha": min(0.1, 0.02 * iterations), **MODES[mode]}
    with resting(count, **solver) as world, warnings.catch_warnings():
        warnings.simplefilter("ignore", gg.StabilityWarning)
        before = measure.mean_height(world)
        cpu, _ = measure.time_block(lambda w: w.step(dt, substeps), world)
        row: Row = {"name": f"{mode}, {iterations} its, dt {1e3 * dt:g} ms", "mode": mode, "iterations": iterations}
        row.update({"dt": dt, "grains": count, "sim_per_cpu": seconds / max(cpu, 1e-9)})
        row["sinking_pct_per_s"] = measure.sinking(world, before, seconds)
        # one more substep: the counters of a step hold its largest values
        world.step(dt, 1)
        row.update(measure.quality(world))
        mass = standard.DENSITY * 4.0 / 3.0 * 3.141592653589793 * standard.RADIUS**3
        energy = float(world.stats["kinetic_energy"].sum())
        row["rms_speed"] = (2.0 * energy / (mass * count)) ** 0.5
        return row
