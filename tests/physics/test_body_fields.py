"""Bodies that are met by their fields: meshes and signed distance fields with a mass."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import granular_gym as gg
from testbed.beds import GRAVITY, faces
from testbed.clumps import ROCK, budget, shaken

Note = Callable[..., None]
DT = 1e-3
HALF = np.array([0.03, 0.02, 0.01])
BOX = gg.Sdf.box(HALF)
#: density of the box of .03 kg
WOOD = 0.03 / float(8.0 * HALF.prod())


def test_a_bed_carries_a_box_and_a_ball(full: bool, measured: Note) -> None:
    """They fall onto a bed and rest: the grains' force on each is its weight, and that of the walls all weight. Under
    the surface of each lie 80 spheres (with --full 200)."""
    spheres = 200 if full else 80
    scene = gg.Scene(((-0.1, -0.1, 0.0), (0.1, 0.1, 0.4)))
    sand = scene.add_material(radius=0.005, density=ROCK, friction=0.5, rolling_friction=0.1)
    scene.fill_box(sand, (-0.1, -0.1, 0.0), (0.1, 0.1, 0.2), count=1500)
    masses = {"box": 0.03, "ball": 0.3}
    scene.add_body(BOX, masses["box"], name="box", pose=(0.0, 0.0, 0.3, 0.9, 0.2, 0.1, 0.3), spheres=spheres)
    ball = gg.Sdf.sphere(0.02)
    scene.add_body(ball, masses["ball"], name="ball", pose=(0.05, 0.03, 0.3, 1, 0, 0, 0), spheres=spheres)
    with scene.build(num_threads=1) as world:
        world.step(DT, 1200)
        forces = world.wrenches[0, :, :3]
        np.testing.assert_array_equal(
            world.tool_poses[0], world.clump_poses[0, list(world.bodies.values())].astype("f")
        )
        errors = {name: abs(forces[k, 2] / (GRAVITY * masses[name]) - 1.0) for k, name in enumerate(masses)}
        aside = {f"{name}_aside": float(np.abs(forces[k, :2]).max()) for k, name in enumerate(masses)}
        floor = -world.wall_wrenches[0, :, 2].sum() / (GRAVITY * world.clump_masses[0].sum()) - 1.0
        overlap = float(world.stats["overlap_max_last"][0])
        measured(**errors, **aside, floor=float(floor), overlap=overlap)
        assert max(errors.values()) < 1e-5
        assert max(aside.values()) < 1e-5
        assert abs(floor) < 1e-5
        assert overlap < 1e-3


@pytest.mark.parametrize("side", ["open", "periodic"])
def test_collisions_keep_momentum(side: str, full: bool, measured: Note) -> None:
    """Bodies of three shapes, of 40 spheres each (with --full 80), clumps and spheres fly into each other, also through
    periodic faces."""
    boundary = {"x": side, "y": side, "z": "open"}
    scene = gg.Scene(((0.0,) * 3, (0.3,) * 3), gravity=(0.0, 0.0, 0.0), boundary=boundary)
    draw = np.random.default_rng(0)
    points = np.stack(np.meshgrid(*[np.arange(4) * 0.07 + 0.04] * 3), -1).reshape(-1, 3)
    draw.shuffle(points)
    middle = points.mean(axis=0)
    ball = scene.add_material(density=ROCK, friction=0.5, restitution=0.4, radius=0.012)
    four = scene.add_material(density=ROCK, friction=0.5, restitution=0.2, shape=gg.Clump.tetrahedron(0.015))
    velocities = 2.0 * (middle - points) + draw.normal(0.0, 0.3, points.shape)
    scene.add_grains(ball, points[:30], velocities=velocities[:30])
    scene.add_grains(four, points[30:58], radius=0.015, velocities=velocities[30:58])
    solids = (BOX, gg.Sdf.cylinder(0.015, 0.03), gg.Sdf.union(gg.Sdf.sphere(0.02), BOX.at((0.0, 0.01, 0.0))))
    for k, solid in enumerate(solids * 2):
        pose = (*points[58 + k], *draw.normal(0.0, 1.0, 4))
        scene.add_body(solid, 0.02 * (k + 1), pose=pose, velocity=velocities[58 + k], spheres=80 if full else 40)
    with scene.build(num_threads=1, overlaps="ignore") as world:
        before, met = budget(world), 0  # times that a body was pushed within .01 s
        for _ in range(30):
            world.step(0.25 * DT, 40)
            met += int((world.wrenches[0] != 0.0).any(axis=1).sum())
        after = budget(world)
    linear = np.abs(after["linear"] - before["linear"]).max() / before["linear_sum"]
    energy = after["energy"] / before["energy"]
    measured(linear=linear, energy=energy, pushes=met)
    assert met > 10
    assert linear < 1e-6
    assert energy < 0.9
    if side == "open":
        angular = np.abs(after["angular"] - before["angular"]).max() / before["angular_sum"]
        measured(angular=angular)
        assert angular < 1e-6


@pytest.mark.parametrize("restitution", [0.5, 0.9])
def test_a_grain_rebounds_from_a_body(restitution: float, measured: Note) -> None:
    """A sphere hits the middle of a face of a box that floats: both speeds are those of Newton's law of impact, but for
    what rounding to whole substeps changes of the restitution."""
    scene = gg.Scene(((-1.0,) * 3, (1.0,) * 3), gravity=(0.0, 0.0, 0.0), boundary=faces("open"))
    ball = scene.add_material(density=ROCK, friction=0.0, restitution=restitution, radius=0.01)
    scene.add_grains(ball, [(0.0, 0.0, 0.05)], velocities=[(0.0, 0.0, -1.0)])
    scene.add_body(BOX, 0.03, spheres=40)
    with scene.build(num_threads=1) as world:
        mass, heavy = world.clump_masses[0]
        world.step(DT, 60)
        speeds = world.clump_velocities[0, :, 2]
    share = heavy / (mass + heavy)
    expected = -1.0 + (1.0 + restitution) * share, -(1.0 + restitution) * (1.0 - share)
    momentum = float(mass * speeds[0] + heavy * speeds[1] + mass) / mass
    measured(ball=speeds[0] - expected[0], box=speeds[1] - expected[1], momentum=momentum)
    assert abs(momentum) < 1e-6
    np.testing.assert_allclose(speeds, expected, atol=1e-3)


def test_boxes_slide_topple_and_stack(measured: Note) -> None:
    """On a plane a box slides from the angle of friction on, topples from that of its shape on; five stand."""
    held, slid = (way for way, _ in _motions_on_planes(BOX, lambda _: (10.0, 20.0), friction=0.2))
    angle = np.radians(20.0)
    expected = GRAVITY * (np.sin(angle) - 0.2 * np.cos(angle))
    measured(held=held, slides=slid / (0.5 * 0.4**2), expected=expected)
    assert abs(held) < 1e-4
    assert abs(slid / (0.5 * 0.4**2) / expected - 1.0) < 0.02
    # it topples over the edge of its lower face, rounded by the radius of the spheres there
    tall = gg.Sdf.box((0.01, 0.02, 0.03))
    limits: list[float] = []

    def around_the_limit(radius: float) -> tuple[float, float]:
        limits.append(float(np.degrees(np.arctan((0.01 - radius) / 0.03))))
        return limits[0] - 0.3, limits[0] + 0.3

    turned = [angle for _, angle in _motions_on_planes(tall, around_the_limit, friction=1.0)]
    measured(limit=limits[0], below=turned[0], above=turned[1])
    assert turned[0] < 0.1
    assert turned[1] > 10.0
    scene = gg.Scene(((-0.1, -0.1, 0.0), (0.1, 0.1, 0.4)))
    scene.add_material(density=WOOD, friction=0.5)
    for k in range(5):
        scene.add_body(BOX, 0.03, pose=(0.0, 0.0, (2 * k + 1) * HALF[2], 1, 0, 0, 0), spheres=40)
    with scene.build(num_threads=1) as world:
        before = world.clump_poses[0]
        world.step(2.0 * DT, 5000)
        leaned = float(np.abs(world.clump_poses[0] - before)[:, :3].max())
    measured(leaned=leaned)
    assert leaned < 1e-3 * HALF[2]


def _motions_on_planes(
    solid: gg.Sdf, inclined: Callable[[float], tuple[float, float]], friction: float
) -> list[tuple[float, float]]:
    """How far a box moves down each of two inclined planes in .4 s [m], and how far it turns [degrees]. Gravity is
    turned along x, by the angles [degrees] that `inclined` returns for the radius of the spheres under its surface."""
    height = float(solid.parts[0].size[2])
    scene = gg.Scene(((-0.5, -0.5, 0.0), (0.5, 0.5, 0.5)))
    scene.add_material(density=WOOD, friction=friction, restitution=0.0, rolling_friction=0.0)
    scene.add_body(solid, 0.03, pose=(0.0, 0.0, height, 1, 0, 0, 0), spheres=100)
    with scene.build(env_count=2, num_threads=1) as world:
        for env, degrees in enumerate(inclined(float(world.radii[0, 0]))):
            angle = np.radians(degrees)
            world.set_gravity((GRAVITY * np.sin(angle), 0.0, -GRAVITY * np.cos(angle)), envs=[env])
        world.step(DT, 400)
        poses = world.clump_poses[:, 0]
    return [(float(pose[0]), float(np.degrees(2.0 * np.arccos(min(abs(pose[3]), 1.0))))) for pose in poses]


def test_light_bodies_float_and_heavy_ones_sink(measured: Note) -> None:
    """A box in shaken spheres, by its density."""
    depths = {}
    for name, density in (("light", 200.0), ("heavy", 20_000.0)):
        scene = gg.Scene(((-0.045, -0.045, 0.0), (0.045, 0.045, 0.3)))
        sand = scene.add_material(density=ROCK, radius=0.004, friction=0.1, rolling_friction=0.0)
        scene.fill_box(sand, (-0.045, -0.045, 0.0), (0.045, 0.045, 0.15), count=850)
        size = (0.012, 0.012, 0.012)
        box = scene.add_body(gg.Sdf.box(size), density * 8.0 * size[0] ** 3, pose=(0, 0, 0.2, 1, 0, 0, 0), spheres=100)
        depths[name] = shaken(scene, box, 850)
    measured(**depths)
    assert depths["light"] > 0.0
    assert depths["heavy"] < -0.01


def test_stones_that_stay_hold_a_body(measured: Note) -> None:
    """A box falls onto three fixed spheres and rests on them."""
    scene = gg.Scene(((-0.1, -0.1, 0.0), (0.1, 0.1, 0.3)), boundary=faces("open"))
    stone = scene.add_material(density=ROCK, radius=0.005, fixed=True)
    wood = scene.add_material(density=WOOD, friction=0.5)
    scene.add_grains(stone, [(0.02, 0.0, 0.1), (-0.01, 0.01, 0.1), (-0.01, -0.01, 0.1)], 0.005)
    box = scene.add_body(BOX, 0.03, material=wood, pose=(0.0, 0.0, 0.12, 1, 0, 0, 0), spheres=40)
    with scene.build(num_threads=1) as world:
        world.step(DT, 500)
        height, force = float(world.clump_poses[0, box, 2]), float(world.wrenches[0, 0, 2])
    measured(height=height - 0.115, force=force / (0.03 * GRAVITY) - 1.0)
    assert abs(height - 0.115) < 1e-5
    assert abs(force / (0.03 * GRAVITY) - 1.0) < 1e-5
