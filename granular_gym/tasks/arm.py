"""arm.py: a serial robot arm: its kinematics, and the guard that keeps its motion possible.

What the arm is comes from a description (`granular_gym.arms`). Kinematics and guard run in C for a batch of arms
(csrc/geometry/arm.h, arm_guard.h), in double: positions are good to 1e-14 m, and row k of a batch depends on row k
alone.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from granular_gym import _core
from granular_gym.arms.description import LARGEST_CAPSULES, LARGEST_ROWS, ArmDescription, Array
from granular_gym.base import checks, rotations
from granular_gym.engine.drives import Drive
from granular_gym.errors import ArgumentError
from granular_gym.shapes.sdf import Sdf

#: blocks of a drive, see csrc/geometry/drive_arm.h
LARGEST_BLOCKS = 16
#: bits of the guard's events, see csrc/geometry/arm_guard.h
JOINT_EVENT, SPEED_EVENT, TOUCH_EVENT = 1, 2, 4


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
        elif part.kind == "cone":
            radius = math.hypot(max(part.size[:2]), part.size[2])
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
        base: x y z qw qx qy qz of the arm's base link in the world.
        margin: the guard keeps between capsules, and from blocks [m].

    Attributes:
        joint_count: number of joints.
        frame_count: frames of a chain: frame 0, joints, fixed rows, tool.
    """

    joint_count: int
    frame_count: int

    def __init__(
        self,
        description: ArmDescription,
        tool: ArmTool,
        base: Any = (0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0),
        margin: float = 0.005,
    ) -> None:
        self.description: ArmDescription = checks.instance("description", description, ArmDescription)
        self.tool: ArmTool = checks.instance("tool", tool, ArmTool)
        self.margin: float = checks.number("margin", margin, 0.0, 1.0)
        pose = checks.pose("base", base).astype(np.float64)
        pose[3:] /= np.linalg.norm(pose[3:])
        pose = rotations.compose(pose, description.base)
        rows = np.concatenate([description.rows, np.asarray(tool.rows, np.float64).reshape(-1, 4)])
        if len(rows) > LARGEST_ROWS:
            raise ArgumentError(f"tool: expected a chain of at most {LARGEST_ROWS} rows, got {len(rows)}")
        self.joint_count, self.frame_count = description.joint_count, len(rows) + 1
        last = len(rows)
        shapes = [(link.frame, link.sdf(), link.guarded) for link in description.links]
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
