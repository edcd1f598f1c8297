"""sizes.py: distributions of grain radii, discrete and continuous, by number or by mass, and radii drawn from them.

Sieve curves give shares by mass, packings are made by number: a class of radius r with a share m of the mass has a
share of the number proportional to m / r^3.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from granular_gym.base import checks, rng
from granular_gym.errors import ArgumentError

Floats = NDArray[np.float64]
#: points of the table of a continuous distribution
_TABLE = 4097


class SizeDistribution:
    """A distribution of radii; made by `classes`, `uniform`, `normal` or `lognormal`.

    Attributes:
        radii: of the classes, or of a fine table of the range, rising [m].
        cumulated: share by number of grains up to each of them, the last one 1; of a continuous distribution the first
            one is 0 and values in between are interpolated.
        continuous: whether radii between those of the table occur.
    """

    radii: NDArray[np.float64]
    cumulated: NDArray[np.float64]
    continuous: bool
    _seed: int | None = None  # from which `sample` draws whatever it is given

    def __init__(self, radii: Floats, cumulated: Floats, continuous: bool) -> None:
        self.radii, self.cumulated, self.continuous = radii, cumulated, continuous

    def __repr__(self) -> str:
        kind = "continuous" if self.continuous else f"{len(self.radii)} classes"
        return f"SizeDistribution({kind}, {self.smallest:g} .. {self.largest:g} m, mean {self.mean_radius:g} m)"

    # ---- kinds ----

    @classmethod
    def classes(cls, radii: Any, shares: Any, by: str = "number") -> SizeDistribution:
        """A few radii with a share of the grains each.

        Args:
            radii: (n,) [m], > 0, all different.
            shares: (n,) >= 0, in any unit; they are divided by their sum.
            by: "number" or "mass": what the shares are of.
        """
        sizes = _positive("radii", radii)
        weights = checks.floats("shares", shares, (len(sizes),)).astype(np.float64)
        if not (weights >= 0.0).all() or not weights.sum() > 0.0:
            raise ArgumentError(f"shares: expected numbers >= 0 with a sum > 0, got {weights.tolist()}")
        if len(np.unique(sizes)) != len(sizes):
            raise ArgumentError(f"radii: expected different radii, got {sizes.tolist()}")
        order = np.argsort(sizes)
        sizes, weights = sizes[order], _by_number(sizes[order], weights[order], by)
        used = weights > 0.0
        cumulated = np.cumsum(weights[used])
        return cls(sizes[used], cumulated / cumulated[-1], False)

    @classmethod
    def uniform(cls, smallest: float, largest: float, by: str = "number") -> SizeDistribution:
        """All radii of a range alike [m]."""
        return cls._of_density(smallest, largest, np.ones_like, by)

    @classmethod
    def normal(
        cls, mean: float, deviation: float, smallest: float, largest: float, by: str = "number"
    ) -> SizeDistribution:
        """A normal distribution cut off at both ends.

        Args:
            mean: of the whole bell [m], within its ends.
            deviation: its standard deviation [m], > 0.
            smallest: radius [m], > 0.
            largest: radius [m].
            by: "number" or "mass": what the bell counts.
        """
        middle = checks.number("mean", mean)
        width = checks.number("deviation", deviation, 0.0, above=True)
        sizes = cls._of_density(smallest, largest, lambda r: np.exp(-0.5 * ((r - middle) / width) ** 2), by)
        if not sizes.smallest <= middle <= sizes.largest:
            raise ArgumentError(f"mean: expected one in {sizes.smallest:g} .. {sizes.largest:g} m, got {middle:g}")
        return sizes

    @classmethod
    def lognormal(
        cls, median: float, sigma: float, smallest: float, largest: float, by: str = "number"
    ) -> SizeDistribution:
        """A lognormal distribution cut off at both ends.

        Args:
            median: of the whole distribution [m], > 0.
            sigma: standard deviation of the logarithm of the radius, > 0.
            smallest: radius [m], > 0.
            largest: radius [m].
            by: "number" or "mass": what the distribution counts.
        """
        middle = math.log(checks.number("median", median, 0.0, above=True))
        width = checks.number("sigma", sigma, 0.0, above=True)
        return cls._of_density(smallest, largest, lambda r: np.exp(-0.5 * ((np.log(r) - middle) / width) ** 2) / r, by)

    @classmethod
    def _of_density(
        cls, smallest: float, largest: float, density: Callable[[Floats], Floats], by: str
    ) -> SizeDistribution:
        low = checks.number("smallest", smallest, 0.0, above=True)
        high = checks.number("largest", largest, 0.0, above=True)
        if not low <= high:
            raise ArgumentError(f"largest: expected at least smallest ({low:g} m), got {high:g}")
        checks.choice("by", by, ("number", "mass"))
        if low == high:
            return cls(np.array([low]), np.ones(1), False)
        radii = np.linspace(low, high, _TABLE)
        height = _by_number(radii, np.asarray(density(radii), np.float64), by)
        cumulated = np.concatenate([[0.0], np.cumsum(0.5 * (height[1:] + height[:-1]))])
        if not (np.isfinite(cumulated[-1]) and cumulated[-1] > 0.0):
            raise ArgumentError(f"smallest, largest: expected a range that holds grains, got {low:g} .. {high:g} m")
        return cls(radii, cumulated / cumulated[-1], True)

    # ---- figures ----

    @property
    def smallest(self) -> float:
        """Smallest radius [m]."""
        return float(self.radii[0])

    @property
    def largest(self) -> float:
        """Largest radius [m]."""
        return float(self.radii[-1])

    @property
    def mean_radius(self) -> float:
        """Mean radius by number [m]."""
        return self.moment(1)

    @property
    def mean_volume(self) -> float:
        """Mean volume of a grain [m3]."""
        return 4.0 / 3.0 * math.pi * self.moment(3)

    def moment(self, power: float) -> float:
        """Mean of radius^power by number [m^power]."""
        checks.number("power", power)
        if self.continuous:
            each = self.radii**power
            return float((np.diff(self.cumulated) * 0.5 * (each[1:] + each[:-1])).sum())
        return float((np.diff(self.cumulated, prepend=0.0) * self.radii**power).sum())

    def count_of_mass(self, mass: float, density: float) -> int:
        """How many grains of this density [kg/m3] weigh about `mass` [kg]."""
        weight = checks.number("density", density, 0.0, above=True) * self.mean_volume
        return round(checks.number("mass", mass, 0.0) / weight)

    # ---- radii ----

    def seeded(self, seed: int) -> SizeDistribution:
        """The same distribution with a seed of its own: as many grains have the same radii wherever they are filled in.

        Args:
            seed: >= 0, from which `sample` draws whatever seed it is given.
        """
        result = SizeDistribution(self.radii, self.cumulated, self.continuous)
        result._seed = checks.seed("seed", seed)
        return result

    def sample(self, count: int, seed: int = 0) -> Floats:
        """Radii in random order, float64 (count,) [m].

        They are spread over the distribution as evenly as `count` allows (one in each of `count` slices of equal
        share), so that the number of grains of each class is that of its share to within one.

        Args:
            count: >= 0.
            seed: >= 0; the same seed gives the same radii. Of a distribution from `seeded` its own stands for it.
        """
        n = checks.integer("count", count, 0)
        key = checks.seed("seed", seed) if self._seed is None else self._seed
        # one number per slice, then the slices in random order
        u = (np.arange(n) + rng.uniform(key, 17, n)) / max(n, 1)
        u = u[np.argsort(rng.uniform(key, 18, n), kind="stable")]
        if self.continuous:
            return np.interp(u, self.cumulated, self.radii)
        return self.radii[np.minimum(np.searchsorted(self.cumulated, u, side="right"), len(self.radii) - 1)]


def _positive(name: str, value: Any) -> Floats:
    checks.floats(name, value, (None,))
    array = np.asarray(value, np.float64)
    if not array.size or not (array > 0.0).all():
        raise ArgumentError(f"{name}: expected at least one length > 0, got {array.tolist()}")
    return array


def _by_number(radii: Floats, weights: Floats, by: str) -> Floats:
    """Weights by number from weights by number or by mass."""
    checks.choice("by", by, ("number", "mass"))
    # relative to the largest radius, so that nothing overflows
    return weights if by == "number" else weights / (radii / radii[-1]) ** 3


def quantiles(radii: Sequence[float] | Floats, shares: Sequence[float], by: str = "mass") -> Floats:
    """Radii below which these shares of a sample lie, by mass as in a sieve curve (d50 is twice the one of 0.5).

    Args:
        radii: (n,) [m].
        shares: each 0 .. 1.
        by: "number" or "mass".
    """
    sizes = np.sort(_positive("radii", radii))
    checks.choice("by", by, ("number", "mass"))
    weights = np.ones_like(sizes) if by == "number" else sizes**3
    cumulated = np.cumsum(weights) / weights.sum()
    wanted = checks.floats("shares", shares, (None,)).astype(np.float64)
    if wanted.size and not (wanted.min() >= 0.0 and wanted.max() <= 1.0):
        raise ArgumentError(f"shares: expected numbers in 0 .. 1, got {wanted.tolist()}")
    return sizes[np.minimum(np.searchsorted(cumulated, wanted), len(sizes) - 1)]
