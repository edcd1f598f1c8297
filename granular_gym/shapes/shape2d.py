"""shape2d.py: rigid planar shapes with holes: checked, centred on their centre of mass, split into convex pieces.

Outlines are checked here: `exact_distance` is defined for any two Shape2D.
"""

from __future__ import annotations

import dataclasses
import functools
import hashlib
import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from granular_gym import _core
from granular_gym.base import checks
from granular_gym.errors import ArgumentError
from granular_gym.shapes import outlines, svg_path

Ring = NDArray[np.float64]

#: most vertices of all rings together; GG_POLYGON_VERTICES of the engine
LARGEST_VERTICES = 512
#: lengths below this fraction of a shape's size count as zero
_TOLERANCE = 1e-9


@dataclasses.dataclass(frozen=True, eq=False)
class Shape2D:
    """A rigid planar shape, made by the class methods; immutable.

    Attributes:
        rings: float64 (n, 2) [m] each, the outer ring first and counter-clockwise, holes clockwise; the centre of mass
            is the origin.
        name: its name in messages.
        area: area [m2].
        inertia: polar second moment of area about the centre of mass [m4]; times the mass per area [kg/m2] it is the
            moment of inertia [kg m2].
        circumradius: largest distance of a vertex from the centre of mass [m].
        symmetry: order n of its rotational symmetry: the shape is invariant under 1/n of a turn.
    """

    rings: tuple[Ring, ...]
    name: str
    area: float
    inertia: float
    circumradius: float
    symmetry: int

    # ---- making one ----

    @classmethod
    def from_vertices(cls, outer: Any, holes: Sequence[Any] = (), *, name: str = "shape") -> Shape2D:
        """A shape from its outline, translated so that its centre of mass lies at the origin.

        Args:
            outer: vertices (n, 2) [m], counter-clockwise, the first one not repeated.
            holes: rings of the same kind inside the outer one, in either direction.
            name: its name in messages.

        Raises:
            ArgumentError: not finite, fewer than 3 or more than 512 vertices, vertices that coincide, no area,
                clockwise, rings that cross or touch, holes outside; the message says where.
        """
        if not isinstance(holes, Sequence) or isinstance(holes, str):
            raise ArgumentError(f"holes: expected a list of rings, got {holes!r}")
        rings = [_ring("outer", outer), *(_ring(f"holes[{k}]", hole) for k, hole in enumerate(holes))]
        labels = ["outer", *(f"holes[{k}]" for k in range(len(holes)))]
        count = sum(map(len, rings))
        if count > LARGEST_VERTICES:
            raise ArgumentError(f"outer: expected at most {LARGEST_VERTICES} vertices in all rings, got {count}")
        size = float(np.ptp(rings[0], axis=0).max())
        for label, ring in zip(labels, rings, strict=True):
            _check_ring(label, ring, size)
        if _area(rings[0]) < 0:
            raise ArgumentError(
                f"outer: expected a counter-clockwise ring, got a clockwise one of area {_area(rings[0]):.6g} m2; "
                "reverse it"
            )
        rings[1:] = [ring[::-1] if _area(ring) > 0 else ring for ring in rings[1:]]
        _check_crossings(labels, rings, size)
        _check_holes(labels, rings)
        return _centred(rings, checks.text("name", name))

    @classmethod
    def from_svg(cls, path: str, *, scale: float = 1.0, tolerance: float | None = None, name: str = "shape") -> Shape2D:
        """A shape from an SVG path: the ring of largest area is the outline, the others are holes.

        The y axis of SVG points down; y changes sign, so that the shape stays upright.

        Args:
            path: the `d` attribute, closed subpaths in any direction.
            scale: metres per unit of the path.
            tolerance: largest distance of a chord from its curve [m]; default: 0.2 % of the path's extent.
            name: its name in messages.

        Raises:
            ArgumentError: not a path, an open subpath, or an outline that `from_vertices` refuses.
        """
        per_unit = checks.number("scale", scale, 0.0, above=True)
        if tolerance is not None:
            tolerance = max(checks.number("tolerance", tolerance, 0.0, above=True) / per_unit, 1e-300)
        rings = [ring * (per_unit, -per_unit) for ring in _flatten(path, tolerance)]
        return cls._from_rings(rings, name)

    @classmethod
    def _from_rings(cls, rings: list[Ring], name: str) -> Shape2D:
        """Rings in any order and direction."""
        rings = sorted(rings, key=lambda ring: -abs(_area(ring)))
        outer = rings[0][::-1] if _area(rings[0]) < 0 else rings[0]
        return cls.from_vertices(outer, rings[1:], name=name)

    @classmethod
    def letter(cls, letter: str, radius: float = 1.0) -> Shape2D:
        """A capital letter A to Z of constant stroke; radius: its circumradius [m]."""
        return cls._outline(checks.choice("letter", letter, sorted(outlines.LETTERS)), outlines.LETTERS[letter], radius)

    @classmethod
    def heart(cls, radius: float = 1.0) -> Shape2D:
        """A heart; radius: its circumradius [m]."""
        return cls._outline("heart", outlines.HEART, radius)

    @classmethod
    def chain_link(cls, radius: float = 1.0) -> Shape2D:
        """A link with a ball at one end and a socket at the other that holds the ball of the next one; radius: its
        circumradius [m]."""
        return cls._outline("chain_link", outlines.CHAIN_LINK, radius)

    @classmethod
    def _outline(cls, name: str, path: str, radius: float) -> Shape2D:
        length = checks.number("radius", radius, 0.0, above=True)
        return cls._from_rings(_flatten(path, None), name).scaled_to(length)

    @classmethod
    def hash(cls, radius: float = 1.0) -> Shape2D:
        """Two pairs of crossing bars, "#"; radius: its circumradius [m]."""
        outer, hole = outlines.hash_rings()
        return cls.from_vertices(outer, [hole], name="#").scaled_to(checks.number("radius", radius, 0.0, above=True))

    @classmethod
    def regular(cls, sides: int, radius: float = 1.0) -> Shape2D:
        """A regular polygon; radius: its circumradius [m]. Eight sides are the octagon."""
        n = checks.integer("sides", sides, 3, LARGEST_VERTICES)
        length = checks.number("radius", radius, 0.0, above=True)
        # the outward normal of a side is +x
        angle = (np.arange(n) + 0.5) * (2 * math.pi / n)
        ring = length * np.stack([np.cos(angle), np.sin(angle)], axis=1)
        return cls.from_vertices(ring, name="octagon" if n == 8 else f"regular {n}")

    @classmethod
    def octagon(cls, radius: float = 1.0) -> Shape2D:
        """A regular octagon; radius: its circumradius [m]."""
        return cls.regular(8, radius)

    @classmethod
    def block(cls, length: float, width: float) -> Shape2D:
        """A rectangle, `length` along x and `width` along y [m]."""
        x = 0.5 * checks.number("length", length, 0.0, above=True)
        y = 0.5 * checks.number("width", width, 0.0, above=True)
        return cls.from_vertices([(-x, -y), (x, -y), (x, y), (-x, y)], name="block")

    @classmethod
    def arc(cls, closure: float, radius: float = 1.0, thickness: float | None = None) -> Shape2D:
        """A part of a circular ring.

        Args:
            closure: share of the circle in (0, 1]; 1 is a closed ring with a hole.
            radius: outer radius of the ring [m].
            thickness: of the ring [m]; default: a quarter of the radius.
        """
        share = checks.number("closure", closure, 0.0, 1.0, above=True)
        outside = checks.number("radius", radius, 0.0, above=True)
        depth = 0.25 * outside if thickness is None else checks.number("thickness", thickness, 0.0, outside, above=True)
        if depth >= outside:
            raise ArgumentError(f"thickness: expected less than the radius {outside:g} m, got {depth:g}")
        rings = outlines.arc_rings(share, outside, outside - depth)
        return cls.from_vertices(rings[0], rings[1:], name=f"arc {100 * share:g} %")

    def scaled_to(self, radius: float) -> Shape2D:
        """The same shape with another circumradius [m]."""
        factor = checks.number("radius", radius, 0.0, above=True) / self.circumradius
        return _centred([ring * factor for ring in self.rings], self.name)

    # ---- for pair fields and the engine ----

    @property
    def vertices(self) -> Ring:
        """Vertices of all rings (n, 2) [m]."""
        return np.concatenate(self.rings)

    @property
    def ring_end(self) -> NDArray[np.int32]:
        """Index after the last vertex of each ring (rings,)."""
        return np.cumsum([len(ring) for ring in self.rings]).astype(np.int32)

    @functools.cached_property
    def pieces(self) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """Convex pieces that cover the shape: indices into `vertices`, and the end of each piece in these."""
        return _core.polygon_split(self.vertices, self.ring_end)

    @property
    def polygon(self) -> tuple[Ring, NDArray[np.int32], NDArray[np.int32], NDArray[np.int32]]:
        """A shape for the engine: vertices, ring_end, and the two arrays of `pieces`."""
        return (self.vertices, self.ring_end, *self.pieces)

    def digest(self) -> str:
        """SHA-256 of the outline; the name is not part of it."""
        return hashlib.sha256(self.ring_end.tobytes() + self.vertices.tobytes()).hexdigest()

    def __repr__(self) -> str:
        return (
            f"Shape2D({self.name!r}, {len(self.vertices)} vertices, circumradius {self.circumradius:.4g} m, "
            f"symmetry {self.symmetry})"
        )


def _flatten(path: str, tolerance: float | None) -> list[Ring]:
    """The rings of a path in its own units; tolerance None: 0.2 % of its extent."""
    if not isinstance(path, str):
        raise ArgumentError(f"path: expected an SVG path, got {type(path).__name__}")
    if tolerance is None:
        # chords of a coarse pass give the extent
        rough = np.concatenate(svg_path.flatten(path, math.inf))
        tolerance = 0.002 * max(float(np.ptp(rough, axis=0).max()), 1e-300)
    return svg_path.flatten(path, tolerance)


# ---- geometry of rings ----


def _area(ring: Ring) -> float:
    x, y = (ring - ring[0]).T
    return 0.5 * float(np.sum(x * np.roll(y, -1) - np.roll(x, -1) * y))


def _centred(rings: Sequence[Ring], name: str) -> Shape2D:
    """A shape from checked rings, by exact integration over their triangles with the first vertex."""
    origin = rings[0][0]
    area, first, second = 0.0, np.zeros(2), 0.0
    for ring in rings:
        p, q = ring - origin, np.roll(ring - origin, -1, axis=0)
        cross = p[:, 0] * q[:, 1] - q[:, 0] * p[:, 1]
        area += 0.5 * float(cross.sum())
        first += (cross[:, None] * (p + q)).sum(axis=0) / 6
        second += float((cross[:, None] * (p * p + p * q + q * q)).sum()) / 12
    center = first / area
    moved = tuple(np.ascontiguousarray(ring - origin - center) for ring in rings)
    for ring in moved:
        ring.flags.writeable = False
    return Shape2D(
        rings=moved,
        name=name,
        area=area,
        inertia=second - area * float(center @ center),
        circumradius=float(np.linalg.norm(np.concatenate(moved), axis=1).max()),
        symmetry=_symmetry(moved),
    )


def _symmetry(rings: Sequence[Ring]) -> int:
    """Largest order of a rotational symmetry of the outline: each of its edges falls on one."""
    points = np.concatenate(rings) @ np.array([1.0, 1.0j])
    ends = np.cumsum([len(ring) for ring in rings])
    after = np.arange(len(points)) + 1
    after[ends - 1] = ends - [len(ring) for ring in rings]
    size = np.abs(points).max()
    for order in range(len(points), 1, -1):
        if len(points) % order:
            continue
        apart = np.abs(points[:, None] * np.exp(2j * math.pi / order) - points[None, :])
        falls_on = apart.argmin(axis=1)
        if apart.min(axis=1).max() < 10 * _TOLERANCE * size and (falls_on[after] == after[falls_on]).all():
            return order
    return 1


# ---- checks ----


def _ring(label: str, value: Any) -> Ring:
    try:
        array = np.asarray(value, np.float64)
    except (TypeError, ValueError):
        raise ArgumentError(f"{label}: expected vertices (n, 2), got {type(value).__name__}") from None
    if array.ndim != 2 or array.shape[1:] != (2,) or len(array) < 3:
        raise ArgumentError(f"{label}: expected shape (3 or more, 2), got {array.shape}")
    bad = ~(np.abs(array) <= checks.LARGEST)
    if bad.any():
        row = int(np.flatnonzero(bad.any(axis=1))[0])
        raise ArgumentError(f"{label}: expected finite coordinates, vertex {row} is {array[row].tolist()}")
    result: Ring = array.copy()
    return result


def _check_ring(label: str, ring: Ring, size: float) -> None:
    """Refuses coinciding vertices, spikes and rings without area."""
    gap = np.abs(ring[:, None] - ring[None, :]).max(axis=2)
    np.fill_diagonal(gap, np.inf)
    if gap.min() <= _TOLERANCE * size:
        i, j = sorted(int(k) for k in np.unravel_index(int(gap.argmin()), gap.shape))
        hint = "; the ring closes by itself" if (i, j) == (0, len(ring) - 1) else ""
        raise ArgumentError(f"{label}: expected distinct vertices, {i} and {j} are both {ring[i].tolist()}{hint}")
    area = abs(_area(ring))
    if area <= 1e-6 * size * size:
        raise ArgumentError(f"{label}: expected a ring with an area, got {area:.3g} m2 at an extent of {size:.3g} m")


def _check_crossings(labels: list[str], rings: list[Ring], size: float) -> None:
    """Refuses edges that cross or touch, except neighbours that share a vertex."""
    start = np.concatenate(rings)
    end = np.concatenate([np.roll(ring, -1, axis=0) for ring in rings])
    owner = np.repeat(np.arange(len(rings)), [len(ring) for ring in rings])
    number = np.concatenate([np.arange(len(ring)) for ring in rings])
    following = np.concatenate([np.roll(np.arange(len(ring)), -1) for ring in rings])
    along = end - start
    length = np.linalg.norm(along, axis=1)

    def side(points: Ring) -> Ring:
        """Signed distance of points (m, 2) from the lines of all edges, (edges, m)."""
        off = points[None] - start[:, None]
        result: Ring = (along[:, None, 0] * off[..., 1] - along[:, None, 1] * off[..., 0]) / length[:, None]
        return result

    def gap(points: Ring) -> Ring:
        """Distance of points (m, 2) from all edges, (edges, m)."""
        off = points[None] - start[:, None]
        at = np.clip((off * along[:, None]).sum(axis=2) / length[:, None] ** 2, 0.0, 1.0)
        result: Ring = np.linalg.norm(off - at[..., None] * along[:, None], axis=2)
        return result

    p, q = side(start), side(end)
    parted = (p * q) < 0
    meet = (parted & parted.T) | (np.minimum(gap(start), gap(end)) <= _TOLERANCE * size)
    meet |= meet.T
    same = owner[:, None] == owner[None, :]
    neighbours = same & ((following[:, None] == number[None, :]) | (number[:, None] == following[None, :]))
    np.fill_diagonal(meet, False)
    # neighbours share a vertex; they overlap only where the outline turns back on itself
    unit = along / length[:, None]
    back = (unit @ unit.T < 0) & (
        np.abs(unit[:, None, 0] * unit[None, :, 1] - unit[:, None, 1] * unit[None, :, 0]) < 1e-9
    )
    meet &= ~neighbours | back
    if meet.any():
        i, j = (int(k) for k in np.argwhere(meet)[0])
        one, other = labels[owner[i]], labels[owner[j]]
        verb = "overlap" if neighbours[i, j] else "cross or touch"
        raise ArgumentError(
            f"{one}: expected edges that do not meet, edge {number[i]} from {start[i].tolist()} and edge {number[j]} "
            f"of {other} from {start[j].tolist()} {verb}"
        )


def _inside(point: Ring, ring: Ring) -> bool:
    """Whether a point lies within a ring: a ray along x crosses an odd number of edges."""
    p, q = ring, np.roll(ring, -1, axis=0)
    spans = (p[:, 1] > point[1]) != (q[:, 1] > point[1])
    with np.errstate(divide="ignore", invalid="ignore"):
        x = p[:, 0] + (point[1] - p[:, 1]) / (q[:, 1] - p[:, 1]) * (q[:, 0] - p[:, 0])
    return bool(np.count_nonzero(spans & (x > point[0])) % 2)


def _check_holes(labels: list[str], rings: list[Ring]) -> None:
    """Refuses holes outside the outline or within another hole, of rings that do not cross."""
    for k in range(1, len(rings)):
        point = rings[k][0]
        if not _inside(point, rings[0]):
            raise ArgumentError(f"{labels[k]}: expected a ring inside the outer one, vertex 0 {point.tolist()} is not")
        for m in range(1, len(rings)):
            if m != k and _inside(point, rings[m]):
                raise ArgumentError(f"{labels[k]}: expected holes apart from each other, it lies within {labels[m]}")
