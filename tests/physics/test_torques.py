"""Rolling and twisting resistance act between the two sides of a contact, never against the world's frame.

A free pair is held together by cohesion, so that sliding, rolling and twisting act for any time.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import granular_gym as gg
from testbed.beds import DENSITY, DT, GRAVITY, RADIUS, column_scene, faces, mass, on_floor

Note = Callable[..., None]
FORCE = 0.5  # force of cohesion [N]: several hundred weights of a grain


def free_pair(
    radii: np.ndarray, *, friction: float = 0.4, rolling: float = 0.1, twisting: float | None = 0.02
) -> gg.World:
    """Two touching grains in free space, at (0, 0, 0) and along x, that attract each other by FORCE."""
    scene = gg.Scene(((-1.0,) * 3, (1.0,) * 3), gravity=(0, 0, 0), boundary=faces("open"))
    grain = scene.add_material(
        density=DENSITY,
        friction=friction,
        rolling_friction=rolling,
        twisting_friction=twisting,
        cohesion=gg.cohesion_of_force(FORCE, *radii),
        cohesion_range=0.1 * RADIUS,
    )
    scene.add_grains(grain, [[0, 0, 0], [float(radii.sum()), 0, 0]], radii)
    return scene.build(num_threads=1)


def momenta(world: gg.World, radii: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Linear momentum, and angular momentum about the origin."""
    m = mass(radii)[:, None]
    x, v, w = (a[0].astype(np.float64) for a in (world.positions, world.velocities, world.angular_velocities))
    return (m * v).sum(axis=0), (m * np.cross(x, v) + 0.4 * m * radii[:, None] ** 2 * w).sum(axis=0)


@pytest.mark.parametrize("dt", [1e-3, 5e-3])
@pytest.mark.parametrize("twisting", [None, 0.02, 0.3])
@pytest.mark.parametrize("ratio", [1.0, 2.0])
def test_free_pair_keeps_its_momenta(ratio: float, twisting: float | None, dt: float, measured: Note) -> None:
    """Sliding, rolling and twisting until the pair rotates as one: momenta are conserved, relative spin vanishes."""
    radii = np.array([RADIUS, RADIUS * ratio])
    world = free_pair(radii, twisting=twisting)
    world.set_grains(
        velocities=[[0.1, 0.0, 0.0], [0.1, 0.02, -0.03]], angular_velocities=[[20.0, -5.0, 9.0], [-8.0, 4.0, 11.0]]
    )
    linear, angular = momenta(world, radii)
    slip = np.abs(np.diff(world.angular_velocities[0], axis=0)).max()
    world.step(dt, round(0.5 / dt))
    now, turned = momenta(world, radii)
    drift = np.abs(now - linear).max() / np.abs(linear).max()
    spin_drift = np.abs(turned - angular).max() / np.abs(angular).max()
    left = np.abs(np.diff(world.angular_velocities[0], axis=0)).max() / slip
    measured(momentum_drift=drift, angular_momentum_drift=spin_drift, relative_spin_left=left)
    # half a unit in the last place per substep: both grains of a contact are updated, and rounded, in every sweep
    assert drift < 6e-8 * round(0.5 / dt)
    # the gap of the contact is of the order of rounding
    assert spin_drift < 2e-3
    assert left < 0.02
    gap = np.linalg.norm(np.diff(world.positions[0].astype(np.float64), axis=0)) - radii.sum()
    assert gap < 1e-2 * RADIUS, "the pair came apart"


@pytest.mark.parametrize("axis", [0, 2])
def test_pair_that_turns_as_one_is_not_braked(axis: int, measured: Note) -> None:
    """About the line of centres and across it: no relative motion, so no resistance, for 2 s."""
    radii = np.array([RADIUS, RADIUS])
    world = free_pair(radii, rolling=1.0, twisting=1.0)
    turn = np.zeros(3)
    turn[axis] = 10.0
    middle = np.array([RADIUS, 0.0, 0.0])
    places = world.positions[0] - middle
    world.set_grains(positions=places, velocities=np.cross(turn, places), angular_velocities=np.tile(turn, (2, 1)))
    world.step(DT, 2000)
    spins = world.angular_velocities[0]
    measured(spin_left=spins[:, axis].min() / 10.0, spin_right=spins[:, axis].max() / 10.0)
    assert np.abs(spins[:, axis] / 10.0 - 1.0).max() < 2e-3
    assert np.abs(np.delete(spins, axis, axis=1)).max() < 1e-3


@pytest.mark.parametrize(("rolling", "twisting"), [(0.1, 0.02), (0.1, 0.1), (0.02, 0.1), (0.0, 0.05), (0.1, 0.0)])
def test_spin_about_the_normal_decays_by_twisting(rolling: float, twisting: float, measured: Note) -> None:
    """A ball that spins on the floor slows by 5/2 mu_t g / r; one that rolls by 5/7 mu_r g, whatever mu_t is."""
    scene = on_floor([[0.0, 0.0, RADIUS], [1.0, 0.0, RADIUS]], [[0, 0, 0], [0.7, 0, 0]], rolling=rolling)
    scene.set_pair(0, 0, twisting_friction=twisting)
    world = scene.build(num_threads=1)
    start = 100.0
    world.set_grains(angular_velocities=[[0.0, 0.0, start], [0.0, 0.7 / RADIUS, 0.0]])
    time = 0.2
    world.step(DT, round(time / DT))
    slowed = (start - world.angular_velocities[0, 0, 2]) / time
    expected = 2.5 * twisting * GRAVITY / RADIUS
    braked = (0.7 - world.velocities[0, 1, 0]) / time
    measured(twist=slowed, twist_expected=expected, roll=braked, roll_expected=5.0 / 7.0 * rolling * GRAVITY)
    assert slowed == pytest.approx(min(expected, start / time), rel=0.005, abs=1e-3)
    assert braked == pytest.approx(5.0 / 7.0 * rolling * GRAVITY, rel=0.005, abs=1e-5)


def test_twisting_like_rolling_changes_no_bit() -> None:
    """An env is not affected by another env with a twisting friction of its own."""
    scene = column_scene(150, 3.0, rolling=0.1)
    with scene.build(num_threads=1) as lone, scene.build(env_count=2, num_threads=1) as both:
        both.set_pair(0, 0, twisting_friction=0.01, envs=[1])
        for world in (lone, both):
            world.step(DT, 200)
        assert both.state_hash(0) == lone.state_hash() != both.state_hash(1)
