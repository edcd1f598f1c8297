"""Tools on springs: they go where they are told but for force over stiffness, whatever the time step."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import granular_gym as gg
from granular_gym.errors import ArgumentError
from testbed.beds import DENSITY, faces

Note = Callable[..., None]
STIFFNESS, DAMPING, MASS = 2e4, 60.0, 0.3


def ball(**tool: Any) -> gg.Scene:
    """A ball on a spring and no grains, in the open."""
    scene = gg.Scene(((-1, -1, -1), (1, 1, 1)), boundary=faces("open"))
    scene.add_material(density=DENSITY, friction=0.5)
    spring = {"mass": MASS, "stiffness": STIFFNESS, "damping": DAMPING}
    scene.add_tool(gg.Sdf.sphere(0.05), name="ball", **{**spring, **tool})
    return scene


def at(x: float = 0.0, z: float = 0.0, turn: float = 0.0) -> np.ndarray:
    """A pose for the only tool of one env."""
    return np.array([[[x, 0.0, z, math.cos(0.5 * turn), 0.0, 0.0, math.sin(0.5 * turn)]]], np.float32)


@pytest.mark.parametrize("dt", [5e-4, 2.5e-3])
def test_it_follows_its_targets_and_gives_way_by_force_over_stiffness(dt: float) -> None:
    per = round(0.01 / dt)
    with ball().build(num_threads=1) as world:
        for k in range(100):
            world.step(dt, per, at(x=1e-3 * (k + 1), turn=0.01 * (k + 1)))
        # the damper works against the speed of the target: a tool that moves evenly does not lag
        np.testing.assert_allclose(world.tool_poses, at(x=0.1, turn=1.0), atol=1e-7)
        np.testing.assert_allclose(world.tool_velocity("ball"), [[0.1, 0.0, 0.0]], atol=1e-5)
        world.set_tool_force("ball", (0.0, 4.0, -10.0))
        world.step(dt, 100 * per)  # no pose given: its target stays
        sag = np.array([0.0, 4.0, -10.0]) / STIFFNESS
        np.testing.assert_allclose(world.tool_poses[0, 0, :3] - [0.1, 0.0, 0.0], sag, atol=2e-7)
        world.set_tool_force("ball", (0.0, 0.0, 0.0))
        world.step(dt, 100 * per)
        np.testing.assert_allclose(world.tool_poses, at(x=0.1, turn=1.0), atol=2e-7)


def test_it_swings_as_a_mass_on_a_spring() -> None:
    """Without a damper, let go 1 mm off; implicit Euler takes energy, less with shorter steps."""
    lost = []
    for dt in (1e-4, 5e-5):
        with ball(damping=0.0).build(num_threads=1) as world:
            world.set_tool_force("ball", (1e-3 * STIFFNESS, 0.0, 0.0))
            world.step(1e-2, 1000)  # long steps are damped well
            world.set_tool_force("ball", (0.0, 0.0, 0.0))
            period = 2.0 * math.pi * math.sqrt(MASS / STIFFNESS)
            way = []
            for _ in range(round(period / dt)):
                world.step(dt)
                way.append(float(world.tool_poses[0, 0, 0]))
            lost.append(1.0 - way[-1] / 1e-3)
            assert -1e-3 < min(way) < -0.9e-3
            assert abs(np.argmin(way) * dt - 0.5 * period) < 0.02 * period
    # by exp(-w^2 dt t / 2) = exp(-pi w dt)
    rate = math.pi * math.sqrt(STIFFNESS / MASS)
    np.testing.assert_allclose(lost, [1.0 - math.exp(-rate * dt) for dt in (1e-4, 5e-5)], rtol=0.02)


@pytest.mark.parametrize("mode", ["gauss_seidel", "jacobi"])
@pytest.mark.parametrize("dt", [5e-4, 2.5e-3])
def test_a_wedged_grain_is_pressed_by_the_spring(mode: str, dt: float, measured: Note) -> None:
    """A rigid tool that squeezes a grain on the floor has no largest force; on a spring it has, at any time step."""
    scene = gg.Scene(((-1, -1, 0), (1, 1, 1)))
    scene.add_material(density=2500.0, friction=0.5)
    scene.add_grains(0, [(0.0, 0.0, 0.01)], radius=0.01)
    plate = gg.Sdf.box((0.05, 0.05, 0.01))
    scene.add_tool(plate, name="plate", pose=(0, 0, 0.0301), mass=MASS, stiffness=STIFFNESS, damping=DAMPING)
    with scene.build(num_threads=1, solver=gg.Solver(mode=mode, iterations=1000, tolerance=1e-7)) as world:
        for k in range(50):
            world.step(dt, round(0.01 / dt), at(z=0.0301 - 1e-4 * (k + 1)))
        world.step(dt, round(0.5 / dt))
        world.step(dt)
        force, wanted = float(world.wrenches[0, 0, 2]), STIFFNESS * (0.03 - (0.0301 - 5e-3))
        floor = -float(world.wall_wrenches[0, :, 2].sum())
        weight = float(world.grain_masses.sum()) * 9.81
        measured(dt=dt, force=force / wanted, floor=floor / (wanted + weight))
        assert force == pytest.approx(wanted, rel=0.01)
        assert floor == pytest.approx(wanted + weight, rel=0.01)
        assert world.stats["overlap_max"][0] < 2e-3


def test_a_stiff_one_is_a_posed_one_that_turns() -> None:
    """A grain on a turning plate goes round with it, on a spring or not."""
    ends = []
    for spring in ({}, {"mass": MASS, "stiffness": 1e7, "damping": 1e3}):
        scene = gg.Scene(((-1, -1, -1), (1, 1, 1)))
        scene.add_material(density=2500.0, friction=5.0, rolling_friction=0.5)
        scene.add_grains(0, [(0.1, 0.0, 0.01)], radius=0.01)
        scene.add_tool(gg.Sdf.box((0.3, 0.3, 0.01)), name="plate", pose=(0, 0, -0.01), **spring)
        with scene.build(num_threads=1) as world:
            for k in range(100):
                world.step(1e-3, 10, at(z=-0.01, turn=5e-3 * (k + 1)))
            ends.append(np.concatenate([world.positions[0, 0], world.velocities[0, 0]]))
    assert np.hypot(*ends[0][:2]) > 0.09 and ends[0][1] > 0.03
    np.testing.assert_allclose(ends[1], ends[0], atol=2e-3)


def test_a_state_holds_what_its_target_was() -> None:
    """Loaded half-way, while it lags; a pose that is set takes tool and target there."""
    with ball().build(env_count=2, num_threads=1) as world, ball().build(num_threads=1) as copy:
        world.set_tool_force("ball", (50.0, 0.0, 0.0))
        world.step(1e-3, 100, np.repeat(at(x=0.2), 2, 0))
        copy.load_state(world.save_state(env=1))
        for one in (world, copy):
            one.step(1e-3, 100)
        np.testing.assert_array_equal(world.tool_poses[1], copy.tool_poses[0])
        assert world.state_hash(1) == copy.state_hash()
        assert copy.tool_poses[0, 0, 0] == pytest.approx(0.2 + 50.0 / STIFFNESS, abs=1e-5)
        copy.set_tool_force("ball", (0.0, 0.0, 0.0))
        copy.set_tool_poses(at(x=-0.3)[0])
        assert world.state_hash(1) != copy.state_hash()
        copy.step(1e-3, 100)
        np.testing.assert_allclose(copy.tool_poses, at(x=-0.3), atol=1e-7)


def test_one_that_must_move_wakes_an_env() -> None:
    scene = gg.Scene(((-0.1, -0.1, 0), (0.1, 0.1, 1)))
    scene.add_material(density=DENSITY, friction=0.5, rolling_friction=0.1, radius=0.01)
    scene.fill_box(0, (-0.1, -0.1, 0), (0.1, 0.1, 0.05), count=60)
    scene.add_tool(gg.Sdf.sphere(0.05), pose=(0, 0, 0.6), mass=MASS, stiffness=STIFFNESS, damping=DAMPING)
    with scene.build(num_threads=1, solver=gg.Solver(sleep=True)) as world:
        for _ in range(100):
            world.step(1e-3, 20)
        assert world.stats["asleep_share"][0] == 1.0
        world.step(1e-3, 20, at(z=0.5))
        world.step(1e-3, 100)
        assert world.tool_poses[0, 0, 2] == pytest.approx(0.5, abs=1e-6)


@pytest.mark.parametrize(
    ("tool", "named"),
    [
        ({"mass": None}, "mass: expected a mass along with"),
        ({"stiffness": 0.0}, "stiffness: expected a finite number > 0"),
        ({"stiffness": math.nan}, "stiffness"),
        ({"damping": -1.0}, "damping"),
        ({"stiffness": None}, "damping: expected a stiffness"),
        ({"free": "z"}, "stiffness: expected a tool that is free along all axes"),
        ({"travel": {"z": (-1.0, 1.0)}}, "stiffness: expected a tool that is free along all axes"),
    ],
    ids=str,
)
def test_what_is_no_spring_is_refused(tool: dict[str, Any], named: str) -> None:
    with pytest.raises(ArgumentError, match=named):
        ball(**tool)


def test_impulses_are_not_settled_without_its_load() -> None:
    with ball().build(num_threads=1) as world, pytest.raises(ArgumentError, match="tools on springs"):
        world.settle_impulses(1e-3)
