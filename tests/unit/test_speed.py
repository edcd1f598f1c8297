"""The comparison of speeds: which build a worker times, and what it answers."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks import speed
from benchmarks.settings import Setting

ROOT = Path(__file__).resolve().parent.parent.parent
WORKER = ROOT / "benchmarks" / "speed_worker.py"


def test_a_worker_imports_all_of_the_package_from_the_folder():
    code = (
        "import sys, json, pathlib; sys.path.insert(0, sys.argv[1]); import speed_worker\n"
        "speed_worker.import_from(pathlib.Path(sys.argv[2]))\n"
        "import granular_gym.envs.bulldozer as task, granular_gym._core as core\n"
        "print(json.dumps([task.__file__, core.__file__]))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(WORKER.parent), str(ROOT)], capture_output=True, text=True, check=True
    )
    assert all(Path(path).is_relative_to(ROOT) for path in json.loads(done.stdout))


def test_a_folder_without_the_package_is_refused(tmp_path):
    done = subprocess.run([sys.executable, WORKER, tmp_path, "rest_10k", ""], capture_output=True, text=True)
    assert done.returncode != 0 and "expected one that holds granular_gym" in done.stderr
    with pytest.raises(SystemExit):
        speed.main(["rest_10k", "--against", str(tmp_path)])


def test_ratios_are_of_equal_simulated_times():
    def worker(seconds: float, cpu: list[float]) -> object:
        facts = {"grains": 10, "substeps": 5, "env_steps": 0, "seconds": seconds}
        rows = [{"cpu": one, "residual": 0.0} for one in cpu]
        return type("", (), {"facts": facts, "rows": rows, "subject": speed.Subject("one", "-", "")})()

    first, other = worker(1.0, [2.0, 2.0, 4.0]), worker(2.0, [2.0, 2.0, 2.0])
    row = speed._row("rest", other, first)
    # half the time for twice as much, in two of three turns
    assert row["ratio"]["median"] == 2.0 and row["ratio"]["max"] == 4.0
    assert "ratio" not in speed._row("rest", first, first)
    assert row["ns_per_grain_substep"] == pytest.approx(1e9 * 2.0 / 50)


def test_other_builds_come_first():
    subjects = speed.subjects_of([Setting.parse("iterations=5")], [ROOT])
    assert [(one.folder, one.setting) for one in subjects] == [(str(ROOT), ""), ("-", "iterations=5")]
