"""Command line: python -m granular_gym info, play, policies, export, dataset, record, replay, view, scene, calibrate,
cache."""

from __future__ import annotations

import argparse
import dataclasses
import json
import math
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np

from granular_gym._core import build_info
from granular_gym.base.cache import CACHED, cache_dir, cache_sizes, clear_cache
from granular_gym.base.pipes import reader_gone
from granular_gym.calibration.calibrate import calibrate
from granular_gym.calibration.experiments import BulkDensity, DischargeRate, Experiment, ReposeAngle
from granular_gym.calibration.grains import Grains
from granular_gym.errors import ArgumentError, GranularError
from granular_gym.exchange.recorders import FORMATS
from granular_gym.info import describe, info
from granular_gym.recording.players import MIXTURES
from granular_gym.recording.record import EPISODES as RECORDED_EPISODES
from granular_gym.recording.record import OF_A_RUN, record, record_all
from granular_gym.recording.replay import replay
from granular_gym.tasks.registry import newest_ids, parse_arguments, short_name
from granular_gym.training.datasets import EPISODES as DATASET_EPISODES
from granular_gym.training.datasets import KINDS, Request, write_dataset
from granular_gym.training.export import export
from granular_gym.training.policies import policy_names
from granular_gym.training.pretrained import table
from granular_gym.training.recipes import EPISODES
from granular_gym.viewing.play import play
from granular_gym.viewing.scene_runs import SCENES, SIZES, run_scene
from granular_gym.viewing.view import view
from granular_gym.viewing.viewer import OUT


def main(arguments: list[str] | None = None) -> int:
    """Runs the command line; returns the exit status: that of the command, 2: an invalid argument, or a file that was
    not written, 130: after Ctrl-C, 141: whoever read the output went away."""
    parser = argparse.ArgumentParser(prog="python -m granular_gym", description="Granular matter for robot learning.")
    parser.add_argument("--version", action="version", version=f"granular_gym {build_info()['version']}")
    commands = parser.add_subparsers(dest="command", required=True)
    for name, (text, add, run) in _COMMANDS.items():
        command = commands.add_parser(name, help=text)
        add(command)
        command.set_defaults(run=run)
    try:
        try:
            options = parser.parse_args(arguments)
        finally:
            # --version and --help end the program here, with their text still in the buffer where there is one
            sys.stdout.flush()
    except BrokenPipeError:
        return reader_gone()
    try:
        status: int = options.run(options)
        sys.stdout.flush()
    except BrokenPipeError:
        return reader_gone()
    except KeyboardInterrupt:
        print(f"{parser.prog} {options.command}: interrupted", file=sys.stderr)
        return 130
    except (GranularError, OSError) as error:
        print(f"{parser.prog} {options.command}: {error}", file=sys.stderr)
        return 2
    return status


def _add_info(parser: argparse.ArgumentParser) -> None:
    """The arguments of info."""
    parser.add_argument("--json", action="store_true", help="as JSON")


def _info(options: argparse.Namespace) -> int:
    print(json.dumps(info(), indent=2) if options.json else describe())
    return 0


def _add_cache(parser: argparse.ArgumentParser) -> None:
    """The arguments of cache."""
    parser.description = (
        "Settled beds, SDF grids and pair fields kept on disk. What is missing is made again when needed."
    )
    parser.add_argument("--clear", nargs="*", metavar="KIND", help=f"delete {', '.join(CACHED)}; none named: all")


def _cache(options: argparse.Namespace) -> int:
    if options.clear is not None:
        count, size = clear_cache(options.clear)
        print(f"deleted {count} files, {size / 1e6:.1f} MB")
    print(cache_dir())
    for kind, (count, size) in cache_sizes().items():
        print(f"  {kind:<10} {count:6} files {size / 1e6:10.1f} MB")
    return 0


def _add_scene(parser: argparse.ArgumentParser) -> None:
    """The arguments of scene."""
    parser.description = "Exit status 0: all checks pass; 1: one fails; 2: an invalid argument, or a file not written."
    parser.add_argument("scene", help=f"one of {', '.join(SCENES)}")
    parser.add_argument("--out", type=Path, help="folder for the results; default: out/SCENE")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--grains", type=int, help="grains of each world; default: as many as run in about a minute")
    parser.add_argument("--size", choices=SIZES, help="full: as many grains as the published experiment; default: test")
    parser.add_argument("--threads", type=int, help="default: as many as the grains can use")
    parser.add_argument("--no-film", action="store_true", help="pictures, plots and report only")
    parser.add_argument(
        "--progress", action=argparse.BooleanOptionalAction, help="say how far it is; default: on a terminal"
    )


def _scene(options: argparse.Namespace) -> int:
    report = run_scene(
        options.scene,
        options.out or Path("out") / options.scene,
        seed=options.seed,
        grains=options.grains,
        size=options.size,
        film=not options.no_film,
        num_threads=options.threads,
        progress=options.progress,
        say=partial(print, flush=True),
    )
    return 0 if all(check["passed"] for check in report["checks"]) else 1


def _task_help() -> str:
    """What stands for a task."""
    return f"one of {', '.join(map(short_name, newest_ids()))}, or module:id of a task of your own"


def _policy_help() -> str:
    """What stands for a policy."""
    return f"{', '.join(policy_names())}, a checkpoint.zip, a file.safetensors, or module:function, called with the env"


def _add_play(parser: argparse.ArgumentParser) -> None:
    """The arguments of play."""
    parser.add_argument("task", help=_task_help())
    parser.add_argument("--policy", default="expert", help=_policy_help())
    parser.add_argument("--seed", type=int, default=0, help="of the first episode")
    parser.add_argument("--episodes", type=int, default=1, help="each with the next seed")
    parser.add_argument("--steps", type=int, help="most steps of each; default: the task's time limit")
    parser.add_argument("--out", type=Path, help="folder for the results; default: out/TASK")
    parser.add_argument("--every", type=int, default=1, help="env steps per picture of the film")
    parser.add_argument("--no-film", action="store_true", help="pictures and report only")
    parser.add_argument(
        "--export",
        type=lambda text: text.split(","),
        default=[],
        metavar="FORMATS",
        help=f"write each moment also as {', '.join(FORMATS)} (several: with commas), see docs/exchange.md",
    )
    parser.add_argument(
        "--arg", action="append", default=[], metavar="NAME=VALUE", help="an argument of the task, as grain_count=500"
    )


def _play(options: argparse.Namespace) -> int:
    play(
        options.task,
        options.out or Path("out") / short_name(options.task),
        policy=options.policy,
        seed=options.seed,
        episodes=options.episodes,
        steps=options.steps,
        film=not options.no_film,
        every=options.every,
        arguments=parse_arguments(options.arg),
        exports=options.export,
    )
    return 0


def _policies(options: argparse.Namespace) -> int:
    print(table())
    return 0


def _add_export(parser: argparse.ArgumentParser) -> None:
    """The arguments of export."""
    parser.description = "Evaluates the policy of a run of SAC; writes its weights and card as safetensors."
    parser.add_argument("folder", type=Path, help="of the run")
    parser.add_argument("--name", help="of the policy; default: that of the file")
    parser.add_argument("--episodes", type=int, default=EPISODES, help="of the evaluation, each with its own seed")
    parser.add_argument("--out", type=Path, required=True, help="the file, .safetensors")


def _export(options: argparse.Namespace) -> int:
    card = export(options.folder, options.out, options.name or options.out.stem, options.episodes)
    results, share = card["results"], card["results"]["share_of_expert"]
    # NaN where random actions earn as much as the expert
    told = f", {share:.0%} of the expert" if math.isfinite(share) else ""
    print(
        f"{card['task']}: return {results['learned']['return']:.4g} (random {results['random']['return']:.4g}, expert "
        f"{results['expert']['return']:.4g}){told}; wrote {options.out}"
    )
    return 0


def _add_dataset(parser: argparse.ArgumentParser) -> None:
    """The arguments of dataset."""
    parser.description = (
        "Writes episodes of a task, as the task's recipe shows it to SAC, for learners that do not play."
    )
    kinds = "; ".join(f"{name}: {kind.meaning}" for name, kind in KINDS.items())
    parser.add_argument("task", help=_task_help())
    parser.add_argument("--kind", required=True, choices=tuple(KINDS), help=f"episodes of: {kinds}")
    parser.add_argument(
        "--episodes", type=int, help=f"default: {DATASET_EPISODES}; of a replay the newest, default: all"
    )
    parser.add_argument("--seed", type=int, help="of episodes and actions; default: 0")
    parser.add_argument("--disturbance", type=float, help="noisy: largest share of an action; default: of the recipe")
    parser.add_argument(
        "--run", type=Path, dest="run_folder", metavar="FOLDER", help="replay: of a run of SAC that you trust"
    )
    parser.add_argument("--arg", action="append", default=[], metavar="NAME=VALUE", help="an argument of the task")
    parser.add_argument("--out", type=Path, required=True, help="the file, .npz")


def _dataset(options: argparse.Namespace) -> int:
    given = {name: getattr(options, name) for name in ("task", "kind", "episodes", "seed", "disturbance")}
    request = Request(**given, run=options.run_folder, arguments=parse_arguments(options.arg))
    about = write_dataset(request, options.out).about
    print(
        f"{about['task']}: {about['episodes']} episodes, kind {about['kind']}, mean return {about['mean_return']:.4g}; "
        f"wrote {options.out}"
    )
    return 0


def _add_record(parser: argparse.ArgumentParser) -> None:
    """The arguments of record."""
    parser.description = (
        "After Ctrl-C the dataset holds the whole episodes so far. Needs the `data` extra. Exit status 0: all is "
        "recorded; 1: of all tasks some were left out, as a library is missing; 2: an invalid argument, or nothing was "
        "recorded."
    )
    parser.add_argument("task", help=f"{_task_help()}; all: a dataset of each of these")
    parser.add_argument(
        "--policy",
        default="expert",
        help=f"{_policy_help()}; noisy: the expert, disturbed; several with commas take turns, an episode each; mixed: "
        f"{MIXTURES['mixed']}",
    )
    parser.add_argument("--episodes", type=int, default=RECORDED_EPISODES)
    parser.add_argument("--seed", type=int, default=0, help="of the first episode; each further one has the next")
    parser.add_argument("--noise", type=float, help="largest share of an action that is disturbed; default: none")
    parser.add_argument("--dataset-id", help="default: granular_gym/TASK/POLICY-v0")
    parser.add_argument("--out", type=Path, help="folder of all datasets; default: Minari's, MINARI_DATASETS_PATH")
    parser.add_argument("--overwrite", action="store_true", help="replace a dataset of the same id")
    parser.add_argument(
        "--arg", action="append", default=[], metavar="NAME=VALUE", help="an argument of the task, as grain_count=500"
    )


def _record(options: argparse.Namespace) -> int:
    if options.task == "all" and options.dataset_id is not None:
        raise ArgumentError(f"dataset-id: expected none for all tasks, got {options.dataset_id!r}")
    given = {name: getattr(options, name) for name in ("policy", "episodes", "seed", "noise", "out", "overwrite")}
    given |= {"arguments": parse_arguments(options.arg), "say": partial(print, flush=True)}
    if options.task == "all":
        return 1 if record_all(**given) else 0
    record(options.task, dataset_id=options.dataset_id, **given)
    return 0


def _add_replay(parser: argparse.ArgumentParser) -> None:
    """The arguments of replay."""
    parser.description = "Exit status 0: every bit is as recorded; 2: it is not, or an invalid argument."
    parser.add_argument("dataset", help="its folder, or its id")
    parser.add_argument("--episode", type=int, help="number, from 0; default: all")
    parser.add_argument("--root", type=Path, help="folder of all datasets, for an id; default: Minari's")
    parser.add_argument("--out", type=Path, help="folder for films, one of each episode; default: no films")
    parser.add_argument(
        "--arg",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help=f"{' or '.join(OF_A_RUN)}: bits do not depend on it",
    )


def _replay(options: argparse.Namespace) -> int:
    replay(
        options.dataset,
        episode=options.episode,
        root=options.root,
        out=options.out,
        arguments=parse_arguments(options.arg),
        say=partial(print, flush=True),
    )
    return 0


def _add_view(parser: argparse.ArgumentParser) -> None:
    """The arguments of view."""
    parser.add_argument("task", help=_task_help())
    parser.add_argument("--policy", help=f"{_policy_help()}; default: expert")
    parser.add_argument("--drive", action="store_true", help="give the actions in the browser, by sliders and keys")
    parser.add_argument(
        "--beside",
        action="append",
        metavar="NAME=VALUE",
        help="show a second copy beside the first, with another argument, as matter=sand_continuum",
    )
    parser.add_argument("--beside-policy", metavar="POLICY", help="show a second copy, played by another policy")
    parser.add_argument("--paused", action="store_true", help="begin paused, after the first step")
    parser.add_argument("--envs", type=int, default=1, help="envs that run at once; the browser selects one")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--steps", type=int, help="most steps; default: until Ctrl-C")
    parser.add_argument("--port", type=int, default=8080, help="0: any free port")
    parser.add_argument("--host", default="127.0.0.1", help="0.0.0.0: serve all networks of this machine")
    parser.add_argument("--record", type=Path, metavar="FILE", help="write a film of what is shown, .mp4")
    parser.add_argument("--out", type=Path, default=OUT, help=f"folder of files that buttons write; default: {OUT}")
    parser.add_argument(
        "--arg", action="append", default=[], metavar="NAME=VALUE", help="an argument of the task, as grain_count=500"
    )


def _view(options: argparse.Namespace) -> int:
    view(
        options.task,
        policy=options.policy,
        drive=options.drive,
        beside=None if options.beside is None else parse_arguments(options.beside),
        beside_policy=options.beside_policy,
        paused=options.paused,
        env_count=options.envs,
        seed=options.seed,
        steps=options.steps,
        port=options.port,
        host=options.host,
        arguments=parse_arguments(options.arg),
        record=options.record,
        out=options.out,
        say=partial(print, flush=True),
    )
    return 0


def _add_calibrate(parser: argparse.ArgumentParser) -> None:
    parser.description = "Exit status 0: all targets met; 1: not met; 2: an invalid value."
    parser.add_argument("--angle", type=float, help="angle of repose [deg]")
    parser.add_argument("--bulk-density", type=float, help="bulk density [kg/m3]")
    parser.add_argument("--discharge", type=float, nargs=2, metavar=("RATE", "OPENING"), help="[kg/s] [m]")
    parser.add_argument("--density", type=float, required=True, help="of a grain [kg/m3]")
    parser.add_argument("--radius", type=float, required=True, help="of a grain [m]")
    parser.add_argument("--restitution", type=float, default=0.0)
    parser.add_argument("--friction", type=float, nargs="+", default=[0.05, 1.0], help="lowest and highest, or fixed")
    parser.add_argument("--rolling-friction", type=float, nargs="+", default=[0.0, 0.6], help="likewise")
    parser.add_argument("--grain-count", type=int, help="grains of each experiment")
    parser.add_argument("--tolerance", type=float, default=0.03, help="relative")
    parser.add_argument("--candidates", type=int, default=12, help="candidates simulated at once")
    parser.add_argument("--rounds", type=int, default=6, help="rounds of candidates after the first")
    parser.add_argument("--repeats", type=int, default=4, help="initial states that measure the best candidates")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", action="store_true", help="as JSON")


def _calibrate(options: argparse.Namespace) -> int:
    count = {} if options.grain_count is None else {"grain_count": options.grain_count}
    experiments: list[Experiment] = []
    if options.angle is not None:
        experiments.append(ReposeAngle(options.angle, **count))
    if options.bulk_density is not None:
        experiments.append(BulkDensity(options.bulk_density, **count))
    if options.discharge is not None:
        experiments.append(DischargeRate(*options.discharge, **count))
    if not experiments:
        raise ArgumentError("expected at least one of --angle, --bulk-density, --discharge, got none")
    found = calibrate(
        experiments,
        Grains(options.density, options.radius, options.restitution),
        friction=_one_or_two(options.friction),
        rolling_friction=_one_or_two(options.rolling_friction),
        tolerance=options.tolerance,
        candidates=options.candidates,
        rounds=options.rounds,
        repeats=options.repeats,
        seed=options.seed,
    )
    if options.json:
        fields = {**dataclasses.asdict(found), "misses": found.misses, "met": found.met}
        print(json.dumps(fields, indent=2, default=np.ndarray.tolist))
    else:
        print(found.describe())
    return 0 if found.met else 1


def _one_or_two(values: list[float]) -> float | list[float]:
    return values[0] if len(values) == 1 else values


#: what each command is for, its arguments, and what runs it
_COMMANDS: dict[str, tuple[str, Callable[[argparse.ArgumentParser], None], Callable[[argparse.Namespace], int]]] = {
    "info": ("show versions, build and devices", _add_info, _info),
    "calibrate": ("fit friction and rolling friction to measurements", _add_calibrate, _calibrate),
    "play": ("play episodes of a task; write a film, pictures and a report", _add_play, _play),
    "policies": ("list the policies that come with the package", lambda parser: None, _policies),
    "export": ("write a trained policy and its card into a file", _add_export, _export),
    "dataset": ("write episodes of a task for offline learning", _add_dataset, _dataset),
    "record": ("play episodes of a task and write them as a dataset of Minari", _add_record, _record),
    "replay": ("play a dataset of `record` again and compare every bit", _add_replay, _replay),
    "view": ("show a task live in a browser, also over ssh", _add_view, _view),
    "scene": ("run an experiment with planar grains, clumps or continuous matter", _add_scene, _scene),
    "cache": ("show or clear what is kept on disk", _add_cache, _cache),
}


if __name__ == "__main__":
    sys.exit(main())
