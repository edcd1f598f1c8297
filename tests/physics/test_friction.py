"""Sliding, sticking, rolling and oblique impacts of single grains, against rigid-body laws.

Sources: Chung & Ooi, Granular Matter 13:643 (2011), tests 3 to 8, in their rigid limit; Coulomb's law.
Without spin a sphere is a sliding block.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import granular_gym as gg
from testbed.beds import DT, GRAVITY, RADIUS, mass, on_floor
from testbed.laws import FRICTIONS, IMPACTS, SLOPES, down_slopes, hit_floor, hit_pair, rigid_law

Note = Callable[..., None]


@pytest.mark.parametrize("friction", FRICTIONS)
def test_block_on_slopes(friction: float, measured: Note) -> None:
    """Slides iff tan th > mu, with g (sin th - mu cos th) within .5 %; where it sticks drift is under 1e-3 r in 1 s."""
    world = down_slopes(friction, spin=False)
    slides = np.tan(SLOPES) > friction
    a = GRAVITY * (np.sin(SLOPES) - friction * np.cos(SLOPES))
    v, x = world.velocities[:, 0, 0], world.positions[:, 0]
    wrong = np.abs(v[slides] / a[slides] - 1.0).max(initial=0.0)
    drift = np.abs(x[~slides, 0]).max(initial=0.0) / RADIUS
    measured(speed_relative_error=wrong, stick_drift_in_r=drift)
    assert wrong < 0.005
    assert drift < 1e-3
    assert np.abs(x[:, 2] - RADIUS).max() < 1e-3 * RADIUS


@pytest.mark.parametrize("friction", FRICTIONS)
def test_ball_on_slopes(friction: float, measured: Note) -> None:
    """Rolls iff mu > 2/7 tan th, with 5/7 g sin th; otherwise it slides and spins up by 2.5 mu g cos th / r; .5 %."""
    world = down_slopes(friction, spin=True)
    rolls = friction > 2.0 / 7.0 * np.tan(SLOPES)
    sliding = GRAVITY * (np.sin(SLOPES) - friction * np.cos(SLOPES))
    a = np.where(rolls, 5.0 / 7.0 * GRAVITY * np.sin(SLOPES), sliding)
    spin = np.where(rolls, a, 2.5 * friction * GRAVITY * np.cos(SLOPES))
    wrong = np.abs(world.velocities[:, 0, 0] / a - 1.0).max()
    wrong_spin = np.abs(world.angular_velocities[:, 0, 1] * RADIUS / spin - 1.0).max()
    measured(speed_relative_error=wrong, spin_relative_error=wrong_spin)
    assert wrong < 0.005
    assert wrong_spin < 0.005


def test_ball_on_a_tilted_tool(measured: Note) -> None:
    """The same on a plane that is a tool, under gravity straight down: Drake's 15 degrees, 1 s, relative 5.5e-4."""
    angle, radius = np.radians(15.0), 0.05
    scene = gg.Scene(((-50, -50, -50), (50, 50, 50)), boundary={"x": "open", "y": "open", "z": "open"})
    ball = scene.add_material(density=1000.0, friction=0.5, rolling_friction=0.0)
    normal = np.array([np.sin(angle), 0.0, np.cos(angle)])
    scene.add_tool(gg.Sdf.plane(normal))
    scene.add_grains(ball, [radius * normal], radius)
    world = scene.build(num_threads=1)
    world.step(DT, 1000)
    a = 5.0 / 7.0 * GRAVITY * np.sin(angle)
    wrong = abs(np.linalg.norm(world.velocities[0, 0]) / a - 1.0)
    wrong_spin = abs(world.angular_velocities[0, 0, 1] * radius / a - 1.0)
    measured(speed_relative_error=wrong, spin_relative_error=wrong_spin)
    assert max(wrong, wrong_spin) < 5.5e-4


@pytest.mark.parametrize("friction", [0.1, 0.3, 0.5])
def test_thrown_ball_slides_then_rolls(friction: float, measured: Note) -> None:
    """v goes to 5/7 v0, rolling from t = 2 v0 / (7 mu g) on, after 12 v0^2 / (49 mu g)."""
    start = 1.0
    world = on_floor([[0.0, 0.0, RADIUS]], [[start, 0.0, 0.0]], friction=friction).build(num_threads=1)
    rolling_at = 2.0 * start / (7.0 * friction * GRAVITY)
    time, way, rolled = 0.0, 0.0, None
    while time < 1.5 * rolling_at:
        world.step(DT)
        time += DT
        v, spin = world.velocities[0, 0, 0], world.angular_velocities[0, 0, 1] * RADIUS
        if rolled is None and v - spin < 1e-4:
            rolled, way = time, float(world.positions[0, 0, 0])
    expected_way = 12.0 * start**2 / (49.0 * friction * GRAVITY)
    measured(speed=v, rolled_at=rolled, expected_time=rolling_at, way=way, expected_way=expected_way)
    assert abs(v / (5.0 / 7.0 * start) - 1.0) < 0.005
    assert rolling_at <= rolled <= rolling_at + 2.0 * DT
    assert abs(way / expected_way - 1.0) < 0.02


@pytest.mark.parametrize("resistance", [0.05, 0.1, 0.2])
def test_rolling_friction(resistance: float, measured: Note) -> None:
    """A rolling ball slows by 5/7 mu_r g; on slopes it rests where tan th < mu_r."""
    start = 0.7
    world = on_floor([[0.0, 0.0, RADIUS]], [[start, 0.0, 0.0]], rolling=resistance).build(num_threads=1)
    world.set_grains(angular_velocities=[[0.0, start / RADIUS, 0.0]])
    world.step(DT, 300)
    slowed = (start - world.velocities[0, 0, 0]) / 0.3
    wrong = abs(slowed / (5.0 / 7.0 * resistance * GRAVITY) - 1.0)
    angles = np.arctan(resistance * np.array([0.5, 0.95, 1.2, 1.6]))
    on_slopes = down_slopes(0.5, True, rolling=resistance, angles=angles)
    way = on_slopes.positions[:, 0, 0] / RADIUS
    a = 5.0 / 7.0 * GRAVITY * (np.sin(angles) - resistance * np.cos(angles))
    wrong_slope = np.abs(on_slopes.velocities[2:, 0, 0] / a[2:] - 1.0).max()
    measured(deceleration_relative_error=wrong, rest_drift_in_r=way[:2].max(), slope_relative_error=wrong_slope)
    assert wrong < 0.005
    assert np.abs(way[:2]).max() < 1e-3
    assert wrong_slope < 0.005


def test_friction_is_the_same_in_all_directions(measured: Note) -> None:
    """Blocks thrown to 32 sides stop after v0^2 / (2 mu g) within 1 %, straight within .1 deg, without lifting."""
    friction, start = 0.5, 1.0
    headings = 2.0 * np.pi * np.arange(32) / 32 + 0.01
    world = on_floor([[0.0, 0.0, RADIUS]], friction=friction).build(
        env_count=32, solver=gg.Solver(spin=False), num_threads=1
    )
    speeds = start * np.stack([np.cos(headings), np.sin(headings), np.zeros(32)], axis=1)
    world.set_grains(velocities=speeds[:, None])
    lift = 0.0
    for _ in range(60):
        world.step(DT, 5)
        lift = max(lift, float(world.positions[:, 0, 2].max()) - RADIUS)
    x, y = world.positions[:, 0, 0].astype(np.float64), world.positions[:, 0, 1].astype(np.float64)
    way = np.hypot(x, y) / (start**2 / (2.0 * friction * GRAVITY))
    turn = np.degrees(np.angle(np.exp(1j * (np.arctan2(y, x) - headings))))
    measured(
        way_error=np.abs(way - 1.0).max(),
        spread=way.max() - way.min(),
        heading_deg=np.abs(turn).max(),
        lift_in_r=lift / RADIUS,
    )
    assert np.abs(way - 1.0).max() < 0.01
    assert way.max() - way.min() < 0.01
    assert np.abs(turn).max() < 0.1
    assert lift < 1e-3 * RADIUS
    assert np.abs(world.velocities).max() == 0.0


@pytest.mark.parametrize("name", list(IMPACTS))
def test_oblique_impact_on_a_floor(name: str, measured: Note) -> None:
    """Chung & Ooi 4, 5 and 6 against the rigid law in both branches, within 1 % of the largest change."""
    radius, vn, vt, spin, friction, restitution, dt = IMPACTS[name]
    v, w = hit_floor(radius, vn, vt, spin, friction, restitution, dt)
    dv, du = rigid_law(vt - radius * spin, vn, friction, restitution)
    wrong = np.abs(v[:, 0] - (vt + dv)).max() / np.abs(dv).max()
    wrong_spin = np.abs(w[:, 1] * radius - (radius * spin + du)).max() / np.abs(du).max()
    wrong_bounce = np.abs(v[:, 2] / vn - restitution).max()
    measured(speed_error=wrong, spin_error=wrong_spin, restitution_error=wrong_bounce)
    assert wrong < 0.01
    assert wrong_spin < 0.01
    assert wrong_bounce < 0.01


def test_oblique_impact_spins_as_published() -> None:
    """Chung & Ooi 4 at 40 to 80 degrees, in the sliding branch: the published curve within 3 %."""
    angles = np.radians([40.0, 50.0, 60.0, 70.0, 80.0])
    _, w = hit_floor(0.0025, 3.9 * np.cos(angles), 3.9 * np.sin(angles), 0.0, 0.092, 0.98, 1e-4)
    published = np.array([545.0, 457.0, 357.0, 246.0, 126.0])
    assert np.abs(w[:, 1] / published - 1.0).max() < 0.03


def test_equal_spheres_with_opposite_spins_keep_them() -> None:
    """Chung & Ooi 7: no slip, so spins stay and there is no tangential velocity."""
    spins = np.linspace(5.0, 25.0, 6)
    v, w = hit_pair((0.1, 0.1), 0.4, np.stack([spins, -spins], axis=1), 0.4, 0.5)
    assert np.abs(w[:, :, 2] - np.stack([spins, -spins], axis=1)).max() < 1e-5
    assert np.abs(v[:, :, 1]).max() < 1e-6


@pytest.mark.parametrize("large", [0.1, 0.3, 1.0])
def test_spinning_sphere_hits_another(large: float, measured: Note) -> None:
    """Chung & Ooi 8: changes are those of the reduced mass, within 1 %, in both branches."""
    spins = np.array([1.0, 3.0, 6.0, 9.0, 12.0, 18.0, 25.0])
    v, w = hit_pair((0.1, large), 0.2, np.stack([spins, 0.0 * spins], axis=1), 0.4, 0.5)
    m = mass([0.1, large])
    reduced = m.prod() / m.sum()
    # the first sphere's surface at the contact moves along +y
    dv, _ = rigid_law(0.1 * spins, 0.2, 0.4, 0.5)
    wrong = 0.0
    for side, sign in ((0, 1.0), (1, -1.0)):
        expected = sign * dv * reduced / m[side]
        wrong = max(wrong, np.abs(v[:, side, 1] - expected).max() / np.abs(expected).max())
        turned = (w[:, side, 2] - (spins if side == 0 else 0.0)) * (0.1, large)[side]
        wrong = max(wrong, np.abs(turned - 2.5 * dv * reduced / m[side]).max() / np.abs(2.5 * expected).max())
    measured(relative_error=wrong)
    assert wrong < 0.01
