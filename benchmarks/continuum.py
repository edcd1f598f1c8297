"""continuum.py: what a substep of continuous matter costs, with the certificate of its solve beside every time.

    python -m benchmarks.continuum [--quick | --laws | --task | --explicit]

Scenes like those of Zong, Jiang, Han (2024), Table I, at about their numbers of particles: dough under a moving roller
that does not turn, a stiff ball on a slope; then blocks of sand. Processor time of one thread. With --laws: how far
matter is from the laws that docs/continuum.md names, at two resolutions where it depends on them (minutes). With
--task: env steps of Dough-v0 under its expert, 1,000 particles, medium. With --explicit: forces and times beside those
of explicit steps.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable
from typing import Any, NamedTuple

import gymnasium as gym
import numpy as np

import granular_gym as gg
from granular_gym.tasks.expert import scripted_expert
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
#: seconds a step of the paper's serial code, from its Table I
PAPER = {"rolling": 7.65, "ball": 1.16}


class Case(NamedTuple):
    """A scene, its time step [s], the pose of its tool after k steps, and the solver."""

    scene: gg.Scene
    dt: float
    pose: Callable[[int], Any] | None = None
    solver: gg.Solver | None = None


def rolling() -> Case:
    """A block of dough of 32 x 12 x 10 cm under a cylinder that is pressed in and drawn along."""
    scene = gg.Scene(((0, 0, 0), (0.48, 0.4, 0.4)))
    dough = scene.add_material(density=1000.0, friction=1.0, continuum=DOUGH)
    scene.add_continuum(dough, (0.08, 0.14, 0.0), (0.40, 0.26, 0.10), spacing=0.0174)
    lying = (np.sqrt(0.5), np.sqrt(0.5), 0.0, 0.0)
    scene.add_tool(gg.Sdf.cylinder(0.04, 0.1), "pin", dough, (0.16, 0.2, 0.145, *lying))
    return Case(scene, 0.01, lambda k: [[0.16 + 0.003 * k, 0.2, 0.145 - 0.001 * min(k, 20), *lying]])


def ball() -> Case:
    """The ball on a slope of 45 degrees."""
    return Case(sliding_ball(0.3, per_cell=103.0), 0.01)


def sand(count: int) -> Case:
    """A block of sand that collapses to all sides, at 5 ms."""
    side = 0.01 * count ** (1.0 / 3.0)
    scene = gg.Scene(((0, 0, 0), (6 * side, 6 * side, 2 * side)))
    made_of = scene.add_material(density=1500.0, friction=0.6, continuum=gg.DruckerPrager(1e6, 0.3, 30.0))
    scene.add_continuum(made_of, (2.5 * side, 2.5 * side, 0), (3.5 * side, 3.5 * side, side), spacing=0.02)
    return Case(scene, 5e-3, solver=gg.Solver(tolerance=1e-5))


def measure(name: str, case: Case, steps: int) -> str:
    """A row of the table: medians over the steps."""
    with case.scene.build(device="cpu", num_threads=1, solver=case.solver) as world:
        times, rows = [], []
        for k in range(steps):
            start = time.process_time()
            world.step(case.dt, 1, tool_poses=case.pose(k + 1) if case.pose else None)
            times.append(time.process_time() - start)
            stats = world.stats
            names = ("iteration_count", "linear_count", "search_count", "unsolved_count", "tool_contact_count")
            rows.append([float(stats[each][0]) for each in (*names, "residual", "overlap_max")])
        newton, linear, tried, _, contacts, residual, overlap = np.median(rows, axis=0)
        worst = int(np.sum(np.array(rows)[:, 3]))
        memory, count = world._core.info()["memory"], world.grain_count
    paper = f"{PAPER[name]:.2f} s" if name in PAPER else "-"
    return (
        f"| {name} | {count:,} | {1e3 * case.dt:g} ms | {statistics.median(times):.3f} s | {paper} | {newton:.0f} | "
        f"{linear:.0f} | {tried:.0f} | {residual:.1e} m/s | {100 * overlap:.2f} % | {contacts / count:.2f} | {worst} | "
        f"{memory / count:.0f} |"
    )


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
    parser.add_argument("--quick", action="store_true", help="fewer steps, no large scene")
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
    quick = arguments.quick
    steps = 10 if quick else 40
    print(
        "| scene | particles | dt | time a step | paper's | Newton | linear | lengths tried | residual | overlap | ",
        end="",
    )
    print("contacts per particle | unsolved | bytes per particle |")
    print("|" + "---|" * 13)
    print(measure("rolling", rolling(), steps), flush=True)
    print(measure("ball", ball(), steps), flush=True)
    for count in (1000, 10000) if quick else (1000, 10000, 50000):
        print(measure("sand", sand(count), steps), flush=True)


if __name__ == "__main__":
    main()
