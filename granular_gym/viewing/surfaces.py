"""surfaces.py: triangles of tools, made from what the engine knows of them: primitives and sampled distance fields.

They are for people to look at (view.py). Needs the `view` extra.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from granular_gym.base.rotations import rotate
from granular_gym.engine.frozen import FrozenScene
from granular_gym.shapes.sdf import KINDS

_KIND_NAMES = {number: name for name, number in KINDS.items()}
_SECTIONS = 48  # of what is round


def tool_surface(frozen: FrozenScene, tool: int) -> tuple[NDArray[np.float32], NDArray[np.int32]]:
    """The surface of a tool in its own frame.

    Args:
        frozen: what a world is built from.
        tool: index.

    Returns:
        Vertices (n, 3) [m] and faces (m, 3), counter-clockwise from outside. Planes and tubes, which are endless, reach
        as far as the scene does.
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
        places, triangles = _grid(arrays, grid) if name == "grid" else _primitive(name, size, reach)
        vertices.append(rotate(pose[3:], places) + pose[:3])
        faces.append(triangles + count)
        count += len(places)
    return np.concatenate(vertices).astype(np.float32), np.concatenate(faces).astype(np.int32)


def _grid(arrays: dict[str, NDArray], grid: int) -> tuple[NDArray, NDArray]:
    """Where the samples of a grid are zero."""
    from skimage.measure import marching_cubes

    sizes = arrays["grid_integers"].astype(np.int64)
    first = int(sizes[:grid].prod(axis=1).sum())
    nx, ny, nz = sizes[grid]
    samples = arrays["sample"][first : first + nx * ny * nz].reshape(nz, ny, nx).copy()  # marching_cubes writes
    spacing, *origin = arrays["grid_floats"][grid].astype(np.float64)
    if not samples.min() < 0.0 < samples.max():
        return np.zeros((0, 3)), np.zeros((0, 3), np.int64)
    places, triangles, _, _ = marching_cubes(samples, 0.0, spacing=(spacing,) * 3, gradient_direction="ascent")
    return places[:, ::-1] + origin, triangles  # from z y x to x y z


def _primitive(kind: str, size: list[float], reach: float) -> tuple[NDArray, NDArray]:
    """The surface of a primitive in its own frame, where its axis is z."""
    import trimesh

    if kind == "box":
        solid = trimesh.creation.box(extents=2.0 * np.array(size[:3]))
    elif kind == "sphere":
        solid = trimesh.creation.icosphere(subdivisions=3, radius=size[0])
    else:
        solid = trimesh.creation.revolve(_profile(kind, size, reach), sections=_SECTIONS)
    return np.asarray(solid.vertices), np.asarray(solid.faces)


def _profile(kind: str, size: list[float], reach: float) -> NDArray[np.float64]:
    """What is turned about z to make a round solid: distance from the axis and height of its corners."""
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
