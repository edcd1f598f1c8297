"""Restitution by speed and coefficient, and the documented deviations for several simultaneous contacts."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import granular_gym as gg
from testbed.beds import DENSITY, DIAMETER, DT, RADIUS, faces, random_apart, space

Note = Callable[..., None]
SPEEDS = np.array([0.06, 0.2, 1.0, 2.4])  # [m/s]; above `bounce_speed`, below half a radius per substep


@pytest.mark.parametrize("restitution", [0.1, 0.35, 0.6, 0.85, 1.0])
@pytest.mark.parametrize("against", ["wall", "grain", "large grain"])
def test_restitution_at_all_speeds(against: str, restitution: float, measured: Note) -> None:
    """Ratio of speeds after and before a head-on impact, at several times within its substep: e within 1e-3."""
    starts = np.linspace(0.0, 1.0, 7, endpoint=False)
    speed, start = (a.ravel() for a in np.meshgrid(SPEEDS, starts))
    boundary = {**faces("open"), "x": ("open", "wall")} if against == "wall" else faces("open")
    scene = gg.Scene(((-1, -1, -1), (0, 1, 1)), gravity=(0, 0, 0), boundary=boundary)
    grain = scene.add_material(density=DENSITY, restitution=restitution)
    other = {"wall": 0.0, "grain": 1.0, "large grain": 4.0}[against] * RADIUS
    places = [[-0.3, 0, 0]] + ([[-0.2, 0, 0]] if other else [])
    scene.add_grains(grain, places, [RADIUS, other][: len(places)])
    world = scene.build(env_count=len(speed), num_threads=1)
    x, v = world.positions.astype(np.float64), np.zeros((len(speed), len(places), 3))
    # the surface is reached after 3 substeps and a part of one
    reached = -0.2 - other if other else 0.0
    x[:, 0, 0] = reached - RADIUS - (3.0 + start) * DT * speed
    v[:, 0, 0] = speed
    world.set_grains(positions=x, velocities=v)
    world.step(DT, 8)
    after = world.velocities[:, :, 0].astype(np.float64)
    apart = (after[:, 1] if other else 0.0) - after[:, 0]
    wrong = np.abs(apart / speed - restitution)
    measured(restitution_error=wrong.max())
    assert wrong.max() < 1e-3


def test_slow_impacts_do_not_bounce() -> None:
    """Below `bounce_speed` contacts close without a rebound, so that beds come to rest."""
    for speed, expected in ((0.04, 0.0), (0.06, 0.06)):
        world = space([[0, 0, 0], [2.02 * RADIUS, 0, 0]], [[speed, 0, 0], [0, 0, 0]], restitution=1.0).build()
        world.step(DT, 20)
        assert np.diff(world.velocities[0, :, 0])[0] == pytest.approx(expected, abs=2e-4)


@pytest.mark.parametrize("restitution", [0.5, 1.0])
@pytest.mark.parametrize("iterations", [10, 40])
def test_a_row_of_balls_takes_the_blow_at_once(restitution: float, iterations: int, measured: Note) -> None:
    """Newton's impact law for simultaneous contacts: a ball that hits a touching row rebounds, the row moves as one.

    (In a real row the impulse travels from contact to contact, which rigid bodies do not model.) Momentum is conserved.
    A converged solution gains no energy; 10 iterations leave errors of 3 % of the speed, 6 % of the energy.
    """
    x = [[-DIAMETER - 0.003, 0, 0], [0, 0, 0], [DIAMETER, 0, 0], [2 * DIAMETER, 0, 0]]
    scene = space(x, [[1.0, 0, 0], [0, 0, 0], [0, 0, 0], [0, 0, 0]], restitution=restitution)
    world = scene.build(num_threads=1, solver=gg.Solver(iterations=iterations))
    world.step(DT, 30)
    v = world.velocities[0, :, 0].astype(np.float64)
    expected = np.array([1.0 - 0.75 * (1.0 + restitution), *[0.25 * (1.0 + restitution)] * 3])
    measured(largest_difference=np.abs(v - expected).max(), energy=(v**2).sum())
    # each iteration adds to both sides of three contacts, in single precision
    assert v.sum() == pytest.approx(1.0, abs=iterations * 2 * 3 * 2.0**-24)
    assert np.abs(v - expected).max() < (0.04 if iterations == 10 else 2e-3)
    assert (v**2).sum() < (1.07 if iterations == 10 else 1.0)


def test_a_dense_elastic_gas_loses_little_and_gains_nothing(measured: Note) -> None:
    """At 4 % solid, .5 s: simultaneous contacts of several grains dissipate energy, less with shorter substeps."""
    left = []
    for dt in (1e-3, 2.5e-4):
        scene = gg.Scene(((-0.12,) * 3, (0.12,) * 3), gravity=(0, 0, 0), boundary=faces("periodic"))
        grain = scene.add_material(density=DENSITY, friction=0.0, restitution=1.0, rolling_friction=0.0)
        rng = np.random.default_rng(4)
        scene.add_grains(grain, random_apart(rng, 1000, 0.12), RADIUS, rng.normal(0.0, 0.4, (1000, 3)))
        with scene.build(num_threads=1) as world:
            before = (world.velocities.astype(np.float64) ** 2).sum()
            world.step(dt, round(0.5 / dt))
            left.append((world.velocities.astype(np.float64) ** 2).sum() / before)
    measured(energy_left=left[0], with_a_quarter_of_dt=left[1])
    assert 0.96 < left[0] < left[1] < 1.0
    assert left[1] > 0.985
