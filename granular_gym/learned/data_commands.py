"""data_commands.py: the commands about data of `python -m granular_gym.learned`: make-data, show."""

from __future__ import annotations

import argparse
import sys

from granular_gym.learned.make_data import Request, make_data
from granular_gym.learned.scenes import SCENES, SIZES
from granular_gym.learned.show import show


def add_make_data(parser: argparse.ArgumentParser) -> None:
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


def run_make_data(options: argparse.Namespace) -> int:
    """Makes a dataset; returns the exit status."""
    names = ("scene", "size", "train", "test", "seed", "scale", "drop", "views", "device")
    request = Request(**{name: getattr(options, name) for name in names})
    make_data(request, options.out, lambda line: print(line, file=sys.stderr, flush=True))
    return 0


def add_show(parser: argparse.ArgumentParser) -> None:
    """The arguments of show."""
    parser.add_argument("folder", help="of the dataset")
    parser.add_argument("--split", default="train", help="train or test (train)")
    parser.add_argument("--episode", type=int, default=0, help="index (0)")
    parser.add_argument("--camera", type=int, default=0, help="index (0)")
    parser.add_argument("--columns", type=int, default=5, help="frames (5)")
    parser.add_argument("--out", required=True, help="PNG file to write; it must not be there")


def run_show(options: argparse.Namespace) -> int:
    """Draws an episode; returns the exit status."""
    names = ("folder", "out", "split", "episode", "camera", "columns")
    print(show(**{name: getattr(options, name) for name in names}))
    return 0
