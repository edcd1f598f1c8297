"""planner.py: the planner on the official episodes, in the wall clock that a learner takes to train.

    python -m benchmarks.planner [--task Bulldozer-v1] [--guide expert|none] [--copies 8] [--horizon 20] [--out FOLDER]

`granular_gym.planning.Planner` (MPPI in copies of the env) needs no training, but every action costs time: what stands
beside a learner's minutes of training is the time in which it plays all official episodes. It decides as often as the
learner (frame skip of the task's recipe). Its row of summary.json has the same keys as a learner's; env steps are those
tried in copies.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
from tqdm import tqdm

from benchmarks.learning import bounds_of, commit, spread
from benchmarks.measure import facts
from granular_gym.tasks.expert import scripted_expert
from granular_gym.tasks.registry import entry_of
from granular_gym.training import evaluation
from granular_gym.training.planning import Planner
from granular_gym.training.recipes import EPISODES, FIRST_SEED, OFFICIAL, recipe_of


def play(task: str, seed: int, args: argparse.Namespace) -> dict[str, Any]:
    """One episode: its return and success, and the env steps tried."""
    skip = recipe_of(task).repeat
    shared = {"grain_count": OFFICIAL["grain_count"], "num_threads": args.threads, "frame_skip": skip}
    env = gym.make(task, preset=OFFICIAL["preset"], **shared)
    copies = gym.make_vec(task, num_envs=args.copies, preset="train", **shared)
    guide = scripted_expert(copies) if args.guide == "expert" else None
    planner = Planner(
        copies,
        guide=guide,
        horizon=args.horizon,
        interval=args.interval,
        noise=args.noise,
        correlation=args.correlation,
        seed=seed,
    )
    env.reset(seed=seed)
    total, left, ended = 0.0, entry_of(task).steps // skip, False
    info: dict[str, Any] = {}
    while not ended:
        _, reward, terminated, truncated, info = env.step(planner.act(env, max(left, 1)))
        total, left, ended = total + float(reward), left - 1, terminated or truncated
    found = {"return": total, "success": float(info["success"]), "env_steps": planner.steps_tried * skip}
    copies.close()
    env.close()
    return found


def main() -> None:
    """Plays all episodes; adds the row to the summary."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--task", default="Bulldozer-v1")
    parser.add_argument("--guide", choices=("expert", "none"), default="expert", help="who proposes actions")
    parser.add_argument("--copies", type=int, default=8, help="sequences tried at once")
    parser.add_argument("--horizon", type=int, default=20, help="decisions looked ahead")
    parser.add_argument("--interval", type=int, default=10, help="decisions played of each plan")
    parser.add_argument("--noise", type=float, default=0.3, help="standard deviation of the noise on actions")
    parser.add_argument("--correlation", type=float, default=0.8, help="of the noise of neighbouring decisions")
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--episodes", type=int, default=EPISODES)
    parser.add_argument("--out", type=Path, default=Path("out/benchmarks/learning"), help="folder of summary.json")
    args = parser.parse_args()
    task, label = f"granular_gym/{args.task}", "Planner" + (" alone" if args.guide == "none" else "")
    seeds = range(FIRST_SEED, FIRST_SEED + args.episodes)
    wall, processor = time.perf_counter(), time.process_time()
    played = [play(task, seed, args) for seed in tqdm(seeds, desc=label, unit="episode")]
    wall, processor = time.perf_counter() - wall, time.process_time() - processor
    path = args.out / "summary.json"
    summary = json.loads(path.read_text())
    part = summary[args.task]
    mean = {key: float(np.mean([one[key] for one in played])) for key in played[0]}
    bounds = bounds_of(part["baselines"])
    words = {"copies": args.copies, "horizon": args.horizon, "interval": args.interval, "noise": args.noise}
    part[label] = {
        "command": f"python -m benchmarks.planner --task {args.task} --guide {args.guide} "
        + " ".join(f"--{name} {value}" for name, value in words.items()),
        "commit": commit(),
        "facts": facts(),
        "minutes": round(wall / 60.0, 1),
        "env_steps": [sum(one["env_steps"] for one in played)],
        "cpu_minutes": [processor / 60.0],
        "returns": [mean["return"]],
        "return": mean["return"],
        "success": [mean["success"]],
        "episodes": played,
        **spread([evaluation.share_of_expert(mean["return"], bounds["random"], bounds["expert"])]),
    }
    print(json.dumps({key: value for key, value in part[label].items() if key != "facts"}, indent=1))
    path.write_text(json.dumps(summary, indent=1) + "\n")


if __name__ == "__main__":
    main()
