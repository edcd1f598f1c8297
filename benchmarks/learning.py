"""learning.py: return over wall time, several seeds each: SAC with demonstrations on every task, TD3 and PPO beside it.

    python benchmarks/learning.py [CURVE ...] [--seeds 5] [--jobs 1] [--runs out/learning] [--out FOLDER]

After Millard et al., "GranularGym" (2023), figure 8, at a size for a CPU: each run has a fixed wall time. SAC plays its
envs beside the learner and uses two cores, TD3 and PPO one. A run is a training script in `examples`, whose command is
in its JSON; existing runs are resumed. Writes a CSV and a JSON per run, a plot per task, and summary.json: learned,
random and expert on the same seeds, and the interquartile mean of the runs' shares of the expert with its bootstrap
interval (Agarwal et al., "Deep reinforcement learning at the edge of the statistical precipice", 2021). Random actions
and the expert are evaluated once per task.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy import stats

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.measure import facts
from granular_gym.training import evaluation, records
from granular_gym.training.recipes import EPISODES, FIRST_SEED, recipe

EXAMPLES = Path(__file__).resolve().parents[1] / "examples"


@dataclass(frozen=True)
class Curve:
    """A training run: names of the algorithm and the task, minutes of wall time."""

    algorithm: str
    task: str
    minutes: float

    @property
    def name(self) -> str:
        """Name of its files."""
        return f"{self.task.partition('-')[0].lower()}_{self.algorithm.lower()}"


CURVES = (
    Curve("SAC", "Bulldozer-v1", 7.0),
    Curve("SAC", "Silo-v1", 7.0),
    Curve("SAC", "Level-v1", 7.0),
    Curve("SAC", "Pour-v1", 7.0),
    Curve("SAC", "GearTower-v1", 7.0),
    Curve("SAC", "Excavator-v1", 7.0),
    Curve("TD3", "Bulldozer-v1", 12.0),
    Curve("PPO", "Bulldozer-v1", 12.0),
    Curve("PPO", "Silo-v1", 6.0),
)
GRAINS = 300


def train(curve: Curve, seed: int, folder: Path) -> None:
    """One run in its own process; its output goes to a log beside its folder."""
    words = [str(EXAMPLES / f"train_{curve.algorithm.lower()}.py"), "--minutes", str(curve.minutes)]
    words += ["--evaluate", "learned", "--episodes", str(EPISODES)]
    if (folder / "checkpoint.zip").exists():
        words += ["--resume", str(folder)]
    else:
        words += [curve.task, "--seed", str(seed), "--out", str(folder)]
    folder.parent.mkdir(parents=True, exist_ok=True)
    with folder.with_suffix(".log").open("a") as log:
        done = subprocess.run([sys.executable, *words], stdout=log, stderr=subprocess.STDOUT)
    print(f"{folder.name}: {'done' if done.returncode == 0 else f'failed, see {log.name}'}", flush=True)


def baselines(task: str) -> dict[str, dict[str, float]]:
    """Evaluations of random actions, of random actions held as long as a learner's, and of the expert."""
    seeds = range(FIRST_SEED, FIRST_SEED + EPISODES)
    arguments = {"grain_count": GRAINS, "num_threads": 1}
    name = f"granular_gym/{task}"
    drivers = {
        "random": evaluation.random_driver,
        "random_held": evaluation.held(evaluation.random_driver, recipe(name, "PPO")["repeat"]),
        "expert": evaluation.expert_driver,
    }
    return {
        kind: evaluation.summary(evaluation.evaluate(name, arguments, driver, seeds))
        for kind, driver in drivers.items()
    }


def collect(task: str, runs: dict[Curve, list[Path]], out: Path) -> dict[str, Any]:
    """Copies the results of a task's runs and draws its plot; returns its part of the summary."""
    baseline = baselines(task)
    random, expert = baseline["random"]["return"], baseline["expert"]["return"]
    part: dict[str, Any] = {"baselines": baseline}
    curves: dict[str, list[list[dict[str, float]]]] = {}
    for curve, folders in runs.items():
        means = []
        for folder in folders:
            report = json.loads((folder / "report.json").read_text())
            rows = records.read_episodes(folder / records.EPISODES)
            curves.setdefault(curve.algorithm, []).append(rows)
            means.append(report["evaluation"]["learned"])
            (out / f"{folder.name}.csv").write_bytes((folder / records.EPISODES).read_bytes())
            (out / f"{folder.name}.json").write_text(json.dumps(report, indent=1) + "\n")
        returns = [mean["return"] for mean in means]
        part[curve.algorithm] = {
            "minutes": curve.minutes,
            "returns": returns,
            "return": float(np.mean(returns)),
            "success": [mean.get("success") for mean in means],
            "share_of_expert": evaluation.share_of_expert(float(np.mean(returns)), random, expert),
            **spread([evaluation.share_of_expert(value, random, expert) for value in returns]),
        }
        if "goal_share" in means[0]:
            part[curve.algorithm]["goal_share"] = [mean["goal_share"] for mean in means]
    title = f"{task}; expert and random with {GRAINS} grains"
    window = 40
    lines = {"expert": expert, "random": random}
    records.plot_curves(out / f"{task.lower()}.png", title, curves, lines, window)
    return part


def spread(shares: list[float]) -> dict[str, Any]:
    """Of the runs: their "shares" of the expert, the interquartile mean "iqm" of these, and from three runs on its
    95 % "interval" by the percentile bootstrap over runs."""
    found: dict[str, Any] = {"shares": shares, "iqm": float(stats.trim_mean(shares, 0.25))}
    if len(shares) > 2:
        drawn = stats.bootstrap(
            (np.array(shares),),
            lambda values, axis: stats.trim_mean(values, 0.25, axis=axis),
            method="percentile",
            rng=np.random.default_rng(0),
        )
        found["interval"] = [float(drawn.confidence_interval.low), float(drawn.confidence_interval.high)]
    return found


def main() -> None:
    """Trains all runs that are not complete; collects the results."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    names = [curve.name for curve in CURVES]
    parser.add_argument("curves", nargs="*", metavar="CURVE", help=f"some of {', '.join(names)}; default: all")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--jobs", type=int, default=1, help="runs at once")
    parser.add_argument("--runs", type=Path, default=Path("out/learning"), help="folder of the runs")
    parser.add_argument("--out", type=Path, default=Path("out/benchmarks/learning"), help="folder of the results")
    args = parser.parse_args()
    if unknown := set(args.curves) - set(names):
        parser.error(f"expected curves out of {', '.join(names)}, got {', '.join(sorted(unknown))}")
    curves = [curve for curve in CURVES if curve.name in (args.curves or names)]
    args.out.mkdir(parents=True, exist_ok=True)
    start = facts()
    jobs = [(curve, seed, args.runs / f"{curve.name}_{seed}") for seed in range(args.seeds) for curve in curves]
    with ThreadPoolExecutor(args.jobs) as pool:
        list(pool.map(lambda job: train(*job), [job for job in jobs if not (job[2] / "report.json").exists()]))
    summary = args.out / "summary.json"
    content: dict[str, Any] = json.loads(summary.read_text()) if summary.exists() else {}  # other curves stay
    content |= {"command": " ".join(["python", *sys.argv]), "grains": GRAINS, "episodes": EPISODES}
    for task in dict.fromkeys(curve.task for curve in curves):
        runs = {
            curve: [folder for one, _, folder in jobs if one == curve and (folder / "report.json").exists()]
            for curve in curves
            if curve.task == task
        }
        part = collect(task, {curve: folders for curve, folders in runs.items() if folders}, args.out)
        content[task] = content.get(task, {}) | part
        print(json.dumps({task: content[task]}, indent=1), flush=True)
    content["facts"] = start
    summary.write_text(json.dumps(content, indent=1) + "\n")
    print(f"wrote {args.out}")


if __name__ == "__main__":
    main()
