"""Springs: forces are gradients of an energy, which collisions conserve; friction on slopes; piles at rest."""

import math

import numpy as np
import pytest

import granular_gym as gg
from testbed import planar as planar_scenes

GRAVITY = 9.81
#: root of stiffness over mass [1/s]
OMEGA = 1000.0


def springs(shape: gg.Shape2D, omega: float = OMEGA, **settings) -> gg.Solver:
    """Springs by the mass of a grain of 1000 kg/m2."""
    return gg.Solver(mode="penalty", stiffness=1000.0 * shape.area * omega**2, **settings)


@pytest.mark.parametrize("names", ["UU", "U#", "##"])
def test_forces_are_the_slope_of_the_energy(names):
    """Impulses of two overlapping grains in one short step against differences of k d^2 / 2 over all six coordinates,
    with the gradient of d scaled to length 1 along the translation.

    The torque on the first is not minus that on the second: t turns with the first, -dd/dtheta - t x n."""
    a, b = (gg.Shape2D.letter("U", 0.5) if name == "U" else gg.Shape2D.hash(0.5) for name in names)
    field = gg.PairField.build(a, b)

    def gap(q):
        angle = q[0]
        c, s = math.cos(angle), math.sin(angle)
        x, y = q[4] - q[1], q[5] - q[2]
        return float(field.query([[q[3] - angle, c * x + s * y, c * y - s * x]]).d[0])

    rng, compared = np.random.default_rng(3), 0
    for _ in range(400):
        q = np.concatenate([rng.uniform(-3, 3, 1), [0.0, 0.0], rng.uniform(-3, 3, 1), rng.uniform(-0.9, 0.9, 2)])
        depth = -gap(q)
        if not 2e-3 < depth < 2e-2:
            continue
        step = 2e-4
        slope = np.array([(gap(q + step * unit) - gap(q - step * unit)) / (2 * step) for unit in np.eye(6)])
        slope /= math.hypot(slope[4], slope[5])
        scene = planar_scenes.free_scene()
        for shape, (angle, x, y) in ((a, q[:3]), (b, q[3:])):
            material = scene.add_material(density=1000.0, friction=0.0, shape=shape)
            scene.add_grains(material, [(x, y)], angles=angle)
        scene.set_pair_field(field)
        solver = springs(a, damping=0.0)
        world = scene.build(device="cpu", num_threads=1, solver=solver)
        dt = 1e-5
        world.step(dt)
        force = []
        for k, shape in enumerate((a, b)):
            turn, speed = world.angular_velocities[0, k, 2], world.velocities[0, k, :2]
            force += [1000.0 * shape.inertia * turn / dt, *(1000.0 * shape.area * speed / dt)]
        np.testing.assert_allclose(np.array(force) / (solver.stiffness * depth), slope, atol=0.02)
        compared += 1
    assert compared > 5


@pytest.mark.parametrize("dt", [1e-4, 5e-5])
@pytest.mark.parametrize(
    "shape", [gg.Shape2D.letter("U", 0.5), gg.Shape2D.octagon(0.5), gg.Shape2D.hash(0.5)], ids=["U", "octagon", "hash"]
)
def test_hits_keep_energy_and_momentum(shape, dt):
    """Undamped, frictionless: energy of a pair within .5 % in the median; momentum to the last bit."""
    world = planar_scenes.hits(40, shape, springs(shape, damping=0.0))
    before = planar_scenes.energy(world, shape).reshape(-1, 2).sum(axis=1)
    momentum = world.velocities[0].reshape(-1, 2, 3).sum(axis=1)
    spin_before = world.angular_velocities[0, :, 2].copy()
    world.step(dt, round(2.0 / dt))
    after = planar_scenes.energy(world, shape).reshape(-1, 2).sum(axis=1)
    met = np.abs(world.angular_velocities[0, :, 2] - spin_before).reshape(-1, 2).max(axis=1) > 1e-3
    assert met.sum() > 25
    assert np.median(np.abs(after[met] / before[met] - 1.0)) < 5e-3
    assert np.abs(world.velocities[0].reshape(-1, 2, 3).sum(axis=1) - momentum).max() < 1e-6


def slide(friction: float, dt: float = 1e-4) -> list[float]:
    """Displacements down a slope of 16 degrees, one and two seconds after a block settled on it [m]."""
    scene, down = planar_scenes.block_on_ramp(friction)
    world = scene.build(device="cpu", num_threads=1, solver=springs(gg.Shape2D.block(0.6, 0.3)))
    second = round(1.0 / dt)
    world.step(dt, second // 2)
    start, ways = world.positions[0, 1, :2], []
    for _ in range(2):
        world.step(dt, second)
        ways.append(float((world.positions[0, 1, :2] - start) @ down))
    return ways


def test_slope_slides():
    """mu = .28 < tan 16 degrees: g (sin - mu cos) = .0636 m/s2."""
    one, two = slide(0.28)
    exact = GRAVITY * (math.sin(math.radians(16)) - 0.28 * math.cos(math.radians(16)))
    assert two - 2.0 * one == pytest.approx(exact, rel=0.1)


@pytest.mark.parametrize("friction", [0.30, 0.32])
def test_slope_holds(friction):
    assert np.abs(slide(friction)).max() < 1e-3


def rebound(damping: float) -> float:
    """Ratio of speeds after and before an octagon falls flat on the floor: two corners, each a spring."""
    shape = gg.Shape2D.octagon(0.5)
    scene = gg.Scene(bounds=((-2, 0), (2, 4)), gravity=(0, 0))
    material = scene.add_material(density=1000.0, friction=0.0, shape=shape)
    scene.add_grains(material, [(0.0, 0.5)], velocities=[(0.0, -1.0)])
    solver = springs(shape, damping=damping)
    with scene.build(device="cpu", num_threads=1, solver=solver) as world:
        world.step(2e-5, 5000)
        return float(world.velocities[0, 0, 1])


def test_damping_takes_energy():
    """Speed after a damped collision, against a separate integration of two springs without tension."""

    shape = gg.Shape2D.octagon(0.5)
    # a corner is half a side from the centre: its effective mass is less than the mass
    lever = 0.5 * math.sin(math.pi / 8)
    share = 1.0 / math.sqrt(1.0 + lever**2 * shape.area / shape.inertia)

    def separate(damping):
        x, v, dt, omega = 0.0, -1.0, 1e-6, OMEGA
        while x <= 0.0:
            force = 2.0 * max(-(omega**2) * x - 2.0 * damping * share * omega * v, 0.0)
            v += dt * force
            x += dt * v
        return v

    assert rebound(0.0) == pytest.approx(1.0, abs=2e-3)
    for damping in (0.1, 0.5):
        assert rebound(damping) == pytest.approx(separate(damping), rel=0.02)


def test_floor_and_walls_carry_a_pile():
    shape = gg.Shape2D.hash(0.05)
    world = planar_scenes.pile(shape, 60).build(device="cpu", num_threads=1, solver=springs(shape, omega=2000.0))
    world.step(1e-4, 30000)
    mass = 60 * 1000.0 * shape.area
    assert float(world.stats["kinetic_energy"][0]) / mass < 1e-4
    assert float(world.stats["overlap_max_last"][0]) < 1e-3
    assert int(world.stats["escaped_count"][0]) == 0
    assert -world.wall_wrenches[0, :, 1].sum() == pytest.approx(mass * GRAVITY, rel=1e-2)


def test_springs_hold_a_block_against_a_moving_floor():
    """A block on a plate that moves sideways moves with it while friction suffices."""
    shape = gg.Shape2D.block(0.4, 0.2)
    ways = {}
    for friction in (0.05, 0.5):
        scene = gg.Scene(bounds=((-2, -1), (2, 2)))
        material = scene.add_material(density=1000.0, friction=friction, shape=shape)
        scene.add_grains(material, [(0.0, 0.2)])
        scene.add_tool(gg.Sdf.box((1.5, 0.1, 1.0)), name="plate", material=material, pose=(0, 0, 0, 1, 0, 0, 0))
        world = scene.build(device="cpu", num_threads=1, solver=springs(shape))
        world.step(1e-4, 2000)
        acceleration, pieces = 2.0, 50
        for k in range(pieces):
            time = 0.5 * (k + 1) / pieces
            world.step(1e-4, 100, tool_poses=[[0.5 * acceleration * time**2, 0, 0, 1, 0, 0, 0]])
        ways[friction] = float(world.positions[0, 0, 0])
    assert ways[0.5] == pytest.approx(0.25, abs=5e-3)
    assert ways[0.05] == pytest.approx(0.5 * 0.05 * GRAVITY * 0.25, rel=0.1)
