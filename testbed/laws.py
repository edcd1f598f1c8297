"""laws.py: single grains and gases that are compared with rigid-body laws.

Sources: Chung & Ooi, Granular Matter 13:643 (2011), tests 3 to 8, in their rigid limit; Coulomb's law.
"""

from __future__ import annotations

import numpy as np

import granular_gym as gg
from testbed.beds import DT, GRAVITY, RADIUS, faces, mass, on_floor, random_apart, space

SLOPES = np.radians(np.arange(10.0, 41.0, 5.0))
FRICTIONS = (0.1, 0.2, 0.3, 0.5, 0.6, 0.8)


def tilted(angles: np.ndarray) -> np.ndarray:
    """Gravity (n, 3) [m/s2] in the frames of floors that slope down towards +x by these angles [rad]."""
    return GRAVITY * np.stack([np.sin(angles), np.zeros_like(angles), -np.cos(angles)], axis=1)


def down_slopes(
    friction: float, spin: bool, seconds: float = 1.0, rolling: float = 0.0, angles=SLOPES, dt: float = DT
) -> gg.World:
    """A world with one grain and one slope per env, after some time; angles [rad]."""
    world = on_floor([[0.0, 0.0, RADIUS]], friction=friction, rolling=rolling).build(
        env_count=len(angles), solver=gg.Solver(spin=spin), num_threads=1
    )
    world.set_gravity(tilted(angles))
    world.step(dt, round(seconds / dt))
    return world


def rigid_law(slip, normal_speed, friction, restitution):
    """Changes of the tangential velocity v and of r omega [m/s] when a sphere hits a fixed plane.

    Sliding throughout: mu (1 + e) Vn and 2.5 times that; sticking in the end: 2/7 and 5/7 of the slip.

    Args:
        slip: tangential velocity of the contact before [m/s].
        normal_speed: Vn [m/s].
        friction: mu.
        restitution: e.
    """
    slide = friction * (1.0 + restitution) * normal_speed
    sticks = np.abs(slip) <= 3.5 * slide
    dv = np.where(sticks, -2.0 / 7.0 * slip, -np.sign(slip) * slide)
    return dv, -2.5 * dv


def hit_floor(radius, vn, vt, spin, friction, restitution, dt):
    """Velocities and spins of spheres after they hit a floor, one per env.

    Args:
        radius: [m].
        vn: normal speed [m/s].
        vt: tangential velocity along x (n,) [m/s].
        spin: angular velocity about y [rad/s].
        friction: coefficient.
        restitution: coefficient.
        dt: duration of a substep [s].
    """
    height = radius + 2.3 * dt * np.max(vn)
    world = on_floor(
        [[0, 0, height]], radius=radius, friction=friction, restitution=restitution, gravity=(0, 0, 0)
    ).build(env_count=len(vt), num_threads=1)
    zero = np.zeros_like(vt)
    world.set_grains(
        velocities=np.stack([vt, zero, -vn + zero], axis=1)[:, None],
        angular_velocities=np.stack([zero, spin + zero, zero], axis=1)[:, None],
    )
    world.step(dt, 400)
    return world.velocities[:, 0].astype(np.float64), world.angular_velocities[:, 0].astype(np.float64)


# radius [m], normal and tangential speed [m/s], spin [rad/s], friction, restitution, dt [s]
_ANGLES = np.radians([2.0, 5.0, 10.0, 20.0, 30.0, 32.0, 33.0, 40.0, 50.0, 60.0, 70.0, 80.0, 85.0])
_SPINS = np.linspace(-24.0, 24.0, 13)
IMPACTS = {
    "4": (0.0025, 3.9 * np.cos(_ANGLES), 3.9 * np.sin(_ANGLES), 0.0, 0.092, 0.98, 1e-4),
    "4-dt1e-3": (0.0025, 3.9 * np.cos(_ANGLES), 3.9 * np.sin(_ANGLES), 0.0, 0.092, 0.98, 1e-3),
    "5": (1e-5, 5.0, np.array([0.5, 2.0, 5.0, 8.0, 10.0, 12.0, 15.0, 20.0]), 0.0, 0.3, 1.0, 1e-6),
    "6": (0.1, 0.2, 0.0 * _SPINS, _SPINS, 0.4, 0.5, 1e-3),
}


def hit_pair(radii, closing, spins, friction, restitution):
    """Velocities and spins (n, 2, 3) of two spheres after a head-on collision along x; spins (n, 2) about z."""
    distance = sum(radii) + 2.3 * DT * closing
    scene = space(
        [[-distance / 2, 0, 0], [distance / 2, 0, 0]], radius=list(radii), friction=friction, restitution=restitution
    )
    world = scene.build(env_count=len(spins), num_threads=1)
    v, w = np.zeros((len(spins), 2, 3)), np.zeros((len(spins), 2, 3))
    v[:, 0, 0], v[:, 1, 0], w[:, :, 2] = 0.5 * closing, -0.5 * closing, spins
    world.set_grains(velocities=v, angular_velocities=w)
    world.step(DT, 10)
    return world.velocities.astype(np.float64), world.angular_velocities.astype(np.float64)


def gas(
    count: int,
    friction: float,
    restitution: float,
    order: np.ndarray | None = None,
    rolling: float = 0.0,
    half: float = 0.12,
    seed: int = 4,
    spin: bool = True,
    iterations: int = 10,
    mode: str | None = None,
) -> gg.World:
    """A granular gas in a periodic cube of side 2 half [m]; `order` permutes its grains."""
    rng = np.random.default_rng(seed)
    positions = random_apart(rng, count, half)
    velocities = rng.normal(0.0, 0.4, (count, 3))
    velocities -= velocities.mean(axis=0)
    order = np.arange(count) if order is None else order
    scene = space(
        positions[order],
        velocities[order],
        friction=friction,
        restitution=restitution,
        rolling=rolling,
        half=half,
        boundary=faces("periodic"),
    )
    return scene.build(num_threads=1, solver=gg.Solver(mode=mode, spin=spin, iterations=iterations))


def angular_momentum(world: gg.World, radii: np.ndarray) -> np.ndarray:
    """Angular momentum of all grains about the origin (env_count, 3) [kg m2/s]."""
    m = mass(radii)
    x, v, w = (a.astype(np.float64) for a in (world.positions, world.velocities, world.angular_velocities))
    return (np.cross(x, v) * m[None, :, None] + w * (0.4 * m * radii**2)[None, :, None]).sum(axis=1)
