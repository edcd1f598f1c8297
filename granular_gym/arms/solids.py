"""solids.py: shapes of a robot's links, as the shapes that an arm's frames carry.

Spheres and capsules are both shape and what the guard keeps apart. Cylinders, boxes and meshes are shapes that the
guard sees as a capsule around each.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from granular_gym.arms.description import Array, Link
from granular_gym.base import rotations
from granular_gym.errors import ArgumentError
from granular_gym.shapes.mesh import Mesh
from granular_gym.shapes.sdf import Sdf

#: samples of the field of a mesh along its longest side, and at least along its thinnest
_CELLS, _THINNEST = 48, 4


@dataclass(frozen=True, eq=False)
class Solid:
    """One shape.

    Attributes:
        where: its entry in the file, for messages.
        kind: "sphere" (radius), "capsule" and "cylinder" (radius, half length along z), "box" (half extents), "mesh".
        size: lengths [m], by kind.
        pose: (4, 4) of its frame.
        mesh: reads the triangles, in its frame [m]; of the kind "mesh" only.
    """

    where: str
    kind: str
    size: tuple[float, ...]
    pose: Array
    mesh: Callable[[], Mesh] | None = None


def link_of(frame: int, solids: Sequence[Solid]) -> Link:
    """The shapes of a frame, whose poses are in it.

    Raises:
        ArgumentError: a mesh cannot be read or used.
    """
    rods: dict[str, list[Array]] = {"capsule": [], "cylinder": []}
    covers, parts = [], []
    for solid in solids:
        if solid.kind in ("sphere", "capsule", "cylinder"):
            radius, half = (*solid.size, 0.0)[:2]
            rods["cylinder" if solid.kind == "cylinder" else "capsule"].append(_rod(solid.pose, radius, half))
        if solid.kind == "cylinder":
            covers.append(_rod(solid.pose, *solid.size))
        elif solid.kind in _PARTS:
            part, points = _PARTS[solid.kind](solid)
            parts.append(part.at(solid.pose[:3, 3], rotations.from_matrix(solid.pose[:3, :3])))
            covers.append(covering(points @ solid.pose[:3, :3].T + solid.pose[:3, 3], solid.pose[:3, :3].T))
    capsules, cylinders = (np.reshape(rods[kind], (-1, 7)) for kind in ("capsule", "cylinder"))
    return Link(frame, capsules, cylinders, np.reshape(covers, (-1, 7)), Sdf.union(parts) if parts else None)


def covering(points: Array, axes: Array) -> Array:
    """The least capsule along one of three axes that holds points (n, 3): ax ay az bx by bz radius (7,) [m]."""
    best, least = np.zeros(7), math.inf
    for axis in axes:
        along = points @ axis
        across = points - along[:, None] * axis
        middle = 0.5 * (across.min(axis=0) + across.max(axis=0))
        middle -= axis * (axis @ middle)
        off = np.linalg.norm(across - middle, axis=1)
        radius = float(off.max())
        # how much further than its segment a capsule reaches, where a point lies off the axis
        spare = np.sqrt(np.maximum(radius**2 - off**2, 0.0))
        low, high = float((along + spare).min()), float((along - spare).max())
        low, high = (low, high) if low < high else (0.5 * (low + high),) * 2
        volume = math.pi * radius**2 * (high - low + 4.0 / 3.0 * radius)
        if volume < least:
            best, least = np.array([*(middle + low * axis), *(middle + high * axis), radius]), volume
    return best


def _rod(pose: Array, radius: float, half: float) -> Array:
    place, along = pose[:3, 3], half * pose[:3, 2]
    return np.array([*(place - along), *(place + along), radius])


def _box(solid: Solid) -> tuple[Sdf, Array]:
    return Sdf.box(solid.size), np.array(list(itertools.product((-1.0, 1.0), repeat=3))) * solid.size


def _mesh(solid: Solid) -> tuple[Sdf, Array]:
    assert solid.mesh is not None
    try:
        mesh = solid.mesh()
        sides = np.ptp(mesh.bounds, axis=0)
        spacing = min(float(sides.max()) / _CELLS, float(sides.min()) / _THINNEST)
        return Sdf.from_mesh(mesh, spacing=spacing), mesh.vertices
    except ArgumentError as error:
        raise ArgumentError(f"{solid.where}: {error}") from None


#: a shape in its own frame and its corners, by kind
_PARTS: dict[str, Callable[[Solid], tuple[Sdf, Array]]] = {"box": _box, "mesh": _mesh}
