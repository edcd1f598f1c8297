"""Drag in air against its formulas: Stokes (1851), Schiller and Naumann (1933), Newton's range."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import granular_gym as gg
from testbed.beds import DENSITY, DT, GRAVITY, faces, mass

Note = Callable[..., None]
AIR = gg.Air()


def flight(radii: np.ndarray, air: gg.Air, gravity: float = GRAVITY) -> gg.World:
    """Grains far apart, initially at rest, in unbounded air."""
    scene = gg.Scene(((-1e3,) * 3, (1e3,) * 3), gravity=(0, 0, -gravity), boundary=faces("open"), air=air)
    grain = scene.add_material(density=DENSITY)
    scene.add_grains(grain, np.c_[np.arange(len(radii)) * 1.0, np.zeros((len(radii), 2))], radii)
    return scene.build(num_threads=1)


def terminal_speed(radius: float, air: gg.Air) -> float:
    """Root of weight = drag, by bisection; Schiller and Naumann's exponent as published."""
    weight = mass(radius) * GRAVITY

    def drag(v: float) -> float:
        area = 0.5 * air.density * np.pi * radius**2 * v**2
        if not air.density:
            return 6.0 * np.pi * air.viscosity * radius * v
        if not air.viscosity:
            return 0.44 * area
        reynolds = 2.0 * radius * v * air.density / air.viscosity
        return max(24.0 / reynolds * (1.0 + 0.15 * reynolds**0.687), 0.44) * area

    low, high = 1e-12, 1e6
    for _ in range(200):
        middle = np.sqrt(low * high)
        low, high = (middle, high) if drag(middle) < weight else (low, middle)
    return float(low)


@pytest.mark.parametrize("dt", [1e-3, 5e-3])
@pytest.mark.parametrize("law", ["stokes", "schiller-naumann", "newton"])
@pytest.mark.filterwarnings("ignore::granular_gym.errors.StabilityWarning")
def test_terminal_speed(law: str, dt: float, measured: Note) -> None:
    """From grains of 5 micrometres, whose response time is far below dt, to pebbles: the formula within 0.5 %."""
    air = {"stokes": gg.Air(0.0), "newton": gg.Air(viscosity=0.0), "schiller-naumann": AIR}[law]
    radii = {
        "stokes": np.array([5e-6, 2e-5, 5e-5, 1e-4]),
        "schiller-naumann": np.array([5e-6, 5e-5, 1e-4, 5e-4, 2e-3]),
        "newton": np.array([1e-4, 1e-3, 5e-3]),
    }[law]
    world = flight(radii, air)
    expected = np.array([terminal_speed(r, air) for r in radii])
    # six response times of the slowest one
    world.step(dt, round(6.0 * expected.max() / GRAVITY / dt))
    speed = -world.velocities[0, :, 2].astype(np.float64)
    wrong = np.abs(speed / expected - 1.0)
    measured(relative_error=wrong.max(), slowest=speed.min(), fastest=speed.max())
    assert wrong.max() < 0.005


def test_approach_to_the_terminal_speed_is_exponential(measured: Note) -> None:
    """Stokes: v = v_t (1 - exp(-t / tau)) with tau = 2 rho r^2 / (9 eta), within the first order of dt / tau."""
    radius = 1e-4
    world = flight(np.array([radius]), gg.Air(0.0))
    tau = 2.0 * DENSITY * radius**2 / (9.0 * AIR.viscosity)
    worst = 0.0
    for step in range(1, 21):
        world.step(DT, 20)
        expected = GRAVITY * tau * (1.0 - np.exp(-step * 20 * DT / tau))
        worst = max(worst, abs(-float(world.velocities[0, 0, 2]) / expected - 1.0))
    measured(relative_error=worst, dt_over_tau=DT / tau)
    assert worst < DT / tau


def test_wind_carries_grains_and_still_air_stops_them(measured: Note) -> None:
    """Per env: they reach the velocity of the wind without overshoot for any size; spin decays by Stokes' torque."""
    radii = np.array([1e-5, 1e-4])
    world = gg.World(flight(radii, AIR, gravity=0.0)._frozen, env_count=3, num_threads=1)
    winds = np.array([[2.0, 0.0, -1.0], [0.0, 0.0, 0.0], [-30.0, 5.0, 0.0]])
    world.set_air(wind=winds)
    world.set_grains(velocities=np.ones((2, 3)), angular_velocities=np.full((2, 3), 100.0))
    tau = 2.0 * DENSITY * radii[1] ** 2 / (9.0 * AIR.viscosity)
    world.step(DT, 100)
    left = float(world.angular_velocities[0, 1, 0]) / 100.0
    expected = (1.0 + DT * 10.0 / 3.0 / tau) ** -100
    world.step(DT, 3000)
    ends = world.velocities.astype(np.float64)
    measured(spin_left=left, expected=expected, wind_missed=np.abs(ends - winds[:, None]).max())
    assert left == pytest.approx(expected, rel=1e-3)
    assert np.abs(ends - winds[:, None]).max() < 1e-3
    assert np.array_equal(world.air[:, 2:], winds.astype(np.float32))
    assert np.array_equal(world.air[:, :2], np.tile(np.float32([AIR.density, AIR.viscosity]), (3, 1)))


def test_without_air_nothing_changes() -> None:
    """Bit for bit: no air, air of no density and viscosity, and an env beside one with wind."""
    hashes = []
    for air in (None, gg.Air(0.0, 0.0, (3.0, 0.0, 0.0))):
        world = flight(np.array([1e-3, 2e-3]), air)
        world.step(DT, 50)
        hashes.append(world.state_hash())
    world = gg.World(world._frozen, env_count=2, num_threads=1)
    world.set_air(density=1.2, viscosity=1.8e-5, envs=[1])
    world.step(DT, 50)
    assert len({*hashes, world.state_hash(0)}) == 1
    assert world.state_hash(1) != world.state_hash(0)
    # a state carries its air
    with gg.World(world._frozen, num_threads=1) as other:
        other.load_state(world.save_state(env=1))
        assert np.array_equal(other.air[0], world.air[1])
        world.step(DT, 20)
        other.step(DT, 20)
        assert other.state_hash() == world.state_hash(1)
