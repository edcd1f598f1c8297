"""What the laws share: the folder of tests on the path, and a place to note what was measured."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

# pytest's importlib mode puts no test folder on the path
sys.path.insert(0, str(Path(__file__).parents[1]))


@pytest.fixture
def measured(record_property: Callable[[str, object], None]) -> Callable[..., None]:
    """Notes figures: they go into the report file, and to the screen with -rP or -s."""

    def note(**figures: float) -> None:
        for name, value in figures.items():
            record_property(name, float(value))
        print("   ".join(f"{name} {float(value):.4g}" for name, value in figures.items()))

    return note
