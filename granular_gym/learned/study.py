"""study.py: trains and evaluates a table of models, seeds and scenes, a process each, and goes on where it was stopped.

A plan is a JSON file:

    {"data": {"SandFall": "data/sandfall"},
     "models": {"DEL": {"model": "del"}, "DEL, no gradient loss": {"model": "del", "gradient": 0}},
     "seeds": [0, 1, 2],
     "settings": {"iterations": 4000},
     "elsewhere": {"Swap": "data/swap"}}

`settings` are those of all runs, those of a model come on top; folders of data are relative to the plan. `elsewhere`,
which may be left out, names datasets that every model is tested on, too, as it is. Every run has a folder below the
table's, `SCENE/MODEL/SEED`, with its checkpoint, curve and measures. A run that is over is not done again unless its
settings changed; one that fails or diverges is a row that says so, and the others go on.
"""

from __future__ import annotations

import contextlib
import csv
import dataclasses
import hashlib
import io
import json
import os
import re
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from granular_gym.base import cache, checks, names
from granular_gym.errors import ArgumentError
from granular_gym.learned import checkpoints, curves
from granular_gym.learned.data import META
from granular_gym.learned.evaluate import SUMMARY, Measures
from granular_gym.learned.settings import Settings

RESULTS, TABLE = "results.csv", "table.json"
#: of a run: that it is over, and what it was asked for
DONE, WANTED = "run.json", "wanted.json"
LOG = "log.txt"
_PLAN = {"data": dict, "models": dict, "seeds": list, "settings": dict, "elsewhere": dict}
_OPTIONAL = ("settings", "elsewhere")
#: a process of a run uses one thread: more of them stall each other where cores are shared
_ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")


@dataclasses.dataclass(frozen=True)
class Run:
    """One of a table.

    Attributes:
        scene, model, seed: its place in the table.
        data: folder of the dataset.
        settings: of its training.
        folder: its own.
        elsewhere: folders of other datasets that it is tested on, by name.
    """

    scene: str
    model: str
    seed: int
    data: Path
    settings: Settings
    folder: Path
    elsewhere: dict[str, Path]

    def wanted(self) -> dict[str, Any]:
        """What a finished run of these settings has written."""
        settings = json.loads(json.dumps(dataclasses.asdict(self.settings)))
        return {**_about(self.data), "settings": settings}

    def changed(self) -> bool:
        """Whether the folder holds a run of other settings or of another dataset."""
        return (self.folder / WANTED).exists() and not _same(_read(self.folder / WANTED), self.wanted())

    def trained(self) -> bool:
        """Whether training with these settings is over."""
        return all((self.folder / name).exists() for name in (DONE, SUMMARY, WANTED)) and not self.changed()

    def place(self, name: str) -> Path:
        """The folder of its measures elsewhere."""
        return self.folder / ("on-" + _folder(name))

    def untested(self) -> list[str]:
        """Names of datasets elsewhere that it was not tested on yet."""
        return [
            name
            for name, data in self.elsewhere.items()
            if not (self.place(name) / SUMMARY).exists() or not _same(_read(self.place(name) / WANTED), _about(data))
        ]

    def over(self) -> bool:
        """Whether nothing of it is left to do."""
        return self.trained() and not self.untested()

    def left(self) -> str:
        """What is left to do, in words; empty: nothing."""
        if not self.trained():
            return f"{self.settings.iterations:,} iterations to do"
        return f"to be tested on {', '.join(self.untested())}" if self.untested() else ""


def read_plan(path: Path, out: Path) -> list[Run]:
    """The runs of a plan, all models of a seed before the next seed, so that a table is whole early.

    Raises:
        ArgumentError: no plan, an unknown key, or settings that do not hold; the message names the entry.
    """
    try:
        plan = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise ArgumentError(f"plan: expected a file, there is no {path}") from None
    except ValueError as error:
        raise ArgumentError(f"plan: expected JSON in {path} ({error})") from None
    if not isinstance(plan, dict):
        raise ArgumentError(f"plan: expected an object with {', '.join(_PLAN)}, got {type(plan).__name__}")
    names.refuse_unknown("plan", plan, _PLAN)
    for name, kind in _PLAN.items():
        value = plan.setdefault(name, kind() if name in _OPTIONAL else None)
        if not isinstance(value, kind) or (not value and name not in _OPTIONAL):
            raise ArgumentError(
                f"plan.{name}: expected {'a list' if kind is list else 'an object'} with entries, got {value!r}"
            )

    def folder(data: Any) -> Path:
        return (path.parent / str(data)).resolve()

    elsewhere = {name: folder(data) for name, data in plan["elsewhere"].items()}
    if len({_folder(name) for name in elsewhere}) != len(elsewhere) or set(elsewhere) & set(plan["data"]):
        raise ArgumentError(
            f"plan.elsewhere: expected names that differ, and from those of plan.data, got {', '.join(elsewhere)}"
        )
    runs = []
    for seed in (checks.seed("plan.seeds", each) for each in plan["seeds"]):
        for scene, data in plan["data"].items():
            for model, special in plan["models"].items():
                try:
                    settings = Settings.of({**plan["settings"], **special, "seed": seed})
                except (ArgumentError, TypeError) as error:
                    raise ArgumentError(f"plan.models[{model!r}]: {error}") from None
                place = out / _folder(scene) / _folder(model) / str(seed)
                runs.append(Run(scene, model, seed, folder(data), settings, place, elsewhere))
    folders = [each.folder for each in runs]
    if len(set(folders)) != len(folders):
        raise ArgumentError("plan: expected scenes, models and seeds whose folders differ, got two of one name")
    return runs


def train_table(runs: list[Run], out: Path, processes: int, say: Callable[[str], None], device: str = "cpu") -> bool:
    """Does all runs that are not over, and writes the table after each.

    Args:
        runs: of a plan.
        out: folder of the table.
        processes: at a time, a thread each.
        say: called with lines of progress.
        device: that models are trained on, "cpu" or "cuda", which all processes share. It is no setting of a run, which
            may go on elsewhere. Tests run on the CPU.

    Returns:
        Whether every run is over without a failure.
    """
    out.mkdir(parents=True, exist_ok=True)
    waiting = [each for each in runs if not each.over()]
    say(f"{len(runs)} runs, {len(runs) - len(waiting)} of them over")
    running: dict[subprocess.Popen[bytes], tuple[Run, float]] = {}
    # what is left to do of a run that is being worked on: it shrinks with every process that succeeds
    doing: dict[Path, str] = {}
    failed: dict[Path, str] = {}
    done, begin = len(runs) - len(waiting), time.monotonic()
    try:
        while waiting or running:
            while waiting and len(running) < processes:
                run = waiting.pop(0)
                doing[run.folder] = run.left()
                running[_begin(run, device)] = (run, time.monotonic())
            time.sleep(0.1)
            for process in [each for each in running if each.poll() is not None]:
                run, started = running.pop(process)
                if not process.returncode and run.left() not in ("", doing[run.folder]):
                    doing[run.folder] = run.left()
                    running[_begin(run, device)] = (run, started)
                    continue
                done += 1
                if process.returncode or not run.over():
                    failed[run.folder] = _last_words(run)
                word = f"failed: {failed[run.folder]}" if run.folder in failed else "over"
                minutes, all_minutes = ((time.monotonic() - each) / 60.0 for each in (started, begin))
                say(f"{done} of {len(runs)}: {run.scene}, {run.model}, seed {run.seed}: {word} "
                    f"({minutes:.1f} min; {all_minutes:.1f} in all)")  # fmt: skip
                write_table(runs, out, failed)
    finally:
        for process in running:
            process.terminate()
        for process in running:
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(30.0)
    write_table(runs, out, failed)
    return not failed


def write_table(runs: list[Run], out: Path, failed: dict[Path, str]) -> None:
    """Writes results.csv, a row a run, table.json: medians over seeds by scene and model, and curves of training."""
    measures = [each.name for each in dataclasses.fields(Measures)]
    rows = []
    for run in runs:
        rows.append(_row(run, run.scene, run.folder, run.trained(), failed))
        rows += [_row(run, name, run.place(name), name not in run.untested(), failed) for name in run.elsewhere]
    text = io.StringIO()
    columns = [
        "scene",
        "trained_on",
        "model",
        "seed",
        "state",
        "training_seconds",
        "training_diverged",
        "episodes",
        "diverged",
        *measures,
    ]
    writer = csv.DictWriter(text, columns, restval="", extrasaction="ignore", lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    cache.write_atomic(out / RESULTS, text.getvalue().encode())
    table: dict[str, Any] = {}
    # a model of one name that was trained on two scenes is two models where both are tested
    several = len({run.scene for run in runs}) > 1
    for row in rows:
        elsewhere = several and row["scene"] != row["trained_on"]
        row["name"] = f"{row['model']}, trained on {row['trained_on']}" if elsewhere else row["model"]
    for scene, model in dict.fromkeys((row["scene"], row["name"]) for row in rows):
        over = [row for row in rows if (row["scene"], row["name"], row["state"]) == (scene, model, "over")]
        cell: dict[str, Any] = {"seeds": len(over), "diverged": sum(row["diverged"] for row in over)}
        for name in ("training_seconds", *measures):
            known = [row[name] for row in over if row[name] is not None]
            if known:
                cell[name] = {"median": statistics.median(known), "least": min(known), "most": max(known)}
        table.setdefault(scene, {})[model] = cell
    cache.write_atomic(out / TABLE, (json.dumps(table, indent=1) + "\n").encode())
    curves.write_curves([curves.Place(run.scene, run.model, run.seed, run.folder) for run in runs], out)


def _row(run: Run, scene: str, folder: Path, over: bool, failed: dict[Path, str]) -> dict[str, Any]:
    """A row of the results: of a run, and of what it was tested on."""
    row: dict[str, Any] = {"scene": scene, "trained_on": run.scene, "model": run.model, "seed": run.seed}
    if not over:
        return {**row, "state": f"failed: {failed[run.folder]}" if run.folder in failed else "not over"}
    about = json.loads((run.folder / DONE).read_text())
    summary = json.loads((folder / SUMMARY).read_text())
    return {
        **row,
        "state": "over",
        "training_seconds": about["seconds"],
        "training_diverged": about["diverged"],
        **summary,
    }


def _begin(run: Run, device: str) -> subprocess.Popen[bytes]:
    """Starts the process that does the next part of a run: its training, begun or gone on with, or a test elsewhere."""
    if run.trained():
        name = run.untested()[0]
        words = ["evaluate", str(run.folder), str(run.elsewhere[name]), "--out", str(run.place(name))]
        run.place(name).mkdir(parents=True, exist_ok=True)
        (run.place(name) / SUMMARY).unlink(missing_ok=True)
        cache.write_atomic(run.place(name) / WANTED, json.dumps(_about(run.elsewhere[name])).encode())
        return _process(words, run.place(name) / LOG)
    for path in (*(run.folder / name for name in (DONE, SUMMARY)), *run.folder.glob(f"on-*/{SUMMARY}")):
        path.unlink(missing_ok=True)
    if run.changed():
        (run.folder / checkpoints.NAME).unlink(missing_ok=True)
    run.folder.mkdir(parents=True, exist_ok=True)
    cache.write_atomic(run.folder / WANTED, json.dumps(run.wanted()).encode())
    settings = run.folder / "plan.json"
    cache.write_atomic(settings, json.dumps(run.wanted()["settings"]).encode())
    words = ["train", str(run.data), "--settings", str(settings), "--out", str(run.folder), "--resume", "--evaluate"]
    words += ["--device", device]
    return _process(words, run.folder / LOG)


def _process(words: list[str], log: Path) -> subprocess.Popen[bytes]:
    with log.open("wb") as file:
        return subprocess.Popen(
            [sys.executable, "-m", "granular_gym.learned", *words],
            stdout=file,
            stderr=subprocess.STDOUT,
            env={**os.environ, **_ONE_THREAD},
        )


def _about(data: Path) -> dict[str, Any]:
    """A dataset: where it lies, and the hash of its description, None where it is not there."""
    path = data / META
    return {"data": str(data), "meta": hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else None}


def _same(was: Any, wanted: dict[str, Any]) -> bool:
    """Whether what was asked for is what is wanted. A dataset that was moved is the same, one made anew in the place of
    another is not; where there is no hash of either its place tells."""
    if not isinstance(was, dict) or was.get("settings") != wanted.get("settings"):
        return False
    name = "meta" if was.get("meta") and wanted["meta"] else "data"
    return bool(was.get(name) == wanted[name])


def _read(path: Path) -> Any:
    try:
        return json.loads(path.read_text())
    except (OSError, ValueError):
        return None


def _last_words(run: Run) -> str:
    folder = run.place(run.untested()[0]) if run.trained() and run.untested() else run.folder
    lines = (folder / LOG).read_text(errors="replace").strip().splitlines()
    return lines[-1][:300] if lines else "it ended without a word"


def _folder(name: str) -> str:
    """A name as one of a folder."""
    return re.sub(r"[^\w.-]+", "-", name).strip("-.") or "-"
