"""Fixed grains: rough floors and plates of spheres that act on others and are moved by nothing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import granular_gym as gg
from testbed.beds import DENSITY, DIAMETER, GRAVITY, RADIUS, mass
from testbed.parity import rough

Note = Callable[..., None]
WEIGHT = float(mass() * GRAVITY)


def over_a_floor(
    above: Any, below: Any, velocities: Any = None, moving: Any = None, **material: Any
) -> tuple[gg.Scene, range, range]:
    """Free grains and fixed ones in the open: the scene and the ids of both."""
    scene = gg.Scene(((-1, -1, -1), (1, 1, 1)), boundary=dict.fromkeys("xyz", "open"))
    sand = scene.add_material(density=DENSITY, **material)
    stone = scene.add_material(density=DENSITY, fixed=True, **material)
    free = scene.add_grains(sand, above, RADIUS, velocities)
    return scene, free, scene.add_grains(stone, below, RADIUS, moving)


def lattice(count: int) -> np.ndarray:
    """count * count touching centres in the plane z = 0, about the origin."""
    steps = (np.arange(count) - (count - 1) / 2) * DIAMETER
    return np.array([(x, y, 0.0) for x in steps for y in steps])


@pytest.mark.parametrize("dt", [1e-3, 2e-3])
@pytest.mark.parametrize("rolling", [0.0, 0.2])
def test_heap_rests_on_a_rough_floor(dt: float, rolling: float, measured: Note) -> None:
    """Weight arrives at the floor, which stays to the bit; four grains hold one in their hollow."""
    floor = lattice(6)
    hollow = [[DIAMETER * x, DIAMETER * y, 1.6 * RADIUS] for x in (-1, 0, 1) for y in (-1, 0, 1)]
    scene, free, fixed = over_a_floor(hollow, floor, friction=0.5, rolling_friction=rolling)
    with scene.build(num_threads=1) as world:
        start = world.positions[0, fixed.start :]
        world.step(dt, round(2.0 / dt))
        world.step(dt)
        assert np.array_equal(world.positions[0, fixed.start :], start)
        assert not world.velocities[0, fixed.start :].any()
        contacts = world.contacts().pressing(1e-3 * WEIGHT)
        to_floor = contacts.pairs[:, 1] >= fixed.start
        carried = float(contacts.forces[to_floor, 2].sum()) / (len(free) * WEIGHT)
        speed = float(np.abs(world.velocities[0]).max())
        measured(carried=carried, speed=speed, overlap=world.stats["overlap_max"][0])
        assert carried == pytest.approx(1.0, rel=1e-3)
        assert speed < 1e-5 and world.stats["overlap_max"][0] < 1e-3
        # touching centres over the hollow of four
        height = world.positions[0, : len(free), 2]
        np.testing.assert_allclose(height, np.sqrt(2.0) * RADIUS, rtol=1e-3)
        assert 0.0 <= world.stats["kinetic_energy"][0] < 1e-12


def test_fixed_grains_meet_neither_each_other_nor_tools_nor_walls() -> None:
    """Overlapping fixed grains, in a wall and in a tool: no contacts, no loads, no overlap, nothing moves."""
    scene = gg.Scene(((0, 0, 0), (1, 1, 1)))
    stone = scene.add_material(density=DENSITY, fixed=True)
    places = [[0.5, 0.5, 0.0], [0.5, 0.5 + 0.5 * RADIUS, 0.0], [0.3, 0.3, 0.5]]
    scene.add_grains(stone, places, RADIUS)
    scene.add_tool(gg.Sdf.box((0.1, 0.1, 0.1)), pose=(0.3, 0.3, 0.5, 1, 0, 0, 0))
    for broad_phase in ("cells", "linked_hash"):
        with scene.build(num_threads=1, solver=gg.Solver(broad_phase=broad_phase)) as world:
            world.step(1e-3, 20)
            stats = world.stats
            assert stats["contact_count"][0] == stats["tool_contact_count"][0] == stats["overlap_max"][0] == 0
            assert stats["diverged"][0] == stats["escaped_count"][0] == stats["kinetic_energy"][0] == 0
            assert not world.wrenches.any() and not world.wall_wrenches.any()
            assert np.array_equal(world.positions[0], np.float32(places))


def test_a_moving_plate_of_grains_carries_a_load(measured: Note) -> None:
    """Fixed grains keep the velocity they are given, and drag what lies on them along."""
    floor, speed, time = lattice(10), 0.05, 0.5
    scene, free, fixed = over_a_floor(
        [[-2 * DIAMETER, 0.0, np.sqrt(2.0) * RADIUS]], floor, moving=np.tile([speed, 0.0, 0.0], (len(floor), 1))
    )
    with scene.build(num_threads=1) as world:
        world.step(1e-3, round(time / 1e-3))
        moved = world.positions[0, fixed.start :] - np.float32(floor)
        np.testing.assert_allclose(moved, np.tile([speed * time, 0, 0], (len(floor), 1)), atol=1e-6)
        measured(load_speed=world.velocities[0, 0, 0])
        assert world.velocities[0, free.start] == pytest.approx([speed, 0, 0], abs=1e-4)


@pytest.mark.parametrize("order", ["free_first", "fixed_first"])
def test_a_ball_bounces_off_a_fixed_one(order: str, measured: Note) -> None:
    """Without loss it comes back to its height; on a tool of that shape likewise."""
    height, radius = 0.2, RADIUS
    scene = gg.Scene(((-1, -1, -1), (1, 1, 1)), boundary=dict.fromkeys("xyz", "open"))
    ball = scene.add_material(density=DENSITY, restitution=1.0, friction=0.0)
    stone = scene.add_material(density=DENSITY, restitution=1.0, friction=0.0, fixed=True)
    adds = [(ball, [[0.0, 0.0, height]]), (stone, [[0.0, 0.0, -radius]])]
    for material, place in adds if order == "free_first" else adds[::-1]:
        scene.add_grains(material, place, radius)
    me = 0 if order == "free_first" else 1
    with scene.build(num_threads=1) as world:
        # falls, bounces and is back after 2 sqrt(2 h / g)
        tops = []
        for _ in range(10):
            low = False
            best = 0.0
            for _ in range(round(2.0 * np.sqrt(2.0 * (height - radius) / GRAVITY) / 1e-3)):
                world.step(1e-3)
                z = float(world.positions[0, me, 2])
                low = low or z < 0.5 * height
                best = max(best, z) if low else best
            tops.append(best)
        assert not world.velocities[0, 1 - me].any() and np.isfinite(tops).all()
        measured(top_share=tops[-1] / height)
        assert tops[-1] == pytest.approx(height, rel=5e-3)


def test_cohesion_holds_a_grain_below_a_fixed_one() -> None:
    """A grain hangs from a fixed one while the attraction is larger than its weight."""
    scene, _, _ = over_a_floor([[0.0, 0.0, -DIAMETER]], [[0.0, 0.0, 0.0]])
    force = np.array([1.1, 0.9]) * WEIGHT
    with scene.build(env_count=2, num_threads=1) as world:
        pull = [gg.cohesion_of_force(f, RADIUS, RADIUS) for f in force]
        world.set_pair(0, 1, cohesion=pull, cohesion_range=0.1 * RADIUS)
        world.step(1e-3, 300)
        fall = -DIAMETER - world.positions[:, 0, 2]
        assert abs(fall[0]) < 1e-3 * RADIUS and fall[1] > 10 * RADIUS


def test_bits_do_not_depend_on_threads_kernels_lists_or_snapshots() -> None:
    """The same run in every way, and from a state in its middle."""

    def run(world: gg.World) -> int:
        world.step(1e-3, 150)
        return int(world.state_hash())

    with rough().build(num_threads=1) as world:
        world.step(1e-3, 150)
        half = world.save_state()
        expected = run(world)
        world.load_state(half)
        assert run(world) == expected
    for settings in ({"num_threads": 2}, {"solver": gg.Solver(broad_phase="linked_hash")}):
        with rough().build(**{"num_threads": 1, **settings}) as world:
            world.step(1e-3, 150)
            assert run(world) == expected, settings
    for kernel in ("scalar", "vector128", "avx2"):
        with rough().build(num_threads=1) as world:
            try:
                world._core.set_kernel(kernel)
            except gg.BackendError:
                continue
            world.step(1e-3, 150)
            assert run(world) == expected, kernel


def test_density_and_states_leave_fixed_grains_fixed() -> None:
    """A new density changes nothing of them; a state fits worlds that fix the same grains."""
    scene, _, fixed = over_a_floor([[0.0, 0.0, 0.3]], [[0.0, 0.0, 0.0]])
    with scene.build(num_threads=1) as world:
        world.set_density(1, 2.0 * DENSITY)
        world.step(1e-3, 400)
        assert world.positions[0, fixed.start] == pytest.approx([0, 0, 0], abs=0)
        state = world.save_state()
    loose = gg.Scene(((-1, -1, -1), (1, 1, 1)), boundary=dict.fromkeys("xyz", "open"))
    for height in (0.3, 0.0):
        loose.add_grains(loose.add_material(density=DENSITY), [[0.0, 0.0, height]], RADIUS)
    with loose.build(num_threads=1) as world, pytest.raises(gg.StateError, match="scene"):
        world.load_state(state)


def test_scenes_without_fixed_grains_keep_their_fingerprint() -> None:
    """Beds that were saved before there were fixed grains are found."""
    scene = gg.Scene(((-1, -1, -1), (1, 1, 1)))
    scene.add_grains(scene.add_material(density=DENSITY), [[0.0, 0.0, 0.3]], RADIUS)
    before = scene.fingerprint()
    frozen = scene.freeze()
    assert "material_fixed" in frozen.arrays and frozen.digest() == before
    fixed = gg.Scene(((-1, -1, -1), (1, 1, 1)))
    fixed.add_grains(fixed.add_material(density=DENSITY, fixed=True), [[0.0, 0.0, 0.3]], RADIUS)
    assert fixed.fingerprint() != before


def test_fixed_grains_may_overlap_when_a_world_is_built() -> None:
    """Each other, walls and tools; a free grain in one of them is found."""
    scene = gg.Scene(((0, 0, 0), (1, 1, 1)))
    stone, sand = scene.add_material(density=DENSITY, fixed=True), scene.add_material(density=DENSITY)
    scene.add_grains(stone, [[0.5, 0.5, 0.0], [0.5, 0.5 + 0.5 * RADIUS, 0.0], [0.3, 0.3, 0.5]], RADIUS)
    scene.add_tool(gg.Sdf.box((0.1, 0.1, 0.1)), pose=(0.3, 0.3, 0.5, 1, 0, 0, 0))
    with scene.build(num_threads=1) as world:
        assert len(world.overlaps().pairs) == 0
    scene.add_grains(sand, [[0.5, 0.5, 1.5 * RADIUS]], RADIUS)
    with pytest.raises(gg.OverlapError):
        scene.build(num_threads=1)
