"""Grains in flight and collision: fall, rebound, restitution, momentum, angular momentum, independence of order."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from testbed.beds import DT, GRAVITY, RADIUS, mass, on_floor, space
from testbed.laws import angular_momentum, gas

Note = Callable[..., None]


@pytest.mark.parametrize("gravity", [(0.0, 0.0, -9.81), (3.0, -4.0, -8.0)])
def test_free_fall_is_exact(gravity: tuple[float, ...], measured: Note) -> None:
    """v = g t to 1e-6; x = g t (t + dt) / 2 to the rounding of positions, half a unit in the last place a step."""
    pull = np.array(gravity)
    world = space([[0.0, 0.0, 0.0]], gravity=gravity, half=1e3).build(num_threads=1)
    worst, steps = 0.0, 0
    for count in (1, 9, 90, 400, 500, 1000):
        world.step(DT, count)
        steps += count
        time = steps * DT
        wrong = np.abs(world.velocities[0, 0] - pull * time).max() / np.abs(pull * time).max()
        worst = max(worst, wrong)
        place = 0.5 * pull * time * (time + DT)
        size = np.abs(place).max()
        rounding = 0.5 * steps * np.spacing(np.float32(size))
        assert np.abs(world.positions[0, 0] - place).max() <= rounding + 1e-6 * size
    measured(velocity_relative_error=worst)
    assert worst < 1e-6


@pytest.mark.parametrize("dt", [1e-3, 2e-3])
@pytest.mark.parametrize("restitution", [0.5, 0.7, 0.9, 1.0])
def test_bounce_heights(restitution: float, dt: float, measured: Note) -> None:
    """The k-th bounce rises to h0 e^(2k), within 2 %."""
    drop = 0.5
    world = on_floor([[0.0, 0.0, RADIUS + drop]], restitution=restitution).build(num_threads=1)
    heights = []
    for _ in range(round(3.0 / dt)):
        world.step(dt)
        heights.append(float(world.positions[0, 0, 2]) - RADIUS)
    h = np.array(heights)
    peaks = h[1:-1][(h[1:-1] > h[:-2]) & (h[1:-1] >= h[2:])]
    expected = drop * restitution ** (2.0 * np.arange(1, len(peaks) + 1))
    # bounces of millimetres are sampled by too few steps to have a peak
    seen = expected > 2e-3
    assert seen.sum() >= 3
    wrong = np.abs(peaks[seen] / expected[seen] - 1.0)
    measured(bounces=seen.sum(), height_relative_error=wrong.max())
    assert wrong.max() < 0.02
    assert h.min() > -1e-3 * RADIUS


@pytest.mark.parametrize("restitution", [0.2, 0.6, 0.9, 1.0])
@pytest.mark.parametrize("ratio", [1, 3])
def test_speed_after_an_impact_of_two_grains(restitution: float, ratio: int, measured: Note) -> None:
    """Head-on, mass 1:1 and 1:27: separation speed over approach speed is e within 0.01, momentum is conserved."""
    wrong, drift = 0.0, 0.0
    weights = mass([RADIUS, RADIUS * ratio])
    for apart in np.linspace(0.021, 0.0235, 7):
        for dt, speed in ((1e-3, 1.0), (1e-4, 5.0), (2e-3, 0.6)):
            scene = space(
                [[-apart, 0, 0], [apart, 0, 0]],
                [[speed, 0, 0], [-speed, 0, 0]],
                radius=[RADIUS, RADIUS * ratio],
                restitution=restitution,
            )
            world = scene.build(num_threads=1)
            world.step(dt, int(0.06 / speed / dt))
            v = world.velocities[0].astype(np.float64)
            wrong = max(wrong, abs((v[1, 0] - v[0, 0]) / (2.0 * speed) - restitution))
            momentum = weights @ v[:, 0] - speed * (weights[0] - weights[1])
            drift = max(drift, abs(momentum) / (speed * weights.sum()))
    measured(restitution_error=wrong, momentum_drift=drift)
    assert wrong < 0.01
    assert drift < 1e-6


@pytest.mark.parametrize("restitution", [0.2, 0.6, 0.9])
def test_speed_after_an_impact_on_the_floor(restitution: float, measured: Note) -> None:
    heights = 0.0101 + 1e-4 * np.arange(16)
    world = on_floor(
        np.c_[0.1 * np.arange(16), np.zeros(16), heights], restitution=restitution, gravity=(0, 0, 0)
    ).build()
    world.set_grains(velocities=np.tile([0.0, 0.0, -1.3], (16, 1)))
    world.step(DT, 20)
    wrong = np.abs(world.velocities[0, :, 2] / 1.3 - restitution)
    measured(restitution_error=wrong.max())
    assert wrong.max() < 0.01


@pytest.mark.parametrize("rolling", [0.0, 0.3])
@pytest.mark.parametrize("restitution", [0.5, 1.0])
def test_momentum_of_a_gas(restitution: float, rolling: float, measured: Note) -> None:
    """1,000 colliding spheres in periodic space: momentum drifts by less than 1e-5 of the sum of its sizes."""
    world = gas(1000, 0.5, restitution, rolling=rolling)
    before = world.velocities[0].astype(np.float64)
    world.step(DT, 500)
    after = world.velocities[0].astype(np.float64)
    assert np.abs(after - before).max() > 0.1, "nothing collided"
    drift = np.abs((after - before).sum(axis=0)).max() / np.linalg.norm(before, axis=1).sum()
    measured(momentum_drift=drift)
    assert drift < 1e-5


def test_a_smooth_elastic_gas_keeps_its_energy(measured: Note) -> None:
    """Dilute, so that collisions are of pairs: simultaneous collisions of three grains are not elastic."""
    world = gas(1000, 0.0, 1.0, half=0.24)
    before = (world.velocities.astype(np.float64) ** 2).sum()
    world.step(DT, 500)
    share = (world.velocities.astype(np.float64) ** 2).sum() / before
    measured(energy_kept=share)
    assert 0.999 < share < 1.00001


@pytest.mark.parametrize(("mode", "scatter"), [("jacobi", 0.01), ("gauss_seidel", 0.04)])
def test_order_of_grains_does_not_matter(mode: str, scatter: float, measured: Note) -> None:
    """The same gas with its grains in another order has the same bulk means.

    In a Gauss-Seidel sweep a contact sees what those before it changed: another order is another history, and the means
    of one history of 1,000 grains scatter.
    """
    shuffled = np.random.default_rng(1).permutation(1000)
    worlds = [gas(1000, 0.5, 0.5, mode=mode), gas(1000, 0.5, 0.5, shuffled, mode=mode)]
    means = []
    for world in worlds:
        world.step(DT, 500)
        v, w = world.velocities[0].astype(np.float64), world.angular_velocities[0].astype(np.float64)
        means.append([(v**2).sum(1).mean(), (w**2).sum(1).mean(), np.abs(v).mean(), np.linalg.norm(v, axis=1).mean()])
    wrong = np.abs(np.array(means[0]) / np.array(means[1]) - 1.0).max()
    measured(means_relative_difference=wrong)
    assert wrong < scatter


@pytest.mark.parametrize("rolling", [0.0, 0.3])
@pytest.mark.parametrize("friction", [0.0, 0.4])
def test_angular_momentum_of_an_off_centre_pair(friction: float, rolling: float, measured: Note) -> None:
    """Oblique collisions of spinning grains of different sizes conserve angular momentum."""
    radii = np.array([RADIUS, 1.5 * RADIUS])
    scene = space(
        [[-0.013, 0.0, 0.0], [0.013, 0.0, 0.0]], radius=radii, friction=friction, restitution=0.5, rolling=rolling
    )
    sides = np.linspace(-0.6, 0.6, 9)
    world = scene.build(env_count=len(sides), num_threads=1)
    speeds = np.zeros((len(sides), 2, 3))
    speeds[:, 0, 0], speeds[:, 1, 0], speeds[:, 0, 1], speeds[:, 1, 2] = 0.5, -0.5, sides, 0.1
    spins = np.zeros((len(sides), 2, 3))
    spins[:, 0], spins[:, 1] = (10.0, -60.0, 100.0), (0.0, 30.0, 20.0)
    world.set_grains(velocities=speeds, angular_velocities=spins)
    before = angular_momentum(world, radii)
    world.step(DT, 30)
    after = angular_momentum(world, radii)
    assert (np.abs(world.velocities - speeds).max(axis=(1, 2)) > 0.05).sum() >= 5, "they missed"
    drift = np.abs(after - before).max() / np.abs(before).max()
    measured(angular_momentum_drift=drift)
    # rolling friction does not affect where in a substep an impact occurs
    assert drift < (1e-5 if rolling == 0.0 else 5e-3)


def test_fall_does_not_depend_on_size_or_material() -> None:
    world = space([[0, 0, 0], [1, 0, 0]], radius=[0.001, 0.05], gravity=(0, 0, -GRAVITY)).build()
    world.step(DT, 100)
    assert np.array_equal(world.velocities[0, 0], world.velocities[0, 1])
