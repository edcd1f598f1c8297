"""docs/exchange.md: its snippets run as they stand."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[2] / "docs" / "exchange.md"
SNIPPETS = re.findall(r"^```python\n(.*?)^```", PAGE.read_text(encoding="utf-8"), re.M | re.S)


@pytest.mark.parametrize("number", range(3))
def test_a_snippet_runs(number: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("pyevtk", "trimesh", "skimage"):
        pytest.importorskip(name, reason=f"{name} is not installed")
    assert len(SNIPPETS) == 3
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GG_DEVICE", "cpu")
    exec(compile(SNIPPETS[number], str(PAGE), "exec"), {})
    assert list(tmp_path.iterdir()), "it writes something"
