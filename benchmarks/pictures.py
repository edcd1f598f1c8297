"""pictures.py: processor time of a picture for people, of every task, between builds of the package, in turns.

    python -m benchmarks.pictures [TASK...] [--grains 500 2000 10000] [--steps 25] [--repeats 7] [--against FOLDER]
                                  [--save FOLDER] [--out FOLDER]

A picture is what `render()` answers with render_mode="rgb_array", on one thread, after env steps of the scripted
expert; `png_ms` is what writing it as a PNG file takes besides. A figure is the median of the repeats. --against FOLDER
is another build of the package, as for benchmarks.speed: `ratio` is its time over this one's, picture by picture, and
`mean` and `largest` are the differences of the bytes. --save FOLDER keeps the pictures. Writes FOLDER/pictures.json.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

from benchmarks import measure
from benchmarks.measure import Row
from benchmarks.run import table
from granular_gym import write_png
from granular_gym.tasks.registry import newest_ids, short_name, task_id

OUT = Path(__file__).resolve().parent / "results" / "cpu"
WORKER = Path(__file__).resolve().parent / "pictures_worker.py"
GRAINS = (500, 2000, 10000)
COLUMNS = ("grains", "size", "cpu_ms", "ratio", "png_ms", "mean", "largest")


class Worker:
    """A process that draws pictures of one task."""

    def __init__(self, folder: str, task: str, grains: int, steps: int) -> None:
        command = [sys.executable, str(WORKER), folder, task, str(grains), str(steps)]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.facts: Row = self._answer()
        self.cpu: list[float] = []

    def _answer(self) -> Row:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError("the worker ended")
        answer: Row = json.loads(line)
        return answer

    def ask(self, line: str) -> float:
        """Sends a line; returns the processor time of what it asks for [s]."""
        assert self._process.stdin is not None
        self._process.stdin.write(line + "\n")
        self._process.stdin.flush()
        return float(self._answer()["cpu"])

    def close(self) -> None:
        """Ends the process."""
        self._process.communicate()


def measured(task: str, grains: int, steps: int, repeats: int, against: Path | None, save: Path | None) -> Row:
    """One row: this build, beside the other where one is given."""
    workers: list[Worker] = []
    files: list[float] = []
    try:
        for folder in ["-"] if against is None else ["-", str(against.resolve())]:
            workers.append(Worker(folder, task, grains, steps))
        for _ in range(repeats):
            for worker in workers:
                worker.cpu.append(worker.ask("picture"))
            files.append(workers[0].ask("file"))
        with tempfile.TemporaryDirectory() as scratch:
            for k, worker in enumerate(workers):
                worker.ask(f"save {Path(scratch) / f'{k}.npy'}")
            pictures = [np.load(Path(scratch) / f"{k}.npy") for k in range(len(workers))]
    finally:
        for worker in workers:
            worker.close()
    facts = workers[0].facts
    row: Row = {"name": f"{short_name(task)}, {grains}", "grains": grains, "steps": steps}
    row["size"] = f"{facts['width']} x {facts['height']}"
    row["cpu_ms"] = measure.spread([1e3 * cpu for cpu in workers[0].cpu])
    row["png_ms"] = 1e3 * statistics.median(files)
    if against is not None:
        row["ratio"] = measure.spread([b / a for a, b in zip(workers[0].cpu, workers[1].cpu, strict=True)])
        apart = np.abs(pictures[0].astype(int) - pictures[1])
        row["mean"], row["largest"] = float(apart.mean()), int(apart.max())
    for which, picture in zip(("this", "other"), pictures, strict=False):
        if save is not None:
            write_png(str(save / f"{short_name(task)}-{grains}-{which}.png"), picture)
    return row


def main(arguments: list[str] | None = None) -> int:
    """Runs the command line; returns the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0], prog="benchmarks.pictures")
    parser.add_argument("tasks", nargs="*", metavar="task", type=task_id, help="none: the newest version of each")
    parser.add_argument("--grains", nargs="+", type=int, default=GRAINS)
    parser.add_argument("--steps", type=int, default=25, help="env steps of the expert before the picture")
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--against", type=Path, help="folder of another build")
    parser.add_argument("--save", type=Path, help="folder for the pictures")
    parser.add_argument("--out", type=Path, default=OUT, help="folder for pictures.json")
    args = parser.parse_args(arguments)
    if args.against is not None and not (args.against / "granular_gym").is_dir():
        parser.error(f"--against: expected a folder that holds granular_gym, got {args.against}")
    if args.save is not None:
        args.save.mkdir(parents=True, exist_ok=True)
    facts, rows = measure.facts(), []
    for grains in args.grains:
        found = [
            measured(task, grains, args.steps, args.repeats, args.against, args.save)
            for task in args.tasks or newest_ids()
        ]
        print(f"\n{grains} grains\n\n{table(found, COLUMNS)}", flush=True)
        rows += found
    args.out.mkdir(parents=True, exist_ok=True)
    (args.out / "pictures.json").write_text(json.dumps({"facts": facts, "rows": rows}, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
