"""beds.py: lone grains, settled beds, heaps, thin-walled boxes.

The standard grain is a sphere of 5 mm radius and 2500 kg/m3 with friction 0.5.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

import granular_gym as gg

RADIUS = 0.005  # [m]
DIAMETER = 2.0 * RADIUS
DENSITY = 2500.0  # [kg/m3]
GRAVITY = 9.81  # [m/s2]
DT = 1e-3  # [s]
#: beds this small gain little from a second thread
THREADS = 1
ALL = ("x", "y", "z")


def mass(radius: Any = RADIUS, density: float = DENSITY) -> Any:
    """Mass of a solid sphere [kg]."""
    return density * 4.0 / 3.0 * np.pi * np.asarray(radius, np.float64) ** 3


def faces(kind: Any) -> dict[str, Any]:
    """The same boundary on all axes."""
    return dict.fromkeys(ALL, kind)


def space(
    positions: Any,
    velocities: Any = None,
    *,
    radius: Any = RADIUS,
    friction: float = 0.5,
    restitution: float = 0.0,
    rolling: float = 0.0,
    gravity: Any = (0.0, 0.0, 0.0),
    half: float = 10.0,
    boundary: Any = None,
) -> gg.Scene:
    """A few grains in free space around the origin, by default without boundaries.

    Args:
        positions: (n, 3) [m].
        velocities: (n, 3) [m/s]; None: at rest.
        radius: one or (n,) [m].
        friction: of the material.
        restitution: of the material.
        rolling: rolling friction of the material.
        gravity: (3,) [m/s2].
        half: half the side of the cube of bounds [m].
        boundary: see `Scene`; None: open.
    """
    scene = gg.Scene(((-half,) * 3, (half,) * 3), gravity=gravity, boundary=boundary or faces("open"))
    grain = scene.add_material(
        density=DENSITY, friction=friction, restitution=restitution, rolling_friction=rolling, name="grain"
    )
    scene.add_grains(grain, positions, radius, velocities)
    return scene


def on_floor(
    positions: Any, velocities: Any = None, *, half: float = 10.0, gravity: Any = (0.0, 0.0, -GRAVITY), **kwargs: Any
) -> gg.Scene:
    """Grains above a floor at z = 0, otherwise as `space`."""
    scene = space(
        positions, velocities, half=half, gravity=gravity, boundary={**faces("open"), "z": ("wall", "open")}, **kwargs
    )
    scene.bounds = scene.bounds + np.array([0.0, 0.0, half], np.float32)
    return scene


def per_env_pairs(frictions: Sequence[float], restitution: float = 0.0, rolling: float = 0.0) -> NDArray[np.float32]:
    """Pair tables (n, 1, 1, 3) of worlds with one material, each env with its own friction."""
    return np.array([[[[mu, restitution, rolling]]] for mu in frictions], np.float32)


def random_apart(rng: np.random.Generator, count: int, half: float, radius: float = RADIUS) -> NDArray[np.float64]:
    """Random centres in a cube of side 2 half, no two grains touching, none beyond the cube's faces: (count, 3) [m]."""
    side = int(np.floor(2.0 * half / (2.2 * radius)))
    if side**3 < count:
        raise ValueError(f"expected at most {side**3} grains, got {count}")
    cell = rng.permutation(side**3)[:count]
    step = 2.0 * half / side
    grid = np.stack([cell % side, cell // side % side, cell // side**2], axis=1)
    jitter = rng.uniform(-0.5, 0.5, (count, 3)) * (step - 2.02 * radius)
    return (grid + 0.5) * step - half + jitter


def lattice(count: int, half_width: float, seed: int = 1, spacing: float = 1.1) -> NDArray[np.float64]:
    """Positions on a loose jittered lattice above z = 0, layer by layer.

    Args:
        count: number of grains.
        half_width: of the square box [diameters].
        seed: of the jitter.
        spacing: distance of neighbours [diameters].

    Returns:
        (count, 3) [m].
    """
    side = int((2.0 * half_width - 0.02) / spacing)
    k = np.arange(count)
    cell = np.stack([k % side, k // side % side, k // side**2], axis=1) * spacing
    cell[:, :2] -= 0.5 * spacing * (side - 1)
    cell[:, 2] += 0.6
    return (cell + np.random.default_rng(seed).uniform(-0.04, 0.04, (count, 3))) * DIAMETER


def column_scene(
    count: int,
    half_width: float,
    *,
    friction: float = 0.5,
    wall_friction: float | None = None,
    rolling: float = 0.0,
    restitution: float = 0.0,
    boundary: Any = None,
    seed: int = 1,
    stir: float = 0.1,
) -> gg.Scene:
    """Grains about to fall into a square box, with small random velocities.

    Args:
        count: number of grains.
        half_width: of the box [diameters].
        friction: between grains.
        wall_friction: of grains with walls; None: as between grains.
        rolling: rolling friction, of grains and walls.
        restitution: of grains and walls.
        boundary: see `Scene`; None: walls, open at the top.
        seed: of positions and velocities.
        stir: largest component of an initial velocity [m/s].
    """
    positions = lattice(count, half_width, seed)
    side = half_width * DIAMETER
    top = float(positions[:, 2].max()) + 2.0 * DIAMETER
    scene = gg.Scene(((-side, -side, 0.0), (side, side, top)), boundary=boundary)
    sand = scene.add_material(
        density=DENSITY, friction=friction, restitution=restitution, rolling_friction=rolling, name="sand"
    )
    wall = scene.add_material(
        density=DENSITY, friction=friction, restitution=restitution, rolling_friction=rolling, name="wall"
    )
    if wall_friction is not None:
        scene.set_pair(sand, wall, friction=wall_friction)
    scene.wall_material = wall
    speeds = np.random.default_rng(seed + 1).uniform(-stir, stir, positions.shape)
    scene.add_grains(sand, positions, RADIUS, speeds)
    return scene


def falling_bed(layers: int, side: int, seed: int, rolling: float = 0.0, floor: float = 0.0) -> gg.Scene:
    """Grains about to fall on a floor, periodic in x and y.

    Args:
        layers: number of layers of a loose jittered lattice.
        side: grains of a layer along x and along y.
        seed: of positions and velocities.
        rolling: rolling friction.
        floor: height of the floor [m].
    """
    rng = np.random.default_rng(seed)
    half, step = 0.5 * side * 1.06 * DIAMETER, 1.06 * DIAMETER
    k = np.arange(side * side * layers)
    cell = np.stack([k % side, k // side % side, k // side**2], axis=1) + 0.5
    positions = cell * step - [half, half, -floor] + rng.uniform(-0.025, 0.025, (len(k), 3)) * DIAMETER
    top = float(positions[:, 2].max()) + DIAMETER
    scene = gg.Scene(((-half, -half, floor), (half, half, top)), boundary={"x": "periodic", "y": "periodic"})
    sand = scene.add_material(density=DENSITY, friction=0.5, rolling_friction=rolling)
    scene.add_grains(sand, positions, RADIUS, rng.normal(0.0, 0.2, positions.shape))
    return scene


def rms_speed(world: gg.World, env: int = 0) -> float:
    """Root mean square speed of the grains of one env [m/s]."""
    return float(np.sqrt((world.velocities[env].astype(np.float64) ** 2).sum(axis=1).mean()))


def mean_overlap(world: gg.World, env: int = 0) -> float:
    """Mean overlap of the overlapping contacts of one env, relative to the smaller diameter."""
    return float(world.stats["overlap_sum"][env] / max(int(world.stats["overlap_count"][env]), 1))


def tube_mesh(inner: float, outer: float, height: float, sides: int = 48) -> gg.Mesh:
    """A tube along z, open at both ends, that stands on z = 0; lengths [m]."""
    angle = 2.0 * np.pi * np.arange(sides) / sides
    ring = np.stack([np.cos(angle), np.sin(angle)], axis=1)
    rings = [(inner, 0.0), (outer, 0.0), (outer, height), (inner, height)]
    vertices = np.concatenate([np.c_[r * ring, np.full(sides, z)] for r, z in rings])
    a, b = np.arange(sides), (np.arange(sides) + 1) % sides
    faces = []
    for k in range(4):
        low, high = k * sides, (k + 1) % 4 * sides
        faces += [np.stack([low + a, low + b, high + b], 1), np.stack([low + a, high + b, high + a], 1)]
    return gg.Mesh(vertices, np.concatenate(faces)[:, ::-1].astype(np.int32))


def tube_filling(count: int, tube: float, seed: int = 0) -> NDArray[np.float64]:
    """Positions on a loose lattice in a tube of inner radius `tube` [m] that stands on z = 0: (count, 3) [m]."""
    step = 1.08 * DIAMETER
    ticks = np.arange(-int(tube / step), int(tube / step) + 1) * step
    x, y = (a.ravel() for a in np.meshgrid(ticks, ticks))
    inside = np.hypot(x, y) < tube - 1.15 * RADIUS
    base = np.stack([x[inside], y[inside]], axis=1)
    k = np.arange(count)
    positions = np.c_[base[k % len(base)], 1.1 * RADIUS + k // len(base) * step]
    return positions + np.random.default_rng(seed).uniform(-0.03, 0.03, (count, 3)) * DIAMETER


@functools.lru_cache(maxsize=1)
def _tube_sdf(tube: float, height: float) -> gg.Sdf:
    return gg.Sdf.from_mesh(tube_mesh(tube, tube + 2.0 * DIAMETER, height), spacing=RADIUS)


def heap(
    count: int,
    rolling: Sequence[float],
    *,
    tube: float = 0.06,
    lift_speed: float = 0.2,
    friction: float = 0.5,
    settle: float = 0.6,
    seed: int = 0,
    dt: float = DT,
    stir: float = 0.0,
) -> gg.World:
    """Heaps that a lifted tube leaves, one env per rolling friction.

    Args:
        count: number of grains.
        rolling: rolling friction of each env.
        tube: inner radius of the tube [m].
        lift_speed: of the tube [m/s].
        friction: of all pairs of materials.
        settle: time in the tube before it is lifted [s].
        seed: of the initial positions.
        dt: duration of a substep [s].
        stir: standard deviation of the initial velocities [m/s]; without any the lattice can stand as a column.
    """
    positions = tube_filling(count, tube, seed)
    velocities = np.random.default_rng(seed).normal(0.0, stir, positions.shape)
    height = float(positions[:, 2].max()) + 2.0 * DIAMETER
    scene = gg.Scene(((-0.6, -0.6, 0.0), (0.6, 0.6, 3.0 * height)))
    sand = scene.add_material(density=DENSITY, friction=friction, rolling_friction=rolling[0])
    scene.add_grains(sand, positions, RADIUS, velocities)
    scene.add_tool(_tube_sdf(tube, height), name="tube")
    world = scene.build(env_count=len(rolling), num_threads=THREADS)
    world.set_materials(pairs=per_env_pairs([friction] * len(rolling), rolling=0.0) + _rolling_table(rolling))
    world.step(dt, round(settle / dt))
    lift = 0.8 * height
    world.step(dt, round(lift / lift_speed / dt), tool_poses=[[0.0, 0.0, lift, 1.0, 0.0, 0.0, 0.0]])
    world.set_tool_poses([[0.0, 0.0, 2.0 * height, 1.0, 0.0, 0.0, 0.0]])
    return world


def _rolling_table(rolling: Sequence[float]) -> NDArray[np.float32]:
    table = np.zeros((len(rolling), 1, 1, 3), np.float32)
    table[:, 0, 0, 2] = rolling
    return table


def heap_angle(positions: NDArray[np.float32]) -> float:
    """Slope [deg] of the cone with the volume of the heap's grains (solid fraction .6) and their centre of mass."""
    height = 4.0 * (float(positions[:, 2].mean()) - 0.0)
    volume = len(positions) * 4.0 / 3.0 * np.pi * RADIUS**3 / 0.6
    return float(np.degrees(np.arctan(height / np.sqrt(3.0 * volume / (np.pi * height)))))


def cup_of_two_sizes(ratio: float, small: int, large: int, half: float = 0.06, seed: int = 3) -> gg.Scene:
    """Large grains below small ones, about to fall into a box.

    Args:
        ratio: of the radii; the small ones are standard grains.
        small: number of small grains.
        large: number of large grains.
        half: half side of the box [m].
        seed: of the noise of the small ones' positions.
    """
    big = RADIUS * ratio
    scene = gg.Scene(((-half, -half, 0.0), (half, half, 4.0)))
    sand = scene.add_material(density=DENSITY, friction=0.5, rolling_friction=0.2)

    def layers(count: int, radius: float, low: float) -> NDArray[np.float64]:
        side = max(int(2.0 * half / (2.1 * radius)), 1)
        k, step = np.arange(count), 2.0 * half / side
        x, y = (k % side + 0.5) * step - half, (k // side % side + 0.5) * step - half
        return np.stack([x, y, low + 1.05 * radius + k // side**2 * 2.1 * radius], axis=1)

    below = layers(large, big, 0.0)
    top = float(below[:, 2].max()) + big
    above = layers(small, RADIUS, top)
    above += np.random.default_rng(seed).uniform(-0.04, 0.04, above.shape) * RADIUS
    scene.add_grains(sand, below, big)
    scene.add_grains(sand, above, RADIUS)
    return scene


def box_walls(inner: Any, thickness: float, lid: bool) -> gg.Sdf:
    """A hollow box around the origin, one box for each side.

    Args:
        inner: half of the inner lengths (3,) [m].
        thickness: of the sides [m].
        lid: with a top.
    """
    a = np.asarray(inner, np.float64)
    walls = []
    for axis in range(3):
        for sign in (-1.0, 1.0):
            if axis == 2 and sign > 0 and not lid:
                continue
            half = a + thickness
            half[axis] = 0.5 * thickness
            center = np.zeros(3)
            center[axis] = sign * (a[axis] + 0.5 * thickness)
            walls.append(gg.Sdf.box(half).at(center))
    return gg.Sdf.union(walls)


def _box(lower: Any, upper: Any, inward: bool) -> tuple[NDArray[np.float64], NDArray[np.int32]]:
    corners = np.array([[x, y, z] for z in (0, 1) for y in (0, 1) for x in (0, 1)], np.float64)
    points = np.asarray(lower) + corners * (np.asarray(upper) - np.asarray(lower))
    quads = [(0, 2, 3, 1), (4, 5, 7, 6), (0, 1, 5, 4), (2, 6, 7, 3), (0, 4, 6, 2), (1, 3, 7, 5)]
    faces = np.array([t for a, b, c, d in quads for t in ((a, b, c), (a, c, d))], np.int32)
    return points, faces[:, ::-1] if inward else faces


def hollow_box_mesh(inner: Any, thickness: float, lid: bool) -> gg.Mesh:
    """The hollow box of `box_walls` as one watertight mesh, closed or open at the top."""
    a = np.asarray(inner, np.float64)
    b = a + thickness
    if lid:
        outer, cavity = _box(-b, b, False), _box(-a, a, True)
        return gg.Mesh(np.concatenate([outer[0], cavity[0]]), np.concatenate([outer[1], cavity[1] + 8]))
    # the rims of both boxes have the same height and are joined by a frame
    outer, cavity = _box(-b, [b[0], b[1], a[2]], False), _box(-a, a, True)
    keep = [f for f in range(12) if f not in (2, 3)]
    rim = [4, 5, 7, 6]
    frame = []
    for k in range(4):
        o, p = rim[k], rim[(k + 1) % 4]
        frame += [(o, p, p + 8), (o, p + 8, o + 8)]
    faces = np.concatenate([outer[1][keep], cavity[1][keep] + 8, np.array(frame, np.int32)])
    return gg.Mesh(np.concatenate([outer[0], cavity[0]]), faces)
