"""instructions.py: instructions that small scenes take, counted by valgrind and held to stored limits.

    python -m benchmarks.instructions [--check | --renew] [SCENE...]

Counts repeat to a hundredth of a per cent however busy a machine is, where times do not. valgrind knows no AVX-512, so
the solve runs on the AVX2 kernel. Prints instructions per block beside the limit. --check fails where a scene takes
more than 5 % above its limit, in half a minute; --renew writes the counts as the limits (benchmarks/instructions.json),
which hold for the compiler they were counted with: with another one nothing is checked, and it is said. Needs valgrind
with its headers and a C compiler.
"""

from __future__ import annotations

import argparse
import ctypes
import json
import os
import pickle
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np

import granular_gym as gg
from testbed.beds import DT, RADIUS, column_scene
from testbed.standard import standard_scene

LIMITS = Path(__file__).resolve().parent / "instructions.json"
ROOT = LIMITS.parent.parent
#: share above its limit at which a scene fails; share below it from which a renewal is suggested
TOLERANCE = 0.05
KERNEL = "avx2"
GRAINS, HALF_WIDTH = 600, 4.0
#: starts and stops counting; written to a file of its own for each scene
CLIENT = """
#include <valgrind/callgrind.h>
int under_valgrind(void) { return RUNNING_ON_VALGRIND; }
void start(void) { CALLGRIND_START_INSTRUMENTATION; CALLGRIND_ZERO_STATS; }
void stop(const char *name) { CALLGRIND_DUMP_STATS_AT(name); CALLGRIND_STOP_INSTRUMENTATION; }
"""

#: a block of work, ready to run
Block = Callable[[], Any]


def _column(state: Path) -> gg.World:
    """A settled column; its state is computed where it is not stored yet, at full speed."""
    world = column_scene(GRAINS, HALF_WIDTH).build(num_threads=1)
    if not state.is_file():
        world.step(DT, 800)
        state.write_bytes(pickle.dumps(world.save_state()))
    world.load_state(pickle.loads(state.read_bytes()))
    world._core.set_kernel(KERNEL)
    return world


def rest(folder: Path) -> Block:
    """A column at rest."""
    world = _column(folder / "column.pickle")
    world.step(DT, 2)
    return lambda: world.step(DT, 20)


def collapse(folder: Path) -> Block:
    """The column without walls."""
    with _column(folder / "column.pickle") as source:
        positions = source.positions[0].copy()
    side = 3.0 * float(np.abs(positions[:, :2]).max())
    scene, grain = standard_scene(((-side, -side, 0.0), (side, side, 1.0)))
    scene.add_grains(grain, positions, RADIUS)
    world = scene.build(num_threads=1)
    world._core.set_kernel(KERNEL)
    world.step(DT, 2)
    return lambda: world.step(DT, 40)


def _task(task: str, steps: int, **arguments: Any) -> Block:
    env = gym.make(f"granular_gym/{task}", num_threads=1, preset="fast", **arguments)
    env.reset(seed=0)
    env.action_space.seed(0)
    actions = [env.action_space.sample() for _ in range(steps + 1)]
    env.unwrapped.task.world._core.set_kernel(KERNEL)  # type: ignore[attr-defined]
    env.step(actions[0])
    return lambda: [env.step(action) for action in actions[1:]]


def bulldozer(_: Path) -> Block:
    """Env steps of the bulldozer, with images."""
    return _task("Bulldozer-v1", 4, grain_count=300)


def silo(_: Path) -> Block:
    """Env steps of the silo."""
    return _task("Silo-v1", 3, grain_count=300)


def batch(_: Path) -> Block:
    """A batched step of 16 bulldozers."""
    envs = gym.make_vec(
        "granular_gym/Bulldozer-v1",
        num_envs=16,
        vectorization_mode="vector_entry_point",
        grain_count=100,
        preset="fast",
        num_threads=1,
    )
    envs.reset(seed=0)
    envs.action_space.seed(0)
    actions = [envs.action_space.sample() for _ in range(2)]
    envs.unwrapped.task.world._core.set_kernel(KERNEL)  # type: ignore[attr-defined]
    envs.step(actions[0])
    return lambda: envs.step(actions[1])


SCENES: dict[str, Callable[[Path], Block]] = {
    "rest": rest,
    "collapse": collapse,
    "bulldozer": bulldozer,
    "silo": silo,
    "batch": batch,
}


def count_here(folder: Path, names: list[str]) -> None:
    """Runs blocks between start and stop of the counting; under valgrind."""
    client = ctypes.CDLL(str(folder / "client.so"))
    for name in names:
        block = SCENES[name](folder)
        if client.under_valgrind():
            client.start()
            block()
            client.stop(name.encode())


def build_client(folder: Path) -> None:
    """Writes client.so, which starts and stops the counting, to a folder."""
    (folder / "client.c").write_text(CLIENT)
    subprocess.run(["cc", "-shared", "-fPIC", "-o", folder / "client.so", folder / "client.c"], check=True)


def counted(names: list[str]) -> dict[str, int]:
    """Instructions of a block of each scene.

    Raises:
        RuntimeError: valgrind did not run.
    """
    environment = {**os.environ, "PYTHONHASHSEED": "0", "OMP_NUM_THREADS": "1"}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        build_client(folder)
        # beds are settled at full speed first
        command = [sys.executable, "-m", "benchmarks.instructions", "--count", name, *names]
        subprocess.run(command, check=True, cwd=ROOT, env=environment)
        tool = ["valgrind", "--tool=callgrind", "--instr-atstart=no", f"--callgrind-out-file={folder / 'out'}"]
        done = subprocess.run([*tool, *command], cwd=ROOT, env=environment, capture_output=True, text=True)
        if done.returncode:
            raise RuntimeError(f"valgrind: {done.stderr[-1000:]}")
        found = {}
        for path in folder.glob("out.*"):
            text = path.read_text()
            trigger = next(
                (line for line in text.splitlines() if line.startswith("desc: Trigger: Client Request:")), ""
            )
            scene = trigger.rpartition(": ")[2]
            total = next(line for line in text.splitlines() if line.startswith(("summary:", "totals:")))
            if scene in SCENES:
                found[scene] = int(total.split()[1])
    return {name: found[name] for name in names}


def facts() -> dict[str, Any]:
    """What counts depend on."""
    return {"compiler": gg.info()["compiler"], "debug": gg.info()["debug"], "kernel": KERNEL}


def why_not() -> str:
    """Why nothing can be counted here, or ""."""
    if shutil.which("valgrind") is None or shutil.which("cc") is None:
        return "valgrind or a C compiler is not installed"
    if not Path("/usr/include/valgrind/callgrind.h").is_file():
        return "the headers of valgrind are not installed"
    with gg.Scene(((0, 0, 0), (1, 1, 1))).build(num_threads=1) as world:
        try:
            world._core.set_kernel(KERNEL)
        except gg.BackendError as error:
            return str(error)
    return ""


def judged(counts: dict[str, int], limits: dict[str, int]) -> bool:
    """Prints counts beside limits; whether none is more than the tolerance above."""
    good = True
    for name, count in counts.items():
        limit = limits.get(name)
        line = f"{name:<10} {count / 1e6:9.2f} M instructions"
        if limit:
            change = count / limit - 1.0
            line += f", limit {limit / 1e6:.2f} M, {100.0 * change:+.2f} %"
            if change > TOLERANCE:
                line += f": more than {100.0 * TOLERANCE:g} % above"
                good = False
            elif change < -TOLERANCE:
                line += ": the limits can be renewed (--renew)"
        print(line)
    return good


def main(arguments: list[str] | None = None) -> int:
    """Runs the command line; returns the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0], prog="benchmarks.instructions")
    parser.add_argument("scenes", nargs="*", metavar="scene", help=f"of {', '.join(SCENES)}; none: all")
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--check", action="store_true", help="fail above the limits")
    what.add_argument("--renew", action="store_true", help="write the counts as limits")
    what.add_argument("--count", type=Path, help=argparse.SUPPRESS)
    args = parser.parse_args(arguments)
    names = args.scenes or list(SCENES)
    unknown = [name for name in names if name not in SCENES]
    if unknown:
        parser.error(f"scene: expected some of {', '.join(SCENES)}, got {', '.join(unknown)}")
    if args.count:
        count_here(args.count, names)
        return 0
    reason = why_not()
    if reason:
        print(f"instructions are not counted: {reason}")
        return 0 if args.check else 1
    stored = json.loads(LIMITS.read_text()) if LIMITS.is_file() else {"facts": facts(), "limits": {}}
    if args.check and stored["facts"] != facts():
        print(f"instructions are not checked: the limits are those of {stored['facts']}, this is {facts()}")
        return 0
    begin = time.perf_counter()
    counts = counted(names)
    good = judged(counts, stored["limits"])
    print(f"({time.perf_counter() - begin:.0f} s)")
    if args.renew:
        kept = stored["limits"] if stored["facts"] == facts() else {}
        LIMITS.write_text(json.dumps({"facts": facts(), "limits": {**kept, **counts}}, indent=1) + "\n")
    return 0 if good or not args.check else 1


if __name__ == "__main__":
    sys.exit(main())
