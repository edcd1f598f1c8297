"""The golden hashes of the CPU hold on a GPU."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "determinism"))

from golden_scenes import CASES, GOLDEN, build, drive

#: which show that golden hashes hold; that a GPU has the bits of a CPU in other scenes too, other tests do
USUAL = {"heap_with_tool", "mixed_sizes", "column_jacobi"}


@pytest.mark.parametrize(
    "name", [name if name in USUAL else pytest.param(name, marks=pytest.mark.full) for name in CASES]
)
def test_golden(name: str) -> None:
    """200 substeps of each golden scene."""
    with build(name, device="cuda") as world:
        assert drive(world)[-1] == int(json.loads(GOLDEN.read_text())[name], 16)
