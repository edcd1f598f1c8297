"""Bodies among grains: a large one rises in a shaken bed, balls of any mass come to rest on one."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import granular_gym as gg
from testbed.beds import DENSITY, DIAMETER, DT, GRAVITY, RADIUS, mass
from testbed.dynamic_tools import settled

Note = Callable[..., None]
#: half the width of the shaken box, radius of its grains [m]
HALF, GRAIN = 0.03, 0.004
#: corners of a cube that a ball of radius 1 holds
CORNERS = np.stack(np.meshgrid(*[(-1.0, 1.0)] * 3), axis=-1).reshape(-1, 3) / np.sqrt(3.0)
BALLS = {
    "one sphere": gg.Clump([(0.0, 0.0, 0.0)], [3.0 * RADIUS]),
    "nine spheres": gg.Clump([(0.0, 0.0, 0.0), *(1.5 * RADIUS * CORNERS)], [1.8 * RADIUS] + [1.5 * RADIUS] * 8),
}


def shaken(radius: float, places: list[tuple[float, float]], seed: int) -> np.ndarray:
    """Bodies on the floor below 350 spheres of their density, shaken for 6 s at 10 Hz with 3 g up and down.

    In the frame of a box that moves up and down the walls rest and gravity swings.

    Args:
        radius: of the bodies [m].
        places: theirs, x and y [m].
        seed: of the bed.

    Returns:
        The share of the grains that are lower than each body, once the bed has settled and at the end (2, bodies).
    """
    scene = gg.Scene(((-HALF, -HALF, 0.0), (HALF, HALF, 0.3)))
    sand = scene.add_material(density=DENSITY, radius=GRAIN, friction=0.5, rolling_friction=0.0)
    ball = gg.Clump([(0.0, 0.0, 0.0)], [radius])
    bodies = [scene.add_body(ball, DENSITY * ball.volume, pose=(x, y, radius, 1, 0, 0, 0)) for x, y in places]
    scene.fill_box(sand, (-HALF, -HALF, 2.0 * radius), (HALF, HALF, 0.25), count=350, seed=seed)
    dt, swings, shares = 2e-3, np.sin(2.0 * np.pi * np.arange(50) / 50), []
    with scene.build(num_threads=1) as world:
        grains = ~np.isin(world.clump_of_grain, bodies)
        world.step(dt, 300)
        for turns in (0, 60):
            for swing in np.tile(swings, turns):
                world.set_gravity((0.0, 0.0, -GRAVITY * (1.0 + 3.0 * swing)))
                world.step(dt, 1)
            lower = world.positions[0][grains, 2] < world.clump_poses[0, bodies, 2][:, None]
            shares.append(lower.mean(axis=1))
    return np.array(shares)


@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.full) for seed in (1, 2))])
def test_a_brazil_nut_rises(seed: int, measured: Note) -> None:
    """A ball three times as large as the grains rises from the floor of a shaken bed; bodies of their size do not."""
    nut = shaken(3.0 * GRAIN, [(0.0, 0.0)], seed)
    same = shaken(GRAIN, [(0.0, 0.0), *((x, y) for x in (-0.01, 0.01) for y in (-0.01, 0.01))], seed)
    measured(begun=nut[0, 0], nut=nut[1, 0], same_begun=same[0].max(), same=same[1].max())
    assert nut[0, 0] < 0.25
    assert nut[1, 0] > 0.5
    assert same[1].max() < 0.5


@pytest.mark.parametrize(
    "ratio", [0.01, pytest.param(0.1, marks=pytest.mark.full), 1.0, pytest.param(10.0, marks=pytest.mark.full), 100.0]
)
@pytest.mark.parametrize("shape", BALLS)
def test_a_ball_of_any_mass_rests_on_a_bed(shape: str, ratio: float, measured: Note) -> None:
    """A hundredth to a hundred times as heavy as a grain: it falls onto the bed, and all comes to rest."""
    ball, (positions, radii) = BALLS[shape], settled(8, 5)
    width, top = 8 * DIAMETER, float((positions[:, 2] + radii).max())
    scene = gg.Scene(((0.0, 0.0, 0.0), (width, width, 0.5)))
    sand = scene.add_material(density=DENSITY, friction=0.5, rolling_friction=0.1)
    scene.add_grains(sand, positions, radii)
    place = (0.5 * width, 0.5 * width, top + 0.025, 1, 0, 0, 0)
    index = scene.add_body(ball, ratio * float(mass()), pose=place)
    with scene.build(num_threads=1) as world:
        world.settle_impulses(DT)
        energies = []
        for _ in range(100):
            world.step(DT, 10)
            energies.append(float(world.stats["kinetic_energy"][0]))
        before = world.clump_poses[0, index, :3]
        world.step(DT, 500)
        after = world.clump_poses[0, index, :3]
        weight = float(world.clump_masses[0].sum()) * GRAVITY
        carried = -float(world.wall_wrenches[0, :, 2].sum()) / weight
        overlap = float(world.stats["overlap_max"][0])
    moved, energy = float(np.abs(after - before).max()), energies[-1] / max(energies)
    measured(energy=energy, moved=moved, height=after[2], top=top, carried=carried, overlap=overlap)
    assert energy < 1e-6
    assert moved < 1e-3 * RADIUS
    assert after[2] > 0.5 * top  # on the bed, or a little sunk in
    assert carried == pytest.approx(1.0, abs=1e-4)
    assert overlap < 0.01
