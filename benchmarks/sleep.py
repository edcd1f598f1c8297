"""sleep.py: what sleep saves in the tasks, and what it changes in the physics.

    python -m benchmarks.sleep [cost] [physics] [--tasks Bulldozer-v1 ...] [--grains 2000 10000] [--steps 300]
                               [--drivers random expert] [--seeds 5] [--out FOLDER]

`cost` steps two envs of a task in turns, one with sleep and one without, and prints processor time per env step (one
thread), share of grains asleep, largest overlap, contacts per grain and return. `physics` runs scenes with and without
sleep from the same starts: a heap undercut at one side, a column that slumps to its angle of repose, a silo, a blade.
Writes FOLDER/sleep.json.
"""

from __future__ import annotations

import argparse
import dataclasses
import itertools
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np

import granular_gym as gg
from benchmarks import measure
from benchmarks.measure import Row
from benchmarks.run import OUT, table
from testbed.beds import DENSITY, DIAMETER, DT, RADIUS

STEP = 20  # substeps of a step of the physics


class Driven:
    """One env of a task with a driver."""

    def __init__(self, task: str, grains: int, driver: str, sleep: bool) -> None:
        from granular_gym.training.policies import load_policy

        self.env: Any = gym.make(f"granular_gym/{task}", grain_count=grains, num_threads=1)
        self.task = self.env.unwrapped.task
        self.task.world.set_solver(dataclasses.replace(self.task.solver, sleep=sleep))
        self.observation, _ = self.env.reset(seed=0)
        self.policy = load_policy(driver, self.env)
        self.env.action_space.seed(0)
        self.seconds: list[float] = []
        self.looks: list[Row] = []
        self.total = 0.0

    def step(self) -> None:
        """One action; a finished episode begins anew, untimed."""
        action = self.policy(self.observation)
        start = time.process_time()
        self.observation, reward, terminated, truncated, _ = self.env.step(action)
        self.seconds.append(time.process_time() - start)
        stats = self.task.world.stats
        self.total += float(reward)
        self.looks.append({key: float(stats[key][0]) for key in ("asleep_share", "overlap_max", "contact_count")})
        if terminated or truncated:
            self.observation, _ = self.env.reset()

    def row(self, name: str) -> Row:
        """Means over the steps; the largest overlap."""
        looks = {key: [look[key] for look in self.looks] for key in self.looks[0]}
        return {
            "name": name,
            "cpu_ms_per_step": 1e3 * float(np.mean(self.seconds)),
            "asleep": float(np.mean(looks["asleep_share"])),
            "overlap_max": max(looks["overlap_max"]),
            "contacts_per_grain": float(np.mean(looks["contact_count"])) / self.task.world.grain_count,
            "return": self.total,
        }


def cost(task: str, grains: int, driver: str, steps: int) -> list[Row]:
    """Rows without and with sleep, in turns."""
    both = [Driven(task, grains, driver, sleep) for sleep in (False, True)]
    for _ in range(steps):
        for one in both:
            one.step()
    rows = [one.row(f"{task} {grains:,} {driver}, {on}") for one, on in zip(both, ("awake", "sleep"), strict=True)]
    rows[1]["times_faster"] = rows[0]["cpu_ms_per_step"] / rows[1]["cpu_ms_per_step"]
    for one in both:
        one.env.close()
    return rows


def box(half: tuple[float, float], height: float) -> tuple[gg.Scene, int]:
    """An empty box and its material."""
    scene = gg.Scene(((-half[0], -half[1], 0.0), (half[0], half[1], height)))
    return scene, scene.add_material(radius=RADIUS, density=DENSITY, friction=0.5, rolling_friction=0.2)


def column(half: tuple[float, float], gate: bool, seed: int) -> gg.Scene:
    """Grains left of x = 0, behind a gate or not."""
    scene, sand = box(half, 0.5)
    upper = (0.0, half[1], 0.2)
    scene.fill_box(sand, (-half[0], -half[1], 0.0), upper, count=900, seed=seed)
    if gate:
        scene.add_tool(gg.Sdf.box((0.01, half[1], 0.25)), name="gate", pose=(0.01, 0.0, 0.25))
    return scene


def undercut(seed: int, sleep: bool) -> Row:
    """A sleeping bed behind a gate that is drawn up: where it flows to."""
    with column((0.25, 0.04), True, seed).build(solver=gg.Solver(sleep=sleep), num_threads=1) as world:
        pose = world.tool_poses[0].copy()
        for _ in range(60):
            world.step(DT, STEP)
        for _ in range(60):
            pose[0, 2] += 0.02
            world.step(DT, STEP, tool_poses=pose)
        return spread_of(world)


def spread_of(world: gg.World) -> Row:
    """Front, height and slope of a heap that leans on the left wall [d], and degrees."""
    x = world.positions[0].astype(np.float64)
    bins = np.linspace(x[:, 0].min(), np.percentile(x[:, 0], 97), 12)
    tops = [x[(x[:, 0] >= a) & (x[:, 0] < b), 2].max(initial=0.0) for a, b in itertools.pairwise(bins)]
    slope = np.polyfit(0.5 * (bins[1:] + bins[:-1]), tops, 1)[0]
    return {
        "front_d": float(np.percentile(x[:, 0], 99)) / DIAMETER,
        "height_d": float(x[:, 2].mean()) / DIAMETER,
        "slope_deg": float(np.degrees(np.arctan(-slope))),
    }


def repose(seed: int, sleep: bool) -> Row:
    """A column without a gate slumps."""
    with column((0.25, 0.04), False, seed).build(solver=gg.Solver(sleep=sleep), num_threads=1) as world:
        for _ in range(120):
            world.step(DT, STEP)
        return spread_of(world)


def silo(seed: int, sleep: bool) -> Row:
    """Grains through a slit of 6 d in a floor, onto a heap that sleeps below: how many in a second."""
    scene, sand = box((0.1, 0.04), 0.6)
    scene.fill_box(sand, (-0.1, -0.04, 0.2), (0.1, 0.04, 0.4), count=900, seed=seed)
    for side in (-1, 1):
        scene.add_tool(gg.Sdf.box((0.035, 0.04, 0.01)), name=f"floor{side}", pose=(side * 0.065, 0.0, 0.19))
    scene.add_tool(gg.Sdf.box((0.03, 0.04, 0.01)), name="shutter", pose=(0.0, 0.0, 0.19))
    with scene.build(solver=gg.Solver(sleep=sleep), num_threads=1) as world:
        pose = world.tool_poses[0].copy()
        for _ in range(50):
            world.step(DT, STEP)
        pose[2, 1] = 0.2
        counts = []
        for _ in range(60):
            world.step(DT, STEP, tool_poses=pose)
            counts.append(int((world.positions[0, :, 2] < 0.18).sum()))
        return {"grains_per_s": (counts[30] - counts[10]) / (20 * STEP * DT)}


def blade(seed: int, sleep: bool) -> Row:
    """A blade through the left of two heaps: its force and torque."""
    scene, sand = box((0.3, 0.05), 0.6)
    for left in (-0.26, 0.05):
        scene.fill_box(sand, (left, -0.05, 0.0), (left + 0.18, 0.05, 0.12), count=450, seed=seed)
    scene.add_tool(gg.Sdf.box((0.01, 0.04, 0.02)), name="blade", pose=(-0.28, 0.0, 0.3))
    with scene.build(solver=gg.Solver(sleep=sleep), num_threads=1) as world:
        for _ in range(60):
            world.step(DT, STEP)
        poses = np.array([[-0.28, 0.0, 0.025, 1.0, 0.0, 0.0, 0.0]])
        world.set_tool_poses(poses[None])
        wrenches = []
        for _ in range(80):
            poses[0, 0] += 0.1 * DT * STEP
            world.step(DT, STEP, tool_poses=poses)
            wrenches.append(world.wrenches[0, 0])
        mean = np.mean(wrenches, axis=0)
        return {"force_x_N": float(mean[0]), "torque_y_Nm": float(mean[4])}


PHYSICS: dict[str, Callable[[int, bool], Row]] = {
    "undercut": undercut,
    "repose": repose,
    "silo": silo,
    "blade": blade,
}


def physics(name: str, seeds: int) -> list[Row]:
    """Means over seeds with half their range, without and with sleep, and the difference."""
    found = {sleep: [PHYSICS[name](seed, sleep) for seed in range(seeds)] for sleep in (False, True)}
    rows = []
    for key in found[False][0]:
        awake, asleep = (np.array([one[key] for one in found[sleep]]) for sleep in (False, True))
        rows.append(
            {
                "name": f"{name}: {key}",
                "awake": float(awake.mean()),
                "scatter": float(awake.std(ddof=1) / np.sqrt(seeds)) if seeds > 1 else 0.0,
                "sleep": float(asleep.mean()),
                "sleep_scatter": float(asleep.std(ddof=1) / np.sqrt(seeds)) if seeds > 1 else 0.0,
                "change_percent": 100.0 * float(asleep.mean() / awake.mean() - 1.0),
            }
        )
    return rows


def main(arguments: list[str] | None = None) -> int:
    """Runs the command line; returns the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0], prog="benchmarks.sleep")
    parser.add_argument("what", nargs="*", choices=["cost", "physics"], default=["cost", "physics"])
    parser.add_argument("--tasks", nargs="+", default=["Bulldozer-v1", "Excavator-v0"])
    parser.add_argument("--grains", type=int, nargs="+", default=[2_000, 10_000])
    parser.add_argument("--drivers", nargs="+", default=["random", "expert"])
    parser.add_argument("--steps", type=int, default=300)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--out", type=Path, default=OUT, help="folder for sleep.json")
    args = parser.parse_args(arguments)
    warnings.simplefilter("ignore", gg.StabilityWarning)
    facts, rows = measure.facts(), []
    if "cost" in args.what:
        columns = ("cpu_ms_per_step", "times_faster", "asleep", "overlap_max", "contacts_per_grain", "return")
        for task in args.tasks:
            for grains in args.grains:
                for driver in args.drivers:
                    found = cost(task, grains, driver, args.steps)
                    print(table(found, columns), flush=True)
                    rows += found
    if "physics" in args.what:
        for name in PHYSICS:
            found = physics(name, args.seeds)
            print(table(found, ("awake", "scatter", "sleep", "sleep_scatter", "change_percent")), flush=True)
            rows += found
    measure.save(args.out / "sleep.json", facts, rows)
    return 0


if __name__ == "__main__":
    sys.exit(main())
