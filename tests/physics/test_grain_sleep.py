"""Grains that sleep while others of their env move: what they carry, when they wake, and that nothing else changes."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import granular_gym as gg
from testbed.beds import DENSITY, DIAMETER, DT, GRAVITY, RADIUS, lattice, mass
from testbed.heaps import COUNT, START, STEP, blade_pose, trough

Note = Callable[..., None]


def build(sleep: bool = True, env_count: int = 1, scene: gg.Scene | None = None, **settings: Any) -> gg.World:
    options = {"num_threads": settings.pop("num_threads", 1), "overlaps": settings.pop("overlaps", "error")}
    return (scene or trough()).build(env_count, device="cpu", solver=gg.Solver(sleep=sleep, **settings), **options)


@functools.cache
def settled() -> gg.State:
    """The trough at rest, awake."""
    with build(sleep=False) as world:
        world.step(DT, 1500)
        return world.save_state()


def plough(world: gg.World, steps: int, envs: int = 1) -> tuple[NDArray[Any], NDArray[Any]]:
    """Drives the blade through the left heap; its wrenches and the shares of grains asleep by step."""
    wrenches, shares = [], []
    for k in range(steps):
        world.step(DT, STEP, tool_poses=np.tile(blade_pose(k), (envs, 1, 1)))
        wrenches.append(world.wrenches[0, 0])
        shares.append(world.stats["asleep_share"].copy())
    return np.array(wrenches), np.array(shares)


def lowered(sleep: bool = True, env_count: int = 1, **settings: Any) -> gg.World:
    """The trough at rest, with its blade in the bed."""
    world = build(sleep, env_count, **settings)
    world.load_state(settled())
    world.set_tool_poses(np.tile(np.float32((*START, 1.0, 0.0, 0.0, 0.0)), (env_count, 1, 1)))
    return world


def imbalance(world: gg.World) -> NDArray[np.float64]:
    """Impulse of all contacts and of gravity on each grain in the last substep, over m g dt."""
    contacts = world.contacts(0)
    weight = float(mass()) * GRAVITY * contacts.dt
    total = np.zeros((world.grain_count, 3))
    np.add.at(total, contacts.pairs[:, 0], contacts.impulses)
    grains = contacts.pairs[:, 1] >= 0
    np.add.at(total, contacts.pairs[grains, 1], -contacts.impulses[grains])
    total[:, 2] -= weight
    return np.linalg.norm(total, axis=1) / weight


def test_a_bed_sleeps_where_nothing_moves(measured: Note) -> None:
    """While a blade ploughs one end; what sleeps stays where it is to the bit, and is still counted and carried."""
    with lowered() as world, lowered(sleep=False) as never:
        force, shares = plough(world, 60)
        expected, _ = plough(never, 60)
        mean, wanted = force[20:, 0].mean(), expected[20:, 0].mean()
        measured(asleep=shares[20:].mean(), force=mean, force_awake=wanted)
        assert shares[20:].min() > 0.4 and shares[20:].max() < 1.0
        assert mean == pytest.approx(wanted, rel=0.1)
        still = never.positions[0, :, 0] > 0.05
        assert still.sum() == COUNT // 2
        apart = np.abs(world.positions[0, still] - never.positions[0, still]).max() / DIAMETER
        measured(apart_in_diameters=apart)
        assert apart < 1e-3
        for name in ("contact_count", "tool_contact_count"):
            assert world.stats[name][0] == pytest.approx(never.stats[name][0], rel=0.03), name
        assert world.stats["overlap_max"][0] < 2.0 * never.stats["overlap_max"][0] + 0.01


def test_forces_balance_asleep(measured: Note) -> None:
    """With the blade at rest in the bed all grains fall asleep in balance, and the walls carry their weight."""
    with lowered() as world:
        plough(world, 20)
        pose = world.tool_poses[0].copy()
        for _ in range(100):
            world.step(DT, STEP, tool_poses=pose)
        assert world.stats["asleep_share"][0] == 1.0
        off = imbalance(world)
        carried = -(world.wall_wrenches[0, :, 2].sum() + world.wrenches[0, 0, 2]) / (COUNT * mass() * GRAVITY)
        measured(carried=carried, imbalance_mean=off.mean(), imbalance_max=off.max())
        assert carried == pytest.approx(1.0, abs=1e-4)
        assert off.max() < 0.12 and off.mean() < 5e-3


def test_no_grain_hangs(measured: Note) -> None:
    """A plate under half of a sleeping bed is drawn away: what lay on it falls with the grains that never slept."""

    def fall(sleep: bool) -> NDArray[np.float64]:
        scene = gg.Scene(((-0.1, -0.05, 0.0), (0.1, 0.05, 0.5)))
        sand = scene.add_material(density=DENSITY, friction=0.5, rolling_friction=0.2)
        scene.fill_box(sand, (-0.1, -0.05, 0.1), (0.1, 0.05, 0.3), count=600, radius=RADIUS, seed=1)
        scene.add_tool(gg.Sdf.box((0.05, 0.05, 0.01)), name="fixed", pose=(-0.05, 0.0, 0.09))
        scene.add_tool(gg.Sdf.box((0.05, 0.05, 0.01)), name="drawn", pose=(0.05, 0.0, 0.09))
        with build(sleep, scene=scene) as world:
            poses = world.tool_poses[0].copy()
            for _ in range(90):
                world.step(DT, STEP)
            assert world.stats["asleep_share"][0] == float(sleep)
            heights = []
            for _ in range(12):
                poses[1, 2] -= 0.05 * DT * STEP * 20
                world.step(DT, STEP, tool_poses=poses)
                x = world.positions[0].astype(np.float64)
                heights.append([x[:, 2].mean(), (x[:, 2] < 0.09).mean()])
            return np.array(heights)

    awake, asleep = fall(False), fall(True)
    apart = np.abs(awake - asleep)
    measured(mean_height_apart=apart[:, 0].max() / DIAMETER, fallen_apart=apart[:, 1].max())
    assert awake[-1, 1] > 0.2
    assert apart[:, 0].max() < 0.1 * DIAMETER and apart[:, 1].max() < 0.03


def test_waking_overtakes_the_fall(measured: Note) -> None:
    """A plate is drawn away from under 15 layers asleep beside a heap that is ploughed: how late each grain falls.

    Waking travels by at least a layer of grains in a substep.
    """
    sides = {"left": 150, "right": 700}
    scene = gg.Scene(((-0.2, -0.03, 0.0), (0.2, 0.03, 0.5)))
    sand = scene.add_material(density=DENSITY, friction=0.5, rolling_friction=0.2)
    scene.fill_box(sand, (-0.2, -0.03, 0.0), (-0.06, 0.03, 0.05), count=sides["left"], radius=RADIUS, seed=3)
    scene.fill_box(sand, (0.1, -0.03, 0.06), (0.2, 0.03, 0.35), count=sides["right"], radius=RADIUS, seed=1)
    scene.add_tool(gg.Sdf.box((0.01, 0.02, 0.02)), name="blade", pose=(-0.18, 0.0, 0.4))
    scene.add_tool(gg.Sdf.box((0.05, 0.03, 0.01)), name="plate", pose=(0.15, 0.0, 0.05))
    scene.add_tool(gg.Sdf.box((0.01, 0.03, 0.2)), name="partition", pose=(0.09, 0.0, 0.26))
    column = slice(sides["left"], None)
    with build(scene=scene) as world, build(sleep=False, scene=scene) as never:
        world.step(DT, 1500)
        poses = world.tool_poses[0].copy()
        poses[0, 2] = 0.025
        for _ in range(30):
            poses[0, 0] += 0.1 * DT * STEP
            world.step(DT, STEP, tool_poses=poses[None])
        assert 0.7 < world.stats["asleep_share"][0] < 1.0
        assert not world.velocities[0, column].any()
        never.load_state(world.save_state())
        layer = (world.positions[0, column, 2] - 0.06) / DIAMETER
        # faster than what lies on it falls within the step
        poses[1, 2] -= 0.02
        for one in (world, never):
            one.step(DT, STEP, tool_poses=poses[None])
        speeds = [one.velocities[0, column, 2].astype(np.float64) for one in (world, never)]
        late = (speeds[0] - speeds[1]) / (GRAVITY * DT)
        measured(layers=layer.max(), late_in_substeps=late.max(), late_mean=late.mean())
        assert layer.max() > 14.0 and speeds[1].max() < -0.8 * GRAVITY * DT * STEP
        assert (late < 1.0 + layer).all() and late.max() < 0.5 * layer.max()


def test_a_grain_that_rolls_slowly_falls_asleep_at_once() -> None:
    """It is stopped: what it moved by is no imbalance, for which it would wake again."""
    scene = gg.Scene(bounds=((-0.1, -0.1, 0.0), (0.1, 0.1, 0.2)))
    sand = scene.add_material(radius=RADIUS, density=DENSITY, friction=0.5, rolling_friction=0.0)
    scene.add_grains(sand, [(0.0, 0.0, RADIUS), (1.2 * DIAMETER, 0.0, 1.9 * DIAMETER)])
    slow = 0.8e-2 * GRAVITY * DT
    with build(scene=scene) as world:
        world.step(DT, 1)
        world.set_grains(
            velocities=np.array([[(slow, 0.0, 0.0), (0.0, 0.0, 0.0)]], np.float32),
            angular_velocities=np.array([[(0.0, slow / RADIUS, 0.0), (0.0, 0.0, 0.0)]], np.float32),
        )
        asleep = []
        for _ in range(30):  # meanwhile the other grain falls beside it, without touching it
            world.step(DT, 1)
            asleep.append(bool(world.stats["asleep_share"][0] == 0.5))
        assert 0 < asleep.index(True) < 10 and all(asleep[asleep.index(True) :])


def test_a_shot_wakes_what_it_hits(measured: Note) -> None:
    """A heavy grain shot into a sleeping bed goes as deep as into one that never slept."""

    def shoot(sleep: bool) -> tuple[float, float]:
        scene = gg.Scene(((-0.06, -0.06, 0.0), (0.06, 0.06, 0.6)))
        sand = scene.add_material(density=DENSITY, friction=0.5, rolling_friction=0.2)
        shot = scene.add_material(density=8 * DENSITY, friction=0.5, rolling_friction=0.2)
        scene.add_grains(sand, lattice(900, 6.0), RADIUS)
        scene.add_grains(shot, [[0.0, 0.0, 0.5]], RADIUS)
        with build(sleep, scene=scene) as world:
            world.set_gravity((0.0, 0.0, -GRAVITY))
            for _ in range(80):
                world.step(DT, STEP)
            x, v = world.positions.copy(), world.velocities.copy()
            x[0, -1], v[0, -1] = (0.0, 0.0, 0.4), (0.0, 0.0, -4.0)
            world.set_grains(positions=x, velocities=v)
            deepest = 0.0
            for _ in range(12):
                world.step(DT, STEP)
                deepest = max(deepest, float(world.stats["overlap_max"][0]))
            return float(world.positions[0, -1, 2]), deepest

    (height, overlap), (height_asleep, overlap_asleep) = shoot(False), shoot(True)
    measured(height=height, height_asleep=height_asleep, overlap=overlap, overlap_asleep=overlap_asleep)
    assert height_asleep == pytest.approx(height, abs=DIAMETER)
    assert overlap_asleep < overlap + 0.05


def test_a_state_goes_on_asleep() -> None:
    """Saved with a part asleep and loaded elsewhere, also into a world in which nothing sleeps."""
    with lowered() as world, build() as other, build(sleep=False) as never:
        plough(world, 30)
        share = world.stats["asleep_share"][0]
        assert 0.0 < share < 1.0
        state = world.save_state()
        for copy in (other, never):
            copy.load_state(state)
            assert copy.state_hash() == world.state_hash()
            np.testing.assert_array_equal(copy.contacts(0).impulses, world.contacts(0).impulses)
        world.step(DT, STEP)
        other.step(DT, STEP)
        never.step(DT, STEP)
        assert other.state_hash() == world.state_hash()
        assert never.stats["asleep_share"][0] == 0.0
        contacts = never.contacts(0)
        assert never.stats["contact_count"][0] == 2 * len(contacts.pairs) - never.stats["tool_contact_count"][0]
        assert np.abs(never.positions - world.positions).max() < 0.05 * DIAMETER
        # and one saved where nothing sleeps
        other.load_state(never.save_state())
        other.step(DT, STEP)
        assert other.stats["asleep_share"][0] < 1.0


@pytest.mark.parametrize("change", ["set_gravity", "transform", "set_solver", "dt"])
def test_all_wake(change: str) -> None:
    """Where anything of the env is set, with the impulses that were kept: nothing sinks."""
    with lowered() as world:
        plough(world, 30)
        assert world.stats["asleep_share"][0] > 0.3
        pose = world.tool_poses[0].copy()
        before = world.positions[0].astype(np.float64)
        far = before[:, 0] > 0.0
        if change == "set_gravity":
            world.set_gravity((0.0, 0.0, -GRAVITY))
        elif change == "transform":
            world.transform_grains((0.0, 0.0, 0.0), 0.0)
        elif change == "set_solver":
            world.set_solver(gg.Solver(sleep=False))
        world.step(0.5 * DT if change == "dt" else DT, 1, tool_poses=pose)
        assert world.stats["asleep_share"][0] == 0.0
        moved = np.abs(world.positions[0].astype(np.float64) - before)[far]
        assert moved.max() < 1e-3 * DIAMETER


@pytest.mark.parametrize(("env_count", "threads"), [(1, 3), (4, 1), (4, 3)])
def test_same_bits_in_any_company(env_count: int, threads: int) -> None:
    """A part asleep, by threads that share the env or take one each."""

    def run(envs: int, num_threads: int) -> list[tuple[int, bytes]]:
        with lowered(env_count=envs, num_threads=num_threads) as world:
            told = []
            for _ in range(3):
                _, shares = plough(world, 8, envs)
                told.append((world.state_hash(envs - 1), world.wrenches[envs - 1].tobytes()))
            assert 0.0 < shares[-1].min() < 1.0
            return told

    assert run(env_count, threads) == run(1, 1)


def test_same_bits_where_a_buffer_grows_for_another_env() -> None:
    """One whose grains lie in each other, while a heap of this one wakes bit by bit."""

    def run(env_count: int) -> tuple[list[int], int]:
        hashes = []
        with lowered(env_count=env_count, overlaps="ignore") as world:
            plough(world, 25, env_count)
            world.step(DT, 3, tool_poses=np.tile(blade_pose(25), (env_count, 1, 1)))
            if env_count > 1:
                dense = world.positions[1:] * np.float32((0.35, 0.35, 1.0))
                world.set_grains(positions=dense, velocities=np.zeros_like(dense), envs=[1])
            grown = 0
            for k in range(26, 34):
                world.step(DT, STEP, tool_poses=np.tile(blade_pose(k), (env_count, 1, 1)))
                grown += int(world.stats["growth_count"].sum())
                hashes.append(world.state_hash(0))
            assert 0.0 < world.stats["asleep_share"][0] <= 0.5, "of two heaps the one with the blade is awake"
        return hashes, grown

    (alone, none), (beside, grown) = run(1), run(2)
    assert none == 0 < grown
    assert alone == beside


def test_same_bits_on_every_instruction_set() -> None:
    """Of those that this machine has."""
    told = set()
    for name in ("scalar", "vector128", "avx2", "avx512"):
        with lowered() as world:
            try:
                world._core.set_kernel(name)
            except gg.BackendError:
                continue
            plough(world, 15)
            assert world.stats["asleep_share"][0] > 0.0
            told.add((world.state_hash(), world.wrenches.tobytes()))
    assert len(told) == 1


def test_sizes_and_cohesion() -> None:
    """Grains of two sizes that stick together: a part sleeps, and the rest goes on."""
    scene = gg.Scene(((-0.2, -0.05, 0.0), (0.2, 0.05, 0.4)))
    sand = scene.add_material(density=DENSITY, friction=0.5, rolling_friction=0.2, cohesion=2e-2, cohesion_range=1e-4)
    scene.fill_box(sand, (-0.2, -0.05, 0.0), (0.2, 0.05, 0.15), count=500, radius=(0.4 * RADIUS, RADIUS), seed=4)
    scene.add_tool(gg.Sdf.box((0.01, 0.045, 0.03)), name="blade", pose=(-0.17, 0.0, 0.3))
    with build(scene=scene) as world:
        for _ in range(60):
            world.step(DT, STEP)
        least, most = 1.0, 0.0
        for k in range(25):
            world.step(DT, STEP, tool_poses=[(-0.17 + 0.002 * k, 0.0, 0.03, 1.0, 0.0, 0.0, 0.0)])
            if k > 3:
                share = float(world.stats["asleep_share"][0])
                least, most = min(least, share), max(most, share)
        assert 0.0 < most < 1.0 and least < 1.0
        assert world.stats["diverged"][0] == 0 and world.stats["escaped_count"][0] == 0
        assert world.stats["overlap_max"][0] < 0.2
