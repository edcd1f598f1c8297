"""parity.py: scenes on which two devices are compared, and the comparison."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

import granular_gym as gg
from testbed.beds import DENSITY, GRAVITY, RADIUS, lattice, mass
from testbed.planar import COARSE
from testbed.tabled import heap as falling
from testbed.tabled import table

#: kernels of the CUDA backend, see `World.set_kernel` of the extension
KERNELS = ("team", "graph")
#: and of the law of lone spheres, which has one more
SPHERE_KERNELS = ("block", *KERNELS)
#: soft enough for the time steps of these scenes
BELL = gg.Bell(sliding=0.25, young=5e5, damping=5.0)
TABLE = table(torque="contact")
#: attributes of a world that hold fields of grains
FIELDS = ("positions", "velocities", "angular_velocities", "radii", "grain_materials")


def heap(count: int = 180) -> gg.Scene:
    """A heap, a blade and two cameras."""
    scene = gg.Scene(((-0.15, -0.15, 0.0), (0.15, 0.15, 0.4)), boundary={"x": "open", "z": ("wall", "open")})
    sand = scene.add_material(density=DENSITY, friction=0.5, rolling_friction=0.3, restitution=0.2)
    steel = scene.add_material(density=7800.0, friction=0.3)
    scene.add_grains(sand, lattice(count, 4.0), RADIUS)
    blade = gg.Sdf.union(gg.Sdf.box((0.008, 0.06, 0.03)), gg.Sdf.capsule(0.01, 0.05).at((0.01, 0.0, 0.03)))
    scene.add_tool(blade, name="blade", material=steel, pose=(-0.06, 0.0, 0.04, 1.0, 0.0, 0.0, 0.0))
    sky = gg.DepthCamera.orthographic(height=13, width=17, extent=0.1, position=(0, 0, 1), target=(0, 0, 0), far=2.0)
    scene.add_camera(sky, name="sky")
    ego = gg.DepthCamera.perspective(height=9, width=11, fov=1.2, position=(-0.1, 0, 0.1), target=(0.1, 0, 0), far=1.0)
    scene.add_camera(ego, name="ego")
    return scene


def mixed() -> gg.Scene:
    """Grains of very different radii, 1 to 6, in a box that is periodic along x."""
    boundary = {"x": "periodic", "y": "wall", "z": ("wall", "open")}
    scene = gg.Scene(((-0.2, -0.1, 0.0), (0.2, 0.1, 1.0)), gravity=(2.0, 0.0, -9.81), boundary=boundary)
    sand = scene.add_material(density=DENSITY, friction=0.4, restitution=0.2, rolling_friction=0.2)
    scene.add_grains(sand, [[-0.1, 0.0, 0.04], [0.1, 0.03, 0.04]], 6.0 * RADIUS)
    scene.fill_box(sand, (-0.2, -0.1, 0.09), (0.2, 0.1, 0.25), count=150, radius=(RADIUS, 2.0 * RADIUS), seed=1)
    return scene


def rough() -> gg.Scene:
    """Dry and moist grains of two sizes on a slope of fixed grains, under a fixed one that moves."""
    scene = gg.Scene(((-0.2, -0.2, -0.2), (0.2, 0.2, 0.4)), gravity=(3.0, 0.0, -9.0))
    sand = scene.add_material(density=DENSITY, friction=0.5, rolling_friction=0.1, restitution=0.2)
    wet = scene.add_material(density=DENSITY, friction=0.5, cohesion=1.0, cohesion_range=0.1 * RADIUS)
    stone = scene.add_material(density=DENSITY, friction=0.8, rolling_friction=0.1, fixed=True)
    steps = (np.arange(8) - 3.5) * 2.0 * RADIUS
    scene.add_grains(stone, [(x, y, 0.0) for x in steps for y in steps], RADIUS)
    scene.add_grains(stone, [(0.0, 0.0, 0.1)], 2.0 * RADIUS, [(0.0, 0.05, -0.2)])
    scene.fill_box(sand, (-0.1, -0.1, 0.03), (0.1, 0.1, 0.085), count=60, radius=RADIUS, seed=1)
    scene.fill_box(wet, (-0.1, -0.1, 0.12), (0.1, 0.1, 0.25), count=40, radius=0.8 * RADIUS, seed=1)
    return scene


def moist() -> gg.Scene:
    """A heap of cohesive grains in wind, with twisting friction: the build of the solver with all contact terms."""
    air = gg.Air(wind=(4.0, 1.0, 0.0))
    scene = gg.Scene(((-0.06, -0.06, 0.0), (0.06, 0.06, 0.3)), boundary={"z": ("wall", "open")}, air=air)
    sand = scene.add_material(density=DENSITY, friction=0.5, rolling_friction=0.3, restitution=0.2)
    weight = mass() * GRAVITY
    bond = gg.cohesion_of_force(5.0 * weight, RADIUS, RADIUS)
    scene.set_pair(sand, sand, twisting_friction=0.02, cohesion=bond, cohesion_range=0.2 * RADIUS)
    scene.add_grains(sand, lattice(60, 2.5), RADIUS)
    return scene


def scooped() -> gg.Scene:
    """Grains in a box that is periodic along x and y, and a wedge from a mesh that crosses the boundary."""
    boundary = {"x": "periodic", "y": "periodic", "z": ("wall", "open")}
    scene = gg.Scene(((-0.06, -0.06, 0.0), (0.06, 0.06, 0.3)), boundary=boundary)
    sand = scene.add_material(density=DENSITY, friction=0.5, rolling_friction=0.1)
    scene.add_grains(sand, lattice(60, 2.5), RADIUS)
    x, y, z = 0.02, 0.03, 0.03
    corners = [[-x, -y, -z], [x, -y, -z], [-x, -y, z], [-x, y, -z], [x, y, -z], [-x, y, z]]
    faces = [[0, 1, 2], [3, 5, 4], [0, 3, 4], [0, 4, 1], [0, 2, 5], [0, 5, 3], [1, 4, 5], [1, 5, 2]]
    wedge = gg.Sdf.from_mesh(gg.Mesh(corners, faces), spacing=RADIUS, cache=False)
    scene.add_tool(wedge, name="wedge", material=sand, pose=(-0.06, 0.0, 0.04, 1.0, 0.0, 0.0, 0.0))
    eye = gg.DepthCamera.perspective(height=9, width=11, fov=1.2, position=(0.1, 0.1, 0.2), target=(0, 0, 0), far=1.0)
    scene.add_camera(eye, name="eye")
    return scene


def clumped() -> gg.Scene:
    """Clumps of three shapes, one of them moist, lone spheres and a body with a hollow's inertia, pushed by a blade."""
    air = gg.Air(wind=(4.0, 1.0, 0.0))
    scene = gg.Scene(
        ((-0.15, -0.15, 0.0), (0.15, 0.15, 0.4)), boundary={"x": "periodic", "z": ("wall", "open")}, air=air
    )
    four = scene.add_material(density=DENSITY, friction=0.5, restitution=0.2, shape=gg.Clump.tetrahedron(1.5 * RADIUS))
    rod = scene.add_material(density=DENSITY, friction=0.4, rolling_friction=0.1, shape=gg.Clump.rod(2.0 * RADIUS, 3))
    wet = scene.add_material(
        density=DENSITY, cohesion=1.0, cohesion_range=0.1 * RADIUS, shape=gg.Clump.sand(3, count=5, radius=1.5 * RADIUS)
    )
    ball = scene.add_material(density=2.0 * DENSITY, radius=RADIUS, restitution=0.3)
    low, high = (-0.15, -0.15), (0.15, 0.15)
    scene.fill_box(four, (*low, 0.0), (*high, 0.07), count=14, seed=1)
    scene.fill_box(rod, (*low, 0.08), (*high, 0.16), count=10, seed=2)
    scene.fill_box(wet, (*low, 0.17), (*high, 0.24), count=14, seed=3)
    scene.fill_box(ball, (*low, 0.25), (*high, 0.3), count=9, seed=4)
    scene.add_body(gg.Clump.cube(3.0 * RADIUS), 0.4, inertia=(2e-4, 3e-4, 4e-4), pose=(0.0, 0.0, 0.36, 1, 0.3, 0, 0.2))
    steel = scene.add_material(density=7800.0, friction=0.3)
    blade = gg.Sdf.union(gg.Sdf.box((0.008, 0.06, 0.03)), gg.Sdf.capsule(0.01, 0.05).at((0.01, 0.0, 0.03)))
    scene.add_tool(blade, name="blade", material=steel, pose=(-0.06, 0.0, 0.04, 1.0, 0.0, 0.0, 0.0))
    sky = gg.DepthCamera.orthographic(height=13, width=17, extent=0.1, position=(0, 0, 1), target=(0, 0, 0), far=2.0)
    scene.add_camera(sky, name="sky")
    return scene


def fielded() -> gg.Scene:
    """Two bodies with fields, of a union and of a mesh, among clumps, spheres and stones that stay, endless along x,
    pushed by a blade and borne by a plate that has a mass."""
    scene = gg.Scene(((-0.15, -0.15, 0.0), (0.15, 0.15, 0.4)), boundary={"x": "periodic", "z": ("wall", "open")})
    four = scene.add_material(density=DENSITY, friction=0.5, restitution=0.2, shape=gg.Clump.tetrahedron(1.5 * RADIUS))
    ball = scene.add_material(density=2.0 * DENSITY, friction=0.3, rolling_friction=0.2, radius=RADIUS)
    stone = scene.add_material(density=DENSITY, radius=RADIUS, fixed=True)
    low, high = (-0.15, -0.15), (0.15, 0.15)
    scene.fill_box(four, (*low, 0.0), (*high, 0.08), count=16, seed=1)
    scene.fill_box(ball, (*low, 0.08), (*high, 0.14), count=20, seed=2)
    scene.add_grains(stone, [(0.1, 0.1, 0.2), (-0.14, -0.1, 0.2)], RADIUS)
    steel = scene.add_material(density=7800.0, friction=0.3)
    blade = gg.Sdf.union(gg.Sdf.box((0.008, 0.06, 0.03)), gg.Sdf.capsule(0.01, 0.05).at((0.01, 0.0, 0.03)))
    scene.add_tool(blade, name="blade", material=steel, pose=(-0.06, 0.0, 0.04, 1.0, 0.0, 0.0, 0.0))
    plate = gg.Sdf.box((0.05, 0.03, 0.005))
    scene.add_tool(plate, "plate", steel, (0.0, 0.1, 0.17, 1.0, 0.0, 0.0, 0.0), mass=0.3, free="z")
    x, y, z = 0.03, 0.02, 0.02
    corners = [[-x, -y, -z], [x, -y, -z], [-x, y, -z], [0.0, 0.0, z]]
    wedge = gg.Mesh(corners, [[0, 2, 1], [0, 1, 3], [1, 2, 3], [2, 0, 3]])
    scene.add_body(wedge, 0.1, name="wedge", pose=(-0.13, -0.1, 0.25, 1.0, 0.1, 0.2, 0.0), spheres=40)
    union = gg.Sdf.union(gg.Sdf.sphere(0.02), gg.Sdf.box((0.03, 0.015, 0.015)).at((0.0, 0.01, 0.0)))
    turned, kick = (0.1, 0.09, 0.26, 0.7, 0.3, 0.1, 0.6), (0.2, 0.1, -0.5)
    scene.add_body(union, 0.4, name="union", pose=turned, velocity=kick, angular_velocity=(9.0, 0.0, 5.0), spheres=60)
    sky = gg.DepthCamera.orthographic(height=13, width=17, extent=0.1, position=(0, 0, 1), target=(0, 0, 0), far=2.0)
    scene.add_camera(sky, name="sky")
    return scene


def forced() -> gg.Scene:
    """Tetrahedra and lone spheres of two sizes for the law of Bell, endless along x, pushed by a blade."""
    scene = gg.Scene(((-0.07, -0.05, 0.0), (0.05, 0.05, 0.3)), boundary={"x": "periodic", "z": ("wall", "open")})
    four = scene.add_material(density=DENSITY, friction=0.5, shape=gg.Clump.tetrahedron(1.5 * RADIUS))
    ball = scene.add_material(density=2.0 * DENSITY, friction=0.3, radius=RADIUS)
    low, high = (-0.025, -0.05), (0.05, 0.05)
    scene.fill_box(four, (*low, 0.0), (*high, 0.06), count=24, seed=1)
    scene.fill_box(ball, (*low, 0.06), (*high, 0.1), count=16, seed=2)
    steel = scene.add_material(density=7800.0, friction=0.3)
    blade = gg.Sdf.union(gg.Sdf.box((0.008, 0.06, 0.03)), gg.Sdf.capsule(0.01, 0.05).at((0.01, 0.0, 0.03)))
    scene.add_tool(blade, name="blade", material=steel, pose=(-0.06, 0.0, 0.04, 1.0, 0.0, 0.0, 0.0))
    return scene


def tabled() -> gg.Scene:
    """Sand on bonded clay, endless along x, pushed by a blade; for TABLE."""
    scene = falling(40, periodic=True)
    blade = gg.Sdf.union(gg.Sdf.box((0.02, 0.1, 0.08)), gg.Sdf.capsule(0.02, 0.1).at((0.02, 0.0, 0.08)))
    scene.add_tool(blade, name="blade", material="clay", pose=(-0.125, 0.0, 0.04, 1.0, 0.0, 0.0, 0.0))
    return scene


def wielded() -> gg.Scene:
    """A heap with two coupled tools, links of a robot that yields; see `wield`."""
    scene = heap(60)
    for k, x in enumerate((-0.02, 0.03)):
        scene.add_tool(gg.Sdf.box((0.01, 0.05, 0.02)), name=f"link{k}", pose=(x, 0.0, 0.07, 1, 0, 0, 0), coupled=True)
    return scene


def wield(world: gg.World) -> None:
    """Lets the coupled tools fall and turn onto the heap, joined as the two links of a robot are."""
    draw = np.random.default_rng(1).normal(size=(12, 12))
    twists = np.array([[0.0, 0.0, -0.8, 0.0, 1.0, 0.0], [0.1, 0.0, -0.7, 0.5, 0.0, 0.2]])
    falls = np.array([[0.0, 0.0, -GRAVITY, 0.0, 0.0, 0.0]] * 2)
    lengths = np.array([1.0, 1.0, 1.0, 30.0, 30.0, 30.0] * 2)
    world.set_coupled(twists=twists, accelerations=falls, responses=lengths[:, None] * (draw @ draw.T) * lengths)


def coarse_table(a: gg.Shape2D, b: gg.Shape2D) -> gg.PairField:
    """A small pair field of the default kind."""
    return gg.PairField.build(a, b, **COARSE)


def planar(field: Callable[[gg.Shape2D, gg.Shape2D], gg.PairField] = coarse_table) -> gg.Scene:
    """Planar grains of two shapes above a fixed one, a tool and two cameras."""
    shapes = gg.Shape2D.hash(0.05), gg.Shape2D.octagon(0.03)
    scene = gg.Scene(((0.0, 0.0), (0.5, 1.5)))
    kinds = [scene.add_material(density=900.0, friction=0.4, restitution=0.2, shape=shape) for shape in shapes]
    still = scene.add_material(density=900.0, friction=0.4, shape=shapes[0], fixed=True)
    for a, b in ((0, 0), (0, 1), (1, 1)):
        scene.set_pair_field(field(shapes[a], shapes[b]))
    scene.add_grains(still, [(0.25, 0.05)], angles=0.3)
    scene.fill_box(kinds[0], (0.0, 0.1), (0.5, 0.5), count=12)
    scene.fill_box(kinds[1], (0.0, 0.5), (0.5, 0.8), count=12)
    scene.add_tool(gg.Sdf.box((0.05, 0.05, 1.0)), name="blade", material=0, pose=(-0.06, 0.0, 0.04, 1, 0, 0, 0))
    top = {"target": (0.25, 0.3, 0.0), "up": (0, 1, 0), "far": 3.0}
    sky = gg.DepthCamera.orthographic(height=13, width=17, extent=0.3, position=(0.25, 0.3, 1.0), **top)
    scene.add_camera(sky, name="sky")
    scene.add_camera(gg.DepthCamera.perspective(height=9, width=11, position=(0.1, -0.4, 0.5), **top), name="ego")
    return scene


def poses(k: int, world: gg.World) -> Any:
    """Poses after step k: of the first tool along a short path, others go by themselves; None without tools."""
    if not world.tool_count:
        return None
    s = (k + 1) / 6
    others = [[math.nan] * 7] * (world.tool_count - 1)
    return [[-0.06 + 0.05 * s, 0.0, 0.04, 1.0 - 0.125 * s * s, 0.0, 0.0, 0.5 * s], *others]


def same(cpu: gg.World, gpu: gg.World, ignored: str = "") -> None:
    """Asserts that all outputs of two worlds are equal bit for bit, except the counter `ignored`."""
    for env in range(cpu.env_count):
        assert cpu.state_hash(env) == gpu.state_hash(env)
    for name in FIELDS:
        np.testing.assert_array_equal(getattr(cpu, name), getattr(gpu, name), err_msg=name)
    a, b = cpu.stats, gpu.stats
    for name in a.keys() - {ignored}:
        np.testing.assert_array_equal(a[name], b[name], err_msg=name)
    for walls in (False, True):
        np.testing.assert_array_equal(cpu._core.get_wrenches(walls), gpu._core.get_wrenches(walls))
    for camera in cpu.camera_names:
        np.testing.assert_array_equal(cpu.depth(camera), gpu.depth(camera), err_msg=camera)


def pair(scene: Callable[[], gg.Scene], kernel: str, env_count: int = 1, **solver: Any) -> tuple[gg.World, gg.World]:
    """The same world on the CPU and on the GPU, there with a kernel of KERNELS."""
    settings = gg.Solver(**solver)
    cpu = scene().build(env_count=env_count, device="cpu", num_threads=1, solver=settings, overlaps="ignore")
    gpu = scene().build(env_count=env_count, device="cuda", solver=settings, overlaps="ignore")
    gpu._core.set_kernel(kernel)
    return cpu, gpu
