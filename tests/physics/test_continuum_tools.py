"""Dynamic tools in continuous matter: forces, momenta, springs, stops, and bodies that turn."""

from __future__ import annotations

import numpy as np
import pytest

import granular_gym as gg
from granular_gym.base.rotations import rotate
from testbed.continuum import DOUGH, HEAVY, MOMENTS, gripped, momenta, struck

ANYWHERE = dict.fromkeys("xyz", (-9.0, 9.0))


def axes(pose: np.ndarray) -> np.ndarray:
    """Rotation matrix of x y z w x y z."""
    return rotate(np.asarray(pose[3:], np.float64), np.eye(3)).T


def test_panels() -> None:
    """A cube that friction holds between panels which push with 10 N each: Zong et al. (2024), figure 6. Its weight of
    3.924 N is shared evenly, and nothing ripples."""
    with gripped(0.02).build(device="cpu", num_threads=1) as world:
        world.set_tool_force("left", (10.0, 0.0, 0.0))
        world.set_tool_force("right", (-10.0, 0.0, 0.0))
        world.step(0.01, 30)
        for _ in range(10):
            world.step(0.01)
            forces = world.wrenches[0, :, :3]
            np.testing.assert_allclose(forces, [[-10.0, 0.0, -1.962], [10.0, 0.0, -1.962]], atol=1e-4)
        assert world.stats["unsolved_count"][0] == 0 and abs(world.positions[0, :, 2].mean()) < 1e-3


@pytest.mark.parametrize("mass", [0.02, 2.0, 200.0])
def test_momentum(mass: float) -> None:
    """A plate strikes a free cube of 1 kg: what one loses the other gains."""
    with struck(mass=mass, travel=ANYWHERE).build(device="cpu", num_threads=1) as world:
        world.set_tool_velocity("plate", (0.1, 0.0, -1.0))
        total = []
        for _ in range(20):
            total.append(momenta(world)[0] + mass * world.tool_velocity("plate")[0])
            world.step(0.01)
            assert world.stats["unsolved_count"][0] == 0
        assert np.linalg.norm(momenta(world)[0]) > 0.01
        np.testing.assert_allclose(total, [total[0]] * 20, atol=1e-6 * max(mass, 1.0))


def test_a_body_is_a_coupled_tool_that_moves_by_itself() -> None:
    """The plate turns as it strikes; beside it a coupled one that this test integrates by Newton and Euler."""
    twist = np.array([0.3, 0.0, -1.0, 0.0, 2.0, 1.0])
    pose = np.array([0.2, 0.2, 0.212, 1.0, 0.0, 0.0, 0.0])
    free = struck(mass=HEAVY, inertia=MOMENTS, travel=ANYWHERE).build(device="cpu", num_threads=1)
    coupled = struck(coupled=True).build(device="cpu", num_threads=1)
    with free, coupled:
        free.set_tool_velocity("plate", twist[:3])
        free.set_tool_angular_velocity("plate", twist[3:])
        for _ in range(25):
            inertia = axes(pose) @ np.diag(MOMENTS) @ axes(pose).T
            response = np.zeros((6, 6))
            response[:3, :3], response[3:, 3:] = np.eye(3) / HEAVY, np.linalg.inv(inertia)
            coupled.set_coupled(pose[None], twist[None], np.zeros((1, 6)), 0.5 * (response + response.T))
            coupled.step(0.01)
            free.step(0.01)
            state = coupled.coupled_state()
            pose, twist = state.poses[0, 0], state.twists[0, 0].copy()
            turned = axes(pose) @ np.diag(MOMENTS) @ axes(pose).T
            twist[3:] = np.linalg.solve(turned, inertia @ twist[3:])
        assert abs(twist[3]) > 0.2 and twist[2] > -0.8  # it was struck
        np.testing.assert_allclose(free.tool_poses[0, 0], pose, atol=2e-7)
        np.testing.assert_allclose(free.tool_velocity("plate")[0], twist[:3], atol=2e-6)
        np.testing.assert_allclose(free.tool_angular_velocity("plate")[0], twist[3:], atol=2e-5)
        np.testing.assert_allclose(free.velocities, coupled.velocities, atol=2e-6)


def test_a_body_that_nothing_touches() -> None:
    """Angular momentum stays, energy to first order of the angle per step; a torque turns, gravity does not."""
    moments, spin = np.array([1e-3, 2e-3, 2.5e-3]), np.array([3.0, 0.1, 0.2])
    scene = struck(mass=1.0, inertia=moments, travel=ANYWHERE)
    with scene.build(device="cpu", num_threads=1) as world:
        world.set_tool_poses([[0.3, 0.3, 0.35, 1, 0, 0, 0]])
        world.set_tool_angular_velocity("plate", spin)
        for _ in range(100):
            world.step(0.01)
        inertia = axes(world.tool_poses[0, 0]) @ np.diag(moments) @ axes(world.tool_poses[0, 0]).T
        now = world.tool_angular_velocity("plate")[0]
        np.testing.assert_allclose(inertia @ now, moments * spin, atol=1e-9)
        assert now @ inertia @ now == pytest.approx(moments @ spin**2, rel=1e-3)
        world.set_gravity((0.0, 0.0, -1.0))
        world.set_tool_poses([[0.3, 0.3, 0.35, 1, 0, 0, 0]])
        world.set_tool_torque("plate", (0.0, 0.0, 5e-3))
        world.step(0.01, 10)
        np.testing.assert_allclose(world.tool_angular_velocity("plate")[0], [0, 0, 0.2], atol=1e-7)
        np.testing.assert_allclose(world.tool_velocity("plate")[0], [0, 0, -0.1], atol=1e-7)
        assert world.tool_poses[0, 0, 6] == pytest.approx(np.sin(0.5 * 0.2 * 0.1 * 0.55), rel=1e-3)


def test_spring_and_stop() -> None:
    """At rest a spring carries what the matter pushes with; a stop holds a weight that would sink further."""
    ends = {}
    for name, made in {
        "spring": {"mass": 1.0, "stiffness": 2000.0, "damping": 20.0},
        "stop": {"mass": 50.0, "free": "z", "travel": {"z": (0.09, 0.3)}},
    }.items():
        scene = gg.Scene(((0, 0, 0), (0.4, 0.4, 0.4)))
        rubber = scene.add_material(density=1000.0, friction=0.5, continuum=gg.Elastic(2e4, 0.4))
        scene.add_continuum(rubber, (0.15, 0.15, 0.0), (0.25, 0.25, 0.1), spacing=0.02)
        scene.add_tool(gg.Sdf.box((0.06, 0.06, 0.01)), "plate", rubber, (0.2, 0.2, 0.115), **made)
        with scene.build(device="cpu", num_threads=1) as world:
            targets = [[0.2, 0.2, 0.085, 1, 0, 0, 0]] if name == "spring" else None
            for _ in range(60):
                world.step(0.01, 1, tool_poses=targets)
            ends[name] = float(world.tool_poses[0, 0, 2]), float(world.wrenches[0, 0, 2])
            assert world.stats["unsolved_count"][0] == 0
    height, force = ends["spring"]
    assert force > 20.0 and force == pytest.approx(2000.0 * (height - 0.085), rel=2e-3)
    height, force = ends["stop"]
    assert height == np.float32(0.09) and 30.0 < force < 45.0


def test_a_roller_rolls_on_dough() -> None:
    """A loose roller that is pushed along a sheet of dough turns as it rolls: friction alone couples the two."""
    radius, wide, mass = 0.04, 0.04, 0.6
    turns = []
    for friction in (0.0, 1.0):
        scene = gg.Scene(((-0.2, -0.06, 0.0), (0.3, 0.06, 0.3)))
        scene.wall_material = scene.add_material(density=1.0, friction=0.9)
        dough = scene.add_material(density=1000.0, friction=0.9, continuum=DOUGH)
        steel = scene.add_material(density=1000.0, friction=friction)
        scene.set_pair(dough, steel, friction=friction)
        scene.add_continuum(dough, (-0.15, -0.05, 0.0), (0.11, 0.05, 0.04), spacing=0.02)
        across = 0.25 * radius**2 + wide**2 / 3
        moments = mass * np.array([across, across, 0.5 * radius**2])
        pose = (-0.08, 0.0, 0.04 + radius, np.sqrt(0.5), np.sqrt(0.5), 0.0, 0.0)
        pin = gg.Sdf.cylinder(radius, wide)
        scene.add_tool(pin, "pin", steel, pose, mass=mass, inertia=moments, travel=ANYWHERE)
        with scene.build(device="cpu", num_threads=1) as world:
            for _ in range(40):
                speed = world.tool_velocity("pin")[0, 0]
                world.set_tool_force("pin", (20.0 * (0.3 - speed), 0.0, 2.0))  # a guide that keeps 0.3 m/s
                world.step(0.01)
            assert world.stats["unsolved_count"][0] == 0
            turns.append(world.tool_angular_velocity("pin")[0, 1] * radius / world.tool_velocity("pin")[0, 0])
    assert abs(turns[0]) < 1e-3 and turns[1] == pytest.approx(1.0, abs=0.1)
