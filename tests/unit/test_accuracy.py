"""The comparison of solver settings: settings as text, cases that tell a poor solver from a good one."""

from __future__ import annotations

import argparse
import json

import pytest

import granular_gym as gg
from benchmarks import accuracy
from benchmarks.accuracy_cases import CASES, landing, squeeze
from benchmarks.settings import Setting


def test_settings_are_read_from_text():
    setting = Setting.parse("mode=paper, iterations=20,alpha=0.5,spin=false,dt=2e-3")
    assert setting.dt == 2e-3
    assert setting.solver() == gg.Solver(mode="paper", iterations=20, alpha=0.5, spin=False)
    assert setting.solver(iterations=3).iterations == 3
    assert Setting.parse("") == Setting("default", {}, None)


@pytest.mark.parametrize("text", ["iteration=10", "iterations=ten", "mode=none", "spin=maybe", "iterations=0"])
def test_settings_that_are_none_are_refused(text):
    with pytest.raises(argparse.ArgumentTypeError):
        Setting.parse(text)


def test_few_iterations_land_too_densely():
    poor, good = (landing(Setting.parse(f"iterations={n}"), 1e-3, 1, layers=10, later=False) for n in (1, 40))
    assert poor["fraction"] > good["fraction"] + 0.02
    assert poor["contacts"] > good["contacts"] + 0.3
    assert poor["drift"] > 10.0 * good["drift"]
    # forty times as many iterations of somewhat fewer contacts
    assert 20.0 < good["pair_iterations_per_s"] / poor["pair_iterations_per_s"] < 40.0


def test_a_squeezed_grain_stays():
    row = squeeze(Setting.parse(""), 1e-3, 1)
    assert row["speed_max"] < 0.1 and row["force_over_weight"] > 10.0 and not row["broken"]


def test_results_are_merged(tmp_path, capsys):
    for iterations in (5, 10, 5):
        accuracy.main(["jams", "--solver", f"iterations={iterations}", "--seeds", "1", "--out", str(tmp_path)])
    data = json.loads((tmp_path / "accuracy.json").read_text())
    assert len(data["rows"]) == 2 * len(CASES["jams"].variants) and data["limits"] == []
    assert "iterations=5" in capsys.readouterr().out
    accuracy.main(["jams", "--solver", "iterations=40", "--seeds", "1", "--limit", "--out", str(tmp_path)])
    assert len(json.loads((tmp_path / "accuracy.json").read_text())["limits"]) == len(CASES["jams"].variants)


def test_unknown_cases_are_named(tmp_path, capsys):
    with pytest.raises(SystemExit):
        accuracy.main(["landings", "--out", str(tmp_path)])
    assert "landings" in capsys.readouterr().err
