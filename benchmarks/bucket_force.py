"""bucket_force.py: the force on the bucket of an excavator in one fixed motion, by preset and iterations.

    OMP_NUM_THREADS=1 python -m benchmarks.bucket_force [--env ExcavatorForce-v0] [--seeds 2] [--grains 500]

The first 60 actions of the expert in `fast` are played again from the same settled bed.
"""

from __future__ import annotations

import argparse
from typing import Any

import gymnasium as gym
import numpy as np

import granular_gym as gg
from granular_gym.tasks.expert import scripted_expert

STEPS = 60


def main() -> None:
    """Prints mean, median of the loaded steps and largest of the forces [N], the length of the mean force [N], and the
    largest overlap."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--env", default="Excavator-v1", choices=["Excavator-v1", "ExcavatorForce-v0"])
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--grains", type=int, default=500)
    args = parser.parse_args()

    def made(preset: str) -> Any:
        return gym.make(f"granular_gym/{args.env}", grain_count=args.grains, num_threads=1, preset=preset)

    for seed in range(args.seeds):
        env, actions = made("fast"), []
        env.reset(seed=seed)
        expert = scripted_expert(env)
        for _ in range(STEPS):
            actions.append(expert.act())
            env.step(actions[-1])
        for preset in ("fast", "accurate"):
            for iterations in (10, 40):
                again = made(preset)
                task = again.unwrapped.task
                task._beds, task.solver = env.unwrapped.task._beds, gg.Solver(iterations=iterations, sleep=True)
                again.reset(seed=seed)
                forces, total, overlap = np.zeros(STEPS), np.zeros(3), 0.0
                for step, action in enumerate(actions):
                    overlap = max(overlap, again.step(action)[4]["overlap_max"])
                    force = task._bucket_wrenches()[0, :3]
                    forces[step], total = np.linalg.norm(force), total + force / STEPS
                mean, middle, most = forces.mean(), np.median(forces[forces > 1.0]), forces.max()
                figures = f"{mean:.1f} | {middle:.1f} | {most:.0f} | {np.linalg.norm(total):.1f} | {overlap:.3f}"
                print(f"| {seed} | {preset} | {iterations} | {figures} |", flush=True)
                again.close()
        env.close()


if __name__ == "__main__":
    main()
