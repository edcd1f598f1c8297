"""Sand that is poured lies as dense as before it fell, and at rest."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

import granular_gym as gg

APART = 0.01  # [m] particles in packed sand
SIDE, HOLE, PLATE = 0.1, 0.06, 0.16  # [m] of the box, of the hole in the plate over it, height of the plate
Note = Callable[..., None]


def hopper() -> gg.Scene:
    """A bed of sand on a plate with a square hole, over a box."""
    scene = gg.Scene(((0, 0, 0), (SIDE, SIDE, PLATE + 0.1)))
    law = gg.DruckerPrager(1e6, 0.3, 28.0, cohesion=0.25 * 1500.0 * 9.81 * APART)
    sand = scene.add_material(density=1500.0, friction=0.5, continuum=law)
    scene.wall_material = scene.add_material(density=1000.0, friction=0.3)
    rim, half, thick = 0.25 * (SIDE - HOLE), 0.5 * SIDE, 0.02
    for name, x in (("left", rim), ("right", SIDE - rim)):
        scene.add_tool(gg.Sdf.box((rim, half, thick)), name, sand, (x, half, PLATE - thick))
    for name, y in (("front", rim), ("back", SIDE - rim)):
        scene.add_tool(gg.Sdf.box((0.5 * HOLE, rim, thick)), name, sand, (half, y, PLATE - thick))
    scene.add_continuum(sand, (0, 0, PLATE), (SIDE, SIDE, PLATE + 0.06), spacing=2.0 * APART)
    return scene


def test_poured_sand_is_as_dense_as_before(measured: Note) -> None:
    with hopper().build(device="cpu", solver=gg.Solver(tolerance=1e-2), num_threads=1) as world:
        # of 52 runs that differed by rounding sand still fell after 3 s in 12, after 4 s in one
        world.step(0.01, 400)
        before = world.positions[0]
        world.step(0.01, 50)
        places = world.positions[0].astype(np.float64)
        assert world.stats["unsolved_count"][0] == 0 and world.stats["escaped_count"][0] == 0
    poured = places[:, 2] < PLATE - 0.05
    moved = np.median(np.linalg.norm(places - before, axis=1)[poured]) / APART
    height = 2.0 * places[poured, 2].mean() * SIDE**2 / (poured.sum() * APART**3)
    measured(poured=int(poured.sum()), height=height, moved=moved)
    assert poured.sum() > 300
    assert 0.9 < height < 1.25, (
        "of the centre of mass, over that of packed level sand; 1.67 where particles add up openings"
    )
    assert moved < 0.1, "in half a second, half of the particles"
