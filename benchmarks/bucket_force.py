"""bucket_force.py: the force on the bucket of an excavator in one fixed motion, by preset and iterations.

    OMP_NUM_THREADS=1 python -m benchmarks.bucket_force [--env ExcavatorForce-v0] [--seeds 2] [--stiffness 5000]

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
    largest overlap; then means over the seeds with standard errors."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--env", default="Excavator-v1", choices=["Excavator-v1", "ExcavatorForce-v0"])
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--grains", type=int, default=500)
    parser.add_argument("--iterations", type=int, nargs="+", default=[10, 40])
    parser.add_argument("--stiffness", type=float, help="of a spring between flange and bucket [N/m], Excavator-v1")
    args = parser.parse_args()
    mount = {} if args.stiffness is None else {"bucket_stiffness": args.stiffness}
    found: dict[tuple[str, str], list[list[float]]] = {}

    def made(preset: str) -> Any:
        return gym.make(f"granular_gym/{args.env}", grain_count=args.grains, num_threads=1, preset=preset, **mount)

    for seed in range(args.seeds):
        env, actions = made("fast"), []
        env.reset(seed=seed)
        expert = scripted_expert(env)
        for _ in range(STEPS):
            actions.append(expert.act())
            env.step(actions[-1])
        for preset in ("fast", "accurate"):
            for iterations in args.iterations:
                again = made(preset)
                task = again.unwrapped.task
                task._beds = env.unwrapped.task._beds
                if not mount:
                    task.solver = gg.Solver(iterations=iterations, sleep=True)
                again.reset(seed=seed)
                forces, total, overlap = np.zeros(STEPS), np.zeros(3), 0.0
                for step, action in enumerate(actions):
                    overlap = max(overlap, again.step(action)[4]["overlap_max"])
                    force = task._bucket_wrenches()[0, :3]
                    forces[step], total = np.linalg.norm(force), total + force / STEPS
                mean, middle, most = forces.mean(), np.median(forces[forces > 1.0]), forces.max()
                length, how = float(np.linalg.norm(total)), "converged" if mount else str(iterations)
                figures = f"{mean:.1f} | {middle:.1f} | {most:.0f} | {length:.1f} | {overlap:.3f}"
                print(f"| {seed} | {preset} | {how} | {figures} |", flush=True)
                found.setdefault((preset, how), []).append([float(mean), length])
                again.close()
                if mount:
                    break  # the task chooses its iterations
        env.close()
    for (preset, how), rows in found.items():
        means = np.array(rows)
        errors = means.std(axis=0, ddof=1) / np.sqrt(len(rows)) if len(rows) > 1 else np.full(2, np.nan)
        (mean, length), (error, other) = means.mean(axis=0), errors
        print(f"{preset}, {how}: mean {mean:.1f} +- {error:.1f} N, length of the mean {length:.1f} +- {other:.1f} N")


if __name__ == "__main__":
    main()
