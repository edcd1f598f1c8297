"""scene_arrays.py: grains, shapes, tools and cameras of a scene as arrays in the engine's layout."""

from __future__ import annotations

import dataclasses
import math
import warnings
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from granular_gym.base.rotations import rotate
from granular_gym.engine.bounds import BOUNDARIES
from granular_gym.engine.clumps import ClumpGroup
from granular_gym.engine.frozen import Mounted
from granular_gym.engine.materials import Material
from granular_gym.engine.planar import planar_arrays, thickness
from granular_gym.engine.tool_mass import AXES, ToolMass
from granular_gym.errors import ArgumentError, SdfWarning, StabilityWarning
from granular_gym.shapes.extents import extent
from granular_gym.shapes.pair_field import PairField
from granular_gym.shapes.pair_table import TABLES
from granular_gym.shapes.sdf import KINDS, Sdf, SdfGrid
from granular_gym.shapes.shape2d import Shape2D

#: of tables of pair fields: nodes through two shapes together, across their thinnest parts
_NODES_THROUGH = 1.5

#: GG_UNBOUNDED of the engine: travel without an end [m]
_UNBOUNDED = 1e30


@dataclasses.dataclass(frozen=True)
class Tool:
    """A body that grains meet; see Scene.add_tool."""

    sdf: Sdf
    name: str
    material: int
    pose: tuple[float, ...]
    mass: ToolMass | None = None
    coupled: bool = False


@dataclasses.dataclass(frozen=True, eq=False)
class GrainGroup:
    """Grains of one call: positions and velocities (n, 3), radii and angles (n,); of clumps they are the spheres."""

    material: int
    positions: NDArray[np.float32]
    radii: NDArray[np.float32]
    velocities: NDArray[np.float32]
    angles: NDArray[np.float32]
    clumps: ClumpGroup | None = None


def grain_arrays(groups: Sequence[GrainGroup]) -> dict[str, Any]:
    """Positions, velocities, radii and materials of all grains."""
    none = np.zeros((0, 3), np.float32)
    materials = [np.full(len(group.radii), group.material, np.int32) for group in groups]
    return {
        "position": np.concatenate([none, *(group.positions for group in groups)]),
        "velocity": np.concatenate([none, *(group.velocities for group in groups)]),
        "radius": np.concatenate([none[:, 0], *(group.radii for group in groups)]),
        "grain_material": np.concatenate([np.zeros(0, np.int32), *materials]),
    }


def shape_arrays(
    materials: Sequence[Material], given: Mapping[tuple[str, str], PairField], groups: Sequence[GrainGroup]
) -> dict[str, Any]:
    """Shapes, fields of every pair of them, and angles of planar grains; fields that are not given are built."""
    shapes: dict[str, Shape2D] = {}
    for material in materials:
        if isinstance(material.shape, Shape2D):
            shapes.setdefault(material.shape.digest(), material.shape)
    if not shapes:
        raise ArgumentError("materials: a planar scene needs one with a shape")
    known = _in_order_of(shapes, given)
    every = [shapes[digest] for digest in known]
    fields: dict[tuple[int, int], PairField] = {}
    for a in range(len(every)):
        for b in range(a, len(every)):
            fields[a, b] = given.get((known[a], known[b])) or PairField.build(every[a], every[b])
            _warn_of_thin(fields[a, b])
    # tools and walls have a material without a shape; no grain is of it
    of_material = [known.index(m.shape.digest()) if isinstance(m.shape, Shape2D) else 0 for m in materials]
    angles = np.concatenate([np.zeros(0, np.float32), *(group.angles for group in groups)])
    return planar_arrays(every, fields, of_material, angles)


def _warn_of_thin(field: PairField) -> None:
    """Warns of shapes that a table cannot keep apart: it loses half the distance of its nodes of depth."""
    if field.kind not in TABLES:
        return
    thick, apart = thickness(field.a) + thickness(field.b), 1.0 / float(field.record["per_metre"])
    if thick < _NODES_THROUGH * apart:
        enough = 2 * math.ceil(_NODES_THROUGH * field.reach / thick + 1.5)
        warnings.warn(
            f"shapes {field.a.name!r} and {field.b.name!r}: expected a field with nodes at most "
            f"{thick / _NODES_THROUGH:.3g} m apart, as together they are {thick:.3g} m thick, got {apart:.3g} m; they "
            f"pass through each other: Scene.set_pair_field(PairField.build(a, b, count={enough})) keeps them apart",
            StabilityWarning,
            stacklevel=5,
        )


def _in_order_of(shapes: Mapping[str, Shape2D], given: Mapping[tuple[str, str], PairField]) -> list[str]:
    """Digests of shapes, such that the first shape of each field that is given comes before its second one."""
    for pair, field in given.items():
        for digest, shape in zip(pair, (field.a, field.b), strict=True):
            if digest not in shapes:
                names = [each.name for each in shapes.values()]
                raise ArgumentError(f"field: expected one of two of the scene's shapes {names}, got one of {shape!r}")
    order: list[str] = []
    left = list(shapes)
    while left:
        free = [b for b in left if not any((a, b) in given for a in left if a != b)]
        if not free:
            names = [shapes[each].name for each in left]
            raise ArgumentError(f"field: expected fields that put shapes in an order, those of {names} go in a circle")
        order.append(free[0])
        left.remove(free[0])
    return order


def largest_diameter(groups: Sequence[GrainGroup]) -> float:
    """Diameter of the largest grain [m], 0 without grains."""
    return 2.0 * max((float(group.radii.max()) for group in groups if len(group.radii)), default=0.0)


def tool_arrays(tools: Sequence[Tool], reach: float) -> dict[str, Any]:
    """Poses of tools, their parts, and the grids that parts may share.

    Args:
        tools: of the scene.
        reach: how far from a solid distances must be right [m]. A grain touches it with its centre one radius away; a
            second one covers what grain and tool may move within a substep (half a radius each), and cohesion.
    """
    integers: list[list[int]] = []
    floats: list[list[float]] = []
    grids: list[SdfGrid] = []
    samples: list[NDArray[np.float32]] = []
    known: dict[int, int] = {}
    for index, tool in enumerate(tools):
        for part in tool.sdf.parts:
            grid = -1
            if part.grid is not None:
                # parts that share samples share the grid
                grid = known.setdefault(id(part.grid), len(grids))
                if grid == len(grids):
                    grids.append(_grid_reaching(part.grid, reach, tool.name))
                    samples.append(grids[-1].samples.reshape(-1))
            integers.append([KINDS[part.kind], index, grid, tool.material])
            floats.append([*part.size, *[0.0] * (4 - len(part.size)), *part.pose])
    return {
        "tool_pose": _table([tool.pose for tool in tools], 7, np.float32),
        "part_integers": _table(integers, 4, np.int32),
        "part_floats": _table(floats, 11, np.float32),
        "grid_integers": _table([grid.samples.shape[::-1] for grid in grids], 3, np.int32),
        "grid_floats": _table([[grid.spacing, *grid.origin] for grid in grids], 4, np.float32),
        "sample": np.concatenate([np.zeros(0, np.float32), *samples]),
    }


def _grid_reaching(grid: SdfGrid, reach: float, name: str) -> SdfGrid:
    """The grid of a tool, sampled further out where its box is too small for the grains."""
    try:
        wide = grid.reaching(reach)
    except ArgumentError as error:
        raise ArgumentError(f"{error}; the field of tool {name!r} must reach {reach:g} m, a grain's diameter") from None
    if not wide.reaches(reach):
        warnings.warn(
            f"tool {name!r}: expected an SDF grid whose samples on the faces of its box are at least {reach:g} m, the "
            f"diameter of the largest grain, got {wide.clearance:g} m; grains outside of it meet the tool too early",
            SdfWarning,
            stacklevel=5,
        )
    return wide


def mass_arrays(
    tools: Sequence[Tool], bounds: NDArray[np.float32], boundary: NDArray[np.int32]
) -> dict[str, NDArray[Any]]:
    """Free axes, coupled or not (tools, 4); mass, lower and upper ends of travel, stiffness and damping (tools, 9);
    inertia xx yy zz xy xz yz (tools, 6). All 0 of other tools."""
    axes, floats = np.zeros((len(tools), 4), np.int32), np.zeros((len(tools), 9), np.float32)
    inertia = np.zeros((len(tools), 6))
    for k, tool in enumerate(tools):
        axes[k, 3] = tool.coupled
        if tool.mass is None:
            continue
        inertia[k] = tool.mass.inertia
        floats[k, [0, 7, 8]] = tool.mass.mass, tool.mass.stiffness, tool.mass.damping
        for row, axis in enumerate(AXES):
            axes[k, row] = axis in tool.mass.free
            ends: Sequence[float] = tool.mass.travel.get(axis) or _between_walls(tool, row, bounds, boundary)
            ends = (-_UNBOUNDED, _UNBOUNDED) if tool.mass.stiffness else ends
            floats[k, [1 + row, 4 + row]] = np.clip(ends, -_UNBOUNDED, _UNBOUNDED)
    return {"tool_free": axes, "tool_mass": floats, "tool_inertia": inertia}


def _between_walls(
    tool: Tool, row: int, bounds: NDArray[np.float32], boundary: NDArray[np.int32]
) -> tuple[float, float]:
    """Where the origin of a tool may be such that, turned as it is, it does not reach into the walls of an axis.

    A tool that starts in a wall comes out of it and goes no further in.
    """
    start, ends = tool.pose[row], [-math.inf, math.inf]
    turn_back = np.array(tool.pose[3:]) * [1.0, -1.0, -1.0, -1.0]
    for face, sign in enumerate((-1.0, 1.0)):
        reach = extent(tool.sdf, rotate(turn_back, sign * np.eye(3)[row]))
        if boundary[row, face] == BOUNDARIES["wall"] and math.isfinite(reach):
            ends[face] = float(bounds[face, row]) - sign * reach
    return min(ends[0], start), max(ends[1], start)


def camera_arrays(cameras: Iterable[Mounted]) -> dict[str, Any]:
    """Cameras, in the order they were added."""
    mounted = list(cameras)
    return {
        "camera_integers": _table([each.camera.integers(each.tool) for each in mounted], 4, np.int32),
        "camera_floats": _table([each.camera.floats() for each in mounted], 10, np.float32),
    }


def _table(rows: Sequence[Any], columns: int, dtype: Any) -> NDArray[Any]:
    return np.array(rows, dtype).reshape(len(rows), columns)
