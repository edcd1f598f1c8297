"""The leaderboard is that of the committed results."""

from __future__ import annotations

import copy
import json

from benchmarks import leaderboard


def test_the_page_is_up_to_date():
    assert leaderboard.main(["--check"]) == 0


def test_a_changed_result_changes_the_page(tmp_path, monkeypatch, capsys):
    summary = json.loads((leaderboard.RESULTS / "summary.json").read_text())
    changed = copy.deepcopy(summary)
    learner = changed["Bulldozer-v1"]["SAC"]
    learner["shares"][0] += 0.01
    (tmp_path / "summary.json").write_text(json.dumps(changed))
    monkeypatch.setattr(leaderboard, "RESULTS", tmp_path)
    assert leaderboard.main(["--check"]) == 1
    assert "python -m benchmarks.leaderboard" in capsys.readouterr().err


def test_the_best_learner_of_a_task_comes_first():
    found = {"shares": [0.5], "success": [None], "env_steps": [1000], "minutes": 5.0, "command": "learn", "iqm": 0.5}
    better = {
        **found,
        "shares": [0.8, 0.9, 1.0],
        "iqm": 0.9,
        "interval": [0.8, 1.0],
        "cpu_minutes": [9.6],
        "commit": "c",
    }
    page = leaderboard.page({"grains": 300, "Task-v1": {"baselines": {}, "A": found, "B": better}})
    assert page.splitlines()[-2:] == [
        "| Task-v1 | B | 90 (80 to 100) | 80, 90, 100 | - | 1,000 | 5, 10 | c | `learn` |",
        "| Task-v1 | A | 50 | 50 | - | 1,000 | 5, - | - | `learn` |",
    ]
