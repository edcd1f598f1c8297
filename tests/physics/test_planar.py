"""Laws of planar grains: friction on slopes, impacts, momentum, weight, rest."""

import math

import numpy as np
import pytest

import granular_gym as gg
from granular_gym.viewing.scene_runs import load_scene
from testbed import planar as planar_scenes

GRAVITY = 9.81


def slide(friction: float, seconds: tuple[int, ...] = (1, 2)) -> list[float]:
    """Displacements down a slope of 16 degrees after a block was put on it [m]."""
    scene, down = planar_scenes.block_on_ramp(friction)
    world = scene.build(device="cpu", num_threads=1, solver=gg.Solver(iterations=20))
    world.step(1e-3, 200)
    start = world.positions[0, 1, :2]
    ways = []
    for _ in seconds:
        world.step(1e-3, 1000)
        ways.append(float((world.positions[0, 1, :2] - start) @ down))
    return ways


def test_slope_slides():
    """mu = .28 < tan 16 degrees: the block slides at g (sin - mu cos) = .0636 m/s2 (10 %: read off a figure)."""
    one, two = slide(0.28)
    acceleration = two - 2.0 * one  # for any initial speed
    exact = GRAVITY * (math.sin(math.radians(16)) - 0.28 * math.cos(math.radians(16)))
    assert acceleration == pytest.approx(exact, rel=0.1)


@pytest.mark.parametrize("friction", [0.30, 0.32])
def test_slope_holds(friction):
    """mu > tan 16 degrees = .287: it moves by less than 1 mm, and by less than 1 um/s."""
    ways = slide(friction)
    assert abs(ways[1]) < 1e-3
    assert abs(ways[1] - ways[0]) < 1e-6


@pytest.mark.parametrize("shape", [gg.Shape2D.letter("U", 0.5), gg.Shape2D.octagon(0.5)], ids=["U", "octagon"])
def test_hits_keep_energy_and_momentum(shape):
    """Undamped, frictionless: energy of a pair within .5 % in the median (reference: exact), momentum to rounding."""
    world = planar_scenes.hits(40, shape, gg.Solver(iterations=20))
    before, momentum = (
        planar_scenes.energy(world, shape).reshape(-1, 2).sum(axis=1),
        world.velocities[0].reshape(-1, 2, 3).sum(axis=1),
    )
    spin_before = world.angular_velocities[0, :, 2].copy()
    world.step(1e-3, 2000)
    after = planar_scenes.energy(world, shape).reshape(-1, 2).sum(axis=1)
    met = np.abs(world.angular_velocities[0, :, 2] - spin_before).reshape(-1, 2).max(axis=1) > 1e-3
    assert met.sum() > 25
    assert np.median(np.abs(after[met] / before[met] - 1.0)) < 5e-3
    assert np.abs(world.velocities[0].reshape(-1, 2, 3).sum(axis=1) - momentum).max() < 1e-5


@pytest.mark.parametrize("shape", [gg.Shape2D.hash(0.05), gg.Shape2D.letter("U", 0.05)], ids=["hash", "U"])
def test_pile_rests(shape):
    """A pile comes to rest, floor and walls carry its weight, and grains hardly overlap."""
    scene = planar_scenes.pile(shape, 150)
    world = scene.build(device="cpu", num_threads=1, solver=gg.Solver(iterations=20))
    world.step(1e-3, 5000)
    mass = 150 * 1000.0 * shape.area
    assert float(world.stats["kinetic_energy"][0]) / mass < 1e-4
    assert float(world.stats["overlap_max_last"][0]) < 0.01
    assert int(world.stats["escaped_count"][0]) == 0
    lifted = -world.wall_wrenches[0, :, 1].sum()
    assert lifted == pytest.approx(mass * GRAVITY, rel=1e-3)


def test_thin_tilted_blocks_lean():
    """Two thin blocks lean at each other 15 degrees from upright: mu_c = tan(15) / 2 - a / (2 b) = .109 for half
    thickness over half length a / b = .05: at .1 they slide apart, at .3 they stand."""
    fallen = {}
    for friction in (0.1, 0.3):
        half, thick, tilt = 1.0, 0.05, math.radians(15.0)
        shape = gg.Shape2D.block(2 * half, 2 * thick)
        scene = gg.Scene(bounds=((-4.0, 0.0), (4.0, 4.0)))
        material = scene.add_material(density=1000.0, friction=friction, shape=shape)
        up = np.array([math.sin(tilt), math.cos(tilt)])
        # the lower corner stands on the floor, the upper one touches the other block on the axis of symmetry
        x = half * up[0] + thick * math.cos(tilt)
        y = half * up[1] + thick * math.sin(tilt)
        scene.add_grains(material, [(-x, y), (x, y)], angles=[math.pi / 2 - tilt, math.pi / 2 + tilt])
        world = scene.build(device="cpu", num_threads=1, solver=gg.Solver(iterations=20))
        world.step(1e-3, 2000)
        fallen[friction] = bool((world.positions[0, :, 1] < 0.8 * y).any())
    assert fallen == {0.1: True, 0.3: False}


@pytest.mark.parametrize("name", ["leaning_block", "triangle"])
def test_leaning_blocks_stand_above_their_threshold(name):
    """Friction a hundredth below and above the limit from the balance of forces."""
    run, left = load_scene(name), []
    for friction in (run.threshold - 0.01, run.threshold + 0.01):
        label = f"{friction:.4f}"
        with run().scene(label).build(solver=run.solver, num_threads=1) as world:
            start = world.positions[0, :, 1].min()
            world.step(1e-3, 3000)
            left.append(world.positions[0, :, 1].min() / start)
    assert left[0] < 0.5 and left[1] > 0.999, f"heights left below and above {run.threshold:.3f}: {left}"


def test_fixed_grains_stay_and_move_as_told():
    scene = planar_scenes.free_scene((0.0, -GRAVITY))
    shape = gg.Shape2D.octagon(0.2)
    fixed = scene.add_material(density=1000.0, friction=0.5, shape=shape, fixed=True)
    scene.add_grains(fixed, [(0.0, 0.0), (1.0, 0.0)], velocities=[(0.0, 0.0), (0.5, 0.0)])
    world = scene.build(device="cpu", num_threads=1)
    world.step(1e-3, 1000)
    assert world.positions[0, 0].tolist() == [0.0, 0.0, 0.0]
    # a thousand roundings of half a unit in the last place of 1
    assert world.positions[0, 1] == pytest.approx([1.5, 0.0, 0.0], abs=6e-5)


def signed_distances(ring: np.ndarray, points: np.ndarray) -> np.ndarray:
    """Signed distance of points from a closed polygon, < 0 inside, by its edges and by ray crossings."""
    start, end = ring, np.roll(ring, -1, axis=0)
    along, to = end - start, points[:, None] - start
    share = np.clip((to * along).sum(axis=2) / (along**2).sum(axis=1), 0.0, 1.0)
    distance = np.linalg.norm(to - share[..., None] * along, axis=2).min(axis=1)
    (x0, y0), (x1, y1) = start.T, end.T
    x, y = points[:, :1], points[:, 1:]
    with np.errstate(divide="ignore", invalid="ignore"):
        crosses = ((y0 > y) != (y1 > y)) & (x < x0 + (y - y0) / (y1 - y0) * (x1 - x0))
    return np.where(crosses.sum(axis=1) % 2, -distance, distance)


@pytest.mark.parametrize("shape", [gg.Shape2D.hash(0.5), gg.Shape2D.letter("U", 0.5)], ids=["hash", "U"])
def test_at_rest_no_vertex_lies_in_another_grain(shape):
    """Overlap of vertices with exact polygons, independent of pair fields."""
    with planar_scenes.pile(shape, 60, seed=3).build(solver=gg.Solver(iterations=20), num_threads=1) as world:
        world.step(1e-3, 4000)
        places = world.positions[0, :, :2].astype(np.float64)
        angles = world.angles[0].astype(np.float64)
        reported = float(world.stats["overlap_max"][0])
    turn = np.stack([np.cos(angles), -np.sin(angles), np.sin(angles), np.cos(angles)], axis=1).reshape(-1, 2, 2)
    rings = [[ring @ r.T + place for ring in shape.rings] for r, place in zip(turn, places, strict=True)]
    near = np.linalg.norm(places[:, None] - places, axis=2) < 2.0 * shape.circumradius
    deepest, touching = 0.0, 0
    for a in range(len(places)):
        for b in np.flatnonzero(near[a]):
            if a == b:
                continue
            # the hole of # is outside: solid where the outer ring holds the point and no hole does
            vertices = np.concatenate(rings[b])
            outer, *holes = (signed_distances(ring, vertices) for ring in rings[a])
            solid = np.max([outer, *(-hole for hole in holes)], axis=0)
            deepest = max(deepest, -float(solid.min()))
            touching += int((np.abs(solid) < 0.004).any())
    # coarse fields (cells of a sixteenth of the size) have errors of up to 2 % of the size in depth
    assert touching > 60, "grains that carry each other touch"
    assert deepest < 0.02, f"a vertex lies {deepest:.4f} m inside another grain, reported are {reported:.4f}"
    assert places[:, 1].min() > 0.0
