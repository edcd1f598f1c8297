"""bulk.py: measures of a packing, of granular_gym or of another code."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import cKDTree

import granular_gym as gg
from testbed.beds import DIAMETER, RADIUS

Floats = NDArray[Any]
#: largest gap of a contact [diameters]: float32 resolves contacts of rigid grains to about 1e-5, and from there to 5e-4
#: their number hardly increases
TOUCH = 1e-4
#: contacts with less than this fraction of the mean force do not count
PRESSING = 1e-3


def slab_profile(values: Floats, edges: Floats, area: float, radius: float = RADIUS) -> Floats:
    """Solid fraction in slabs between edges along one axis: exact volumes of spheres cut by planes.

    Args:
        values: (n,) coordinates of the centres along the axis [m].
        edges: (k + 1,) ascending [m].
        area: of the cross-section [m2].
        radius: of the grains [m].
    """
    h = np.clip(edges[None, :] - (np.asarray(values, np.float64)[:, None] - radius), 0.0, 2.0 * radius)
    below = np.pi * h**2 * (3.0 * radius - h) / 3.0
    return np.diff(below, axis=1).sum(axis=0) / (np.diff(edges) * area)


def solid_fraction(positions: Floats, lower: Any, upper: Any, radius: float = RADIUS, samples: int = 200_000) -> float:
    """Fraction of random points of a box that lie inside grains; accurate to .001."""
    points = np.random.default_rng(0).uniform(lower, upper, (samples, 3))
    distance, _ = cKDTree(positions).query(points, distance_upper_bound=radius)
    return float(np.isfinite(distance).mean())


def contacts(positions: Floats, touch: float = TOUCH, diameter: float = DIAMETER) -> NDArray[np.int64]:
    """Pairs (n, 2) whose surfaces are closer than `touch` diameters."""
    found = cKDTree(positions).query_pairs(diameter * (1.0 + touch), output_type="ndarray")
    return np.asarray(found, np.int64).reshape(-1, 2)


def coordination(positions: Floats, inside: NDArray[np.bool_], needed: int = 0, touch: float = TOUCH) -> float:
    """Mean coordination of the grains inside; see `contacts` and `mean_degree`."""
    return mean_degree(contacts(np.asarray(positions, np.float64), touch), len(positions), inside, needed)


def mean_degree(pairs: NDArray[Any], count: int, inside: NDArray[np.bool_], needed: int = 0) -> float:
    """Mean number of contacts between grains, over the grains inside.

    Args:
        pairs: grains in contact (n, 2).
        count: number of all grains.
        inside: mask of the grains that count (count,).
        needed: grains with fewer contacts are rattlers and are removed repeatedly; 0: none are removed.
    """
    alive = np.ones(count, bool)
    while True:
        pairs = pairs[alive[pairs].all(axis=1)]
        degree = np.bincount(pairs.ravel(), minlength=count)
        # grains outside may be in contact with walls, which are not in `pairs`
        rattles = alive & inside & (degree < needed)
        if not rattles.any():
            return float(degree[alive & inside].mean())
        alive &= ~rattles


def pressing(world: gg.World, share: float = PRESSING) -> NDArray[np.int32]:
    """Pairs of grains (n, 2) whose contact force exceeds `share` of the mean of all nonzero forces."""
    found = world.contacts()
    force = np.linalg.norm(found.forces, axis=1)
    grains = (found.pairs[:, 1] >= 0) & (force > 0.0)
    some = grains & (force > share * (force[grains].mean() if grains.any() else 0.0))
    return found.pairs[some]


def core(positions: Floats, lower: Any, upper: Any) -> NDArray[np.bool_]:
    """Mask of the centres inside a box (n,)."""
    return np.asarray(((positions > lower) & (positions < upper)).all(axis=1))


def depth_profile(x: Floats, edges: Floats, width: float, fraction: float = 0.58, radius: float = RADIUS) -> Floats:
    """Depth of a deposit along x [m]: volume of the grains over width and solid fraction."""
    return slab_profile(x, edges, width, radius) / fraction


def growth(speeds: Any) -> float:
    """Median of the last six rms speeds over that of the first six; speeds below 1e-6 m/s count as that."""
    line = np.maximum(np.asarray(speeds, np.float64), 1e-6)
    return float(np.median(line[-6:]) / np.median(line[:6]))
