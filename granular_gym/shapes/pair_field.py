"""pair_field.py: the contact of two planar shapes as a field over their relative poses.

A `PairField` approximates `exact_distance` (pair_distance.py) by a table (pair_table.py) or a network
(pair_network.py). A query takes tens of nanoseconds; it is the code that the engine runs (csrc/geometry/pair_field.h).
Source of the formulation: "The Configurational Element Method for Nonconvex Granular Media".
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import os
import struct
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from granular_gym import _core
from granular_gym.base import cache, checks
from granular_gym.errors import ArgumentError, StateError
from granular_gym.shapes import pair_network
from granular_gym.shapes.pair_distance import PairContact, check_poses, check_shape, exact_distance
from granular_gym.shapes.pair_table import GENERATORS, KINDS, RECORD, TABLES, TableLayout, progress_bar
from granular_gym.shapes.shape2d import Shape2D

#: GG_PAIR_FIELD_VERSION of the engine
VERSION = 2
#: version of the generators; raised with their values, so that older fields in the cache are not used
_GENERATED = 3
#: alignment of the data of each field in a blob [bytes]
_ALIGNMENT = 64
_MAGIC = b"GGPAIR\r\n"
_HEAD = struct.Struct("<8sII")


@dataclasses.dataclass(frozen=True, eq=False)
class PairField:
    """A field of one ordered pair of shapes, made by `build`, `train` or `load`; immutable.

    Attributes:
        a: the shape whose frame is used.
        b: the other shape.
        record: gg_pair_field of the engine, a scalar of dtype RECORD, with offset 0.
        blob: table or weights, uint8.
        settings: the settings it was built or trained with.
    """

    a: Shape2D
    b: Shape2D
    record: np.void
    blob: NDArray[np.uint8]
    settings: dict[str, Any]

    def __repr__(self) -> str:
        """Shapes, representation, reach and size."""
        return (
            f"PairField({self.a.name!r}, {self.b.name!r}, {self.kind}, reach {self.reach:.4g} m, {self.nbytes} bytes)"
        )

    @property
    def kind(self) -> str:
        """Representation; a key of KINDS."""
        return next(name for name, value in KINDS.items() if value == int(self.record["kind"]))

    @property
    def reach(self) -> float:
        """Distance of the centres [m] up to which d is looked up; beyond it is extrapolated along its gradient."""
        return float(self.record["reach"])

    @property
    def nbytes(self) -> int:
        """Size of the data in bytes."""
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
        """Computes a table, or reads it from the cache on disk.

        Args:
            a: the shape whose frame is used.
            b: the other shape.
            kind: "cubic" (smooth across cells, as static friction needs) or "linear".
            theta_count: least number of angles per whole turn; the number used is a multiple of the symmetries of
                both shapes, and nodes lie where long edges of the shapes are parallel.
            count: nodes along x and along y, over a square of side twice the reach; even.
            margin: gap of the circumcircles [m] up to which d is looked up; default: a tenth of the mean circumradius.
                Speculative contacts with larger gaps need more.
            generator: "exact", or "overlay": the published approximation by two overlaid distance fields, for
                comparison (some 20 ms per node).
            cache: read the field from the cache on disk, or store it there.
            progress: show a progress bar, where tqdm is installed.
            num_threads: threads to use; default: one per usable core.

        Raises:
            ArgumentError: a value out of range.
        """
        layout = TableLayout.plan(
            check_shape("a", a),
            check_shape("b", b),
            checks.choice("kind", kind, TABLES),
            checks.integer("theta_count", theta_count, 4, 2048),
            checks.integer("count", count, 8, 1024),
            margin,
        )
        settings = {**layout.settings(), "generator": checks.choice("generator", generator, tuple(GENERATORS))}
        threads, shown = checks.threads(num_threads), checks.flag("progress", progress)
        path = _cache_path(a, b, settings)
        if checks.flag("cache", cache):
            try:
                return _read(path.read_bytes(), str(path), a, b)
            except (OSError, StateError):
                pass
        blob = layout.fill(GENERATORS[generator](a, b), shown, threads)
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
        """Trains two networks with PyTorch, for d and for the lever arm, or reads them from the cache on disk.

        `folded=False, activation="relu"` with 5 layers of 64 or 3 of 32 are the networks of the paper. The weights
        depend on the version of PyTorch and on the machine; a query with given weights does not.

        Args:
            a: the shape whose frame is used.
            b: the other shape.
            layers: hidden layers, 1 to 8.
            width: neurons of each hidden layer: 16, 32, 48 or 64.
            folded: input cosine and sine of the angle, with poses mapped to one representative under the symmetries of
                the shapes; otherwise the angle itself, which jumps at half a turn.
            activation: "relu" or "sine".
            samples: number of training poses: nine of ten with |d| below a tenth of the mean circumradius, the others
                anywhere within the reach.
            iterations: steps of Adam, with batches of 4096.
            margin: as for `build`.
            seed: of the samples, the initial weights and the batches.
            cache: read the field from the cache on disk, or store it there.
            progress: show a progress bar, where tqdm is installed.

        Raises:
            ArgumentError: a value out of range.
            ImportError: PyTorch is not installed (pip install "granular_gym[train]").
        """
        plan = pair_network.Plan.make(
            check_shape("a", a),
            check_shape("b", b),
            layers,
            width,
            folded,
            activation,
            samples,
            iterations,
            margin,
            seed,
        )
        shown = checks.flag("progress", progress)
        path = _cache_path(a, b, plan.settings())
        if checks.flag("cache", cache):
            try:
                return _read(path.read_bytes(), str(path), a, b)
            except (OSError, StateError):
                pass
        weights = plan.train(exact_distance, lambda items: progress_bar(items, shown, f"{a.name} {b.name}"))
        record: Any = np.zeros((), RECORD)
        for name, value in plan.layout().items():
            record[name] = value
        record["kind"], record["size"] = KINDS["network"], weights.nbytes
        field = cls(a, b, record[()], np.frombuffer(weights.tobytes(), np.uint8), plan.settings())
        if cache:
            _store(path, field.to_bytes())
        return field

    def query(self, poses: Any) -> PairContact:
        """Contact at poses, in float32, bit for bit as in the engine.

        Args:
            poses: theta [rad], x, y [m] of B in A's frame (n, 3).

        Raises:
            ArgumentError: `poses` are not finite numbers (n, 3).
        """
        out = _core.pair_query(self._record_bytes(), self.blob, check_poses(poses, np.float32))
        return PairContact(d=out[:, 0], normal=out[:, 1:3], dtheta=out[:, 3], arm_a=out[:, 4])

    def _record_bytes(self) -> NDArray[np.uint8]:
        return np.frombuffer(self.record.tobytes(), np.uint8)

    # ---- files ----

    def to_bytes(self) -> bytes:
        """The content of a file: magic, version, length of the header, header (JSON), data, SHA-256 of these."""
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
        """Writes a file that `load` reads, atomically.

        Raises:
            OSError: the file cannot be written.
        """
        cache.write_atomic(checks.path("path", path), self.to_bytes())

    @classmethod
    def load(cls, path: str | os.PathLike[str], a: Shape2D, b: Shape2D) -> PairField:
        """Reads a field that `save` wrote for the same two shapes.

        Raises:
            OSError: the file cannot be read.
            StateError: it is damaged, or of another version or other shapes; the message says which.
        """
        return _read(checks.path("path", path).read_bytes(), str(path), check_shape("a", a), check_shape("b", b))


def pack_fields(fields: Sequence[PairField]) -> tuple[NDArray[np.void], NDArray[np.uint8]]:
    """Records (n,) of dtype RECORD and one blob (uint8) of many fields, for the engine."""
    records = np.zeros(len(fields), RECORD)
    blobs, offset = [], 0
    for k, field in enumerate(fields):
        records[k] = field.record
        records[k]["offset"] = offset
        padding = -field.blob.size % _ALIGNMENT
        blobs += [field.blob, np.zeros(padding, np.uint8)]
        offset += field.blob.size + padding
    return records, np.concatenate([np.zeros(0, np.uint8), *blobs])


# ---- files ----


def _cache_path(a: Shape2D, b: Shape2D, settings: dict[str, Any]) -> Path:
    key = json.dumps(
        [VERSION, _GENERATED, _core.build_info()["version"], a.digest(), b.digest(), settings], sort_keys=True
    )
    return cache.cache_dir() / "pair_field" / f"{hashlib.sha256(key.encode()).hexdigest()}.ggpair"


def _store(path: Path, data: bytes) -> None:
    cache.store(path, data)


def _read(data: bytes, name: str, a: Shape2D, b: Shape2D) -> PairField:
    """A field from the content of a file; StateError where it is damaged, or of another version or other shapes."""
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
        shapes, names, settings = (str(head["a"]), str(head["b"])), tuple(map(str, head["names"])), head["settings"]
    except (ValueError, KeyError, IndexError, TypeError, RecursionError) as error:
        raise StateError(f"{name}: expected a pair field, its head is damaged ({error})") from None
    if len(names) != 2 or not isinstance(settings, dict):
        raise StateError(f"{name}: expected two names and a dict of settings, got {names} and {settings!r}")
    if shapes != (a.digest(), b.digest()):
        raise StateError(
            f"{name}: expected a field of {a.name} ({a.digest()[:8]}) and {b.name} ({b.digest()[:8]}), "
            f"it was built for {names[0]} ({shapes[0][:8]}) and {names[1]} ({shapes[1][:8]})"
        )
    blob = np.frombuffer(data[_HEAD.size + length : -32], np.uint8)
    if int(record["size"]) != blob.size:
        raise StateError(f"{name}: expected {int(record['size'])} bytes of data, got {blob.size}")
    field = PairField(a, b, record, blob, settings)
    try:
        field.query(np.zeros((1, 3)))
    except ArgumentError as error:
        raise StateError(f"{name}: expected a whole pair field, its record is damaged ({error})") from None
    if abs(float(record["radius"]) - (a.circumradius + b.circumradius)) > 1e-3 * float(record["radius"]):
        raise StateError(f"{name}: expected a field of shapes of this size, its record is damaged")
    return field
