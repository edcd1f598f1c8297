"""arm.py: a serial robot arm: its description in a file, its kinematics, and the guard that keeps its motion possible.

The description (`assets/panda.json`) holds published facts (modified Denavit-Hartenberg rows, limits) and shapes of our
own (capsules and cylinders). Kinematics and guard run in C for a batch of arms (csrc/geometry/arm.h, arm_guard.h), in
double: positions are good to 1e-14 m, and row k of a batch depends on row k alone.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from granular_gym import _core
from granular_gym.base import checks, rotations
from granular_gym.base.assets import asset_path
from granular_gym.engine.drives import Drive
from granular_gym.errors import ArgumentError, DescriptionError
from granular_gym.shapes.sdf import Sdf

Array = NDArray[np.float64]

FORMAT = "granular_gym.arm/1"
LARGEST_ROWS = 15  # of a chain, tool included (csrc/geometry/arm.h holds 16)
LARGEST_CAPSULES = 64
#: blocks of a drive, see csrc/geometry/drive_arm.h
LARGEST_BLOCKS = 16
#: bits of the guard's events, see csrc/geometry/arm_guard.h
JOINT_EVENT, SPEED_EVENT, TOUCH_EVENT = 1, 2, 4


@dataclass(frozen=True, eq=False)
class Link:
    """What rides on one frame; each row is ax ay az bx by bz radius in the frame [m].

    Attributes:
        frame: index; 0 is the base, k the frame of joint k.
        capsules: (n, 7) the shape, and what the guard keeps apart.
        cylinders: (n, 7) further shape (housings) that the guard does not check.
    """

    frame: int
    capsules: Array
    cylinders: Array

    def sdf(self) -> Sdf:
        """The shape as a tool."""
        parts = [_rod(row, "capsule") for row in self.capsules] + [_rod(row, "cylinder") for row in self.cylinders]
        return Sdf.union(parts)


@dataclass(frozen=True, eq=False)
class ArmDescription:
    """A serial arm of revolute joints, as a file describes it.

    Attributes:
        name: of the arm, for messages.
        rows: (rows, 4) a [m], alpha [rad], d [m], theta [rad] in modified (Craig) form; joints first, then the fixed.
        lower: (joints,) [rad].
        upper: (joints,) [rad].
        speed: (joints,) largest [rad/s].
        acceleration: (joints,) largest [rad/s2].
        torque: (joints,) largest [N m].
        tip_speed: Cartesian limit [m/s].
        payload: the arm may carry [kg].
        links: shapes by frame.
        apart: pairs of frames whose capsules must not meet.
    """

    name: str
    rows: Array
    lower: Array
    upper: Array
    speed: Array
    acceleration: Array
    torque: Array
    tip_speed: float
    payload: float
    links: tuple[Link, ...]
    apart: tuple[tuple[int, int], ...]

    @property
    def joint_count(self) -> int:
        """Number of joints."""
        return len(self.lower)


def load_arm(path: str | os.PathLike[str]) -> ArmDescription:
    """Reads the description of an arm.

    Args:
        path: of a JSON file, or the name of an asset ("panda.json").

    Raises:
        OSError: the file cannot be read.
        DescriptionError: it is damaged or says something that cannot be; the message names file and entry.
    """
    found = Path(path) if os.path.exists(path) or os.sep in str(path) else asset_path(str(path))
    try:
        data = json.loads(found.read_text(encoding="utf-8"))
    except (ValueError, RecursionError) as error:
        raise DescriptionError(f"{found}: expected JSON, it is damaged ({error})") from None
    try:
        return _read(data)
    except ArgumentError as error:
        raise DescriptionError(f"{found}: {error}") from None


def _entry(where: str, data: Any, key: str) -> Any:
    if not isinstance(data, dict):
        raise ArgumentError(f"{where}: expected an object, got {type(data).__name__}")
    if key not in data:
        raise ArgumentError(f"{where}{key}: expected an entry, it is missing")
    return data[key]


def _list(where: str, value: Any, shortest: int, longest: int) -> list[Any]:
    if not isinstance(value, list) or not shortest <= len(value) <= longest:
        got = f"{len(value)}" if isinstance(value, list) else type(value).__name__
        raise ArgumentError(f"{where}: expected a list of {shortest} .. {longest} entries, got {got}")
    return value


def _row(where: str, data: Any) -> list[float]:
    return [
        checks.number(f"{where}{key}", _entry(where, data, key), -limit, limit)
        for key, limit in (("a", 10.0), ("alpha", 2.0 * math.pi), ("d", 10.0), ("theta", 2.0 * math.pi))
    ]


def _rods(where: str, value: Any) -> Array:
    rods = _list(where, value, 0, LARGEST_CAPSULES)
    out = np.zeros((len(rods), 7))
    for k, rod in enumerate(rods):
        for i, number in enumerate(_list(f"{where}[{k}]", rod, 7, 7)):
            out[k, i] = checks.number(f"{where}[{k}][{i}]", number, -10.0 if i < 6 else 0.0, 10.0, above=i == 6)
    return out


def _read(data: Any) -> ArmDescription:
    """A description from parsed JSON; every entry is checked where it is read."""
    form = _entry("", data, "format")
    if form != FORMAT:
        raise ArgumentError(f"format: expected {FORMAT!r}, got {form!r}")
    joints = _list("joints", _entry("", data, "joints"), 1, LARGEST_ROWS)
    fixed = _list("fixed", _entry("", data, "fixed"), 0, LARGEST_ROWS - len(joints))
    rows = [_row(f"joints[{k}].", joint) for k, joint in enumerate(joints)]
    rows += [_row(f"fixed[{k}].", one) for k, one in enumerate(fixed)]
    limits: dict[str, Array] = {}
    for key in ("lower", "upper", "speed", "acceleration", "torque"):
        angle = key in ("lower", "upper")
        limits[key] = np.array(
            [
                checks.number(f"joints[{k}].{key}", _entry(f"joints[{k}].", joint, key), -10.0, 10.0)
                if angle
                else checks.number(f"joints[{k}].{key}", _entry(f"joints[{k}].", joint, key), 0.0, 1e6, above=True)
                for k, joint in enumerate(joints)
            ]
        )
    for k in range(len(joints)):
        if not limits["lower"][k] < limits["upper"][k]:
            raise ArgumentError(
                f"joints[{k}].lower: expected less than upper = {limits['upper'][k]}, got {limits['lower'][k]}"
            )
    links: list[Link] = []
    for k, link in enumerate(_list("links", _entry("", data, "links"), 0, len(rows) + 1)):
        where = f"links[{k}]."
        frame = checks.integer(f"{where}frame", _entry(where, link, "frame"), 0, len(rows))
        if any(frame == other.frame for other in links):
            raise ArgumentError(f"{where}frame: expected a frame of its own, {frame} has a link already")
        shapes = {key: _rods(f"{where}{key}", _entry(where, link, key)) for key in ("capsules", "cylinders")}
        links.append(Link(frame, **shapes))
    total = sum(len(link.capsules) for link in links)
    if total > LARGEST_CAPSULES:
        raise ArgumentError(f"links: expected at most {LARGEST_CAPSULES} capsules, got {total}")
    apart = []
    for k, pair in enumerate(_list("apart", _entry("", data, "apart"), 0, 256)):
        one, two = (checks.integer(f"apart[{k}]", frame, 0, len(rows)) for frame in _list(f"apart[{k}]", pair, 2, 2))
        apart.append((one, two))
    return ArmDescription(
        name=checks.text("name", _entry("", data, "name")),
        rows=np.array(rows),
        tip_speed=checks.number("tip_speed", _entry("", data, "tip_speed"), 0.0, 1e3, above=True),
        payload=checks.number("payload", _entry("", data, "payload"), 0.0, 1e6),
        links=tuple(links),
        apart=tuple(apart),
        **limits,
    )


def _rod(row: Array, kind: str) -> Sdf:
    """A capsule or cylinder from its ends and radius."""
    start, end, radius = row[:3], row[3:6], float(row[6])
    length = float(np.linalg.norm(end - start))
    if length < 1e-9:
        return Sdf.sphere(radius).at(start)
    make = Sdf.capsule if kind == "capsule" else Sdf.cylinder
    return make(radius, 0.5 * length).at(0.5 * (start + end), rotations.from_z_to((end - start) / length))


def sdf_reach(sdf: Sdf) -> float:
    """How far a solid reaches from its origin, by the bounding spheres of its parts as the engine has them [m]."""
    most = 0.0
    for part in sdf.parts:
        center, radius = np.zeros(3), 0.0
        if part.kind == "grid":
            assert part.grid is not None
            size = part.grid.spacing * (np.array(part.grid.samples.shape[::-1]) - 1)
            center = np.array(part.grid.origin) + 0.5 * size
            radius = 0.5 * float(np.linalg.norm(size))
        elif part.kind == "capsule":
            radius = part.size[0] + part.size[1]
        elif part.kind == "cylinder":
            radius = math.hypot(*part.size[:2])
        elif part.kind == "box":
            radius = math.hypot(*part.size[:3])
        elif part.kind == "sphere":
            radius = part.size[0]
        else:
            raise ArgumentError(f"sdf: expected a bounded solid, got a part of kind {part.kind!r}")
        most = max(most, float(np.linalg.norm(part.pose[:3])) + float(np.linalg.norm(center)) + radius)
    return most


@dataclass(frozen=True, eq=False)
class ArmTool:
    """What is bolted to the last frame of a description.

    Attributes:
        rows: (k, 4) the transforms to its frame, as in ArmDescription.rows.
        sdf: its shape in its own frame.
        capsules: (n, 7) what the guard sees of it: ends and radius in its own frame [m].
        apart: frames whose capsules it must not meet.
    """

    rows: Array
    sdf: Sdf
    capsules: Array
    apart: tuple[int, ...]


class Arm:
    """A batch of equal arms with a tool, on a base that stands still.

    Args:
        description: from `load_arm`.
        tool: what it carries.
        base: x y z qw qx qy qz of frame 0 in the world.
        margin: the guard keeps between capsules, and from blocks [m].

    Attributes:
        joint_count: number of joints.
        frame_count: frames of a chain: base, joints, fixed rows, tool.
    """

    description: ArmDescription
    tool: ArmTool
    joint_count: int
    frame_count: int

    def __init__(
        self,
        description: ArmDescription,
        tool: ArmTool,
        base: Any = (0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0),
        margin: float = 0.005,
    ) -> None:
        self.description, self.tool = description, tool
        self.margin: float = checks.number("margin", margin, 0.0, 1.0)
        pose = checks.pose("base", base).astype(np.float64)
        pose[3:] /= np.linalg.norm(pose[3:])
        rows = np.concatenate([description.rows, np.asarray(tool.rows, np.float64).reshape(-1, 4)])
        if len(rows) > LARGEST_ROWS:
            raise ArgumentError(f"tool: expected a chain of at most {LARGEST_ROWS} rows, got {len(rows)}")
        self.joint_count, self.frame_count = description.joint_count, len(rows) + 1
        last = len(rows)
        shapes = [(link.frame, link.sdf(), link.capsules) for link in description.links]
        shapes.append((last, tool.sdf, tool.capsules))
        #: frame and shape of each link, the tool last
        self.shapes: list[tuple[int, Sdf]] = [(frame, sdf) for frame, sdf, _ in shapes]
        reach = np.zeros(self.frame_count)
        for frame, sdf, _ in shapes:
            reach[frame] = sdf_reach(sdf)
        frames = np.concatenate([np.full(len(capsules), frame, np.int32) for frame, _, capsules in shapes])
        capsules = np.concatenate([capsules for _, _, capsules in shapes])
        if len(capsules) > LARGEST_CAPSULES:
            raise ArgumentError(f"tool: expected at most {LARGEST_CAPSULES} capsules in all, got {len(capsules)}")
        meet = [*description.apart, *((frame, last) for frame in tool.apart)]
        pairs = [
            (one, two) for a, b in meet for one in np.flatnonzero(frames == a) for two in np.flatnonzero(frames == b)
        ]
        self._chain = (np.ascontiguousarray(rows), pose)
        self._core = (
            *self._chain,
            description.lower,
            description.upper,
            description.speed,
            description.acceleration,
            reach,
            frames,
            np.ascontiguousarray(capsules),
            np.array(pairs, np.int32).reshape(-1, 2),
            description.tip_speed,
            self.margin,
        )

    def frames(self, joints: Any) -> Array:
        """Poses x y z qw qx qy qz of all frames in the world (n, frame_count, 7) for joints (n, joint_count) [rad]."""
        return _core.arm_frames(*self._chain, self._batch("joints", joints))

    def jacobian(self, joints: Any, point: Any = (0.0, 0.0, 0.0)) -> Array:
        """Geometric Jacobian of a point of the tool's frame.

        Args:
            joints: (n, joint_count) [rad].
            point: (3,) in the tool's frame [m].

        Returns:
            (n, 6, joint_count): velocity [m/s] of the point and angular velocity [rad/s] in world axes, per rad/s.
        """
        at = np.ascontiguousarray(checks.vector("point", point), np.float64)
        return _core.arm_jacobian(*self._chain, self._batch("joints", joints), at)

    def torques(self, joints: Any, wrenches: Any) -> Array:
        """Joint torques (n, joint_count) [N m] that hold against wrenches (n, 6) on the tool: minus J^T w.

        A wrench is force [N] and torque about the tool's origin [N m], world axes.
        """
        return self.loads(joints, self._batch("wrenches", wrenches, 6))[0]

    def loads(self, joints: Any, wrenches: Any) -> tuple[Array, Array]:
        """What `torques` returns, and the wrenches (n, 6) in the tool's frame, as a sensor in the wrist reads them.

        A number of a wrench that is not finite, as of an env that diverged, counts as 0.
        """
        return _core.arm_loads(*self._chain, self._batch("joints", joints), np.ascontiguousarray(wrenches, np.float64))

    def clearance(self, joints: Any, blocks: Any, cap: float = 10.0) -> Array:
        """Least gap of each arm to itself and to its blocks (n,) [m], negative where they overlap, at most `cap`.

        Args:
            joints: (n, joint_count) [rad].
            blocks: (n, m, 10) boxes: pose x y z qw qx qy qz, half extents x y z [m].
            cap: gaps beyond it are not computed [m].
        """
        limit = checks.number("cap", cap, 0.0)
        values = self._batch("joints", joints)
        return _core.arm_clearance(self._core, values, self._blocks(blocks, len(values)), limit)

    def guard(
        self, joints: Any, velocities: Any, wanted: Any, blocks: Any, duration: float, threads: int = 1
    ) -> tuple[Array, Array, NDArray[np.int32]]:
        """One control period under the limits of the arm; the rules are in csrc/geometry/arm_guard.h.

        Args:
            joints: (n, joint_count) before [rad].
            velocities: (n, joint_count) before [rad/s].
            wanted: (n, joint_count) requested [rad/s].
            blocks: (n, m, 10) what must not be touched, see `clearance`.
            duration: [s].
            threads: that share the arms; they change no result.

        Returns:
            Joints and velocities after the period, and events (n,) as bits: JOINT_EVENT, SPEED_EVENT, TOUCH_EVENT.

        Raises:
            ArgumentError: a wrong shape, or a number that is not finite.
        """
        values = self._batch("joints", joints)
        return _core.arm_guard(
            self._core,
            values,
            self._batch("velocities", velocities),
            self._batch("wanted", wanted),
            self._blocks(blocks, len(values)),
            checks.number("duration", duration, 0.0, 1e3, above=True),
            checks.integer("threads", threads, 1, checks.LARGEST_THREADS),
        )

    def drive(self, period: float, still: Any, anchored: Sequence[bool], blocks: Any, at_anchor: Any) -> Drive:
        """The drive of the arm's links, and of tools that stand still and come after them (csrc/geometry/drive_arm.h).

        Its actions are shares of the joint speeds; its state are the joints [rad], their velocities [rad/s], the
        events of the guard, and x, y of an anchor [m], a point on the ground that may differ from env to env.

        Args:
            period: control period [s].
            still: (n, 7) poses of the tools that stand still.
            anchored: which of them stand at the anchor: their x, y are relative to it.
            blocks: (m, 10) what the arm must not touch, at most LARGEST_BLOCKS, see `clearance`.
            at_anchor: (m,) bool, which blocks stand at the anchor.

        Raises:
            ArgumentError: a wrong shape, too many blocks, or a number that is not finite.
        """
        rows, base, lower, upper, speed, acceleration, reach, frames, capsules, pairs, tip_speed, margin = self._core
        boxes, flags = _doubles("blocks", blocks, (None, 10)), np.asarray(at_anchor, bool)
        if len(boxes) > LARGEST_BLOCKS or flags.shape != (len(boxes),):
            raise ArgumentError(
                f"blocks: expected at most {LARGEST_BLOCKS} and as many at_anchor, got {len(boxes)} and {flags.shape}"
            )
        poses = np.zeros((len(self.shapes) + len(anchored), 7))
        poses[:, 3] = 1.0
        poses[len(self.shapes) :] = still
        counts = [len(rows), self.joint_count, len(capsules), len(pairs), len(boxes)]
        tools = [frame for frame, _ in self.shapes] + [-2 if at else -1 for at in anchored]
        index = np.concatenate([counts, frames, pairs.ravel(), flags, tools]).astype(np.int32)
        limits = (lower, upper, speed, acceleration, reach, [tip_speed, margin, period])
        value = np.concatenate([rows.ravel(), base, *limits, capsules.ravel(), boxes.ravel(), poses.ravel()])
        return Drive("arm", self.joint_count, 2 * self.joint_count + 3, index, value)

    def _batch(self, name: str, value: Any, width: int | None = None) -> Array:
        return _doubles(name, value, (None, self.joint_count if width is None else width))

    @staticmethod
    def _blocks(value: Any, count: int) -> Array:
        return _doubles("blocks", value, (count, None, 10))


def _doubles(name: str, value: Any, shape: Sequence[int | None]) -> Array:
    """A C-contiguous float64 array of finite numbers."""
    try:
        array = np.ascontiguousarray(value, np.float64)
    except (TypeError, ValueError):
        raise ArgumentError(f"{name}: expected an array of numbers, got {type(value).__name__}") from None
    fits = array.ndim == len(shape) and all(w is None or n == w for n, w in zip(array.shape, shape, strict=True))
    if not fits:
        raise ArgumentError(f"{name}: expected shape {checks.shape_text(shape)}, got {array.shape}")
    if not _core.all_finite(array):
        raise ArgumentError(f"{name}: expected finite numbers, got {array[~np.isfinite(array)][0]}")
    return array
