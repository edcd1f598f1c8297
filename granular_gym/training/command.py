"""command.py: what the training scripts share: arguments, the run with its progress bar, table and plot at the end."""

from __future__ import annotations

import argparse
import contextlib
import copy
import json
import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np
from tqdm import tqdm

from granular_gym.base import cache, checks
from granular_gym.base.pipes import reader_gone
from granular_gym.errors import ArgumentError, GranularError
from granular_gym.info import info
from granular_gym.tasks.registry import entry_of, parse_arguments, short_name, task_id
from granular_gym.training import checkpoint, evaluation, records
from granular_gym.training.policies import Actor
from granular_gym.training.recipes import EPISODES, FIRST_SEED, OFFICIAL, recipe
from granular_gym.training.run import Run, Settings, versions

DRIVERS = ("learned", "random", "expert")
TASK_HELP = "name of the task, or module:id of one of your own; default: Bulldozer-v1"


def make_parser(description: str) -> argparse.ArgumentParser:
    """The arguments that all training scripts take."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("task", nargs="?", default="Bulldozer-v1", help=TASK_HELP)
    parser.add_argument("--minutes", type=float, help="wall clock of training, a resumed run's earlier part included")
    parser.add_argument("--steps", type=int, help="env steps of training, those of a resumed run included")
    parser.add_argument("--seed", type=int, default=0, help="of envs, weights and exploration")
    parser.add_argument("--grains", type=int, help="grains per env in training; default: of the task's recipe")
    parser.add_argument(
        "--arg",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="further argument of the task, as difficulty=easy",
    )
    parser.add_argument("--envs", type=int, default=8, help="envs played at once, in one world")
    parser.add_argument("--threads", type=int, default=1, help="threads of the engine; changes no result")
    parser.add_argument("--repeat", type=int, help="env steps per decision; default: of the task's recipe")
    parser.add_argument("--reward", choices=("sum", "change"), help="of a decision; default: of the task's recipe")
    parser.add_argument("--scale", type=float, help="of the learner's reward; default: of the task's recipe")
    parser.add_argument("--out", type=Path, help="folder of the run; default: out/train/TASK_ALGORITHM_SEED")
    parser.add_argument("--resume", type=Path, metavar="PATH", help="go on from a checkpoint or the folder of a run")
    parser.add_argument("--save-every", type=float, default=1.0, help="minutes between checkpoints")
    parser.add_argument(
        "--evaluate", nargs="*", choices=DRIVERS, default=list(DRIVERS), help="who plays at the end; none: nothing"
    )
    parser.add_argument("--episodes", type=int, default=EPISODES, help="of the evaluation, each with its own seed")
    return parser


def settings_of(args: argparse.Namespace, algorithm: str, chunk: int) -> Settings:
    """What the arguments ask for; what they leave open comes from the task's recipe."""
    task = task_id(args.task)
    asked = parse_arguments(args.arg)
    found = recipe(task, algorithm, asked.get("observation"))
    grains = {} if args.grains is None else {"grain_count": args.grains}
    arguments = {**found.pop("arguments"), "num_threads": args.threads, **grains, **asked}
    given = {name: getattr(args, name) for name in ("repeat", "reward", "scale") if getattr(args, name) is not None}
    settings = Settings(task=task, arguments=arguments, envs=args.envs, seed=args.seed, chunk=chunk)
    return replace(settings, **{**found, **given})


def main(
    parser: argparse.ArgumentParser,
    algorithm: str,
    chunk: Callable[[argparse.Namespace], int],
    make_model: Callable[[Any, int, argparse.Namespace], Any],
    words: Sequence[str] | None = None,
) -> int:
    """Trains as the command line asks; returns the exit status (1: a file could not be written, 2: bad arguments,
    130: Ctrl-C, 141: nobody reads the output).

    Args:
        parser: made by `make_parser`, with the algorithm's own arguments.
        algorithm: a key of `policies.ALGORITHMS`, for its recipe and the name of the folder.
        chunk: decisions between two checks of the clock, by the arguments.
        make_model: makes the model from env, seed and arguments.
        words: of the command line; None: those of this process.
    """
    args = parser.parse_args(words)
    own = [name for name in vars(args) if name not in vars(make_parser("").parse_args([]))]
    sys.path.append(os.getcwd())  # where modules with tasks of one's own lie; Python looks beside the script only
    if args.minutes is None and args.steps is None:
        args.minutes = 10.0
    run = None
    try:
        checks.integer("episodes", args.episodes, 0)
        if args.resume is not None:
            check_options(parser, own, words, checkpoint.read_about(args.resume)["settings"])
            run = Run.resume(args.resume, args.out)
            print(f"resumed after {run.env_steps:,} env steps and {run.seconds / 60.0:.1f} minutes", flush=True)
        else:
            settings = settings_of(args, algorithm, chunk(args))
            settings = replace(settings, options={each: getattr(args, each) for each in own})
            name = f"{short_name(settings.task)}_{algorithm.lower()}_{settings.seed}"
            folder = args.out or Path("out/train") / name
            run = Run.begin(folder, settings, lambda env, seed: make_model(env, seed, args))
        train_with_bar(run, args.steps, args.minutes, args.save_every)
        command = ["python", os.path.relpath(sys.argv[0]), *without_out(sys.argv[1:] if words is None else words)]
        report(run, args.evaluate, args.episodes, command)
        print(f"plot, table, episodes and checkpoint: {run.folder}", flush=True)
    except GranularError as error:
        print(f"{parser.prog}: {error}", file=sys.stderr)
        return 2
    except BrokenPipeError:
        return reader_gone()
    except OSError as error:
        print(f"{parser.prog}: {lost(run, error)}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print(f"\n{parser.prog}: stopped; {kept_in(*([run.folder] if run else []), args.resume)}", file=sys.stderr)
        return 130
    finally:
        if run is not None:
            run.close()
    return 0


def check_options(
    parser: argparse.ArgumentParser, own: Sequence[str], words: Sequence[str] | None, settings: dict[str, Any]
) -> None:
    """Refuses options beside --resume that would have to change what the run learns, or how.

    Args:
        parser: of the command line.
        own: names of the algorithm's own options.
        words: of the command line; None: those of this process.
        settings: of the run, as its checkpoint has them.

    Raises:
        ArgumentError: an option is not what the run has; one that agrees with it may be given.
    """
    bare = copy.deepcopy(parser)
    # without defaults only what stands on the command line is left
    bare.set_defaults(**dict.fromkeys(vars(parser.parse_args(words))))
    given = {name: value for name, value in vars(bare.parse_args(words)).items() if value is not None}
    arguments, options = settings["arguments"], settings.get("options", {})
    asked: dict[str, tuple[Any, Any]] = {}
    if "task" in given:
        asked["task"] = task_id(given["task"]), settings["task"]
    for name in ("envs", "repeat", "reward", "scale", "seed"):
        asked[name] = given.get(name, settings[name]), settings[name]
    for name, argument in (("grains", "grain_count"), ("threads", "num_threads")):
        asked[name] = given.get(name, arguments.get(argument)), arguments.get(argument)
    for argument, value in parse_arguments(given.get("arg", [])).items():
        asked[f"arg {argument}"] = value, arguments.get(argument)
    for name in own:
        asked[name.replace("_", "-")] = given.get(name, options.get(name)), options.get(name)
    for name, (value, has) in asked.items():
        if value != has:
            known = f"{has!r}, which the resumed run has" if has is not None else "none for a run that is resumed"
            raise ArgumentError(f"{name}: expected {known}, got {value!r}")


def without_out(words: Sequence[str]) -> list[str]:
    """The words of a command line that say what was trained, not where its files are."""
    kept = [word for k, word in enumerate(words) if not (k and words[k - 1] == "--out")]
    return [word for word in kept if word.partition("=")[0] != "--out"]


def lost(run: Run | None, error: OSError) -> str:
    """What a failed write cost, in words."""
    what = f"cannot write {error.filename or 'a file of the run'} ({error.strerror or error})"
    if run is None:
        return what
    try:
        kept = checkpoint.read_about(run.folder)
    except GranularError:
        return f"{what}; no checkpoint was written yet"
    return (
        f"{what}; the checkpoint of {kept['env_steps']:,} env steps is whole: free disk space, then go on with "
        f"--resume {run.folder}"
    )


def kept_in(*places: Path | None) -> str:
    """Where a run that was stopped can go on, in words: from the first of some folders that has a checkpoint."""
    for place in places:
        with contextlib.suppress(GranularError):
            if place is not None and checkpoint.read_about(place):
                return f"the last checkpoint is kept, go on with --resume {place}"
    return "no checkpoint was written yet"


def train_with_bar(run: Run, env_steps: int | None, minutes: float | None, save_every: float) -> None:
    """Trains and shows a bar over env steps, or over seconds where only they are limited."""
    by_steps = env_steps is not None
    total = env_steps if env_steps is not None else 60.0 * (minutes or 0.0)
    pause = 1.0 if sys.stderr.isatty() else 30.0  # a log file needs few lines
    form = "{desc}: {percentage:3.0f}% |{bar}| {elapsed} {postfix}"
    with tqdm(total=total, desc=short_name(run.settings.task), bar_format=form, mininterval=pause) as bar:

        def tick() -> None:
            bar.n = min(run.env_steps if by_steps else run.seconds, total)
            if run.episodes:
                mean = records.running_mean([row["return"] for row in run.episodes])[-1]
                bar.set_postfix_str(f"{run.env_steps:,} env steps, return {mean:.4g}", refresh=False)
            bar.update(0)

        run.tick = tick
        run.train(env_steps, minutes, save_every)
        tick()


def report(run: Run, drivers: Sequence[str], episodes: int, command: Sequence[str]) -> dict[str, Any]:
    """Evaluates, prints the table, writes report.json and plot.png; returns what report.json holds."""
    settings, seconds, cpu_seconds = run.settings, run.seconds, run.cpu_seconds
    seeds = range(FIRST_SEED, FIRST_SEED + episodes)
    if "expert" in drivers and entry_of(settings.task).expert is None:
        print(f"{settings.task} has no scripted expert to compare with")
        drivers = [name for name in drivers if name != "expert"]

    def learned(batch: Any, _: Sequence[int]) -> evaluation.Act:
        return Actor(run.model, batch, settings.repeat).act

    makers = {"learned": learned, "random": evaluation.random_driver, "expert": evaluation.expert_driver}
    # those that did not learn decide at every control period
    played = {name: {**settings.arguments, **OFFICIAL} for name in drivers if episodes}
    for name in played.keys() - {"learned"}:
        played[name] |= {"frame_skip": 1}
    results = {name: evaluation.evaluate(settings.task, played[name], makers[name], seeds) for name in played}
    table = {name: evaluation.summary(rows) for name, rows in results.items()}
    if table:
        print(
            f"{settings.task}, {episodes} episodes, {OFFICIAL['grain_count']} grains, deterministic policy\n"
            "            return        std   success"
        )
        for name, means in table.items():
            print(f"{name:8} {means['return']:10.4g} {means['return_std']:10.4g} {means.get('success', 0.0):9.0%}")
    content: dict[str, Any] = {"command": " ".join(command), "algorithm": type(run.model).__name__}
    content |= {"settings": asdict(run.settings), "env_steps": run.env_steps, "decisions": run.model.num_timesteps}
    content |= {"training_seconds": seconds, "training_cpu_seconds": cpu_seconds}
    content |= {"episodes": len(run.episodes)}
    content |= {"evaluation": table, "evaluation_seeds": [seeds[0], seeds[-1]] if episodes else [], "results": results}
    if set(table) == set(DRIVERS):
        share = evaluation.share_of_expert(*(table[name]["return"] for name in DRIVERS))
        if np.isfinite(share):
            content["share_of_expert"] = share
            print(f"learned: {share:.0%} of the distance from random to the expert")
    facts = {key: value for key, value in info().items() if key in ("machine", "compiler", "kernel", "threads")}
    content["facts"] = {**versions(), **facts}
    cache.write_atomic(run.folder / "report.json", (json.dumps(content, indent=1) + "\n").encode())
    baselines: dict[str, float] = {name: table[name]["return"] for name in ("expert", "random") if name in table}
    title = f"{short_name(settings.task)}, {content['algorithm']}, seed {settings.seed}"
    window = int(np.clip(len(run.episodes) // 4, 1, records.WINDOW))
    records.plot_curves(run.folder / "plot.png", title, {content["algorithm"]: [run.episodes]}, baselines, window)
    return content
