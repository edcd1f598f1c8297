"""snapshot.py: one env of a world at one moment, as arrays with names and units, for the writers of files.

What is known of a grain is one line of `GRAIN_FIELDS`, of a contact one of `CONTACT_FIELDS`; docs/exchange.md lists
them.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from granular_gym.base import checks
from granular_gym.base.rotations import rotate
from granular_gym.engine.bounds import BOUNDARIES
from granular_gym.engine.world import World
from granular_gym.errors import ClosedError
from granular_gym.exchange.surfaces import outline_rings, tool_surface

Array = NDArray[Any]
#: by name
Arrays = dict[str, Array]

#: what the partner of a contact is
GRAIN, TOOL, WALL = 0, 1, 2


@dataclasses.dataclass(frozen=True)
class Field:
    """What is known of each grain.

    Attributes:
        unit: of its numbers.
        meaning: in words.
        known: whether a world has it.
        read: its array in one env, (grain_count,) or (grain_count, components).
    """

    unit: str
    meaning: str
    known: Callable[[World], bool]
    read: Callable[[World, int], Array]


def check(world: Any, env: Any) -> tuple[World, int]:
    """An open world, and an index of one of its envs.

    Raises:
        ArgumentError: no world, or not an env of it.
        ClosedError: the world was closed.
    """
    checks.instance("world", world, World)
    if world.closed:
        raise ClosedError("the world is closed")
    return world, checks.integer("env", env, 0, world.env_count - 1)


def _always(world: World) -> bool:
    return True


def _continuous(world: World) -> bool:
    return world.continuous


#: what is known of grains, by name
GRAIN_FIELDS: dict[str, Field] = {
    "id": Field("", "grain id", _always, lambda w, e: np.arange(w.grain_count, dtype=np.int32)),
    "material": Field("", "index of the material", _always, lambda w, e: w.grain_materials[e]),
    "radius": Field(
        "m",
        "of the sphere; of a planar grain of its circumscribed circle, of a particle of the sphere of its volume",
        _always,
        lambda w, e: w.radii[e],
    ),
    "mass": Field(
        "kg", "in the plane kg/m; a clump's mass is shared by its spheres", _always, lambda w, e: w.grain_masses[e]
    ),
    "velocity": Field("m/s", "", _always, lambda w, e: w.velocities[e]),
    "angular_velocity": Field("rad/s", "", _always, lambda w, e: w.angular_velocities[e]),
    "clump": Field(
        "",
        "clump the grain is of, where a world has clumps",
        lambda w: w.clump_count > 0,
        lambda w, e: w.clump_of_grain,
    ),
    "angle": Field("rad", "of a planar grain", lambda w: w.planar, lambda w, e: w.angles[e]),
    "stress": Field(
        "Pa",
        "Cauchy stress of a particle, xx xy xz yx .. zz; tension is positive",
        _continuous,
        lambda w, e: w.stresses[e].reshape(-1, 9),
    ),
    "plastic_strain": Field("", "equivalent, of a particle", _continuous, lambda w, e: w.plastic_strains[e]),
    "density": Field("kg/m3", "of the matter of a particle", _continuous, lambda w, e: w.densities[e]),
}

#: what is known of contacts, by name: unit and meaning
CONTACT_FIELDS: dict[str, tuple[str, str]] = {
    "first": ("", "id of the grain the force acts on"),
    "second": ("", "its partner: id of a grain, index of a tool, or of a wall in the order of `World.wall_wrenches`"),
    "kind": ("", "of the partner: 0 a grain, 1 a tool, 2 a wall"),
    "force": ("N", "mean force on the first grain in the last substep"),
    "force_magnitude": ("N", "its length"),
    "torque": ("N m", "of rolling and twisting resistance on the first grain"),
    "normal": ("", "unit vector towards the first grain"),
    "point": ("m", "where the force acts"),
    "overlap": ("m", "how deep the two lie in each other, 0 where they do not; NaN: not searched"),
}


@dataclasses.dataclass(frozen=True)
class Contacts:
    """Contacts that carry a force.

    Attributes:
        ends: (n, 2, 3): centre of the first grain, and that of its partner, or the point where it touches a tool or a
            wall [m]. Across a periodic face the second end is the nearest image.
        fields: by the names of CONTACT_FIELDS, each (n,) or (n, 3).
    """

    ends: Array
    fields: Arrays


@dataclasses.dataclass(frozen=True)
class Surfaces:
    """Triangles of several bodies.

    Attributes:
        vertices: (n, 3) in the frame of the world [m].
        faces: (m, 3) indices of vertices, counter-clockwise from outside.
        owner: (m,) index of the tool, or id of the grain, of each triangle.
    """

    vertices: Array
    faces: Array
    owner: Array


def grain_fields(world: World, env: int) -> Arrays:
    """What is known of the grains of one env, by the names of GRAIN_FIELDS."""
    return {name: field.read(world, env) for name, field in GRAIN_FIELDS.items() if field.known(world)}


def contacts(world: World, env: int) -> Contacts | None:
    """The contacts of one env that carry a force; None: matter of this kind has no contacts to tell of."""
    if world.planar or world.continuous:
        return None
    found = world.contacts(env).pressing()
    first, partner = found.pairs.T
    number, tools = -1 - partner, world.tool_count
    kind = np.select([partner >= 0, number < tools], [GRAIN, TOOL], WALL).astype(np.int32)
    positions = world.positions[env].astype(np.float64)
    start, end = positions[first], found.points.astype(np.float64)
    grains = kind == GRAIN
    end[grains] = start[grains] + nearest_image(world, positions[partner[grains]] - start[grains])
    values: Arrays = {
        "first": first,
        "second": np.select([kind == GRAIN, kind == TOOL], [partner, number], number - tools).astype(np.int32),
        "kind": kind,
        "force": found.forces,
        "force_magnitude": np.linalg.norm(found.forces, axis=1),
        "torque": found.torques,
        "normal": found.normals,
        "point": found.points,
        "overlap": _overlaps(world, env, found.pairs),
    }
    return Contacts(np.stack([start, end], axis=1), {name: values[name] for name in CONTACT_FIELDS})


def nearest_image(world: World, offsets: Array) -> Array:
    """Offsets (n, 3) [m] across the nearest of the periodic faces."""
    arrays = world._frozen.arrays
    length = (arrays["upper"] - arrays["lower"]).astype(np.float64)
    periodic = arrays["boundary"][:, 0] == BOUNDARIES["periodic"]
    nearest: Array = offsets - np.where(periodic, length * np.round(offsets / length), 0.0)
    return nearest


def _overlaps(world: World, env: int, pairs: Array) -> NDArray[np.float32]:
    """How deep the two of each pair lie in each other [m]."""
    found = world.overlaps(env, tolerance=0.0)
    radii = world.radii[env]
    smaller = radii[found.pairs[:, 0]]
    grains = found.pairs[:, 1] >= 0
    smaller[grains] = np.minimum(smaller[grains], radii[found.pairs[grains, 1]])
    depths = dict(zip(map(tuple, found.pairs.tolist()), (found.depths * 2.0 * smaller).tolist(), strict=True))
    missing = 0.0 if found.complete else np.nan
    return np.array([depths.get(tuple(pair), missing) for pair in pairs.tolist()], np.float32)


class Bodies:
    """Surfaces of tools and planar grains in their poses; what they look like in their own frames is made once.

    Args:
        world: the world.
        env: index of the env.

    Raises:
        MissingError: the `exchange` extra is not installed.
    """

    def __init__(self, world: World, env: int) -> None:
        self._world, self._env = world, env
        found = (tool_surface(world._frozen, tool) for tool in range(world.tool_count))
        self._tools = [(vertices.astype(np.float64), faces) for vertices, faces in found]
        self._outlines: list[tuple[Array, Array]] = []
        if world.planar:
            planar = world._frozen.arrays["planar"]
            self._outlines = [filled(outline_rings(planar, k)) for k in range(len(planar["outline_integers"]))]

    @property
    def flat(self) -> bool:
        """Whether grains are shapes in the plane."""
        return self._world.planar

    def tools(self) -> Surfaces:
        """The tools that take part."""
        poses = self._world.tool_poses[self._env].astype(np.float64)
        active = self._world.tools_active[self._env]
        posed = [
            (rotate(pose[3:], vertices) + pose[:3], faces, tool)
            for tool, ((vertices, faces), pose) in enumerate(zip(self._tools, poses, strict=True))
            if active[tool]
        ]
        return _joined(posed)

    def shapes(self) -> Surfaces:
        """Planar grains as triangles in the plane z = 0; empty of grains in space."""
        if not self._outlines:
            return _joined([])
        arrays = self._world._frozen.arrays
        kinds = arrays["planar"]["material_outline"][arrays["grain_material"]]
        angles = self._world.angles[self._env].astype(np.float64)
        places = self._world.positions[self._env].astype(np.float64)
        posed = []
        for grain, (kind, angle, place) in enumerate(zip(kinds, angles, places, strict=True)):
            points, triangles = self._outlines[kind]
            c, s = np.cos(angle), np.sin(angle)
            turned = points @ np.array([[c, s], [-s, c]])
            posed.append((np.column_stack([turned, np.zeros(len(turned))]) + place, triangles, grain))
        return _joined(posed)


def filled(rings: list[Array]) -> tuple[Array, Array]:
    """A plane shape as triangles: its points (n, 2), and faces (m, 3), from its rings, holes among them."""
    from manifold3d import triangulate

    return np.concatenate(rings), np.asarray(triangulate([ring.astype(np.float64) for ring in rings]))


def _joined(parts: list[tuple[Array, Array, int]]) -> Surfaces:
    """One surface of vertices, faces and the number of their body."""
    vertices, faces, owner = [np.zeros((0, 3))], [np.zeros((0, 3), np.int64)], [np.zeros(0, np.int32)]
    count = 0
    for points, triangles, number in parts:
        vertices.append(points)
        faces.append(np.asarray(triangles, np.int64) + count)
        owner.append(np.full(len(triangles), number, np.int32))
        count += len(points)
    return Surfaces(np.concatenate(vertices).astype(np.float32), np.concatenate(faces), np.concatenate(owner))


def box_edges(world: World) -> tuple[Array, Array]:
    """Corners (8, 3) of the bounds [m], and its edges (12, 2)."""
    lower, upper = (world._frozen.arrays[name].astype(np.float64) for name in ("lower", "upper"))
    corners = lower + (upper - lower) * np.indices((2, 2, 2)).reshape(3, -1).T
    edges = [(a, b) for a in range(8) for b in range(a + 1, 8) if (corners[a] != corners[b]).sum() == 1]
    return corners, np.array(edges)
