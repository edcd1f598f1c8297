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


def solver_of(law: str) -> gg.Solver:
    """A solver for clumps; of Bell's law both integrators."""
    if law == "gauss_seidel":
        return gg.Solver()
    adaptive = {"integrator": law, "tolerance": 1e-6} if law == "rkf45" else {}
    return gg.Solver(mode="bell", bell=gg.Bell(sliding=1e-3, young=1e5), **adaptive)


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


@pytest.mark.parametrize("law", ["gauss_seidel", "bell", "rkf45"])
def test_drag_slows_the_spin_of_clumps(law: str, measured: Note) -> None:
    """About the axis of a pair by Stokes' torque on its spheres, across it also by the drag of each where it is; lone
    spheres beside clumps as in a world of their own."""
    radius, offset, viscosity, steps = 1e-3, 1e-3, 5e-3, 200
    scene = gg.Scene(((-1.0,) * 3, (1.0,) * 3), gravity=(0, 0, 0), boundary=faces("open"), air=gg.Air(0.0, viscosity))
    pair = gg.Clump([(-offset, 0.0, 0.0), (offset, 0.0, 0.0)], radius)
    scene.add_grains(scene.add_material(density=DENSITY, name="ball"), [(0.0, 0.0, 0.1)], radius)
    clump = scene.add_material(density=DENSITY, shape=pair)
    for axis in range(2):
        spin = [(100.0 * (axis == 0), 100.0 * (axis == 1), 0.0)]
        upright = (1.0, 0.0, 0.0, 0.0)
        scene.add_grains(clump, [(0.1 * axis, 0.0, 0.0)], pair.radius, orientations=upright, angular_velocities=spin)
    world = scene.build(num_threads=1, solver=solver_of(law))
    velocities = world.clump_velocities
    velocities[0, 0, 3] = 100.0
    world.set_clumps(velocities=velocities)
    world.step(1e-4, steps)
    turning = 8.0 * np.pi * viscosity * radius**3
    across = 2.0 * (turning + 6.0 * np.pi * viscosity * radius * offset**2)
    inertia = DENSITY * pair.inertia
    rates = turning / (0.4 * mass(radius) * radius**2), 2.0 * turning / inertia[0, 0], across / inertia[1, 1]
    left = [world.clump_velocities[0, k, 3 + (k == 2)] / 100.0 for k in range(3)]
    expected = np.exp(-1e-4 * steps * np.array(rates))
    measured(**{f"left_{k}": value for k, value in enumerate(left)})
    assert left == pytest.approx(expected, rel=5e-3)


@pytest.mark.parametrize("law", ["gauss_seidel", "bell", "rkf45"])
def test_wind_turns_a_clump_whose_spheres_differ(law: str) -> None:
    """From rest, as the torque about the centre of mass of what pushes each of its spheres.

    The wrench of the caller stays."""
    wind, viscosity = np.array([0.0, 0.3, 0.0]), 1e-3
    uneven = gg.Clump([(0.0, 0.0, 0.0), (3e-3, 0.0, 0.0)], [2e-3, 1e-3])
    air = gg.Air(0.0, viscosity, wind)
    scene = gg.Scene(((-1.0,) * 3, (1.0,) * 3), gravity=(0, 0, 0), boundary=faces("open"), air=air)
    scene.add_grains(
        scene.add_material(density=DENSITY, shape=uneven), [(0.0,) * 3], uneven.radius, orientations=(1, 0, 0, 0)
    )
    world = scene.build(num_threads=1, solver=solver_of(law))
    world.step(1e-4, 10)
    pushes = 6.0 * np.pi * viscosity * uneven.radii[:, None] * wind
    torque = np.cross(uneven.centers, pushes).sum(axis=0)
    assert world.clump_velocities[0, 0, 5] == pytest.approx(
        torque[2] / (DENSITY * uneven.inertia[2, 2]) * 1e-3, rel=0.01
    )
    assert not world.clump_wrenches.any()


def test_drag_of_clumps_is_stable_at_any_viscosity() -> None:
    scene = gg.Scene(
        ((-1.0,) * 3, (1.0,) * 3), gravity=(0, 0, 0), boundary=faces("open"), air=gg.Air(0.0, 1e5, (1, 2, 3))
    )
    sand = gg.Clump.sand(1, radius=1e-3)
    scene.add_grains(
        scene.add_material(density=DENSITY, shape=sand), [(0.0,) * 3], 1e-3, angular_velocities=[(50, 60, 70)]
    )
    world = scene.build(num_threads=1)
    world.step(1e-3, 20)
    assert np.abs(world.clump_velocities[0, 0] - [1, 2, 3, 0, 0, 0]).max() < 1e-3


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
