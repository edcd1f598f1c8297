"""gltf.py: a moment of an env as a glTF file (.glb) for pictures elsewhere: Blender, browsers, slides.

Written by trimesh. Grains are one mesh of low-poly spheres with colours, as viewers draw ten thousand nodes slowly and
few know instances; continuous matter is its surface, planar grains are extruded. glTF's y is up: the root node turns z
to it. Needs the `exchange` extra.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from granular_gym.base import checks
from granular_gym.base.cache import write_atomic
from granular_gym.engine.bounds import BOUNDARIES
from granular_gym.engine.world import World
from granular_gym.errors import ArgumentError, MissingError
from granular_gym.exchange.matter import matter_surface
from granular_gym.exchange.snapshot import Bodies, Surfaces, check
from granular_gym.exchange.surfaces import TOOL_COLORS
from granular_gym.tasks.grain_colors import linear, sand_colors

Array = NDArray[Any]

#: finest spheres first: subdivisions of an icosahedron
DETAILS = (2, 1, 0)
#: largest size of a file that is written unless the caller allows more [bytes]
LARGEST = 64_000_000
#: bytes in a file: of a vertex of a grain (place, normal, colour), and of a triangle
_VERTEX, _TRIANGLE = 28, 12
#: spheres that fine ones are chosen for by default, as none is large in a picture of more
_FINE_GRAINS = 5000
MATTER_COLOR, FLOOR_COLOR = (205, 180, 140), (226, 226, 230)
#: z up, as here, to y up, as in glTF
_UPRIGHT = np.array([[1.0, 0, 0, 0], [0, 0, 1, 0], [0, -1, 0, 0], [0, 0, 0, 1]])


def write_gltf(
    path: str | Path,
    world: World,
    env: int = 0,
    *,
    grain_colors: Any = None,
    detail: int | None = None,
    floor: bool = False,
    largest: int = LARGEST,
) -> int:
    """Writes an env as it is now; returns the size of the file [bytes].

    Args:
        path: of the file, which ends in .glb; one that exists is replaced.
        world: the world.
        env: index of the env.
        grain_colors: (grain_count, 3) in 0 .. 255, sRGB; None: those of sand. Continuous matter has one colour.
        detail: of spheres: 0, 1 or 2, of 20, 80 or 320 triangles; None: 2 for up to 5,000 grains, else 1, and less
            where the file would be larger than allowed.
        floor: with the lower z wall, where there is one.
        largest: size of the file above which it is refused [bytes].

    Raises:
        ArgumentError: a value that makes no sense, a grain that is nowhere, or a file that would be too large; the
            message says how large.
        MissingError: the `exchange` extra is not installed.
        OSError: the file cannot be written.
    """
    file = checks.path("path", path)
    if file.suffix != ".glb":
        raise ArgumentError(f"path: expected a name that ends in .glb, got {str(path)!r}")
    world, env = check(world, env)
    limit = checks.integer("largest", largest, 1, 2**31 - 1)
    if detail is not None:
        checks.integer("detail", detail, DETAILS[-1], DETAILS[0])
    count = world.grain_count
    colors = sand_colors(count) if grain_colors is None else np.asarray(grain_colors)
    colors = checks.integers("grain_colors", np.round(colors).astype(np.int64), (count, 3), 0, 255).astype(np.uint8)
    if not np.isfinite(world.positions[env]).all():
        raise ArgumentError("world: expected finite positions, a grain is nowhere; has the env diverged?")
    try:
        data = _written(world, env, colors, detail, checks.flag("floor", floor), limit)
    except ModuleNotFoundError as error:
        raise MissingError(f'glTF files need {error.name}: pip install "granular_gym[exchange]"') from error
    if len(data) > limit:
        raise ArgumentError(f"largest: expected at least {len(data)} bytes, the size of the file, got {limit}")
    write_atomic(file, data)
    return len(data)


def _written(world: World, env: int, colors: Array, detail: int | None, floor: bool, limit: int) -> bytes:
    """The content of the file."""
    import trimesh

    scene = trimesh.Scene()
    scene.graph.update(frame_from=scene.graph.base_frame, frame_to="upright", matrix=_UPRIGHT)
    bodies = Bodies(world, env)
    meshes = {"grains": _grains(world, env, bodies, colors, detail, limit)} if world.grain_count else {}
    tools = bodies.tools()
    for tool, name in enumerate(world.tool_names):
        mine = tools.owner == tool
        if mine.any():
            color = TOOL_COLORS[tool % len(TOOL_COLORS)]
            meshes[f"tool {name}"] = _one_color(tools.vertices, tools.faces[mine], color)
    arrays = world._frozen.arrays
    if floor and arrays["boundary"][2, 0] == BOUNDARIES["wall"]:
        meshes["floor"] = _floor(arrays["lower"].astype(np.float64), arrays["upper"].astype(np.float64))
    for name, mesh in meshes.items():
        scene.add_geometry(mesh, node_name=name, geom_name=name, parent_node_name="upright")
    written: bytes = scene.export(file_type="glb", tree_postprocessor=_set_material)
    return written


def _set_material(tree: dict[str, Any]) -> None:
    """Gives all meshes a dull surface: where none is named it is metal, which many viewers draw black."""
    tree["materials"] = [{"name": "dull", "pbrMetallicRoughness": {"metallicFactor": 0.0, "roughnessFactor": 0.9}}]
    for mesh in tree.get("meshes", []):
        for primitive in mesh["primitives"]:
            primitive["material"] = 0


def _grains(world: World, env: int, bodies: Bodies, colors: Array, detail: int | None, limit: int) -> Any:
    """All grains as one mesh."""
    if world.continuous:
        return _one_color(*matter_surface(world, env), MATTER_COLOR)
    if world.planar:
        return _extruded(bodies.shapes(), float(world.radii[env].mean()), colors)
    return _balls(world.positions[env], world.radii[env], colors, _detail(world.grain_count, detail, limit))


def _detail(count: int, wanted: int | None, limit: int) -> int:
    """Subdivisions of the spheres: those wanted, or the finest that keep the file small enough."""
    sizes = {each: count * (_VERTEX * (10 * 4**each + 2) + _TRIANGLE * 20 * 4**each) for each in DETAILS}
    choices = [each for each in DETAILS if each < 2 or count <= _FINE_GRAINS] if wanted is None else [wanted]
    for each in choices:
        if sizes[each] <= limit:
            return each
    least = sizes[choices[-1]]
    raise ArgumentError(
        f"largest: expected at least {least} bytes for {count} grains at detail {choices[-1]}, got {limit}"
    )


def _balls(places: Array, radii: Array, colors: Array, detail: int) -> Any:
    """Spheres as one mesh."""
    import trimesh

    ball = trimesh.creation.icosphere(subdivisions=detail)
    unit, faces = np.asarray(ball.vertices, np.float32), np.asarray(ball.faces)
    vertices = (places[:, None] + radii[:, None, None] * unit).reshape(-1, 3)
    joined = (faces + len(unit) * np.arange(len(places))[:, None, None]).reshape(-1, 3)
    normals = np.tile(unit, (len(places), 1))
    return trimesh.Trimesh(
        vertices,
        joined,
        vertex_normals=normals,
        vertex_colors=_opaque(np.repeat(colors, len(unit), axis=0)),
        process=False,
    )


def _extruded(shapes: Surfaces, depth: float, colors: Array) -> Any:
    """Plane shapes as plates so thick, half of it on either side of the plane."""
    import trimesh

    half = np.array([0.0, 0.0, 0.5 * depth], np.float32)
    top, count = shapes.vertices + half, len(shapes.vertices)
    bottom = shapes.vertices - half
    # an edge of one triangle alone is part of an outline
    edges = np.concatenate([shapes.faces[:, [a, b]] for a, b in ((0, 1), (1, 2), (2, 0))])
    owners = np.tile(shapes.owner, 3)
    _, place, times = np.unique(np.sort(edges, axis=1), axis=0, return_index=True, return_counts=True)
    a, b = edges[place[times == 1]].T
    sides = np.concatenate([np.column_stack([a + count, b + count, b]), np.column_stack([a + count, b, a])])
    faces = np.concatenate([shapes.faces, shapes.faces[:, ::-1] + count, sides])
    owner = np.concatenate([shapes.owner, shapes.owner, np.tile(owners[place[times == 1]], 2)])
    of_vertex = np.zeros(2 * count, np.int64)
    of_vertex[faces.reshape(-1)] = np.repeat(owner, 3)
    return trimesh.Trimesh(
        np.concatenate([top, bottom]), faces, vertex_colors=_opaque(colors[of_vertex]), process=False
    )


def _one_color(vertices: Array, faces: Array, color: tuple[int, int, int]) -> Any:
    """A mesh of one colour, without the vertices that no face has."""
    import trimesh

    used, renamed = np.unique(faces, return_inverse=True)
    points, count = vertices[used], len(used)
    colors = _opaque(np.broadcast_to(np.array(color, np.uint8), (count, 3)))
    return trimesh.Trimesh(points, renamed.reshape(-1, 3), vertex_colors=colors, process=False)


def _floor(lower: Array, upper: Array) -> Any:
    corners = np.array([[lower[0], lower[1]], [upper[0], lower[1]], [upper[0], upper[1]], [lower[0], upper[1]]])
    points = np.column_stack([corners, np.full(4, lower[2])])
    return _one_color(points, np.array([[0, 1, 2], [0, 2, 3]]), FLOOR_COLOR)


def _opaque(colors: Array) -> Array:
    """Colours sRGB (n, 3) as glTF takes those of vertices: in linear light, with an alpha."""
    return np.column_stack([linear(colors), np.full(len(colors), 255, np.uint8)])
