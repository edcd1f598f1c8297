"""Worlds whose files are written and read back."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

import granular_gym as gg

# pytest's importlib mode does not put test folders on the path
sys.path.insert(0, str(Path(__file__).parent))


def mixed_scene(tools: bool = False) -> gg.Scene:
    """Two materials and sizes, periodic along x, so that grains touch across the faces."""
    scene = gg.Scene(((-0.1, -0.1, 0.0), (0.1, 0.1, 0.4)), boundary={"x": "periodic"})
    sand = scene.add_material(density=2000.1, radius=0.013, name="sand")
    dust = scene.add_material(density=1234.567, name="dust")
    scene.fill_box(sand, (-0.1, -0.1, 0.0), (0.1, 0.1, 0.1), 120)
    scene.fill_box(dust, (-0.1, -0.1, 0.1), (0.1, 0.1, 0.2), 60, radius=(0.007, 0.011))
    scene.fill_box(sand, (-0.1, -0.1, 0.2), (0.1, 0.1, 0.25), 10)
    if tools:
        scene.add_tool(gg.Sdf.box((0.03, 0.02, 0.01)), name="plate", pose=(0.0, 0.0, 0.07, 0.9, 0.1, 0.3, 0.2))
        scene.add_tool(gg.Sdf.sphere(0.02), name="ball", pose=(0.0, 0.0, 0.35))
    return scene


def settled(scene: gg.Scene, envs: int = 1) -> gg.World:
    world = scene.build(env_count=envs, device="cpu", num_threads=1, overlaps="ignore")
    world.step(dt=1e-3, substeps=250)
    return world


@pytest.fixture(scope="module")
def mixed() -> gg.World:
    """Grains alone, at the end of a fall."""
    return settled(mixed_scene())


@pytest.fixture(scope="module")
def tooled() -> gg.World:
    """The same among tools; the second of two envs lies otherwise."""
    world = settled(mixed_scene(tools=True), envs=2)
    world.transform_grains((0.0, 0.001, 0.0), 0.0, envs=1)
    world.step(dt=1e-3)
    return world


@pytest.fixture(scope="module")
def clumped() -> gg.World:
    """A body with a surface, a clump and lone grains."""
    scene = gg.Scene(((-0.2, -0.2, 0.0), (0.2, 0.2, 0.4)))
    sand = scene.add_material(density=2000.0, radius=0.02)
    rods = scene.add_material(density=2000.0, shape=gg.Clump([[-0.01, 0, 0], [0.01, 0, 0]], 0.01), name="rods")
    scene.fill_box(sand, (-0.2, -0.2, 0.0), (0.2, 0.2, 0.1), 40)
    scene.fill_box(rods, (-0.2, -0.2, 0.1), (0.2, 0.2, 0.15), 10)
    scene.add_body(gg.Sdf.sphere(0.05), 1.0, name="globe", pose=(0.0, 0.0, 0.25), spheres=50)
    return settled(scene)


@pytest.fixture(scope="module")
def planar() -> gg.World:
    scene = gg.Scene(((-1.0, 0.0), (1.0, 2.0)))
    letters = scene.add_material(density=1000.0, shape=gg.Shape2D.letter("B", 0.2))
    scene.fill_box(letters, (-1.0, 0.0), (1.0, 1.5), 12)
    world = scene.build(device="cpu", num_threads=1)
    world.step(dt=1e-3, substeps=20)
    return world


@pytest.fixture(scope="module")
def dough() -> gg.World:
    scene = gg.Scene(((-0.5, -0.5, 0.0), (0.5, 0.5, 1.0)))
    matter = scene.add_material(density=1000.0, continuum=gg.Elastic(1e5, 0.3))
    scene.add_continuum(matter, (-0.3, -0.3, 0.0), (0.3, 0.3, 0.3), spacing=0.05)
    world = scene.build(device="cpu", num_threads=1)
    world.step(dt=1e-3, substeps=3)
    return world
