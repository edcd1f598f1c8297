"""continuum.py: what continuous matter is made of, and how a body of it is cut into particles.

The laws behind the numbers are in docs/continuum.md. Every value is checked where it is given.
"""

from __future__ import annotations

import dataclasses
import math
import warnings
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from granular_gym.base import checks
from granular_gym.engine.lattice import LARGEST_GRAIN_COUNT
from granular_gym.errors import ArgumentError, StabilityWarning
from granular_gym.shapes.mesh import Mesh
from granular_gym.shapes.sdf import Sdf, SdfPart
from granular_gym.shapes.sdf_values import bounds, distances

Floats = NDArray[np.float64]

#: GG_UNYIELDING of the engine: a stress that nothing reaches [Pa]
_UNYIELDING = 1e30
#: moduli and stresses that the engine accepts [Pa]
_LARGEST_MODULUS = 1e12
#: radius of the sphere of a particle's volume, over the particles' distance
_RADIUS = (3.0 / (4.0 * math.pi)) ** (1.0 / 3.0)
#: samples of the field of a mesh along its longest side
_SAMPLES = 64


def _modulus(name: str, value: Any) -> float:
    return checks.number(name, value, 0.0, _LARGEST_MODULUS, above=True)


def _poisson(value: Any) -> float:
    ratio = checks.number("poisson_ratio", value)
    if not -1.0 < ratio < 0.5:
        raise ArgumentError(f"poisson_ratio: expected a number above -1 and below 0.5, got {ratio:g}")
    return ratio


def _row(
    bulk: float,
    shear: float,
    strength: float = _UNYIELDING,
    slope: float = 0.0,
    tension: float = _UNYIELDING,
    viscosity: float = 0.0,
    liquid: float = 0.0,
    dilatancy: float = 0.0,
    dilation: float = 0.0,
) -> tuple[float, ...]:
    """A material as the engine takes it, gg_continuum_material: moduli, yield stress, its slope, largest tension,
    viscosity, bulk modulus of a liquid, dilatancy, largest strain by it."""
    return bulk, shear, strength, slope, tension, viscosity, liquid, dilatancy, dilation


_NONE = _row(0.0, 0.0, 0.0, 0.0, 0.0)


class _Solid:
    """What all solids share: moduli from Young's modulus and Poisson's ratio."""

    young_modulus: float
    poisson_ratio: float

    @property
    def moduli(self) -> tuple[float, float]:
        """Bulk and shear modulus [Pa]."""
        bulk = self.young_modulus / (3.0 * (1.0 - 2.0 * self.poisson_ratio))
        return bulk, self.young_modulus / (2.0 * (1.0 + self.poisson_ratio))


@dataclasses.dataclass(frozen=True)
class Elastic(_Solid):
    """Linear corotated elasticity: rubber, gel, a soft body that returns to its shape.

    Attributes:
        young_modulus: [Pa], > 0.
        poisson_ratio: above -1, below 0.5.
        viscosity: of a damper beside it [Pa s], >= 0.
    """

    young_modulus: float
    poisson_ratio: float
    viscosity: float = 0.0

    def __post_init__(self) -> None:
        _modulus("young_modulus", self.young_modulus)
        _poisson(self.poisson_ratio)
        checks.number("viscosity", self.viscosity, 0.0, 1e9)

    def columns(self) -> tuple[float, ...]:
        """A row of the engine's table: `_row`."""
        return _row(*self.moduli, viscosity=self.viscosity)


@dataclasses.dataclass(frozen=True)
class VonMises(_Solid):
    """Elasticity up to a yield stress, beyond it flow: dough, clay, plasticine.

    Attributes:
        young_modulus: [Pa], > 0.
        poisson_ratio: above -1, below 0.5.
        yield_stress: largest norm of the deviatoric Kirchhoff stress [Pa], >= 0; a rod that is pulled flows at
            sqrt(3/2) times it.
        viscosity: of a damper beside it [Pa s], >= 0.
    """

    young_modulus: float
    poisson_ratio: float
    yield_stress: float
    viscosity: float = 0.0

    def __post_init__(self) -> None:
        _modulus("young_modulus", self.young_modulus)
        _poisson(self.poisson_ratio)
        checks.number("yield_stress", self.yield_stress, 0.0, _LARGEST_MODULUS)
        checks.number("viscosity", self.viscosity, 0.0, 1e9)

    def columns(self) -> tuple[float, ...]:
        """A row of the engine's table: `_row`."""
        return _row(*self.moduli, self.yield_stress, viscosity=self.viscosity)


@dataclasses.dataclass(frozen=True)
class DruckerPrager(_Solid):
    """Elasticity up to a yield stress that rises with the pressure, and no tension but cohesion: sand, soil.

    The cone is that which is Mohr and Coulomb's in plane strain: the shear stress on a plane is at most
    cohesion + tan(friction_angle) times the pressure on it. Sand that flows grows in volume by sin(dilatancy_angle)
    times the shear in plane strain, until it has grown by `dilation`: its critical state, at which it flows on at
    constant volume. Nothing compacts it again. At the default of 0 it flows at constant volume throughout.

    Attributes:
        young_modulus: [Pa], > 0.
        poisson_ratio: above -1, below 0.5.
        friction_angle: [degrees], 0 to below 90.
        cohesion: [Pa], >= 0.
        viscosity: of a damper beside it [Pa s], >= 0.
        dilatancy_angle: [degrees], 0 to friction_angle.
        dilation: largest volumetric strain by dilatancy, 0 to 1.
    """

    young_modulus: float
    poisson_ratio: float
    friction_angle: float
    cohesion: float = 0.0
    viscosity: float = 0.0
    dilatancy_angle: float = 0.0
    dilation: float = 0.1

    def __post_init__(self) -> None:
        _modulus("young_modulus", self.young_modulus)
        _poisson(self.poisson_ratio)
        angle = checks.number("friction_angle", self.friction_angle, 0.0)
        if angle >= 90.0:
            raise ArgumentError(f"friction_angle: expected an angle from 0 to below 90 degrees, got {angle:g}")
        checks.number("cohesion", self.cohesion, 0.0, _LARGEST_MODULUS)
        checks.number("viscosity", self.viscosity, 0.0, 1e9)
        checks.number("dilatancy_angle", self.dilatancy_angle, 0.0, angle)
        checks.number("dilation", self.dilation, 0.0, 1.0)

    def columns(self) -> tuple[float, ...]:
        """A row of the engine's table: `_row`."""
        friction, dilatancy = math.radians(self.friction_angle), math.sin(math.radians(self.dilatancy_angle))
        # Flow in plane strain, where the deviatoric stress s has the component -grows |s| / 3 along the axis without
        # strain: what Mohr's circle has of |s| as its radius, and the pressure in the plane less than the mean one
        grows = math.sqrt(2.0) * dilatancy / math.sqrt(1.0 + dilatancy**2 / 3.0)
        radius = math.sqrt(0.5 * (1.0 - grows**2 / 6.0)) + math.sin(friction) * grows / 6.0
        slope, strength = math.sin(friction) / radius, self.cohesion * math.cos(friction) / radius
        # where the cone ends: no shear is left
        tension = strength / slope if slope > 0.0 else (_UNYIELDING if self.cohesion else 0.0)
        tension = min(tension, _UNYIELDING)
        return _row(*self.moduli, strength, slope, tension, self.viscosity, 0.0, grows, self.dilation)


@dataclasses.dataclass(frozen=True)
class Liquid:
    """A weakly compressible liquid: water, oil, slurry. It has no tension and no surface tension.

    The bulk modulus says by how much it gives, p / bulk_modulus under a pressure p; that of water, 2.2 GPa, costs many
    iterations for a compression that nobody sees. density * (10 * speed)^2 keeps changes of density below one percent.

    Attributes:
        bulk_modulus: [Pa], > 0.
        viscosity: dynamic [Pa s], >= 0; that of water is .001, of honey 10.
    """

    bulk_modulus: float
    viscosity: float = 0.0

    def __post_init__(self) -> None:
        _modulus("bulk_modulus", self.bulk_modulus)
        checks.number("viscosity", self.viscosity, 0.0, 1e9)

    def columns(self) -> tuple[float, ...]:
        """A row of the engine's table: `_row`."""
        return _row(0.0, 0.0, 0.0, viscosity=self.viscosity, liquid=self.bulk_modulus)


Continuum = Elastic | VonMises | DruckerPrager | Liquid
#: the same for checks
CONTINUA = (Elastic, VonMises, DruckerPrager, Liquid)


def continuum_arrays(spacing: float | None, materials: Sequence[Continuum | None]) -> dict[str, Any] | None:
    """The `continuum` argument of the engine's world; None where there are no particles."""
    if spacing is None:
        return None
    rows = [_NONE if each is None else each.columns() for each in materials]
    return {"spacing": float(spacing), "material": np.array(rows, np.float64).reshape(len(rows), len(_NONE))}


#: spacings of the grid that tools beside liquids should be thick
_THICK = 2.0
#: half of the least width of a part, from its sizes, by kind; of others it is not known
_HALF_WIDTHS: dict[str, Callable[[Sequence[float]], float]] = {
    "box": min,
    "cylinder": min,
    "sphere": min,
    "capsule": lambda size: size[0],
}


def warn_of_thin_tools(
    spacing: float | None, materials: Iterable[Continuum | None], solids: Iterable[tuple[str, Sdf]]
) -> None:
    """Warns where pressure of a liquid would act through a tool: `csrc/solvers/continuum/room.h`.

    Args:
        spacing: of the nodes of the grid [m]; None: no continuum.
        materials: those of the scene.
        solids: name and shape of each tool.
    """
    if spacing is None or not any(isinstance(each, Liquid) for each in materials):
        return
    widths = [(_width(part), name) for name, sdf in solids for part in sdf.parts]
    thin, name = min(widths, default=(np.inf, ""))
    if thin < _THICK * spacing * (1.0 - 1e-6):  # sizes are in single precision
        warnings.warn(
            f"tool {name!r}: expected a thickness of at least {_THICK:g} spacings of the grid beside a liquid, "
            f"{_THICK * spacing:.3g} m, got {thin:.3g} m; pressure acts through it",
            StabilityWarning,
            stacklevel=3,
        )


def _width(part: SdfPart) -> float:
    """Of a part at its thinnest [m]; of a mesh the most that its thickest place may have, of others infinite."""
    if part.grid is not None:
        return -2.0 * float(part.grid.samples.min()) + part.grid.spacing
    return 2.0 * _HALF_WIDTHS[part.kind](part.size) if part.kind in _HALF_WIDTHS else math.inf


# ---- particles ----


def sphere_of(distance: float) -> float:
    """Radius of the sphere of the volume of a particle [m], from the distance of particles [m]."""
    radius: float = _RADIUS * distance
    return radius


def fill(low: Floats, high: Floats, distance: float) -> tuple[Floats, float]:
    """Particles that fill a box.

    Args:
        low: corner (3,) [m].
        high: other corner (3,) [m].
        distance: of particles [m]; it is changed so that a whole number of them fills each side, the outermost ones as
            far from it as they touch a wall.

    Returns:
        Places (n, 3) [m], and the radius of a sphere of the volume of each [m].

    Raises:
        ArgumentError: the box is thinner than half that distance, or takes too many particles.
    """
    sides = high - low
    if not (sides > 0.5 * distance).all():
        raise ArgumentError(
            f"lower, upper: expected a box thicker than half the distance of particles ({distance:g} m) on all sides, "
            f"got {sides.tolist()} m; a grid with a smaller spacing has smaller particles"
        )
    counts = np.maximum(np.round(sides / distance), 1.0)
    if counts.prod() > LARGEST_GRAIN_COUNT:
        raise ArgumentError(
            f"lower, upper, spacing: expected at most {LARGEST_GRAIN_COUNT} particles, got {counts.prod():g}"
        )
    apart = sides / counts
    side = float(apart.prod() ** (1.0 / 3.0))
    each = [low[k] + (np.arange(counts[k]) + 0.5) * apart[k] for k in range(3)]
    for k in range(3):
        # what touches a floor lies half the side of its volume above it: else it would be pushed off as it begins
        if counts[k] > 1 and abs(apart[k] - side) > 1e-6 * side:
            each[k] = np.linspace(low[k] + 0.5 * side, high[k] - 0.5 * side, int(counts[k]))
    # bottom up, as grains are
    z, y, x = np.meshgrid(each[2], each[1], each[0], indexing="ij")
    points = np.stack([x.ravel(), y.ravel(), z.ravel()], axis=1)
    return points, sphere_of(side)


def fill_solid(solid: Mesh | Sdf, distance: float) -> tuple[Floats, float]:
    """Particles inside a solid, on a lattice with the middle of its box at the middle of a cell; likewise. Each stands
    for its share of the volume of the solid.

    Raises:
        ArgumentError: a solid without an end, or too thin for the particles.
        MeshError: the mesh is not closed.
    """
    if isinstance(solid, Mesh):
        box = np.asarray(solid.bounds, np.float64)
        field = Sdf.from_mesh(solid, spacing=float(max(np.ptp(box, axis=0).max() / _SAMPLES, 0.25 * distance)))
    else:
        box, field = bounds(solid), solid
    if not np.isfinite(box).all():
        raise ArgumentError("shape: expected a solid with an end on all sides, got one without")
    middle, half = box.mean(axis=0), np.ceil(np.ptp(box, axis=0) / distance / 2.0 + 0.5) * distance
    points, _ = fill(middle - half, middle + half, distance)
    inside = points[distances(field, points) < 0.0]
    if len(inside) == 0:
        raise ArgumentError(f"shape: expected a solid that holds a particle, those are {distance:g} m apart")
    share = _volume(field, middle - half, middle + half, distance) / len(inside)
    return _under_surface(field, inside, distance), sphere_of(share ** (1.0 / 3.0))


def _volume(field: Sdf, low: Floats, high: Floats, distance: float) -> float:
    """Volume of a solid [m3], by samples a third of the distance of particles apart; those at its surface count in
    part."""
    total, apart = 0.0, distance / 3.0
    counts = np.round((high - low) / apart).astype(int)
    x, y, z = (low[k] + (np.arange(counts[k]) + 0.5) * apart for k in range(3))
    for layer in z:
        places = np.stack(np.meshgrid(x, y, [layer], indexing="ij"), axis=-1).reshape(-1, 3)
        total += float(np.clip(0.5 - distances(field, places) / apart, 0.0, 1.0).sum())
    return total * apart**3


def _under_surface(field: Sdf, points: Floats, distance: float) -> Floats:
    """The same particles, those of the outermost layer moved to half their distance under the surface: the surface of
    the matter is then that of the solid, not of a lattice."""
    depth, step = distances(field, points), 1e-3 * distance
    outer = depth > -distance
    slopes = [
        (distances(field, points[outer] + step * axis) - distances(field, points[outer] - step * axis)) / (2.0 * step)
        for axis in np.eye(3)
    ]
    normals = np.stack(slopes, axis=1)
    lengths = np.maximum(np.linalg.norm(normals, axis=1, keepdims=True), 1e-6)
    moved = points.copy()
    moved[outer] -= normals / lengths * (depth[outer] + 0.5 * distance)[:, None]
    result: Floats = moved
    return result


def fill_heights(low: Floats, high: Floats, heights: Any, distance: float) -> tuple[Floats, float]:
    """Particles of a box that lie below a height field, samples (rows, columns) of which spread evenly over x and y of
    the box, its edges included; likewise.

    Raises:
        ArgumentError: heights that are not finite, fewer than 2 x 2 of them, none above the box's floor, some above its
            top, or none so high that there is a particle.
    """
    field = checks.numbers("heights", heights).astype(np.float64)
    if field.ndim != 2 or min(field.shape) < 2:
        raise ArgumentError(f"heights: expected (rows, columns), 2 x 2 or more, got {field.shape}")
    if not np.isfinite(field).all():
        raise ArgumentError("heights: expected finite numbers, got some that are not")
    if not field.max() > low[2]:
        raise ArgumentError(f"heights: expected some above the floor of the box at {low[2]:g} m, got {field.max():g}")
    if field.max() > high[2] + 1e-3 * distance:  # corners are in single precision
        raise ArgumentError(f"heights: expected at most the top of the box at {high[2]:g} m, got {field.max():g}")
    top = high.copy()
    top[2] = low[2] + math.ceil((field.max() - low[2]) / distance) * distance
    points, radius = fill(low, top, distance)
    place = (points[:, :2] - low[:2]) / (high[:2] - low[:2]) * (np.array(field.shape[::-1]) - 1)
    cell = np.minimum(place.astype(int), np.array(field.shape[::-1]) - 2)
    fx, fy = (place - cell).T
    column, row = cell.T
    under = (1 - fy) * ((1 - fx) * field[row, column] + fx * field[row, column + 1])
    under += fy * ((1 - fx) * field[row + 1, column] + fx * field[row + 1, column + 1])
    below: Floats = points[points[:, 2] < under]
    if len(below) == 0:
        raise ArgumentError(f"heights: expected some above half a particle, {distance:g} m wide, got {field.max():g}")
    return below, radius


# ---- matter that shares space ----

#: share of the room of a particle that another body may fill: a quarter where the two meet, within the other one 1
_SHARED = 0.7
#: how full particles that are placed one by one may make the room that they are in, on average
_CROWDED = 2.0


def shared(points: Floats, others: Floats, radius: float, other_radius: float) -> NDArray[np.int64]:
    """Which particles of a body lie in another one, deeper than half a particle.

    Args:
        points: those of the body (n, 3) [m].
        others: those of the other one (m, 3) [m].
        radius: of the sphere of a particle's volume in the body [m].
        other_radius: in the other one [m].

    Returns:
        Indices of the body's.
    """
    here, filled = _filled(points, others, radius, other_radius)
    inside: NDArray[np.int64] = here[filled > _SHARED]
    return inside


def check_crowd(points: Floats, radius: float, distance: float) -> None:
    """Refuses particles so near each other that the matter would have several times its density.

    Args:
        points: theirs (n, 3), at least one [m].
        radius: of the sphere of the volume of each [m].
        distance: of particles [m].

    Raises:
        ArgumentError: they are.
    """
    most = float(_filled(points, points, radius, radius)[1].mean())
    if most > _CROWDED:
        raise ArgumentError(
            f"points: expected places about {distance:g} m apart, as each stands for a cube so wide, got such that the "
            f"matter is {most:.3g} times as dense; a smaller spacing of the grid has smaller particles"
        )


def _filled(points: Floats, others: Floats, radius: float, other_radius: float) -> tuple[NDArray[np.int64], Floats]:
    """How full other particles make the room of particles: 1 within a body. See `shared`.

    Returns:
        Indices of those that have others near, and the share of each.
    """
    apart = max(radius, other_radius) / _RADIUS
    # only where both are
    low = np.maximum(points.min(axis=0), others.min(axis=0)) - 2.0 * apart
    high = np.minimum(points.max(axis=0), others.max(axis=0)) + 2.0 * apart
    here, there = (np.flatnonzero(((each > low) & (each < high)).all(axis=1)) for each in (points, others))
    if not (len(here) and len(there)):
        return here[:0], np.zeros(0)
    # the volume of the others on the nodes of a grid as wide as a particle, and from there where the particles are
    across = np.ceil((high - low) / apart).astype(np.int64) + 1
    nodes, weights = _corners((others[there] - low) / apart, across)
    known, at = np.unique(nodes, return_inverse=True)
    full = np.bincount(at.reshape(-1), weights.reshape(-1)) * (other_radius / _RADIUS / apart) ** 3
    nodes, weights = _corners((points[here] - low) / apart, across)
    at = np.minimum(np.searchsorted(known, nodes), len(known) - 1)
    filled: Floats = (np.where(known[at] == nodes, full[at], 0.0) * weights).sum(axis=0)
    return here, filled


def _corners(places: Floats, across: NDArray[np.int64]) -> tuple[NDArray[np.int64], Floats]:
    """Numbers of the eight nodes around each of n places, of a grid with so many along each axis, and their shares of
    it, both (8, n); places are in units of the nodes' distance."""
    cell = np.floor(places).astype(np.int64)
    nodes = cell + np.indices((2, 2, 2)).reshape(3, -1).T[:, None]
    return (nodes[..., 0] * across[1] + nodes[..., 1]) * across[2] + nodes[..., 2], np.prod(
        1.0 - np.abs(places - nodes), axis=2
    )
