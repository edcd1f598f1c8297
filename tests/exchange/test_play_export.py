"""`play --export`: the moments of episodes in each format."""

from __future__ import annotations

import importlib.util
import xml.etree.ElementTree as ElementTree
from pathlib import Path
from typing import Any

import pytest

import granular_gym as gg
from granular_gym import exchange
from granular_gym.__main__ import main
from granular_gym.exchange.recorders import FORMATS
from granular_gym.viewing.play import play

NEEDED = ("pyevtk", "trimesh", "skimage")
WORDS = ["play", "silo", "--policy", "random", "--no-film", "--arg", "grain_count=60", "--arg", "num_threads=1"]


def need() -> None:
    for name in NEEDED:
        pytest.importorskip(name, reason=f"{name} is not installed")


def test_every_moment_is_in_every_format(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    need()
    words = [*WORDS, "--steps", "5", "--every", "2", "--episodes", "2", "--export", ",".join(FORMATS)]
    assert main([*words, "--out", str(tmp_path)]) == 0, capsys.readouterr().err
    frames = exchange.read_lammps_dump(tmp_path / "grains.dump")
    # of each episode the moments after 0, 2 and 4 steps, and the last of all
    times = [frame.time for frame in frames]
    step = times[1] / 2.0  # type: ignore[operator]
    assert times == pytest.approx([step * k for k in (0, 2, 4, 5, 7, 9, 10)])
    moments = ElementTree.parse(tmp_path / "vtk" / "grains.pvd").getroot().findall("Collection/DataSet")
    assert [float(each.attrib["timestep"]) for each in moments] == pytest.approx(times)
    assert all((tmp_path / "vtk" / each.attrib["file"]).is_file() for each in moments)
    assert len(list((tmp_path / "gltf").iterdir())) == 7 and len(frames[0]) == 60
    assert abs(frames[3].positions - frames[1].positions).max() > 0.0, "they are not all the same"


def test_a_format_that_is_none(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*WORDS, "--export", "lammps,vtx", "--out", str(tmp_path / "new")]) == 2
    assert "export: expected one of 'vtk', 'lammps', 'gltf', got 'vtx'; did you mean 'vtk'?" in capsys.readouterr().err
    with pytest.raises(gg.ArgumentError, match="export: expected one of"):
        play("silo", tmp_path / "new", exports="vtk")
    assert not (tmp_path / "new").exists()


def test_a_missing_library_is_named_before_anything_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found: Any = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name in NEEDED else found(name))
    with pytest.raises(gg.MissingError, match=r"export 'vtk' needs pyevtk: pip install \"granular_gym\[exchange\]\""):
        play("silo", tmp_path / "new", exports=["vtk"], policy="random")
    assert not (tmp_path / "new").exists()
