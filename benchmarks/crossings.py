"""crossings.py: calls from Python into C in an env step: `_core` functions and `_core.World` methods.

    python -m benchmarks.crossings [--envs 16] [--output numpy]

Prints the calls of one step of each task, in which no episode begins or ends, and the waits for a GPU.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import gymnasium as gym

if __package__ in (None, ""):
    # run as a file: the package is the folder it lies in
    sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from granular_gym import _core

TASKS: dict[str, dict[str, Any]] = {
    "Bulldozer-v1": {},
    "Level-v0": {},
    "Pour-v0": {},
    "Silo-v1": {},
    "GearTower-v1": {"gear_count": 2},
    "Excavator-v0": {},
}


class CountedWorld:
    """A core world whose calls are counted by name."""

    def __init__(self, core: Any, calls: Counter[str]) -> None:
        self._counted, self._calls = core, calls

    def __getattr__(self, name: str) -> Any:
        value = getattr(self._counted, name)
        return counted(f"World.{name}", value, self._calls) if callable(value) else value


def counted(name: str, call: Callable[..., Any], calls: Counter[str]) -> Callable[..., Any]:
    """The same function, which counts its calls under that name."""

    def count(*args: Any) -> Any:
        calls[name] += 1
        return call(*args)

    return count


@contextmanager
def counting(world: Any) -> Iterator[Counter[str]]:
    """Counts every call into C by name: methods of this world's core, and functions of the module."""
    calls: Counter[str] = Counter()
    functions = {
        name: value
        for name, value in vars(_core).items()
        if callable(value) and not isinstance(value, type) and not name.startswith("_")
    }
    plain = world._core
    try:
        world._core = CountedWorld(plain, calls)
        for name, function in functions.items():
            setattr(_core, name, counted(name, function, calls))
        yield calls
    finally:
        world._core = plain
        for name, function in functions.items():
            setattr(_core, name, function)


def step_crossings(envs: Any) -> Counter[str]:
    """The calls of one step of a batch that was reset."""
    envs.action_space.seed(0)
    for _ in range(2):  # what is prepared once is prepared
        envs.step(envs.action_space.sample())
    with counting(envs.task.world) as calls:
        envs.step(envs.action_space.sample())
    return calls


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(description="calls from Python into C of one env step")
    parser.add_argument("--envs", type=int, default=16, help="envs of a batch [16]")
    parser.add_argument("--output", default="numpy", choices=("numpy", "torch", "device"), help="of the batch [numpy]")
    parser.add_argument("--device", default="cpu", help="where worlds run [cpu]")
    options = parser.parse_args()
    for name, settings in TASKS.items():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            envs = gym.make_vec(
                f"granular_gym/{name}",
                num_envs=options.envs,
                vectorization_mode="vector_entry_point",
                grain_count=60,
                output=options.output,
                device=options.device,
                num_threads=1,
                **settings,
            )
        try:
            envs.reset(seed=0)
            waits = envs.task.world.info["waits"]
            calls = step_crossings(envs)
            waits = (envs.task.world.info["waits"] - waits) / 3
            listed = ", ".join(f"{call} x {count}" if count > 1 else call for call, count in calls.items())
            print(f"{name:14} {calls.total():3} crossings, {waits:g} waits: {listed}", flush=True)
        finally:
            envs.close()


if __name__ == "__main__":
    main()
