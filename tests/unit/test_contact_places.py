"""Contacts: where they are, their torques, sums that are the wrenches, and fixed-size observations of them."""

from __future__ import annotations

import gymnasium
import numpy as np
import pytest

import granular_gym as gg
from testbed.beds import DENSITY, GRAVITY, RADIUS, mass

DT = 1e-3
WEIGHT = mass() * GRAVITY


def bowl(count: int = 60) -> gg.Scene:
    """Grains that resist rolling between a tilted plate, a ball and the walls."""
    scene = gg.Scene(((-0.03, -0.03, 0.0), (0.03, 0.03, 0.4)))
    sand = scene.add_material(density=DENSITY, friction=0.5, rolling_friction=0.2)
    scene.fill_box(sand, (-0.03, -0.03, 0.041), (0.03, 0.03, 0.4), count=count, radius=RADIUS, seed=3)
    tilt = np.cos(0.2), 0.0, np.sin(0.2), 0.0
    scene.add_tool(gg.Sdf.box((0.05, 0.05, 0.002)), pose=(0.0, 0.0, 0.012, *tilt), name="plate")
    scene.add_tool(gg.Sdf.sphere(0.01), pose=(0.01, 0.005, 0.03, 1, 0, 0, 0), name="ball")
    return scene


@pytest.fixture(scope="module")
def resting():
    with bowl().build(env_count=2, num_threads=1, solver=gg.Solver(iterations=60)) as world:
        shaken = world.velocities
        shaken[1] += np.random.default_rng(1).normal(0.0, 0.1, shaken[1].shape)
        world.set_grains(velocities=shaken)
        world.step(DT, 2000)
        world.step(DT, 1)
        yield world


@pytest.mark.parametrize("env", [0, 1])
def test_sums_are_the_wrenches(resting, env):
    """Forces and torques, rolling included, of each tool and wall, which lie at rest."""
    found = resting.contacts(env)
    walls = [np.zeros(3)] * 6
    for k, origin in enumerate([*resting.tool_poses[env, :, :3], *walls]):
        wrench = resting.wrenches[env, k] if k < 2 else resting.wall_wrenches[env, k - 2]
        mine = found.with_tool(k)
        np.testing.assert_allclose(mine.wrench(origin)[:3], wrench[:3], atol=1e-5 * WEIGHT)
        np.testing.assert_allclose(mine.wrench(origin)[3:], wrench[3:], atol=1e-4 * WEIGHT * RADIUS)
    assert len(found.with_tool(0)) > 3 and len(found.with_tool(1)) > 1
    # rolling resistance is a part of it that can be seen
    assert np.abs(found.with_tool(0).torques.sum(0)).max() > 1e-3 * WEIGHT * RADIUS


def test_sums_are_the_wrenches_of_tools_in_motion():
    """To what a grain moves in a substep."""
    with bowl().build(num_threads=1) as world:
        world.step(DT, 1500)
        target = world.tool_poses[0]
        target[1, 0] -= 0.2 * DT
        world.step(DT, 1, tool_poses=target)
        mine = world.contacts().with_tool(1).wrench(world.tool_poses[0, 1, :3])
        assert np.linalg.norm(mine[:3]) > WEIGHT
        np.testing.assert_allclose(mine[:3], world.wrenches[0, 1, :3], rtol=1e-5, atol=1e-5 * WEIGHT)
        np.testing.assert_allclose(mine[3:], world.wrenches[0, 1, 3:], atol=0.1 * np.linalg.norm(mine[:3]) * RADIUS)


def test_points_and_normals(resting):
    """On the surfaces of both, towards the first grain; impulses lie within the cone of friction about the normal."""
    found = resting.contacts(0).pressing(1e-3 * WEIGHT)
    places = resting.positions[0].astype(np.float64)
    own = places[found.pairs[:, 0]]
    np.testing.assert_allclose(np.linalg.norm(found.normals, axis=1), 1.0, atol=1e-5)
    np.testing.assert_allclose(own - RADIUS * found.normals, found.points, atol=2e-3 * RADIUS)
    grains = found.pairs[:, 1] >= 0
    np.testing.assert_allclose(
        places[found.pairs[grains, 1]] + RADIUS * found.normals[grains], found.points[grains], atol=2e-3 * RADIUS
    )
    normal = (found.forces * found.normals).sum(1)
    tangential = np.linalg.norm(found.forces - normal[:, None] * found.normals, axis=1)
    assert (normal > 0.0).all() and (tangential <= 0.5 * normal + 1e-3 * WEIGHT).all()
    # rolling resistance is bounded by the load: mu_r R_eff F_n
    reach = np.where(grains, 0.5 * RADIUS, RADIUS)
    assert (np.linalg.norm(found.torques, axis=1) <= 0.2 * reach * normal * 1.001 + 1e-9).all()
    on_floor = found.with_tool(2 + 4)
    np.testing.assert_allclose(on_floor.normals, np.broadcast_to([0, 0, 1], on_floor.normals.shape), atol=1e-6)


def test_across_a_periodic_face():
    """The point lies beside the first grain."""
    scene = gg.Scene(((0, 0, 0), (0.1, 0.1, 0.1)), gravity=(0, 0, 0), boundary=dict.fromkeys("xyz", "periodic"))
    sand = scene.add_material(density=DENSITY)
    places = [[0.5 * RADIUS, 0.05, 0.05], [0.1 - 1.5001 * RADIUS, 0.05, 0.05]]
    scene.add_grains(sand, places, RADIUS, [[-1.0, 0, 0], [0, 0, 0]])
    with scene.build(num_threads=1) as world:
        world.step(1e-6)
        found = world.contacts()
        np.testing.assert_allclose(found.normals[0], [1, 0, 0], atol=1e-6)
        np.testing.assert_allclose(found.points[0], [-0.5 * RADIUS, 0.05, 0.05], atol=1e-3 * RADIUS)


def test_observation(resting):
    """Fixed shapes, strongest first; all rows of a tool sum to its wrench; it fits a space."""
    most = 200
    seen = resting.observe_contacts(most, tool="plate")
    space = gymnasium.spaces.Dict(
        {
            "valid": gymnasium.spaces.MultiBinary((2, most)),
            "kind": gymnasium.spaces.Box(-1, 2, (2, most), np.int32),
            "force": gymnasium.spaces.Box(-np.inf, np.inf, (2, most, 3), np.float32),
        }
    )
    assert space.contains({"valid": seen["valid"].astype(np.int8), "kind": seen["kind"], "force": seen["force"]})
    total = -seen["force"].sum(1, dtype=np.float64)
    np.testing.assert_allclose(total, resting.wrenches[:, 0, :3], rtol=1e-6, atol=1e-5 * WEIGHT)
    strength = np.linalg.norm(seen["force"], axis=2)
    assert (np.diff(strength, axis=1) <= 0.0).all()
    assert np.array_equal(seen["valid"], strength > 0.0) and seen["valid"].any(1).all()
    assert (seen["kind"][seen["valid"]] == 1).all() and (seen["partner"][seen["valid"]] == 0).all()
    for name in ("grain", "partner", "kind"):
        assert (seen[name][~seen["valid"]] == -1).all() and seen[name].dtype == np.int32
    few = resting.observe_contacts(3)
    assert {name: array.shape[:2] for name, array in few.items()} == dict.fromkeys(seen, (2, 3)) and few["valid"].all()
    every = resting.observe_contacts(1000)
    assert set(np.unique(every["kind"])) == {-1, 0, 1, 2}
    assert every["partner"][every["kind"] == 2].max() < 6 and np.array_equal(every["force"][:, :3], few["force"])
    for env in range(2):
        assert every["valid"][env].sum() == len(resting.contacts(env).pressing())


def test_observation_of_nothing():
    """Before the first step."""
    with bowl(5).build(num_threads=1) as world:
        seen = world.observe_contacts(4)
        assert not seen["valid"].any() and not seen["point"].any() and seen["force"].shape == (1, 4, 3)


def test_refused(resting):
    for arguments, message in (((0,), "max_count"), ((4, "lid"), "tool"), ((4, 2), "tool"), ((1.5,), "max_count")):
        with pytest.raises(gg.ArgumentError, match=f"^{message}: expected"):
            resting.observe_contacts(*arguments)


def test_places_on_the_surface_of_a_body_across_a_periodic_face():
    """It lies on grains at both ends of the bounds: its nearest image counts."""
    scene = gg.Scene(((-0.06, -0.05, 0.0), (0.06, 0.05, 0.2)), boundary={"x": "periodic"})
    stone = scene.add_material(density=DENSITY, friction=0.5, fixed=True)
    sand = scene.add_material(density=DENSITY, friction=0.5)
    scene.add_grains(stone, [(x, y, 0.02) for x in (-0.05, 0.05) for y in (-0.01, 0.01)], RADIUS)
    height = 0.02 + RADIUS + 0.01
    box = gg.Sdf.box((0.02, 0.02, 0.01))
    scene.add_body(box, mass=0.05, material=sand, pose=(0.06, 0.0, height, 1, 0, 0, 0), spheres=40)
    with scene.build(num_threads=1) as world:
        world.step(DT, 500)
        found = world.contacts().pressing(0.01 * WEIGHT)
        assert found.pairs.tolist() == [[k, -1] for k in range(4)]
        np.testing.assert_allclose(found.normals, np.tile((0.0, 0.0, -1.0), (4, 1)), atol=1e-3)
        np.testing.assert_allclose(found.points, world.positions[0, :4] + (0.0, 0.0, RADIUS), atol=1e-3 * RADIUS)
