"""export.py: a law of pairs, learned or not, as tables for the engine.

Nodes are put where the law bends: an axis gets a node in the middle of every interval in which the straight line
between its ends is further from the law than the tolerance, until there is none.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from granular_gym.base import checks
from granular_gym.errors import ArgumentError
from granular_gym.learned.table import WALL, PairForces, PairTable

Floats = NDArray[np.float64]
#: where a learned law is sampled: deepest gap [radii], and fastest velocity [radii a frame], the most that kernels see
DEEPEST, FASTEST = -1.0, 4.0
#: gap [m], normal velocity, sliding speed [m/s] -> elastic, dissipative and tangential force [N], arrays that broadcast
PairLaw = Callable[[Any, Any, Any], tuple[Floats, Floats, Floats]]

#: nodes of each axis at most
_MOST_NODES = (129, 33, 65)
#: nodes of the other axes at which it is asked how far an axis bends: a network answers every question
_ASKED = 9
#: nodes of each axis at first, and how often intervals are halved at most
_FIRST_NODES, _ROUNDS = (17, 9, 9), 10
#: forces below this share of the largest one need not be followed as closely: grains move by forces, not digits
_LEAST_SHARE = 0.1
#: forces at the end of the gaps, over the largest, that are no end
_LEFT_OVER = 3e-6


class LawModel(Protocol):
    """What a model has whose law can be exported: see `DiscreteElementLearner`."""

    scale: Any

    def pair_law(self, kind_a: int, kind_b: int, bonded: bool = False) -> PairLaw: ...
    def reach(self, bonded: bool) -> float: ...
    def kinks(self, kind_a: int, kind_b: int) -> Sequence[float]: ...
    def masses(self) -> Any: ...


@dataclasses.dataclass(frozen=True)
class Exported:
    """A table, and how well it stands for its law.

    Attributes:
        table: of the law.
        errors: by pair, the largest deviation from the law in the middle between nodes, as `Range.tolerance`.
    """

    table: PairTable
    errors: dict[tuple[int, int, bool], float]


@dataclasses.dataclass(frozen=True)
class Range:
    """Where a law is sampled.

    Attributes:
        deepest: the lowest gap [m], below 0.
        speed: the largest normal velocity, either way [m/s].
        tolerance: largest deviation from the law between nodes, of normal and of tangential forces, over the largest
            one at that gap and a tenth of the largest at all.
        sliding: the largest sliding speed [m/s]; None: as `speed`.

    Raises:
        ArgumentError: a value out of range.
    """

    deepest: float
    speed: float
    tolerance: float = 1e-3
    sliding: float | None = None

    def __post_init__(self) -> None:
        checks.number("deepest", -self.deepest, 0.0, above=True)
        checks.number("speed", self.speed, 0.0, above=True)
        checks.number("tolerance", self.tolerance, 1e-6, 1.0)
        if self.sliding is not None:
            checks.number("sliding", self.sliding, 0.0, above=True)


def sample(law: PairLaw, where: Range, reach: float, kinks: Sequence[float] = ()) -> tuple[PairForces, float]:
    """A law at nodes that follow it, and its largest deviation between them, relative as `Range.tolerance` is.

    Args:
        law: of one pair.
        where: see `Range`.
        reach: the gap from which on there is no force [m].
        kinks: gaps at which its slope jumps, which become nodes [m].

    Raises:
        ArgumentError: `reach` does not lie above `where.deepest`, or the law has forces there.
        TableError: the law gives numbers that are not finite.
    """
    end = checks.number("reach", reach, where.deepest, above=True)
    axes = _first_axes(where, end)
    inside = [gap for gap in kinks if where.deepest < gap < end]
    axes[0] = np.unique(np.concatenate([axes[0], inside]).astype(np.float32)).astype(float)
    values = _totals(law, axes)
    largest = np.abs(values).reshape(2, -1).max(axis=1)
    beyond = float(np.abs(values[:, -1]).max())
    if beyond > max(_LEFT_OVER, 3e-3 * where.tolerance) * float(largest.max()):
        raise ArgumentError(f"reach: expected a gap from which on forces are 0, got {beyond:g} N at {end:g} m")
    for _ in range(_ROUNDS):
        bends = [_bends(law, axes, axis, largest) for axis in range(3)]
        fresh = []
        for axis, bend in enumerate(bends):
            split = np.flatnonzero(bend > where.tolerance)
            room = _MOST_NODES[axis] - len(axes[axis])
            # where there is no room for all, those that bend most
            chosen = np.sort(split[np.argsort(-bend[split], kind="stable")[: max(room, 0)]])
            fresh.append(0.5 * (axes[axis][chosen] + axes[axis][chosen + 1]))
        if not any(len(each) for each in fresh):
            break
        axes = [np.sort(np.concatenate(each)) for each in zip(axes, fresh, strict=True)]
    worst = max(float(_bends(law, axes, axis, largest).max(initial=0.0)) for axis in range(3))
    gap, normal_velocity, sliding_speed = (each.astype(np.float32) for each in axes)
    forces = [np.array(each, np.float32) for each in law(*np.meshgrid(*axes, indexing="ij"))]
    for each in forces:
        each[-1] = 0.0
    return PairForces(gap, normal_velocity, sliding_speed, *forces), worst


def export_law(
    pair_law: Callable[[int, int, bool], PairLaw],
    kinds: Sequence[str],
    where: Range,
    reach: Callable[[bool], float],
    bonded: Sequence[tuple[int, int]] = (),
    ranges: Mapping[tuple[int, int, bool], Range] | None = None,
    kinks: Callable[[int, int], Sequence[float]] = lambda kind, other: (),
    **about: Any,
) -> Exported:
    """The law of all pairs of kinds and of each kind with walls, as a table.

    Args:
        pair_law: gives the law of (kind, other kind or WALL, bonded).
        kinds: their names; materials of the same names are of these kinds.
        where: see `Range`.
        reach: the gap from which on there is no force [m], of free pairs (False) and of bonded ones (True).
        bonded: pairs of kinds that have bonds, in either order.
        ranges: of pairs with another range than `where`, by (kind, other kind or WALL, bonded), the lower kind first.
        kinks: gaps at which the law of (kind, other kind or WALL) has a kink, see `sample`.
        about: `torque`, `dt`, `radius` and `masses` of the table, see `PairTable`.

    Raises:
        ArgumentError, TableError: see `sample` and `PairTable`.
    """
    free = [(a, b, False) for a in range(len(kinds)) for b in (*range(a, len(kinds)), WALL)]
    forces, errors = {}, {}
    for key in [*free, *dict.fromkeys((min(pair), max(pair), True) for pair in bonded)]:
        forces[key], errors[key] = sample(
            pair_law(*key), (ranges or {}).get(key, where), reach(key[2]), kinks(*key[:2])
        )
    return Exported(PairTable(tuple(kinds), forces, **about), errors)


def export_model(
    model: LawModel,
    kinds: Sequence[str] | None = None,
    bonded: Sequence[tuple[int, int]] = (),
    tolerance: float = 1e-3,
    speed: float | None = None,
    ranges: Mapping[tuple[int, int, bool], Range] | None = None,
) -> Exported:
    """The law that a model has learned, as a table for the time step of its Euler steps.

    Args:
        model: a DiscreteElementLearner, or what offers the same.
        kinds: names of its kinds; None: kind0, kind1 ...
        bonded: pairs of kinds that have bonds, in either order.
        tolerance: see `Range`.
        speed: largest velocities that are sampled [m/s]; None: four radii a frame, the most that kernels see.
        ranges: of pairs that are known to meet otherwise, see `ranges.met_ranges`.

    Raises:
        ArgumentError: other numbers of names than of kinds.
    """
    scale = model.scale
    names = [f"kind{k}" for k in range(scale.kinds)] if kinds is None else list(kinds)
    if len(names) != scale.kinds:
        raise ArgumentError(f"kinds: expected {scale.kinds} names, one of each kind, got {names}")
    fastest = FASTEST * scale.radius / scale.dt if speed is None else speed
    where = Range(DEEPEST * float(scale.radius), fastest, tolerance)
    masses = tuple(float(mass) for mass in model.masses())
    about = {"dt": float(scale.step), "radius": float(scale.radius), "masses": masses}
    return export_law(model.pair_law, names, where, model.reach, bonded, ranges, model.kinks, **about)


def _first_axes(where: Range, end: float) -> list[Floats]:
    gaps, normals, slides = _FIRST_NODES
    # 0 is a node of each: laws bend where surfaces meet, where they turn round, and where they begin to slide
    below = max(math.ceil((gaps - 1) * -where.deepest / (max(end, 0.0) - where.deepest)), 1)
    parts = [np.linspace(where.deepest, min(end, 0.0), below + 1)]
    if end > 0.0:
        parts.append(np.linspace(0.0, end, max(gaps - below, 2))[1:])
    return [
        np.concatenate(parts),
        np.linspace(-where.speed, where.speed, normals),
        np.linspace(0.0, where.speed if where.sliding is None else where.sliding, slides),
    ]


def _some(nodes: Floats) -> Floats:
    """Nodes from one end to the other, not more than are asked at."""
    some: Floats = nodes[np.unique(np.linspace(0, len(nodes) - 1, _ASKED).round().astype(int))]
    return some


def _totals(law: PairLaw, axes: list[Floats]) -> Floats:
    """Normal and tangential force (2, g, n, s)."""
    elastic, dissipative, tangential = law(*np.meshgrid(*axes, indexing="ij"))
    return np.stack([np.asarray(elastic, np.float64) + dissipative, np.asarray(tangential, np.float64)])


def _bends(law: PairLaw, axes: list[Floats], axis: int, largest: Floats) -> Floats:
    """How far the law is from the straight line in the middle of each interval of an axis, at most, over the largest
    force of its kind at that gap; a share of `largest`, its largest at all, is added to that."""
    axes = [each if k == axis else _some(each) for k, each in enumerate(axes)]
    middles = 0.5 * (axes[axis][1:] + axes[axis][:-1])
    between = _totals(law, [middles if k == axis else each for k, each in enumerate(axes)])
    ends = np.moveaxis(_totals(law, axes), axis + 1, 0)
    line = np.moveaxis(0.5 * (ends[1:] + ends[:-1]), 0, axis + 1)
    scale = np.abs(between).max(axis=(2, 3)) + _LEAST_SHARE * largest[:, None]
    relative = np.abs(between - line) / np.maximum(scale, 1e-300)[:, :, None, None]
    bend: Floats = np.moveaxis(relative, axis + 1, 0).reshape(len(middles), -1).max(axis=1)
    return bend
