"""Guides whose code runs as it stands."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"


# guides, and how many of their blocks, from the first on, are one program that needs nothing else: the others are parts
COMPLETE = {
    "bell.md": 1,
    "clumps.md": 1,
    "continuum.md": 1,
    "counters.md": 1,
    "exchange.md": 2,
    "pair_fields.md": 1,
    "planar.md": 2,
    "sleep.md": 1,
    "your_own_scene.md": 5,
}


def run(guide: str) -> dict[str, Any]:
    """Runs the blocks of a guide; returns the names that they leave."""
    blocks = re.findall(r"```python\n(.*?)```", (DOCS / guide).read_text(encoding="utf-8"), re.DOTALL)
    assert len(blocks) >= COMPLETE[guide]
    names: dict[str, Any] = {"__name__": "guide"}
    exec(compile("\n".join(blocks[: COMPLETE[guide]]), guide, "exec"), names)
    return names


@pytest.mark.parametrize("guide", COMPLETE)
def test_the_code_of_a_guide_runs(guide: str, tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.chdir(tmp_path)
    names = run(guide)
    if guide == "your_own_scene.md":
        assert (tmp_path / "sweep.png").stat().st_size > 1000
    if guide == "planar.md":  # all has come to rest, some of it on the shelf
        places = names["world"].positions[0]
        assert np.abs(names["world"].velocities).max() < 0.5
        assert ((np.abs(places[:, 0] - 2.0) < 0.5) & (places[:, 1] > 1.1)).sum() >= 5


def test_the_scene_of_the_readme_runs_where_there_are_no_files(tmp_path: Path, monkeypatch: Any) -> None:
    section = (ROOT / "README.md").read_text(encoding="utf-8").partition("## A scene of your own\n")[2]
    [block] = re.findall(r"```python\n(.*?)```", section.partition("\n## ")[0], re.DOTALL)
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {"__name__": "readme"}
    exec(compile(block, "README.md", "exec"), names)
    world = names["world"]
    assert (world.wrenches.shape, world.depth("sky").shape) == ((4, 1, 6), (4, 64, 64))
    assert world.positions.shape[1] > 10_000 and len(world.contacts(env=0).forces) > 0
    world.close()
