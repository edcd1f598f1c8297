"""The golden hashes of the CPU hold on a GPU."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "determinism"))

from golden_scenes import CASES, GOLDEN, build, drive


@pytest.mark.parametrize("name", CASES)
def test_golden(name: str) -> None:
    """200 substeps of each golden scene."""
    with build(name, device="cuda") as world:
        assert drive(world)[-1] == int(json.loads(GOLDEN.read_text())[name], 16)
