"""Command line: python -m granular_gym.learned train, evaluate, table."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable

from granular_gym.base.pipes import reader_gone
from granular_gym.errors import GranularError
from granular_gym.learned import commands


def main(arguments: list[str] | None = None) -> int:
    """Runs the command line; returns the exit status: that of the command, 2: an invalid argument or file, 130: after
    Ctrl-C, 141: whoever read the output went away."""
    parser = argparse.ArgumentParser(prog="python -m granular_gym.learned", description="Grains learned from pictures.")
    words = parser.add_subparsers(dest="command", required=True)
    for name, (text, add, run) in COMMANDS.items():
        command = words.add_parser(name, help=text, description=text)
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


#: of each command: what it does in a line, what adds its arguments, what runs it
COMMANDS: dict[str, tuple[str, Callable[[argparse.ArgumentParser], None], Callable[[argparse.Namespace], int]]] = {
    "train": ("a simulator from pictures, or from tracks", commands.add_train, commands.run_train),
    "evaluate": ("rolls a trained simulator through episodes", commands.add_evaluate, commands.run_evaluate),
    "table": ("trains and evaluates a plan of models, seeds and scenes", commands.add_table, commands.run_table),
}

if __name__ == "__main__":
    sys.exit(main())
