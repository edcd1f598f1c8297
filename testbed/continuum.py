"""continuum.py: scenes of continuous matter, and what is measured in them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

import granular_gym as gg
from granular_gym.base.rotations import rotate

Floats = NDArray[np.float64]

#: of the dough of Zong et al. (2024), section VII.C
YOUNG, POISSON, YIELD = 2e4, 0.4, 1e3
DOUGH = gg.VonMises(YOUNG, POISSON, YIELD)
#: time step [s]
DT = 5e-3


def kneaded(spacing: float = 0.02, dilatancy: float = 8.0) -> gg.Scene:
    """A ball of dough that falls on a block of sand, beside a blade; two materials, a camera, an open face."""
    boundary = {"x": ("wall", "open"), "z": ("wall", "open")}
    scene = gg.Scene(((-0.08, -0.06, 0.0), (0.08, 0.06, 0.3)), boundary=boundary)
    dough = scene.add_material(density=1000.0, friction=0.8, continuum=DOUGH, name="dough")
    law = gg.DruckerPrager(1e5, 0.3, 30.0, viscosity=1.0, dilatancy_angle=dilatancy)
    sand = scene.add_material(density=1500.0, friction=0.5, continuum=law, name="sand")
    scene.add_continuum(sand, (-0.08, -0.06, 0.0), (0.04, 0.02, 0.04), spacing=spacing)
    ball = gg.Sdf.sphere(0.03).at((0.0, 0.0, 0.08))
    scene.add_continuum(dough, shape=ball, velocity=(0.1, 0.0, -0.5))
    scene.add_tool(gg.Sdf.box((0.01, 0.05, 0.03)), name="blade", material=dough, pose=(0.06, 0.0, 0.035))
    eye = gg.DepthCamera.perspective(
        height=9, width=11, fov=1.2, position=(0.0, 0.0, 0.35), target=(0, 0.01, 0), far=1.0
    )
    scene.add_camera(eye, name="eye")
    return scene


#: pixels across, with a width that no block of pixels divides
EYES = {
    "perspective": gg.DepthCamera.perspective(
        height=67, width=90, fov=0.7, position=(0.2, -0.3, 0.25), target=(0.0, 0.0, 0.03), near=0.05, far=1.0
    ),
    "orthographic": gg.DepthCamera.orthographic(
        height=60, width=80, extent=0.1, position=(0.0, 0.0, 0.5), target=(0.0, 0.01, 0.0), near=0.05, far=1.0
    ),
    # from inside the block, so that rays look out of it and others begin beside it
    "inside": gg.DepthCamera.perspective(
        height=24, width=33, fov=1.4, position=(-0.05, 0.0, 0.02), target=(0.1, 0.0, 0.05), near=0.02, far=1.0
    ),
    # pixels wider than particles
    "coarse": gg.DepthCamera.orthographic(
        height=9, width=11, extent=0.3, position=(0.0, 0.0, 0.5), target=(0.0, 0.01, 0.0), near=0.05, far=1.0
    ),
}


def shown() -> gg.Scene:
    """What cameras may meet: a block, a finer ball that touches it, crumbs, a tool on the matter and one before it."""
    scene = gg.Scene(((-0.15, -0.15, 0.0), (0.15, 0.15, 0.3)))
    dough = scene.add_material(density=1000.0, friction=0.8, continuum=DOUGH, name="dough")
    scene.add_continuum(dough, (-0.1, -0.05, 0.0), (0.0, 0.05, 0.06), spacing=0.02)
    scene.add_continuum(dough, shape=gg.Sdf.sphere(0.03).at((0.03, 0.0, 0.03)), particles_per_cell=27)
    scene.add_continuum(dough, points=[(0.1, 0.06, 0.1), (0.085, 0.06, 0.1), (0.1, -0.1, 0.02)])
    scene.add_tool(gg.Sdf.box((0.01, 0.08, 0.03)), name="blade", material=dough, pose=(-0.05, 0.0, 0.092))
    scene.add_tool(gg.Sdf.sphere(0.015), name="ball", material=dough, pose=(0.04, -0.08, 0.08))
    for name, eye in EYES.items():
        scene.add_camera(eye, name=name)
    return scene


def stray(world: gg.World) -> None:
    """Takes one particle of `shown` so far away that the cells of cameras fold."""
    places = world.positions[0].copy()
    places[-1] = 4e3, -5e3, 6e3
    world.set_grains(positions=places)


def blade_at(step: int) -> Floats:
    """Pose of the blade of `kneaded`, which goes towards the sand and tilts (1, 7)."""
    angle = 0.02 * step
    return np.array([[0.06 - 2e-3 * step, 0.0, 0.035, np.cos(angle / 2), 0.0, np.sin(angle / 2), 0.0]])


def knead(world: gg.World, steps: int, first: int = 0, substeps: int = 1) -> list[int]:
    """Hashes of env 0 after each of these steps of DT."""
    hashes = []
    for k in range(first, first + steps):
        world.step(DT / substeps, substeps, tool_poses=blade_at(k))
        hashes.append(world.state_hash(0))
    return hashes


#: gravity [m/s2] and density of water [kg/m3]
GRAVITY, WATER = 9.81, 1000.0


def pressures(world: gg.World) -> Floats:
    """Pressures of the particles of env 0 [Pa]."""
    return -np.trace(world.stresses[0].astype(np.float64), axis1=1, axis2=2) / 3.0


def basin(size: tuple[float, float, float], depth: float, spacing: float, bulk_modulus: float = 4e5) -> gg.Scene:
    """Water at rest in a box, as deep as that [m]."""
    scene = gg.Scene(((0, 0, 0), size))
    law = gg.Liquid(bulk_modulus, 1e-3)
    water = scene.add_material(density=WATER, friction=0.0, continuum=law, name="water")
    scene.add_continuum(water, (0, 0, 0), (size[0], size[1], depth), spacing=spacing)
    return scene


def carried(world: gg.World, side: float, depth: float) -> tuple[float, list[float]]:
    """Of a square `basin`: weight on its floor over that of the water; thrusts on its sides, -x, +x, -y, +y, over the
    law."""
    walls, weight = world.wall_wrenches[0].astype(np.float64), GRAVITY * float(world.grain_masses[0].sum())
    law = 0.5 * WATER * GRAVITY * depth**2 * side
    thrusts = np.array([-walls[0, 0], walls[1, 0], -walls[2, 1], walls[3, 1]]) / law
    return float(-walls[4, 2] / weight), [float(thrust) for thrust in thrusts]


#: width and thickness of the column of `dam` [m]
DAM, SLOT = 0.1, 0.025
#: times, in sqrt(width / 2 g), and fronts, in widths, of an experiment (Martin, Moyce 1952, table 2, n^2 = 2)
MARTIN_MOYCE = np.array([(1.63, 1.89), (1.98, 2.33), (2.32, 2.78), (2.65, 3.22), (2.98, 3.67)])


def dam(spacing: float) -> gg.Scene:
    """A column of water twice as high as wide at a wall, in a slot between smooth walls, with nothing that holds it."""
    scene = gg.Scene(((0, 0, 0), (7 * DAM, SLOT, 3 * DAM)))
    water = scene.add_material(density=WATER, friction=0.0, continuum=gg.Liquid(2e5, 1e-3))
    scene.add_continuum(water, (0, 0, 0), (DAM, SLOT, 2 * DAM), spacing=spacing)
    return scene


def dam_front(world: gg.World) -> float:
    """Front of `dam`, in widths: half of the particles of a row across the slot may be before it."""
    beyond = round(SLOT / world.spacing)
    return (float(np.sort(world.positions[0, :, 0])[-1 - beyond]) + world.spacing / 4) / DAM


#: width and thickness of the layer of `sheared` [m], speed of each plate [m/s], viscosity [Pa s]
LAYER, SHEAR_SPEED, SYRUP = (0.04, 0.06), 0.025, 50.0


def sheared(spacing: float, long: float = 0.6) -> gg.Scene:
    """A layer of honey without gravity between two plates, with free ends; `long` [m]: its length along them."""
    wide, thick = LAYER
    scene = gg.Scene(((-1, -1, -1), (1, 2, 1)), gravity=(0, 0, 0), boundary=dict.fromkeys("xyz", "open"))
    honey = scene.add_material(density=WATER, friction=0.0, continuum=gg.Liquid(1e5, SYRUP))
    scene.add_continuum(honey, (0, 0, 0), (wide, long, thick), spacing=spacing)
    for name, z in (("low", -0.02), ("high", thick + 0.02)):
        scene.add_tool(gg.Sdf.box((0.3, 0.5 * long + 0.2, 0.02)), name, honey, (0.5 * wide, 0.5 * long, z))
    return scene


def shear(world: gg.World, dt: float, steps: int) -> tuple[float, float]:
    """Slides the plates of `sheared` past each other; drag on the lower and the upper one in the second half [N]."""
    poses, drag = world.tool_poses[0].copy(), []
    middle = float(poses[0, 1])
    for k in range(1, steps + 1):
        poses[:, 1] = middle + dt * SHEAR_SPEED * k * np.array([-1.0, 1.0])
        world.step(dt, tool_poses=poses)
        drag.append((world.wrenches[0, 0, 1], -world.wrenches[0, 1, 1]))
    low, high = np.mean(drag[steps // 2 :], axis=0)
    return float(low), float(high)


def drag_law(long: float) -> float:
    """Drag on a plate of `sheared` by Newton's law of viscosity, without ends [N]."""
    wide, thick = LAYER
    return SYRUP * 2 * SHEAR_SPEED / thick * long * wide


#: half sizes of the box of `drowned` [m]
DROWNED = np.array([0.04, 0.04, 0.03])


def drowned(aside: float, spacing: float) -> tuple[gg.Scene, float]:
    """A fixed box under water, so far aside from the grid [m]; the weight of what it displaces [N]."""
    scene = gg.Scene(((0, 0, 0), (0.2, 0.2, 0.3)))
    water = scene.add_material(density=WATER, friction=0.0, continuum=gg.Liquid(4e5, 1e-3))
    scene.add_tool(gg.Sdf.box(DROWNED), "box", water, (0.1 + aside, 0.1 + aside, 0.1 + aside))
    places = np.stack(np.meshgrid(*[np.arange(0.25 * spacing, 0.2, 0.5 * spacing)] * 3, indexing="ij"), -1)
    places = places.reshape(-1, 3)
    # off the grid a row of particles would lie across the faces
    kept = (np.abs(places - 0.1 - aside) > DROWNED + (0.15 * spacing if aside else 0.0)).any(axis=1)
    scene.add_continuum(water, points=places[kept], spacing=spacing)
    return scene, GRAVITY * WATER * 8.0 * float(DROWNED.prod())


#: side of the pool of `afloat`, unless it is given [m]
POOL = 0.2


def afloat(
    half: Any, pose: Any, density: float, depth: float, spacing: float, pool: float = POOL, **tool: Any
) -> tuple[gg.Scene, float]:
    """A free box in a pool that was as deep as that before it took its place there; its mass [kg].

    pool: side of the pool [m].
    """
    scene, half = gg.Scene(((0, 0, 0), (pool, pool, 0.4))), np.array(half)
    water = scene.add_material(density=WATER, friction=0.0, continuum=gg.Liquid(4e5, 1e-3))
    mass = density * 8.0 * float(half.prod())
    inertia = mass / 3.0 * (half @ half - half**2)
    scene.add_tool(gg.Sdf.box(half), "box", water, pose, mass=mass, inertia=inertia, **tool)
    across, up = (np.arange(0.25 * spacing, end, 0.5 * spacing) for end in (pool, depth))
    places = np.stack(np.meshgrid(across, across, up, indexing="ij"), -1).reshape(-1, 3)
    turned = (1.0, 0.0, 0.0, 0.0) if len(pose) == 3 else (pose[3], *(-x for x in pose[4:]))
    local = rotate(np.array(turned), places - pose[:3])
    scene.add_continuum(water, points=places[(np.abs(local) > half).any(axis=1)], spacing=spacing)
    return scene, mass


def draught(world: gg.World, height: float, half: float, pool: float = POOL) -> float:
    """How deep an upright cube of `afloat` lies in water whose surface is level [m], by the height of its middle."""
    volume = float(world.grain_masses[0].sum()) / WATER
    return (volume - (height - half) * pool**2) / (pool**2 - 4.0 * half**2)


def stirred() -> gg.Scene:
    """A dam of oil that breaks towards a buoy and a ball of dough, a blade and a box that move towards both."""
    scene = gg.Scene(((0, 0, 0), (0.24, 0.08, 0.3)), boundary={"z": ("wall", "open")})
    oil = scene.add_material(density=900.0, friction=0.1, continuum=gg.Liquid(2e5, 0.1), name="oil")
    dough = scene.add_material(density=1000.0, friction=0.8, continuum=DOUGH, name="dough")
    scene.add_continuum(oil, (0, 0, 0), (0.08, 0.08, 0.12), spacing=0.02)
    scene.add_continuum(dough, shape=gg.Sdf.sphere(0.03).at((0.14, 0.04, 0.04)))
    scene.add_tool(gg.Sdf.box((0.01, 0.03, 0.03)), name="blade", material=dough, pose=(0.22, 0.04, 0.04))
    scene.add_tool(gg.Sdf.box((0.02, 0.02, 0.02)), name="box", material=dough, pose=(0.04, 0.04, 0.145))
    buoy = gg.Sdf.box((0.02, 0.03, 0.02))
    scene.add_tool(buoy, "buoy", dough, (0.104, 0.045, 0.1), mass=0.05, inertia=(2e-5, 1.5e-5, 2e-5))
    return scene


def stir(world: gg.World, steps: int, first: int = 0) -> list[int]:
    """Hashes of env 0 after each of these steps of `stirred`."""
    hashes, poses = [], world.tool_poses[0].astype(np.float64)
    poses[2] = np.nan  # the buoy goes where it is pushed
    for k in range(first, first + steps):
        poses[0, 0], poses[1, 2] = 0.22 - 1e-3 * (k + 1), 0.145 - 4e-3 * (k + 1)
        world.step(DT, 1, tool_poses=poses)
        hashes.append(world.state_hash(0))
    return hashes


def floating(matter: Any, low: Any, high: Any, spacing: float) -> gg.Scene:
    """A box of matter in space, without gravity and walls."""
    scene = gg.Scene(((0, 0, 0), (0.4, 0.4, 0.4)), gravity=(0, 0, 0), boundary=dict.fromkeys("xyz", "open"))
    made_of = scene.add_material(density=1000.0, continuum=matter)
    scene.add_continuum(made_of, low, high, spacing=spacing)
    return scene


def squeezed(matter: Any, spacing: float, height: float = 0.2) -> gg.Scene:
    """A column of 10 x 10 cm, as high as that [m], between the floor and a plate, both without friction."""
    scene = gg.Scene(((0, 0, 0), (0.2, 0.2, height + 0.1)), gravity=(0, 0, 0))
    made_of = scene.add_material(density=1000.0, friction=0.0, continuum=matter)
    scene.add_continuum(made_of, (0.05, 0.05, 0.0), (0.15, 0.15, height), spacing=spacing)
    scene.add_tool(gg.Sdf.box((0.1, 0.1, 0.02)), "plate", made_of, (0.1, 0.1, height + 0.02))
    return scene


def overstressed(world: gg.World) -> float:
    """The largest norm of the deviator of the particles' Kirchhoff stress in env 0, over YIELD."""
    stress = np.linalg.det(world.stretches[0])[:, None, None] * world.stresses[0]
    stress -= np.trace(stress, axis1=1, axis2=2)[:, None, None] / 3.0 * np.eye(3)
    return float(np.linalg.norm(stress, axis=(1, 2)).max() / YIELD)


def squeeze(world: gg.World, strain: float, steps: int, dt: float, height: float = 0.2) -> float:
    """Brings the plate of `squeezed` down from where it is; returns the mean force on it in the last fifth [N]."""
    start, forces = float(world.tool_poses[0, 0, 2]), []
    for k in range(steps):
        to = start + (height + 0.02 - height * strain - start) * (k + 1) / steps
        world.step(dt, 1, tool_poses=[[0.1, 0.1, to, 1, 0, 0, 0]])
        forces.append(float(world.wrenches[0, 0, 2]))
    return float(np.mean(forces[-max(steps // 5, 1) :]))


def plateau(world: gg.World, steps: int, dt: float, height: float = 0.2) -> float:
    """Presses dough by 15 % in three stages of so many steps: the force as it flows in the last fifth of the last one,
    over sqrt(3/2) times the yield stress times the area of matter that keeps its volume."""
    for strain in (0.05, 0.1, 0.15):
        force = squeeze(world, strain, steps, dt, height)
    area = 0.01 / (1.0 - 0.145)
    return force / (area * np.sqrt(1.5) * YIELD)


def sway(world: gg.World) -> float:
    """How far the foot of the column of `squeezed` is off its middle, along x [m], as a cosine over its height."""
    places, height = world.positions[0].astype(np.float64), float(world.tool_poses[0, 0, 2]) - 0.02
    return float(2.0 * np.mean((places[:, 0] - places[:, 0].mean()) * np.cos(np.pi * places[:, 2] / height)))


def buckling(spacing: float, steps: int, dt: float, height: float = 0.3) -> tuple[float, float]:
    """Presses a column of dough by 15 %, which is nudged sideways at 7.5 % and then sways between its plates. The rate
    at which that grows from 10 % on [1/s], and its law, of a beam that flows under a stress T: the force of a fibre is
    T times its volume over its length, so that bending meets a modulus as large as T, and beside that inertia alone,
    also of sections that turn: rate^2 = T k^2 (1 - k^2 r^2) / (density (1 + k^2 r^2)) with k = pi / height, r^2 =
    area / 12."""
    with squeezed(DOUGH, spacing, height).build(device="cpu", num_threads=1) as world:
        squeeze(world, 0.075, steps // 2, dt, height)
        nudge = np.cos(np.pi * world.positions[0, :, 2] / (height * 0.925))
        world.set_grains(velocities=world.velocities[0] + 1e-5 * nudge[:, None] * np.array([1.0, 0.0, 0.0]))
        sways = []
        for strain in np.linspace(0.075, 0.15, steps - steps // 2 + 1)[1:]:
            squeeze(world, float(strain), 1, dt, height)
            sways.append(sway(world))
    late = np.log(np.abs(sways[len(sways) // 3 :]))
    square = (np.pi / (height * 0.875)) ** 2
    turning = square * 0.01 / 0.875 / 12.0
    law = np.sqrt(np.sqrt(1.5) * YIELD / 1000.0 * square * (1.0 - turning) / (1.0 + turning))
    return float(np.polyfit(dt * np.arange(len(late)), late, 1)[0]), float(law)


def sliding_ball(friction: float, spacing: float = 0.2, per_cell: float = 27.0) -> gg.Scene:
    """A stiff ball on a slope of 45 degrees (Zong et al. 2024, section VII.A)."""
    down = 9.81 * np.sqrt(0.5)
    scene = gg.Scene(((-1, -1, 0), (6, 1, 2)), gravity=(down, 0, -down), boundary={"x": "open", "y": "open"})
    made_of = scene.add_material(density=1000.0, friction=friction, continuum=gg.Elastic(1e8, 0.2))
    ball = gg.Sdf.sphere(0.5).at((0.0, 0.0, 0.5))
    scene.add_continuum(made_of, shape=ball, spacing=spacing, particles_per_cell=per_cell)
    return scene


def column(aspect: float, angle: float, spacing: float, length: float = 0.1, width: float = 0.04) -> gg.Scene:
    """A column of sand at a wall, on a rough floor, between smooth side walls; `aspect`: height over length."""
    height = aspect * length
    scene = gg.Scene(((0, 0, 0), (length * (2 + 3 * aspect), width, 1.3 * height)))
    sand = scene.add_material(density=1500.0, friction=0.6, continuum=gg.DruckerPrager(1e6, 0.3, angle))
    scene.wall_material = scene.add_material(density=1000.0, friction=0.0)
    scene.add_tool(gg.Sdf.box((10, 10, 0.05)), "floor", sand, (0, 0, -0.05))
    scene.add_continuum(sand, (0, 0, 0), (length, width, height), spacing=spacing)
    return scene


#: sides of `confined` along x and z [m], half the thickness of its panels [m], pressure that these make [Pa]
CONFINED, THICK, CONFINING = 0.12, 0.03, 2e3


def confined(law: gg.DruckerPrager, spacing: float) -> gg.Scene:
    """A block of sand without gravity, two cells wide between smooth walls, between two panels that move along x; on it
    a plate."""
    width = 2 * spacing
    scene = gg.Scene(((-0.3, 0, 0), (0.3, width, 0.4)), gravity=(0, 0, 0))
    sand = scene.add_material(density=1500.0, friction=0.0, continuum=law)
    scene.add_continuum(sand, (-0.5 * CONFINED, 0, 0), (0.5 * CONFINED, width, CONFINED), spacing=spacing)
    for name, side in (("left", -1), ("right", 1)):
        middle = (side * (0.5 * CONFINED + THICK), 0.5 * width, 0.1)
        scene.add_tool(gg.Sdf.box((THICK, width, 0.2)), name, sand, middle, mass=20.0, free="x")
    scene.add_tool(gg.Sdf.box((CONFINED, width, THICK)), "top", sand, (0, 0.5 * width, CONFINED + THICK))
    return scene


def compress(world: gg.World, share: float, steps: int, dt: float, substeps: int = 1) -> tuple[float, float, float]:
    """Presses `confined` by a share of its height while the panels keep their pressure. Returns height and distance of
    the panels at the end [m], and the mean pressure under the plate over theirs in the second half."""
    poses, ratios = world.tool_poses, []
    for _ in range(steps):
        high = poses[0, 2, 2] - THICK
        for name, side in (("left", 1), ("right", -1)):
            world.set_tool_force(name, (side * CONFINING * high * 2 * world.spacing, 0, 0))
        poses[0, :2] = world.tool_poses[0, :2]
        poses[0, 2, 2] -= share * CONFINED / steps
        world.step(dt, substeps, tool_poses=poses)
        wide = world.tool_poses[0, 1, 0] - world.tool_poses[0, 0, 0] - 2 * THICK
        ratios.append(world.wrenches[0, 2, 2] / (CONFINING * wide * 2 * world.spacing))
    return poses[0, 2, 2] - THICK, wide, float(np.mean(ratios[steps // 2 :]))


def slope(degrees: float, angle: float, spacing: float, length: float = 0.3) -> gg.Scene:
    """Sand of an angle of friction that is laid on a rough floor as a slope, high at a wall, two cells wide between
    smooth side walls."""
    steep, room, apart = np.tan(np.radians(degrees)), (0.8, 2 * spacing), 0.5 * spacing
    scene = gg.Scene(((0, 0, 0), (*room, length * steep + 0.1)))
    sand = scene.add_material(density=1500.0, friction=0.6, continuum=gg.DruckerPrager(1e6, 0.3, angle))
    scene.wall_material = scene.add_material(density=1000.0, friction=0.0)
    scene.add_tool(gg.Sdf.box((10, 10, 0.05)), "floor", sand, (0, 0, -0.05))
    axes = [np.arange(0.0, end, apart) + 0.5 * apart for end in (*room, length * steep + apart)]
    points = np.stack(np.meshgrid(*axes, indexing="ij"), -1).reshape(-1, 3)
    scene.add_continuum(sand, points=points[points[:, 2] < (length - points[:, 0]) * steep], spacing=spacing)
    return scene


def slope_of(places: Floats, spacing: float, length: float = 0.3) -> float:
    """How steep the middle of `slope` is [degrees], by the highest particles over each cell."""
    edges = np.arange(0.2 * length, 0.8 * length, spacing)
    tops = [places[(places[:, 0] >= x) & (places[:, 0] < x + spacing), 2].max() for x in edges]
    return float(np.degrees(np.arctan(-np.polyfit(edges, tops, 1)[0])))


def gripped(spacing: float) -> gg.Scene:
    """An elastic cube of .4 kg between two panels that friction holds it by (Zong et al. 2024, section VII.E)."""
    scene = gg.Scene(((-0.2, -0.2, -0.2), (0.2, 0.2, 0.2)), boundary=dict.fromkeys("xyz", "open"))
    made_of = scene.add_material(density=400.0, friction=0.8, continuum=gg.Elastic(1e5, 0.4))
    scene.add_continuum(made_of, (-0.05, -0.05, -0.05), (0.05, 0.05, 0.05), spacing=spacing)
    for name, x in (("left", -0.06), ("right", 0.06)):
        scene.add_tool(gg.Sdf.box((0.01, 0.08, 0.08)), name, made_of, (x, 0, 0), mass=0.5, free="x")
    return scene


#: half sizes [m] and mass [kg] of the plate of `struck`, and its moments of inertia [kg m2]
PLATE, HEAVY = np.array([0.06, 0.06, 0.01]), 2.0
MOMENTS = HEAVY / 3.0 * (PLATE @ PLATE - PLATE**2)


def struck(**tool: Any) -> gg.Scene:
    """A cube of rubber in space without gravity, and above it a plate that is made dynamic as `tool` says."""
    scene = floating(gg.Elastic(YOUNG, POISSON), (0.15, 0.15, 0.1), (0.25, 0.25, 0.2), 0.02)
    scene.add_tool(gg.Sdf.box(PLATE), "plate", 0, (0.2, 0.2, 0.212), **tool)
    return scene


def handled(spacing: float = 0.02) -> gg.Scene:
    """A block of dough under a tool of each kind: one with a mass, on a spring, one that turns, one that is coupled."""
    scene = gg.Scene(((-0.1, -0.1, 0.0), (0.1, 0.1, 0.3)), boundary={"z": ("wall", "open")})
    dough = scene.add_material(density=1000.0, friction=0.8, continuum=DOUGH, name="dough")
    scene.add_continuum(dough, (-0.08, -0.08, 0.0), (0.08, 0.08, 0.04), spacing=spacing)
    box = gg.Sdf.box((0.02, 0.02, 0.01))
    scene.add_tool(box, "weight", dough, (-0.05, -0.05, 0.051), mass=2.0, free="z", travel={"z": (0.045, 0.2)})
    scene.add_tool(box, "spring", dough, (0.05, -0.05, 0.051), mass=0.1, stiffness=800.0, damping=2.0)
    scene.add_tool(gg.Sdf.sphere(0.025), "ball", dough, (-0.04, 0.045, 0.066), mass=0.5, inertia=np.full(3, 1.3e-4))
    scene.add_tool(box, "link", dough, (0.05, 0.05, 0.051), coupled=True)
    return scene


def handle(world: gg.World, steps: int, first: int = 0, substeps: int = 1) -> list[int]:
    """Hashes of env 0 of `handled` after each of these steps of DT. The link has 1 kg, and turns about y alone."""
    response = np.diag([1.0, 1.0, 1.0, 0.0, 4e3, 0.0])
    response[0, 4] = response[4, 0] = 8.0
    hashes = []
    for k in range(first, first + steps):
        coupled = world.coupled_state()
        twists = coupled.twists if k else np.array([0.0, 0.0, -0.3, 0.0, 1.0, 0.0])
        world.set_coupled(coupled.poses, np.broadcast_to(twists, coupled.twists.shape), np.zeros((1, 6)), response)
        if k == 0:
            world.set_tool_velocity("ball", (0.3, 0.0, 0.0))
            world.set_tool_angular_velocity("ball", (1.0, 0.0, 2.0))
        targets = np.full((world.env_count, 4, 7), np.nan)
        targets[:, 1] = 0.05, -0.05, 0.051 - 1e-3 * (k + 1), 1.0, 0.0, 0.0, 0.0
        world.step(DT / substeps, substeps, tool_poses=targets)
        hashes.append(world.state_hash(0))
    return hashes


def pushed_off_its_middle(world: gg.World, dt: float, steps: int) -> tuple[Floats, Floats]:
    """Pushes floating dough by the only tool, a blade that goes along x at .2 m/s; the impulse and its moment about the
    origin that the blade was given [N s], [N m s]."""
    force, torque = np.zeros(3), np.zeros(3)
    pose = world.tool_poses[0].astype(np.float64)
    start = pose[0, 0]
    for k in range(steps):
        origin = world.tool_poses[0, 0, :3].astype(np.float64)
        pose[0, 0] = start + 0.2 * dt * (k + 1)
        world.step(dt, 1, tool_poses=pose)
        wrench = dt * world.wrenches[0, 0].astype(np.float64)
        force += wrench[:3]
        torque += wrench[3:] + np.cross(origin, wrench[:3])
    return force, torque


def momenta(world: gg.World) -> tuple[Floats, Floats]:
    """Momentum [N s] and angular momentum about the centre of mass [N m s] of env 0."""
    mass = world.grain_masses[0][:, None]
    x, v = world.positions[0].astype(np.float64), world.velocities[0].astype(np.float64)
    middle = (mass * x).sum(axis=0) / mass.sum()
    return (mass * v).sum(axis=0), (mass * np.cross(x - middle, v)).sum(axis=0)


def elastic_energy(world: gg.World, matter: gg.Elastic) -> float:
    """Of the particles of env 0 [J]."""
    bulk, shear = matter.moduli
    strain = world.stretches[0] - np.eye(3)
    trace = np.trace(strain, axis1=1, axis2=2)
    deviator = strain - trace[:, None, None] * np.eye(3) / 3.0
    density = 0.5 * bulk * trace**2 + shear * (deviator**2).sum(axis=(1, 2))
    return float((world.grain_masses[0] / 1000.0 * density).sum())
