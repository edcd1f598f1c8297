"""export_command.py: the command export of `python -m granular_gym.learned`."""

from __future__ import annotations

import argparse
from pathlib import Path

from granular_gym.errors import ArgumentError
from granular_gym.learned import checkpoints
from granular_gym.learned.data import Dataset
from granular_gym.learned.discrete_element import DiscreteElementLearner
from granular_gym.learned.export import Exported, export_model
from granular_gym.learned.law import KINDS
from granular_gym.learned.needs import torch
from granular_gym.learned.ranges import met_ranges
from granular_gym.learned.table import save_pair_table


def add_export(parser: argparse.ArgumentParser) -> None:
    """The arguments of export."""
    parser.add_argument("model", type=Path, help="folder of a run, or a checkpoint, of a model `del`")
    parser.add_argument("--out", type=Path, required=True, help="file to write; it must not be there")
    parser.add_argument(
        "--kinds", nargs="+", help="names of its kinds, as those of materials (those of the data, or kind0 kind1 ...)"
    )
    parser.add_argument(
        "--bonded", nargs="*", metavar="A-B", help="pairs of kinds with bonds, as 1-1 (those of the data, or none)"
    )
    parser.add_argument("--tolerance", type=float, default=1e-3, help="deviation between nodes, relative (0.001)")
    parser.add_argument(
        "--data", type=Path, help="sample as deep and as fast as pairs meet in rollouts of this dataset, and half more"
    )
    parser.add_argument("--speed", type=float, help="largest velocity that is sampled [m/s] (four radii a frame)")


def run_export(options: argparse.Namespace) -> int:
    """Exports; exit status 0."""
    if options.out.exists():
        raise ArgumentError(f"out: expected a file that is not there, got {options.out}")
    # two threads on shared cores are slower than one
    torch.set_num_threads(1)
    model = checkpoints.load(options.model)
    if not isinstance(model, DiscreteElementLearner):
        raise ArgumentError(f"model: expected a discrete element learner, got {model.name!r}")
    names, bonded, ranges = options.kinds, [_pair(text) for text in options.bonded or ()], None
    if options.data is not None:
        data = Dataset.load(options.data)
        ranges = met_ranges(model, data, data.train, tolerance=options.tolerance)
        names = names or [kind.name for kind in KINDS[: model.scale.kinds]]
        bonded = bonded if options.bonded is not None else [key[:2] for key in ranges if key[2]]
    found = export_model(model, names, bonded, options.tolerance, options.speed, ranges)
    save_pair_table(found.table, options.out)
    print("\n".join([*_lines(found), str(options.out)]))
    return 0


def _pair(text: str) -> tuple[int, int]:
    try:
        one, two = (int(each) for each in text.split("-"))
    except ValueError:
        raise ArgumentError(f"bonded: expected two numbers of kinds as 1-1, got {text!r}") from None
    return one, two


def _lines(found: Exported) -> list[str]:
    """What was made, and which time steps it bears."""
    table = found.table
    names = (*table.kinds, "wall")
    lines = []
    for (one, two, bonded), forces in table.forces.items():
        error = found.errors[one, two, bonded]
        pair = f"{names[one]} - {names[two]}{', bonded' if bonded else ''}"
        lines.append(f"{pair}: {forces}, off by {100.0 * error:.2g} % between nodes")
    if table.masses is not None and table.dt is not None:
        longest = table.longest_step(table.masses)
        verdict = "are taken" if table.dt <= longest else "are refused by the engine: take shorter ones"
        lines.append(f"steps of at most {longest:.3g} s are stable; those of the frames, {table.dt:g} s, {verdict}")
    return lines
