"""threads.py: what threads bring and cost, alone and beside busy processes, between builds in turns.

    python -m benchmarks.threads [--against FOLDER]... [--solver mode=jacobi]... [--grains 2000 10000]
                                 [--threads 1 2 4 64] [--busy 0 2] [--repeats 5] [--out FOLDER]

Prints steps per second of the clock on the wall and processor time of all threads per step: medians, with the smallest
and the largest. Each build and solver is a process of its own; they take turns at each number of threads. --against and
--solver as for benchmarks.speed. --busy: processes beside that never wait. Writes FOLDER/threads.json.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from benchmarks import measure
from benchmarks.measure import Row
from benchmarks.run import OUT, table
from benchmarks.settings import Setting

WORKER = Path(__file__).resolve().parent / "threads_worker.py"
#: envs, grains in each, half width of the column in diameters
SCENES = (
    (1, 500, 4.0),
    (1, 2_000, 6.5),
    (1, 4_000, 7.5),
    (1, 10_000, 10.0),
    (1, 20_000, 12.0),
    (1, 50_000, 15.0),
    (64, 500, 4.0),
)
THREADS, BUSY = (1, 2, 4, 64), (0, 2)
SECONDS = 0.3  # of a measurement
COLUMNS = ("steps_per_s", "cpu_ms_per_step")


class Worker:
    """A process that steps one world with one build and one solver."""

    def __init__(self, folder: str, setting: str, scene: tuple[int, int, float]) -> None:
        command = [sys.executable, str(WORKER), folder, setting, *map(str, scene)]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def ask(self, threads: int) -> Row:
        """Steps with so many threads; what was measured."""
        assert self._process.stdin is not None and self._process.stdout is not None
        self._process.stdin.write(f"{threads} {SECONDS}\n")
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError("the worker ended")
        return json.loads(line)

    def close(self) -> None:
        """Ends the process."""
        self._process.communicate()


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


def compared(
    scene: tuple[int, int, float],
    subjects: list[tuple[str, str]],
    threads: list[int],
    busy: list[int],
    repeats: int,
) -> list[Row]:
    """Rows of one scene: by busy processes, number of threads, solver and build; subjects: builds and solvers."""
    rows: list[Row] = []
    workers = {subject: Worker(*subject, scene) for subject in subjects}
    try:
        for beside in busy:
            cases = [(count, subject) for count in threads for subject in subjects]
            found: dict[tuple[int, tuple[str, str]], list[Row]] = {case: [] for case in cases}
            with neighbours(beside):
                for _ in range(repeats):
                    for count, subject in cases:
                        found[count, subject].append(workers[subject].ask(count))
            rows += [_row(scene, beside, *case, found[case]) for case in cases]
    finally:
        for worker in workers.values():
            worker.close()
    return rows


def _row(scene: tuple[int, int, float], busy: int, threads: int, subject: tuple[str, str], found: list[Row]) -> Row:
    envs, grains, _ = scene
    build, solver = subject
    label = "this" if build == "-" else Path(build).name
    name = f"{envs} x {grains:,} grains, {busy} busy, {threads} thread{'s' if threads > 1 else ''}"
    facts = {"envs": envs, "grains": grains, "busy": busy, "threads": threads, "solver": solver, "build": label}
    return {
        "name": f"{name}, {solver}, {label}",
        **facts,
        **{key: measure.spread([one[key] for one in found]) for key in COLUMNS},
    }


def main(arguments: list[str] | None = None) -> int:
    """Runs the command line; returns the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0], prog="benchmarks.threads")
    parser.add_argument("--against", action="append", type=Path, default=[], help="folder of another build")
    parser.add_argument("--threads", type=int, nargs="+", default=list(THREADS))
    parser.add_argument("--busy", type=int, nargs="+", default=list(BUSY), help="busy processes beside")
    parser.add_argument("--solver", action="append", type=Setting.parse, help="name=value,..., as for benchmarks.speed")
    parser.add_argument("--grains", type=int, nargs="+", help="scenes of so many grains only")
    parser.add_argument("--repeats", type=int, default=measure.REPEATS)
    parser.add_argument("--out", type=Path, default=OUT, help="folder for threads.json")
    args = parser.parse_args(arguments)
    for folder in args.against:
        if not (folder / "granular_gym").is_dir():
            parser.error(f"--against: expected a folder that holds granular_gym, got {folder}")
    solvers = args.solver or [Setting.parse("")]
    subjects = [(build, setting.label) for setting in solvers for build in [*map(str, args.against), "-"]]
    facts, rows = measure.facts(), []
    for scene in (one for one in SCENES if not args.grains or one[1] in args.grains):
        found = compared(scene, subjects, args.threads, args.busy, args.repeats)
        print(table(found, COLUMNS), flush=True)
        rows += found
    measure.save(args.out / "threads.json", facts, rows)
    return 0


if __name__ == "__main__":
    sys.exit(main())
