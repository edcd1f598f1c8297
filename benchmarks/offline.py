"""offline.py: learners from datasets alone: kinds of datasets times methods, several seeds each.

    python benchmarks/offline.py [TASK ...] [--seeds 3] [--updates 5000] [--data out/offline] [--out FILE]

Datasets: 32 episodes of the expert, 32 of the disturbed expert, and all whole episodes in the replay buffer of a run of
SAC of 40,000 env steps, each with seed 0; those that lie in the folder of data are used again, so are results in the
file. After each run the file is written: for each task, kind and method the returns, successes and shares of the expert
on the official episodes, by seed, with interquartile mean and bootstrap interval as in `learning.py`. All methods take
as many gradient steps.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from dataclasses import asdict
from pathlib import Path
from typing import Any

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.learning import EXAMPLES, spread
from benchmarks.measure import facts
from granular_gym.training import demonstrations, evaluation
from granular_gym.training.datasets import KINDS, Request, write_dataset
from granular_gym.training.demonstrations import Demonstrations
from granular_gym.training.export import weights_of
from granular_gym.training.offline import METHODS, OfflineSettings, env_of, make_learner
from granular_gym.training.pretrained import Pretrained
from granular_gym.training.recipes import EPISODES, FIRST_SEED, OFFICIAL
from granular_gym.training.run import prepare

TASKS = ("Bulldozer-v1", "Silo-v1")
MEASURED = ("expert", "noisy", "replay")
SAC_STEPS = 40_000
SEEDS = range(FIRST_SEED, FIRST_SEED + EPISODES)


def dataset_of(task: str, kind: str, folder: Path) -> Demonstrations:
    """A dataset of a task; made where its file is missing."""
    path = folder / f"{task}_{kind}.npz"
    if not path.exists():
        options: dict[str, Any] = {}
        if "run" in KINDS[kind].options:
            options["run"] = run = folder / f"{task}_sac"
            if not (run / "report.json").exists():
                words = [task, "--steps", str(SAC_STEPS), "--seed", "0", "--evaluate", "--out", str(run)]
                subprocess.run([sys.executable, str(EXAMPLES / "train_sac.py"), *words], check=True)
        write_dataset(Request(task, kind, **options), path)
    return demonstrations.load(path)


def baselines(task: str) -> dict[str, dict[str, float]]:
    """What random actions and the expert earn on the official episodes."""
    arguments = {**OFFICIAL, "num_threads": 1}
    drivers = {"random": evaluation.random_driver, "expert": evaluation.expert_driver}
    return {
        name: evaluation.summary(evaluation.evaluate(f"granular_gym/{task}", arguments, driver, SEEDS))
        for name, driver in drivers.items()
    }


def learn(dataset: Demonstrations, method: str, seed: int, updates: int) -> dict[str, float]:
    """A run: "return" and "success" of its policy, and the seconds of CPU that it took to learn."""
    prepare(seed)
    env = env_of(dataset)
    learner = make_learner(env, dataset, seed, OfflineSettings(method))
    env.close()
    begun = time.process_time()
    learner.learn(updates)
    seconds = time.process_time() - begun
    policy = Pretrained(learner.card("measured", "", seconds), weights_of(learner))
    arguments = {**policy.card["arguments"], **OFFICIAL, "num_threads": 1}
    rows = evaluation.evaluate(policy.card["task"], arguments, lambda batch, _: policy.policy(batch), SEEDS)
    means = evaluation.summary(rows)
    return {"return": means["return"], "success": means["success"], "cpu_seconds": seconds}


def summary(runs: dict[str, dict[str, float]], means: dict[str, dict[str, float]]) -> dict[str, Any]:
    """Of the runs of a kind and a method by seed, with their shares of the expert."""
    returns = [run["return"] for run in runs.values()]
    ends = means["random"]["return"], means["expert"]["return"]
    return {"runs": runs, **spread([evaluation.share_of_expert(value, *ends) for value in returns])}


def table(content: dict[str, Any]) -> str:
    """What was measured, in Markdown."""
    lines = [
        "| task | dataset: kind, episodes, mean return | method | share of the expert: runs | interquartile mean, "
        "95 % interval | success: runs |",
        "|---|---|---|---|---|---|",
    ]
    for task in (name for name in TASKS if name in content):
        for kind, part in content[task]["datasets"].items():
            for method, found in part["methods"].items():
                shares = ", ".join(f"{100.0 * share:.0f}" for share in found["shares"])
                success = ", ".join(f"{100.0 * run['success']:.0f}" for run in found["runs"].values())
                spans = (f"{100.0 * end:.0f} %" for end in found.get("interval", ()))
                middle = ", ".join(
                    [f"{100.0 * found['iqm']:.0f} %", *([" to ".join(spans)] if "interval" in found else [])]
                )
                told = part["about"]
                data = f"{kind}, {told['episodes']}, {told['mean_return']:.3f}"
                lines.append(f"| {task} | {data} | {method} | {shares} % | {middle} | {success} % |")
    return "\n".join(lines)


def main() -> None:
    """Makes what is missing, a seed after the other; writes the file after each run, prints the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("tasks", nargs="*", metavar="TASK", help=f"some of {', '.join(TASKS)}; default: all")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--updates", type=int, default=5000, help="gradient steps of each run")
    parser.add_argument("--data", type=Path, default=Path("out/offline"), help="folder of the datasets")
    parser.add_argument("--out", type=Path, default=Path("out/benchmarks/offline.json"), help="the file")
    args = parser.parse_args()
    if unknown := set(args.tasks) - set(TASKS):
        parser.error(f"expected tasks out of {', '.join(TASKS)}, got {', '.join(sorted(unknown))}")
    for folder in (args.data, args.out.parent):
        folder.mkdir(parents=True, exist_ok=True)
    content: dict[str, Any] = json.loads(args.out.read_text()) if args.out.exists() else {}
    if content.get("updates", args.updates) != args.updates:
        parser.error(f"expected {content['updates']} updates as in {args.out}, got {args.updates}")
    content |= {"command": " ".join(["python", *sys.argv]), "updates": args.updates, "episodes": EPISODES}
    content |= {"settings": asdict(OfflineSettings()) | {"method": list(METHODS)}, "facts": facts()}
    jobs = [(seed, task, kind, method) for seed in range(args.seeds) for task in args.tasks or TASKS
            for kind in MEASURED for method in METHODS]  # fmt: skip
    for seed, task, kind, method in jobs:
        part = content.setdefault(task, {})
        if "baselines" not in part:
            part["baselines"] = baselines(task)
        dataset = dataset_of(task, kind, args.data)
        of_kind = part.setdefault("datasets", {}).setdefault(kind, {"about": dataset.about, "methods": {}})
        runs = of_kind["methods"].get(method, {}).get("runs", {})
        if str(seed) in runs:
            continue
        runs[str(seed)] = learn(dataset, method, seed, args.updates)
        of_kind["methods"][method] = summary(runs, part["baselines"])
        print(f"{task} {kind} {method} {seed}: {json.dumps(runs[str(seed)])}", flush=True)
        args.out.write_text(json.dumps(content, indent=1) + "\n")
    print(table(content))


if __name__ == "__main__":
    main()
