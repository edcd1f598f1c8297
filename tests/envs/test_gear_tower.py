"""The rules of the gear tower, and its gears."""

from __future__ import annotations

import importlib.util
import math
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import granular_gym as gg
from granular_gym.base.assets import asset_path
from granular_gym.envs.gear_tower import (
    ECCENTRICITY,
    GEAR_HALF_WIDTH,
    GEAR_LIMIT,
    GEAR_RADIUS,
    GRAIN_FRICTION,
    STOREY,
    TUBE_RADIUS,
    GearTowerEnv,
    gear_axes,
    gear_solid,
    tower_lattice,
)
from granular_gym.tasks.expert import scripted_expert

TOWER = "granular_gym/GearTower-v1"


@pytest.fixture(scope="module")
def maker() -> Any:
    """The script that makes the gear."""
    path = Path(__file__).parents[2] / "assets" / "make_gear.py"
    spec = importlib.util.spec_from_file_location("make_gear", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["make_gear"] = module  # dataclasses look up their module
    spec.loader.exec_module(module)
    yield module
    del sys.modules["make_gear"]


def test_flanks_are_involutes(maker: Any) -> None:
    gear = maker.TOWER_GEAR
    base = gear.base_radius
    # an involute's normal is tangent to the base circle: unwinding a string of length b t from angle t
    for t in np.linspace(0.05, 0.7, 6):
        x, y = base * (math.cos(t) + t * math.sin(t)), base * (math.sin(t) - t * math.cos(t))
        radius, angle = math.hypot(x, y), math.atan2(y, x)
        if radius <= gear.tip_radius:
            # the flank at polar angle -half_angle rises from the base circle by the involute's polar angle
            assert gear.half_angle(base) - gear.half_angle(radius) == pytest.approx(angle, abs=1e-12)
    # on the pitch circle a tooth is as wide as a gap
    assert gear.half_angle(gear.pitch_radius) == pytest.approx(math.pi / (2 * gear.teeth))
    assert 0.0 < gear.half_angle(gear.tip_radius) < gear.half_angle(base)


def test_two_gears_mesh_without_cutting_into_each_other(maker: Any) -> None:
    gear = maker.TOWER_GEAR
    section = gear.outline()
    distance = 2.0 * gear.pitch_radius
    for turn in np.linspace(0.0, 2.0 * math.pi / gear.teeth, 9):
        # conjugate: both turn at the same speed in opposite senses, a tooth of one in a gap of the other
        c, s = math.cos(turn), math.sin(turn)
        first = section @ np.array([[c, s], [-s, c]])
        other = first * [1.0, -1.0]
        half = math.pi / gear.teeth + math.pi
        c, s = math.cos(half), math.sin(half)
        other = other @ np.array([[c, s], [-s, c]]) + [distance, 0.0]
        points = first[np.hypot(first[:, 0] - distance, first[:, 1]) < gear.tip_radius] - [distance, 0.0]
        # a corner of the first at (r, a) of the second lies beyond the second's flank there
        radius, angle = np.hypot(*points.T), np.arctan2(points[:, 1], points[:, 0])
        tooth = 2.0 * math.pi / gear.teeth
        offset = half - turn
        away = np.abs((angle - offset + 0.5 * tooth) % tooth - 0.5 * tooth)
        for r, a in zip(radius.tolist(), away.tolist(), strict=True):
            if gear.base_radius <= r <= gear.tip_radius:
                assert a >= gear.half_angle(r) - 2e-3
        assert len(other)


def test_the_mesh_has_the_gear_s_size_and_twist(maker: Any) -> None:
    gear, mesh = maker.TOWER_GEAR, gg.load_mesh(asset_path("gear.stl"))
    radius = np.hypot(mesh.vertices[:, 0], mesh.vertices[:, 1])
    assert radius.max() == pytest.approx(GEAR_RADIUS, abs=1e-6) and gear.tip_radius == pytest.approx(GEAR_RADIUS)
    assert np.abs(mesh.vertices[:, 2]).max() == pytest.approx(GEAR_HALF_WIDTH)
    # the helix: width tan(angle) along the pitch circle
    assert gear.twist * gear.pitch_radius == pytest.approx(gear.width * math.tan(gear.helix))
    tips = mesh.vertices[radius > gear.tip_radius - 1e-5]
    angles = {}
    for z in (-GEAR_HALF_WIDTH, GEAR_HALF_WIDTH):
        level = tips[np.abs(tips[:, 2] - z) < 1e-6]
        angles[z] = np.arctan2(level[:, 1], level[:, 0]) % (2.0 * math.pi / gear.teeth)
    turned = (angles[GEAR_HALF_WIDTH].mean() - angles[-GEAR_HALF_WIDTH].mean() - gear.twist) % (
        2.0 * math.pi / gear.teeth / 3.0
    )
    assert min(turned, 2.0 * math.pi / gear.teeth / 3.0 - turned) < 0.15


def test_gears_leave_room_for_grains() -> None:
    axes = gear_axes(6, 6)
    assert (np.hypot(axes[:, 0], axes[:, 1]) + GEAR_RADIUS < TUBE_RADIUS - 0.1).all()
    assert axes[0, 2] - GEAR_HALF_WIDTH > 0.05 and axes[-1, 2] + GEAR_HALF_WIDTH < 6 * STOREY - 0.05
    assert np.hypot(axes[0, 0], axes[0, 1]) == pytest.approx(ECCENTRICITY)
    places = tower_lattice(4, 500, 0.04)
    assert places.shape == (500, 3)
    for x, y, z in gear_axes(4, 4):
        inside = (np.hypot(places[:, 0] - x, places[:, 1] - y) < GEAR_RADIUS) & (
            np.abs(places[:, 2] - z) < GEAR_HALF_WIDTH
        )
        assert not inside.any()


def test_gears_share_their_field() -> None:
    scene = GearTowerEnv(grain_count=500, gear_count=4, num_threads=1).task.bed_scene(0)
    arrays = scene.freeze().arrays
    assert len(arrays["grid_integers"]) == 1 and scene.freeze().tool_count == 5
    assert gear_solid(0.012) is gear_solid(0.012)


def test_grains_fall_for_ever_inside_the_tube(make: Any) -> None:
    env = make(TOWER, grain_count=500, boundary="periodic")
    env.reset(seed=0)
    world = env.unwrapped.task.world
    fallen = 0.0
    for _ in range(12):
        info = env.step([1.0, -1.0, 1.0, -1.0])[4]
        fallen -= 0.1 * float(world.velocities[0, :, 2].mean())
    places = world.positions[0]
    assert (np.hypot(places[:, 0], places[:, 1]) < TUBE_RADIUS).all() and info["escaped_count"] == 0
    assert (places[:, 2] >= 0.0).all() and (places[:, 2] <= 1.2).all() and fallen > 0.5
    assert info["power"] > 0.0 and not info["diverged"]


def test_a_bed_rests_while_the_gears_stand(make: Any) -> None:
    # the friction with which beds settle: with less, some grains would slip
    env = make(TOWER, grain_count=500, friction_range=(GRAIN_FRICTION, GRAIN_FRICTION))
    info = env.reset(seed=0)[1]
    world, first = env.unwrapped.task.world, info["mixing"]
    places = world.positions[0]
    for _ in range(5):
        info = env.step(np.zeros(4))[4]
    moved = np.abs(world.positions[0] - places).max(axis=1)
    assert moved.mean() < 0.05 * env.unwrapped.task.radius and info["mixing"] == pytest.approx(first, abs=0.05)
    assert (np.hypot(*world.positions[0, :, :2].T) < TUBE_RADIUS).all() and info["power"] == 0.0


def test_reward_is_what_was_mixed_less_power(make: Any) -> None:
    env = make(TOWER, grain_count=500, reward="paper")
    _, info = env.reset(seed=1)
    task = env.unwrapped.task
    assert info["mixing"] < 0.4 and task.kind[0].sum() == 250, "one half is painted, apart from the other"
    first, total, cost = info["mixing"], 0.0, 0.0
    for _ in range(8):
        _, reward, _, _, info = env.step([0.5, 1.0, 1.0, 1.0])
        total += reward
        cost += 0.05 * max(info["power"], 0.0) / task.weight
    assert total == pytest.approx(100.0 * (info["mixing"] - first) - cost)


def test_angles_follow_the_actions(make: Any) -> None:
    env = make(TOWER, grain_count=500, gear_count=1)
    env.reset(seed=0)
    for _ in range(3):
        env.step([0.4])
    pose = env.unwrapped.task.world.tool_poses[0, 1]
    assert 2.0 * math.atan2(pose[6], pose[3]) == pytest.approx(3 * 0.4 * 5.0 * 0.1, abs=1e-5)


def test_number_of_gears_and_border_are_free(make: Any) -> None:
    for gear_count, boundary in ((1, "wall"), (2, "periodic"), (3, "cyclic")):
        env = make(TOWER, gear_count=gear_count, boundary=boundary, grain_count=500)
        observation, _ = env.reset(seed=0)
        assert observation["drive"].shape == (2 * gear_count + 1,) and env.action_space.shape == (gear_count,)
        env.step(env.action_space.sample())


@pytest.mark.parametrize(
    "kwargs, word",
    [
        ({"gear_count": 0}, "gear_count"),
        ({"gear_count": 2.5}, "gear_count"),
        ({"boundary": "open"}, "boundary"),
        ({"grain_count": 40}, "grain_count: expected grains that fit"),
        ({"grain_count": 120, "gear_count": 1, "boundary": "periodic"}, "grain_count: expected grains"),
    ],
)
def test_bad_arguments_name_themselves(kwargs: dict[str, Any], word: str) -> None:
    with pytest.raises(gg.ArgumentError, match=word):
        GearTowerEnv(**kwargs)


def test_expert_mixes_better_than_random(make_vec: Any) -> None:
    envs = make_vec(TOWER, 2, grain_count=500, autoreset_mode="Disabled", reward="paper")
    envs.reset(seed=[2, 2])
    expert = scripted_expert(envs)
    envs.action_space.seed(0)
    returns = np.zeros(2)
    for _ in range(40):
        actions = envs.action_space.sample()
        actions[0] = expert.act()[0]
        _, rewards, _, truncated, infos = envs.step(actions)
        returns += rewards
    assert truncated.all() and not infos["diverged"].any()
    assert infos["success"][0] and returns[0] > returns[1] + 5.0


def test_as_many_gears_as_are_allowed(make: Any) -> None:
    env = make(TOWER, gear_count=GEAR_LIMIT, grain_count=1000)
    env.reset(seed=0)
    env.step(np.ones(GEAR_LIMIT, np.float32))
    assert (env.unwrapped.task.speed == 1.0).all() and (env.unwrapped.task.angle != 0.0).all()


@pytest.mark.parametrize("gear_count", [2, 6])
def test_a_tower_of_the_benchmark_holds_no_grain_in_a_gear(gear_count: int) -> None:
    from benchmarks.gears import Tower

    tower = Tower(gear_count, 1_000, "periodic")  # an OverlapError otherwise
    assert int(tower.world.stats["escaped_count"].sum()) == 0
    tower.close()
