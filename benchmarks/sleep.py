"""sleep.py: what sleep saves in the tasks, and what it changes in the physics.

    python -m benchmarks.sleep [cost] [physics] [--tasks Bulldozer-v1 ...] [--grains 2000 10000] [--steps 300]
                               [--drivers random expert] [--scenes undercut ...] [--seeds N] [--out FOLDER]

`cost` steps two envs of a task in turns, one with sleep and one without, and prints processor time per env step (one
thread), share of grains asleep, largest overlap, contacts per grain and return. `physics` runs scenes with and without
sleep from the same starts (sleep_physics.py): a heap undercut at one side, a column that slumps, a silo, a blade and a
bucket, each with as many seeds as tell 2 % apart, or --seeds. Writes FOLDER/sleep.json.
"""

from __future__ import annotations

import argparse
import dataclasses
import itertools
import sys
import time
import warnings
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np

import granular_gym as gg
from benchmarks import measure
from benchmarks.measure import Row
from benchmarks.run import OUT, table
from benchmarks.sleep_physics import SCENES, compared


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


def main(arguments: list[str] | None = None) -> int:
    """Runs the command line; returns the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0], prog="benchmarks.sleep")
    parser.add_argument("what", nargs="*", choices=["cost", "physics"], default=["cost", "physics"])
    parser.add_argument("--tasks", nargs="+", default=["Bulldozer-v1", "Excavator-v1"])
    parser.add_argument("--grains", type=int, nargs="+", default=[2_000, 10_000])
    parser.add_argument("--drivers", nargs="+", default=["random", "expert"])
    parser.add_argument("--steps", type=int, default=300)
    parser.add_argument("--scenes", nargs="+", choices=list(SCENES), default=list(SCENES), help="of physics")
    parser.add_argument("--seeds", type=int, help="of each scene of physics; not given: as many as each needs")
    parser.add_argument("--out", type=Path, default=OUT, help="folder for sleep.json")
    args = parser.parse_args(arguments)
    warnings.simplefilter("ignore", gg.StabilityWarning)
    facts, path = measure.facts(), args.out / "sleep.json"
    if "cost" in args.what:
        columns = ("cpu_ms_per_step", "times_faster", "asleep", "overlap_max", "contacts_per_grain", "return")
        for task, grains, driver in itertools.product(args.tasks, args.grains, args.drivers):
            found = cost(task, grains, driver, args.steps)
            print(table(found, columns), flush=True)
            measure.save(path, facts, found)
    if "physics" in args.what:
        columns = ("awake", "scatter", "sleep", "sleep_scatter", "change_percent", "change_scatter", "seeds")
        for name in args.scenes:
            found = compared(name, args.seeds)
            print(table(found, columns), flush=True)
            measure.save(path, facts, found)
    return 0


if __name__ == "__main__":
    sys.exit(main())
