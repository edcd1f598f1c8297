"""Command line: python -m granular_gym.learned make-data, show, train, evaluate, compare, table, export."""

from __future__ import annotations

import argparse
import importlib
import sys

from granular_gym.base.pipes import reader_gone
from granular_gym.errors import GranularError

#: of each command: what it does in a line, its module, and there its name, after add_ and run_
COMMANDS = {
    "make-data": ("episodes of moving grains with pictures of them", "data_commands", "make_data"),
    "show": ("a picture of an episode of such data: rays above splats", "data_commands", "show"),
    "train": ("a simulator from pictures, or from tracks", "commands", "train"),
    "evaluate": ("rolls a trained simulator through episodes", "commands", "evaluate"),
    "compare": ("a film or a sheet of an episode and of what models make of it", "compare", "compare"),
    "table": ("trains and evaluates a plan of models, seeds and scenes", "commands", "table"),
    "export": ("the law of a trained model as a table for the engine", "export_command", "export"),
}


def main(arguments: list[str] | None = None) -> int:
    """Runs the command line; returns the exit status: that of the command, 2: an invalid argument or file, 130: after
    Ctrl-C, 141: whoever read the output went away."""
    words = sys.argv[1:] if arguments is None else arguments
    parser = argparse.ArgumentParser(prog="python -m granular_gym.learned", description="Grains learned from pictures.")
    commands = parser.add_subparsers(dest="command", required=True)
    name = next((word for word in words if word in COMMANDS), "")
    try:
        for each, (text, module, stem) in COMMANDS.items():
            command = commands.add_parser(each, help=text, description=text)
            if each == name:
                # only the one that is run: others may need what is not installed
                home = importlib.import_module(f"granular_gym.learned.{module}")
                getattr(home, f"add_{stem}")(command)
                command.set_defaults(run=getattr(home, f"run_{stem}"))
        options = parser.parse_args(words)
        status: int = options.run(options)
        sys.stdout.flush()
    except BrokenPipeError:
        return reader_gone()
    except KeyboardInterrupt:
        print(f"{parser.prog} {name}: interrupted", file=sys.stderr)
        return 130
    except (GranularError, OSError) as error:
        print(f"{parser.prog} {name}: {error}", file=sys.stderr)
        return 2
    return status


if __name__ == "__main__":
    sys.exit(main())
