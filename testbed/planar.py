"""planar.py: scenes of planar grains."""

from __future__ import annotations

import math

import numpy as np

import granular_gym as gg

#: settings of coarse pair fields, quick to compute
COARSE = {"theta_count": 64, "count": 32}


def free_scene(gravity=(0.0, 0.0), size: float = 4.0) -> gg.Scene:
    """An empty scene without walls; size: half the side of its bounds [m]."""
    return gg.Scene(bounds=((-size, -size), (size, size)), gravity=gravity, boundary={"x": "open", "y": "open"})


def pile(shape: gg.Shape2D, count: int, friction: float = 0.4, seed: int = 0) -> gg.Scene:
    """Grains above the floor of a box 16 radii wide, about to fall."""
    width = 16.0 * shape.circumradius
    scene = gg.Scene(bounds=((0.0, 0.0), (width, 5.0 * width)))
    material = scene.add_material(density=1000.0, friction=friction, shape=shape)
    scene.set_pair_field(gg.PairField.build(shape, shape, **COARSE))
    scene.fill_box(material, (0.0, 0.0), (width, 5.0 * width), count=count, seed=seed)
    return scene


def pile_under_plunger(count: int, restitution: float = 0.0) -> gg.Scene:
    """A pile of two shapes, 20 octagons over # grains, below a tool that comes down on it."""
    shape, other = gg.Shape2D.hash(0.05), gg.Shape2D.octagon(0.03)
    scene = pile(shape, count)
    material = scene.add_material(density=500.0, friction=0.3, restitution=restitution, shape=other)
    for pair in ((shape, other), (other, other)):
        scene.set_pair_field(gg.PairField.build(*pair, **COARSE))
    scene.fill_box(material, (0.0, 2.6), (0.8, 3.0), count=20)
    scene.add_tool(gg.Sdf.box((0.1, 0.1, 1.0)), name="plunger", material=0, pose=(0.4, 3.6, 0, 1, 0, 0, 0))
    return scene


def planks_on_rack() -> gg.Scene:
    """Three planks just above the edge of a plate and a peg, both narrower than points of their outline are apart."""
    scene = gg.Scene(bounds=((-1.0, 0.0), (1.0, 2.0)))
    plank = gg.Shape2D.block(0.8, 0.2)
    wood = scene.add_material(density=1000.0, friction=0.4, shape=plank)
    scene.set_pair_field(gg.PairField.build(plank, plank, **COARSE))
    scene.add_grains(wood, [(0.0, 0.602), (0.05, 0.81), (-0.1, 1.03)])
    scene.add_tool(gg.Sdf.box((0.01, 0.25, 1.0)), name="plate", material=wood, pose=(-0.2, 0.25, 0, 1, 0, 0, 0))
    scene.add_tool(gg.Sdf.cylinder(0.015, 1.0), name="peg", material=wood, pose=(0.2, 0.485, 0, 1, 0, 0, 0))
    return scene


def block_on_ramp(friction: float, angle: float = math.radians(16.0)) -> tuple[gg.Scene, np.ndarray]:
    """A block of 0.6 m x 0.3 m on a fixed one of 2 m; returns the direction down the slope as well."""
    scene = free_scene((0.0, -9.81))
    block, ramp = gg.Shape2D.block(0.6, 0.3), gg.Shape2D.block(2.0, 0.3)
    moving = scene.add_material(density=1000.0, friction=friction, shape=block)
    still = scene.add_material(density=1000.0, friction=friction, shape=ramp, fixed=True)
    along, up = np.array([math.cos(angle), math.sin(angle)]), np.array([-math.sin(angle), math.cos(angle)])
    scene.add_grains(still, [(0.0, 0.0)], angles=angle)
    scene.add_grains(moving, [0.5 * along + 0.3 * up], angles=angle)
    return scene, -along


def hits(count: int, shape: gg.Shape2D, solver: gg.Solver) -> gg.World:
    """A world of pairs of grains that approach each other at 2 m/s, each pair far from the others."""
    rng = np.random.default_rng(1)
    scene = free_scene(size=40.0)
    bounce = 0.0 if solver.mode == "penalty" else 1.0
    material = scene.add_material(density=1000.0, friction=0.0, restitution=bounce, shape=shape)
    scene.set_pair_field(gg.PairField.build(shape, shape))
    positions, velocities = [], []
    for k in range(count):
        center = np.array([(k % 8) * 8.0 - 28.0, (k // 8) * 8.0 - 28.0])
        turn = rng.uniform(-math.pi, math.pi)
        direction = np.array([math.cos(turn), math.sin(turn)])
        offset = np.array([-direction[1], direction[0]]) * rng.uniform(-0.5, 0.5)
        positions += [center - 1.2 * direction, center + 1.2 * direction + offset]
        velocities += [direction, -direction]
    scene.add_grains(material, positions, velocities=velocities, angles=rng.uniform(-math.pi, math.pi, 2 * count))
    return scene.build(device="cpu", num_threads=1, solver=solver)


def energy(world: gg.World, shape: gg.Shape2D) -> np.ndarray:
    """Kinetic energy of each grain over the density [J m2 / kg]."""
    speed2 = (world.velocities[0] ** 2).sum(axis=1)
    return 0.5 * (shape.area * speed2 + shape.inertia * world.angular_velocities[0, :, 2] ** 2)
