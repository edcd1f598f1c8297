"""Grains at rest: forces that balance the weight, a deep column, a heap, and no gain of energy."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

import numpy as np
import pytest

import granular_gym as gg
from testbed.beds import (
    DENSITY,
    DIAMETER,
    DT,
    GRAVITY,
    RADIUS,
    THREADS,
    column_scene,
    falling_bed,
    heap,
    heap_angle,
    mass,
    mean_overlap,
    rms_speed,
)

Note = Callable[..., None]


def test_frictionless_box_is_hydrostatic(measured: Note) -> None:
    """The bottom carries the weight within 1 %, on average over .1 s; the walls carry nothing upwards."""
    count = 1500
    world = column_scene(count, 5.0, friction=0.0).build(num_threads=THREADS)
    world.step(DT, 1500)
    weight = count * mass() * GRAVITY
    world.step(DT, 100)
    forces = world.wall_wrenches[0]
    ratio = -forces[4, 2] / weight
    measured(bottom_over_weight=ratio, walls_over_weight=np.abs(forces[:4, 2]).sum() / weight)
    assert abs(ratio - 1.0) < 0.01
    assert np.abs(forces[:4, 2]).sum() < 1e-6 * weight
    # opposite walls have opposite forces
    assert abs(forces[0, 0] + forces[1, 0]) < 0.02 * abs(forces[1, 0])


def test_bottom_walls_and_tool_carry_the_weight(measured: Note) -> None:
    """Frictional walls and a rod across the bed share the weight; their sum is it, within 1 %."""
    count = 2000
    scene = column_scene(count, 6.0, rolling=0.2, seed=2)
    rod = gg.Sdf.capsule(2.0 * RADIUS, 0.1).at((0, 0, 0.12), (np.sqrt(0.5), np.sqrt(0.5), 0, 0))
    # grains are not placed inside the rod
    points = scene._grains[0].positions
    near = np.hypot(points[:, 0], points[:, 2] - 0.12) < 3.2 * RADIUS
    points[near, 2] += 0.6
    scene.bounds[1, 2] += 1.0
    scene.add_tool(rod, name="rod", material=1)
    world = scene.build(num_threads=THREADS)
    world.step(DT, 1800)
    weight = count * mass() * GRAVITY
    walls, tool = world.wall_wrenches[0], world.wrenches[0, 0]
    world.step(DT, 100)
    walls, tool = world.wall_wrenches[0], world.wrenches[0, 0]
    shares = -np.array([walls[4, 2], walls[:4, 2].sum(), tool[2]]) / weight
    measured(bottom=shares[0], walls=shares[1], tool=shares[2], sum=shares.sum())
    assert abs(shares.sum() - 1.0) < 0.01
    assert shares[2] > 0.05 and shares[1] > 0.05, "the tool and the walls carry something"
    # the sum of horizontal forces is zero
    assert np.abs(walls[:, :2].sum(axis=0) + tool[:2]).max() < 0.01 * weight


def test_torque_on_a_lever(measured: Note) -> None:
    """Grains that rest on a plate load it with sum r x F about the tool's origin, wherever the tool's frame points."""
    pivot = np.array([0.2, -0.1, 0.5])
    points = np.array([[0.05, 0.0, 0.0], [-0.08, 0.06, 0.0], [0.09, -0.07, 0.0], [0.0, 0.09, 0.0]])
    radii = np.array([RADIUS, 2 * RADIUS, RADIUS, 1.5 * RADIUS])
    scene = gg.Scene(((-2, -2, -2), (2, 2, 2)))
    grain = scene.add_material(density=DENSITY, friction=0.5)
    # the plate is level while its tool is turned
    turn = (np.cos(0.4), 0.0, 0.0, np.sin(0.4))
    scene.add_tool(gg.Sdf.box((0.15, 0.15, 0.01)).at((0, 0, -0.01)), pose=(*pivot, *turn))
    scene.add_grains(grain, pivot + points + radii[:, None] * [0, 0, 1], radii)
    world = scene.build(num_threads=1)
    world.step(DT, 200)
    world.step(DT, 10)
    force, torque = world.wrenches[0, 0, :3], world.wrenches[0, 0, 3:]
    loads = np.stack([0 * radii, 0 * radii, -mass(radii) * GRAVITY], axis=1)
    expected = np.cross(points, loads).sum(axis=0)
    wrong = np.abs(torque - expected).max() / np.linalg.norm(expected)
    wrong_force = np.abs(force - loads.sum(axis=0)).max() / np.linalg.norm(loads.sum(axis=0))
    measured(torque_relative_error=wrong, force_relative_error=wrong_force)
    assert wrong < 0.01
    assert wrong_force < 0.01


def test_tool_feels_what_it_gives(measured: Note) -> None:
    """A paddle that ploughs through free grains: its impulse is minus their change of momentum, and so for torque."""
    rng = np.random.default_rng(5)
    scene = gg.Scene(((-1, -1, -1), (1, 1, 1)), gravity=(0, 0, 0), boundary=dict.fromkeys("xyz", "open"))
    grain = scene.add_material(density=DENSITY, friction=0.5, restitution=0.3)
    scene.fill_box(grain, (-0.1, -0.06, -0.06), (0.0, 0.06, 0.06), count=300, radius=(0.004, 0.007))
    scene.add_tool(gg.Sdf.box((0.01, 0.05, 0.05)), pose=(-0.2, 0, 0, 1, 0, 0, 0))
    world = scene.build(num_threads=1)
    world.set_grains(velocities=rng.normal(0, 0.1, (300, 3)))
    m = mass(world.radii[0])
    inertia = 0.4 * m * world.radii[0].astype(np.float64) ** 2
    before = world.velocities[0].astype(np.float64).T @ m
    impulse, steps, per = np.zeros(3), 15, 20
    for k in range(steps):
        world.step(DT, per, tool_poses=[[-0.2 + 0.012 * (k + 1), 0, 0, 1, 0, 0, 0]])
        impulse += world.wrenches[0, 0, :3].astype(np.float64) * per * DT
    after = world.velocities[0].astype(np.float64).T @ m
    assert np.abs(inertia).min() > 0
    drift = np.abs(after - before + impulse).max() / np.abs(impulse).max()
    measured(action_minus_reaction=drift)
    assert np.abs(impulse).max() > 1e-3, "the paddle met nothing"
    assert drift < 1e-4


@pytest.mark.slow
def test_a_deep_column_rests(full: bool, measured: Note) -> None:
    """A column of 2,500 grains (with --full 10,000), 27 deep: settled for 1 s, then in 1 s it sinks under .3 %, mean
    overlap below .02 %, largest below .5 % of the diameter."""
    count, half_width = (10_000, 10.0) if full else (2500, 5.0)
    world = column_scene(count, half_width).build(num_threads=THREADS)
    world.step(DT, 1000)
    weight = count * mass() * GRAVITY
    start = world.positions[0, :, 2].mean(dtype=np.float64)
    mean, largest = 0.0, 0.0
    for _ in range(10):
        world.step(DT, 100)
        mean = max(mean, mean_overlap(world))
        largest = max(largest, float(world.stats["overlap_max"][0]))
    sinking = (start - world.positions[0, :, 2].mean(dtype=np.float64)) / start
    carried = -world.wall_wrenches[0, :, 2].sum() / weight
    measured(
        sinking_percent=100 * sinking,
        mean_overlap_percent=100 * mean,
        largest_overlap_percent=100 * largest,
        rms_speed=rms_speed(world),
        carried_over_weight=carried,
    )
    assert sinking < 0.003
    assert mean < 0.0002
    assert largest < 0.005
    assert abs(carried - 1.0) < 0.01


def test_bed_does_not_creep_far_from_the_origin(full: bool, measured: Note) -> None:
    """At a height of 4 m, where float32 resolves 5e-7 m and a step moves by less, a bed stays at rest (with --full
    three beds)."""
    creep = []
    for seed in (1, 2, 3) if full else (1,):
        scene = falling_bed(8, 5, seed, floor=4.0)
        world = scene.build(num_threads=THREADS, solver=gg.Solver(iterations=20))
        world.step(DT, 3000)
        height = world.positions[0, :, 2].mean(dtype=np.float64)
        world.step(DT, 2000)
        creep.append(abs(height - world.positions[0, :, 2].mean(dtype=np.float64)) / RADIUS / 2.0)
    measured(creep_radii_per_second=max(creep))
    assert max(creep) < 1e-5


@pytest.mark.slow
def test_a_heap_stands(full: bool, measured: Note) -> None:
    """Left by a lifted tube, of 600 grains (with --full 3,000): rms speed below 1e-5 m/s, and no grain creeps .1 mm
    in 10 s, nor .03 mm in the 3 s of the smaller heap."""
    world = heap(3000, [0.3]) if full else heap(600, [0.3], tube=0.035)
    seconds = 10 if full else 3
    # a few grains at its foot roll for some more seconds
    world.step(DT, 5000 if full else 3000)
    start = world.positions[0].astype(np.float64)
    fastest = 0.0
    for _ in range(seconds):
        world.step(DT, 1000)
        fastest = max(fastest, rms_speed(world))
    moved = np.linalg.norm(world.positions[0] - start, axis=1)
    turned = heap_angle(world.positions[0]) - heap_angle(start)
    measured(
        angle_deg=heap_angle(start),
        rms_speed=fastest,
        largest_creep_mm=1e3 * moved.max(),
        mean_creep_mm=1e3 * moved.mean(),
        slope_creep_deg=turned,
    )
    assert fastest < 1e-5
    assert moved.max() < 1e-5 * seconds
    assert abs(turned) < 0.05 * seconds


@pytest.mark.slow
def test_heaps_are_steeper_with_rolling_friction(measured: Note) -> None:
    world = heap(800, [0.0, 0.1, 0.3])
    world.step(DT, 1200)
    angles = [heap_angle(world.positions[env]) for env in range(3)]
    measured(smooth=angles[0], rolling_01=angles[1], rolling_03=angles[2])
    assert angles[0] + 3.0 < angles[1]
    assert angles[1] + 3.0 < angles[2]


@pytest.mark.parametrize("dt", [pytest.param(5e-4, marks=pytest.mark.full), 1e-3, 2e-3])
def test_energy_never_rises(dt: float, measured: Note) -> None:
    """A drop of 1,000 grains: no substep increases the energy by .1 %, and all grains come to rest."""
    world = column_scene(1000, 5.0, rolling=0.3).build(num_threads=THREADS)
    m, inertia = mass(), 0.4 * mass() * RADIUS**2

    def energy() -> float:
        v, w = world.velocities[0].astype(np.float64), world.angular_velocities[0].astype(np.float64)
        height = world.positions[0, :, 2].astype(np.float64).sum()
        return 0.5 * m * (v**2).sum() + 0.5 * inertia * (w**2).sum() + m * GRAVITY * height

    worst, last = 0.0, energy()
    for _ in range(round(0.6 / dt)):
        world.step(dt)
        now = energy()
        worst, last = max(worst, (now - last) / last), now
    world.step(dt, round(2.0 / dt))
    rest = 0.5 * rms_speed(world) ** 2 / (GRAVITY * DIAMETER)
    measured(largest_rise_percent=100 * worst, rest_energy_over_mgd=rest)
    assert worst < 1e-3
    assert rest < 1e-6


def test_bed_does_not_depend_on_names_of_grains(measured: Note) -> None:
    """The same drop with grains in another order: height and contacts of the bed agree within 1 %."""
    figures = []
    for seed in (None, 1):
        scene = column_scene(1000, 5.0)
        if seed is not None:
            grains = scene._grains[0]
            order = np.random.default_rng(seed).permutation(len(grains.positions))
            shuffled = {"positions": grains.positions[order], "velocities": grains.velocities[order]}
            scene._grains[0] = dataclasses.replace(grains, **shuffled)
        world = scene.build(num_threads=THREADS)
        world.step(DT, 1000)
        figures.append([world.positions[0, :, 2].mean(), -world.wall_wrenches[0, :, 2].sum()])
    wrong = np.abs(np.array(figures[0]) / np.array(figures[1]) - 1.0).max()
    measured(relative_difference=wrong)
    assert wrong < 0.01
