"""learning.py: return over wall time, several seeds each: SAC with demonstrations on every task, TD3 and PPO beside it.

    python benchmarks/learning.py [CURVE ...] [--seeds 5] [--jobs 1] [--runs out/learning] [--out FOLDER]

After Millard et al., "GranularGym" (2023), figure 8, at a size for a CPU: each run has a fixed wall time. SAC plays its
envs beside the learner and uses two cores, PPO steps them in two threads, TD3 uses one. A run is a training script in
`examples`, whose command is in its JSON; existing runs are resumed. Writes a CSV and a JSON per run, a plot per task,
and summary.json: learned, random and expert on the same seeds, env steps, processor time, command and commit of each
curve, and the interquartile mean of the runs' shares of the expert with its bootstrap interval (Agarwal et al., "Deep
reinforcement learning at the edge of the statistical precipice", 2021). Random actions and the expert are evaluated
once per task.
"""

from __future__ import annotations

import argparse
import json
import re
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
from granular_gym.training.command import DRIVERS
from granular_gym.training.recipes import EPISODES, FIRST_SEED

EXAMPLES = Path(__file__).resolve().parents[1] / "examples"


@dataclass(frozen=True)
class Curve:
    """A training run.

    Attributes:
        algorithm: whose script in `examples` runs.
        task: name of the task.
        minutes: of wall time.
        kind: what sets it apart from the algorithm's other curve on the task, in a word or two; "": nothing.
        words: further arguments of the script.
        own_reward: `words` ask for another reward of the task, so that random actions and the expert are evaluated with
            each run, and the curve is drawn in a plot of its own.
    """

    algorithm: str
    task: str
    minutes: float
    kind: str = ""
    words: tuple[str, ...] = ()
    own_reward: bool = False

    @property
    def name(self) -> str:
        """Name of its files."""
        return "_".join([self.task.partition("-")[0].lower(), self.algorithm.lower(), *self.kind.split()])

    @property
    def label(self) -> str:
        """Its name in plots, and in the summary of its task."""
        return " ".join([self.algorithm, *self.kind.split()])


CURVES = (
    Curve("SAC", "Bulldozer-v1", 7.0),
    Curve("SAC", "Silo-v1", 5.0),
    Curve("SAC", "Level-v1", 5.0),
    Curve("SAC", "Pour-v1", 5.0),
    Curve("SAC", "GearTower-v1", 5.0),
    Curve("SAC", "Excavator-v1", 7.0),
    Curve("SAC", "Bulldozer-v1", 10.0, "scratch", ("--demonstrations", "0", "--hindsight", "0.5")),
    # the same runs, resumed
    Curve("SAC", "Bulldozer-v1", 25.0, "scratch long", ("--demonstrations", "0", "--hindsight", "0.5")),
    Curve("SAC", "Bulldozer-v1", 25.0, "pixels", ("--arg", "observation=pixels")),
    # the axes of figure 8: paid and drawn as the paper pays
    Curve(
        "TD3", "Bulldozer-v1", 20.0, "level", ("--arg", "reward=level", "--reward", "change", "--scale", "0.02"), True
    ),
    Curve("PPO", "Bulldozer-v1", 20.0, "", ("--arg", "preset=train", "--threads", "2")),
)
GRAINS = 300


def train(curve: Curve, seed: int, folder: Path) -> None:
    """One run in its own process; its output goes to a log beside its folder."""
    words = [str(EXAMPLES / f"train_{curve.algorithm.lower()}.py"), "--minutes", str(curve.minutes)]
    words += ["--evaluate", *(DRIVERS if curve.own_reward else ["learned"]), "--episodes", str(EPISODES)]
    if (folder / "checkpoint.zip").exists():
        words += ["--resume", str(folder)]
    else:
        words += [curve.task, *curve.words, "--seed", str(seed), "--out", str(folder)]
    folder.parent.mkdir(parents=True, exist_ok=True)
    with folder.with_suffix(".log").open("a") as log:
        done = subprocess.run([sys.executable, *words], stdout=log, stderr=subprocess.STDOUT)
    print(f"{folder.name}: {'done' if done.returncode == 0 else f'failed, see {log.name}'}", flush=True)


def baselines(task: str) -> dict[str, dict[str, float]]:
    """Evaluations of random actions and of the expert."""
    seeds = range(FIRST_SEED, FIRST_SEED + EPISODES)
    arguments = {"grain_count": GRAINS, "num_threads": 1}
    name = f"granular_gym/{task}"
    drivers = {"random": evaluation.random_driver, "expert": evaluation.expert_driver}
    return {
        kind: evaluation.summary(evaluation.evaluate(name, arguments, driver, seeds))
        for kind, driver in drivers.items()
    }


def collect(task: str, runs: dict[Curve, list[Path]], out: Path) -> dict[str, Any]:
    """Copies the results of a task's runs and draws its plots; returns its part of the summary."""
    shared = baselines(task)
    part: dict[str, Any] = {"baselines": shared}
    for curve, folders in runs.items():
        reports = [json.loads((folder / "report.json").read_text()) for folder in folders]
        for folder, report in zip(folders, reports, strict=True):
            (out / f"{folder.name}.csv").write_bytes((folder / records.EPISODES).read_bytes())
            (out / f"{folder.name}.json").write_text(json.dumps(report, indent=1) + "\n")
        bounds = bounds_of(reports[0]["evaluation"] if curve.own_reward else shared)
        part[curve.label] = summed(curve, reports, bounds)
        if curve.own_reward:
            own = {curve.label: kept(curve, out)}
            plot(f"{curve.name}.png", out, own, f"{task}, {curve.kind}", bounds, records.WINDOW)
    together = [curve for curve in CURVES if curve.task == task and not curve.own_reward]
    plot(f"{task.lower()}.png", out, {curve.label: kept(curve, out) for curve in together}, task, bounds_of(shared), 40)
    return part


def summed(curve: Curve, reports: list[dict[str, Any]], bounds: dict[str, float]) -> dict[str, Any]:
    """What the summary says of the runs of a curve, given the returns of expert and random actions."""
    means = [report["evaluation"]["learned"] for report in reports]
    returns = [mean["return"] for mean in means]
    found = {
        "command": reports[0]["command"],
        "commit": commit(),
        "facts": facts(),
        "minutes": curve.minutes,
        "env_steps": [report["env_steps"] for report in reports],
        "cpu_minutes": [report["training_cpu_seconds"] / 60.0 for report in reports],
        "returns": returns,
        "return": float(np.mean(returns)),
        "success": [mean.get("success") for mean in means],
        **spread([evaluation.share_of_expert(value, bounds["random"], bounds["expert"]) for value in returns]),
    }
    return found | ({"goal_share": [mean["goal_share"] for mean in means]} if "goal_share" in means[0] else {})


def bounds_of(means: dict[str, Any]) -> dict[str, float]:
    """Returns of the expert and of random actions."""
    return {name: means[name]["return"] for name in ("expert", "random")}


def plot(name: str, out: Path, curves: dict[str, Any], title: str, bounds: dict[str, float], window: int) -> None:
    """Draws those of the curves that have runs, between their bounds."""
    drawn = {label: runs for label, runs in curves.items() if runs}
    if drawn:
        records.plot_curves(out / name, f"{title}; expert and random with {GRAINS} grains", drawn, bounds, window)


def kept(curve: Curve, out: Path) -> list[list[dict[str, float]]]:
    """The episodes of every run of a curve whose results are in a folder."""
    numbered = re.compile(re.escape(curve.name) + r"_\d+\.csv")
    return [records.read_episodes(path) for path in sorted(out.iterdir()) if numbered.fullmatch(path.name)]


def commit() -> str:
    """Of the source tree; with a plus sign where files differ from it."""
    words = ["git", "-C", str(EXAMPLES), "describe", "--always", "--dirty=+"]
    found = subprocess.run(words, capture_output=True, text=True)
    return found.stdout.strip() or "unknown"


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
    jobs = [(curve, seed, args.runs / f"{curve.name}_{seed}") for seed in range(args.seeds) for curve in curves]
    with ThreadPoolExecutor(args.jobs) as pool:
        list(pool.map(lambda job: train(*job), [job for job in jobs if not (job[2] / "report.json").exists()]))
    summary = args.out / "summary.json"
    content: dict[str, Any] = json.loads(summary.read_text()) if summary.exists() else {}  # other curves stay
    content |= {"grains": GRAINS, "episodes": EPISODES}
    for task in dict.fromkeys(curve.task for curve in curves):
        runs = {
            curve: [folder for one, _, folder in jobs if one == curve and (folder / "report.json").exists()]
            for curve in curves
            if curve.task == task
        }
        part = collect(task, {curve: folders for curve, folders in runs.items() if folders}, args.out)
        content[task] = content.get(task, {}) | part
        print(json.dumps({task: content[task]}, indent=1), flush=True)
    summary.write_text(json.dumps(content, indent=1) + "\n")
    print(f"wrote {args.out}")


if __name__ == "__main__":
    main()
