"""Liquids against laws: hydrostatics, a dam that breaks, shear between plates, a drop in flight, bodies that float."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import granular_gym as gg
from testbed.continuum import (
    DAM,
    GRAVITY,
    MARTIN_MOYCE,
    afloat,
    basin,
    carried,
    dam,
    dam_front,
    drag_law,
    draught,
    drowned,
    momenta,
    pressures,
    shear,
    sheared,
)
from testbed.continuum import WATER as DENSITY
from testbed.standard import box_mesh


def test_hydrostatics() -> None:
    """Water at rest, 16 spacings deep: its weight on the floor, the pressures of the law on the sides and inside, its
    volume. The surface is as if a sixth of a spacing higher: 1 % of the depth."""
    side, depth, spacing = 0.06, 0.16, 0.01
    with basin((side, side, 0.2), depth, spacing).build(device="cpu", num_threads=1) as world:
        world.step(0.005, 30)
        assert world.stats["unsolved_count"][0] == 0
        floor, sides = carried(world, side, depth)
        assert floor == pytest.approx(1.0, abs=0.015)
        assert sides == pytest.approx([1.0] * 4, abs=0.02)
        z, p = world.positions[0, :, 2], pressures(world)
        for low in (0.0, 0.04, 0.08, 0.12):
            layer = (z > low) & (z < low + 0.02)
            law = DENSITY * GRAVITY * (depth - float(z[layer].mean()))
            assert float(p[layer].mean()) == pytest.approx(law, rel=0.01, abs=DENSITY * GRAVITY * spacing / 6)
        assert 2.0 * float(z.mean()) == pytest.approx(depth, rel=0.005)
        assert float(np.linalg.norm(world.velocities[0], axis=1).mean()) < 2e-3


@pytest.mark.full
def test_hydrostatics_to_one_percent() -> None:
    """Water 24 spacings deep in a box 7 wide: the floor carries its weight, each side the thrust of the law. In a box 6
    wide the floor carries 1.03 % too much after .3 s, .93 % after 1 s: the excess grows as the box gets narrower."""
    spacing = 0.01
    side, depth = 7 * spacing, 24 * spacing
    with basin((side, side, depth + 0.04), depth, spacing).build(device="cpu", num_threads=1) as world:
        world.step(0.02, 10)
        assert world.stats["unsolved_count"][0] == 0
        floor, sides = carried(world, side, depth)
        assert [floor, *sides] == pytest.approx([1.0] * 5, abs=0.01)


@pytest.mark.parametrize("wide", [5, 8])
def test_water_rests_wherever_walls_lie_on_the_grid(wide: int) -> None:
    """Blocks of nodes are four spacings wide: whether or not one ends at a wall, all sides carry the same and water
    rests."""
    spacing = 0.01
    side, depth = wide * spacing, 8 * spacing
    with basin((side, side, 0.2), depth, spacing).build(device="cpu", num_threads=1) as world:
        world.step(0.005, 40)
        sides = np.array(carried(world, side, depth)[1])
        assert np.ptp(sides) < 2e-3
        # a surface that is a fifth of a spacing higher
        assert 1.0 < sides.mean() < (1.0 + 0.2 * spacing / depth) ** 2
        assert float(np.linalg.norm(world.velocities[0], axis=1).mean()) < 1e-3


@pytest.mark.parametrize("aside", [pytest.param(0.0, marks=pytest.mark.full), 0.007])
def test_a_box_under_water(aside: float) -> None:
    """It is lifted by the weight of what it displaces, wherever it lies on the grid, and pushed nowhere else."""
    scene, lift = drowned(aside, 0.02)
    with scene.build(device="cpu", num_threads=1) as world:
        world.step(0.005, 40)
        assert world.wrenches[0, 0, 2] == pytest.approx(lift, rel=0.08)
        assert np.abs(world.wrenches[0, 0, :2]).max() < 0.02 * lift


def test_a_vessel_of_two_tools_carries_its_weight() -> None:
    """A floor and a wall around it of another tool, three spacings thick: together they carry the water."""
    side, spacing, thick = 0.08, 0.02, 0.06
    scene = gg.Scene(((-0.3, -0.3, 0), (0.3, 0.3, 0.5)))
    water = scene.add_material(density=DENSITY, friction=0.0, continuum=gg.Liquid(4e5, 1e-3))
    scene.add_continuum(water, (-side, -side, 0.2), (side, side, 0.32), spacing=spacing)
    outer, t = side + thick, thick / 2
    scene.add_tool(gg.Sdf.box((outer, outer, t)), "floor", water, (0, 0, 0.2 - t))
    across = [gg.Sdf.box((t, outer, 0.08)).at((s * (side + t), 0, 0)) for s in (-1, 1)]
    along = [gg.Sdf.box((side, t, 0.08)).at((0, s * (side + t), 0)) for s in (-1, 1)]
    scene.add_tool(gg.Sdf.union(*across, *along), "wall", water, (0, 0, 0.28))
    with scene.build(device="cpu", num_threads=1) as world:
        world.step(0.005, 60)
        weight = GRAVITY * float(world.grain_masses.sum())
        assert -world.wrenches[0, :, 2].sum() == pytest.approx(weight, rel=0.06)
        assert np.abs(world.wrenches[0, :, :2].sum(axis=0)).max() < 0.01 * weight


def test_a_dam_breaks() -> None:
    """A column twice as high as wide: its front beside the experiment of Martin, Moyce (1952, table 2, n^2 = 2), whose
    front is as fast once it runs; a real gate is slower to open."""
    times, fronts = [], []
    with dam(DAM / 8).build(device="cpu", num_threads=1) as world:
        for k in range(1, 58):
            world.step(0.004)
            times.append(0.004 * k * np.sqrt(2.0 * GRAVITY / DAM))
            fronts.append(dam_front(world))
            assert float(world.densities.max()) < 1.02 * DENSITY
    found = np.interp(MARTIN_MOYCE[:, 0], times, fronts)
    assert np.polyfit(MARTIN_MOYCE[:, 0], found, 1)[0] == pytest.approx(1.32, rel=0.1)
    assert (np.abs(found / MARTIN_MOYCE[:, 1] - 1.0) < 0.15).all()


def test_shear_between_plates() -> None:
    """Honey between two plates that slide past each other: the force of Newton's law of viscosity, but for the ends
    of the layer, which are free."""
    with sheared(0.02).build(device="cpu", num_threads=1) as world:
        np.testing.assert_allclose(shear(world, 0.005, 20), drag_law(0.6), rtol=0.1)


def test_a_drop_in_flight() -> None:
    """A block of liquid thrown in space keeps its momentum, and the pressure does not push it on."""
    scene = gg.Scene(((-1, -1, -1), (2, 2, 2)), gravity=(0, 0, 0), boundary=dict.fromkeys("xyz", "open"))
    water = scene.add_material(density=DENSITY, continuum=gg.Liquid(2e5))
    scene.add_continuum(water, (0.013, 0, 0), (0.113, 0.1, 0.1), spacing=0.02)
    with scene.build(device="cpu", num_threads=1) as world:
        x = world.positions[0].astype(np.float64)
        world.set_grains(velocities=np.array([1.0, 0.4, 0.0]) - 2.0 * (x - x.mean(axis=0)))  # squeezed as it flies
        world.step(0.005)
        start, _ = momenta(world)
        world.step(0.005, 60)
        end, _ = momenta(world)
        assert world.stats["unsolved_count"][0] == 0
        np.testing.assert_allclose(end, start, atol=5e-3 * np.abs(start).max())


def test_pressure_is_of_the_state() -> None:
    """Pressures are part of a state: read after it is loaded they are those before."""
    with basin((0.1, 0.1, 0.2), 0.06, spacing=0.02).build(device="cpu", num_threads=1) as world:
        world.step(0.005, 20)
        before, state = world.stresses, world.save_state()
        assert pressures(world).max() > 100.0
        world.step(0.005, 5)
        world.load_state(state)
        np.testing.assert_array_equal(world.stresses, before)


@pytest.mark.parametrize(
    ("name", "values"), [("bulk_modulus", (0.0,)), ("bulk_modulus", (-1.0,)), ("viscosity", (1e5, -1.0))]
)
def test_impossible_liquids(name: str, values: tuple[float, ...]) -> None:
    with pytest.raises(gg.ArgumentError, match=name):
        gg.Liquid(*values)


def test_thin_tools_are_told() -> None:
    scene = basin((0.1, 0.1, 0.2), 0.06, spacing=0.02)
    scene.add_tool(gg.Sdf.box((0.02, 0.02, 0.019)), "plate", "water", (0.05, 0.05, 0.15))
    with pytest.warns(gg.StabilityWarning, match=r"^tool 'plate': expected a thickness of .* 0.04 m, got 0.038 m"):
        scene.build(device="cpu").close()
    scene = basin((0.1, 0.1, 0.2), 0.06, spacing=0.02)
    mesh = gg.Sdf.from_mesh(box_mesh((0.02, 0.02, 0.005), 1), spacing=0.002)
    scene.add_tool(mesh, "slab", "water", (0.05, 0.05, 0.15))
    with pytest.warns(gg.StabilityWarning, match=r"^tool 'slab': expected a thickness of .* 0.04 m, got 0.01"):
        scene.build(device="cpu").close()
    scene = basin((0.1, 0.1, 0.2), 0.06, spacing=0.02)
    scene.add_tool(gg.Sdf.sphere(0.02), "ball", "water", (0.05, 0.05, 0.15))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        scene.build(device="cpu").close()


SPACING, POOL = 0.02, 0.16
ANYWHERE = dict.fromkeys("xyz", (-9.0, 9.0))


@pytest.mark.parametrize("start", [0.081, pytest.param(0.091, marks=pytest.mark.full)])
def test_a_block_floats(start: float) -> None:
    """Of half the density of water, from below and from above: half of it is under water, to a quarter of a spacing, as
    the surface is as if up to a fifth of one higher and edges that are round to the grid lift by 8 % more."""
    half = 0.03
    scene, mass = afloat((half, half, half), (0.08, 0.08, start), 0.5 * DENSITY, 0.08, SPACING, POOL)
    with scene.build(device="cpu", num_threads=1) as world:
        heights, lifts = [], []
        for _ in range(160):
            world.step(0.005)
            assert world.stats["unsolved_count"][0] == 0
            heights.append(float(world.tool_poses[0, 0, 2]))
            lifts.append(float(world.wrenches[0, 0, 2]) / (mass * GRAVITY))
        under = draught(world, float(np.mean(heights[-60:])), half, POOL)
        assert under == pytest.approx(half, abs=0.25 * SPACING)
        assert np.ptp(heights[-60:]) < 0.1 * SPACING
        assert np.mean(lifts[-60:]) == pytest.approx(1.0, abs=0.01)
        assert 1.0 - world.tool_poses[0, 0, 3] < 1e-4  # upright


def test_a_block_sinks() -> None:
    """Of twice the density of water: a stop under water carries its weight less that of what it displaces; the floor of
    the pool carries it whole, on what water is left under it: half a distance of particles."""
    half = 0.03
    stop = {"z": (0.08, 0.3)}
    scene, mass = afloat((half, half, half), (0.08, 0.08, 0.083), 2.0 * DENSITY, 0.14, SPACING, POOL, travel=stop)
    with scene.build(device="cpu", num_threads=1) as world:
        world.step(0.005, 25)
        world.step(0.005, 10)
        assert world.tool_poses[0, 0, 2] == np.float32(0.08) and world.stats["unsolved_count"][0] == 0
        assert world.wrenches[0, 0, 2] == pytest.approx(DENSITY * 8.0 * half**3 * GRAVITY, rel=0.1)
        assert np.abs(world.wrenches[0, 0, :2]).max() < 0.02 * mass * GRAVITY
    scene, mass = afloat((half, half, half), (0.08, 0.08, 0.04), 2.0 * DENSITY, 0.1, SPACING, POOL)
    with scene.build(device="cpu", num_threads=1) as world:
        world.step(0.005, 30)
        world.step(0.005, 20)
        assert 0.0 <= world.tool_poses[0, 0, 2] - half < 0.006 and world.stats["unsolved_count"][0] == 0
        weight = GRAVITY * (mass + float(world.grain_masses.sum()))
        assert -world.wall_wrenches[0, 4, 2] == pytest.approx(weight, rel=0.04)


def test_a_raft_rights_itself() -> None:
    """A flat box that lies askew in water swings and comes to lie level."""
    angle, half = 0.15, (0.05, 0.05, 0.03)
    pose = (0.1, 0.1, 0.08, np.cos(angle / 2), 0.0, np.sin(angle / 2), 0.0)
    scene, _ = afloat(half, pose, 0.5 * DENSITY, 0.08, SPACING)
    with scene.build(device="cpu", num_threads=1) as world:
        tilts = []
        for _ in range(140):
            world.step(0.005)
            tilts.append(2.0 * float(world.tool_poses[0, 0, 5]))
        assert world.stats["unsolved_count"][0] == 0
        assert min(tilts) < 0.0 and np.abs(tilts[-20:]).max() < 0.2 * angle
        assert np.abs(world.tool_poses[0, 0, [4, 6]]).max() < 5e-3


def thrown(**tool: Any) -> gg.Scene:
    """A block of 1.7 kg of water in space without gravity, and a box that is to meet it."""
    scene = gg.Scene(((-1, -1, -1), (1, 1, 1)), gravity=(0, 0, 0), boundary=dict.fromkeys("xyz", "open"))
    water = scene.add_material(density=DENSITY, friction=0.0, continuum=gg.Liquid(2e5, 1e-3))
    scene.add_continuum(water, (-0.06, -0.06, -0.06), (0.06, 0.06, 0.06), spacing=SPACING)
    scene.add_tool(gg.Sdf.box((0.04, 0.03, 0.03)), "box", water, (0.01, 0.0, 0.1), **tool)
    return scene


def test_a_heavy_body_does_as_one_that_is_posed() -> None:
    """Water meets a spinning box that weighs a thousand tons as it meets one which follows the same poses."""
    moments = np.array([600.0, 830.0, 830.0])
    speed, spin = np.array([0.1, 0.0, -0.5]), 4.0
    free = thrown(mass=1e6, inertia=moments, travel=ANYWHERE).build(device="cpu", num_threads=1)
    posed = thrown().build(device="cpu", num_threads=1)
    with free, posed:
        free.set_tool_velocity("box", speed)
        free.set_tool_angular_velocity("box", (0.0, spin, 0.0))
        for k in range(1, 13):
            t = 0.005 * k
            turned = np.cos(0.5 * spin * t), 0.0, np.sin(0.5 * spin * t), 0.0
            posed.step(0.005, tool_poses=[[*(np.array([0.01, 0.0, 0.1]) + speed * t), *turned]])
            free.step(0.005)
            np.testing.assert_allclose(free.wrenches[0], posed.wrenches[0], atol=1e-3)
        assert np.linalg.norm(posed.velocities[0], axis=1).max() > 0.3  # it was met
        np.testing.assert_allclose(free.positions, posed.positions, atol=1e-6)


def test_a_link_does_as_a_free_body() -> None:
    """A link of a robot whose inverse mass is that of the free box."""
    mass, moments = 0.3, 3e-4 * np.array([0.6, 0.83, 0.83])
    twists = np.array([0.0, 0.0, -1.0, 0.0, 0.0, 0.0])
    free = thrown(mass=mass, inertia=moments, travel=ANYWHERE).build(device="cpu", num_threads=1)
    link = thrown(coupled=True).build(device="cpu", num_threads=1)
    with free, link:
        free.set_tool_velocity("box", twists[:3])
        response = np.diag([1.0 / mass] * 3 + list(1.0 / moments))
        for k in range(14):
            state = link.coupled_state()
            link.set_coupled(state.poses, state.twists if k else twists[None], np.zeros((1, 6)), response)
            link.step(0.005)
            free.step(0.005)
        assert -0.6 < free.tool_velocity("box")[0, 2] < -0.2 and free.tool_angular_velocity("box")[0, 1] > 1.0
        np.testing.assert_allclose(link.coupled_state().twists[0, 0, :3], free.tool_velocity("box")[0], atol=1e-5)
        np.testing.assert_allclose(link.positions, free.positions, atol=1e-6)


@pytest.mark.parametrize(("mass", "share"), [(0.003, 0.12), (0.3, 0.02), (30.0, 0.04)])
def test_momentum_of_water_and_body(mass: float, share: float) -> None:
    """A box strikes water in space. What it loses is what its wrench says, to rounding; the water gains it but for a
    share, as pressures know momentum only as far as the splines resolve them."""
    moments = mass * 1e-3 * np.array([0.6, 0.83, 0.83])
    with thrown(mass=mass, inertia=moments, travel=ANYWHERE).build(device="cpu", num_threads=1) as world:
        world.set_tool_velocity("box", (0.2, 0.0, -1.0))
        start, push, drift = world.tool_velocity("box")[0].astype(np.float64), np.zeros(3), []
        for _ in range(40):
            world.step(0.005)
            push += 0.005 * world.wrenches[0, 0, :3]
            lost = mass * (start - world.tool_velocity("box")[0])
            drift.append(float(np.linalg.norm(momenta(world)[0] - lost)))
            assert world.stats["unsolved_count"][0] == 0
        np.testing.assert_allclose(push, -lost, atol=1e-6 * mass)
        assert np.linalg.norm(lost) > 0.02 * mass
        assert max(drift) < share * np.linalg.norm(lost)


def test_a_body_as_light_as_a_thousandth() -> None:
    """On calm water it lies where it is put, and where it falls it bounces lower and lower."""
    half, depth, mass = 0.04, 0.08, 1e-3 * DENSITY * 8.0 * 0.04**3
    scene, _ = afloat((half, half, half), (0.08, 0.08, 0.3), 1e-3 * DENSITY, depth, SPACING, POOL)
    with scene.build(device="cpu", num_threads=1) as world:
        world.set_tool_active("box", False)
        world.step(0.005, 40)
        world.set_tool_active("box", True)
        for drop in (0.0, 0.04):
            world.set_tool_poses([[0.08, 0.08, depth + 0.055 + drop, 1, 0, 0, 0]])
            world.set_tool_velocity("box", (0.0, 0.0, 0.0))
            heights = []
            for _ in range(80):
                world.step(0.005)
                heights.append(float(world.tool_poses[0, 0, 2]) - depth - half)
                assert world.stats["unsolved_count"][0] == 0
            assert min(heights) > 0.0 and max(heights) < max(drop, 0.005) + 0.015
            assert np.abs(world.tool_poses[0, 0, 4:]).max() < 0.01
            assert np.linalg.norm(world.velocities[0], axis=1).max() < 0.05
        assert mass < 1e-3
