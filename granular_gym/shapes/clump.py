"""clump.py: rigid unions of spheres: checked, centred on their centre of mass, with their mass properties.

Source: N. Bell, Y. Yu, P. J. Mucha, *Particle-based simulation of granular materials* (SCA 2005), section 3.1.
"""

from __future__ import annotations

import dataclasses
import functools
import hashlib
import itertools
import math
import os
from typing import Any

import numpy as np
from numpy.typing import NDArray

from granular_gym.base import checks, rng, rotations
from granular_gym.errors import ArgumentError
from granular_gym.shapes.mesh import Mesh, load_mesh
from granular_gym.shapes.mesh_spheres import (
    inscribed_spheres,
    solid_moments,
    spheres_under_surface,
    surface_spheres,
)
from granular_gym.shapes.sdf import Sdf
from granular_gym.shapes.sphere_union import union_moments

Array = NDArray[np.float64]

#: most spheres of a clump
LARGEST_COUNT = 1024
#: lengths, and moments of inertia, that differ by less than this fraction count as equal
_ROUNDING = 1e-6
_EQUAL = 1e-9
#: fewest spheres on the surface of a mesh
_FEWEST_ON_SURFACE = 4
#: most spheres of a grain of sand, and directions to choose a corner from
_LARGEST_SAND = 32
_DIRECTIONS = 12


@dataclasses.dataclass(frozen=True, eq=False, init=False)
class Clump:
    """A rigid union of spheres; immutable.

    Attributes:
        centers: float64 (n, 3), of the spheres in the clump's frame, whose origin is the centre of mass [m], read-only.
        radii: float64 (n,), of the spheres [m], read-only.
        volume: of the union [m3], overlaps counted once.
        inertia: float64 (3, 3), inertia tensor about the centre of mass in the clump's frame [m5], read-only; times the
            density [kg/m3] it is the tensor in kg m2.
        radius: of the smallest sphere around the centre of mass that holds the clump [m].
        origin: float64 (3,), where the origin of what it was made of (centres, mesh, field) lies in the clump's frame
            [m], read-only: the centre of mass of that, with the sign changed.
    """

    centers: Array
    radii: Array
    volume: float
    inertia: Array
    radius: float
    origin: Array

    # ---- making one ----

    def __init__(self, centers: Any, radii: Any, *, connected: bool = True) -> None:
        """A clump from its spheres, translated so that its centre of mass lies at the origin; its axes stay.

        The mass fills the union evenly: where spheres overlap it counts once. The integrals have an error below 1e-6.

        Args:
            centers: of the spheres (n, 3) [m], 1 <= n <= 1024.
            radii: of the spheres (n,), or one for all [m].
            connected: refuse spheres that do not hang together by touching or overlapping.

        Raises:
            ArgumentError: wrong shapes, no or too many spheres, numbers that are not finite, radii that are not
                positive, a sphere wholly within another one, spheres that do not hang together; the message says which.
        """
        points, sizes = _spheres(centers, radii)
        _check_within(points, sizes)
        if checks.flag("connected", connected):
            _check_connected(points, sizes)
        volume, center, second = union_moments(points, sizes)
        self._set(points - center, sizes, volume, np.trace(second) * np.eye(3) - second, -center)

    def _set(self, centers: Array, radii: Array, volume: float, inertia: Array, origin: Array) -> None:
        fields = {
            "centers": np.ascontiguousarray(centers),
            "radii": radii.copy(),
            "inertia": inertia.copy(),
            "origin": origin.copy(),
        }
        for name, array in fields.items():
            array.flags.writeable = False
            object.__setattr__(self, name, array)
        object.__setattr__(self, "volume", float(volume))
        object.__setattr__(self, "radius", float((np.sqrt((centers * centers).sum(axis=1)) + radii).max()))

    @classmethod
    def _of(cls, centers: Array, radii: Array, volume: float, inertia: Array, origin: Array) -> Clump:
        """A clump of checked spheres in its frame, with known mass properties."""
        result = cls.__new__(cls)
        result._set(centers, radii, volume, inertia, origin)
        return result

    @classmethod
    def _filling(cls, solid: Mesh | Sdf, centers: Array, radii: Array) -> Clump:
        """A clump of spheres in the frame of a solid, with the solid's mass properties."""
        volume, center, second = solid_moments(solid)
        return cls._of(centers - center, radii, volume, np.trace(second) * np.eye(3) - second, -center)

    @classmethod
    def _sized(cls, centers: Any, radii: Any, radius: float) -> Clump:
        """A clump with a given bounding radius."""
        made = cls(centers, radii)
        return made.scaled(radius / made.radius)

    @classmethod
    def pair(cls, radius: float, aspect: float = 1.5) -> Clump:
        """Two equal spheres on the x axis.

        Args:
            radius: of the bounding sphere [m].
            aspect: length over width, above 1 to 2; at 2 the spheres touch.
        """
        size = _length("radius", radius)
        each = 1.0 / checks.number("aspect", aspect, 1.0, 2.0, above=True)
        return cls._sized([(each - 1.0, 0.0, 0.0), (1.0 - each, 0.0, 0.0)], each, size)

    @classmethod
    def tetrahedron(cls, radius: float, overlap: float = 0.2) -> Clump:
        """Four equal spheres at the corners of a tetrahedron.

        Args:
            radius: of the bounding sphere [m].
            overlap: of neighbours in diameters of a sphere, 0 (they touch) to 0.9.
        """
        corners = np.array([(1.0, 1.0, 1.0), (1.0, -1.0, -1.0), (-1.0, 1.0, -1.0), (-1.0, -1.0, 1.0)])
        return cls._sized(corners, _apart(math.sqrt(8.0), overlap), _length("radius", radius))

    @classmethod
    def cube(cls, radius: float, overlap: float = 0.2) -> Clump:
        """Eight equal spheres at the corners of a cube along the axes.

        Args:
            radius: of the bounding sphere [m].
            overlap: of neighbours in diameters of a sphere, 0 (they touch) to 0.9.
        """
        corners = np.array(list(itertools.product((-1.0, 1.0), repeat=3)))
        return cls._sized(corners, _apart(2.0, overlap), _length("radius", radius))

    @classmethod
    def rod(cls, radius: float, count: int, overlap: float = 0.2) -> Clump:
        """Equal spheres in a row on the x axis.

        Args:
            radius: of the bounding sphere [m].
            count: of the spheres, 2 .. 1024.
            overlap: of neighbours in diameters of a sphere, 0 (they touch) to 0.9.
        """
        n = checks.integer("count", count, 2, LARGEST_COUNT)
        x = np.arange(n) - 0.5 * (n - 1)
        centers = np.stack([x, np.zeros(n), np.zeros(n)], axis=1)
        return cls._sized(centers, _apart(1.0, overlap), _length("radius", radius))

    @classmethod
    def ring(cls, radius: float, count: int, overlap: float = 0.1) -> Clump:
        """Equal spheres on a circle around the z axis, closed.

        Args:
            radius: of the bounding sphere [m].
            count: of the spheres, 3 .. 1024; few that overlap much leave no hole.
            overlap: of neighbours in diameters of a sphere, 0 (they touch) to 0.9.
        """
        n = checks.integer("count", count, 3, LARGEST_COUNT)
        angle = np.arange(n) * (2.0 * math.pi / n)
        centers = np.stack([np.cos(angle), np.sin(angle), np.zeros(n)], axis=1)
        return cls._sized(centers, _apart(2.0 * math.sin(math.pi / n), overlap), _length("radius", radius))

    @classmethod
    def sand(cls, seed: int, count: int = 8, radius: float = 1.0) -> Clump:
        """A random angular grain: a sphere in the middle, and smaller ones that make corners.

        The corners lie on or just within an ellipsoid; each of its axes is .6 to 1 times the next longer one. The same
        seed gives the same grain.

        Args:
            seed: integer >= 0.
            count: of the spheres, 3 .. 32.
            radius: of the bounding sphere [m].
        """
        number = checks.seed("seed", seed)
        n = checks.integer("count", count, 3, _LARGEST_SAND)
        return cls._sized(*_sand(number, n), _length("radius", radius))

    @classmethod
    def from_mesh(
        cls,
        mesh: Mesh | str | os.PathLike[str],
        count: int | None = None,
        *,
        method: str = "surface",
        spacing: float | None = None,
        sphere_radius: float | None = None,
        overlap: float | None = None,
        connected: bool = True,
    ) -> Clump:
        """A clump that stands for a closed triangle mesh, in the mesh's size and axes.

        Volume, centre of mass and inertia are the mesh's, by exact integrals; where parts of it lie in each other or
        are inside out, by sums over samples, to about a percent, in which each counts once. The spheres lie within the
        mesh: edges and corners are rounded, and the method "surface" leaves out parts that are thinner than a sphere.

        Args:
            mesh: a Mesh or the path of an STL, OBJ or PLY file; metres.
            count: of the spheres, at most 1024; "inscribed": at most so many.
            method: "surface": equal spheres that touch the surface from within, evenly spaced, as they repel each other
                along it. "inscribed": one after the other the largest sphere that finds room; few of them fill most of
                the mesh.
            spacing: "surface", instead of `count`: distance between the centres of neighbours [m].
            sphere_radius: "surface": radius of the spheres [m]; None: twice the spacing. Points of the surface then lie
                within 1.1 radii of a centre where the radii of curvature are two radii or more, and within 1.9 at the
                corner of a cube. Smaller spheres keep more of edges and thin parts, and leave deeper dents between
                them. "inscribed": the smallest radius.
            overlap: "inscribed": share of a sphere's radius that later spheres may reach into it, 0 to .9; default .6.
            connected: refuse spheres that do not hang together; "inscribed" chooses such that do.

        Raises:
            MeshError: the mesh cannot be used; the message names the fault.
            ArgumentError: arguments of the other method, a mesh too thin for the spheres, more than 1024 of them, or
                spheres that do not hang together.

        Sources: Bell, Yu, Mucha 2005, section 3.3.1; Angelidakis et al., CLUMP, SoftwareX 15 (2021).
        """
        solid = _solid(mesh)
        chosen = checks.choice("method", method, ("surface", "inscribed"))
        together = checks.flag("connected", connected)
        fewest = _FEWEST_ON_SURFACE if chosen == "surface" else 1
        number = None if count is None else checks.integer("count", count, fewest, LARGEST_COUNT)
        distance = None if spacing is None else _length("spacing", spacing)
        size = None if sphere_radius is None else _length("sphere_radius", sphere_radius)
        if chosen == "surface":
            if (number is None) == (distance is None):
                raise ArgumentError(f"count: expected a count or a spacing, got count={count!r}, spacing={spacing!r}")
            if overlap is not None:
                raise ArgumentError(f"overlap: expected None for the method 'surface', got {overlap!r}")
            centers, radii = surface_spheres(solid, number, distance, size, LARGEST_COUNT)
        else:
            if number is None:
                raise ArgumentError("count: expected a number of spheres for the method 'inscribed', got None")
            if distance is not None:
                raise ArgumentError(f"spacing: expected None for the method 'inscribed', got {spacing!r}")
            share = 0.6 if overlap is None else checks.number("overlap", overlap, 0.0, 0.9)
            centers, radii = inscribed_spheres(solid, number, size or 0.0, share, together)
        if together:
            _check_connected(centers, radii)
        return cls._filling(solid, centers, radii)

    @classmethod
    def under_surface(cls, solid: Mesh | str | os.PathLike[str] | Sdf, count: int) -> Clump:
        """Spheres under the surface of a solid that grains meet as a field (`Scene.add_body`): walls, tools and other
        bodies meet them.

        Volume, centre of mass and inertia are the solid's, of a signed distance field by sums over samples, to about
        1e-3. Equal spheres touch the surface from within, evenly spaced and apart from each other by half a radius, and
        with corners and rims among their places.

        Args:
            solid: a closed mesh, the path of one, or a signed distance field with an end on all sides.
            count: of the spheres, 4 .. 1024.

        Raises:
            MeshError: the mesh cannot be used; the message names the fault.
            ArgumentError: planes and cavities, which have no end; a solid too thin for the spheres.

        Source: after Bell, Yu, Mucha 2005, section 3.3.1.
        """
        known = solid if isinstance(solid, Sdf) else _solid(solid)
        number = checks.integer("spheres", count, _FEWEST_ON_SURFACE, LARGEST_COUNT)
        return cls._filling(known, *spheres_under_surface(known, number))

    def scaled(self, factor: float) -> Clump:
        """The same clump with all lengths times a factor."""
        f = checks.number("factor", factor, 0.0, above=True)
        return Clump._of(self.centers * f, self.radii * f, self.volume * f**3, self.inertia * f**5, self.origin * f)

    def with_mass_properties(self, volume: float, inertia: Any = None) -> Clump:
        """The same spheres with another volume and inertia: those of a body that is hollow, or made of several parts.

        Args:
            volume: mass over density [m3].
            inertia: tensor (3, 3) or principal moments (3,) about the centre of mass in the clump's axes, over density
                [m5]; None: that of the clump, in proportion to the volume.

        Raises:
            ArgumentError: no inertia that a body can have.
        """
        size = checks.number("volume", volume, 0.0, above=True)
        if inertia is None:
            return Clump._of(self.centers, self.radii, size, self.inertia * (size / self.volume), self.origin)
        given = checks.doubles("inertia", inertia, (3,), (3, 3))
        tensor = np.diag(given) if given.ndim == 1 else given
        if np.abs(tensor - tensor.T).max() > 1e-6 * np.abs(tensor).max():
            raise ArgumentError(f"inertia: expected a symmetric tensor, got {tensor.tolist()}")
        moments = np.linalg.eigvalsh(tensor)
        if not (moments[0] > 0.0 and moments[2] <= (moments[0] + moments[1]) * (1.0 + 1e-6)):
            raise ArgumentError(
                "inertia: expected principal moments > 0, none above the sum of the others, got "
                f"{', '.join(f'{moment:g}' for moment in moments)}"
            )
        return Clump._of(self.centers, self.radii, size, 0.5 * (tensor + tensor.T), self.origin)

    # ---- for the engine ----

    @functools.cached_property
    def principal(self) -> tuple[Array, Array]:
        """Principal moments of inertia per density (3,) [m5], and the quaternion w x y z (4,) of the principal axes.

        With R its rotation matrix, `inertia` is R diag(moments) R^T: R turns the axes of the clump's frame into the
        principal ones. Of all frames of principal axes it is the one that the smallest turn leads to: a clump along its
        axes has the quaternion 1 0 0 0, and moments are in the order of the axes, not of size.
        """
        values, axes = np.linalg.eigh(self.inertia)
        frame = _nearest_frame(values, axes)
        moments = np.einsum("ij,ik,kj->j", frame, self.inertia, frame)
        quaternion = rotations.from_matrix(frame)
        moments.flags.writeable = quaternion.flags.writeable = False
        return moments, quaternion

    def digest(self) -> str:
        """SHA-256 of spheres and mass properties."""
        numbers = np.concatenate([[self.volume], self.inertia.reshape(-1), self.radii, self.centers.reshape(-1)])
        return hashlib.sha256(numbers.tobytes()).hexdigest()

    def __repr__(self) -> str:
        """Number of spheres, bounding radius and volume."""
        n = len(self.radii)
        return f"Clump({n} sphere{'s' if n > 1 else ''}, radius {self.radius:.4g} m, volume {self.volume:.4g} m3)"


# ---- arguments ----


def _length(name: str, value: Any) -> float:
    return checks.number(name, value, 0.0, above=True)


def _apart(distance: float, overlap: Any) -> float:
    """Radius of equal spheres that overlap by a share of their diameter at a distance of their centres."""
    return 0.5 * distance / (1.0 - checks.number("overlap", overlap, 0.0, 0.9))


def _solid(mesh: Any) -> Mesh:
    if isinstance(mesh, (str, os.PathLike)):
        return load_mesh(mesh)
    if not isinstance(mesh, Mesh):
        raise ArgumentError(f"mesh: expected a Mesh or a path, got {type(mesh).__name__}")
    repaired = mesh.repair()
    repaired.check()
    return repaired


def _spheres(centers: Any, radii: Any) -> tuple[Array, Array]:
    points = checks.numbers("centers", centers).astype(np.float64)
    if points.size == 0:
        raise ArgumentError("centers: expected at least one sphere, got none")
    if points.ndim != 2 or points.shape[1] != 3:
        raise ArgumentError(f"centers: expected shape (*, 3), got {points.shape}")
    if len(points) > LARGEST_COUNT:
        raise ArgumentError(f"centers: expected at most {LARGEST_COUNT} spheres, got {len(points)}")
    sizes = checks.numbers("radii", radii).astype(np.float64)
    if sizes.shape not in ((), (len(points),)):
        raise ArgumentError(f"radii: expected shape () or ({len(points)},), got {sizes.shape}")
    sizes = np.array(np.broadcast_to(sizes, (len(points),)))
    bad = np.flatnonzero(~(np.abs(points) <= checks.LARGEST).all(axis=1))
    if len(bad):
        raise ArgumentError(f"centers: expected finite numbers, sphere {bad[0]} is at {points[bad[0]].tolist()}")
    bad = np.flatnonzero(~((sizes > 0.0) & (sizes <= checks.LARGEST)))
    if len(bad):
        raise ArgumentError(f"radii: expected finite numbers > 0, sphere {bad[0]} has {sizes[bad[0]]:g}")
    return points, sizes


def _distances(points: Array) -> Array:
    offset = points[:, None] - points[None]
    result: Array = np.sqrt((offset * offset).sum(axis=2))
    return result


def _check_within(points: Array, sizes: Array) -> None:
    """Refuses spheres that add nothing to the union."""
    within = _distances(points) + sizes[:, None] <= sizes[None] * (1.0 + _EQUAL)
    np.fill_diagonal(within, False)
    if within.any():
        # of two equal spheres the later one
        inner, outer = (int(i) for i in np.argwhere(within)[-1])
        raise ArgumentError(
            f"centers: expected spheres that are not within others, sphere {inner} (radius {sizes[inner]:g} m at "
            f"{points[inner].tolist()}) lies within sphere {outer} (radius {sizes[outer]:g} m at "
            f"{points[outer].tolist()}); leave it out"
        )


def _check_connected(points: Array, sizes: Array) -> None:
    """Refuses spheres that do not hang together."""
    reach = sizes[:, None] + sizes[None]
    gap = _distances(points) - reach
    touch = gap <= _ROUNDING * reach
    group: NDArray[np.bool_] = np.zeros(len(points), bool)
    group[0] = True
    while not group.all():
        grown: NDArray[np.bool_] = np.any(touch[group], axis=0)
        if (grown == group).all():
            between = np.where(group[:, None] & ~group[None], gap, np.inf)
            one, two = (int(i) for i in np.unravel_index(between.argmin(), gap.shape))
            raise ArgumentError(
                f"centers: expected spheres that touch or overlap, {int(group.sum())} of {len(points)} hang together "
                f"with sphere 0; from them to the nearest other, between spheres {one} and {two}, is a gap of "
                f"{gap[one, two]:g} m; connected=False accepts it"
            )
        group = grown


# ---- sand ----


def _sand(seed: int, count: int) -> tuple[Array, Array]:
    """Spheres of a random grain: one in the middle, the others reach from it to corners of an uneven ellipsoid."""
    ratios = 0.6 + 0.4 * rng.uniform(seed, 0, 2)
    axes = np.array([1.0, ratios[0], ratios[0] * ratios[1]])
    middle = 0.7 * float(axes[2])
    centers, radii, corners = [np.zeros(3)], [middle], np.zeros((0, 3))
    stream = 0
    while len(centers) < count:
        stream += 1
        numbers = rng.uniform(seed, stream, 3 * _DIRECTIONS + 2)
        direction = 2.0 * numbers[:-2].reshape(-1, 3) - 1.0
        length = np.sqrt((direction * direction).sum(axis=1))
        fair = (length > 0.1) & (length < 1.0)
        if not fair.any():
            continue
        direction = direction[fair] / length[fair, None]
        # the direction farthest from the corners there are
        near = (direction @ corners.T).max(axis=1, initial=-1.0)
        k = int(near.argmin())
        reach = float(np.sqrt(((direction[k] * axes) ** 2).sum())) * (0.8 + 0.2 * float(numbers[-2]))
        # wide enough to overlap with the middle
        size = max(middle * (0.3 + 0.3 * float(numbers[-1])), 0.55 * (reach - middle) + 0.05 * middle)
        point = direction[k] * axes
        point *= (reach - size) / float(np.sqrt((point * point).sum()))
        distance = np.sqrt(((np.array(centers) - point) ** 2).sum(axis=1))
        # a corner juts out of every other sphere, and they out of it
        if (distance > 1.05 * np.abs(np.array(radii) - size)).all():
            centers.append(point)
            radii.append(size)
            corners = np.concatenate([corners, direction[k : k + 1]])
    return np.array(centers), np.array(radii)


# ---- principal axes ----


def _nearest_frame(values: Array, axes: Array) -> Array:
    """The right-handed frame of principal axes, as columns, that the smallest turn makes of the unit frame.

    Args:
        values: eigenvalues (3,), ascending.
        axes: eigenvectors, as columns.
    """
    close = np.diff(values) <= _EQUAL * values[2]
    if close.all():
        return np.eye(3)
    if close.any():
        # one axis is given, and the turn that brings the nearest unit vector to it brings the other two
        axis = axes[:, 2 if close[0] else 0]
        k = int(np.argmax(np.abs(axis)))
        axis = axis if axis[k] > 0.0 else -axis
        unit = np.eye(3)[k]
        v, c = np.cross(unit, axis), float(axis[k])
        skew = np.array([[0.0, -v[2], v[1]], [v[2], 0.0, -v[0]], [-v[1], v[0], 0.0]])
        result: Array = np.eye(3) + skew + skew @ skew / (1.0 + c)
        return result
    best, frame = -math.inf, np.eye(3)
    for order in itertools.permutations(range(3)):
        for signs in itertools.product((1.0, -1.0), repeat=3):
            turned = axes[:, list(order)] * signs
            trace = float(np.trace(turned))
            # turns of equal size: the first one
            if trace > best + _EQUAL and np.linalg.det(turned) > 0.0:
                best, frame = trace, turned
    return frame
