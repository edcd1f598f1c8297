"""Grains with friction that walls with a mass press together, without gravity, keep their stress (check `packing`)."""

from __future__ import annotations

import numpy as np
import pytest

from validation.checks import packing


@pytest.mark.parametrize("seed", [1, pytest.param(2, marks=pytest.mark.full)])
def test_a_constant_pressure_stays(monkeypatch: pytest.MonkeyPatch, seed: int) -> None:
    monkeypatch.setattr(packing, "CALM", 2.0)
    same = {"count": 500, "dt": 1e-3, "iterations": 10, "spin": "on"}
    found = packing.measure({"mu": 0.3, "seed": seed, **same}, 1)
    assert found["settled"]
    assert np.ptp(found["pressures"][-30:]) < 0.05 * packing.PRESSURE
