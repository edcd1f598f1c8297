"""sdf.py: signed distance fields (SDFs) of tools: primitives, SDF grids from meshes, and their composition.

An Sdf is a tuple of parts, each one field with a pose. The engine finds one contact per grain and part: a container has
one part per side, as a single field gives the contact with the nearest side only. Distances are positive outside.

Outside the box of an SDF grid the engine has only a lower bound of the distance (csrc/geometry/sdf.h). The field of a
mesh therefore keeps the mesh: `SdfGrid.reaching` samples it as far out as the grains of a scene are wide.
"""

from __future__ import annotations

import collections
import dataclasses
import functools
import hashlib
import io
import math
import os
import zipfile
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from granular_gym import _core
from granular_gym.base import cache, checks, rotations
from granular_gym.errors import ArgumentError, StateError
from granular_gym.shapes.mesh import Mesh, load_mesh

#: values of gg_shape_kind
KINDS = {"plane": 1, "box": 2, "sphere": 3, "capsule": 4, "cylinder": 5, "cone": 6, "grid": 7, "cavity": 8}
#: version of the files of grids
_FORMAT = 1
_IDENTITY = (0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0)
#: most samples of one grid: 1 GiB
_LARGEST_GRID = 2**28
_LARGEST_SIDE = 4096
#: a clearance this share too small passes, as coordinates are rounded
_ROUNDING = 1e-4
#: bytes that a file may unpack to: the samples of the largest grid, and as much for its mesh
_LARGEST_FILE = 8 * _LARGEST_GRID


@dataclasses.dataclass(frozen=True, eq=False)
class SdfGrid:
    """Samples of a signed distance field on a regular grid.

    Attributes:
        samples: float32 (nz, ny, nx) [m].
        spacing: distance between samples [m].
        origin: position of sample (0, 0, 0), x y z [m].
        source: hash of the mesh it was made from, or "".
        sampling: how it was sampled from a mesh; None: the samples are all there is.
    """

    samples: NDArray[np.float32]
    spacing: float
    origin: tuple[float, float, float]
    source: str = ""
    sampling: MeshSampling | None = dataclasses.field(default=None, repr=False)

    def __post_init__(self) -> None:
        samples = checks.floats("samples", self.samples, (None, None, None)).copy()
        if min(samples.shape) < 2 or max(samples.shape) > _LARGEST_SIDE or samples.size > _LARGEST_GRID:
            raise ArgumentError(f"samples: expected 2 .. {_LARGEST_SIDE} samples along each axis, got {samples.shape}")
        if self.sampling is not None and not isinstance(self.sampling, MeshSampling):
            raise ArgumentError(f"sampling: expected a MeshSampling or None, got {type(self.sampling).__name__}")
        samples.flags.writeable = False
        checks.instance("source", self.source, str)
        origin = checks.vector("origin", self.origin)
        object.__setattr__(self, "samples", samples)
        object.__setattr__(self, "spacing", checks.number("spacing", self.spacing, 0.0, above=True))
        object.__setattr__(self, "origin", tuple(float(x) for x in origin))

    def __repr__(self) -> str:
        """Numbers of samples along x, y, z, and their distance."""
        nz, ny, nx = self.samples.shape
        return f"SdfGrid({nx} x {ny} x {nz} samples, spacing {self.spacing:.6g} m)"

    def digest(self) -> str:
        """SHA-256 of samples, spacing and origin."""
        head = repr((self.samples.shape, self.spacing, self.origin)).encode()
        return hashlib.sha256(head + self.samples.tobytes()).hexdigest()

    @functools.cached_property
    def clearance(self) -> float:
        """Smallest sample on the faces of its box [m]: every point outside is at least this far from the solid.

        Negative where the box cuts the solid, of which nothing is then known outside.
        """
        x, y, z = self.samples[..., [0, -1]], self.samples[:, [0, -1]], self.samples[[0, -1]]
        return float(min(x.min(), y.min(), z.min()))

    def reaches(self, distance: float) -> bool:
        """Whether all points within a distance [m] of the solid lie in its box."""
        return self.clearance >= distance * (1.0 - _ROUNDING)

    def reaching(self, distance: float) -> SdfGrid:
        """The same field in a box that holds all points within a distance [m] of its solid.

        This grid where its box does, and where it has no mesh to be sampled from again.

        Raises:
            ArgumentError: that needs more samples than a grid may have.
        """
        if self.sampling is None or self.reaches(distance):
            return self
        return self.sampling.grid(math.ceil(distance / self.spacing * (1.0 - _ROUNDING)))


@dataclasses.dataclass(frozen=True, eq=False)
class MeshSampling:
    """A mesh and how it is sampled.

    Attributes:
        mesh: repaired and checked.
        spacing: distance between samples [m].
        cache: whether grids are read from the cache on disk and stored there.
        num_threads: threads to use; 0: one per usable core.
    """

    mesh: Mesh
    spacing: float
    cache: bool
    num_threads: int
    _made: dict[int, SdfGrid] = dataclasses.field(default_factory=dict, repr=False)

    def __getstate__(self) -> dict[str, Any]:
        # grids are made again where they are needed
        return {**self.__dict__, "_made": {}}

    def grid(self, padding: int) -> SdfGrid:
        """The field of the mesh with so many samples around its bounding box; each is made once."""
        if padding not in self._made:
            self._made[padding] = _mesh_grid(self, padding)
        return self._made[padding]


@dataclasses.dataclass(frozen=True, eq=False)
class SdfPart:
    """One field with a pose.

    Attributes:
        kind: a key of KINDS.
        size: up to four lengths [m], by kind.
        pose: x y z qw qx qy qz of the part's frame in the tool's frame.
        grid: the samples, for the kind "grid".
    """

    kind: str
    size: tuple[float, ...] = ()
    pose: tuple[float, ...] = _IDENTITY
    grid: SdfGrid | None = None

    def __repr__(self) -> str:
        """Kind, lengths and position [m]; the turn only where there is one."""
        numbers = [f"{x:.6g}" for x in self.size] if self.grid is None else [repr(self.grid)]
        if self.pose != _IDENTITY:
            numbers += ["at (" + ", ".join(f"{x:.4g}" for x in self.pose[:3]) + ")"]
        if tuple(self.pose[3:]) != _IDENTITY[3:]:
            numbers += ["turned by (" + ", ".join(f"{x:.4g}" for x in self.pose[3:]) + ")"]
        return f"{self.kind}({', '.join(numbers)})"


def _length(name: str, value: Any) -> float:
    return checks.number(name, value, 0.0, above=True)


@dataclasses.dataclass(frozen=True, eq=False)
class Sdf:
    """A solid of one or more parts, made by the class methods; immutable.

    Attributes:
        parts: the parts, in order.
    """

    parts: tuple[SdfPart, ...]

    def __repr__(self) -> str:
        """The part, or how many there are of each kind."""
        if len(self.parts) == 1:
            return f"Sdf({self.parts[0]!r})"
        kinds = collections.Counter(part.kind for part in self.parts)
        return f"Sdf({len(self.parts)} parts: " + ", ".join(f"{count} {kind}" for kind, count in kinds.items()) + ")"

    # ---- primitives ----

    @classmethod
    def plane(cls, normal: Any = (0.0, 0.0, 1.0), offset: float = 0.0) -> Sdf:
        """The half-space of points p with normal . p < offset.

        Args:
            normal: direction out of the solid (3,); need not be a unit vector.
            offset: distance of the plane from the origin along the normal [m].
        """
        direction = checks.vector("normal", normal).astype(np.float64)
        length = float(np.linalg.norm(direction))
        if length < 1e-9:
            raise ArgumentError(f"normal: expected a direction, got {normal!r}")
        direction /= length
        position = direction * checks.number("offset", offset)
        return cls((SdfPart("plane", (), tuple(map(float, (*position, *rotations.from_z_to(direction))))),))

    @classmethod
    def box(cls, half_extents: Any) -> Sdf:
        """A box around the origin.

        Args:
            half_extents: half of its lengths along x, y, z [m].
        """
        half = checks.vector("half_extents", half_extents)
        if not (half > 0).all():
            raise ArgumentError(f"half_extents: expected three lengths > 0, got {half.tolist()}")
        return cls((SdfPart("box", tuple(map(float, half))),))

    @classmethod
    def sphere(cls, radius: float) -> Sdf:
        """A sphere around the origin; radius [m]."""
        return cls((SdfPart("sphere", (_length("radius", radius),)),))

    @classmethod
    def capsule(cls, radius: float, half_length: float) -> Sdf:
        """All points within `radius` [m] of the segment from -half_length to half_length [m] on the z axis."""
        size = _length("radius", radius), checks.number("half_length", half_length, 0.0)
        return cls((SdfPart("capsule", size),))

    @classmethod
    def cylinder(cls, radius: float, half_height: float) -> Sdf:
        """A cylinder along z; radius and half height [m]."""
        return cls((SdfPart("cylinder", (_length("radius", radius), _length("half_height", half_height))),))

    @classmethod
    def cone(cls, radius_lower: float, radius_upper: float, half_height: float) -> Sdf:
        """A frustum along z; radii at -half_height and +half_height [m], one of them may be 0."""
        radii = checks.number("radius_lower", radius_lower, 0.0), checks.number("radius_upper", radius_upper, 0.0)
        if max(radii) <= 0.0:
            raise ArgumentError("radius_lower: expected one of the two radii > 0, got 0 and 0")
        return cls((SdfPart("cone", (*radii, _length("half_height", half_height))),))

    @classmethod
    def cavity(cls, radius: float) -> Sdf:
        """An infinite tube along z: everything further than `radius` [m] from the axis is solid."""
        return cls((SdfPart("cavity", (_length("radius", radius),)),))

    @classmethod
    def from_grid(cls, grid: SdfGrid) -> Sdf:
        """The field of an SDF grid."""
        return cls((SdfPart("grid", (), _IDENTITY, checks.instance("grid", grid, SdfGrid)),))

    # ---- meshes and files ----

    @classmethod
    def from_mesh(
        cls,
        mesh: Mesh | str | os.PathLike[str],
        *,
        spacing: float,
        padding: int = 2,
        cache: bool = True,
        num_threads: int | None = None,
    ) -> Sdf:
        """The distance field of a triangle mesh, sampled on a grid.

        Distances are exact at the samples; the sign comes from the winding number, so small holes and
        self-intersections are accepted. The cost of a query does not depend on the number of triangles.

        Args:
            mesh: a Mesh or the path of an STL, OBJ or PLY file; metres.
            spacing: distance between samples [m]; the radius of a grain or less keeps edges sharp.
            padding: samples around the bounding box, >= 1; a world samples on to the diameter of its largest grain.
            cache: read the grid from the cache on disk, or store it there.
            num_threads: threads to use; None: one per usable core.

        Raises:
            MeshError: the mesh cannot be used; the message names the fault.
            ArgumentError: a spacing above the thinnest side of the mesh's bounding box, or one that gives too many
                samples.
        """
        if isinstance(mesh, (str, os.PathLike)):
            mesh = load_mesh(mesh)
        elif isinstance(mesh, Mesh):
            mesh = mesh.repair()
            mesh.check()
        else:
            raise ArgumentError(f"mesh: expected a Mesh or a path, got {type(mesh).__name__}")
        step = float(np.float32(_length("spacing", spacing)))
        around = checks.integer("padding", padding, 1, _LARGEST_SIDE // 2)
        threads = checks.threads(num_threads) or 0
        return cls.from_grid(MeshSampling(mesh, step, checks.flag("cache", cache), threads).grid(around))

    @classmethod
    def from_file(cls, path: str | os.PathLike[str]) -> Sdf:
        """Reads a file that `save` wrote.

        Raises:
            OSError: the file cannot be read.
            StateError: it is another file, of another version, or damaged.
        """
        return cls.from_grid(_read_grid(checks.path("path", path).read_bytes(), str(path)))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the field of a grid, and the mesh it was sampled from, to an .npz file that `from_file` reads.

        Raises:
            ArgumentError: this Sdf is not one grid in its own frame.
            OSError: the file cannot be written.
        """
        if len(self.parts) != 1 or self.parts[0].grid is None or self.parts[0].pose != _IDENTITY:
            raise ArgumentError("save: expected an Sdf of one grid without a pose; primitives need no file")
        grid = self.parts[0].grid
        sampled = grid.sampling.mesh if grid.sampling else None
        cache.write_atomic(checks.path("path", path), _grid_bytes(grid, sampled))

    # ---- composition ----

    def at(self, position: Any = (0.0, 0.0, 0.0), quaternion: Any = (1.0, 0.0, 0.0, 0.0)) -> Sdf:
        """The solid, turned by a quaternion w x y z, then translated by `position` [m]."""
        translation = checks.vector("position", position).astype(np.float64)
        given = checks.floats("quaternion", quaternion, (4,))
        turn = checks.unit_quaternions("quaternion", given).astype(np.float64)
        parts = []
        for part in self.parts:
            old = np.array(part.pose)
            moved = rotations.rotate(turn, old[:3]) + translation
            pose = tuple(float(x) for x in (*moved, *rotations.multiply(turn, old[3:])))
            parts.append(dataclasses.replace(part, pose=pose))
        return Sdf(tuple(parts))

    @staticmethod
    def union(*solids: Sdf | Iterable[Sdf]) -> Sdf:
        """One solid of all parts of several."""
        return as_sdf("union", *solids)


def as_sdf(name: str, *values: Sdf | Iterable[Sdf]) -> Sdf:
    """One Sdf from those given one by one or in lists."""
    parts: list[SdfPart] = []
    for value in values:
        each: list[Any]
        try:
            each = [value] if isinstance(value, Sdf) else list(value)
        except TypeError:
            each = [value]
        for one in each:
            if not isinstance(one, Sdf):
                raise ArgumentError(f"{name}: expected an Sdf or a list of Sdf objects, got {type(one).__name__}")
            parts.extend(one.parts)
    if not parts:
        raise ArgumentError(f"{name}: expected at least one Sdf, got none")
    return Sdf(tuple(parts))


def _mesh_digest(mesh: Mesh) -> str:
    vertices, faces = np.asarray(mesh.vertices, np.float64), np.asarray(mesh.faces, np.int32)
    head = repr((vertices.shape, faces.shape)).encode()
    return hashlib.sha256(head + vertices.tobytes() + faces.tobytes()).hexdigest()


def _mesh_grid(sampling: MeshSampling, padding: int) -> SdfGrid:
    """Samples the distance field of a mesh, or reads the samples from the cache."""
    mesh, spacing = sampling.mesh, sampling.spacing
    vertices = np.ascontiguousarray(mesh.vertices, np.float64)
    faces = np.ascontiguousarray(mesh.faces, np.int32)
    lower, upper = mesh.bounds
    thinnest = float((upper - lower).min())
    if spacing > thinnest:
        raise ArgumentError(f"spacing: expected at most the mesh's thinnest side, {thinnest:g} m, got {spacing:g}")
    cells = np.ceil((upper - lower) / spacing)
    if not np.isfinite(cells).all() or (cells + 1 + 2 * padding > _LARGEST_SIDE).any():
        raise ArgumentError(
            f"spacing: expected at most {_LARGEST_SIDE} samples along each axis, {spacing:g} m gives "
            f"{cells.max() + 1 + 2 * padding:.0f}, {2 * padding} of them as padding"
        )
    counts = cells.astype(np.int64) + 1 + 2 * padding
    if int(counts.prod()) > _LARGEST_GRID:
        raise ArgumentError(
            f"spacing: expected at most {_LARGEST_GRID} samples, {spacing:g} m gives {counts.prod()} with "
            f"{padding} samples of padding on each side"
        )
    # the grid is centred on the mesh, so that symmetric meshes have symmetric fields
    start = 0.5 * (lower + upper) - 0.5 * spacing * (counts - 1)
    x, y, z = (float(np.float32(value)) for value in start)
    origin = (x, y, z)
    source = _mesh_digest(mesh)
    key = hashlib.sha256(repr((_FORMAT, _core.build_info()["version"], source, spacing, padding)).encode()).hexdigest()
    path = cache.cache_dir() / "sdf" / f"{key}.npz"
    if sampling.cache:
        try:
            return _read_grid(path.read_bytes(), str(path), sampling)
        except (OSError, StateError):
            pass
    nx, ny, nz = (int(n) for n in counts)
    samples = _core.mesh_to_grid(vertices, faces, spacing, origin, (nx, ny, nz), sampling.num_threads)
    grid = SdfGrid(samples, spacing, origin, source, sampling)
    if sampling.cache:
        cache.store(path, _grid_bytes(grid, None))
    return grid


def _grid_bytes(grid: SdfGrid, mesh: Mesh | None) -> bytes:
    """The content of a file: samples, and the mesh they came from if it is given."""
    extra: dict[str, Any] = {} if mesh is None else {"vertices": mesh.vertices, "faces": mesh.faces}
    buffer = io.BytesIO()
    np.savez_compressed(
        buffer,
        format=np.array(["granular_gym.sdf", str(_FORMAT)]),
        samples=grid.samples,
        spacing=np.array(grid.spacing),
        origin=np.array(grid.origin),
        source=np.array(grid.source),
        digest=np.array(grid.digest()),
        **extra,
    )
    return buffer.getvalue()


def _read_grid(data: bytes, name: str, sampling: MeshSampling | None = None) -> SdfGrid:
    """A grid from the content of a file; StateError where it is damaged or of another version.

    Args:
        data: the content.
        name: of the file, for messages.
        sampling: of the mesh it was sampled from; None: what the file says, and files of older versions say nothing.
    """
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            size = sum(entry.file_size for entry in archive.infolist())
        if size > _LARGEST_FILE:
            raise StateError(f"{name}: expected a grid of at most {_LARGEST_FILE} bytes, the file unpacks to {size}")
        with np.load(io.BytesIO(data), allow_pickle=False) as file:
            fields = {key: file[key] for key in file.files}
        if fields["format"].tolist() != ["granular_gym.sdf", str(_FORMAT)]:
            raise StateError(f"{name}: expected a grid of version {_FORMAT}, got {fields['format'].tolist()}")
        x, y, z = (float(value) for value in fields["origin"])
        spacing, source, whole = float(fields["spacing"]), str(fields["source"]), True
        if sampling is None and "vertices" in fields:
            mesh = Mesh(fields["vertices"], fields["faces"])
            whole = _mesh_digest(mesh) == source
            sampling = MeshSampling(mesh, spacing, True, 0)
        grid = SdfGrid(fields["samples"], spacing, (x, y, z), source, sampling)
        whole = whole and grid.digest() == str(fields["digest"])
    except StateError:
        raise
    except Exception as error:  # zipfile and zlib raise many kinds
        raise StateError(f"{name}: expected a grid written by Sdf.save, it is damaged ({error})") from error
    if not whole:
        raise StateError(f"{name}: expected a grid written by Sdf.save, its checksum does not fit")
    return grid
