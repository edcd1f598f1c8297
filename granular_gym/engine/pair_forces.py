"""pair_forces.py: the sampled forces of one pair of kinds of grains, and how values between the samples are found.

The engine reads them by the same rule (csrc/solvers/spheres/table/table.h): linear along each axis, so that a value
never leaves the range of the samples around it, rises where they rise and is nowhere steeper than between two nodes.
"""

from __future__ import annotations

import dataclasses
import itertools
import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from granular_gym.base import checks
from granular_gym.base.types import Floats
from granular_gym.errors import TableError

Singles = NDArray[np.float32]

#: the axes, in the order of the dimensions of the samples
AXES = ("gap", "normal_velocity", "sliding_speed")
#: what is sampled: the first two add up to the normal force
FORCES = ("elastic", "dissipative", "tangential")
#: nodes of an axis that the engine takes, at least and at most
LEAST_NODES, MOST_NODES = (2, 1, 1), 1024
#: values of nodes [m], [m/s] and of forces [N] that the engine takes
_LARGEST_NODE, _LARGEST_FORCE = 1e6, 1e15


@dataclasses.dataclass(frozen=True, eq=False)
class PairForces:
    """Forces of one pair of kinds at the nodes of a grid.

    Attributes:
        gap: distance less the sum of radii, of bonded grains less the length of the bond, to a wall or a tool less the
            radius (g,) [m], rising, two nodes or more. From the last one on there is no force.
        normal_velocity: (n,) [m/s], rising; above 0 the two part.
        sliding_speed: (s,) [m/s], rising, >= 0.
        elastic: normal force (g, n, s) [N], above 0 apart.
        dissipative: what comes to it by dissipation (g, n, s) [N].
        tangential: (g, n, s) [N], against the sliding.

    Beyond the other ends of the axes forces are those of the ends.

    Raises:
        TableError: an axis that does not rise, a shape that does not fit, or a number that is not finite.
    """

    gap: Singles
    normal_velocity: Singles
    sliding_speed: Singles
    elastic: Singles
    dissipative: Singles
    tangential: Singles

    def __post_init__(self) -> None:
        for name, least in zip(AXES, LEAST_NODES, strict=True):
            lower = 0.0 if name == "sliding_speed" else -_LARGEST_NODE
            self._set(name, _nodes(name, getattr(self, name), least, lower))
        shape = tuple(len(getattr(self, name)) for name in AXES)
        for name in FORCES:
            self._set(name, _samples(name, getattr(self, name), shape))

    def _set(self, name: str, value: Singles) -> None:
        value.flags.writeable = False
        object.__setattr__(self, name, value)

    def __repr__(self) -> str:
        nodes = " x ".join(str(len(getattr(self, name))) for name in AXES)
        return f"PairForces({nodes} nodes, gap {self.gap[0]:g} .. {self.gap[-1]:g} m)"

    def samples(self) -> Singles:
        """Normal and tangential forces (g, n, s, 2) [N], as the engine takes them."""
        normal = self.elastic.astype(np.float64) + self.dissipative
        return np.stack([normal, self.tangential], axis=-1).astype(np.float32)

    def __call__(self, gap: Any, normal_velocity: Any, sliding_speed: Any) -> tuple[Floats, Floats, Floats]:
        """Elastic, dissipative and tangential force [N] at these values, which are broadcast."""
        given = (gap, normal_velocity, sliding_speed)
        points = np.broadcast_arrays(*(np.asarray(value, np.float64) for value in given))
        places = [_place(getattr(self, name), point) for name, point in zip(AXES, points, strict=True)]
        inside = points[0] < self.gap[-1]
        found = []
        for name in FORCES:
            samples = getattr(self, name).astype(np.float64)
            total = np.zeros(points[0].shape)
            for corner in itertools.product((0, 1), repeat=3):
                index = tuple(place[side] for place, side in zip(places, corner, strict=True))
                weight = np.ones(points[0].shape)
                for (_, _, share), side in zip(places, corner, strict=True):
                    weight = weight * (share if side else 1.0 - share)
                total += weight * samples[index]
            found.append(np.where(inside, total, 0.0))
        return found[0], found[1], found[2]

    def longest_step(self, mass: float) -> float:
        """The longest time step [s] with which one contact is stable wherever it is: k dt^2 + 2 c dt <= 4 m.

        In symplectic Euler steps the linear motion about a point of the table, whose normal force falls there by k
        with the gap and by c with the normal velocity, has the roots of z^2 - (2 - (k dt + c) dt / m) z + 1 - c dt / m;
        for k, c >= 0 they are within the unit circle as long as this holds. Between nodes k is the slope of an edge
        along the gap, interpolated along the other two axes, and c likewise; so within a cell k dt^2 + 2 c dt is linear
        in each variable, and is largest at a corner, with the slopes of the two edges of the cell that meet there. All
        corners of all cells are asked: the bound is that of the least stable point, none is passed over, and the
        steepest k and the steepest c of points that are far apart are not taken together. What it does not say: that
        steps through many points, each of them stable, cannot gain energy.

        Args:
            mass: effective mass of the two sides, m1 m2 / (m1 + m2); to a tool that of the grain [kg].
        """
        stiffness, damping = self._corners()
        longest, dt = math.inf, 1.0
        for _ in range(100):
            # of the corner that is worst at the step before: never too short, and after a few it is worst at its own
            worst = int(np.argmax((stiffness * dt + 2.0 * damping) * dt))
            dt = _longest(float(stiffness[worst]), float(damping[worst]), mass)
            if not dt < longest * (1.0 - 1e-9):
                break
            longest = dt
        return longest

    def _corners(self) -> tuple[Floats, Floats]:
        """Falls of the normal force with the gap and with the normal velocity, where they are largest in each cell."""
        normal = self.samples()[..., 0]
        stiffness = np.maximum(-_slopes(normal, self.gap, 0), 0.0)
        if len(self.normal_velocity) == 1:
            return stiffness.reshape(-1), np.zeros(stiffness.size)
        damping = np.maximum(-_slopes(normal, self.normal_velocity, 1), 0.0)
        stiffness = np.maximum(stiffness[:, 1:], stiffness[:, :-1])
        damping = np.maximum(damping[1:], damping[:-1])
        return stiffness.reshape(-1), damping.reshape(-1)

    def calm_step(self, mass: float, turning: bool = False) -> float:
        """The longest time step [s] with which piles are calm: half of `longest_step`, and friction does not tremble.

        Args:
            mass: see `longest_step`.
            turning: forces act at the contact and turn the grains, which there weigh 2/7 across it.
        """
        rolling = 2.0 / 7.0 * mass if turning else mass
        friction = float(_slopes(self.samples()[..., 1], self.sliding_speed, 2).max(initial=0.0))
        return min(0.5 * self.longest_step(mass), _longest(0.0, friction, rolling))

    def scaled(self, length: float, time: float, mass: float) -> PairForces:
        """The same law in other units: lengths, times and masses times these factors."""
        axes = (length, length / time, length / time)
        nodes = {name: getattr(self, name) * np.float32(factor) for name, factor in zip(AXES, axes, strict=True)}
        force = np.float32(mass * length / time**2)
        return PairForces(**nodes, **{name: getattr(self, name) * force for name in FORCES})


def _nodes(name: str, value: Any, least: int, lower: float) -> Singles:
    nodes = _floats(name, value, (None,))
    if not least <= len(nodes) <= MOST_NODES:
        raise TableError(f"{name}: expected {least} to {MOST_NODES} nodes, got {len(nodes)}")
    if float(nodes.min()) < lower or float(nodes.max()) > _LARGEST_NODE:
        raise TableError(
            f"{name}: expected nodes in {lower:g} .. {_LARGEST_NODE:g}, got {nodes.min():g} .. {nodes.max():g}"
        )
    falls = np.flatnonzero(np.diff(nodes) <= 0.0)
    if len(falls):
        k = int(falls[0])
        raise TableError(f"{name}: expected rising nodes, got {nodes[k + 1]:g} after {nodes[k]:g} at node {k + 1}")
    return nodes


def _samples(name: str, value: Any, shape: tuple[int, ...]) -> Singles:
    samples = _floats(name, value, shape)
    if float(np.abs(samples).max()) > _LARGEST_FORCE:
        raise TableError(f"{name}: expected forces within {_LARGEST_FORCE:g} N, got {np.abs(samples).max():g}")
    return samples


def _floats(name: str, value: Any, shape: tuple[int | None, ...]) -> Singles:
    try:
        return np.array(checks.floats(name, value, shape))
    except ValueError as error:
        raise TableError(str(error)) from None


def _place(nodes: Singles, x: Floats) -> tuple[NDArray[np.intp], NDArray[np.intp], Floats]:
    """The nodes below and above values, and how far they are on the way from one to the other, 0 .. 1."""
    axis = nodes.astype(np.float64)
    low = np.clip(np.searchsorted(axis, x, side="right") - 1, 0, max(len(axis) - 2, 0))
    high = np.minimum(low + 1, len(axis) - 1)
    width = np.where(high > low, axis[high] - axis[low], 1.0)
    return low, high, np.clip((x - axis[low]) / width, 0.0, 1.0) * (high > low)


def _slopes(values: Singles, nodes: Singles, axis: int) -> Floats:
    widths = np.diff(nodes.astype(np.float64)).reshape([-1 if k == axis else 1 for k in range(3)])
    return np.asarray(np.diff(values.astype(np.float64), axis=axis) / widths)


def _longest(stiffness: float, damping: float, mass: float) -> float:
    if stiffness > 0.0:
        return float((np.sqrt(damping**2 + 4.0 * stiffness * mass) - damping) / stiffness)
    return 2.0 * mass / damping if damping > 0.0 else float("inf")
