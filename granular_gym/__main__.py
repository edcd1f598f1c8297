"""Command line: python -m granular_gym info, play."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from .errors import GranularError
from .info import describe, info
from .play import BUILT_IN, parse_arguments, play
from .tasks import task_ids


def main(arguments: list[str] | None = None) -> int:
    """Runs the command line; returns the exit status."""
    parser = argparse.ArgumentParser(prog="python -m granular_gym", description="Granular matter for robot learning.")
    commands = parser.add_subparsers(dest="command", required=True)
    show = commands.add_parser("info", help="say what was built and what runs")
    show.add_argument("--json", action="store_true", help="as JSON")
    game = commands.add_parser("play", help="play one episode of a task and leave a film, pictures and a report")
    game.add_argument("task", help=f"one of {', '.join(name.rpartition('/')[2] for name in task_ids())}")
    game.add_argument(
        "--policy", default="expert", help=f"{', '.join(BUILT_IN)} or module:function, called with the env"
    )
    game.add_argument("--seed", type=int, default=0)
    game.add_argument("--steps", type=int, help="at most so many; default: the task's time limit")
    game.add_argument("--out", type=Path, help="folder for the results; default: out/TASK")
    game.add_argument("--no-film", action="store_true", help="pictures and report only")
    game.add_argument(
        "--arg", action="append", default=[], metavar="NAME=VALUE", help="an argument of the task, as grain_count=500"
    )
    options = parser.parse_args(arguments)
    if options.command == "play":
        try:
            play(
                options.task,
                options.out or Path("out") / options.task.rpartition("/")[2],
                policy=options.policy,
                seed=options.seed,
                steps=options.steps,
                film=not options.no_film,
                arguments=parse_arguments(options.arg),
            )
        except (GranularError, OSError) as error:
            print(f"{parser.prog} play: {error}", file=sys.stderr)
            return 2
        return 0
    print(json.dumps(info(), indent=2) if options.json else describe())
    return 0


if __name__ == "__main__":
    sys.exit(main())
