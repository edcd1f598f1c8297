"""Spheres solved by coloured Gauss-Seidel: what a bed needs fewer sweeps for than Jacobi iterations."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import granular_gym as gg
from testbed.landings import loose_bed

Note = Callable[..., None]
DT = 1e-3

pytestmark = pytest.mark.filterwarnings("ignore::granular_gym.errors.StabilityWarning")


def landed(seconds: float = 1.2, **solver: object) -> gg.World:
    """A bed of 24 layers after its fall."""
    world = loose_bed(24).build(num_threads=1, solver=gg.Solver(**solver))
    world.step(DT, round(seconds / DT))
    return world


def speed(world: gg.World) -> float:
    """Root mean square speed [m/s]."""
    return float(np.sqrt((world.velocities[0].astype(np.float64) ** 2).sum(1).mean()))


def test_ten_sweeps_land_like_forty_iterations(measured: Note) -> None:
    """A bed that was solved badly packs too densely and does not come to rest: too many contacts, grains that move."""
    with landed() as swept, landed(mode="jacobi") as few, landed(mode="jacobi", iterations=40) as many:
        counts = [float(world.stats["contact_count"][0]) for world in (swept, few, many)]
        measured(sweeps_10=counts[0], jacobi_10=counts[1], jacobi_40=counts[2], speed=speed(swept))
        assert abs(counts[0] / counts[2] - 1.0) < 0.06 < counts[1] / counts[2] - 1.0
        assert speed(swept) < 1e-4 < speed(few)


def test_a_bed_rests_with_long_steps(measured: Note) -> None:
    """At 5 ms ten sweeps hold to half a percent what ten Jacobi iterations let collapse."""
    change = {}
    for mode in ("gauss_seidel", "jacobi"):
        with landed(mode=mode, iterations=40) as world:
            before = world.positions[0, :, 2].mean()
            world.set_solver(gg.Solver(mode=mode))
            world.step(5e-3, 200)
            change[mode] = float(world.positions[0, :, 2].mean() / before - 1.0)
    measured(**change)
    assert abs(change["gauss_seidel"]) < 5e-3
    assert change["jacobi"] < -0.05


def test_the_floor_carries_the_weight(measured: Note) -> None:
    with landed(2.0) as world:
        world.step(DT, 100)
        radii = world.radii.astype(np.float64)
        weight = 2500.0 * 4.0 / 3.0 * np.pi * (radii**3).sum() * 9.81
        force = float(world.wall_wrenches[0, :, 2].sum())
        measured(force_over_weight=-force / weight)
        assert abs(force / weight + 1.0) < 1e-3


def test_planar_grains_are_not_solved_by_it() -> None:
    scene = gg.Scene(bounds=((0, 0), (1, 1)))
    scene.add_material(density=1000.0, shape=gg.Shape2D.octagon(0.1))
    with pytest.raises(gg.ArgumentError, match="gauss_seidel is for spheres alone"):
        scene.build(solver=gg.Solver(mode="gauss_seidel"))


def test_a_squeezed_grain_is_not_shot_off(measured: Note) -> None:
    """Plates hold a grain in less than its diameter, which no impulse can undo; then one of them gives way aslant."""
    scene = gg.Scene(bounds=((-0.2, -0.2, 0.0), (0.2, 0.2, 0.4)), gravity=(0.0, 0.0, 0.0))
    sand = scene.add_material(density=2500.0, friction=0.5)
    scene.add_grains(sand, [[0.0, 0.0, 0.2]], 0.01)
    plate = gg.Sdf.box((0.05, 0.05, 0.01))
    scene.add_tool(plate, pose=(0.0, 0.0, 0.18, 1.0, 0.0, 0.0, 0.0))
    scene.add_tool(plate, pose=(0.0, 0.0, 0.22, 1.0, 0.0, 0.0, 0.0))
    dt, fastest, stored = 5e-3, 0.0, 0.0
    with scene.build(num_threads=1) as world:
        for k in range(200):
            height = 0.22 - 0.00025 * min(k, 60)
            tilt = 0.004 * max(k - 100, 0)
            upper = [0.0, 0.0, height + 0.02 * tilt, np.cos(tilt / 2), 0.0, np.sin(tilt / 2), 0.0]
            world.step(dt, 1, tool_poses=[[0.0, 0.0, 0.18, 1.0, 0.0, 0.0, 0.0], upper])
            fastest = max(fastest, float(np.abs(world.velocities).max()))
            stored = max(stored, float(np.linalg.norm(world.contacts().impulses, axis=1).max(initial=0.0)))
    mass = 2500.0 * 4.0 / 3.0 * np.pi * 0.01**3
    measured(fastest=fastest, stored_speed=stored / mass)
    assert stored / mass < 1.5 * 10.0 * 0.01 / dt
    assert fastest < 2.0
