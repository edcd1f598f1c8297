"""standard.py: scenes for timing, by size.

The standard grain, also used for comparisons with other codes: a sphere of 5 mm radius and 2500 kg/m3, friction 0.5
with grains and walls, restitution 0.5, no rolling friction.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
from numpy.typing import NDArray

import granular_gym as gg
from testbed.beds import DENSITY, DIAMETER, DT, RADIUS, column_scene, lattice

FRICTION, RESTITUTION = 0.5, 0.5
#: half width of the box of a column, in diameters, by number of grains
COLUMN_HALF_WIDTH = {3_000: 7.5, 10_000: 10.0, 50_000: 15.0}


def standard_scene(bounds: Any, boundary: Any = None, rolling: float = 0.0) -> tuple[gg.Scene, int]:
    """An empty scene and the material of the standard grain."""
    kinds = boundary or {"x": "wall", "y": "wall", "z": ("wall", "open")}
    scene = gg.Scene(bounds=bounds, boundary=kinds)
    grain = scene.add_material(
        radius=RADIUS, density=DENSITY, friction=FRICTION, restitution=RESTITUTION, rolling_friction=rolling
    )
    return scene, grain


def standard_column(count: int, rolling: float = 0.0, half_width: float | None = None) -> gg.Scene:
    """Grains about to fall into a square box with frictional walls; half_width in diameters."""
    half_width = half_width or COLUMN_HALF_WIDTH[count]
    return column_scene(count, half_width, friction=FRICTION, restitution=RESTITUTION, rolling=rolling, stir=0.0)


@functools.lru_cache(maxsize=8)
def resting_column(count: int, rolling: float = 0.0, seconds: float = 1.0) -> gg.State:
    """State of the settled column; computed once per process."""
    with standard_column(count, rolling).build(num_threads=1) as world:
        world.step(DT, round(seconds / DT))
        return world.save_state(env=0)


@functools.lru_cache(maxsize=4)
def settled_patch(layers: int = 12, device: str = "cpu") -> tuple[NDArray[np.float32], float]:
    """A settled bed, periodic in x and y, to be tiled: positions (n, 3) [m] and the length of its side [m]."""
    side, count = 10, 100 * layers
    positions = lattice(count, 0.5 * side + 0.6, spacing=1.0).astype(np.float32)
    positions[:, 2] *= 1.1
    half = 0.5 * side * DIAMETER
    # keep the jitter of this tight lattice within the bounds
    positions[:, :2] *= 0.999
    periodic = {"x": "periodic", "y": "periodic", "z": ("wall", "open")}
    scene, grain = standard_scene(((-half, -half, 0.0), (half, half, _room(layers))), periodic)
    scene.add_grains(grain, positions, velocities=_stir(count))
    # the lattice closes upon itself across the faces
    with scene.build(device=device, num_threads=1, overlaps="ignore") as world:
        world.step(DT, 800)
        return world.positions[0], 2.0 * half


def _room(layers: int) -> float:
    """Height of the bounds of a bed [m]."""
    return max(0.4, 1.2 * DIAMETER * layers)


def _stir(count: int) -> NDArray[np.float32]:
    """Random velocities (count, 3) [m/s] that break up a lattice."""
    return np.random.default_rng(2).normal(0.0, 0.3, (count, 3)).astype(np.float32)


def wide_bed(tiles: tuple[int, int], layers: int = 12, device: str = "cpu") -> gg.Scene:
    """The bed of `settled_patch`, computed on `device`, tiled tiles[0] x tiles[1] times; periodic in x and y."""
    patch, side = settled_patch(layers, device)
    offset = np.array([(i * side, j * side, 0.0) for i in range(tiles[0]) for j in range(tiles[1])], np.float32)
    positions = (patch[None] + offset[:, None]).reshape(-1, 3)
    lower = (-0.5 * side, -0.5 * side, 0.0)
    upper = ((tiles[0] - 0.5) * side, (tiles[1] - 0.5) * side, _room(layers))
    positions[:, :2] = np.clip(positions[:, :2], lower[:2], np.nextafter(np.float32(upper[:2]), np.float32(-1.0)))
    scene, grain = standard_scene((lower, upper), {"x": "periodic", "y": "periodic", "z": ("wall", "open")})
    scene.add_grains(grain, positions)
    return scene


def box_mesh(half_extents: tuple[float, float, float], cuts: int) -> gg.Mesh:
    """A closed box whose faces are cut into cuts x cuts squares of two triangles: 12 cuts^2 triangles."""
    vertices: list[NDArray[np.float64]] = []
    faces: list[NDArray[np.int64]] = []
    ticks = np.linspace(-1.0, 1.0, cuts + 1)
    corner = np.arange((cuts + 1) ** 2).reshape(cuts + 1, cuts + 1)
    a, b, c, d = (x.ravel() for x in (corner[:-1, :-1], corner[1:, :-1], corner[1:, 1:], corner[:-1, 1:]))
    u, v = (x.ravel() for x in np.meshgrid(ticks, ticks, indexing="ij"))
    for axis in range(3):
        for sign in (-1.0, 1.0):
            points = np.empty(((cuts + 1) ** 2, 3))
            points[:, axis], points[:, (axis + 1) % 3], points[:, (axis + 2) % 3] = sign, u, v
            first = len(vertices) * (cuts + 1) ** 2
            quads = [np.stack([a, b, c], 1), np.stack([a, c, d], 1)]
            triangles = np.concatenate(quads) + first
            faces.append(triangles if sign > 0 else triangles[:, ::-1])
            vertices.append(points * half_extents)
    # merge the vertices that faces share
    points, index = np.unique(np.round(np.concatenate(vertices), 12), axis=0, return_inverse=True)
    return gg.Mesh(points, index.reshape(-1)[np.concatenate(faces)].astype(np.int32))
