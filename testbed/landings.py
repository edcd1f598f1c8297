"""landings.py: loose lattices that fall on a floor, periodic sideways: the beds of docs/stability.md."""

from __future__ import annotations

from typing import Any

import numpy as np

import granular_gym as gg
from testbed.beds import DENSITY, RADIUS

#: side of the periodic square [d] and grains of a layer
SIDE, PER_LAYER = 7.0, 50


def loose_bed(
    layers: int,
    seed: int = 1,
    radius: float = RADIUS,
    side: float = SIDE,
    per_layer: int = PER_LAYER,
    heavy: tuple[float, float] = (0.0, 1.0),
    stir: float = 0.0,
    **material: Any,
) -> gg.Scene:
    """A loose lattice about to fall on a floor.

    Args:
        layers: depth; the number of grains is layers x per_layer.
        seed: of the noise of the positions.
        radius: of the grains [m].
        side: of the periodic square [d].
        per_layer: grains of a layer.
        heavy: share of the grains, the uppermost, that is denser, and how many times.
        stir: root mean square of a component of the initial velocities [m/s].
        material: see `Scene.add_material`; friction .5 and restitution .5 unless given.
    """
    diameter = 2.0 * radius
    half = 0.5 * side * diameter
    boundary = {"x": "periodic", "y": "periodic", "z": ("wall", "open")}
    scene = gg.Scene(((-half, -half, 0.0), (half, half, 4.0 * layers * diameter)), boundary=boundary)
    kind = {"radius": radius, "density": DENSITY, "friction": 0.5, "restitution": 0.5, **material}
    grain = scene.add_material(**kind)
    across = int(side / 1.1)
    k = np.arange(layers * per_layer)
    positions = np.stack([k % across, k // across % across, k // across**2], axis=1) * (side / across)
    positions[:, :2] += 0.5 * side / across - 0.5 * side
    positions[:, 2] += 0.6
    rng = np.random.default_rng(seed)
    positions += rng.uniform(-0.04, 0.04, positions.shape)
    velocities = stir * rng.normal(0.0, 1.0, positions.shape)
    share, ratio = heavy
    below = round((1.0 - share) * len(k))
    scene.add_grains(grain, positions[:below] * diameter, radius, velocities[:below])
    if below < len(k):
        dense = scene.add_material(**{**kind, "density": ratio * kind["density"], "name": "dense"})
        scene.add_grains(dense, positions[below:] * diameter, radius, velocities[below:])
    return scene
