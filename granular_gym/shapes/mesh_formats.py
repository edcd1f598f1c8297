"""mesh_formats.py: readers of the mesh files STL, OBJ and PLY.

Each reader takes the bytes of a file and returns raw arrays: vertices float64 (V, 3) and faces int64 (F, 3). Convex
polygons are triangulated as fans, others ear by ear. Counts are checked against the size of the file before memory is
allocated for them. Whether the arrays are a valid mesh is checked in mesh.py.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import numpy as np

from granular_gym.errors import MeshError

Arrays = tuple[np.ndarray, np.ndarray]

_STL_FACET = np.dtype([("normal", "<f4", 3), ("corner", "<f4", (3, 3)), ("attribute", "<u2")])
_STL_VERTEX = re.compile(rb"\bvertex\s+(\S+)\s+(\S+)\s+(\S+)", re.IGNORECASE)
_PLY_TYPES = {
    "char": "i1",
    "int8": "i1",
    "uchar": "u1",
    "uint8": "u1",
    "short": "i2",
    "int16": "i2",
    "ushort": "u2",
    "uint16": "u2",
    "int": "i4",
    "int32": "i4",
    "uint": "u4",
    "uint32": "u4",
    "float": "f4",
    "float32": "f4",
    "double": "f8",
    "float64": "f8",
}
#: area of a triangle that faces the other way, over that of its polygon, that roundings make
_FLAT = 1e-9


def _numbers(tokens: list[bytes], what: str) -> np.ndarray:
    """Tokens as float64; MeshError, which begins with `what`, for a token that is no number."""
    try:
        return np.array(tokens, dtype=np.float64)
    except ValueError:
        for token in tokens:
            try:
                float(token)
            except ValueError:
                raise MeshError(f"{what}: a number expected, got {token[:40].decode('ascii', 'replace')!r}") from None
        raise


# ---- polygons ----


def _triangles(polygons: list[Any], vertices: np.ndarray) -> np.ndarray:
    """Triangles (F, 3) of polygons in their order. Where one is not convex a fan may reach beyond it: its surface would
    be met where there is none."""
    folded = _folded(polygons, vertices)
    faces: list[tuple[int, int, int]] = []
    for number, corner in enumerate(polygons):
        if number in folded:
            faces.extend(_ears([int(index) for index in corner], vertices))
        else:
            faces.extend((int(corner[0]), int(corner[i]), int(corner[i + 1])) for i in range(1, len(corner) - 1))
    return np.array(faces, dtype=np.int64).reshape(-1, 3)


def _folded(polygons: list[Any], vertices: np.ndarray) -> set[int]:
    """Indices of the polygons whose fans have triangles that face the other way. Those with indices out of range are
    refused later."""
    sizes = np.array([len(corner) for corner in polygons], dtype=np.int64)
    found: set[int] = set()
    for size in np.unique(sizes[sizes > 3]):
        which = np.flatnonzero(sizes == size)
        corner = np.array([polygons[k] for k in which], dtype=np.int64)
        known = ((corner >= 0) & (corner < len(vertices))).all(axis=1)
        which, points = which[known], vertices[corner[known]]
        with np.errstate(all="ignore"):
            spokes = points[:, 1:] - points[:, :1]
            each = np.cross(spokes[:, :-1], spokes[:, 1:])
            normal = each.sum(axis=1)
            facing = np.einsum("ijk,ik->ij", each, normal)
            found.update(which[facing.min(axis=1) < -_FLAT * (normal * normal).sum(axis=1)].tolist())
    return found


def _ears(corner: list[int], vertices: np.ndarray) -> list[tuple[int, int, int]]:
    """Triangles of one polygon: corners are cut off, one after the other, that no other one lies in."""
    points = vertices[corner] - vertices[corner[0]]
    normal = np.cross(points, np.roll(points, -1, axis=0)).sum(axis=0)
    # seen along the axis that it faces most, counter-clockwise
    axis = int(np.abs(normal).argmax())
    plane = points[:, [(axis + 1) % 3, (axis + 2) % 3]]
    plane = plane[:, ::-1] if normal[axis] < 0.0 else plane

    def side(a: np.ndarray, b: np.ndarray, c: np.ndarray) -> np.ndarray:
        result: np.ndarray = (b[0] - a[0]) * (c[..., 1] - a[1]) - (b[1] - a[1]) * (c[..., 0] - a[0])
        return result

    left, faces = list(range(len(corner))), []
    while len(left) > 3:
        ends = [(left[k - 1], left[k], left[(k + 1) % len(left)]) for k in range(len(left))]
        turns = np.array([float(side(plane[a], plane[b], plane[c])) for a, b, c in ends])
        # first those with an area, then those that lie on a line
        for k in [*np.flatnonzero(turns > 0.0), *np.flatnonzero(turns == 0.0)]:
            a, b, c = (plane[each] for each in ends[k])
            others = plane[left]
            others = others[~(others[:, None] == np.stack([a, b, c])).all(axis=2).any(axis=1)]
            within = (side(a, b, others) >= 0.0) & (side(b, c, others) >= 0.0) & (side(c, a, others) >= 0.0)
            if turns[k] == 0.0 or not within.any():
                break
        else:
            # it crosses itself: no triangles are right
            break
        faces.append((corner[ends[k][0]], corner[ends[k][1]], corner[ends[k][2]]))
        left.pop(int(k))
    faces.extend((corner[left[0]], corner[left[i]], corner[left[i + 1]]) for i in range(1, len(left) - 1))
    return faces


# ---- STL ----


def read_stl(data: bytes) -> Arrays:
    """STL, binary or ASCII; three vertices for each facet.

    A binary file is recognised by its size, 84 + 50 bytes per facet: some begin with the word "solid" too.
    """
    if len(data) >= 84:
        count = int.from_bytes(data[80:84], "little")
        if len(data) == 84 + 50 * count:
            corners = np.frombuffer(data, dtype=_STL_FACET, offset=84)["corner"].astype(np.float64).reshape(-1, 3)
            return corners, np.arange(len(corners), dtype=np.int64).reshape(-1, 3)
    head = data[:1024].lower()
    if head.lstrip().startswith(b"solid") and (b"facet" in head or b"endsolid" in head):
        return _read_stl_ascii(data)
    if len(data) < 84:
        raise MeshError(f"STL: at least 84 bytes of a binary file expected, got {len(data)}: the file is truncated")
    raise MeshError(
        f"STL: the header counts {count} facets, which takes {84 + 50 * count} bytes, got {len(data)}: "
        f"the file is {'truncated' if len(data) < 84 + 50 * count else 'too long or its count is wrong'}"
    )


def _read_stl_ascii(data: bytes) -> Arrays:
    words = _STL_VERTEX.findall(data)
    lower = data.lower()
    facets = len(re.findall(rb"\bendfacet\b", lower))
    if not re.search(rb"\bendsolid\b", lower):
        raise MeshError(f"STL: no 'endsolid' after {facets} facets: the file is truncated")
    if len(words) != 3 * facets:
        raise MeshError(f"STL: 3 vertices for each of {facets} facets expected, got {len(words)} vertices")
    corners = _numbers([word for vertex in words for word in vertex], "STL vertex").reshape(-1, 3)
    return corners, np.arange(len(corners), dtype=np.int64).reshape(-1, 3)


# ---- OBJ ----


def read_obj(data: bytes) -> Arrays:
    """Wavefront OBJ: `v` and `f` lines; everything else (normals, texture, groups, materials) is skipped."""
    vertices: list[tuple[float, float, float]] = []
    polygons: list[list[int]] = []
    for number, line in enumerate(data.replace(b"\\\r\n", b" ").replace(b"\\\n", b" ").splitlines(), start=1):
        words = line.split(b"#", 1)[0].split()
        if not words:
            continue
        if words[0] == b"v":
            if len(words) < 4:
                raise MeshError(f"OBJ line {number}: 3 coordinates expected, got {len(words) - 1}")
            x, y, z = _numbers(words[1:4], f"OBJ line {number}").tolist()
            vertices.append((x, y, z))
        elif words[0] == b"f":
            if len(words) < 4:
                raise MeshError(f"OBJ line {number}: a face of at least 3 corners expected, got {len(words) - 1}")
            polygons.append([_obj_index(word, len(vertices), number) for word in words[1:]])
    points = np.array(vertices, dtype=np.float64).reshape(-1, 3)
    return points, _triangles(polygons, points)


def _obj_index(word: bytes, vertex_count: int, number: int) -> int:
    """Index from 0 of `7`, `7/1`, `7//3` or `-1` (counted back from the latest vertex)."""
    try:
        index = int(word.split(b"/", 1)[0])
    except ValueError:
        text = word[:40].decode("ascii", "replace")
        raise MeshError(f"OBJ line {number}: a vertex number expected, got {text!r}") from None
    if index == 0 or index < -vertex_count or abs(index) > 2**31:
        raise MeshError(f"OBJ line {number}: vertex {index} does not exist, {vertex_count} vertices so far")
    return index - 1 if index > 0 else vertex_count + index


# ---- PLY ----


@dataclass
class _PlyProperty:
    name: str
    kind: str  # numpy type without byte order
    count_kind: str | None = None  # numpy type of a list's length; None: not a list


@dataclass
class _PlyElement:
    name: str
    count: int
    properties: list[_PlyProperty]

    def has_lists(self) -> bool:
        return any(p.count_kind for p in self.properties)


def read_ply(data: bytes) -> Arrays:
    """PLY: ASCII, binary little or big endian; vertex x y z and face vertex_indices, other properties are skipped."""
    end = re.search(rb"^end_header[ \t]*\r?\n", data, re.MULTILINE)
    if not data.startswith(b"ply") or not end:
        raise MeshError("PLY: a header from 'ply' to 'end_header' expected: not a PLY file, or truncated")
    encoding, elements = _ply_header(data[: end.start()].decode("ascii", "replace"))
    body = data[end.end() :]
    if encoding == "ascii":
        tables = _ply_ascii(body, elements)
    else:
        tables = _ply_binary(body, elements, "<" if encoding == "binary_little_endian" else ">")
    lists = tables["face"].get("vertex_indices", tables["face"].get("vertex_index"))
    columns = [np.asarray(tables["vertex"][name], dtype=np.float64).reshape(-1) for name in "xyz"]
    vertices = np.stack(columns, axis=1)
    return vertices, _faces(lists, vertices)


def _faces(lists: Any, vertices: np.ndarray) -> np.ndarray:
    """Triangles (F, 3) of polygons: an array (F, 3), or one array of corners for each polygon."""
    if isinstance(lists, np.ndarray) and lists.shape[1] == 3:
        return lists.astype(np.int64)
    for number, corner in enumerate(lists):
        if len(corner) < 3:
            raise MeshError(f"PLY: face {number} has {len(corner)} corners, at least 3 expected")
    return _triangles(list(lists), vertices)


def _ply_header(text: str) -> tuple[str, list[_PlyElement]]:
    encoding = ""
    elements: list[_PlyElement] = []
    for line in text.splitlines()[1:]:
        words = line.split()
        try:
            if words[:1] == ["format"]:
                encoding = words[1]
            elif words[:1] == ["element"]:
                elements.append(_PlyElement(words[1], int(words[2]), []))
            elif words[:2] == ["property", "list"]:
                elements[-1].properties.append(_PlyProperty(words[4], _PLY_TYPES[words[3]], _PLY_TYPES[words[2]]))
            elif words[:1] == ["property"]:
                elements[-1].properties.append(_PlyProperty(words[2], _PLY_TYPES[words[1]]))
        except (IndexError, KeyError, ValueError):
            raise MeshError(f"PLY header: line {line[:60]!r} is not understood") from None
    if encoding not in ("ascii", "binary_little_endian", "binary_big_endian"):
        raise MeshError(
            f"PLY header: format ascii, binary_little_endian or binary_big_endian expected, got {encoding!r}"
        )
    for element in elements:
        if element.count < 0 or not element.properties:
            raise MeshError(
                f"PLY header: element {element.name!r} counts {element.count} with {len(element.properties)} properties"
            )
        if len({p.name for p in element.properties}) < len(element.properties):
            raise MeshError(f"PLY header: two properties of element {element.name!r} have one name")
        for prop in element.properties:
            if prop.count_kind and prop.count_kind.startswith("f"):
                raise MeshError(f"PLY header: list {prop.name!r} has a length that is no integer")
    _ply_check_elements(elements)
    return encoding, elements


def _ply_check_elements(elements: list[_PlyElement]) -> None:
    """Refuses a header without x, y, z of vertices and a list of vertices for each face."""
    names = [element.name for element in elements]
    if names.count("vertex") != 1 or names.count("face") != 1 or len(set(names)) < len(names):
        raise MeshError(f"PLY header: one element 'vertex' and one element 'face' expected, got {names}")
    vertex = {p.name: p for p in elements[names.index("vertex")].properties}
    missing = [name for name in "xyz" if name not in vertex or vertex[name].count_kind]
    if missing:
        raise MeshError(f"PLY header: vertex properties x, y, z expected, {', '.join(missing)} missing")
    face = {p.name: p for p in elements[names.index("face")].properties}
    corners = face.get("vertex_indices", face.get("vertex_index"))
    if corners is None or not corners.count_kind or corners.kind[0] == "f":
        raise MeshError("PLY header: face property 'list ... int vertex_indices' expected, none found")


def _ply_short(element: _PlyElement) -> MeshError:
    return MeshError(f"PLY: the header counts {element.count} of {element.name!r}, the file ends before: truncated")


def _whole(token: bytes) -> int:
    """An integer of a type that PLY has; MeshError for one beyond them."""
    value = int(token)
    if not -(2**31) <= value < 2**32:
        raise MeshError(f"PLY: an integer of 32 bits expected, got {token[:40].decode('ascii', 'replace')}")
    return value


def _ply_ascii(body: bytes, elements: list[_PlyElement]) -> dict[str, dict[str, Any]]:
    tokens = body.split()
    at = 0
    tables: dict[str, dict[str, Any]] = {}
    for element in elements:
        if element.count * max(len(element.properties), 1) > len(tokens) - at:
            raise _ply_short(element)
        width = len(element.properties)
        if not element.has_lists():
            block = _numbers(tokens[at : at + element.count * width], f"PLY {element.name}").reshape(-1, max(width, 1))
            tables[element.name] = {p.name: block[:, i] for i, p in enumerate(element.properties)}
            at += element.count * width
            continue
        rows: dict[str, list[Any]] = {p.name: [] for p in element.properties}
        for _ in range(element.count):
            for prop in element.properties:
                try:
                    size = int(tokens[at]) if prop.count_kind else 1
                    at += 1 if prop.count_kind else 0
                    if size < 0 or at + size > len(tokens):
                        raise IndexError
                    values = tokens[at : at + size]
                    rows[prop.name].append([_whole(v) if prop.kind[0] in "iu" else float(v) for v in values])
                    at += size
                except IndexError:
                    raise _ply_short(element) from None
                except MeshError:
                    raise
                except ValueError:
                    raise MeshError(f"PLY {element.name}: a number expected near token {at}") from None
        tables[element.name] = rows
    if at != len(tokens):
        raise MeshError(f"PLY: {len(tokens) - at} numbers more than the header counts")
    return tables


def _ply_binary(body: bytes, elements: list[_PlyElement], order: str) -> dict[str, dict[str, Any]]:
    at = 0
    tables: dict[str, dict[str, Any]] = {}
    for element in elements:
        if element.has_lists():
            tables[element.name], at = _ply_binary_lists(body, at, element, order)
            continue
        dtype = np.dtype([(f"value{i}", order + p.kind) for i, p in enumerate(element.properties)])
        if element.count * dtype.itemsize > len(body) - at:
            raise _ply_short(element)
        block = np.frombuffer(body, dtype=dtype, count=element.count, offset=at)
        tables[element.name] = {p.name: block[f"value{i}"] for i, p in enumerate(element.properties)}
        at += element.count * dtype.itemsize
    if at != len(body):
        raise MeshError(f"PLY: {len(body) - at} bytes more than the header counts")
    return tables


def _ply_binary_lists(body: bytes, at: int, element: _PlyElement, order: str) -> tuple[dict[str, Any], int]:
    """An element with lists, and the offset after it. Where all lists are triangles, entries have one size."""
    parts: list[tuple[Any, ...]] = []
    for i, prop in enumerate(element.properties):
        if prop.count_kind:
            parts += [(f"count{i}", order + prop.count_kind), (f"value{i}", order + prop.kind, 3)]
        else:
            parts.append((f"value{i}", order + prop.kind))
    dtype = np.dtype(parts)
    if element.count * dtype.itemsize <= len(body) - at:
        block = np.frombuffer(body, dtype=dtype, count=element.count, offset=at)
        counts = [block[f"count{i}"] for i, p in enumerate(element.properties) if p.count_kind]
        if all((count == 3).all() for count in counts):
            table = {p.name: block[f"value{i}"] for i, p in enumerate(element.properties)}
            return table, at + element.count * dtype.itemsize
    rows: dict[str, list[Any]] = {p.name: [] for p in element.properties}
    # an entry takes at least one byte: refuse an impossible count before the loop
    if element.count > len(body) - at:
        raise _ply_short(element)
    for _ in range(element.count):
        for prop in element.properties:
            size = 1
            kind = np.dtype(order + prop.kind)
            if prop.count_kind:
                count_kind = np.dtype(order + prop.count_kind)
                if at + count_kind.itemsize > len(body):
                    raise _ply_short(element)
                size = int(np.frombuffer(body, dtype=count_kind, count=1, offset=at)[0])
                at += count_kind.itemsize
            if size < 0 or at + size * kind.itemsize > len(body):
                raise _ply_short(element)
            rows[prop.name].append(np.frombuffer(body, dtype=kind, count=size, offset=at))
            at += size * kind.itemsize
    return rows, at
