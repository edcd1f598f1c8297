"""speed.py: processor time of fixed scenes, between settings, builds of the package and LAMMPS, in turns.

    python -m benchmarks.speed [SCENE...] [--solver iterations=10]... [--against FOLDER]... [--large] [--peer]
                               [--repeats 5] [--out FOLDER]

Each subject is a process of its own; they run the same block in turns, one at a time, so that whatever else the machine
does falls on all alike. A figure is the median of the repeats; ratios are medians of the ratios of a turn, of the first
subject's time over this one's: above 1 is faster than the first. Residual, overlaps and contacts per grain are those at
the end of the last block. --against FOLDER is another build of the package (a source tree with its extension built in
place, or what pip install --target leaves), with its own default solver; it is the first subject. --peer runs LAMMPS,
too (`lmp` on the path), which leaves a figure per simulated second. Writes FOLDER/speed.json.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import lammps, measure
from benchmarks.measure import Row
from benchmarks.run import table
from benchmarks.settings import Setting
from benchmarks.speed_scenes import LARGE, PEER_HALF_WIDTH, SCENES

OUT = Path(__file__).resolve().parent / "results" / "cpu"
WORKER = Path(__file__).resolve().parent / "speed_worker.py"
#: what is printed
COLUMNS = (
    *("ns_per_grain_substep", "cpu_ms_per_env_step", "sim_per_cpu", "ratio", "over_lammps", "residual"),
    *("overlap_mean_pct", "overlap_max_pct", "contacts_per_grain", "sinking_pct_per_s", "moving_share", "mostly"),
)
#: simulated time in which the springs of LAMMPS settle before a scene at rest [s]
PEER_SETTLES = 0.05


@dataclasses.dataclass(frozen=True)
class Subject:
    """A build and a setting."""

    name: str
    folder: str
    setting: str


class Worker:
    """A process that runs blocks of one scene."""

    def __init__(self, subject: Subject, scene: str) -> None:
        setting = "" if subject.setting == "default" else subject.setting
        command = [sys.executable, str(WORKER), subject.folder, scene, setting]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.subject = subject
        self.facts: Row = self._answer()
        self.rows: list[Row] = []

    def _answer(self) -> Row:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError(f"{self.subject.name}: the worker ended")
        return json.loads(line)

    def ask(self, line: str) -> Row:
        """Sends a line; returns the answer."""
        assert self._process.stdin is not None
        self._process.stdin.write(line + "\n")
        self._process.stdin.flush()
        return self._answer()

    def run(self) -> None:
        """Runs a block."""
        self.rows.append(self.ask("run"))

    def close(self) -> None:
        """Ends the process."""
        self._process.communicate()


class Peer:
    """LAMMPS from the same positions; a block is a share of the time that a scene takes."""

    def __init__(self, scene: str, worker: Worker, folder: Path, repeats: int) -> None:
        worker.ask(f"positions {folder / 'start.npy'}")
        self._lammps = lammps.Lammps(np.load(folder / "start.npy"), PEER_HALF_WIDTH[scene] * lammps.DIAMETER, folder)
        self.rows: list[Row] = []
        moves = scene.startswith("collapse")
        if not moves:
            self._lammps.run(round(PEER_SETTLES / lammps.DT))
        # what moves is followed through all its motion, what rests is sampled
        seconds = worker.facts["seconds"] / repeats if moves else 1000.0 / worker.facts["grains"] * 0.2
        self.steps = max(50, round(seconds / lammps.DT))

    def run(self) -> None:
        """Runs a block."""
        self.rows.append(self._lammps.run(self.steps))

    def row(self, scene: str) -> Row:
        """Its line of the table."""
        cpu = [one["cpu_seconds"] for one in self.rows]
        simulated = self.steps * lammps.DT
        row = {"name": f"{scene}, LAMMPS", "scene": scene, "subject": "LAMMPS", "cpu_seconds": measure.spread(cpu)}
        row["sim_per_cpu"] = simulated * len(cpu) / sum(cpu)
        row["version"] = lammps.version()
        if scene.startswith("rest") and len(self.rows) > 1:
            first, last = (self.rows[k]["mean_height"] for k in (0, -1))
            row["sinking_pct_per_s"] = 100.0 * (1.0 - last / first) / (simulated * (len(self.rows) - 1))
        return {**row, **{k: self.rows[-1][k] for k in ("overlap_mean_pct", "overlap_max_pct", "contacts_per_grain")}}

    def close(self) -> None:
        """Ends LAMMPS."""
        self._lammps.close()


def compared(scene: str, subjects: list[Subject], repeats: int, beside: bool) -> list[Row]:
    """Rows of one scene, a row for each subject."""
    with tempfile.TemporaryDirectory() as folder:
        workers: list[Worker] = []
        peer: Peer | None = None
        try:
            for subject in subjects:
                workers.append(Worker(subject, scene))
                # a block that warms up
                workers[-1].ask("run")
            if beside and scene in PEER_HALF_WIDTH:
                peer = Peer(scene, workers[-1], Path(folder), repeats)
            for _ in range(repeats):
                for one in (*workers, *([peer] if peer else [])):
                    one.run()
            shares = [worker.ask("phases") for worker in workers]
        finally:
            for one in (*workers, *([peer] if peer else [])):
                one.close()
    rows = [
        {**_row(scene, worker, workers[0]), "phase_shares": share, "mostly": mostly(share)}
        for worker, share in zip(workers, shares, strict=True)
    ]
    if peer:
        rows.append(peer.row(scene))
        for row in rows[:-1]:
            row["over_lammps"] = row["sim_per_cpu"] / rows[-1]["sim_per_cpu"]
    return rows


def mostly(shares: Row) -> str:
    """The three phases that take most."""
    return ", ".join(f"{name} {100.0 * share:.0f} %" for name, share in list(shares.items())[:3])


def _row(scene: str, worker: Worker, first: Worker) -> Row:
    facts, cpu = worker.facts, [row["cpu"] for row in worker.rows]
    median = statistics.median(cpu)
    row: Row = {"name": f"{scene}, {worker.subject.name}", "scene": scene, "subject": worker.subject.name, **facts}
    row["cpu_seconds"] = measure.spread(cpu)
    if facts["substeps"]:
        row["ns_per_grain_substep"] = 1e9 * median / facts["substeps"] / facts["grains"]
        row["sim_per_cpu"] = facts["seconds"] / median
    else:
        row["cpu_ms_per_env_step"] = 1e3 * median / facts["env_steps"]
    if worker is not first:
        # blocks may have other lengths: compared by what they simulate
        scale = worker.facts["seconds"] / first.facts["seconds"] if facts["substeps"] else 1.0
        pairs = [scale * a["cpu"] / b for a, b in zip(first.rows, cpu, strict=True)]
        row["ratio"] = measure.spread(pairs)
    return {**row, **{name: value for name, value in worker.rows[-1].items() if name != "cpu"}}


def subjects_of(solvers: list[Setting], folders: list[Path]) -> list[Subject]:
    """Other builds first, then this one with each setting."""
    other = [Subject(folder.resolve().name, str(folder.resolve()), "") for folder in folders]
    return other + [Subject(setting.label, "-", setting.label) for setting in solvers]


def main(arguments: list[str] | None = None) -> int:
    """Runs the command line; returns the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0], prog="benchmarks.speed")
    parser.add_argument("scenes", nargs="*", metavar="scene", help=f"of {', '.join(SCENES)}; none: all but the large")
    parser.add_argument(
        "--solver", action="append", type=Setting.parse, help="name=value,...; dt and kernel are names, too"
    )
    parser.add_argument("--against", action="append", type=Path, default=[], help="folder of another build")
    parser.add_argument("--large", action="store_true", help=f"also {', '.join(LARGE)}")
    parser.add_argument("--peer", action="store_true", help="also LAMMPS")
    parser.add_argument("--repeats", type=int, default=measure.REPEATS)
    parser.add_argument("--out", type=Path, default=OUT, help="folder for speed.json")
    args = parser.parse_args(arguments)
    unknown = [name for name in args.scenes if name not in SCENES]
    if unknown:
        parser.error(f"scene: expected some of {', '.join(SCENES)}, got {', '.join(unknown)}")
    if args.peer and lammps.program() is None:
        parser.error("--peer: LAMMPS (lmp) is not on the path")
    for folder in args.against:
        if not (folder / "granular_gym").is_dir():
            parser.error(f"--against: expected a folder that holds granular_gym, got {folder}")
    subjects = subjects_of(args.solver or [Setting.parse("")], args.against)
    names = args.scenes or [name for name in SCENES if args.large or name not in LARGE]
    facts, rows = measure.facts(), []
    for name in names:
        found = compared(name, subjects, args.repeats, args.peer)
        print(f"\n{SCENES[name][0]}\n\n{table(found, COLUMNS)}", flush=True)
        rows += found
    args.out.mkdir(parents=True, exist_ok=True)
    path = args.out / "speed.json"
    old: dict[str, Any] = json.loads(path.read_text()) if path.is_file() else {"rows": []}
    kept = [row for row in old["rows"] if row["name"] not in {one["name"] for one in rows}]
    path.write_text(json.dumps({"facts": facts, "rows": [*kept, *rows]}, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
