"""commands.py: the commands train, evaluate and table of `python -m granular_gym.learned`."""

from __future__ import annotations

import argparse
import dataclasses
import json
import sys
from pathlib import Path
from typing import Any

from granular_gym.base import cache, checks
from granular_gym.errors import ArgumentError
from granular_gym.learned import checkpoints, study
from granular_gym.learned.data import Dataset
from granular_gym.learned.evaluate import Report, evaluate
from granular_gym.learned.models import MODELS
from granular_gym.learned.needs import torch
from granular_gym.learned.render import Renderer
from granular_gym.learned.settings import PICTURES, START_NAMES, SUPERVISIONS, Settings
from granular_gym.learned.train import Trainer


def add_train(parser: argparse.ArgumentParser) -> None:
    """The arguments of train."""
    parser.add_argument("data", type=Path, help="folder that make-data wrote")
    parser.add_argument("--out", type=Path, required=True, help="folder of the run")
    parser.add_argument("--settings", type=Path, help="JSON with settings; options below come on top")
    parser.add_argument("--model", choices=list(MODELS), help="what to train (del)")
    parser.add_argument(
        "--supervision", choices=SUPERVISIONS, help="pictures alone, or positions of particles (images)"
    )
    parser.add_argument("--substeps", type=int, help="Euler steps of the model in a frame (2)")
    parser.add_argument("--iterations", type=int, help="steps of the optimiser (4000)")
    parser.add_argument("--seed", type=int, help="of weights and draws (0)")
    parser.add_argument("--views", type=int, help="the first so many cameras (all)")
    parser.add_argument("--start", choices=START_NAMES, help="from the true grains, or from pictures (known)")
    parser.add_argument("--pictures", choices=PICTURES, help="of the training renderer, or of cameras (splat)")
    parser.add_argument("--minutes", type=float, help="stop and save after so long")
    parser.add_argument("--resume", action="store_true", help="go on with a run in --out where there is one")
    parser.add_argument("--evaluate", action="store_true", help="roll through the test episodes when it is over")
    parser.add_argument("--device", default="cpu", help="cpu or cuda (cpu)")


def run_train(options: argparse.Namespace) -> int:
    """Trains; exit status 0."""
    _prepare(options.device)
    dataset = Dataset.load(options.data)
    resumed = options.resume and (options.out / checkpoints.NAME).exists()
    # a run goes on with the settings it began with
    settings = _same(Trainer.settings_of(options.out), options) if resumed else _settings(options)
    arguments = {"render": Renderer(dataset.cameras[: settings.views], dataset.radius), "device": options.device}
    if resumed:
        trainer = Trainer.resume(options.out, dataset, **arguments)
    else:
        trainer = Trainer.begin(options.out, dataset, settings, **arguments)
    over = trainer.run(minutes=options.minutes)
    print(
        f"{options.out}: {trainer.iteration:,} of {trainer.settings.iterations:,} iterations, "
        f"{trainer.diverged} diverged"
    )
    if over and options.evaluate:
        trainer.simulator.cpu().eval()
        render = Renderer(dataset.cameras, dataset.radius)
        where = settings.start, settings.pictures, settings.views
        _report(evaluate(trainer.simulator, dataset, dataset.test, render, *where), options.out)
    if over:
        about = {"seconds": round(trainer.seconds, 1), "diverged": trainer.diverged}
        cache.write_atomic(options.out / study.DONE, (json.dumps(about) + "\n").encode())
    return 0


def add_evaluate(parser: argparse.ArgumentParser) -> None:
    """The arguments of evaluate."""
    parser.add_argument("model", type=Path, help="folder of a run, or a checkpoint")
    parser.add_argument(
        "data", type=Path, help="folder that make-data wrote; of any scene with the same radius and frames"
    )
    parser.add_argument("--start", choices=START_NAMES, default="known", help="from the true grains, or from pictures")
    parser.add_argument("--pictures", choices=PICTURES, default="splat", help="where the start is looked for (splat)")
    parser.add_argument("--views", type=int, help="in the first so many cameras (all)")
    parser.add_argument("--split", choices=("test", "train"), default="test", help="which episodes (test)")
    parser.add_argument("--out", type=Path, help="folder for episodes.csv and summary.json")


def run_evaluate(options: argparse.Namespace) -> int:
    """Evaluates; exit status 0, also where rollouts diverge: the report says so."""
    _prepare("cpu")
    dataset = Dataset.load(options.data)
    if options.views is not None:
        checks.integer("views", options.views, 1, len(dataset.cameras))
    simulator = checkpoints.load(options.model)
    render = Renderer(dataset.cameras, dataset.radius)
    where = options.start, options.pictures, options.views
    _report(evaluate(simulator, dataset, getattr(dataset, options.split), render, *where), options.out)
    return 0


def add_table(parser: argparse.ArgumentParser) -> None:
    """The arguments of table."""
    parser.add_argument(
        "--plan", type=Path, required=True, help="JSON: data, models, seeds, settings (docs/learned.md)"
    )
    parser.add_argument("--out", type=Path, required=True, help="folder of the runs and of results.csv, table.json")
    parser.add_argument("--processes", type=int, default=1, help="runs at a time, a thread each (1)")
    parser.add_argument("--device", default="cpu", help="to train on: cpu, or cuda, which all runs share (cpu)")
    parser.add_argument("--dry", action="store_true", help="only say what is to be done")


def run_table(options: argparse.Namespace) -> int:
    """Trains a table; exit status 1 where a run failed."""
    runs = study.read_plan(options.plan, options.out)
    if options.dry:
        for each in runs:
            print(f"{each.scene}, {each.model}, seed {each.seed}: {each.left() or 'over'}, {each.folder}")
        return 0
    count = checks.integer("processes", options.processes, 1, 256)
    _prepare(options.device)

    def say(line: str) -> None:
        print(line, file=sys.stderr, flush=True)

    good = study.train_table(runs, options.out, count, say, options.device)
    print(f"{options.out / study.RESULTS}\n{options.out / study.TABLE}")
    return 0 if good else 1


def _settings(options: argparse.Namespace) -> Settings:
    """What the options ask for."""
    return Settings.of(_asked(options))


def _same(settings: Settings, options: argparse.Namespace) -> Settings:
    """The settings of a run that is resumed.

    Raises:
        ArgumentError: the options ask for others.
    """
    asked = Settings.of({**dataclasses.asdict(settings), **_asked(options)})
    for field in dataclasses.fields(Settings):
        has, value = (getattr(each, field.name) for each in (settings, asked))
        if value != has:
            raise ArgumentError(f"{field.name}: expected {has!r}, which the resumed run has, got {value!r}")
    return settings


def _asked(options: argparse.Namespace) -> dict[str, Any]:
    """Settings that the options name."""
    values: dict[str, Any] = {}
    if options.settings is not None:
        try:
            values = json.loads(options.settings.read_text(encoding="utf-8"))
        except ValueError as error:
            raise ArgumentError(f"settings: expected JSON in {options.settings} ({error})") from None
        if not isinstance(values, dict):
            raise ArgumentError(f"settings: expected an object, got {type(values).__name__}")
    for name in ("model", "supervision", "substeps", "iterations", "seed", "start", "pictures", "views"):
        if getattr(options, name) is not None:
            values[name] = getattr(options, name)
    return values


def _report(report: Report, folder: Path | None) -> None:
    if folder is not None:
        report.write(folder)
    for each in report.verdicts:
        if each.diverged_at is not None:
            print(f"episode {each.episode}: diverged at frame {each.diverged_at}: {each.reason}")
    summary = report.summary()
    print(", ".join(f"{name} {value:.4g}" for name, value in summary.items() if value is not None))


def _prepare(device: str) -> None:
    """Refuses a device that is not there; on a CPU torch uses one thread.

    Small networks on cores that others use, too, are ten times slower with threads that wait for each other.
    """
    if device == "cpu":
        torch.set_num_threads(1)
    elif device.partition(":")[0] != "cuda":
        raise ArgumentError(f"device: expected cpu or cuda, got {device!r}")
    elif not torch.cuda.is_available():
        raise ArgumentError(f"device: expected cpu, as torch finds no GPU here, got {device!r}")
