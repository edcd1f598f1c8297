"""Hoppers as solids: enclosed volumes, and positions of grains."""

from __future__ import annotations

import math

import numpy as np
import pytest

from granular_gym.tasks.hoppers import Hopper, revolved


@pytest.mark.parametrize("turn", [2.0 * math.pi, math.pi, 0.5])
def test_a_turned_section_encloses_what_pappus_says(turn: float) -> None:
    profile = np.array([[0.2, 0.0], [0.25, 0.1], [0.4, 0.1], [0.35, 0.0]])
    mesh = revolved(profile, 0.3, turn)
    assert mesh.is_watertight
    # area times the path of the centroid (Pappus); the polygon is slightly smaller than the circle
    assert mesh.volume == pytest.approx(0.015 * 0.3 * turn, rel=2e-3)
    angles = np.arctan2(mesh.vertices[:, 1], mesh.vertices[:, 0])
    if turn < math.pi:
        assert angles.min() == pytest.approx(0.3) and angles.max() == pytest.approx(0.3 + turn)


@pytest.mark.parametrize("is_round", [False, True])
@pytest.mark.parametrize("slope", [0.0, 35.0, 75.0])
def test_grains_are_put_clear_of_the_walls(is_round: bool, slope: float) -> None:
    radius = 0.03
    hopper = Hopper(is_round, math.radians(slope), 0.3, 0.9, 2.8, 0.4, 0.2)
    for z in (0.94, 1.0, 1.2, hopper.shoulder + 0.3):
        x, y = hopper.layer(z, 2.2 * radius, radius).T
        away = np.hypot(x, y) if is_round else np.abs(x)
        assert (away <= hopper.reach - radius).all()
        if not is_round:
            assert (np.abs(y) <= hopper.half_depth - radius).all()
        # distance from the sloping face, which goes up and out from the lip
        s, c = math.sin(hopper.slope), math.cos(hopper.slope)
        assert ((z - hopper.lips) * c - (away - 0.5 * hopper.outlet) * s >= 0.9 * radius).all() or slope == 0.0


def test_halves_are_the_whole() -> None:
    hopper = Hopper(True, math.radians(55.0), 0.4, 0.9, 2.8, 0.33, 0.42)
    whole, halves = hopper.whole(0.05), hopper.sides(0.05)
    volume = [sum((part.grid.samples < 0.0).sum() * part.grid.spacing**3 for part in solid.parts) for solid in halves]
    both = sum((part.grid.samples < 0.0).sum() * part.grid.spacing**3 for part in whole.parts)
    assert volume[0] == pytest.approx(volume[1], rel=0.03) and sum(volume) == pytest.approx(both, rel=0.03)
    for side, solid in zip((-1.0, 1.0), halves, strict=True):
        for part in solid.parts:
            nx = part.grid.samples.shape[2]
            xs = part.grid.origin[0] + part.grid.spacing * np.arange(nx)
            inside = xs[(part.grid.samples < 0.0).any(axis=(0, 1))]
            assert (side * inside > -part.grid.spacing).all()
