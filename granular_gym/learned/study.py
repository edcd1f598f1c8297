"""study.py: trains and evaluates a table of models, seeds and scenes, a process each, and goes on where it was stopped.

A plan is a JSON file:

    {"data": {"SandFall": "data/sandfall"},
     "models": {"DEL": {"model": "del"}, "DEL, no gradient loss": {"model": "del", "gradient": 0}},
     "seeds": [0, 1, 2],
     "settings": {"iterations": 4000}}

`settings` are those of all runs, those of a model come on top; folders of data are relative to the plan. Every run has
a folder below the table's, `SCENE/MODEL/SEED`, with its checkpoint, curve and measures. A run that is over is not done
again unless its settings changed; one that fails or diverges is a row that says so, and the others go on.
"""

from __future__ import annotations

import contextlib
import csv
import dataclasses
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
from granular_gym.learned.evaluate import SUMMARY, Measures
from granular_gym.learned.settings import Settings

RESULTS, TABLE = "results.csv", "table.json"
DONE = "run.json"
_PLAN = ("data", "models", "seeds", "settings")
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
    """

    scene: str
    model: str
    seed: int
    data: Path
    settings: Settings
    folder: Path

    def wanted(self) -> dict[str, Any]:
        """What a finished run of these settings has written."""
        settings = json.loads(json.dumps(dataclasses.asdict(self.settings)))
        return {"data": str(self.data), "settings": settings}


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
    for name, kind in zip(_PLAN, (dict, dict, list, dict), strict=True):
        value = plan.setdefault(name, kind() if name == "settings" else None)
        if not isinstance(value, kind) or (not value and name != "settings"):
            raise ArgumentError(
                f"plan.{name}: expected {'a list' if kind is list else 'an object'} with entries, got {value!r}"
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
                runs.append(Run(scene, model, seed, (path.parent / data).resolve(), settings, place))
    folders = [each.folder for each in runs]
    if len(set(folders)) != len(folders):
        raise ArgumentError("plan: expected scenes, models and seeds whose folders differ, got two of one name")
    return runs


def train_table(runs: list[Run], out: Path, processes: int, say: Callable[[str], None]) -> bool:
    """Does all runs that are not over, and writes the table after each.

    Args:
        runs: of a plan.
        out: folder of the table.
        processes: at a time, a thread each.
        say: called with lines of progress.

    Returns:
        Whether every run is over without a failure.
    """
    out.mkdir(parents=True, exist_ok=True)
    waiting = [each for each in runs if not _over(each)]
    say(f"{len(runs)} runs, {len(runs) - len(waiting)} of them over")
    running: dict[subprocess.Popen[bytes], tuple[Run, float]] = {}
    failed: dict[Path, str] = {}
    done, begin = len(runs) - len(waiting), time.monotonic()
    try:
        while waiting or running:
            while waiting and len(running) < processes:
                run = waiting.pop(0)
                running[_begin(run)] = (run, time.monotonic())
            time.sleep(0.1)
            for process in [each for each in running if each.poll() is not None]:
                run, started = running.pop(process)
                done += 1
                if process.returncode or not _over(run):
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
    """Writes results.csv, a row a run, and table.json: medians over seeds by scene and model."""
    measures = [each.name for each in dataclasses.fields(Measures)]
    rows = []
    for run in runs:
        row: dict[str, Any] = {"scene": run.scene, "model": run.model, "seed": run.seed, "state": "not over"}
        if run.folder in failed:
            row["state"] = f"failed: {failed[run.folder]}"
        elif _over(run):
            about = json.loads((run.folder / DONE).read_text())
            summary = json.loads((run.folder / SUMMARY).read_text())
            row.update(state="over", training_seconds=about["seconds"], training_diverged=about["diverged"], **summary)
        rows.append(row)
    text = io.StringIO()
    columns = [
        "scene",
        "model",
        "seed",
        "state",
        "training_seconds",
        "training_diverged",
        "episodes",
        "diverged",
        *measures,
    ]
    writer = csv.DictWriter(text, columns, restval="", lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    cache.write_atomic(out / RESULTS, text.getvalue().encode())
    table: dict[str, Any] = {}
    for scene, model in dict.fromkeys((run.scene, run.model) for run in runs):
        over = [row for row in rows if (row["scene"], row["model"], row["state"]) == (scene, model, "over")]
        cell: dict[str, Any] = {"seeds": len(over), "diverged": sum(row["diverged"] for row in over)}
        for name in ("training_seconds", *measures):
            known = [row[name] for row in over if row[name] is not None]
            if known:
                cell[name] = {"median": statistics.median(known), "least": min(known), "most": max(known)}
        table.setdefault(scene, {})[model] = cell
    cache.write_atomic(out / TABLE, (json.dumps(table, indent=1) + "\n").encode())


def _begin(run: Run) -> subprocess.Popen[bytes]:
    """Starts the process of a run, which begins it or goes on with it."""
    if _changed(run):
        for path in (run.folder / name for name in ("checkpoint.pt", DONE, SUMMARY)):
            path.unlink(missing_ok=True)
    run.folder.mkdir(parents=True, exist_ok=True)
    cache.write_atomic(run.folder / "wanted.json", json.dumps(run.wanted()).encode())
    settings = run.folder / "plan.json"
    cache.write_atomic(settings, json.dumps(run.wanted()["settings"]).encode())
    words = [str(run.data), "--settings", str(settings), "--out", str(run.folder), "--resume", "--evaluate"]
    with (run.folder / "log.txt").open("wb") as log:
        return subprocess.Popen(
            [sys.executable, "-m", "granular_gym.learned", "train", *words],
            stdout=log,
            stderr=subprocess.STDOUT,
            env={**os.environ, **_ONE_THREAD},
        )


def _changed(run: Run) -> bool:
    """Whether the folder holds a run of other settings."""
    return (run.folder / "wanted.json").exists() and _read(run.folder / "wanted.json") != run.wanted()


def _over(run: Run) -> bool:
    """Whether a run of these settings is over."""
    files = [run.folder / name for name in (DONE, SUMMARY, "wanted.json")]
    return all(each.exists() for each in files) and not _changed(run)


def _read(path: Path) -> Any:
    try:
        return json.loads(path.read_text())
    except (OSError, ValueError):
        return None


def _last_words(run: Run) -> str:
    lines = (run.folder / "log.txt").read_text(errors="replace").strip().splitlines()
    return lines[-1][:300] if lines else "it ended without a word"


def _folder(name: str) -> str:
    """A name as one of a folder."""
    return re.sub(r"[^\w.-]+", "-", name).strip("-.") or "-"
