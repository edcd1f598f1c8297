"""The golden hashes of the CPU hold on a GPU."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "determinism"))

from golden_scenes import GOLDEN, SCENES, drive


@pytest.mark.parametrize("name", SCENES)
def test_golden(name: str) -> None:
    """200 substeps of each golden scene."""
    with SCENES[name]().build(device="cuda") as world:
        assert drive(world)[-1] == int(json.loads(GOLDEN.read_text())[name], 16)
