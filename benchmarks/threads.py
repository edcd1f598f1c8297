"""threads.py: what threads bring and cost: steps per second and processor time a step, alone and beside busy processes.

Every figure is taken by a process of its own that steps one settled world with several numbers of threads; where other
builds are named, theirs and this one's take turns. A step is 16 substeps of 1 ms.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from benchmarks.measure import Row, spread

ROOT = Path(__file__).resolve().parent.parent
#: envs, grains in each, half width of the column in diameters
SCENES = ((1, 500, 4.0), (1, 2_000, 6.5), (1, 10_000, 10.0), (1, 50_000, 15.0), (64, 500, 4.0))
THREADS = (1, 2, 4, 64)
BUSY = 2
SUBSTEPS, SECONDS, REPEATS = 16, 0.3, 5
SETTLING = 400  # substeps before the first measurement


class Player:
    """A process that steps worlds with the package of one folder.

    Args:
        folder: root of a source tree that is built.
    """

    def __init__(self, folder: Path) -> None:
        self._process = subprocess.Popen(
            [sys.executable, str(Path(__file__).resolve())],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=folder,
            env={**os.environ, "PYTHONPATH": str(folder)},
        )

    def ask(self, **request: Any) -> Row:
        """Steps as `serve` is told; what it measured."""
        assert self._process.stdin and self._process.stdout
        self._process.stdin.write(json.dumps(request) + "\n")
        self._process.stdin.flush()
        reply: Row = json.loads(self._process.stdout.readline())
        return reply

    def close(self) -> None:
        """Ends the process."""
        self._process.communicate()


def serve() -> None:
    """Answers requests from standard input, a line of JSON each: builds a world, or steps it for `seconds`."""
    from testbed import standard

    world = None
    for line in sys.stdin:
        request = json.loads(line)
        if "grains" in request:
            if world is not None:
                world.close()
            scene = standard.standard_column(request["grains"], half_width=request["half_width"])
            with scene.build(device="cpu", num_threads=1) as source:
                source.step(1e-3, SETTLING)
                world = source.branch(request["envs"])
            reply: Row = {"default": scene.build(request["envs"], device="cpu").num_threads}
        else:
            assert world is not None
            world.num_threads = request["threads"]
            world.step(1e-3, SUBSTEPS)
            count, cpu, start = 0, time.process_time(), time.perf_counter()
            while time.perf_counter() - start < request["seconds"]:
                world.step(1e-3, SUBSTEPS)
                count += 1
            wall = time.perf_counter() - start
            reply = {"steps_per_s": count / wall, "cpu_ms_per_step": 1e3 * (time.process_time() - cpu) / count}
        print(json.dumps(reply), flush=True)


@contextmanager
def neighbours(count: int) -> Iterator[None]:
    """`count` processes beside that never wait."""
    busy = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(count)]
    try:
        yield
    finally:
        for process in busy:
            process.kill()
            process.wait()


def threads(quick: bool, others: dict[str, Path] | None = None) -> list[Row]:
    """Scenes by number of threads and of busy processes beside.

    Args:
        quick: fewer scenes and repeats.
        others: further builds to measure in turns with this one, root folders by name.
    """
    rows: list[Row] = []
    builds = {"this": ROOT, **(others or {})}
    players = {name: Player(folder) for name, folder in builds.items()}
    try:
        for envs, grains, half_width in SCENES[: 2 if quick else None]:
            for player in players.values():
                player.ask(envs=envs, grains=grains, half_width=half_width)
            for busy in (0, BUSY):
                with neighbours(busy):
                    rows += _in_turns(players, f"{envs} x {grains:,} grains, {busy} busy", 2 if quick else REPEATS)
                    for row in rows[-len(players) * len(THREADS) :]:
                        row.update(envs=envs, grains=grains, busy=busy)
    finally:
        for player in players.values():
            player.close()
    return rows


def _in_turns(players: dict[str, Player], label: str, repeats: int) -> list[Row]:
    found: dict[tuple[int, str], list[Row]] = {(count, name): [] for count in THREADS for name in players}
    for _ in range(repeats):
        for count, name in found:
            found[count, name].append(players[name].ask(threads=count, seconds=SECONDS))
    return [
        {
            "name": f"{label}, {count} thread{'s' if count > 1 else ''}" + (f", {name}" if len(players) > 1 else ""),
            "threads": count,
            "build": name,
            **{key: spread([row[key] for row in measured]) for key in measured[0]},
        }
        for (count, name), measured in found.items()
    ]


if __name__ == "__main__":
    serve()
