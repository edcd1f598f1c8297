"""The command export: a checkpoint becomes a table; what cannot is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

import granular_gym as gg

pytest.importorskip("torch")

from granular_gym.learned import checkpoints, models
from granular_gym.learned.__main__ import main
from granular_gym.learned.simulator import Scale


def test_export(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A model that has learned nothing has a law all the same, and one without pairs has none."""
    options = {"width": 8}
    for name, kind in (("del", options), ("ballistic", {})):
        checkpoints.write(tmp_path / name, models.make(name, Scale(0.01, 0.025, 2, 4), **kind), kind)
    out = str(tmp_path / "law.npz")
    given = ["export", str(tmp_path / "del"), "--out", out, "--tolerance", "0.5"]
    assert main([*given, "--kinds", "sand", "clay", "--bonded", "1-1"]) == 0
    law = gg.load_pair_table(out)
    assert law.kinds == ("sand", "clay") and (1, 1, True) in law.forces and law.dt == 0.0025, "of a substep"
    assert "sand - clay: PairForces" in capsys.readouterr().out
    for arguments, words in (
        (given, "out: expected a file that is not there"),
        ([*given[:3], out + "2", "--bonded", "one"], "bonded: expected two numbers of kinds"),
        (["export", str(tmp_path / "ballistic"), "--out", out + "2"], "model: expected a discrete element learner"),
        (["export", str(tmp_path / "none"), "--out", out + "2"], "expected a checkpoint"),
    ):
        assert main(arguments) == 2
        assert words in capsys.readouterr().err
