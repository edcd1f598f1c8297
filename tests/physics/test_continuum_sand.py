"""Sand that was apart, falls and lies again: denser than it fell, and at rest."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

import granular_gym as gg

APART = 0.01  # [m] particles in packed sand
SIDE = 0.1  # [m] of the box
Note = Callable[..., None]


def rain(count: int) -> gg.Scene:
    """Particles 1.6 times as far apart as in packed sand over a box, 7 x 7 in a layer."""
    scene = gg.Scene(((0, 0, 0), (SIDE, SIDE, 0.1 + 0.016 * count + 0.05)))
    law = gg.DruckerPrager(1e6, 0.3, 28.0, cohesion=0.25 * 1500.0 * 9.81 * APART)
    sand = scene.add_material(density=1500.0, friction=0.5, continuum=law)
    scene.wall_material = scene.add_material(density=1000.0, friction=0.3)
    draw, step = np.random.default_rng(0), 1.6 * APART
    places = step * np.stack(np.meshgrid(*(np.arange(n) for n in (7, 7, count)), indexing="ij"), -1).reshape(-1, 3)
    places += 0.3 * step * (draw.random(places.shape) - 0.5) + (0.5 * SIDE - 3 * step, 0.5 * SIDE - 3 * step, 0.1)
    places[:, :2] = np.clip(places[:, :2], 0.5 * APART, SIDE - 0.5 * APART)
    scene.add_continuum(sand, points=places, spacing=2.0 * APART)
    return scene


def test_sand_that_rained_closes(measured: Note) -> None:
    """A density of .24 before the fall, and open as far. It stays looser than packed sand."""
    with rain(12).build(device="cpu", solver=gg.Solver(tolerance=1e-2), num_threads=1) as world:
        world.set_continuum(1.6 * np.eye(3)[None].repeat(world.grain_count, axis=0))
        world.step(0.01, 150)
        before = world.positions[0]
        world.step(0.01, 50)
        places = world.positions[0].astype(np.float64)
        moved = np.linalg.norm(places - before, axis=1).mean() / APART
        assert world.stats["unsolved_count"][0] == 0 and world.stats["escaped_count"][0] == 0
    lower, upper = np.array([0.02, 0.02, 0.01]), np.array([0.08, 0.08, 0.05])
    inside = int(((places > lower) & (places < upper)).all(axis=1).sum())
    density = inside * APART**3 / np.prod(upper - lower)
    height = 2.0 * places[:, 2].mean() * SIDE**2 / (len(places) * APART**3)
    measured(density=density, height=height, moved=moved)
    assert 0.5 < density < 1.05
    assert 0.95 < height < 2.1, "over that of packed sand; 3 where particles keep the volume of their fall"
    assert moved < 0.1, "in half a second"
