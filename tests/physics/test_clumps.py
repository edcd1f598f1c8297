"""Clumps: rigid unions of spheres obey the laws of rigid bodies, and rest as spheres do."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import numpy as np
import pytest

import granular_gym as gg
from granular_gym.base.rotations import rotate
from testbed.beds import GRAVITY, faces
from testbed.clumps import GRAIN, ROCK, SIZE, box_of_clumps, budget, drained, free, shaken, slope

Note = Callable[..., None]
DT = 1e-3
CUBE = gg.Clump.cube(2.0 * SIZE)
#: half the width of the cube's face between its points of contact, over the height of its centre
FACE = float(CUBE.centers[:, 0].max() / (CUBE.radii - CUBE.centers[:, 2]).max())
#: a clump without symmetry
ODD = gg.Clump([(0, 0, 0), (0.015, 0, 0), (0.015, 0.015, 0), (0.02, 0.01, 0.01)], [0.01, 0.008, 0.009, 0.007])


def tilt(degrees: float, axis: tuple[float, float, float]) -> list[float]:
    """Quaternion of a turn about an axis."""
    half = np.radians(degrees) / 2.0
    unit = np.array(axis) / np.linalg.norm(axis)
    return [float(np.cos(half)), *(np.sin(half) * unit)]


def test_free_rotation_keeps_energy_and_momentum(measured: Note) -> None:
    """1,000 turns about the middle axis, where a body flips over: the tennis racket theorem."""
    world = free(ODD, angular_velocities=[(0.2, 20.0, 0.1)])
    before, flips, last = budget(world), 0, 1.0
    for _ in range(500):
        world.step(DT, round(2.0 * np.pi / 20.0 / DT * 2.0))
        turned = world.clump_poses[0, 0, 3:]
        side = float(np.sign(rotate(turned, np.array([0.0, 1.0, 0.0]))[1]))
        flips, last = flips + (side != last), side
    after = budget(world)
    energy = abs(after["energy"] / before["energy"] - 1.0)
    momentum = np.abs(after["angular"] - before["angular"]).max() / np.linalg.norm(before["angular"])
    measured(energy=energy, momentum=momentum, flips=flips)
    assert energy < 1e-6
    assert momentum < 1e-6
    assert flips > 10


def test_collisions_keep_momentum(measured: Note) -> None:
    """Clumps of three shapes and lone spheres fly into each other: no momentum is lost, no energy is gained."""
    scene = gg.Scene(((0.0,) * 3, (1.0,) * 3), gravity=(0.0, 0.0, 0.0), boundary=faces("open"))
    draw = np.random.default_rng(0)
    points = np.stack(np.meshgrid(*[np.arange(4) * 0.03 + 0.3] * 3), -1).reshape(-1, 3)
    draw.shuffle(points)
    shapes = (gg.Clump.tetrahedron(0.01), gg.Clump.cube(0.012), gg.Clump.rod(0.015, 4), None)
    for k, shape in enumerate(shapes):
        kind = {"radius": 0.008} if shape is None else {"shape": shape}
        scene.add_material(density=1000.0 + 500.0 * k, friction=0.6, restitution=0.3, **kind)
        own = points[16 * k : 16 * k + 16]
        motion = (0.345 - own) * 5.0 + draw.normal(size=own.shape) * 0.3
        turning = {} if shape is None else {"orientations": draw.normal(size=(16, 4))}
        scene.add_grains(k, own, velocities=motion, **turning)
    world = scene.build(num_threads=1)
    before, energy, touched = budget(world), np.inf, 0
    for _ in range(10):
        world.step(5e-4, 40)
        now = budget(world)
        linear = np.abs(now["linear"] - before["linear"]).max() / now["linear_sum"]
        angular = np.abs(now["angular"] - before["angular"]).max() / now["angular_sum"]
        assert linear < 1e-6
        assert angular < 1e-6
        assert now["energy"] < energy * (1.0 + 1e-6)
        assert now["energy"] == pytest.approx(float(world.stats["kinetic_energy"][0]), rel=1e-5)
        energy, touched = now["energy"], touched + int(world.stats["contact_count"][0])
    measured(linear=linear, angular=angular, energy=energy / before["energy"], contacts=touched)
    assert touched > 100


@pytest.mark.parametrize("degrees", [10.0, 11.0, 12.0, 20.0])
def test_a_cube_slides_as_coulomb_says(degrees: float, measured: Note) -> None:
    """It rests up to the angle of friction, 11.3 degrees, and then accelerates by g (sin - mu cos)."""
    world = slope(CUBE, degrees, 0.2)
    world.step(DT, 1000)
    angle = np.radians(degrees)
    expected = max(0.0, GRAVITY * (np.sin(angle) - 0.2 * np.cos(angle)))
    speed = float(world.clump_velocities[0, 0, 0])
    measured(speed=speed, expected=expected)
    assert speed == pytest.approx(expected, rel=0.01, abs=1e-6)


@pytest.mark.parametrize(("beyond", "falls"), [(-0.3, False), (0.3, True)])
def test_a_cube_topples_where_its_weight_leaves_its_face(beyond: float, falls: bool, measured: Note) -> None:
    """Its centre of mass is above the outer points of contact at atan(half width / height)."""
    world = slope(CUBE, float(np.degrees(np.arctan(FACE))) + beyond, 2.0)
    world.step(DT, 600)
    turned = float(2.0 * np.degrees(np.arccos(min(1.0, abs(world.clump_poses[0, 0, 3])))))
    measured(turned=turned)
    assert (turned > 10.0) == falls
    assert falls or turned < 0.1


@pytest.mark.parametrize("restitution", [0.5, 0.8])
@pytest.mark.parametrize("turn", [tilt(0.0, (1, 0, 0)), tilt(45.0, (1, 0, 0)), tilt(54.7356, (1, -1, 0))])
def test_restitution_of_a_cube(turn: list[float], restitution: float, measured: Note) -> None:
    """On a face, an edge and a corner a cube bounces as its material says, with four, two and one points of contact."""
    boundary = {"x": "open", "y": "open", "z": ("wall", "open")}
    scene = gg.Scene(((-1.0, -1.0, 0.0), (1.0, 1.0, 1.0)), gravity=(0.0, 0.0, 0.0), boundary=boundary)
    scene.add_material(density=ROCK, friction=0.0, restitution=restitution, shape=CUBE)
    scene.add_grains(0, [(0.0, 0.0, 0.03)], velocities=[(0.0, 0.0, -1.0)], orientations=[turn])
    with scene.build(num_threads=1) as world:
        world.step(2e-4, 500)
        up = float(world.clump_velocities[0, 0, 2])
    measured(rebound=up)
    assert up == pytest.approx(restitution, abs=0.01)


def test_a_bed_carries_its_weight_and_rests(measured: Note) -> None:
    """Tetrahedra settle; walls and floor then carry their weight, and nothing moves any more."""
    with box_of_clumps(gg.Clump.tetrahedron(SIZE), 250, friction=0.5).build(num_threads=1) as world:
        world.step(DT, 1200)
        weight = float(world.clump_masses[0].sum()) * GRAVITY
        reaction = world.wall_wrenches[0, :, :3].sum(axis=0) / -weight
        before = world.clump_poses[0]
        world.step(DT, 1000)
        moved = float(np.abs(world.clump_poses[0] - before)[:, :3].max())
        overlap = float(world.stats["overlap_max"][0])
        measured(reaction=reaction[2], moved=moved, overlap=overlap)
        np.testing.assert_allclose(reaction, (0.0, 0.0, 1.0), atol=1e-4)
        assert moved < 1e-3 * SIZE
        assert overlap < 0.01
        spheres = world.positions[0].reshape(-1, 4, 3)
        edges = np.linalg.norm(spheres - np.roll(spheres, 1, axis=1), axis=2)
        np.testing.assert_allclose(edges, edges.mean(), rtol=1e-5)  # rigid


def test_a_heap_of_tetrahedra_stands_where_spheres_flow(measured: Note) -> None:
    """A square tube is lifted off: tetrahedra stay in a heap of 25 degrees or more, spheres that may roll do not."""
    slopes = {}
    for name, kind in (
        ("tetrahedra", {"shape": gg.Clump.tetrahedron(SIZE)}),
        ("spheres", {"radius": GRAIN, "rolling_friction": 0.0}),
    ):
        boundary = {"x": "open", "y": "open", "z": ("wall", "open")}
        scene = gg.Scene(((-0.3, -0.3, 0.0), (0.3, 0.3, 0.4)), boundary=boundary, wall_material="floor")
        grain = scene.add_material(density=ROCK, friction=0.5, **kind)
        scene.add_material(density=ROCK, friction=0.8, rolling_friction=0.0, name="floor")
        scene.set_pair(grain, "floor", friction=0.8)
        half, wall, height = 0.025, 0.005, 0.15
        along = gg.Sdf.box((wall, half + 2 * wall, height)), gg.Sdf.box((half + 2 * wall, wall, height))
        sides = [along[axis].at(place) for axis, place in _sides(half + wall, height)]
        scene.add_tool(sides, name="tube")
        scene.set_pair(grain, "floor", friction=0.8)
        scene.fill_box(grain, (-half, -half, 0.0), (half, half, 0.3), count=350)
        with scene.build(num_threads=1) as world:
            world.step(DT, 500)
            for k in range(25):
                world.step(DT, 80, [[0.0, 0.0, 0.004 * (k + 1), 1.0, 0.0, 0.0, 0.0]])
            world.step(DT, 600)
            points = world.clump_poses[0, :, :3] if world.clump_count else world.positions[0].astype(np.float64)
            before = points.copy()
            world.step(DT, 500)
            points = world.clump_poses[0, :, :3] if world.clump_count else world.positions[0].astype(np.float64)
        slopes[name] = _slope(points)
        creep = float(np.median(np.linalg.norm(points - before, axis=1)))
        measured(**{f"{name}_degrees": slopes[name], f"{name}_creep": creep})
        if name == "tetrahedra":
            assert creep < 1e-6
    assert slopes["tetrahedra"] > 25.0
    assert slopes["spheres"] < slopes["tetrahedra"] - 5.0


@pytest.mark.slow
def test_on_a_rough_floor_tetrahedra_lie_steeper_than_spheres(full: bool, measured: Note) -> None:
    """What stays on a rough ledge when the rest has run off: tetrahedra at 25 degrees or more, steeper than spheres of
    the same friction that may roll; by 5 degrees or more, with --full in the mean of six heaps on a longer ledge, as
    one differs from the next by 2.5 degrees (standard deviation)."""
    across, length = 2.0 * GRAIN, 15 if full else 10
    edges = np.arange(1.0, length - 1) * across
    slopes: dict[str, list[float]] = {"tetrahedra": [], "spheres": []}
    for name, count, steps, kind in (
        ("tetrahedra", 1300 if full else 580, 1500 if full else 1000, {"shape": gg.Clump.tetrahedron(SIZE)}),
        ("spheres", 1400 if full else 620, 3000 if full else 2000, {"radius": GRAIN, "rolling_friction": 0.0}),
    ):
        for seed in range(6) if full else (1,):
            with drained(count, seed, length, **kind).build(num_threads=1) as world:
                world.step(DT, steps)
                points = (world.clump_poses[0, :, :3] if world.clump_count else world.positions[0])[-count:]
            x, z = points[points[:, 2] > -GRAIN][:, [0, 2]].T
            tops = [np.sort(z[(x >= edge) & (x < edge + across)])[-3:].mean() for edge in edges]
            slopes[name].append(float(np.degrees(np.arctan(-np.polyfit(edges, tops, 1)[0]))))
        measured(**{f"{name}_{seed}_degrees": slope for seed, slope in enumerate(slopes[name])})
    tetrahedra, spheres = np.array(slopes["tetrahedra"]), np.array(slopes["spheres"])
    measured(steeper=float((tetrahedra - spheres).mean()))
    assert tetrahedra.min() > 25.0
    assert np.all(tetrahedra > spheres)
    assert (tetrahedra - spheres).mean() > 5.0


def _sides(out: float, height: float) -> list[tuple[int, tuple[float, float, float]]]:
    return [(0, (out, 0, height)), (0, (-out, 0, height)), (1, (0, out, height)), (1, (0, -out, height))]


def _slope(points: np.ndarray) -> float:
    """Slope of a heap about the z axis [degrees], from the highest grains of rings."""
    r, z = np.hypot(points[:, 0], points[:, 1]), points[:, 2]
    edges = np.linspace(0.0, 0.08, 9)
    rings = [z[(r >= a) & (r < b)] for a, b in pairwise(edges)]
    tops = np.array([np.sort(ring)[-3:].mean() if len(ring) > 3 else 0.0 for ring in rings])
    middle = 0.5 * (edges[1:] + edges[:-1])
    used = (tops > 0.15 * tops.max()) & (tops < 0.85 * tops.max()) & (middle > 0.005)
    return float(np.degrees(np.arctan(-np.polyfit(middle[used], tops[used], 1)[0]))) if used.sum() > 1 else 0.0


def test_a_force_and_a_torque_accelerate_a_clump(measured: Note) -> None:
    """F = m a and, about a principal axis, M = I alpha."""
    world = free(CUBE)
    mass = float(world.clump_masses[0, 0])
    moment = float(world._frozen.arrays["clumps"]["shape"][0, 1]) * ROCK
    world.set_clump_wrenches([[0.3 * mass, 0.0, 0.0, 0.0, 0.0, 5.0 * moment]])
    world.step(DT, 500)
    motion = world.clump_velocities[0, 0]
    measured(speed=float(motion[0]), spin=float(motion[5]))
    np.testing.assert_allclose(motion, (0.15, 0, 0, 0, 0, 2.5), atol=1e-5)
    np.testing.assert_array_equal(world.clump_wrenches[0, 0, :1], [0.3 * mass])


def test_bodies_stack_float_and_sink(measured: Note) -> None:
    """Five blocks stand on each other for ten seconds; in a bed of spheres a light body floats, a heavy one sinks."""
    scene = gg.Scene(((-0.1, -0.1, 0.0), (0.1, 0.1, 0.4)))
    scene.add_material(density=ROCK, friction=0.5)
    height = float((CUBE.radii - CUBE.centers[:, 2]).max())
    for k in range(5):
        scene.add_body(CUBE, 0.01, name=f"block{k}", pose=(0.0, 0.0, (2 * k + 1) * height, 1, 0, 0, 0))
    with scene.build(num_threads=1) as world:
        before = world.clump_poses[0]
        world.step(DT, 10_000)
        leaned = float(np.abs(world.clump_poses[0] - before)[:, :3].max())
    assert leaned < 1e-3 * height
    depths = {}
    for name, density in (("light", 200.0), ("heavy", 20_000.0)):
        scene = gg.Scene(((-0.045, -0.045, 0.0), (0.045, 0.045, 0.3)))
        sand = scene.add_material(density=ROCK, radius=0.004, friction=0.1, rolling_friction=0.0)
        scene.fill_box(sand, (-0.045, -0.045, 0.0), (0.045, 0.045, 0.15), count=850)
        body = gg.Clump.cube(0.02)
        index = scene.add_body(body, density * body.volume, pose=(0.0, 0.0, 0.2, 1, 0, 0, 0))
        assert scene.build(num_threads=1).bodies == {"body0": index}
        depths[name] = shaken(scene, index, 850)
    measured(leaned=leaned, **depths)
    assert depths["light"] > 0.0
    assert depths["heavy"] < -0.01
