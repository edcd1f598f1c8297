"""Mixed grain sizes: piles come to rest, and every overlapping pair is found."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import granular_gym as gg
from testbed.beds import DT, GRAVITY, RADIUS, THREADS, cup_of_two_sizes, faces, mass, mean_overlap, rms_speed, space

Note = Callable[..., None]


@pytest.mark.slow
@pytest.mark.parametrize(("ratio", "small", "large"), [(3, 1200, 40), (10, 1500, 2)])
def test_pile_of_two_sizes_rests(ratio: int, small: int, large: int, measured: Note) -> None:
    """Kinetic energy per grain below 1e-6 m g d; overlaps below .02 % on average, 1 % at most; the cup carries all."""
    world = cup_of_two_sizes(ratio, small, large).build(num_threads=THREADS)
    # small grains trickle through the pores of the large ones for a while
    world.step(DT, 2500)
    world.step(DT, 200)
    m = mass(world.radii[0])
    rest = 0.5 * rms_speed(world) ** 2 / (GRAVITY * 2.0 * RADIUS)
    carried = -world.wall_wrenches[0, :, 2].sum() / (m.sum() * GRAVITY)
    largest = float(world.stats["overlap_max"][0])
    measured(
        rms_speed=rms_speed(world),
        rest_energy_over_mgd=rest,
        mean_overlap_percent=100 * mean_overlap(world),
        largest_overlap_percent=100 * largest,
        carried_over_weight=carried,
    )
    assert rest < 1e-6
    assert mean_overlap(world) < 0.0002
    assert largest < 0.01
    assert abs(carried - 1.0) < 0.01
    assert world.stats["escaped_count"][0] == 0


def overlaps(places: np.ndarray, radii: np.ndarray, period: float | None) -> tuple[int, float]:
    """Overlapping contacts, counted at both grains, and the largest relative overlap, by brute force."""
    d = places[:, None].astype(np.float64) - places[None]
    if period is not None:
        d -= period * np.round(d / period)
    deep = radii[:, None] + radii[None] - np.linalg.norm(d, axis=2)
    np.fill_diagonal(deep, -1.0)
    return int((deep > 0).sum()), float((deep / (2.0 * np.minimum(radii[:, None], radii[None]))).max())


@pytest.mark.parametrize("boundary", ["open", "periodic"])
@pytest.mark.parametrize("ratio", [1.0, 2.0, 3.0, 10.0, 40.0])
def test_every_overlap_is_found(ratio: float, boundary: str) -> None:
    """Random grains of all sizes, against brute force over all pairs."""
    rng = np.random.default_rng(int(ratio))
    count, half = 600, 0.08 if ratio < 5 else 5.0 * RADIUS * ratio
    # mostly small grains
    radii = (RADIUS * ratio ** rng.uniform(0.0, 1.0, count) ** 2).astype(np.float32)
    places = rng.uniform(-half, half, (count, 3)).astype(np.float32)
    scene = space(places, radius=radii, half=half, boundary=faces(boundary))
    world = scene.build(num_threads=THREADS, overlaps="ignore")
    world.step(1e-5)
    expected, deepest = overlaps(places, radii.astype(np.float64), 2.0 * half if boundary == "periodic" else None)
    assert expected > 20
    assert world.stats["overlap_count"][0] == expected
    assert world.stats["overlap_max"][0] == pytest.approx(deepest, rel=1e-3)


@pytest.mark.parametrize("ratio", [1, 3, 10])
def test_both_broad_phases_give_the_same_bits(ratio: int) -> None:
    """The cell grid with reused lists, and the linked hash of the paper."""
    hashes = []
    for broad_phase in ("cells", "linked_hash"):
        scene = cup_of_two_sizes(ratio, 400, 30 if ratio < 10 else 1)
        with scene.build(num_threads=THREADS, solver=gg.Solver(broad_phase=broad_phase)) as world:
            seen = []
            for _ in range(6):
                world.step(DT, 50)
                seen.append(world.state_hash())
        hashes.append(seen)
    assert hashes[0] == hashes[1]


def test_lists_of_fast_grains_hold_for_three_substeps() -> None:
    """They need no new ones in the substeps in which no grain passes half of the skin, which is wider for them."""
    step = 0.3 * RADIUS
    scene = gg.Scene(((-1.0,) * 3, (1.0,) * 3), gravity=(0.0, 0.0, 0.0))
    grain = scene.add_material(radius=RADIUS, density=2500.0)
    places = 4.0 * RADIUS * np.stack(np.meshgrid(*[np.arange(4)] * 3), axis=-1).reshape(-1, 3) - 0.5
    scene.add_grains(grain, places, velocities=np.broadcast_to([step / DT, 0.0, 0.0], places.shape))
    with scene.build(num_threads=1) as world:
        world.step(DT, 120)
        assert int(world.stats["rebuild_count"][0]) <= 120 // 3 + 1


def test_lists_that_are_reused_give_the_same_bits() -> None:
    """The skin affects how often lists are rebuilt, not the results."""
    hashes = []
    for skin in (0.02, 0.15, 0.5):
        with cup_of_two_sizes(3, 400, 20).build(num_threads=1, solver=gg.Solver(skin=skin)) as world:
            world.step(DT, 300)
            hashes.append((world.state_hash(), int(world.stats["rebuild_count"][0])))
    assert len({h for h, _ in hashes}) == 1
    assert hashes[0][1] > hashes[2][1]
