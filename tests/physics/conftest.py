"""A fixture that records measured figures."""

from __future__ import annotations

from collections.abc import Callable

import pytest


@pytest.fixture
def measured(record_property: Callable[[str, object], None]) -> Callable[..., None]:
    """Records figures: to the report file, and to the screen with -rP or -s."""

    def note(**figures: float) -> None:
        for name, value in figures.items():
            record_property(name, float(value))
        print("   ".join(f"{name} {float(value):.4g}" for name, value in figures.items()))

    return note
