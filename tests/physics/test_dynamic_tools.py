"""Tools with a mass: Newton's law under gravity, a force and the grains, at any ratio of masses."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import granular_gym as gg
from testbed.beds import DENSITY, DIAMETER, GRAVITY, RADIUS, faces, mass
from testbed.dynamic_tools import HALF, bed_mass, plate_on_bed

Note = Callable[..., None]
GRAIN = float(mass())


@pytest.fixture(params=["gauss_seidel", "jacobi"])
def solver(request: pytest.FixtureRequest) -> gg.Solver:
    """The default settings of either law of spheres."""
    return gg.Solver(mode=request.param)


def lone(gravity: Any = (0.0, 0.0, -GRAVITY), **tool: Any) -> gg.Scene:
    """A ball of 5 cm and no grains, in the open."""
    scene = gg.Scene(((-1, -1, -1), (1, 1, 1)), gravity=gravity, boundary=faces("open"))
    scene.add_material(density=DENSITY, friction=0.5)
    scene.add_tool(gg.Sdf.sphere(0.05), name="ball", **{"mass": 2.0, **tool})
    return scene


def test_free_fall_and_a_force() -> None:
    """Symplectic Euler, exact to the rounding of what is read; a force acts until it is changed, along free axes."""
    dt, n = float(np.float32(1e-3)), 1000
    with lone(free="xz").build(env_count=2, num_threads=1) as world:
        world.step(dt, n)
        g = float(np.float32(GRAVITY))
        fall = -g * dt * dt * n * (n + 1) / 2
        np.testing.assert_allclose(world.tool_poses[:, 0, :3], [[0.0, 0.0, fall]] * 2, rtol=1e-7)
        np.testing.assert_allclose(world.tool_velocity("ball"), [[0.0, 0.0, -g * dt * n]] * 2, rtol=1e-7)
        world.set_tool_force("ball", (3.0, 5.0, 2.0 * g), envs=1)
        assert world.tool_force("ball").tolist() == [[0, 0, 0], [3.0, 5.0, np.float32(2.0 * g)]]
        world.step(dt, n // 2)
        world.step(dt, n // 2)
        np.testing.assert_allclose(world.tool_velocity(0)[1], [1.5 * dt * n, 0.0, -g * dt * n], rtol=1e-6)
        np.testing.assert_allclose(world.tool_poses[1, 0, 0], 1.5 * dt * dt * n * (n + 1) / 2, rtol=1e-6)
        assert not world.wrenches.any() and world.tool_poses[1, 0, 1] == 0.0


@pytest.mark.parametrize("ratio", [0.1, 1.0, 10.0, 100.0, 1e3])
def test_a_plate_rests_on_a_bed(ratio: float, measured: Note, solver: gg.Solver) -> None:
    """Walls and floor carry bed and plate, the bed carries the plate; all stays."""
    with plate_on_bed(ratio).build(num_threads=1, solver=solver) as world:
        # a heavy plate compresses the bed first
        world.step(1e-3, 2000 if ratio < 1e3 else 8000)
        weight, bed = ratio * GRAIN * GRAVITY, bed_mass(world) * GRAVITY
        start, speeds, loads, carried = world.tool_poses[0, 0, 2], [], [], []
        for _ in range(100):
            world.step(1e-3)
            speeds.append([world.tool_velocity("plate")[0, 2], float(np.sqrt((world.velocities**2).sum(-1).mean()))])
            loads.append(world.wrenches[0, 0, 2])
            carried.append(-world.wall_wrenches[0, :, 2].sum())
        rms = np.sqrt(np.square(speeds).mean(axis=0))
        measured(
            ratio=ratio,
            load=np.mean(loads) / weight,
            load_noise=np.std(loads) / weight,
            carried=np.mean(carried) / (weight + bed),
            plate_rms=rms[0],
            grain_rms=rms[1],
            overlap=world.stats["overlap_max"][0],
        )
        np.testing.assert_allclose(loads, weight, rtol=1e-3)
        np.testing.assert_allclose(carried, weight + bed, rtol=1e-3)
        assert rms.max() < 1e-5
        assert world.tool_poses[0, 0, 2] == pytest.approx(start, abs=1e-6)
        assert world.stats["diverged"][0] == 0 and world.stats["overlap_max"][0] < 2e-3


@pytest.mark.parametrize("ratio", [1e-2, 1e4])
def test_extreme_ratios_stay_bounded(ratio: float, measured: Note, solver: gg.Solver) -> None:
    """A sheet of a hundredth of a grain, and a block of 50 beds: nothing is thrown, motion dies down."""
    with plate_on_bed(ratio).build(num_threads=1, solver=solver) as world:
        speeds = []
        for _ in range(10):
            world.step(1e-3, 200)
            speeds.append(float(np.abs(world.tool_velocity("plate")).max()))
            assert np.abs(world.velocities).max() < 1.0
        world.step(1e-3)
        measured(ratio=ratio, first=speeds[0], last=speeds[-1], overlap=world.stats["overlap_max"][0])
        assert speeds[-1] < 5e-3 and world.stats["diverged"][0] == 0
        load = world.wrenches[0, 0, 2] / (ratio * GRAIN * GRAVITY)
        assert load == pytest.approx(1.0, abs=0.05)


@pytest.mark.parametrize("ratio", [1.0, 100.0])
def test_a_piston_presses_with_its_force(ratio: float, measured: Note, solver: gg.Solver) -> None:
    """At rest the grains push back with force and weight, also where the piston weighs as much as a grain."""
    force = 5.0
    with plate_on_bed(ratio).build(num_threads=1, solver=solver) as world:
        world.set_tool_force("plate", (0.0, 0.0, -force))
        world.step(1e-3, 3000)
        world.step(1e-3, 100)
        wanted = force + ratio * GRAIN * GRAVITY
        speed = float(np.abs(world.tool_velocity("plate")).max())
        measured(load=world.wrenches[0, 0, 2] / wanted, speed=speed, overlap=world.stats["overlap_max"][0])
        assert world.wrenches[0, 0, 2] == pytest.approx(wanted, rel=1e-3)
        assert speed < 1e-4
        # released, it still lies there; pulled, it comes off
        world.set_tool_force("plate", (0.0, 0.0, 0.0))
        world.step(1e-3, 500)
        assert world.wrenches[0, 0, 2] == pytest.approx(ratio * GRAIN * GRAVITY, rel=0.02)
        world.set_tool_force("plate", (0.0, 0.0, 2.0 * wanted))
        world.step(1e-3, 50)
        world.step(1e-3)
        assert world.tool_velocity("plate")[0, 2] > 0.1 and not world.wrenches[0, 0].any()


@pytest.mark.parametrize("ratio", [0.1, 10.0, 1e4])
@pytest.mark.parametrize("restitution", [0.0, 0.8])
def test_momentum_is_kept(ratio: float, restitution: float, measured: Note, solver: gg.Solver) -> None:
    """A ball flies into a cluster without gravity: momentum is kept to the rounding of floats.

    Gauss-Seidel rounds the velocities of grains at every contact, Jacobi once an iteration.
    """
    scene = gg.Scene(((-1, -1, -1), (1, 1, 1)), gravity=(0, 0, 0), boundary=faces("open"))
    sand = scene.add_material(density=DENSITY, friction=0.5, restitution=restitution, rolling_friction=0.1)
    scene.fill_box(sand, (-0.03, -0.03, -0.03), (0.03, 0.03, 0.03), radius=(0.8 * RADIUS, RADIUS), seed=3)
    scene.add_tool(gg.Sdf.sphere(0.02), name="ball", mass=ratio * GRAIN, pose=(-0.06, 0.0, 0.004))
    with scene.build(num_threads=1, solver=solver) as world:
        masses = mass(world.radii[0].astype(np.float64))
        world.set_tool_velocity("ball", (2.0, 0.1, 0.0))
        ball = ratio * GRAIN
        before = ball * world.tool_velocity("ball")[0].astype(np.float64)
        worst = 0.0
        for _ in range(100):
            world.step(5e-4)
            moving = masses @ world.velocities[0].astype(np.float64)
            after = moving + ball * world.tool_velocity("ball")[0].astype(np.float64)
            worst = max(worst, float(np.abs(after - before).max()))
        speeds = np.linalg.norm(world.velocities[0], axis=1)
        measured(ratio=ratio, error=worst / np.linalg.norm(before), slowed=world.tool_velocity("ball")[0, 0])
        rounding = {"gauss_seidel": 3e-6, "jacobi": 1e-6}[solver.mode]
        assert worst < rounding * np.linalg.norm(before)
        assert (speeds > 1e-3).sum() > 2


def test_a_ball_bounces_off_a_grain_as_grains_do(measured: Note, solver: gg.Solver) -> None:
    """Centre to centre: relative speed times the restitution, shared by mass, to the slack of gaps over a substep."""
    dt, half = 1e-4, 0.1
    for ratio in (0.2, 1.0, 30.0):
        scene = gg.Scene(((-half,) * 3, (half,) * 3), gravity=(0, 0, 0), boundary=faces("open"))
        sand = scene.add_material(density=DENSITY, restitution=0.7)
        scene.add_grains(sand, [[0.03, 0.0, 0.0]], RADIUS)
        scene.add_tool(gg.Sdf.sphere(0.02), name="ball", mass=ratio * GRAIN)
        with scene.build(num_threads=1, solver=solver) as world:
            world.set_tool_velocity("ball", (1.0, 0.0, 0.0))
            world.step(dt, 200)
            u = world.tool_velocity("ball")[0, 0], world.velocities[0, 0, 0]
            common = ratio / (1.0 + ratio)
            measured(ratio=ratio, ball=u[0], grain=u[1])
            slack = 1e-5 * RADIUS
            assert 2.5e-7 * half < slack
            wanted = common - 0.7 * (1 - common), common + 0.7 * common
            np.testing.assert_allclose(u, wanted, rtol=1e-5, atol=1.7 * slack / dt)


def test_stops_hold_and_do_not_bounce() -> None:
    """Given travel, walls of the bounds as a default, and beyond open faces nothing."""
    scene = gg.Scene(((-0.2, -0.2, 0.0), (0.2, 0.2, 1.0)), boundary={"x": "open"})
    scene.add_material(density=DENSITY, restitution=1.0)
    turned = (0.1, -0.1, 0.4, np.sqrt(0.5), np.sqrt(0.5), 0.0, 0.0)  # by 90 degrees about x
    scene.add_tool(gg.Sdf.box((0.03, 0.02, 0.01)), name="slab", pose=turned, mass=1.0)
    scene.add_tool(gg.Sdf.sphere(0.01), name="ball", pose=(0.0, 0.1, 0.5), mass=1.0, travel={"z": (0.3, 0.6)})
    with scene.build(num_threads=1) as world:
        world.set_tool_force("slab", (1.0, -5.0, 0.0))
        world.step(1e-3, 1000)
        slab, ball = world.tool_poses[0, :, :3]
        assert slab[1] == pytest.approx(-0.19) and slab[2] == pytest.approx(0.02) and slab[0] > 0.5
        assert ball[2] == pytest.approx(0.3)
        assert world.tool_velocity("slab")[0, 1:].tolist() == [0, 0] and world.tool_velocity("ball")[0, 2] == 0
        world.set_tool_force("ball", (0.0, 0.0, 20.0))
        world.step(1e-3, 1000)
        assert world.tool_poses[0, 1, 2] == pytest.approx(0.6)


def test_a_stop_bears_what_presses_the_tool(solver: gg.Solver) -> None:
    """A shelf at its stop holds a pile; below the pile of grains it falls with, grains follow."""
    scene = gg.Scene(((-0.05, -0.05, 0.0), (0.05, 0.05, 0.4)))
    sand = scene.add_material(density=DENSITY, friction=0.5)
    scene.fill_box(sand, (-0.05, -0.05, 0.21), (0.05, 0.05, 0.28), radius=RADIUS)
    shelf = gg.Sdf.box((0.049, 0.049, HALF))
    scene.add_tool(shelf, name="shelf", pose=(0, 0, 0.2 - HALF), mass=0.01, free="z", travel={"z": (0.1, 0.3)})
    with scene.build(num_threads=1, solver=solver) as world:
        world.step(1e-3, 1500)
        world.step(1e-3)
        weight = bed_mass(world) * GRAVITY
        assert world.tool_poses[0, 0, 2] == pytest.approx(0.1)
        carried = -world.wrenches[0, 0, 2] - world.wall_wrenches[0, :, 2].sum()
        assert carried == pytest.approx(weight, rel=1e-3)
        assert world.positions[0, :, 2].min() > 0.1 + HALF + 0.79 * RADIUS
        assert np.abs(world.velocities).max() < 1e-3


def test_a_dense_ball_sinks_deeper(measured: Note, solver: gg.Solver) -> None:
    """Balls of three densities dropped on a bed from the same height."""
    depths = []
    for density in (300.0, 2500.0, 20000.0):
        radius = 1.5 * DIAMETER
        scene = plate_on_bed(1.0, side=8, mass=None, free=None)
        half = 4 * DIAMETER
        surface = scene.tools[0].pose[2] - HALF
        scene.tools.clear()
        weight = density * 4 / 3 * np.pi * radius**3
        scene.add_tool(gg.Sdf.sphere(radius), name="ball", pose=(half, half, surface + radius + 0.05), mass=weight)
        with scene.build(num_threads=1, solver=solver) as world:
            world.step(5e-4, 2000)
            depths.append(surface + radius - float(world.tool_poses[0, 0, 2]))
            assert np.abs(world.tool_velocity("ball")).max() < 0.02
    measured(light=depths[0], like=depths[1], dense=depths[2])
    assert depths[0] < depths[1] < depths[2]


def test_a_gripper_holds_by_friction(measured: Note, solver: gg.Solver) -> None:
    """Two jaws pressed together hold a grain; with half the force that friction needs it slips out."""
    friction, weight = 0.5, GRAIN * GRAVITY
    for share, held in ((1.5, True), (0.5, False)):
        scene = gg.Scene(((-0.1, -0.1, 0.0), (0.1, 0.1, 0.4)))
        sand = scene.add_material(density=DENSITY, friction=friction, rolling_friction=0.0)
        scene.add_grains(sand, [[0.0, 0.0, 0.3]], RADIUS)
        for name, side in (("left", -1), ("right", 1)):
            at = (side * (RADIUS + 0.005 + 1e-5), 0.0, 0.3)
            scene.add_tool(gg.Sdf.box((0.005, 0.02, 0.02)), name=name, pose=at, mass=0.05, free="x")
        with scene.build(num_threads=1, solver=solver) as world:
            squeeze = share * weight / (2.0 * friction)
            world.set_tool_force("left", (squeeze, 0.0, 0.0))
            world.set_tool_force("right", (-squeeze, 0.0, 0.0))
            world.step(5e-4, 400)
            drop = 0.3 - float(world.positions[0, 0, 2])
            measured(share=share, drop=drop)
            assert (drop < 0.002) == held
            if held:
                assert -world.wrenches[0, 0, 0] == pytest.approx(squeeze, rel=0.01)


def test_taken_out_it_stands_still() -> None:
    """It neither falls nor is pushed, and starts from rest when it is back."""
    with lone().build(num_threads=1) as world:
        world.step(1e-3, 100)
        world.set_tool_active("ball", False)
        world.set_tool_force("ball", (1.0, 0.0, 0.0))
        there = world.tool_poses
        world.step(1e-3, 100)
        assert np.array_equal(world.tool_poses, there) and not world.tool_velocity("ball").any()
        world.set_tool_active("ball", True)
        world.step(1e-3, 100)
        assert world.tool_velocity("ball")[0] == pytest.approx([0.05, 0.0, -GRAVITY * 0.1], rel=1e-4)


def test_setting_its_pose_stops_it() -> None:
    """As tools are set when an env is reset; the force stays."""
    with lone().build(env_count=2, num_threads=1) as world:
        world.set_tool_force("ball", (1.0, 0.0, 0.0))
        world.step(1e-3, 100)
        world.set_tool_poses([[0.1, 0.2, 0.3, 1, 0, 0, 0]], envs=1)
        assert world.tool_velocity("ball")[0].any() and not world.tool_velocity("ball")[1].any()
        assert world.tool_force("ball").tolist() == [[1.0, 0.0, 0.0]] * 2
        world.step(1e-3, 1)
        np.testing.assert_allclose(world.tool_poses[1, 0, :3], [0.1, 0.2, 0.3], atol=2e-5)
