"""surfaces.py: triangle meshes of tools, from their primitives and SDF grids, for files and for the live view.

Needs the `exchange` or the `view` extra.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from granular_gym.base.rotations import rotate
from granular_gym.engine.frozen import FrozenScene
from granular_gym.shapes.sdf import KINDS

_KIND_NAMES = {number: name for name, number in KINDS.items()}
#: default colours of tools, in turn
TOOL_COLORS = ((236, 170, 40), (96, 100, 108), (74, 124, 168), (168, 92, 74), (110, 150, 92))
_SECTIONS = 48  # around an axis of revolution


def tool_surface(frozen: FrozenScene, tool: int) -> tuple[NDArray[np.float32], NDArray[np.int32]]:
    """The surface of a tool in its own frame.

    Args:
        frozen: the scene as arrays.
        tool: index of the tool.

    Returns:
        Vertices (n, 3) [m] and faces (m, 3), counter-clockwise from outside. Planes and tubes, which are infinite,
        extend as far as the scene.
    """
    arrays = frozen.arrays
    reach = float(np.linalg.norm(arrays["upper"] - arrays["lower"]))
    vertices, faces = [np.zeros((0, 3))], [np.zeros((0, 3), np.int64)]
    count = 0
    for (kind, owner, grid, _), floats in zip(arrays["part_integers"].tolist(), arrays["part_floats"], strict=True):
        if owner != tool:
            continue
        size, pose = floats[:4].astype(np.float64).tolist(), floats[4:].astype(np.float64)
        name = _KIND_NAMES[kind]
        points, triangles = _grid(arrays, grid) if name == "grid" else _primitive(name, size, reach)
        vertices.append(rotate(pose[3:], points) + pose[:3])
        faces.append(triangles + count)
        count += len(points)
    return np.concatenate(vertices).astype(np.float32), np.concatenate(faces).astype(np.int32)


def _grid(arrays: dict[str, NDArray[Any]], grid: int) -> tuple[NDArray[Any], NDArray[Any]]:
    """Vertices and faces of the zero level set of an SDF grid."""
    from skimage.measure import marching_cubes

    sizes = arrays["grid_integers"].astype(np.int64)
    first = int(sizes[:grid].prod(axis=1).sum())
    nx, ny, nz = sizes[grid]
    samples = arrays["sample"][first : first + nx * ny * nz].reshape(nz, ny, nx).copy()  # marching_cubes writes
    spacing, *origin = arrays["grid_floats"][grid].astype(np.float64)
    if not samples.min() < 0.0 < samples.max():
        return np.zeros((0, 3)), np.zeros((0, 3), np.int64)
    points, triangles, _, _ = marching_cubes(samples, 0.0, spacing=(spacing,) * 3, gradient_direction="ascent")
    return points[:, ::-1] + origin, triangles  # from z y x to x y z


def _primitive(kind: str, size: list[float], reach: float) -> tuple[NDArray[Any], NDArray[Any]]:
    """Vertices and faces of a primitive in its own frame, whose axis is z."""
    import trimesh

    if kind == "box":
        solid = trimesh.creation.box(extents=2.0 * np.array(size[:3]))
    elif kind == "sphere":
        solid = trimesh.creation.icosphere(subdivisions=3, radius=size[0])
    else:
        solid = trimesh.creation.revolve(_profile(kind, size, reach), sections=_SECTIONS)
    return np.asarray(solid.vertices), np.asarray(solid.faces)


def _profile(kind: str, size: list[float], reach: float) -> NDArray[np.float64]:
    """Profile of a solid of revolution about z: distance from the axis and height (n, 2) [m]."""
    if kind == "plane":
        return np.array([[reach, 0.0], [0.0, 0.0]])
    if kind == "cavity":
        return np.array([[size[0], reach], [size[0], -reach]])
    if kind == "capsule":
        radius, half = size[:2]
        turn = np.linspace(-0.5 * math.pi, 0.5 * math.pi, 17)
        height = radius * np.sin(turn) + np.where(turn < 0.0, -half, half)
        profile = np.stack([radius * np.cos(turn), height], axis=1)
        profile[[0, -1], 0] = 0.0
        return profile
    lower, upper, half = (size[0], size[0], size[1]) if kind == "cylinder" else size[:3]
    return np.array([[0.0, -half], [lower, -half], [upper, half], [0.0, half]])


def outline_rings(planar: dict[str, NDArray[Any]], outline: int) -> list[NDArray[np.float64]]:
    """The rings (n, 2) [m] of a planar shape about its centre of mass, the outer one first.

    Args:
        planar: `FrozenScene.arrays["planar"]`.
        outline: index of the shape.
    """
    first, count = planar["outline_integers"][outline]
    points = planar["point_floats"][first : first + count].astype(np.float64)
    # a ring ends where the next point is its first one
    after = planar["point_integers"][first : first + count, 1]
    ends = np.flatnonzero(after <= np.arange(count)) + 1
    return np.split(points, ends[:-1])
