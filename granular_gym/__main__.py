"""Command line: python -m granular_gym info."""

from __future__ import annotations

import argparse
import json
import sys

from .info import describe, info


def main(arguments: list[str] | None = None) -> int:
    """Runs the command line; returns the exit status."""
    parser = argparse.ArgumentParser(prog="python -m granular_gym", description="Granular matter for robot learning.")
    commands = parser.add_subparsers(dest="command", required=True)
    show = commands.add_parser("info", help="say what was built and what runs")
    show.add_argument("--json", action="store_true", help="as JSON")
    options = parser.parse_args(arguments)
    print(json.dumps(info(), indent=2) if options.json else describe())
    return 0


if __name__ == "__main__":
    sys.exit(main())
