"""blade.py: a blade that pushes sand, of grains and as a continuum, and the angle of friction by which to compare them.

Plane: side walls are smooth and the blade is as wide as the bed. It stands at the wall at first, so that nothing is
behind it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

import granular_gym as gg

Floats = NDArray[np.float64]

#: [m] mean radius of the grains, which differ by a fifth; [kg/m3] of a grain
RADIUS, DENSITY = 0.005, 2600.0
FRICTION = 0.5  # of grains with each other, and of sand with the floor
#: angle of friction [degrees] that such grains show in plane compression, by their rolling friction:
#: `python -m benchmarks.blade --angles`
ANGLES = {0.3: 35.0, 0.0: 21.5}
HALF, HIGH = 0.02, 0.15  # [m] half of the blade's thickness and of its height
SPEED = 0.05  # [m/s] of the blade


@dataclass(frozen=True)
class Bed:
    """Grains at rest."""

    places: NDArray[np.float32]  # (n, 3) [m]
    radii: NDArray[np.float32]  # (n,) [m]
    size: tuple[float, float, float]  # length, width, height of the level surface [m]
    rolling: float  # rolling friction


def _materials(scene: gg.Scene, rolling: float, law: gg.DruckerPrager | None, density: float) -> None:
    radius = RADIUS if law is None else None
    scene.add_material(
        density=density, radius=radius, friction=FRICTION, rolling_friction=rolling, continuum=law, name="sand"
    )
    scene.add_material(density=2500.0, friction=0.0, rolling_friction=0.0, name="glass")
    scene.add_material(density=7800.0, friction=0.3, name="steel")
    scene.wall_material = "glass"


def volumes(radii: NDArray[np.float32]) -> Floats:
    """Of spheres [m3]."""
    return 4.0 / 3.0 * np.pi * radii.astype(np.float64) ** 3


def settled(size: tuple[float, float, float], rolling: float, seed: int) -> Bed:
    """A bed that fell, cut off at its height."""
    scene = gg.Scene(((0, 0, 0), (*size[:2], 5.0 * size[2])))
    _materials(scene, rolling, None, DENSITY)
    scene.add_tool(gg.Sdf.box((10, 10, 0.05)), "floor", "sand", (0, 0, -0.05))
    # as many as fill a fifth more than the bed where they lie as densely as they can
    count = int(1.2 * np.prod(size) * 0.6 / (4.0 / 3.0 * np.pi * RADIUS**3))
    ids = scene.fill_box(
        "sand", (0, 0, 0), (*size[:2], 5.0 * size[2]), count, seed, radius=(0.8 * RADIUS, 1.2 * RADIUS)
    )
    with scene.build(device="cpu", num_threads=1) as world:
        world.step(1e-3, 1500)
        places, radii = world.positions[0].copy(), np.ravel(world.radii)[: len(ids)].copy()
    inside = places[:, 2] < size[2]
    return Bed(places[inside], radii[inside], size, rolling)


def _blade(scene: gg.Scene, width: float, bottom: float, friction: float) -> None:
    scene.add_tool(gg.Sdf.box((10, 10, 0.05)), "floor", "sand", (0, 0, -0.05))
    scene.set_pair("sand", "steel", friction=friction, rolling_friction=0.1 if friction else 0.0)
    scene.add_tool(gg.Sdf.box((HALF, width, HIGH)), "blade", "steel", (HALF, 0.5 * width, bottom + HIGH))


def of_grains(bed: Bed, depth: float, friction: float) -> tuple[gg.Scene, float]:
    """A blade with its lower edge that deep in a bed [m]; and the density of the sand [kg/m3]."""
    length, width, height = bed.size
    bottom = max(height - depth, 0.2 * RADIUS)
    clear = (bed.places[:, 0] > 2.0 * HALF + bed.radii) | (bed.places[:, 2] < bottom - bed.radii)
    places, radii = bed.places[clear], bed.radii[clear]
    core = (places[:, 0] > 0.25 * length) & (np.abs(places[:, 2] / height - 0.45) < 0.25)
    share = volumes(radii[core]).sum() / (0.75 * length * width * 0.5 * height)
    scene = gg.Scene(((0, 0, 0), (length, width, 4.0 * height)))
    _materials(scene, bed.rolling, None, DENSITY)
    _blade(scene, width, bottom, friction)
    scene.add_grains("sand", places, radii)
    return scene, share * DENSITY


def of_continuum(
    size: tuple[float, float, float], angle: float, density: float, spacing: float, depth: float, friction: float
) -> gg.Scene:
    """The same of a continuum."""
    length, width, height = size
    bottom, apart = max(height - depth, 0.2 * RADIUS), 0.5 * spacing
    counts = [max(round(side / apart), 1) for side in size]
    axes = [(np.arange(count) + 0.5) * side / count for count, side in zip(counts, size, strict=True)]
    points = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, 3)
    points = points[(points[:, 0] > 2.0 * HALF + 0.25 * apart) | (points[:, 2] < bottom - 0.25 * apart)]
    scene = gg.Scene(((0, 0, 0), (length, width, 4.0 * height)))
    _materials(scene, 0.0, gg.DruckerPrager(1e6, 0.3, angle), density)
    _blade(scene, width, bottom, friction)
    scene.add_continuum("sand", points=points, spacing=spacing)
    return scene


def push(world: gg.World, dt: float, way: float, parts: int) -> Floats:
    """Pushes the blade that far along x [m]; mean force against it in each of equal parts of the way [N]."""
    poses = world.tool_poses[0].astype(np.float64)
    start, count = poses[1, 0], round(way / SPEED / dt)
    forces = []
    for k in range(count):
        poses[1, 0] = start + way * (k + 1) / count
        world.step(dt, 1, tool_poses=poses)
        forces.append(-float(world.wrenches[0, 1, 0]))
    return np.array([part.mean() for part in np.array_split(np.array(forces), parts)])


def compressed(size: tuple[float, float, float], rolling: float, seed: int, strain: float = 0.3) -> Floats:
    """Angles of friction [degrees] that grains show in plane compression without gravity, in tenths of the strain:
    smooth plates, one that comes down and two that give way under 500 Pa."""
    bed = settled(size, rolling, seed)
    length, width, height = size
    scene = gg.Scene(((-0.3, 0, 0), (length + 0.3, width, 4.0 * height)), gravity=(0, 0, 0))
    _materials(scene, rolling, None, DENSITY)
    scene.add_grains("sand", bed.places, bed.radii)
    plate, top = gg.Sdf.box((HALF, width, 2.0 * height)), height + RADIUS
    scene.add_tool(plate, "left", "glass", (-HALF, 0, 0), mass=0.3, free="x")
    scene.add_tool(plate, "right", "glass", (length + HALF, 0, 0), mass=0.3, free="x")
    scene.add_tool(gg.Sdf.box((0.25, width, HALF)), "top", "glass", (0.5 * length, 0, top + HALF))
    ratios, steps = [], 2000
    with scene.build(device="cpu", num_threads=1, solver=gg.Solver(iterations=20)) as world:
        for k in range(-200, steps, 10):
            z = top * (1.0 - strain * max(k + 10, 0) / steps)
            side = 500.0 * width * z
            world.set_tool_force("left", (side, 0, 0))
            world.set_tool_force("right", (-side, 0, 0))
            poses = world.tool_poses
            poses[0, 2, 2] = z + HALF
            poses[0, :2] = np.nan
            world.step(1e-3, 10, tool_poses=poses)
            across = world.tool_poses[0, 1, 0] - world.tool_poses[0, 0, 0] - 2.0 * HALF
            wrenches = np.abs(world.wrenches[0].astype(np.float64))
            least, most = wrenches[:2, 0].mean() / (width * z), wrenches[2, 2] / (width * across)
            if k >= 0:
                ratios.append((most - least) / (most + least))
    return np.degrees(np.arcsin([part.mean() for part in np.array_split(np.array(ratios), 10)]))
