"""continuum.py: what a substep of continuous matter costs, with the certificate of its solve beside every time.

    python -m benchmarks.continuum [--quick | --sweeps | --laws | --task | --explicit]

Scenes like those of Zong, Jiang, Han (2024), Table I, at about their numbers of particles: dough under a moving roller
that does not turn, dough that is torn, a stiff ball on a slope, cubes that are shaken; then blocks of sand. Processor
time of one thread. With --sweeps: cost against particles, stiffness, contacts, time step (minutes). With --laws: how
far matter is from the laws that docs/continuum.md names, at two resolutions where it depends on them (minutes). With
--task: env steps of Dough-v0 under its expert, 1,000 particles, medium. With --explicit: forces and times beside those
of explicit steps.
"""

from __future__ import annotations

import argparse
import functools
import itertools
import math
import statistics
import time
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import gymnasium as gym
import numpy as np

import granular_gym as gg
from granular_gym.tasks.expert import scripted_expert
from scenes.shake import Shake
from scenes.tear import Tear
from testbed.continuum import (
    DOUGH,
    POISSON,
    YIELD,
    YOUNG,
    buckling,
    column,
    gripped,
    plateau,
    sliding_ball,
    squeeze,
    squeezed,
    sway,
)

RUBBER = gg.Elastic(YOUNG, POISSON)
#: degrees of freedom, and seconds a step of the paper's serial code, from its Table I
PAPER = {"rolling": (5827, 7.65), "tearing": (2975, 0.86), "ball": (1076, 1.16), "shake": (1576, 1.94)}


class Case(NamedTuple):
    """A scene, its time step [s], the poses of its tools after k steps, the solver, steps until something happens, and
    steps after them that are measured."""

    scene: gg.Scene
    dt: float
    pose: Callable[[int], Any] | None = None
    solver: gg.Solver | None = None
    skip: int = 0
    steps: int = 40


def rolling(spacing: float = 0.0174, dt: float = 0.01) -> Case:
    """A block of dough of 32 x 12 x 10 cm under a cylinder that is pressed in and drawn along."""
    scene = gg.Scene(((0, 0, 0), (0.48, 0.4, 0.4)))
    dough = scene.add_material(density=1000.0, friction=1.0, continuum=DOUGH)
    scene.add_continuum(dough, (0.08, 0.14, 0.0), (0.40, 0.26, 0.10), spacing=spacing)
    lying = (np.sqrt(0.5), np.sqrt(0.5), 0.0, 0.0)
    scene.add_tool(gg.Sdf.cylinder(0.04, 0.1), "pin", dough, (0.16, 0.2, 0.145, *lying))
    return Case(scene, dt, lambda k: [[0.16 + 0.3 * dt * k, 0.2, 0.145 - 0.1 * min(dt * k, 0.2), *lying]])


def tearing(grains: int = 1750) -> Case:
    """The bar of `scenes/tear.py`, while its jaws pull."""
    run = Tear(grains=grains)
    return Case(run.scene("dough"), run.dt, lambda k: run.jaws(k * run.dt), skip=170, steps=28)


def ball() -> Case:
    """The ball on a slope of 45 degrees."""
    return Case(sliding_ball(0.3, per_cell=103.0), 0.01)


def shake(per_cell: float = 30.0) -> Case:
    """The cubes of `scenes/shake.py`, one 150 times as dense as the others, while they are shaken."""
    run = Shake(grains=Shake.full_grains)
    run.per_cell = per_cell
    still = [math.nan] * 7
    return Case(run.scene("150"), run.dt, lambda k: [still, *run.panels(k * run.dt)], skip=230)


def sand(count: int) -> Case:
    """A block of sand that collapses to all sides, at 5 ms."""
    side = 0.01 * count ** (1.0 / 3.0)
    scene = gg.Scene(((0, 0, 0), (6 * side, 6 * side, 2 * side)))
    made_of = scene.add_material(density=1500.0, friction=0.6, continuum=gg.DruckerPrager(1e6, 0.3, 30.0))
    scene.add_continuum(made_of, (2.5 * side, 2.5 * side, 0), (3.5 * side, 3.5 * side, side), spacing=0.02)
    return Case(scene, 5e-3, solver=gg.Solver(tolerance=1e-5))


def slab(matter: gg.Elastic | gg.VonMises, *shares: float, along: int = 0, spacing: float = 0.02) -> Case:
    """A slab of 24 x 24 x 6 cm in space whose halves fly at each other at .2 m/s, or along y and so make it spin,
    between pairs of plates across z, x, y that close in by 2 cm/s, each over such a share of its face."""
    half, middle = np.array([0.12, 0.12, 0.03]), np.full(3, 0.2)
    scene = gg.Scene(((0, 0, 0), (0.4, 0.4, 0.4)), gravity=(0, 0, 0), boundary=dict.fromkeys("xyz", "open"))
    made_of = scene.add_material(density=1000.0, friction=0.8, continuum=matter)
    for left, right, speed in ((-1.0, 0.0, 0.1), (0.0, 1.0, -0.1)):
        low, high = middle + half * (left, -1, -1), middle + half * (right, 1, 1)
        scene.add_continuum(made_of, low, high, spacing=spacing, velocity=speed * np.eye(3)[along])
    pairs = list(itertools.product(zip((2, 0, 1), shares, strict=False), (-1.0, 1.0)))

    def plates(k: int) -> list[list[float]]:
        poses = []
        for (axis, _), side in pairs:
            place = middle.copy()
            place[axis] += side * (half[axis] + 0.01 - 1e-4 * k)
            poses.append([*place, 1.0, 0.0, 0.0, 0.0])
        return poses

    for number, (((axis, share), _), pose) in enumerate(zip(pairs, plates(0), strict=True)):
        size = math.sqrt(share) * half
        size[axis] = 0.01
        scene.add_tool(gg.Sdf.box(size), f"plate {number}", made_of, pose)
    return Case(scene, 0.01, plates if shares else None, skip=5, steps=10)


#: rows of the table: name, case
CASES: tuple[tuple[str, Callable[[], Case]], ...] = (
    ("rolling", rolling),
    ("rolling, finer", functools.partial(rolling, 0.0163)),
    ("tearing", tearing),
    ("tearing, finer", functools.partial(tearing, 2100)),
    ("ball", ball),
    ("shake", shake),
    ("shake, finer", functools.partial(shake, 8.0)),
    *(("sand", functools.partial(sand, count)) for count in (1000, 10000, 50000)),
)


def particles() -> Iterator[tuple[str, Case]]:
    """Particles"""
    for power in (3, 4, 5, 6):
        yield "sand, larger blocks", sand(10**power)._replace(skip=1, steps=40 if power < 5 else 5)
    for power in (3, 4, 5):
        spacing = 0.0174 * (5698 / 10**power) ** (1.0 / 3.0)
        yield "rolling, finer grids", rolling(spacing)._replace(skip=10, steps=20)


def stiffness() -> Iterator[tuple[str, Case]]:
    """Stiffness: the first substep of a slab that begins to spin, which is one linear solve; a slab that is pressed"""
    for spacing, powers in ((0.02, (5, 6, 7, 8, 9)), (0.01, (5, 6, 7, 8))):
        for power in powers:
            case = slab(gg.Elastic(10.0**power, POISSON), along=1, spacing=spacing)
            yield f"slab of 1e{power} Pa, free", case._replace(skip=0, steps=1)
    for power in (5, 6, 7, 8, 9):
        yield f"slab of 1e{power} Pa, pressed", slab(gg.Elastic(10.0**power, POISSON), 1.0)


def contacts() -> Iterator[tuple[str, Case]]:
    """Contacts"""
    for shares in ((), (0.0625,), (0.25,), (0.5,), (1.0,), (1.0, 1.0), (1.0, 1.0, 1.0)):
        yield (
            f"slab of dough, plates over {', '.join(f'{share:g}' for share in shares) or 'none'}",
            slab(DOUGH, *shares),
        )


def time_steps() -> Iterator[tuple[str, Case]]:
    """Time step"""
    for dt in (1e-3, 2e-3, 5e-3, 1e-2, 2e-2):
        yield "rolling, .4 s", rolling(dt=dt)._replace(steps=round(0.4 / dt))


SWEEPS = (particles, stiffness, contacts, time_steps)


class Cost(NamedTuple):
    """Medians over the steps of a case; all steps: of `second`, the time of a simulated second, and `unsolved`."""

    name: str
    dt: float
    #: dt^2 E / (density h^2)
    stiffness: float
    particles: int
    memory: int
    step: float
    second: float
    unsolved: int
    degrees: float
    newton: float
    linear: float
    tried: float
    contacts: float
    residual: float
    overlap: float

    def paper(self, what: int, form: str) -> str:
        """A figure of the paper's."""
        return format(PAPER[self.name][what], form) if self.name in PAPER else "-"


#: columns of the tables
COLUMNS: dict[str, Callable[[Cost], str]] = {
    "scene": lambda c: c.name,
    "particles": lambda c: f"{c.particles:,}",
    "degrees of freedom": lambda c: f"{c.degrees:,.0f}",
    "paper's degrees": lambda c: c.paper(0, ","),
    "S": lambda c: f"{c.stiffness:,.3g}",
    "dt": lambda c: f"{1e3 * c.dt:g} ms",
    "time a step": lambda c: f"{c.step:.3f} s",
    "paper's [s]": lambda c: c.paper(1, ".2f"),
    "a simulated second": lambda c: f"{c.second:.3g} s",
    "Newton": lambda c: f"{c.newton:.0f}",
    "linear": lambda c: f"{c.linear:.0f}",
    "of a solve": lambda c: f"{c.linear / max(c.newton, 1.0):.0f} of {30.0 + 20.0 * math.sqrt(c.stiffness):.0f}",
    "lengths tried": lambda c: f"{c.tried:.0f}",
    "residual": lambda c: f"{c.residual:.1e} m/s",
    "overlap": lambda c: f"{100.0 * c.overlap:.2f} %",
    "contacts per particle": lambda c: f"{c.contacts / c.particles:.2f}",
    "unsolved": lambda c: f"{c.unsolved}",
    "bytes per particle": lambda c: f"{c.memory / c.particles:,.0f}",
}
BESIDE_PAPER = tuple(name for name in COLUMNS if name not in ("S", "a simulated second", "of a solve"))
SWEPT = tuple(name for name in COLUMNS if "paper" not in name and name not in ("degrees of freedom", "lengths tried"))


def degrees_of_freedom(world: gg.World) -> int:
    """Three for each node with mass."""
    cells = np.rint(world.positions[0] / world.spacing).astype(int)
    cells -= cells.min(axis=0)
    reached = np.zeros(cells.max(axis=0) + 3, bool)
    for shift in itertools.product(range(3), repeat=3):
        reached[tuple((cells + shift).T)] = True
    return 3 * int(reached.sum())


def measure(name: str, case: Case, most: int | None = None) -> Cost:
    """Medians over the steps of a case, or over so many of them."""
    material = case.scene.materials[0]
    assert isinstance(material.continuum, (gg.Elastic, gg.VonMises, gg.DruckerPrager))
    times, rows, unsolved = [], [], 0
    with case.scene.build(device="cpu", num_threads=1, solver=case.solver) as world:
        for k in range(case.skip + min(case.steps, most or case.steps)):
            start = time.process_time()
            world.step(case.dt, 1, tool_poses=case.pose(k + 1) if case.pose else None)
            times.append(time.process_time() - start)
            stats = world.stats
            counts = (stats[each][0] for each in ("iteration_count", "linear_count", "search_count"))
            touching, residual, overlap = (stats[each][0] for each in ("tool_contact_count", "residual", "overlap_max"))
            rows.append([degrees_of_freedom(world), *counts, touching, residual, overlap])
            unsolved += int(stats["unsolved_count"][0])
        memory, count, spacing = world._core.info()["memory"], world.grain_count, world.spacing
    times, rows = times[case.skip :], rows[case.skip :]
    return Cost(
        name,
        case.dt,
        (case.dt / spacing) ** 2 * material.continuum.young_modulus / material.density,
        count,
        memory,
        statistics.median(times),
        statistics.fmean(times) / case.dt,
        unsolved,
        *np.median(rows, axis=0).tolist(),
    )


def table(columns: tuple[str, ...], cases: Iterator[tuple[str, Case]], most: int | None = None) -> None:
    """Prints a row for each case."""
    print(f"| {' | '.join(columns)} |\n|{'---|' * len(columns)}")
    for name, case in cases:
        cost = measure(name, case, most)
        print(f"| {' | '.join(COLUMNS[each](cost) for each in columns)} |", flush=True)


def laws() -> None:
    """Prints each figure as a share of its law."""
    for spacing in (0.02, 0.0125):
        across = f"{0.1 / spacing:.0f} cells across"
        with squeezed(RUBBER, spacing).build(device="cpu") as world:
            squeeze(world, 0.01, 60, 0.01)
            share = squeeze(world, 0.01, 40, 0.01) / 0.01**2 / YOUNG
        print(f"Young's modulus, {across}: {share - 1.0:+.1%}", flush=True)
        for height, stage in ((0.2, 30), (0.1, 120), (0.2, 120)):
            with squeezed(DOUGH, spacing, height).build(device="cpu") as world:
                share = plateau(world, stage, 0.01, height)
                rest = squeeze(world, 0.15, 40, 0.01, height) / (0.01 / 0.85 * np.sqrt(1.5) * YIELD)
                aside = abs(sway(world))
            print(
                f"force at yield, {across}, {height:g} m high, 5 % in {0.01 * stage:g} s: {share - 1.0:+.1%}, at rest "
                f"after that {rest - 1.0:+.1%}, sway along x {1e3 * aside:.2g} mm",
                flush=True,
            )
    for height in (0.2, 0.25, 0.3):
        rate, law = buckling(0.02, 90, 0.01, height)
        print(f"column of dough {height:g} m high, its sway grows by {rate:.1f} /s, law {law:.1f}", flush=True)
    for friction, spacing, per_cell in ((0.0, 0.2, 103.0), (0.2, 0.2, 103.0), (0.6, 0.2, 103.0), (0.6, 0.1, 27.0)):
        with sliding_ball(friction, spacing, per_cell).build(device="cpu") as world:
            start = world.positions[0].astype(np.float64).mean(axis=0)
            world.step(0.01, 100)
            way = (world.positions[0].astype(np.float64).mean(axis=0) - start)[0]
        # implicit Euler makes t (t + dt) of t^2
        law = 9.81 * np.sqrt(0.5) * 1.01 * (0.5 * (1.0 - friction) if friction < 2.0 / 7.0 else 5.0 / 14.0)
        print(f"ball on 45 degrees, friction {friction:g}, spacing {spacing:g} m: {way / law - 1.0:+.2%}", flush=True)
    for aspect, law in ((1.0, 1.2), (3.0, 1.9 * 3.0 ** (2.0 / 3.0))):
        with column(aspect, 30.0, 0.01).build(device="cpu", solver=gg.Solver(tolerance=1e-5)) as world:
            world.step(2e-3, round((4.0 * np.sqrt(0.1 * aspect / 9.81) + 0.3) / 2e-3))
            runout = np.quantile(world.positions[0, :, 0], 0.99) / 0.1 - 1.0
            unsolved = int(world.stats["unsolved_count"][0])
        print(
            f"column {aspect:g} : 1, runout {runout:.2f} widths, Lube et al. {law:.2f}, unsolved {unsolved}", flush=True
        )


#: what each scene of `--explicit` is run with: mode, and substeps of each step of 10 ms
MODES = {
    "panels": (("explicit", 24), ("explicit", 50), ("explicit", 100), ("implicit", 10), ("implicit", 1)),
    "rolling": (("explicit", 8), ("explicit", 16), ("implicit", 2), ("implicit", 1)),
}


def beside(name: str, mode: str, substeps: int) -> str:
    """A row of the table of modes: the force on the first tool in the second half of the run, in every substep: mean,
    and largest distance from it; time a simulated second on one core."""
    case = Case(gripped(0.02), 0.01) if name == "panels" else rolling()
    seconds, dt = 0.6 if name == "panels" else 0.4, case.dt / substeps
    solver = gg.Solver(mode="explicit") if mode == "explicit" else None
    with case.scene.build(device="cpu", num_threads=1, solver=solver) as world:
        if name == "panels":
            world.set_tool_force("left", (10.0, 0.0, 0.0))
            world.set_tool_force("right", (-10.0, 0.0, 0.0))
        forces, start = [], time.process_time()
        for k in range(round(seconds / dt)):
            now = np.array(case.pose(k // substeps + 1)) if case.pose else None
            if case.pose and now is not None:
                now = now + (np.array(case.pose(k // substeps)) - now) * (1.0 - (k % substeps + 1) / substeps)
            world.step(dt, 1, tool_poses=now)
            forces.append(world.wrenches[0, 0, :3].astype(np.float64))
        busy = (time.process_time() - start) / seconds
        half = np.array(forces[len(forces) // 2 :])
        mean = half.mean(axis=0)
        apart, bad = np.abs(half - mean).max(axis=0), int(world.stats["diverged"][0])
    cells = " | ".join(f"{m:.3f} ± {a:.1g}" for m, a in zip(mean, apart, strict=True))
    return f"| {name} | {mode} | {1e3 * dt:.3g} ms | {cells} | {busy:.2f} s | {bad} |"


def task(env_count: int, num_threads: int, steps: int) -> str:
    """A row of the table of env steps: time of all envs together, counters of single envs."""
    arguments: dict[str, Any] = {"num_envs": env_count, "num_threads": num_threads, "grain_count": 1000}
    envs: Any = gym.make_vec("granular_gym/Dough-v0", **arguments)
    envs.reset(seed=0)
    expert, world = scripted_expert(envs), envs.unwrapped.task.world
    times, busy, rows, contacts, unsolved = [], 0.0, [], [], 0
    for _ in range(steps):
        actions = expert.act()
        start, cpu = time.perf_counter(), time.process_time()
        envs.step(actions)
        times.append(time.perf_counter() - start)
        busy += time.process_time() - cpu
        stats = world.stats
        rows += list(zip(stats["residual"], stats["overlap_max"], strict=True))
        contacts += [count / world.grain_count for count in stats["tool_contact_count"] if count]
        unsolved += int(stats["unsolved_count"].sum())
    envs.close()
    residual, overlap = np.median(rows, axis=0)
    rates = env_count / statistics.median(times), env_count * steps / sum(times), env_count * steps / busy
    return (
        f"| {env_count} | {num_threads} | {rates[0]:.0f} | {rates[1]:.0f} | {rates[2]:.0f} | {residual:.1e} m/s | "
        f"{100 * overlap:.1f} %, {100 * max(row[1] for row in rows):.0f} % | {statistics.median(contacts):.2f} | "
        f"{unsolved} |"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="fewer steps, no scene that takes long")
    parser.add_argument("--sweeps", action="store_true", help="cost against particles, stiffness, contacts, time step")
    parser.add_argument("--laws", action="store_true", help="distances from laws in place of times")
    parser.add_argument("--explicit", action="store_true", help="forces and times beside those of explicit steps")
    parser.add_argument("--task", action="store_true", help="env steps of Dough-v0")
    arguments = parser.parse_args()
    if arguments.laws:
        laws()
        return
    if arguments.explicit:
        print("| scene | mode | dt | force along x [N] | y | z | time a simulated second | diverged |")
        print("|" + "---|" * 8)
        for name, modes in MODES.items():
            for mode, substeps in modes:
                print(beside(name, mode, substeps), flush=True)
        return
    if arguments.task:
        print(
            "| envs | threads | env steps/s, median | mean | a CPU second | residual | overlap, largest "
            "| contacts per particle | unsolved |"
        )
        print("|" + "---|" * 9)
        for env_count, num_threads in ((1, 1), (1, 2), (8, 1), (8, 2)):
            print(task(env_count, num_threads, 120), flush=True)
        return
    if arguments.sweeps:
        for sweep in SWEEPS:
            print(f"\n{sweep.__doc__}:\n")
            table(SWEPT, sweep())
        return
    cases = ((name, case()) for name, case in CASES)
    if arguments.quick:
        cases = ((name, case) for name, case in cases if not case.skip and case.scene.grain_count < 20000)
    table(BESIDE_PAPER, cases, 10 if arguments.quick else None)


if __name__ == "__main__":
    main()
