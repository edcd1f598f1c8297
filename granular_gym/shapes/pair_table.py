"""pair_table.py: pair fields as tables over theta, y, x: layout of the nodes and their values.

csrc/geometry/pair_field.h interpolates them.
"""

from __future__ import annotations

import dataclasses
import math
import sys
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from granular_gym.base.types import Floats
from granular_gym.errors import ArgumentError
from granular_gym.shapes.pair_distance import exact_distance
from granular_gym.shapes.pair_network import margin_of
from granular_gym.shapes.pair_overlay import Overlay
from granular_gym.shapes.shape2d import Shape2D

#: values of gg_pair_kind
KINDS = {"cubic": 0, "linear": 1, "network": 2}
#: the kinds that are tables
TABLES = ("cubic", "linear")
#: gg_pair_field of the engine
RECORD = np.dtype(
    [
        ("offset", "<i8"),
        ("size", "<i8"),
        ("kind", "<i4"),
        ("fold_a", "<i4"),
        ("fold_b", "<i4"),
        ("radius", "<f4"),
        ("reach", "<f4"),
        ("scale", "<f4"),
        ("theta_count", "<i4"),
        ("y_count", "<i4"),
        ("x_count", "<i4"),
        ("theta_first", "<f4"),
        ("y_first", "<f4"),
        ("x_first", "<f4"),
        ("per_metre", "<f4"),
        ("layers", "<i4"),
        ("width", "<i4"),
        ("encoding", "<i4"),
        ("activation", "<i4"),
        ("reserved", "<i4"),
    ]
)
#: smallest normal float16; subnormal values are not stored
_SMALLEST_HALF = 2.0**-14


def _face_angles(a: Shape2D, b: Shape2D) -> tuple[Floats, Floats]:
    """Angles at which long edges of A and B are parallel and opposite, and their weights: the shorter length [m]."""

    def edges(shape: Shape2D) -> tuple[Floats, Floats]:
        along = np.concatenate([np.roll(ring, -1, axis=0) - ring for ring in shape.rings])
        length = np.linalg.norm(along, axis=1)
        long = length > 0.3 * shape.circumradius
        return np.arctan2(along[long, 1], along[long, 0]), length[long]

    (angle_a, length_a), (angle_b, length_b) = edges(a), edges(b)
    # opposite edges run in opposite directions
    angle = (angle_a[:, None] - angle_b[None, :] + math.pi).ravel() % (2 * math.pi)
    return angle, np.minimum(length_a[:, None], length_b[None, :]).ravel()


def _theta_nodes(a: Shape2D, b: Shape2D, fold_a: int, least: int) -> tuple[int, float]:
    """Number of nodes per turn, `least` or more, and the position of the first in cells: long edges meet at nodes."""
    step = math.lcm(fold_a, b.symmetry)
    angle, weight = _face_angles(a, b)
    best = (math.inf, 0, 0.0)
    first = -(-least // step) * step
    for count in range(first, max(first, int(1.2 * least)) + 1, step):
        position = angle * (count / (2 * math.pi))
        offsets = [0.0, *np.unique(np.round(position % 1, 9))[:16]]
        for offset in offsets:
            distance = np.abs((position - offset + 0.5) % 1 - 0.5) / count
            mean = round(float((weight * distance).sum() / max(weight.sum(), 1e-300)), 7)
            # more nodes only where they reduce the mean distance of edges from nodes noticeably
            best = min(best, (mean + 1e-6 * (count - first), count, float(offset) % 1))
    return best[1], best[2]


@dataclasses.dataclass(frozen=True, eq=False)
class TableLayout:
    """The nodes of a table; see csrc/geometry/pair_field.h."""

    a: Shape2D
    b: Shape2D
    kind: str
    turn_count: int
    theta_first: float
    fold_a: int
    count: int
    margin: float

    @classmethod
    def plan(cls, a: Shape2D, b: Shape2D, kind: str, theta_count: int, count: int, margin: float | None) -> TableLayout:
        if count % 2:
            raise ArgumentError(f"count: expected an even number, got {count}")
        fold_a = math.gcd(a.symmetry, 4)
        turn_count, first = _theta_nodes(a, b, fold_a, theta_count)
        return cls(a, b, kind, turn_count, first, fold_a, count, margin_of(a, b, margin))

    def settings(self) -> dict[str, Any]:
        names = ("kind", "turn_count", "theta_first", "fold_a", "count", "margin")
        return {name: getattr(self, name) for name in names}

    @property
    def radius(self) -> float:
        return self.a.circumradius + self.b.circumradius

    @property
    def spacing(self) -> float:
        """Distance of nodes along x and y [m]; one node lies beyond the reach on each side."""
        return (self.radius + self.margin) / (0.5 * (self.count - 1) - 1)

    @property
    def scale(self) -> float:
        return 0.5 * self.radius

    def axes(self) -> tuple[Floats, Floats]:
        """Positions of the nodes along y and along x, in cells; folded axes begin one and a half cells below zero."""
        whole = np.arange(self.count) - 0.5 * (self.count - 1)
        part = whole[self.count // 2 - 2 :]
        return (part if self.fold_a > 1 else whole), (part if self.fold_a == 4 else whole)

    def thetas(self) -> Floats:
        """Angles of the nodes of one period [rad]."""
        return (np.arange(self.turn_count // self.b.symmetry) + self.theta_first) * (2 * math.pi / self.turn_count)

    def record(self) -> Any:
        y, x = self.axes()
        record = np.zeros((), RECORD)
        record["size"] = 4 * (len(self.thetas()) + 3) * len(y) * len(x)
        record["kind"] = KINDS[self.kind]
        record["fold_a"], record["fold_b"] = self.fold_a, self.b.symmetry
        record["radius"], record["reach"] = self.radius, self.radius + self.margin
        record["scale"] = self.scale
        record["theta_count"], record["y_count"], record["x_count"] = len(self.thetas()), len(y), len(x)
        record["theta_first"], record["y_first"], record["x_first"] = self.theta_first, y[0], x[0]
        record["per_metre"] = 1 / self.spacing
        return record[()]

    def fill(self, nodes: Generator, progress: bool, threads: int | None) -> NDArray[np.uint8]:
        """Values of all nodes as bytes: pairs of float16, d and lever arm in units of `scale`.

        Args:
            nodes: computes d and lever arm at poses.
            progress: show a progress bar.
            threads: for `nodes`.
        """
        y, x = (axis * self.spacing for axis in self.axes())
        grid_y, grid_x = np.meshgrid(y, x, indexing="ij")
        distance = np.hypot(grid_x, grid_y)
        # nodes that no query reads keep the lower bound
        touched = distance <= self.radius + self.margin + 3 * self.spacing
        points = np.stack([grid_x[touched], grid_y[touched]], axis=1)
        thetas = self.thetas()
        values = np.empty((len(thetas), *distance.shape, 2))
        values[..., 0], values[..., 1] = distance - self.radius, 0.5 * self.radius
        # a few angles at a time, so that the progress bar moves and Ctrl-C is handled
        for some in progress_bar(
            np.array_split(np.arange(len(thetas)), math.ceil(len(thetas) / 4)), progress, str(self.a.name)
        ):
            poses = np.empty((len(some), len(points), 3))
            poses[:, :, 0] = thetas[some, None]
            poses[:, :, 1:] = points
            found = nodes(poses.reshape(-1, 3), threads)
            values[some[0] : some[-1] + 1, touched] = found.reshape(len(some), len(points), 2)
        halves = _halves(values / self.scale)
        # periodic padding along theta: one node before the period and two after it
        halves = halves[np.arange(-1, len(thetas) + 2) % len(thetas)]
        return np.frombuffer(np.ascontiguousarray(halves).tobytes(), np.uint8)


def _halves(values: Floats) -> NDArray[np.float16]:
    """Nearest float16 values that are zero or normal."""
    small = np.abs(values) < _SMALLEST_HALF
    rounded = np.where(np.abs(values) < 0.5 * _SMALLEST_HALF, 0.0, np.copysign(_SMALLEST_HALF, values))
    return np.where(small, rounded, values).astype("<f2")


def progress_bar(items: Sequence[Any], show: bool, name: str) -> Iterable[Any]:
    """The items in a tqdm progress bar; as they are where `show` is False or tqdm is missing."""
    if show:
        try:
            from tqdm import tqdm

            result: Iterable[Any] = tqdm(items, desc=f"pair field {name}", file=sys.stderr, leave=False)
            return result
        except ImportError:
            pass
    return items


def _exact_nodes(a: Shape2D, b: Shape2D) -> Generator:
    def nodes(poses: Floats, threads: int | None) -> Floats:
        found = exact_distance(a, b, poses, num_threads=threads)
        return np.stack([found.d, found.arm_a], axis=1)

    return nodes


def _overlay_nodes(a: Shape2D, b: Shape2D) -> Generator:
    overlay = Overlay(a, b)
    return lambda poses, threads: overlay.nodes(poses)


#: computes d and lever arm (n, 2) [m] at poses (n, 3) with a number of threads
Generator = Callable[[Floats, "int | None"], Floats]
GENERATORS: dict[str, Callable[[Shape2D, Shape2D], Generator]] = {"exact": _exact_nodes, "overlay": _overlay_nodes}
