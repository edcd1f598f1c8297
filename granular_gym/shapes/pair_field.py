"""pair_field.py: contact of two plane shapes, exactly, or looked up in a field over their relative poses.

A pose is (theta, x, y): angle [rad] and translation [m] of shape B in the frame of shape A. Both shapes have their
centre of mass at the origin of their frame. `exact_distance` computes; `PairField` stores what it says and answers in
tens of nanoseconds, the same way in the engine (csrc/contact/pair_field.h). Source of the formulation: "The
Configurational Element Method for Nonconvex Granular Media".
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import math
import os
import struct
import sys
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from granular_gym import _core
from granular_gym.base import cache, checks
from granular_gym.errors import ArgumentError, StateError
from granular_gym.shapes import pair_network
from granular_gym.shapes.pair_overlay import Overlay
from granular_gym.shapes.shape2d import Shape2D

Floats = NDArray[np.floating[Any]]

#: values of gg_pair_kind
KINDS = {"cubic": 0, "linear": 1, "network": 2}
#: those that are tables
TABLES = ("cubic", "linear")
#: GG_PAIR_FIELD_VERSION of the engine
VERSION = 2
#: changes with what the generators give, so that the cache does not hand out older fields
_GENERATED = 2
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
#: data of fields in one blob begin at multiples of this
_ALIGNMENT = 64
_MAGIC = b"GGPAIR\r\n"
_HEAD = struct.Struct("<8sII")
#: smallest normal half: subnormal ones are not stored
_SMALLEST_HALF = 2.0**-14


@dataclasses.dataclass(frozen=True, eq=False)
class PairContact:
    """What is known of two shapes at n poses; vectors and points in A's frame.

    Attributes:
        d: signed distance (n,) [m]; negative: the least translation that parts the shapes.
        normal: unit gradient of d along the translation (n, 2), from A to B.
        dtheta: derivative of d by the angle at a fixed translation (n,) [m].
        arm_a: r_A . normal (n,) [m], r_A from A's centre of mass to the contact point.
    """

    d: NDArray[Any]
    normal: NDArray[Any]
    dtheta: NDArray[Any]
    arm_a: NDArray[Any]


@dataclasses.dataclass(frozen=True, eq=False)
class ExactContact(PairContact):
    """A PairContact with the contact points on both surfaces.

    Attributes:
        point_a: on A's surface (n, 2) [m].
        point_b: on B's surface (n, 2) [m]; point_a + d * normal.
    """

    point_a: Floats
    point_b: Floats


def _shape(name: str, value: Any) -> Shape2D:
    if not isinstance(value, Shape2D):
        raise ArgumentError(f"{name}: expected a Shape2D, got {type(value).__name__}")
    return value


def _poses(value: Any, dtype: Any) -> NDArray[Any]:
    try:
        array = np.ascontiguousarray(checks.host_array(value), dtype)
    except (TypeError, ValueError):
        raise ArgumentError(f"poses: expected numbers (n, 3), got {type(value).__name__}") from None
    if array.ndim != 2 or array.shape[1] != 3:
        raise ArgumentError(f"poses: expected shape (*, 3), got {array.shape}")
    if not np.isfinite(array).all():
        row = int(np.flatnonzero(~np.isfinite(array).all(axis=1))[0])
        raise ArgumentError(f"poses: expected finite numbers, row {row} is {array[row].tolist()}")
    return array


def exact_distance(a: Shape2D, b: Shape2D, poses: Any, *, num_threads: int | None = None) -> ExactContact:
    """Signed distance, gradient and contact points of two shapes, exact up to rounding in double.

    The shapes meet at those translations that lie in the Minkowski sum of A and the mirrored, turned B; d is the
    distance to its boundary. Where several boundary points are equally near (a medial axis), one of them is taken.
    Where the nearest one is a corner of the free space, two contacts hold the pose at once: dtheta and arm_a are theirs
    in the shares that their normals have in the normal.

    Args:
        a: the shape whose frame is used.
        b: the other shape.
        poses: theta [rad], x, y [m] of B in A's frame (n, 3). Poses of equal angle side by side cost a hundredth of
            others.
        num_threads: threads to use; default: one per core.

    Raises:
        ArgumentError: not shapes, or poses that are not finite (n, 3).
    """
    at = _poses(poses, np.float64)
    polygon_a, polygon_b = _shape("a", a).polygon, _shape("b", b).polygon
    out = _core.pair_distance(polygon_a, polygon_b, at, checks.threads(num_threads) or 0)
    return ExactContact(
        d=out[:, 0],
        normal=out[:, 1:3],
        dtheta=out[:, 3],
        arm_a=out[:, 4],
        point_a=out[:, 5:7],
        point_b=out[:, 7:9],
    )


@dataclasses.dataclass(frozen=True, eq=False)
class PairField:
    """A field of one ordered pair of shapes, made by `build`, `train` or `load`; immutable.

    Attributes:
        a: the shape whose frame is used.
        b: the other shape.
        record: gg_pair_field of the engine, a scalar of dtype RECORD; offset 0.
        blob: the data behind it, uint8.
        settings: what it was built with.
    """

    a: Shape2D
    b: Shape2D
    record: np.void
    blob: NDArray[np.uint8]
    settings: dict[str, Any]

    @property
    def kind(self) -> str:
        """Representation; a key of KINDS."""
        return next(name for name, value in KINDS.items() if value == int(self.record["kind"]))

    @property
    def reach(self) -> float:
        """Distance of the centres [m] within which d is looked up; beyond it is bounded from below."""
        return float(self.record["reach"])

    @property
    def nbytes(self) -> int:
        """Bytes of the data."""
        return self.blob.nbytes

    @classmethod
    def build(
        cls,
        a: Shape2D,
        b: Shape2D,
        kind: str = "cubic",
        *,
        theta_count: int = 128,
        count: int = 64,
        margin: float | None = None,
        generator: str = "exact",
        cache: bool = True,
        progress: bool = False,
        num_threads: int | None = None,
    ) -> PairField:
        """Computes a field, or takes it from the cache on disk.

        Args:
            a: the shape whose frame is used.
            b: the other shape.
            kind: "cubic" (smooth across cells; friction at rest needs it) or "linear".
            theta_count: least number of angles per whole turn; the number used divides by the symmetries of both
                shapes, and nodes are put on the angles at which long faces meet.
            count: nodes along x and y, over a square of twice the reach; even.
            margin: distance up to which d is looked up, beyond contact of the circumcircles [m]; default: a tenth of
                the mean circumradius. Contacts that are foreseen further apart need more.
            generator: "exact", or "overlay": the published approximation by two overlaid distance fields, for
                comparison (some 20 ms a node).
            cache: keep the field on disk and take it from there.
            progress: show a bar, where tqdm is installed.
            num_threads: threads to use; default: one per core.

        Raises:
            ArgumentError: a value outside what is accepted.
        """
        layout = _TableLayout.plan(
            _shape("a", a),
            _shape("b", b),
            checks.choice("kind", kind, TABLES),
            checks.integer("theta_count", theta_count, 4, 2048),
            checks.integer("count", count, 8, 1024),
            margin,
        )
        settings = {**layout.settings(), "generator": checks.choice("generator", generator, tuple(_GENERATORS))}
        path = _cache_path(a, b, settings)
        if cache:
            try:
                return _read(path.read_bytes(), str(path), a, b)
            except (OSError, StateError):
                pass
        threads = checks.threads(num_threads)
        blob = layout.fill(_GENERATORS[generator](a, b), checks.flag("progress", progress), threads)
        field = cls(a, b, layout.record(), blob, settings)
        if cache:
            _store(path, field.to_bytes())
        return field

    @classmethod
    def train(
        cls,
        a: Shape2D,
        b: Shape2D,
        *,
        layers: int = 5,
        width: int = 64,
        folded: bool = True,
        activation: str = "sine",
        samples: int = 200_000,
        iterations: int = 4000,
        margin: float | None = None,
        seed: int = 0,
        cache: bool = True,
        progress: bool = False,
    ) -> PairField:
        """Trains a field of two networks, one for d and one for the arm, with PyTorch, or takes it from the cache.

        `folded=False, activation="relu"` with 5 layers of 64 or 3 of 32 are the networks of the paper. Bits depend on
        the version of PyTorch and the machine; the field itself gives the same bits everywhere.

        Args:
            a: the shape whose frame is used.
            b: the other shape.
            layers: hidden layers, 1 to 8.
            width: values of each: 16, 32, 48 or 64.
            folded: the angle goes in as cosine and sine, and poses that the symmetries of the shapes make equal are
                one; otherwise as the angle itself, with a jump at half a turn.
            activation: "relu" or "sine".
            samples: exact distances to learn from: nine of ten within a tenth of the mean circumradius of contact, the
                others anywhere within the reach.
            iterations: steps of Adam, over batches of 4096.
            margin: as for `build`.
            seed: of the samples, the first weights and the batches.
            cache: keep the field on disk and take it from there.
            progress: show a bar, where tqdm is installed.

        Raises:
            ArgumentError: a value outside what is accepted.
            ImportError: PyTorch is not installed (pip install "granular_gym[train]").
        """
        plan = pair_network.Plan.make(
            _shape("a", a), _shape("b", b), layers, width, folded, activation, samples, iterations, margin, seed
        )
        path = _cache_path(a, b, plan.settings())
        if cache:
            try:
                return _read(path.read_bytes(), str(path), a, b)
            except (OSError, StateError):
                pass
        shown = checks.flag("progress", progress)
        weights = plan.train(exact_distance, lambda items: _bar(items, shown, f"{a.name} {b.name}"))
        record: Any = np.zeros((), RECORD)
        for name, value in plan.layout().items():
            record[name] = value
        record["kind"], record["size"] = KINDS["network"], weights.nbytes
        field = cls(a, b, record[()], np.frombuffer(weights.tobytes(), np.uint8), plan.settings())
        if cache:
            _store(path, field.to_bytes())
        return field

    def query(self, poses: Any) -> PairContact:
        """Looks poses up, as the engine does, in float32.

        Args:
            poses: theta [rad], x, y [m] of B in A's frame (n, 3).

        Raises:
            ArgumentError: poses that are not finite (n, 3).
        """
        out = _core.pair_query(self._record_bytes(), self.blob, _poses(poses, np.float32))
        return PairContact(d=out[:, 0], normal=out[:, 1:3], dtheta=out[:, 3], arm_a=out[:, 4])

    def _record_bytes(self) -> NDArray[np.uint8]:
        return np.frombuffer(self.record.tobytes(), np.uint8)

    # ---- files ----

    def to_bytes(self) -> bytes:
        """What a file holds: magic, version, length of the head, head (JSON), data, SHA-256 of all before."""
        head = {
            "a": self.a.digest(),
            "b": self.b.digest(),
            "names": [self.a.name, self.b.name],
            "record": self.record.tobytes().hex(),
            "settings": self.settings,
        }
        text = json.dumps(head, sort_keys=True).encode()
        body = _HEAD.pack(_MAGIC, VERSION, len(text)) + text + self.blob.tobytes()
        return body + hashlib.sha256(body).digest()

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes a file that `load` reads, whole or not at all.

        Raises:
            OSError: the file cannot be written.
        """
        cache.write_atomic(path, self.to_bytes())

    @classmethod
    def load(cls, path: str | os.PathLike[str], a: Shape2D, b: Shape2D) -> PairField:
        """Reads a field that `save` wrote for the same two shapes.

        Raises:
            OSError: the file cannot be read.
            StateError: it is not a whole field of this version for these shapes; the message says why.
        """
        return _read(Path(path).read_bytes(), str(path), _shape("a", a), _shape("b", b))


def pack_fields(fields: Sequence[PairField]) -> tuple[NDArray[np.void], NDArray[np.uint8]]:
    """Records (n,) of dtype RECORD and one blob for many fields: what the engine takes."""
    records = np.zeros(len(fields), RECORD)
    blobs, offset = [], 0
    for k, field in enumerate(fields):
        records[k] = field.record
        records[k]["offset"] = offset
        padding = -field.blob.size % _ALIGNMENT
        blobs += [field.blob, np.zeros(padding, np.uint8)]
        offset += field.blob.size + padding
    return records, np.concatenate([np.zeros(0, np.uint8), *blobs])


# ---- layout of a table ----


def _face_angles(a: Shape2D, b: Shape2D) -> tuple[Floats, Floats]:
    """Angles at which a long edge of A and one of B face each other, and the weight of each: the length they share."""

    def edges(shape: Shape2D) -> tuple[Floats, Floats]:
        along = np.concatenate([np.roll(ring, -1, axis=0) - ring for ring in shape.rings])
        length = np.linalg.norm(along, axis=1)
        long = length > 0.3 * shape.circumradius
        return np.arctan2(along[long, 1], along[long, 0]), length[long]

    (angle_a, length_a), (angle_b, length_b) = edges(a), edges(b)
    # B's edge runs against A's
    angle = (angle_a[:, None] - angle_b[None, :] + math.pi).ravel() % (2 * math.pi)
    return angle, np.minimum(length_a[:, None], length_b[None, :]).ravel()


def _theta_nodes(a: Shape2D, b: Shape2D, fold_a: int, least: int) -> tuple[int, float]:
    """Nodes per turn, at least so many, and the place of the first one in cells, so that long faces meet on nodes."""
    step = math.lcm(fold_a, b.symmetry)
    angle, weight = _face_angles(a, b)
    best = (math.inf, 0, 0.0)
    first = -(-least // step) * step
    for count in range(first, max(first, int(1.2 * least)) + 1, step):
        place = angle * (count / (2 * math.pi))
        firsts = [0.0, *np.unique(np.round(place % 1, 9))[:16]]
        for offset in firsts:
            off = np.abs((place - offset + 0.5) % 1 - 0.5) / count
            miss = round(float((weight * off).sum() / max(weight.sum(), 1e-300)), 7)
            # a few nodes more are worth a face in place, not a hair
            best = min(best, (miss + 1e-6 * (count - first), count, float(offset) % 1))
    return best[1], best[2]


@dataclasses.dataclass(frozen=True, eq=False)
class _TableLayout:
    """Where the nodes of a table lie; see csrc/contact/pair_field.h."""

    a: Shape2D
    b: Shape2D
    kind: str
    turn_count: int
    theta_first: float
    fold_a: int
    count: int
    margin: float

    @classmethod
    def plan(
        cls, a: Shape2D, b: Shape2D, kind: str, theta_count: int, count: int, margin: float | None
    ) -> _TableLayout:
        if count % 2:
            raise ArgumentError(f"count: expected an even number, got {count}")
        fold_a = math.gcd(a.symmetry, 4)
        turn_count, first = _theta_nodes(a, b, fold_a, theta_count)
        return cls(a, b, kind, turn_count, first, fold_a, count, pair_network.margin_of(a, b, margin))

    def settings(self) -> dict[str, Any]:
        names = ("kind", "turn_count", "theta_first", "fold_a", "count", "margin")
        return {name: getattr(self, name) for name in names}

    @property
    def radius(self) -> float:
        return self.a.circumradius + self.b.circumradius

    @property
    def spacing(self) -> float:
        """Distance of nodes [m]; one node beyond the reach on each side."""
        return (self.radius + self.margin) / (0.5 * (self.count - 1) - 1)

    @property
    def scale(self) -> float:
        return 0.5 * self.radius

    def axes(self) -> tuple[Floats, Floats]:
        """Places of the nodes along y and x, in cells; folded axes begin one node and a half before zero."""
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

    def fill(self, nodes: _Generator, progress: bool, threads: int | None) -> NDArray[np.uint8]:
        """Values of all nodes: halves of d and arm side by side."""
        y, x = (axis * self.spacing for axis in self.axes())
        grid_y, grid_x = np.meshgrid(y, x, indexing="ij")
        distance = np.hypot(grid_x, grid_y)
        # what no query touches is left at the bound
        touched = distance <= self.radius + self.margin + 3 * self.spacing
        place = np.stack([grid_x[touched], grid_y[touched]], axis=1)
        thetas = self.thetas()
        values = np.empty((len(thetas), *distance.shape, 2))
        values[..., 0], values[..., 1] = distance - self.radius, 0.5 * self.radius
        # a few angles at a time, so that the bar moves and an interrupt is heard
        for some in _bar(
            np.array_split(np.arange(len(thetas)), math.ceil(len(thetas) / 4)), progress, str(self.a.name)
        ):
            poses = np.empty((len(some), len(place), 3))
            poses[:, :, 0] = thetas[some, None]
            poses[:, :, 1:] = place
            found = nodes(poses.reshape(-1, 3), threads)
            values[some[0] : some[-1] + 1, touched] = found.reshape(len(some), len(place), 2)
        halves = _halves(values / self.scale)
        # one layer before the period and two behind it
        halves = halves[np.arange(-1, len(thetas) + 2) % len(thetas)]
        return np.frombuffer(np.ascontiguousarray(halves).tobytes(), np.uint8)


def _halves(values: Floats) -> NDArray[np.float16]:
    """Nearest halves that are not subnormal."""
    small = np.abs(values) < _SMALLEST_HALF
    rounded = np.where(np.abs(values) < 0.5 * _SMALLEST_HALF, 0.0, np.copysign(_SMALLEST_HALF, values))
    return np.where(small, rounded, values).astype("<f2")


def _bar(items: Sequence[Any], show: bool, name: str) -> Iterable[Any]:
    """A progress bar around a loop, where it is wanted and tqdm is there."""
    if show:
        try:
            from tqdm import tqdm

            return tqdm(items, desc=f"pair field {name}", file=sys.stderr, leave=False)
        except ImportError:
            pass
    return items


def _exact_nodes(a: Shape2D, b: Shape2D) -> _Generator:
    def nodes(poses: Floats, threads: int | None) -> Floats:
        found = exact_distance(a, b, poses, num_threads=threads)
        return np.stack([found.d, found.arm_a], axis=1)

    return nodes


def _overlay_nodes(a: Shape2D, b: Shape2D) -> _Generator:
    overlay = Overlay(a, b)
    return lambda poses, threads: overlay.nodes(poses)


#: what gives d and the arm (n, 2) at poses (n, 3), for a number of threads
_Generator = Callable[[Floats, "int | None"], Floats]
_GENERATORS: dict[str, Callable[[Shape2D, Shape2D], _Generator]] = {"exact": _exact_nodes, "overlay": _overlay_nodes}


# ---- files ----


def _cache_path(a: Shape2D, b: Shape2D, settings: dict[str, Any]) -> Path:
    key = json.dumps(
        [VERSION, _GENERATED, _core.build_info()["version"], a.digest(), b.digest(), settings], sort_keys=True
    )
    return cache.cache_dir() / "pair_field" / f"{hashlib.sha256(key.encode()).hexdigest()}.ggpair"


def _store(path: Path, data: bytes) -> None:
    cache.store(path, data)


def _read(data: bytes, name: str, a: Shape2D, b: Shape2D) -> PairField:
    """A field from the bytes of a file; StateError for anything but a whole one of these shapes."""
    if data[: len(_MAGIC)] != _MAGIC:
        raise StateError(f"{name}: expected a pair field, the file begins differently")
    if len(data) < _HEAD.size + 32:
        raise StateError(f"{name}: expected at least {_HEAD.size + 32} bytes, got {len(data)}: cut short")
    _, version, length = _HEAD.unpack_from(data)
    if version != VERSION:
        raise StateError(f"{name}: expected version {VERSION}, got {version}")
    if hashlib.sha256(data[:-32]).digest() != data[-32:]:
        raise StateError(f"{name}: expected a whole file, its checksum does not fit: cut short or damaged")
    try:
        head = json.loads(data[_HEAD.size : _HEAD.size + length])
        record = np.frombuffer(bytes.fromhex(head["record"]), RECORD)[0]
        shapes, names, settings = (head["a"], head["b"]), head["names"], head["settings"]
    except (ValueError, KeyError, IndexError, TypeError) as error:
        raise StateError(f"{name}: expected a pair field, its head is damaged ({error})") from None
    if shapes != (a.digest(), b.digest()):
        raise StateError(
            f"{name}: expected a field of {a.name} ({a.digest()[:8]}) and {b.name} ({b.digest()[:8]}), "
            f"it was built for {names[0]} ({shapes[0][:8]}) and {names[1]} ({shapes[1][:8]})"
        )
    blob = np.frombuffer(data[_HEAD.size + length : -32], np.uint8)
    if int(record["size"]) != blob.size:
        raise StateError(f"{name}: expected {int(record['size'])} bytes of data, got {blob.size}")
    return PairField(a, b, record, blob, settings)
