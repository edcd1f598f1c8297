"""mesh.py: triangle meshes of tools: loading, repair and checks.

A tool's distance field takes its sign from the winding number of its mesh, so the mesh must define an inside. A mesh is
closed where the faces cancel along every edge: each direction of the edge is used as often as its opposite. Edges that
do not cancel are rims of holes. Small holes leave the winding number well defined and are accepted with a warning.
"""

from __future__ import annotations

import os
import warnings

import numpy as np
from numpy.typing import ArrayLike, NDArray

from granular_gym.base import checks
from granular_gym.errors import ArgumentError, MeshError
from granular_gym.shapes.mesh_formats import read_obj, read_ply, read_stl

# largest accepted width of a hole and length of all rims together, as fractions of the mesh's diagonal
HOLE_WIDTH_MAX = 0.05
HOLE_RIMS_MAX = 0.5
# vertices nearer than this fraction of the diagonal are merged where merging equal ones leaves the mesh open
MERGE_SHARE = 1e-6
# larger coordinates mean a broken file [m]
VERTEX_MAX = 1e9

_READERS = {".stl": read_stl, ".obj": read_obj, ".ply": read_ply}


class MeshWarning(UserWarning):
    """A mesh has small holes that were closed."""


class Mesh:
    """A triangle mesh; corners of a face are counter-clockwise seen from outside.

    Attributes:
        vertices: float64 (V, 3) [m], read-only.
        faces: int32 (F, 3), indices into `vertices`, read-only.
    """

    def __init__(self, vertices: ArrayLike, faces: ArrayLike) -> None:
        """Copies the arrays.

        Args:
            vertices: (V, 3) numbers [m].
            faces: (F, 3) integers from 0 to V - 1.

        Raises:
            MeshError: The arrays are empty, of another shape or type, not finite, or faces have indices out of range.
        """
        try:
            points = np.array(vertices, dtype=np.float64)
        except (TypeError, ValueError) as error:
            raise MeshError(f"vertices: numbers of shape (V, 3) expected: {error}") from None
        try:
            corners = np.asarray(faces)
        except (TypeError, ValueError) as error:
            raise MeshError(f"faces: integers of shape (F, 3) expected: {error}") from None
        if points.ndim != 2 or points.shape[1] != 3:
            raise MeshError(f"vertices: shape (V, 3) expected, got {points.shape}")
        if corners.ndim != 2 or corners.shape[1] != 3:
            raise MeshError(f"faces: shape (F, 3) expected, got {corners.shape}")
        if corners.dtype.kind not in "iu":
            raise MeshError(f"faces: integers expected, got {corners.dtype}")
        if len(points) == 0 or len(corners) == 0:
            raise MeshError(f"the mesh is empty: {len(points)} vertices, {len(corners)} faces")
        bad = np.flatnonzero(~(np.abs(points) <= VERTEX_MAX).all(axis=1))
        if len(bad):
            raise MeshError(
                f"vertices: finite numbers within {VERTEX_MAX:g} m expected, vertex {bad[0]} is "
                f"{points[bad[0]].tolist()} ({len(bad)} such vertices)"
            )
        wrong = np.flatnonzero(((corners < 0) | (corners >= len(points))).any(axis=1))
        if len(wrong):
            raise MeshError(
                f"faces: indices from 0 to {len(points) - 1} expected, face {wrong[0]} is {corners[wrong[0]].tolist()} "
                f"({len(wrong)} such faces)"
            )
        self.vertices = points
        self.faces: NDArray[np.int32] = corners.astype(np.int32)
        self.vertices.flags.writeable = False
        self.faces.flags.writeable = False

    @classmethod
    def load(cls, path: str | os.PathLike[str], scale: float = 1.0) -> Mesh:
        """The same as `load_mesh`."""
        return load_mesh(path, scale)

    def __repr__(self) -> str:
        """Numbers of vertices and faces."""
        return f"Mesh(vertices={len(self.vertices)}, faces={len(self.faces)})"

    @property
    def bounds(self) -> np.ndarray:
        """Lowest and highest corner of the box around all faces, (2, 3) [m]."""
        used = self.vertices[self.faces.reshape(-1)]
        return np.stack([used.min(axis=0), used.max(axis=0)])

    @property
    def diagonal(self) -> float:
        """Length of the diagonal of `bounds` [m]."""
        lower, upper = self.bounds
        return float(np.linalg.norm(upper - lower))

    @property
    def volume(self) -> float:
        """Enclosed volume [m3] by the divergence theorem: negative for an inverted mesh, approximate with holes."""
        corner = self.vertices[self.faces] - self.bounds.mean(axis=0)
        return float(np.einsum("ij,ij->i", corner[:, 0], np.cross(corner[:, 1], corner[:, 2])).sum() / 6.0)

    @property
    def area(self) -> float:
        """Sum of the areas of all faces [m2]."""
        return float(_face_areas(self).sum())

    @property
    def is_watertight(self) -> bool:
        """Whether the faces cancel along every edge: no holes, no face of opposite orientation to its neighbours."""
        return len(_rim_edges(self)) == 0

    def holes(self) -> np.ndarray:
        """Lengths of the rims of all holes, longest first, (H,) [m]; empty for a watertight mesh."""
        rims = _rim_edges(self)
        if len(rims) == 0:
            return np.zeros(0)
        lengths = np.linalg.norm(self.vertices[rims[:, 0]] - self.vertices[rims[:, 1]], axis=1)
        _, group = np.unique(_group_of_edges(rims), return_inverse=True)
        return np.sort(np.bincount(group.reshape(-1), weights=lengths))[::-1]

    def repair(self) -> Mesh:
        """A repaired mesh of the same solid.

        Merges duplicate vertices, drops degenerate and repeated faces and unused vertices, orients faces consistently,
        and turns an inverted mesh inside out.

        Raises:
            MeshError: No face is left, or the surface is not orientable.
        """
        mesh = _merged(self, 0.0)
        if not mesh.is_watertight:
            # some exporters leave rounding errors in the coordinates
            loose = _merged(self, MERGE_SHARE * self.diagonal)
            mesh = loose if loose.holes().sum() < mesh.holes().sum() else mesh
        if not mesh.is_watertight:
            mesh = Mesh(mesh.vertices, _oriented(mesh.faces))
        return Mesh(mesh.vertices, mesh.faces[:, ::-1]) if mesh.volume < 0.0 else mesh

    def check(self) -> None:
        """Refuses a mesh without a well-defined inside; warns of small holes (MeshWarning).

        Raises:
            MeshError: The mesh is open with a hole wider than HOLE_WIDTH_MAX or rims longer than HOLE_RIMS_MAX,
                relative to its diagonal, or it encloses no volume.
        """
        rims = self.holes()
        diagonal = self.diagonal
        if len(rims):
            width, total = rims[0] / np.pi, rims.sum()
            text = (
                f"{len(rims)} hole{'s' if len(rims) > 1 else ''}, the largest about {width:.3g} m wide, "
                f"in a mesh of {diagonal:.3g} m"
            )
            if width > HOLE_WIDTH_MAX * diagonal or total > HOLE_RIMS_MAX * diagonal:
                raise MeshError(
                    f"the mesh is open: {text}; holes up to {HOLE_WIDTH_MAX * diagonal:.3g} m wide with rims of "
                    f"{HOLE_RIMS_MAX * diagonal:.3g} m in all are accepted"
                )
            warnings.warn(f"the mesh has {text}; they are closed by the winding number", MeshWarning, stacklevel=2)
        if not abs(self.volume) > 1e-9 * diagonal * self.area:
            raise MeshError(f"the mesh encloses no volume: {self.volume:.3g} m3 within {self.area:.3g} m2 of surface")


def load_mesh(path: str | os.PathLike[str], scale: float = 1.0) -> Mesh:
    """Reads an STL, OBJ or PLY file, repairs the mesh and checks it.

    Args:
        path: File; its suffix .stl, .obj or .ply names the format.
        scale: Metres per unit of the file, 0.001 for millimetres.

    Returns:
        The mesh in metres, faces oriented outwards.

    Raises:
        MeshError: The file is missing, truncated or of another format, or its mesh cannot be used.
    """
    try:
        file = checks.path("path", path)
    except ArgumentError as error:
        raise MeshError(str(error)) from None
    reader = _READERS.get(file.suffix.lower())
    if reader is None:
        raise MeshError(f"path: a .stl, .obj or .ply file expected, got {str(path)!r}")
    try:
        scale = checks.number("scale", scale, 0.0, above=True)
    except ArgumentError as error:
        raise MeshError(str(error)) from None
    try:
        data = file.read_bytes()
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise MeshError(f"path: a readable file expected, {str(path)!r}: {reason}") from error
    if not data:
        raise MeshError(f"{str(path)!r}: the file is empty")
    try:
        vertices, faces = reader(data)
        mesh = Mesh(vertices * scale, faces).repair()
        mesh.check()
    except MeshError as error:
        raise MeshError(f"{str(path)!r}: {error}") from error
    return mesh


def save_stl(path: str | os.PathLike[str], mesh: Mesh) -> None:
    """Writes a binary STL: float32 corners [m], the same bytes for the same mesh."""
    checks.instance("mesh", mesh, Mesh)
    facets = np.zeros(len(mesh.faces), dtype=np.dtype([("v", "<f4", (4, 3)), ("attribute", "<u2")]))
    corner = mesh.vertices[mesh.faces]
    normal = np.cross(corner[:, 1] - corner[:, 0], corner[:, 2] - corner[:, 0])
    length = np.linalg.norm(normal, axis=1, keepdims=True)
    facets["v"][:, 0] = np.divide(normal, length, out=np.zeros_like(normal), where=length > 0.0)
    facets["v"][:, 1:] = corner
    header = b"binary STL, metres".ljust(80, b"\0") + len(facets).to_bytes(4, "little")
    checks.path("path", path).write_bytes(header + facets.tobytes())


# ---- edges ----


def _face_areas(mesh: Mesh) -> np.ndarray:
    corner = mesh.vertices[mesh.faces]
    result: np.ndarray = 0.5 * np.linalg.norm(
        np.cross(corner[:, 1] - corner[:, 0], corner[:, 2] - corner[:, 0]), axis=1
    )
    return result


def _directed_edges(faces: np.ndarray) -> np.ndarray:
    """Edges of all faces, (3 F, 2): edge k of face f has index 3 f + k."""
    return faces[:, [0, 1, 1, 2, 2, 0]].reshape(-1, 2)


def _rim_edges(mesh: Mesh) -> np.ndarray:
    """Edges along which the faces do not cancel, (R, 2)."""
    edges = _directed_edges(mesh.faces)
    forward = np.sign(edges[:, 1].astype(np.int64) - edges[:, 0])
    edges = np.sort(edges, axis=1)
    _, first, group = np.unique(
        edges[:, 0] * np.int64(len(mesh.vertices)) + edges[:, 1], return_index=True, return_inverse=True
    )
    balance = np.bincount(group.reshape(-1), weights=forward)
    result: np.ndarray = edges[first[balance != 0.0]]
    return result


def _group_of_edges(edges: np.ndarray) -> np.ndarray:
    """Connected component of each edge, labelled by its lowest vertex, (E,)."""
    _, index = np.unique(edges, return_inverse=True)
    ends = index.reshape(edges.shape)
    label = np.arange(ends.max() + 1)
    while True:
        lowest = label[ends].min(axis=1)
        before = label.copy()
        np.minimum.at(label, ends[:, 0], lowest)
        np.minimum.at(label, ends[:, 1], lowest)
        # pointer jumping: a label is a vertex, whose own label is nearer to the lowest
        label = label[label]
        if np.array_equal(label, before):
            return label[ends[:, 0]]


# ---- repair ----


def _merged(mesh: Mesh, tolerance: float) -> Mesh:
    """Merges vertices that are equal, or round to the same multiple of the tolerance; drops degenerate faces."""
    keys = mesh.vertices + 0.0 if tolerance <= 0.0 else np.round(mesh.vertices / tolerance)
    _, first, group = np.unique(keys, axis=0, return_index=True, return_inverse=True)
    faces = first[group.reshape(-1)][mesh.faces]
    a, b, c = faces.T
    faces = faces[(a != b) & (b != c) & (c != a)]
    # repeated faces of the same orientation are one
    lead = np.argmin(faces, axis=1)[:, None]
    turned = np.take_along_axis(faces, (lead + np.arange(3)) % 3, axis=1)
    _, keep = np.unique(turned, axis=0, return_index=True)
    faces = faces[np.sort(keep)]
    if len(faces) == 0:
        raise MeshError(f"the mesh is empty: all of its {len(mesh.faces)} faces are degenerate")
    merged = _without_unused(mesh.vertices, faces)
    # drop faces without area, unless they close the gap at a T-junction
    flat = _face_areas(merged) <= 1e-14 * merged.diagonal**2
    if flat.any() and not flat.all():
        kept = _without_unused(merged.vertices, merged.faces[~flat])
        if kept.holes().sum() <= merged.holes().sum():
            return kept
    return merged


def _without_unused(vertices: np.ndarray, faces: np.ndarray) -> Mesh:
    """A mesh of the faces, without the vertices that none of them uses."""
    used, index = np.unique(faces, return_inverse=True)
    return Mesh(vertices[used], index.reshape(faces.shape))


def _oriented(faces: np.ndarray) -> np.ndarray:
    """Faces (F, 3) oriented so that neighbours across an edge agree; each piece keeps the orientation of most faces.

    Raises:
        MeshError: A piece is not orientable, as a Moebius strip.
    """
    edges = _directed_edges(faces)
    low = np.sort(edges, axis=1)
    _, group, count = np.unique(low, axis=0, return_inverse=True, return_counts=True)
    order = np.argsort(group.reshape(-1), kind="stable")
    start = np.concatenate([[0], np.cumsum(count)[:-1]])[count == 2]
    one, two = order[start], order[start + 1]
    agree = edges[one, 0] != edges[two, 0]
    if agree.all():
        return faces
    neighbours: list[list[tuple[int, bool]]] = [[] for _ in range(len(faces))]
    for f, g, same in zip((one // 3).tolist(), (two // 3).tolist(), agree.tolist(), strict=True):
        neighbours[f].append((g, same))
        neighbours[g].append((f, same))
    # 1: as given, -1: turned, 0: not visited
    side = np.zeros(len(faces), dtype=np.int8)
    for seed in range(len(faces)):
        if side[seed]:
            continue
        side[seed] = 1
        piece = [seed]
        for f in piece:
            for g, same in neighbours[f]:
                wanted = side[f] if same else -side[f]
                if side[g] == 0:
                    side[g] = wanted
                    piece.append(g)
                elif side[g] != wanted:
                    raise MeshError(f"the surface has one side only: faces {f} and {g} cannot be turned to agree")
        if side[piece].sum() < 0:
            side[piece] *= -1
    result = faces.copy()
    result[side < 0] = faces[side < 0][:, ::-1]
    answer: np.ndarray = result
    return answer
