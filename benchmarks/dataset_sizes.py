"""dataset_sizes.py: what datasets of `python -m granular_gym record` take, and whether they play again bit for bit.

    python benchmarks/dataset_sizes.py [TASK ...] [--policies expert mixed] [--episodes 3] [--grains 500]
                                       [--out out/benchmarks]

Records a dataset of each task and policy with the episodes of all seeds from 0, plays it again on two threads and
deletes it. Prints a table: steps, megabytes on disk and before packing, seconds of the processor per episode; writes
dataset_sizes.json. Exit status 1: an episode did not play again.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

if __package__ in (None, ""):
    # run as a script: import packages from the root of the project
    sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import granular_gym as gg
from granular_gym.recording.files import Dataset
from granular_gym.recording.record import record
from granular_gym.recording.replay import replay
from granular_gym.tasks.registry import newest_ids, short_name, task_id

MEGA = 1e6


def silent(text: str) -> None:
    """Says nothing."""


def measure(task: str, policy: str, episodes: int, grains: int) -> dict[str, Any]:
    """A row of the table."""
    arguments = {"grain_count": grains, "num_threads": 1}
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        # beds settle before
        record(task, policy="random", episodes=1, out=root, arguments={**arguments, "max_episode_steps": 1}, say=silent)
        begun = time.process_time()
        made = record(task, policy=policy, episodes=episodes, out=root, overwrite=True, arguments=arguments, say=silent)
        seconds = time.process_time() - begun
        raw = sum(array.nbytes for each in Dataset(str(made.path)).episodes() for array in each.fields.values())
        try:
            fault = "" if replay(str(made.path), arguments={"num_threads": 2}, say=silent) == episodes else "too few"
        except gg.ReplayError as error:
            fault = str(error)
    return {
        "task": task,
        "policy": policy,
        "episodes": episodes,
        "steps": made.steps / episodes,
        "megabytes": made.size / MEGA / episodes,
        "raw_megabytes": raw / MEGA / episodes,
        "seconds": seconds / episodes,
        "fault": fault,
    }


def main() -> int:
    """Measures, prints, writes."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("tasks", nargs="*", metavar="TASK", help="default: all, each in its newest version")
    parser.add_argument("--policies", nargs="+", default=["expert", "mixed"])
    parser.add_argument("--episodes", type=int, default=3)
    parser.add_argument("--grains", type=int, default=500)
    parser.add_argument("--out", type=Path, default=Path("out/benchmarks"))
    args = parser.parse_args()
    rows = []
    print("| task | policy | steps | MB | before packing | processor time [s] | played again |")
    print("|---|---|---|---|---|---|---|")
    for task in map(task_id, args.tasks or newest_ids()):
        for policy in args.policies:
            row = measure(task, policy, args.episodes, args.grains)
            rows.append(row)
            print(
                f"| `{short_name(task)}` | {policy} | {row['steps']:.0f} | {row['megabytes']:.2f} | "
                f"{row['raw_megabytes']:.2f} | {row['seconds']:.1f} | {row['fault'] or 'every bit'} |",
                flush=True,
            )
    args.out.mkdir(parents=True, exist_ok=True)
    (args.out / "dataset_sizes.json").write_text(json.dumps({"grains": args.grains, "rows": rows}, indent=1) + "\n")
    return 1 if any(row["fault"] for row in rows) else 0


if __name__ == "__main__":
    sys.exit(main())
