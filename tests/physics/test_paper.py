"""mode="paper": Algorithm 1 of the paper as printed: impulses only increase, grains do not rotate."""

from __future__ import annotations

import numpy as np
import pytest

import granular_gym as gg
from testbed.beds import DT, GRAVITY, RADIUS, THREADS, column_scene, on_floor, rms_speed, space


def by_hand(velocity, normal, overlap, friction, solver, inverse_mass, dt, correction):
    """One contact, iteration by iteration.

    Each adds max(0, -w (v_n - bias)) along the normal, and -w v_t clamped to its friction cone; w = omega m_eff.
    """
    v = np.array(velocity, np.float64)
    n = np.array(normal, np.float64)
    bias = min(solver.alpha * overlap, correction) / dt if overlap > 0.0 else overlap / dt
    weight = 0.3 / inverse_mass
    for _ in range(solver.iterations):
        along = v @ n
        pressing = max(0.0, -weight * (along - bias))
        t = -weight * (v - along * n)
        size = np.linalg.norm(t)
        if size > friction * pressing:
            t *= friction * pressing / size
        v = v + inverse_mass * (pressing * n + t)
    return v


@pytest.mark.parametrize("iterations", [1, 3, 10, 40])
@pytest.mark.parametrize("friction", [0.0, 0.2, 2.0])
@pytest.mark.parametrize("overlap", [-1e-5, 1e-5, 2e-4])
def test_one_contact_by_hand(iterations: int, friction: float, overlap: float) -> None:
    """A grain that slides on the floor: the engine's iterations are those of the paper."""
    solver = gg.Solver(mode="paper", iterations=iterations, alpha=0.3)
    world = on_floor([[0, 0, RADIUS - overlap]], [[0.4, -0.3, -0.5]], friction=friction).build(solver=solver)
    world.step(DT)
    if overlap < 0.0:
        # no speculative contacts in the paper: a gap is no contact
        expected = np.array([0.4, -0.3, -0.5 - GRAVITY * DT])
    else:
        kicked = np.array([0.4, -0.3, -0.5 - GRAVITY * DT])
        inverse = 1.0 / (2500.0 * 4.0 / 3.0 * np.pi * RADIUS**3)
        expected = by_hand(kicked, (0, 0, 1), overlap, friction, solver, inverse, DT, 0.2 * RADIUS)
    assert world.velocities[0, 0] == pytest.approx(expected, abs=2e-6)


def test_impulses_are_never_taken_back() -> None:
    """Overshoot is not corrected: with a relaxation factor of 1.5 the grain rebounds with half its speed."""
    impact = 0.5 + GRAVITY * DT
    for iterations in (1, 2, 20):
        solver = gg.Solver(mode="paper", iterations=iterations, relaxation=1.5, relaxation_sum=3.0, alpha=0.0)
        with pytest.warns(gg.StabilityWarning, match="relaxation"):
            world = on_floor([[0, 0, RADIUS - 1e-6]], [[0, 0, -0.5]], friction=0.0).build(solver=solver)
        world.step(DT)
        assert world.velocities[0, 0, 2] == pytest.approx(0.5 * impact, rel=1e-5)
    # with accumulated impulses it is corrected
    solver = gg.Solver(iterations=40, nesterov=False)
    world = on_floor([[0, 0, RADIUS - 1e-6]], [[0, 0, -0.5]], friction=0.0).build(solver=solver)
    world.step(DT)
    assert abs(world.velocities[0, 0, 2]) < 1e-6


def test_pushed_rows_keep_their_momentum() -> None:
    """Three in a row, of which the first hits the others: none passes, and momentum is conserved."""
    places = [[-1.999 * RADIUS, 0, 0], [0, 0, 0], [1.999 * RADIUS, 0, 0]]
    scene = space(places, [[1.0, 0, 0], [0, 0, 0], [0.0, 0, 0]], friction=0.0)
    solver = gg.Solver(mode="paper", iterations=100, alpha=0.0)
    with scene.build(solver=solver) as world:
        world.step(DT)
        v = world.velocities[0, :, 0]
    assert v.sum() == pytest.approx(1.0, abs=1e-5)
    assert (np.diff(v) > -1e-3).all(), "they still approach"


def test_grains_do_not_turn() -> None:
    world = on_floor([[0, 0, RADIUS]], [[1.0, 0, 0]]).build(solver=gg.Solver(mode="paper"))
    world.step(DT, 50)
    assert not world.angular_velocities.any()
    # a sliding block: mu g per second
    assert world.velocities[0, 0, 0] == pytest.approx(1.0 - 0.5 * GRAVITY * 0.05, rel=0.02)


def test_runs_stably_with_safe_values() -> None:
    """A falling column comes almost to rest; no grain escapes."""
    world = column_scene(2000, 7.0).build(num_threads=THREADS, solver=gg.Solver(mode="paper", iterations=20))
    fastest = 0.0
    for _ in range(10):
        world.step(DT, 100)
        fastest = max(fastest, float(world.stats["speed_max"][0]))
    assert fastest < 3.0
    assert rms_speed(world) < 0.05
    assert world.stats["escaped_count"][0] == 0
    assert not world.stats["diverged"][0]


def test_linked_hash_gives_the_bits_of_cells() -> None:
    hashes = []
    for settings in ({}, {"broad_phase": "linked_hash"}, {"broad_phase": "linked_hash", "hash_ratio": 0.05}):
        with column_scene(600, 5.0).build(solver=gg.Solver(mode="paper", **settings)) as world:
            world.step(DT, 400)
            hashes.append(world.state_hash())
    assert len(set(hashes)) == 1
