"""Command line: python -m granular_gym.learned make-data, show, train, evaluate, table, export."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable

from granular_gym.base.pipes import reader_gone
from granular_gym.errors import GranularError
from granular_gym.learned import commands, export_command
from granular_gym.learned.make_data import Request, make_data
from granular_gym.learned.scenes import SCENES, SIZES
from granular_gym.learned.show import show


def main(arguments: list[str] | None = None) -> int:
    """Runs the command line; returns the exit status: that of the command, 2: an invalid argument or file, 130: after
    Ctrl-C, 141: whoever read the output went away."""
    parser = argparse.ArgumentParser(prog="python -m granular_gym.learned", description="Grains learned from pictures.")
    commands = parser.add_subparsers(dest="command", required=True)
    for name, (text, add, run) in COMMANDS.items():
        command = commands.add_parser(name, help=text, description=text)
        add(command)
        command.set_defaults(run=run)
    options = parser.parse_args(arguments)
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


def _add_make_data(parser: argparse.ArgumentParser) -> None:
    """The arguments of make-data."""
    scenes = "; ".join(f"{name}: {scene.note}" for name, scene in SCENES.items())
    sizes = "; ".join(
        f"{name}: {size.sand} + {size.bonded} grains, {size.pixels} x {size.pixels} pixels"
        for name, size in SIZES.items()
    )
    parser.add_argument("scene", metavar="SCENE", help=scenes)
    parser.add_argument("--size", default="small", help=f"{sizes} (small)")
    parser.add_argument("--train", type=int, default=48, help="episodes to learn from (48)")
    parser.add_argument("--test", type=int, default=12, help="episodes of other seeds (12)")
    parser.add_argument("--seed", type=int, default=0, help="of the starts (0)")
    parser.add_argument("--scale", type=float, default=1.0, help="factor on the number of grains (1)")
    parser.add_argument("--drop", type=float, default=1.0, help="factor on heights of fall (1)")
    parser.add_argument("--views", type=int, default=4, help="cameras around the scene (4)")
    parser.add_argument("--device", default="cpu", help="of the engine (cpu)")
    parser.add_argument("--out", required=True, help="folder to write; it must not be there")


def _make_data(options: argparse.Namespace) -> int:
    names = ("scene", "size", "train", "test", "seed", "scale", "drop", "views", "device")
    request = Request(**{name: getattr(options, name) for name in names})
    make_data(request, options.out, lambda line: print(line, file=sys.stderr, flush=True))
    return 0


def _add_show(parser: argparse.ArgumentParser) -> None:
    """The arguments of show."""
    parser.add_argument("folder", help="of the dataset")
    parser.add_argument("--split", default="train", help="train or test (train)")
    parser.add_argument("--episode", type=int, default=0, help="index (0)")
    parser.add_argument("--camera", type=int, default=0, help="index (0)")
    parser.add_argument("--columns", type=int, default=5, help="frames (5)")
    parser.add_argument("--out", required=True, help="PNG file to write; it must not be there")


def _show(options: argparse.Namespace) -> int:
    names = ("folder", "out", "split", "episode", "camera", "columns")
    print(show(**{name: getattr(options, name) for name in names}))
    return 0


#: of each command: what it does in a line, what adds its arguments, what runs it
COMMANDS: dict[str, tuple[str, Callable[[argparse.ArgumentParser], None], Callable[[argparse.Namespace], int]]] = {
    "make-data": ("episodes of moving grains with pictures of them", _add_make_data, _make_data),
    "train": ("a simulator from pictures, or from tracks", commands.add_train, commands.run_train),
    "evaluate": ("rolls a trained simulator through episodes", commands.add_evaluate, commands.run_evaluate),
    "table": ("trains and evaluates a plan of models, seeds and scenes", commands.add_table, commands.run_table),
    "show": ("a picture of an episode of such data: rays above splats", _add_show, _show),
    "export": (
        "the law of a trained model as a table for the engine",
        export_command.add_export,
        export_command.run_export,
    ),
}

if __name__ == "__main__":
    sys.exit(main())
