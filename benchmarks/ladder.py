"""ladder.py: speed and accuracy of all tasks, played by their experts, by number of grains.

    python benchmarks/ladder.py [TASK ...] [--grains 100 500 2000 10000 50000] [--seconds 120] [--out out/benchmarks]

For each task and number of grains: one episode of the expert, or as many steps as fit into --seconds of processor time
after the reset; seed 0, medium, preset fast, one thread. Prints a table and writes ladder.json. Other programs hardly
affect processor time. That of env steps is without the expert's; that of the reset, which settles beds, is a column of
its own.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from pathlib import Path

import gymnasium as gym
import numpy as np

if __package__ in (None, ""):
    # run as a script: import packages from the root of the project
    sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks import measure
from benchmarks.measure import Row
from benchmarks.run import table
from granular_gym.tasks.expert import scripted_expert
from granular_gym.tasks.pace import GRAIN_LADDER
from granular_gym.tasks.registry import NAMESPACE, newest_ids, task_class, task_id
from granular_gym.tasks.scaled import Scaled

COLUMNS = (
    "steps",
    "env_steps_per_cpu_s",
    "env_steps_per_s",
    "overlap_mean_pct",
    "overlap_max_pct",
    "residual",
    "fast_count",
    "escaped_count",
    "return",
    "success",
    "reset_cpu_s",
)


def as_version_0_pays(task: str) -> dict[str, str]:
    """The argument with which a later version of a task pays as its version 0: returns of the docs are told so.

    Args:
        task: id.
    """
    kind = task_class(task)
    if issubclass(kind, Scaled):
        return {"reward": "paper"}
    return {"reward": "level"} if "change" in getattr(kind, "rewards", ()) else {}


def measure_task(task: str, grains: int, seconds: float, seed: int = 0, preset: str = "fast") -> Row:
    """One row: an episode or its beginning; `success` only for complete episodes."""
    env = gym.make(task, grain_count=grains, preset=preset, num_threads=1, **as_version_0_pays(task))
    begin = time.process_time()
    env.reset(seed=seed)
    row: Row = {"name": f"{task.removeprefix(NAMESPACE)}, {grains} grains", "task": task, "grains": grains}
    row["reset_cpu_s"] = time.process_time() - begin
    expert = scripted_expert(env)
    row.update({"steps": 0, "return": 0.0, "overlap_max_pct": 0.0, "fast_count": 0})
    cpu, wall, over, looks = 0.0, 0.0, False, []
    while not over and cpu < seconds:
        action = expert.act()
        (_, reward, terminated, truncated, info), (step_cpu, step_wall) = measure.timed(env.step, action)
        cpu, wall, over = cpu + step_cpu, wall + step_wall, terminated or truncated
        row["steps"] += 1
        row["return"] += float(reward)
        row["overlap_max_pct"] = max(row["overlap_max_pct"], 100.0 * info["overlap_max"])
        row["fast_count"] += info["fast_count"]
        looks.append((100.0 * info["overlap_mean"], info["residual"]))
    row["env_steps_per_cpu_s"], row["env_steps_per_s"] = row["steps"] / cpu, row["steps"] / wall
    row["overlap_mean_pct"], row["residual"] = np.mean(looks, axis=0).tolist()
    row["escaped_count"] = info["escaped_count"]
    row["success"] = str(info["success"]) if over else None
    env.close()
    return row


def main() -> None:
    """Measures all rows; prints and writes them."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("tasks", nargs="*", help="none: all, each in its newest version")
    parser.add_argument("--grains", type=int, nargs="+", default=list(GRAIN_LADDER))
    parser.add_argument("--seconds", type=float, default=120.0, help="processor time of a row after its reset")
    parser.add_argument("--out", type=Path, default=Path("out/benchmarks"))
    args = parser.parse_args()
    facts, rows = measure.facts(), []
    args.out.mkdir(parents=True, exist_ok=True)
    for grains in args.grains:
        for name in args.tasks or newest_ids():
            rows.append(measure_task(task_id(name), grains, args.seconds))
            print(table(rows[-1:], COLUMNS), flush=True)
            result = {"seconds": args.seconds, "load": measure.load_average(), "facts": facts, "rows": rows}
            (args.out / "ladder.json").write_text(json.dumps(result, indent=1) + "\n")
    print(f"\n{table(rows, COLUMNS)}\nwrote {args.out / 'ladder.json'}")


if __name__ == "__main__":
    main()
