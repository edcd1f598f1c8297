"""Guides whose code runs as it stands."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

DOCS = Path(__file__).parents[2] / "docs"


@pytest.mark.parametrize("guide", ["your_own_scene.md"])
def test_the_code_of_a_guide_runs(guide: str, tmp_path: Path, monkeypatch: Any) -> None:
    blocks = re.findall(r"```python\n(.*?)```", (DOCS / guide).read_text(encoding="utf-8"), re.DOTALL)
    assert len(blocks) >= 5
    monkeypatch.chdir(tmp_path)
    exec(compile("\n".join(blocks), guide, "exec"), {"__name__": "guide"})
    assert (tmp_path / "sweep.png").stat().st_size > 1000
