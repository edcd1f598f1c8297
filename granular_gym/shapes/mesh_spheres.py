"""mesh_spheres.py: spheres that stand for a solid, on its surface or inscribed, and its mass properties.

A solid is a triangle mesh or a signed distance field.

On the surface: N. Bell, Y. Yu, P. J. Mucha, *Particle-based simulation of granular materials* (SCA 2005), section
3.3.1. Points on the surface at the depth of a radius repel each other along it and are drawn back to it by the distance
field (after A. Witkin, P. Heckbert, SIGGRAPH 1994).

Inscribed: after V. Angelidakis et al., *CLUMP* (SoftwareX 15, 2021), from the Euclidean distance: one sphere after the
other, each the largest that the mesh and shrunken copies of those before it leave room for.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from granular_gym.base import rng, rotations
from granular_gym.errors import ArgumentError
from granular_gym.shapes.mesh import Mesh
from granular_gym.shapes.sdf import Sdf
from granular_gym.shapes.sdf_values import bounds, distances, trilinear

Array = NDArray[np.float64]

#: radius of a sphere over the distance to its neighbours. Over the middle of a hole between spheres, which is a from
#: the nearest centre on the surface at their depth r, a point of the mesh is sqrt(r^2 + a^2 R / (R - r)) from that
#: centre; R is the radius of curvature. Holes have a = .65 spacings (.58 in a regular covering): 1.1 r down to R = 2 r
RADIUS_PER_SPACING = 2.0
#: distance of neighbours under a surface that is met as a field, in radii: what lies between them meets that of others
UNDER_SPACING = 3.0
#: its samples per radius, and along the longest side at most; directions for ends; from how far beyond they are found
_PER_RADIUS_UNDER = 3
_LONGEST_UNDER = 160
_DIRECTIONS = 200
_BEYOND = 2.5
#: step of differences, in spacings of samples
_DIFFERENCE = 1e-3
#: samples of the distance field per radius, across the thinnest side at least, across the longest side for inscribed
#: spheres, for areas and for integrals
_PER_RADIUS = 6
_PER_SIDE = 8
_PER_LENGTH = 64
_PER_LENGTH_AREA = 28
_PER_LENGTH_MOMENTS, _PER_SIDE_MOMENTS = 96, 48
#: of a mesh whose surface does not go once round what it holds
_SAMPLES_MOMENTS = 2**22
#: windings of a mesh that are asked for: faces times places, least and most places; how far they lie under a face, in
#: diagonals of the mesh; multiples of two numbers that spread evenly (Roberts, 2018)
_WINDINGS, _ASKED, _UNDER = 4_000_000, (8, 256), 1e-6
_EVEN = (0.7548776662466927, 0.5698402909980532)
#: most samples of a field
_LARGEST_FIELD = 2**24
#: first points to choose from, per sphere
_CHOICE = 12
#: repulsion: reach in spacings, move over force, largest move in spacings, and rounds
_REACH = 1.3
_GAIN = 0.5
_STEP = 0.15
_ROUNDS = 240
#: rounds after which neighbours are found again
_FRESH = 8
#: distance to the wanted depth that is left, in radii
_OFF = 1e-3
#: an inscribed sphere juts out of those before it by at least this share of its radius
_JUTS = 0.02
_MOST_TRIES = 64


def solid_moments(solid: Mesh | Sdf) -> tuple[float, Array, Array]:
    """Volume [m3], centre of mass (3,) [m] and the integral of x x^T about it (3, 3) [m5] of a solid.

    Of a closed mesh exact: a face and the middle of the bounding box span a tetrahedron; its integrals are polynomials
    of its corners. Of a signed distance field sums over samples; a cell that the surface cuts counts by its distance.
    So are those of a mesh whose parts lie in each other, or of which some are inside out: exact integrals would count
    twice what they share, and take the latter away.
    """
    if not isinstance(solid, Mesh):
        return _field_moments(solid)
    if _goes_once(solid):
        return _mesh_moments(solid)
    sides = np.ptp(solid.bounds, axis=0)
    usual, least = np.cbrt(sides.prod() / [_SAMPLES_MOMENTS, _LARGEST_FIELD])
    step = float(min(max(min(usual, sides.min() / _PER_SIDE), least), sides.min()))
    return _field_moments(Sdf.from_mesh(solid, spacing=step, cache=False, num_threads=1))


def _goes_once(mesh: Mesh) -> bool:
    """Whether the surface of a mesh goes once round what is just under its faces: not twice, as where a face lies
    within another part, nor never, as where a part is inside out."""
    corner = mesh.vertices[mesh.faces]
    normal = rotations.cross(corner[:, 1] - corner[:, 0], corner[:, 2] - corner[:, 0])
    area = np.linalg.norm(normal, axis=1)
    count = int(np.clip(_WINDINGS // len(area), *_ASKED))
    # spread evenly over the surface, and over each face
    number = np.arange(count) + 0.5
    some = np.minimum(np.searchsorted(np.cumsum(area) / area.sum(), number / count), len(area) - 1)
    u, v = np.sqrt(number * _EVEN[0] % 1.0), number * _EVEN[1] % 1.0
    weights = np.stack([1.0 - u, u * (1.0 - v), u * v], axis=1)
    points = np.einsum("ij,ijk->ik", weights, corner[some]) - _UNDER * mesh.diagonal * normal[some] / area[some, None]
    # near the rims of small holes it goes round half
    return all(0.25 < _winding(corner - point) < 1.5 for point in points)


def _winding(corner: Array) -> float:
    """How often a surface of faces (n, 3, 3) goes round the origin: the sum of their solid angles (van Oosterom,
    Strackee, 1983) over that of a sphere."""
    a, b, c = (corner[:, k] for k in range(3))
    lengths = np.linalg.norm(corner, axis=2)
    volume = (a * rotations.cross(b, c)).sum(axis=1)
    beside = lengths.prod(axis=1)
    for k, (p, q) in enumerate(((b, c), (c, a), (a, b))):
        beside += (p * q).sum(axis=1) * lengths[:, k]
    return float(np.arctan2(volume, beside).sum()) / (2.0 * math.pi)


def _field_moments(sdf: Sdf) -> tuple[float, Array, Array]:
    low, high = _bounds(sdf)
    sides = high - low
    step = float(min(sides.max() / _PER_LENGTH_MOMENTS, sides.min() / _PER_SIDE_MOMENTS))
    counts = np.ceil(sides / step - 1e-9).astype(np.int64)
    # samples in the middles of cells that just hold the solid, along each axis
    steps = sides / counts
    x, y, z = (low[k] + steps[k] * (np.arange(counts[k]) + 0.5) for k in range(3))
    volume, first, second = 0.0, np.zeros(3), np.zeros((3, 3))
    for each in z:
        points = np.stack(np.broadcast_arrays(x[None, :], y[:, None], each), axis=-1).reshape(-1, 3)
        inside = np.clip(0.5 - distances(sdf, points) / step, 0.0, 1.0)
        volume += inside.sum()
        first += inside @ points
        second += (inside[:, None] * points).T @ points
    cell = float(steps.prod())
    center = first / volume
    about: Array = cell * (second - volume * np.outer(center, center))
    # what a cell has about its own middle
    about += cell * volume * np.diag(steps**2) / 12.0
    return cell * volume, center, about


def _mesh_moments(mesh: Mesh) -> tuple[float, Array, Array]:
    middle = mesh.bounds.mean(axis=0)
    corner = mesh.vertices[mesh.faces] - middle
    det = np.einsum("ij,ij->i", corner[:, 0], rotations.cross(corner[:, 1], corner[:, 2]))
    total = corner.sum(axis=1)
    volume = float(det.sum()) / 6.0
    first = (det[:, None] * total).sum(axis=0) / 24.0
    second = np.einsum("i,ij,ik->jk", det, total, total) + np.einsum("i,iaj,iak->jk", det, corner, corner)
    center = first / volume
    about: Array = second / 120.0 - volume * np.outer(center, center)
    return volume, middle + center, about


class _Field:
    """A distance field and its gradient, by trilinear interpolation."""

    def __init__(self, samples: NDArray[np.floating], spacing: float, origin: Array) -> None:
        self.samples = samples.astype(np.float64)
        self.spacing = spacing
        self.origin = origin

    def at(self, points: Array) -> tuple[Array, Array]:
        """Distances (n,) and gradients (n, 3) at points (n, 3)."""
        return trilinear(self.samples, self.spacing, self.origin, points)

    def to_depth(self, points: Array, depth: float) -> tuple[Array, Array, NDArray[np.bool_]]:
        """Points moved along the gradient to a depth, the normals there, and which of them arrived."""
        for _ in range(4):
            distance, gradient = self.at(points)
            square = np.maximum((gradient * gradient).sum(axis=1), 0.25)
            move = np.clip((distance + depth) / square, -depth, depth)
            points = points - move[:, None] * gradient
        distance, gradient = self.at(points)
        length = np.sqrt((gradient * gradient).sum(axis=1))
        normal = gradient / np.maximum(length, 1e-12)[:, None]
        return points, normal, np.abs(distance + depth) < _OFF * depth

    def area(self, depth: float) -> float:
        """Area of the surface at a depth [m2]: the volume near it over its thickness, as |gradient| = 1."""
        width = 1.5 * self.spacing
        near = np.abs(self.samples + depth)
        near = near[near < width]
        return float((1.0 + np.cos(math.pi / width * near)).sum()) * self.spacing**3 / (2.0 * width)


class _ExactField(_Field):
    """The field of an Sdf: distances as its parts give them, also at edges, and gradients by differences."""

    def __init__(self, sdf: Sdf, samples: Array, spacing: float, origin: Array) -> None:
        super().__init__(samples, spacing, origin)
        self.sdf = sdf

    def at(self, points: Array) -> tuple[Array, Array]:
        h = _DIFFERENCE * self.spacing
        steps = h * np.concatenate([np.zeros((1, 3)), np.eye(3), -np.eye(3)])
        values = distances(self.sdf, (points + steps[:, None]).reshape(-1, 3)).reshape(7, -1)
        return values[0], (values[1:4] - values[4:]).T / (2.0 * h)


def _bounds(solid: Mesh | Sdf) -> Array:
    if isinstance(solid, Mesh):
        return solid.bounds
    ends = bounds(solid)
    if not (np.isfinite(ends).all() and (ends[1] > ends[0]).all()):
        raise ArgumentError(f"sdf: expected a solid with an end on all sides, got {solid!r}")
    return ends


def _field(solid: Mesh | Sdf, spacing: float, why: str, padding: int = 2) -> _Field:
    """The field of a solid, to `padding` samples beyond it."""
    lower, upper = _bounds(solid)
    counts = np.ceil((upper - lower) / spacing).astype(np.int64) + 2 * padding + 1
    if counts.prod() > _LARGEST_FIELD:
        raise ArgumentError(
            f"{why}, the field of a solid of {(upper - lower).tolist()} m would need {counts.prod():.3g} samples"
        )
    if isinstance(solid, Mesh):
        grid = Sdf.from_mesh(solid, spacing=spacing, padding=padding, cache=False, num_threads=1).parts[0].grid
        assert grid is not None
        return _Field(grid.samples, grid.spacing, np.array(grid.origin))
    origin = 0.5 * (lower + upper) - 0.5 * spacing * (counts - 1)
    x, y, z = (origin[k] + spacing * np.arange(counts[k]) for k in range(3))
    points = np.stack(np.broadcast_arrays(x[None, None, :], y[None, :, None], z[:, None, None]), axis=-1)
    return _ExactField(solid, distances(solid, points.reshape(-1, 3)).reshape(points.shape[:3]), spacing, origin)


# ---- spheres on the surface ----


def surface_spheres(
    mesh: Mesh, count: int | None, spacing: float | None, radius: float | None, most: int
) -> tuple[Array, Array]:
    """Spheres that touch the surface from within, evenly spaced.

    Args:
        mesh: closed.
        count: of the spheres; None: as many as `spacing` asks for.
        spacing: distance of neighbours [m], where there is no count.
        radius: of the spheres [m]; None: RADIUS_PER_SPACING spacings.
        most: most spheres.

    Returns:
        Centres (n, 3) and radii (n,) [m].

    Raises:
        ArgumentError: the solid is too thin for the radius, or there would be too many spheres.
    """
    thinnest = float(np.ptp(mesh.bounds, axis=0).min())
    size = radius
    if size is None:
        size = _radius_of_count(mesh, count) if spacing is None else RADIUS_PER_SPACING * spacing
    argument = "sphere_radius" if radius is not None else "spacing" if spacing is not None else "count"
    if size >= 0.5 * thinnest:
        raise _too_thin(argument, size, 0.5 * thinnest)
    field = _field(mesh, min(size / _PER_RADIUS, thinnest / _PER_SIDE), f"{argument}: expected larger spheres")
    deepest = -float(field.samples.min())
    if size >= deepest:
        raise _too_thin(argument, size, deepest)
    area = field.area(size)
    if count is None:
        assert spacing is not None
        wanted = area / (0.5 * math.sqrt(3.0) * spacing**2)
        if wanted > most:
            raise ArgumentError(f"spacing: expected at most {most} spheres, {spacing:g} m gives {wanted:.0f}")
        count = max(1, round(wanted))
    first = _first_points(field, size, _CHOICE * count)
    if len(first) < count:
        raise _too_thin(argument, size, deepest)
    points = _relaxed(field, _spread(first, count), size, math.sqrt(2.0 * area / (math.sqrt(3.0) * count)))
    return points, np.full(count, size)


def spheres_under_surface(solid: Mesh | Sdf, count: int) -> tuple[Array, Array]:
    """Spheres under the surface of a solid that is met by its field: smaller ones, and some of them in its corners.

    Neighbours are UNDER_SPACING radii apart. Where the solid reaches farthest in some direction, at corners and rims, a
    sphere stays as near to it as its radius lets it; the others repel each other and these.

    Args:
        solid: a closed mesh, or a signed distance field.
        count: of the spheres.

    Returns:
        Centres (n, 3) and radii (n,) [m].

    Raises:
        ArgumentError: the solid is too thin for spheres of this number.
    """
    sides = np.ptp(_bounds(solid), axis=0)
    step = float(min(sides.max() / _PER_LENGTH_AREA, sides.min() / _PER_SIDE))
    area = _field(solid, step, "spheres: expected a thicker solid").area(0.0)
    spacing = math.sqrt(2.0 * area / (math.sqrt(3.0) * count))
    size = min(spacing / UNDER_SPACING, 0.25 * float(sides.min()))
    step = max(size / _PER_RADIUS_UNDER, float(sides.max()) / _LONGEST_UNDER)
    field = _field(solid, step, "spheres: expected fewer", math.ceil(_BEYOND * size / step) + 2)
    first = _first_points(field, size, _CHOICE * count)
    if len(first) < count:
        raise _too_thin("spheres", size, -float(field.samples.min()))
    ends = _ends(field, first, size, spacing)[: count // 2]
    points = _relaxed(field, np.concatenate([ends, _spread(first, count, ends)]), size, spacing, len(ends))
    return points, np.full(count, size)


def _ends(field: _Field, points: Array, depth: float, spacing: float) -> Array:
    """Where the surface at a depth reaches farthest, in directions all round: one of those within half a spacing."""
    k = np.arange(_DIRECTIONS) + 0.5
    z, angle = 1.0 - 2.0 * k / _DIRECTIONS, k * (math.pi * (3.0 - math.sqrt(5.0)))
    flat = np.sqrt(1.0 - z * z)
    directions = np.stack([flat * np.cos(angle), flat * np.sin(angle), z], axis=1)
    farthest = points[(points @ directions.T).argmax(axis=0)]
    # from beyond the surface the nearest point of it is the end itself
    ends = farthest + _BEYOND * depth * directions
    for _ in range(4):
        ends, _, arrived = field.to_depth(ends, depth)
    kept: list[Array] = []
    # the outermost of those that lie close together
    ends = ends[arrived]
    for end in ends[np.argsort(-np.linalg.norm(ends - points.mean(axis=0), axis=1), kind="stable")]:
        if all(float(np.linalg.norm(end - other)) > 0.5 * spacing for other in kept):
            kept.append(end)
    return np.array(kept).reshape(-1, 3)


def _too_thin(argument: str, radius: float, depth: float) -> ArgumentError:
    return ArgumentError(
        f"{argument}: expected spheres of less than {depth:g} m, the depth of the solid, got a radius of {radius:g} m; "
        "more spheres are smaller, and sphere_radius sets their size"
    )


def _radius_of_count(mesh: Mesh, count: int | None) -> float:
    """Radius of so many spheres at RADIUS_PER_SPACING; the surface at their depth shrinks with it, so by bisection."""
    assert count is not None
    sides = np.ptp(mesh.bounds, axis=0)
    step = float(min(sides.max() / _PER_LENGTH_AREA, sides.min() / _PER_SIDE))
    field = _field(mesh, step, "mesh: expected a thicker one")
    low, high = 0.0, -float(field.samples.min())
    for _ in range(40):
        radius = 0.5 * (low + high)
        if field.area(radius) / (0.5 * math.sqrt(3.0) * (radius / RADIUS_PER_SPACING) ** 2) > count:
            low = radius
        else:
            high = radius
    return 0.5 * (low + high)


def _first_points(field: _Field, depth: float, count: int) -> Array:
    """Random points on the surface at a depth, evenly by area."""
    h = field.spacing
    near = np.argwhere(np.abs(field.samples + depth) < 1.5 * h)[:, ::-1]
    kept: list[Array] = []
    found = 0
    for attempt in range(_MOST_TRIES):
        if found >= count or not len(near):
            break
        numbers = rng.uniform(0, attempt, 16 * count).reshape(4, -1)
        cell = near[np.minimum((numbers[0] * len(near)).astype(np.int64), len(near) - 1)]
        points = field.origin + h * (cell + numbers[1:].T - 0.5)
        # a layer of even thickness holds volume by area
        points = points[np.abs(field.at(points)[0] + depth) < 0.5 * h]
        points, _, arrived = field.to_depth(points, depth)
        kept.append(points[arrived])
        found += len(kept[-1])
    return np.concatenate(kept)[:count] if kept else np.zeros((0, 3))


def _spread(points: Array, count: int, others: Array | None = None) -> Array:
    """So many of the points, less the others, each the one farthest from those before it and from the others."""
    count -= 0 if others is None else len(others)
    chosen = np.zeros(count, np.int64)
    distance = np.full(len(points), np.inf)
    for other in () if others is None else others:
        offset = points - other
        distance = np.minimum(distance, (offset * offset).sum(axis=1))
    if others is not None and count:
        chosen[0] = int(distance.argmax())
    for k in range(1, count):
        offset = points - points[chosen[k - 1]]
        distance = np.minimum(distance, (offset * offset).sum(axis=1))
        chosen[k] = int(distance.argmax())
    result: Array = points[chosen]
    return result


def _relaxed(field: _Field, points: Array, depth: float, spacing: float, held: int = 0) -> Array:
    """Points after they repelled each other along the surface at a depth; the first `held` of them stay."""
    count = len(points)
    points, normal, _ = field.to_depth(points, depth)
    reach = _REACH * spacing
    i = j = np.zeros(0, np.int64)
    for round_ in range(_ROUNDS):
        if round_ % _FRESH == 0:
            offset = points[:, None] - points[None]
            near = (offset * offset).sum(axis=2) < (reach + 2.0 * _FRESH * _STEP * 0.1 * spacing) ** 2
            np.fill_diagonal(near, False)
            i, j = np.nonzero(near)
        away = points[i] - points[j]
        distance = np.sqrt((away * away).sum(axis=1))
        push = np.maximum(1.0 - distance / reach, 0.0) ** 2
        away *= (push / np.maximum(distance, 1e-12 * spacing))[:, None]
        force = np.stack([np.bincount(i, away[:, axis], count) for axis in range(3)], axis=1)
        force -= (force * normal).sum(axis=1, keepdims=True) * normal
        length = np.sqrt((force * force).sum(axis=1, keepdims=True))
        move = spacing * force * np.minimum(_GAIN, _STEP / np.maximum(length, 1e-12))
        move[:held] = 0.0
        moved, turned, arrived = field.to_depth(points + move, depth)
        arrived[:held] = False
        # where the surface ends in a ridge a point stays
        points, normal = np.where(arrived[:, None], moved, points), np.where(arrived[:, None], turned, normal)
    return points


# ---- inscribed spheres ----


def inscribed_spheres(mesh: Mesh, count: int, radius: float, overlap: float, connected: bool) -> tuple[Array, Array]:
    """Spheres within a mesh, each the largest that finds room.

    Args:
        mesh: closed.
        count: most spheres.
        radius: smallest radius [m]; 0: any.
        overlap: share of a sphere's radius that later ones may reach into it.
        connected: each sphere touches one before it.

    Returns:
        Centres (n, 3) and radii (n,) [m].

    Raises:
        ArgumentError: no sphere fits.
    """
    sides = np.ptp(mesh.bounds, axis=0)
    step = float(min(sides.max() / _PER_LENGTH, sides.min() / _PER_SIDE))
    field = _field(mesh, step, "mesh: expected a thicker one")
    inside = np.argwhere(field.samples < 0.0)
    points = field.origin + field.spacing * inside[:, ::-1]
    # room for a sphere at each point, and how deep the point lies in those there are: negative outside, by its distance
    room = -field.samples[tuple(inside.T)]
    deep = np.full(len(points), -np.inf)
    centers: list[Array] = []
    radii: list[float] = []
    for _ in range(count):
        allowed = room - deep > _JUTS * room
        if connected and centers:
            allowed &= room + deep >= 0.0
        free = np.where(allowed, room, 0.0)
        k = int(free.argmax()) if len(free) else 0
        size = float(free[k]) if len(free) else 0.0
        if size <= 0.0 or size < radius:
            break
        centers.append(points[k])
        radii.append(size)
        offset = points - points[k]
        distance = np.sqrt((offset * offset).sum(axis=1))
        room = np.minimum(room, distance - (1.0 - overlap) * size)
        deep = np.maximum(deep, size - distance)
    if not centers:
        deepest = max(0.0, -float(field.samples.min()))
        raise ArgumentError(
            f"sphere_radius: expected at most {deepest:g} m, the depth of the mesh at its samples, got {radius:g} m"
        )
    return np.array(centers), np.array(radii)
