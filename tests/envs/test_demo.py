"""The demo writes all its files."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

DEMO = Path(__file__).parents[2] / "examples" / "bulldozer_demo.py"
RESULTS = ("bulldozer.mp4", "picture.png", "ego.png", "sky.png", "progress.png", "report.json")


def test_demo_leaves_film_pictures_and_report(tmp_path: Path) -> None:
    for module in ("imageio_ffmpeg", "matplotlib", "tqdm"):
        pytest.importorskip(module, reason=f"{module} is not installed")
    command = [sys.executable, str(DEMO), "--grains", "60", "--steps", "4", "--out", str(tmp_path)]
    # the child must import the same packages
    paths = os.pathsep.join(path for path in sys.path if path)
    done = subprocess.run(
        command, env={**os.environ, "PYTHONPATH": paths}, cwd=tmp_path, capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr
    assert all((tmp_path / name).stat().st_size > 0 for name in RESULTS)
    assert (tmp_path / "bulldozer.mp4").read_bytes()[4:8] == b"ftyp"
    report = json.loads((tmp_path / "report.json").read_text())
    assert report["steps"] == 4 and report["grains"] == 60 and report["speed_over_real_time"] > 0
    assert {"overlap_mean", "overlap_max", "residual_max", "counters", "machine"} <= report.keys()
