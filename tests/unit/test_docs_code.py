"""Guides whose code runs as it stands."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"


@pytest.mark.parametrize("guide", ["your_own_scene.md"])
def test_the_code_of_a_guide_runs(guide: str, tmp_path: Path, monkeypatch: Any) -> None:
    blocks = re.findall(r"```python\n(.*?)```", (DOCS / guide).read_text(encoding="utf-8"), re.DOTALL)
    assert len(blocks) >= 5
    monkeypatch.chdir(tmp_path)
    exec(compile("\n".join(blocks), guide, "exec"), {"__name__": "guide"})
    assert (tmp_path / "sweep.png").stat().st_size > 1000


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
