"""The guard on instructions: what passes and what does not."""

from __future__ import annotations

import json

import pytest

from benchmarks import instructions


@pytest.mark.parametrize(
    ("count", "good", "said"), [(1_049_000, True, "+4.9"), (1_051_000, False, "above"), (900_000, True, "renew")]
)
def test_counts_are_held_to_limits(count, good, said, capsys):
    assert instructions.judged({"rest": count}, {"rest": 1_000_000}) is good
    assert said in capsys.readouterr().out


def test_limits_of_another_compiler_are_not_checked(tmp_path, monkeypatch, capsys):
    limits = tmp_path / "limits.json"
    limits.write_text(json.dumps({"facts": {"compiler": "other"}, "limits": {"rest": 1}}))
    monkeypatch.setattr(instructions, "LIMITS", limits)
    monkeypatch.setattr(instructions, "why_not", lambda: "")
    assert instructions.main(["--check"]) == 0
    assert "not checked" in capsys.readouterr().out


def test_every_scene_has_a_limit():
    assert set(json.loads(instructions.LIMITS.read_text())["limits"]) == set(instructions.SCENES)


@pytest.mark.skipif(bool(instructions.why_not()), reason=instructions.why_not() or "valgrind counts")
def test_counts_repeat():
    first, second = (instructions.counted(["rest"])["rest"] for _ in range(2))
    assert abs(first / second - 1.0) < 1e-3
