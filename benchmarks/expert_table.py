"""expert_table.py: returns of the expert of a task and of random actions, seed by seed.

    python benchmarks/expert_table.py [TASK] [--seeds 20] [--grains 2000] [--difficulty medium] [--preset fast]
                                      [--policy expert] [--arg name=value] [--jobs 2] [--out out/benchmarks]

Prints a table and writes expert_table_TASK.json, with --arg and --difficulty in its name. With --policy module:function
another policy plays in place of the expert; its name is in the JSON's, too. The expert must have a higher
return than random actions on every seed. The table also has success and a measure of the last step.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import platform
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np

if __package__ in (None, ""):
    # run as a script: import packages from the root of the project
    sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import granular_gym as gg
from benchmarks.ladder import as_version_0_pays
from granular_gym.tasks.pace import PRESETS
from granular_gym.tasks.registry import entry_of, parse_arguments, short_name, task_id, task_ids
from granular_gym.training.policies import load_policy

#: further infos that are recorded: largest value, sum over the episode, last value
LARGEST, SUMMED, LAST = ("torque_share",), ("fast_tool_count",), ("spill_share",)


def play(job: tuple[str, str, int, dict[str, Any]]) -> dict[str, Any]:
    """Plays one episode; the job is (task, policy, seed, arguments of the task)."""
    task, driver, seed, arguments = job
    env = gym.make(task_id(task), num_threads=1, **arguments)
    observation, info = env.reset(seed=seed)
    act = load_policy(driver, env)
    env.action_space.seed(seed)
    start, total, steps, worst, over = time.perf_counter(), 0.0, 0, 0.0, False
    kept: dict[str, Any] = {}
    while not over:
        observation, reward, terminated, truncated, info = env.step(act(observation))
        total, steps, worst = total + reward, steps + 1, max(worst, info["overlap_max"])
        over = terminated or truncated
        for key in set(LARGEST) & info.keys():
            kept[key] = max(kept.get(key, 0.0), info[key])
        for key in set(SUMMED) & info.keys():
            kept[key] = kept.get(key, 0) + info[key]
    kept.update({key: info[key] for key in LAST if key in info})
    seconds = time.perf_counter() - start
    env.close()
    measure = entry_of(task).measure
    if measure not in info:
        raise gg.ArgumentError(f"measure: expected an info of {task}, got {measure!r}; infos: {', '.join(info)}")
    return {
        "driver": "random" if driver == "random" else "expert",
        "seed": seed,
        measure: float(info[measure]),
        "success": bool(info.get("success", False)),
        "return": total,
        "steps": steps,
        "seconds": seconds,
        "overlap_max": worst,
        "escaped": info["escaped_count"],
        "diverged": info["diverged"],
        **kept,
    }


def main() -> None:
    """Plays all episodes; prints the table; writes the JSON."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("task", nargs="?", default="Bulldozer-v1", help=f"of {', '.join(task_ids())}, or module:id")
    parser.add_argument("--seeds", type=int, default=20, help="number of seeds, from 0")
    parser.add_argument("--grains", type=int, default=2000)
    parser.add_argument("--difficulty", help="easy, medium or hard, for tasks that have difficulties")
    parser.add_argument("--preset", choices=list(PRESETS), default="fast")
    parser.add_argument("--policy", default="expert", help="who plays as the expert: module:function, see `play`")
    parser.add_argument("--arg", action="append", default=[], help="a further argument of the task, name=value")
    parser.add_argument("--jobs", type=int, default=multiprocessing.cpu_count(), help="number of processes")
    parser.add_argument("--out", type=Path, default=Path("out/benchmarks"))
    args = parser.parse_args()
    sys.path.append(os.getcwd())  # where modules with tasks of one's own lie
    try:
        task = task_id(args.task)
    except gg.ArgumentError as error:
        parser.error(str(error))
    if args.policy == "expert" and entry_of(task).expert is None:
        parser.error(f"task: expected one with a scripted expert, {task} has none; give --policy")
    arguments: dict[str, Any] = {"grain_count": args.grains, "preset": args.preset, **as_version_0_pays(task)}
    if args.difficulty:
        arguments["difficulty"] = args.difficulty
    further = parse_arguments(args.arg)
    arguments.update(further)

    # settle beds before the workers need them; a few seeds draw all of them
    env = gym.make(task, num_threads=1, **arguments)
    for seed in range(6):
        env.reset(seed=seed)
    env.close()
    jobs = [(task, driver, seed, arguments) for seed in range(args.seeds) for driver in (args.policy, "random")]
    try:
        with ProcessPoolExecutor(args.jobs, mp_context=multiprocessing.get_context("spawn")) as pool:
            results = list(pool.map(play, jobs))
    except BrokenProcessPool:
        raise SystemExit("a process that played an episode ended, killed or out of memory: try fewer --jobs") from None

    measure = entry_of(task).measure
    print(f"{task}, {args.policy}, {', '.join(f'{name} {value}' for name, value in arguments.items())}")
    print(
        f"seed   {'expert ' + measure:>20}   {'random ' + measure:>20}   expert return   random return   "
        f"expert success   random success   largest overlap"
    )
    by = {(result["driver"], result["seed"]): result for result in results}
    for seed in range(args.seeds):
        expert, random = by["expert", seed], by["random", seed]
        print(
            f"{seed:4d}   {expert[measure]:20.3f}   {random[measure]:20.3f}   {expert['return']:13.1f}   "
            f"{random['return']:13.1f}   "
            f"{expert['success']!s:>14}   {random['success']!s:>14}   "
            f"{max(expert['overlap_max'], random['overlap_max']):15.1%}"
        )
    results_of = {driver: [by[driver, seed] for seed in range(args.seeds)] for driver in ("expert", "random")}
    wins = sum(a["return"] > b["return"] for a, b in zip(results_of["expert"], results_of["random"], strict=True))
    summary: dict[str, Any] = {"measure": measure, "expert_wins": wins, "seeds": args.seeds}
    for driver, rows in results_of.items():
        summary[f"{driver}_mean"] = float(np.mean([row[measure] for row in rows]))
        summary[f"{driver}_least"] = float(np.min([row[measure] for row in rows]))
        summary[f"{driver}_most"] = float(np.max([row[measure] for row in rows]))
        summary[f"{driver}_return"] = float(np.mean([row["return"] for row in rows]))
        summary[f"{driver}_success"] = float(np.mean([row["success"] for row in rows]))
    summary["diverged"] = sum(result["diverged"] for result in results)
    summary["escaped"] = sum(result["escaped"] for result in results)
    print(
        f"mean   {summary['expert_mean']:20.3f}   {summary['random_mean']:20.3f}   {summary['expert_return']:13.1f}   "
        f"{summary['random_return']:13.1f}   {summary['expert_success']:14.0%}   {summary['random_success']:14.0%}   "
        f"expert wins {wins} of {args.seeds}"
    )
    args.out.mkdir(parents=True, exist_ok=True)
    named = [short_name(task), *(f"{key}-{value}" for key, value in further.items())]
    if args.difficulty not in (None, "medium"):
        named.append(args.difficulty)
    if args.policy != "expert":
        named.append(args.policy.replace(":", "."))
    path = args.out / f"expert_table_{'_'.join(named)}.json"
    facts = {"machine": platform.machine(), "python": platform.python_version(), **gg.info()}
    del facts["cache"]
    head = {"task": task, "policy": args.policy, "arguments": arguments, "summary": summary}
    path.write_text(json.dumps({**head, "results": results, "facts": facts}, indent=1, default=str))
    print(f"wrote {path}")


if __name__ == "__main__":
    main()
