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
    assert main([*given[:3], out + "1", *given[4:], "--kinds", "sand", "clay", "--bonded", "1-0", "0-1"]) == 0
    assert "sand - clay, bonded: PairForces" in capsys.readouterr().out, "in either order"
    for arguments, words in (
        (given, "out: expected a file that is not there"),
        ([*given[:3], out + "2", "--bonded", "one"], "bonded: expected two numbers of kinds"),
        (["export", str(tmp_path / "ballistic"), "--out", out + "2"], "model: expected a discrete element learner"),
        (["export", str(tmp_path / "none"), "--out", out + "2"], "expected a checkpoint"),
    ):
        assert main(arguments) == 2
        assert words in capsys.readouterr().err


def test_kinds_and_bonds_are_those_of_the_data(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """So that tasks take the file as it is; what is asked for goes first."""
    data = str(tmp_path / "data")
    assert main(["make-data", "SandFall", "--size", "tiny", "--train", "1", "--test", "1", "--out", data]) == 0
    checkpoints.write(tmp_path / "del", models.make("del", Scale(0.01, 0.025, 2), width=8), {"width": 8})
    given = ["export", str(tmp_path / "del"), "--tolerance", "0.5", "--data", data, "--out"]
    assert main([*given, str(tmp_path / "law.npz")]) == 0
    law = gg.load_pair_table(tmp_path / "law.npz")
    assert law.kinds == ("sand", "elastic") and [key for key in law.forces if key[2]] == [(1, 1, True)]
    assert main([*given, str(tmp_path / "other.npz"), "--kinds", "grit", "gel", "--bonded"]) == 0
    law = gg.load_pair_table(tmp_path / "other.npz")
    assert law.kinds == ("grit", "gel") and not any(key[2] for key in law.forces)
    capsys.readouterr()
