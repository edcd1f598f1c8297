"""tasks.py: env steps per second of Bulldozer-v1, with observations, sleep off: every step solves every grain.

What sleep saves is in sleep.py.
"""

from __future__ import annotations

import dataclasses
from typing import Any

import gymnasium as gym
import numpy as np

import granular_gym as gg
from benchmarks import measure
from benchmarks.measure import Row, Subject

TASK = "granular_gym/Bulldozer-v1"
TARGET = 150.0  # env steps per second: fast preset, 1,000 grains, 2 threads
#: largest number of grains in all envs that is measured
LARGEST = {"fast": 160_000, "accurate": 40_000}
QUICK = {"fast": 4_000, "accurate": 2_000}
STEPS = 4  # env steps of a timed block


def bulldozer(quick: bool) -> list[Row]:
    """By grains and envs, for both presets; actions are random and the same in every run.

    All cores, by wall time; and 4 envs on one thread, by processor time, which other programs hardly affect.
    """
    rows = []
    most = gg.info()["threads"]
    for preset in ("fast", "accurate"):
        for count in [500, 1000] if quick else [500, 1000, 2000, 10_000]:
            for envs in [1, 4] if quick else [1, 2, 4, 8, 16]:
                if count * envs <= (LARGEST[preset] if not quick else QUICK[preset]):
                    for threads in (1, most) if envs == 4 and most > 1 else (most,):
                        rows.append(_measured(preset, count, envs, threads))
    return rows


class _Drive:
    """A batch of envs that takes random actions."""

    def __init__(self, preset: str, count: int, envs: int, threads: int) -> None:
        self.envs: Any = gym.make_vec(
            TASK,
            num_envs=envs,
            vectorization_mode="vector_entry_point",
            grain_count=count,
            preset=preset,
            num_threads=threads,
        )
        task = self.envs.unwrapped.task
        task.world.set_solver(dataclasses.replace(task.solver, sleep=False))
        self.envs.reset(seed=0)
        self.envs.action_space.seed(0)
        self.infos: dict[str, Any] = {}

    def step(self, steps: int) -> None:
        for _ in range(steps):
            action = self.envs.action_space.sample()
            # forward speeds only, so that the vehicle meets the heap
            action[:, 0] = np.abs(action[:, 0])
            self.infos = self.envs.step(action)[-1]

    def look(self) -> Row:
        infos = self.infos
        row: Row = {
            "residual": float(np.max(infos["residual"])),
            "overlap_mean_pct": 100.0 * float(np.mean(infos["overlap_mean"])),
            "overlap_max_pct": 100.0 * float(np.max(infos["overlap_max"])),
            "escaped_count": int(np.sum(infos["escaped_count"])),
            "fast_count": int(np.sum(infos["fast_count"])),
            "diverged": int(np.sum(infos["diverged"])),
        }
        return row

    def close(self) -> None:
        self.envs.close()


def _measured(preset: str, count: int, envs: int, threads: int) -> Row:
    # slow combinations take fewer steps, so that a block stays around a second
    steps = STEPS if count * envs <= 8_000 or preset == "fast" else 1
    subject = Subject(
        f"{preset}, {count} grains, {envs} envs, {threads} threads",
        lambda: _Drive(preset, count, envs, threads),
        lambda drive: drive.step(steps),
        lambda drive: drive.look(),
        0.1 * steps * envs,
        {"preset": preset, "grains": count, "envs": envs, "threads": threads},
        warm_up=2,
    )
    row = measure.run(subject)
    done = steps * envs
    row["env_steps_per_s"] = measure.spread([done / s for s in row["wall_seconds"].values()])
    row["env_steps_per_cpu_s"] = measure.spread([done / s for s in row["cpu_seconds"].values()])
    return row
