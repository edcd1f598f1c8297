"""Clumps in scenes and worlds: what is read and set, states, batches, and what is refused."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import granular_gym as gg
from granular_gym.errors import ArgumentError, OverlapError, StateError
from testbed.clumps import ROCK, SIZE, box_of_clumps
from testbed.parity import clumped, fielded

TETRA = gg.Clump.tetrahedron(SIZE)
TURNED = (np.cos(0.3), 0.0, np.sin(0.3), 0.0)


def small(count: int = 12, env_count: int = 1, **material: Any) -> gg.World:
    """A few tetrahedra in a box."""
    return box_of_clumps(TETRA, count, **material).build(env_count=env_count, num_threads=1)


def bits(world: gg.World, env: int = 0) -> bytes:
    """All that moves in an env."""
    arrays = world.positions, world.velocities, world.angular_velocities, world.clump_poses, world.clump_velocities
    return b"".join(array[env].tobytes() for array in arrays)


def test_spheres_lie_where_their_clump_says() -> None:
    """Pose, size and motion of a clump give those of its spheres; lone grains are clumps of one."""
    scene = gg.Scene(((-1.0,) * 3, (1.0,) * 3), gravity=(0, 0, 0))
    four = scene.add_material(density=ROCK, shape=TETRA)
    ball = scene.add_material(density=ROCK, radius=0.01)
    assert scene.add_grains(ball, [(0.5, 0.0, 0.0)], velocities=[(0.0, 0.1, 0.0)]) == range(1)
    ids = scene.add_grains(
        four,
        [(0.0, 0.0, 0.0), (0.1, 0.2, 0.3)],
        radius=[SIZE, 2.0 * SIZE],
        velocities=[(0.0, 0.0, 0.0), (1.0, 2.0, 3.0)],
        orientations=[(1.0, 0.0, 0.0, 0.0), TURNED],
        angular_velocities=[(0.0, 0.0, 0.0), (0.0, 0.0, 5.0)],
    )
    assert ids == range(1, 9)
    with scene.build(num_threads=1) as world:
        assert (world.grain_count, world.clump_count) == (9, 3)
        np.testing.assert_array_equal(world.clump_of_grain, [0, 1, 1, 1, 1, 2, 2, 2, 2])
        np.testing.assert_allclose(world.positions[0, 1:5], TETRA.centers, atol=1e-9)
        turn = np.array([[np.cos(0.6), 0, np.sin(0.6)], [0, 1, 0], [-np.sin(0.6), 0, np.cos(0.6)]])
        arms = 2.0 * TETRA.centers @ turn.T
        np.testing.assert_allclose(world.positions[0, 5:], np.array([0.1, 0.2, 0.3]) + arms, atol=1e-7)
        motion = np.array([1.0, 2.0, 3.0]) + np.cross([0.0, 0.0, 5.0], arms)
        np.testing.assert_allclose(world.velocities[0, 5:], motion, atol=1e-6)
        np.testing.assert_allclose(world.angular_velocities[0, 5:], [[0.0, 0.0, 5.0]] * 4, atol=1e-5)
        np.testing.assert_allclose(world.radii[0, 5:], 2.0 * TETRA.radii, rtol=1e-6)
        np.testing.assert_allclose(world.clump_poses[0, 2], [0.1, 0.2, 0.3, *TURNED], atol=1e-12)
        np.testing.assert_allclose(world.clump_velocities[0, 2], [1, 2, 3, 0, 0, 5], atol=1e-12)
        volumes = [4.0 / 3.0 * np.pi * 0.01**3, TETRA.volume, 8.0 * TETRA.volume]
        np.testing.assert_allclose(world.clump_masses[0], ROCK * np.array(volumes), rtol=1e-6)


def test_clumps_are_set_and_read_back() -> None:
    """In one env of two; the frame is that of the shape, whatever its principal axes are."""
    odd = gg.Clump([(0, 0, 0), (0.004, 0, 0), (0.004, 0.004, 0.001)], [0.003, 0.003, 0.002])
    scene = gg.Scene(((-0.1,) * 3, (0.1,) * 3), gravity=(0, 0, 0))
    scene.add_material(density=ROCK, shape=odd)
    scene.add_grains(0, [(0, 0, 0), (0.03, 0, 0)])
    with scene.build(env_count=2, num_threads=1) as world:
        before = world.clump_poses[0].copy()
        poses = np.array([[0.0, 0.01, 0.0, *TURNED], [0.05, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0]])
        velocities = np.arange(12.0).reshape(2, 6)
        world.set_clumps(poses, velocities, envs=1)
        np.testing.assert_allclose(world.clump_poses[1], poses, atol=1e-12)
        np.testing.assert_allclose(world.clump_velocities[1], velocities, atol=1e-12)
        np.testing.assert_array_equal(world.clump_poses[0], before)
        world.step(1e-3)
        np.testing.assert_allclose(world.clump_poses[1, :, :3], poses[:, :3] + 1e-3 * velocities[:, :3], atol=1e-9)


@pytest.mark.parametrize("scene", [clumped, fielded])
def test_a_state_holds_clumps(scene: Callable[[], gg.Scene]) -> None:
    """A saved world goes on as the one it was saved from, to the bit, forces included; so do branches and pickles."""
    world = scene().build(num_threads=1)
    forces = np.zeros((world.clump_count, 6))
    forces[next(iter(world.bodies.values()))] = (0.0, 0.0, 1.0, 0.0, 0.01, 0.0)
    world.set_clump_wrenches(forces)
    world.step(1e-3, 150)
    state = world.save_state()
    world.step(1e-3, 50)
    other = scene().build(env_count=2, num_threads=1)
    other.load_state(state)
    other.step(1e-3, 50)
    assert bits(other, 1) == bits(other) == bits(world)
    branch = other.branch(3)
    branch.step(1e-3, 20)
    world.step(1e-3, 20)
    assert bits(branch, 2) == bits(world)
    np.testing.assert_array_equal(branch.clump_wrenches[2], forces)


@functools.cache
def bits_alone(scene: Callable[[], gg.Scene]) -> bytes:
    """What moves in a world of one env after 120 substeps."""
    with scene().build(num_threads=1) as alone:
        alone.step(1e-3, 120)
        return bits(alone)


#: each instruction set and each number of threads; with --full, each with each
COMPANY = {"scalar": 1, "vector128": 8, "avx2": 2, "avx512": 8}


@pytest.mark.parametrize(
    ("kernel", "threads"),
    [
        pytest.param(kernel, threads, marks=() if threads == usual else pytest.mark.full)
        for kernel, usual in COMPANY.items()
        for threads in (1, 2, 8)
    ],
)
@pytest.mark.parametrize("scene", [clumped, fielded])
def test_bits_do_not_depend_on_threads_vectors_or_company(
    kernel: str, threads: int, scene: Callable[[], gg.Scene]
) -> None:
    """Alone or in a batch, with every instruction set and number of threads."""
    many = scene().build(env_count=3, num_threads=threads)
    try:
        many._core.set_kernel(kernel)
    except gg.BackendError:
        pytest.skip(f"no {kernel} here")
    many.step(1e-3, 120)
    assert all(bits(many, env) == bits_alone(scene) for env in range(3))


@pytest.mark.parametrize("materials", [{}, {"rolling_friction": 0.2}, {"cohesion": 2.0, "cohesion_range": 1e-3}])
def test_lone_spheres_move_as_without_clumps(materials: dict[str, float]) -> None:
    """Contacts of spheres among clumps are solved as in a world of spheres: a body elsewhere changes rounding alone."""
    found = []
    for body in (False, True):
        scene = gg.Scene(((-0.1, -0.1, 0.0), (0.5, 0.1, 0.4)))
        ball = scene.add_material(density=ROCK, radius=SIZE, friction=0.4, restitution=0.3, **materials)
        places = 2.01 * SIZE * np.stack(np.meshgrid(*[np.arange(4)] * 3), axis=-1).reshape(-1, 3)
        scene.add_grains(ball, places + np.array([0.0, 0.0, 1.2 * SIZE]))
        if body:
            scene.add_body(TETRA, mass=0.1, pose=(0.4, 0.0, 0.2, 1.0, 0.0, 0.0, 0.0))
        with scene.build(num_threads=1, solver=gg.Solver(relaxation=1.0, sleep=False)) as world:
            world.step(1e-3, 30)
            found.append((world.positions[0, :64].astype(np.float64), int(world.stats["contact_count"][0])))
    assert found[0][1] > 100
    np.testing.assert_allclose(found[0][0], found[1][0], atol=1e-4 * SIZE)


def test_a_bed_turns_and_moves_as_one() -> None:
    """`transform_grains` takes clumps along: a bed at rest stays at rest."""
    with small(30, friction=0.5) as world:
        world.step(1e-3, 800)
        poses = world.clump_poses[0]
        world.transform_grains((0.5, 0.1, 0.2), np.pi / 2.0)
        moved = world.clump_poses[0]
        np.testing.assert_allclose(moved[:, 0], 0.5 - poses[:, 1], atol=1e-7)
        np.testing.assert_allclose(moved[:, 1], 0.1 + poses[:, 0], atol=1e-7)
        np.testing.assert_allclose(moved[:, 2], 0.2 + poses[:, 2], atol=1e-7)
        spheres = world.positions[0].reshape(-1, 4, 3).astype(np.float64)
        np.testing.assert_allclose(spheres.mean(axis=1), moved[:, :3], atol=1e-7)


def test_a_bed_of_clumps_sleeps_and_wakes() -> None:
    """At rest it sleeps as a bed of spheres does; a force on a clump wakes it."""
    scene = box_of_clumps(TETRA, 12, friction=0.5)
    with scene.build(num_threads=1, solver=gg.Solver(sleep=True)) as world:
        for _ in range(40):
            world.step(1e-3, 50)
        assert world.stats["asleep_share"][0] == 1.0
        weight = world.clump_masses[0].sum() * 9.81
        assert -world.wall_wrenches[0, :, 2].sum() == pytest.approx(weight, rel=1e-4)
        world.set_clump_wrenches([[0.0, 0.0, 5.0 * weight, 0.0, 0.0, 0.0]] + [[0.0] * 6] * 11)
        world.step(1e-3, 50)
        assert world.stats["asleep_share"][0] < 1.0
        assert world.clump_velocities[0, 0, 2] > 0.1


def test_fixed_clumps_stay_and_carry() -> None:
    """Clumps of a fixed material have no mass to move: others rest on them."""
    scene = gg.Scene(((-0.1, -0.1, -0.1), (0.1, 0.1, 0.2)), boundary={"z": "open"})
    scene.add_material(density=ROCK, shape=gg.Clump.cube(0.02), fixed=True)
    scene.add_material(density=ROCK, shape=TETRA)
    scene.add_grains(0, [(0, 0, 0)])
    scene.add_grains(1, [(0, 0, 0.02)])
    with scene.build(num_threads=1) as world:
        world.step(1e-3, 500)
        np.testing.assert_array_equal(world.clump_poses[0, 0], [0, 0, 0, 1, 0, 0, 0])
        assert world.clump_poses[0, 1, 2] > 0.0
        assert np.abs(world.clump_velocities[0, 1]).max() < 1e-3


def test_a_dynamic_tool_rests_on_clumps() -> None:
    """A tool with a mass presses a bed with its weight."""
    scene = box_of_clumps(TETRA, 60, friction=0.5)
    steel = scene.add_material(density=7800.0)
    plate = gg.Sdf.box((0.024, 0.024, 0.004))
    scene.add_tool(plate, name="plate", material=steel, mass=0.2, free="z", pose=(0.025, 0.025, 0.2, 1, 0, 0, 0))
    with scene.build(num_threads=1) as world:
        world.step(1e-3, 1500)
        weight = 0.2 * 9.81
        assert world.wrenches[0, 0, 2] == pytest.approx(weight, rel=0.01)
        assert abs(world.tool_poses[0, 0, 2]) < 0.1


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda s: s.add_material(density=1.0, shape=gg.Shape2D.octagon(1.0)), "shape: expected a Clump"),
        (lambda s: s.add_material(density=1.0, shape=TETRA, radius=1.0), "radius: a grain with a shape"),
        (lambda s: s.add_grains("ball", [(0, 0, 0)], orientations=TURNED), "whose shape is a Clump"),
        (lambda s: s.add_grains("four", [(0, 0, 0)], orientations=(0, 0, 0, 0)), "orientations: expected quaternions"),
        (lambda s: s.add_grains("four", [(0, 0, 0)], orientations=(1, 0, 0)), "orientations: expected shape"),
        (lambda s: s.add_grains("four", [(0, 0, 0)], angles=1.0), "angles"),
        (lambda s: s.add_body(TETRA, -1.0), "mass: expected"),
        (lambda s: s.add_body(TETRA, 1.0, inertia=(1.0, 1.0, 3.0)), "none above the sum of the others, got 1, 1, 3"),
        (lambda s: s.add_body(TETRA, 1.0, inertia=(1.0, -1.0, 1.0)), "inertia: expected principal moments > 0"),
        (lambda s: s.add_body("cube.stl", 1.0), "shape: expected"),
        (lambda s: [s.add_body(TETRA, 1.0, name="a"), s.add_body(TETRA, 1.0, name="a")], "taken by another body"),
    ],
)
def test_what_no_clump_can_be_is_refused(call: Any, words: str) -> None:
    """Messages name the argument and what came."""
    scene = gg.Scene(((-1.0,) * 3, (1.0,) * 3))
    scene.add_material(density=2000.0, radius=0.01, name="ball")
    scene.add_material(density=2000.0, shape=TETRA, name="four")
    with pytest.raises(ArgumentError, match=words):
        call(scene)


def test_no_clump_is_longer_than_the_way_round() -> None:
    """It would pass through its own image."""
    rod = gg.Clump.rod(0.04, 8)
    for length, fits in ((1.1, True), (0.9, False)):
        half = length * rod.radius
        scene = gg.Scene(((-half, -1, -1), (half, 1, 1)), boundary={"x": "periodic"})
        scene.add_material(density=2000.0, shape=rod, name="rod")
        scene.add_grains("rod", [(0, 0, 0)])
        with contextlib.nullcontext() if fits else pytest.raises(ArgumentError, match="longer than a clump.* on x"):
            scene.build(device="cpu", num_threads=1).close()


def test_worlds_refuse_what_clumps_cannot_take() -> None:
    """Setting single spheres, poses of another shape, other modes, states of other clumps, bodies in walls."""
    with small() as world:
        with pytest.raises(ArgumentError, match="set_clumps"):
            world.set_grains(positions=world.positions)
        with pytest.raises(ArgumentError, match="poses: expected shape"):
            world.set_clumps(poses=np.zeros((3, 7)))
        with pytest.raises(ArgumentError, match="no length"):
            world.set_clumps(poses=np.zeros((12, 7)))
        with pytest.raises(ArgumentError, match="finite"):
            world.set_clumps(velocities=np.full((12, 6), np.nan))
        with pytest.raises(ArgumentError, match="finite"):
            world.set_clump_wrenches(np.full((12, 6), np.inf))
        with small(13) as other, pytest.raises(StateError):
            other.load_state(world.save_state())
    for mode in ("jacobi", "paper"):
        with pytest.raises(ArgumentError, match="clumps have gauss_seidel and bell alone"):
            box_of_clumps(TETRA, 3).build(solver=gg.Solver(mode=mode))
    spheres = gg.Scene(((-1.0,) * 3, (1.0,) * 3))
    spheres.add_material(density=1.0, radius=0.1)
    spheres.add_grains(0, [(0, 0, 0)])
    with spheres.build() as world:
        assert world.clump_count == 0
        for read in ("clump_poses", "clump_velocities", "clump_of_grain", "clump_masses", "clump_wrenches"):
            with pytest.raises(ArgumentError, match="expected a world that has some"):
                getattr(world, read)
    scene = gg.Scene(((-0.1,) * 3, (0.1,) * 3))
    scene.add_material(density=1.0)
    scene.add_body(TETRA, 1.0, pose=(0.1, 0.0, 0.0, 1, 0, 0, 0))
    with pytest.raises(OverlapError):
        scene.build()


def test_a_clump_that_is_no_longer_finite_freezes_its_env_alone() -> None:
    """An absurd force: the env diverges, the other one goes on."""
    with small(env_count=2) as world:
        forces = np.zeros((2, 12, 6))
        forces[1, 0, 0] = 1e38
        world.set_clump_wrenches(forces)
        world.step(1e-3, 50)
        assert world.stats["diverged"].tolist() == [0, 1]
        assert np.isfinite(world.positions).all()
        assert np.isfinite(world.clump_poses).all()


@pytest.mark.filterwarnings("ignore::granular_gym.errors.StabilityWarning")
def test_settle_impulses_finds_what_carries_a_bed_of_clumps() -> None:
    """A bed whose poses were set gives way less; nothing moves meanwhile."""
    with small(200, friction=1.0) as world:
        world.step(1e-3, 800)
        poses, moved = world.clump_poses, {}
        for settled in (False, True):
            world.set_clumps(poses, np.zeros((200, 6)))
            if settled:
                world.settle_impulses(1e-3)
                np.testing.assert_allclose(world.clump_poses, poses, atol=1e-15)
            world.step(1e-3, 100)
            moved[settled] = float(np.median(np.linalg.norm((poses - world.clump_poses)[0, :, :3], axis=1)))
        assert moved[True] < 0.2 * moved[False]
