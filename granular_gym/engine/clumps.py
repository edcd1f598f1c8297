"""clumps.py: clumps of a scene as arrays in the engine's layout, and their poses as people give and read them.

The engine turns a clump about its principal axes; people give the orientation of its frame (`Clump.centers`).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from granular_gym.base import checks, rng
from granular_gym.errors import ArgumentError
from granular_gym.shapes.clump import Clump

Floats = NDArray[np.float64]

#: w x y z of a frame that is not turned
_UPRIGHT = (1.0, 0.0, 0.0, 0.0)


@dataclasses.dataclass(frozen=True, eq=False)
class ClumpGroup:
    """Clumps of one call.

    Attributes:
        shape: theirs, of bounding radius 1.
        radii: bounding radius of each (n,) [m].
        poses: centre of mass and w x y z of the frame of each (n, 7) [m].
        velocities: (n, 6) [m/s], [rad/s] in the axes of the world.
        surface: index of the tool that is the surface of the one clump of the group; -1: none.
    """

    shape: Clump
    radii: Floats
    poses: Floats
    velocities: Floats
    surface: int = -1

    def spheres(self) -> tuple[Floats, Floats]:
        """Centres (n * spheres, 3) and radii (n * spheres,) of all spheres [m], clump after clump."""
        offsets = self.radii[:, None, None] * turned(self.poses[:, None, 3:], self.shape.centers)
        centers = self.poses[:, None, :3] + offsets
        return centers.reshape(-1, 3), (self.radii[:, None] * self.shape.radii).reshape(-1)


def group(shape: Clump, radii: Any, points: Any, orientations: Any, velocities: Any, spins: Any) -> ClumpGroup:
    """Checked clumps.

    Args:
        shape: of a material.
        radii: bounding radius of each (n,) [m].
        points: centres of mass (n, 3) [m].
        orientations: w x y z of the frame, one for all (4,) or (n, 4); None: as the shape is given.
        velocities: (n, 3) [m/s].
        spins: angular velocities (n, 3) [rad/s]; None: 0.

    Raises:
        ArgumentError: quaternions of no length.
    """
    count = len(points)
    turns = np.empty((count, 4))
    turns[:] = checks.doubles("orientations", _UPRIGHT if orientations is None else orientations, (4,), (count, 4))
    lengths = np.linalg.norm(turns, axis=1)
    if (lengths < 1e-6).any():
        raise ArgumentError(f"orientations: expected quaternions w x y z, got {turns[lengths.argmin()].tolist()}")
    turning = np.zeros((count, 3)) if spins is None else checks.doubles("angular_velocities", spins, (count, 3))
    return ClumpGroup(
        shape.scaled(1.0 / shape.radius),
        np.asarray(radii, np.float64),
        np.concatenate([np.asarray(points, np.float64), turns / lengths[:, None]], axis=1),
        np.concatenate([np.asarray(velocities, np.float64), turning], axis=1),
    )


def random_orientations(seed: int, count: int) -> Floats:
    """Unit quaternions (count, 4), evenly distributed (Shoemake, Uniform random rotations, Graphics Gems III, 1992)."""
    first, second, third = (rng.uniform(seed, stream, count) for stream in (4, 5, 6))
    low, high = np.sqrt(1.0 - first), np.sqrt(first)
    a, b = 2.0 * np.pi * second, 2.0 * np.pi * third
    return np.stack([high * np.cos(b), low * np.sin(a), low * np.cos(a), high * np.sin(b)], axis=1)


def turned(q: Floats, v: Floats) -> Floats:
    """Vectors (..., 3) turned by unit quaternions (..., 4)."""
    w, u = q[..., :1], q[..., 1:]
    t = 2.0 * np.cross(u, v)
    return v + w * t + np.cross(u, t)


def product(a: Floats, b: Floats) -> Floats:
    """Hamilton products (..., 4): rotation by b, then by a."""
    aw, av, bw, bv = a[..., :1], a[..., 1:], b[..., :1], b[..., 1:]
    w = aw * bw - (av * bv).sum(axis=-1, keepdims=True)
    return np.concatenate([w, aw * bv + bw * av + np.cross(av, bv)], axis=-1)


def inverse(q: Floats) -> Floats:
    """Inverse of unit quaternions (..., 4)."""
    result: Floats = q * np.array([1.0, -1.0, -1.0, -1.0])
    return result


class Spheres(Protocol):
    """Lone spheres of one call: centres, radii [m], velocities [m/s]; each is a clump of one."""

    @property
    def positions(self) -> NDArray[np.float32]: ...
    @property
    def radii(self) -> NDArray[np.float32]: ...
    @property
    def velocities(self) -> NDArray[np.float32]: ...


def clump_arrays(groups: Sequence[ClumpGroup | Spheres], always: bool = False) -> dict[str, Any] | None:
    """The `clumps` argument of the engine's world; `axes`: w x y z of the principal axes of each in its frame.

    Args:
        groups: of all grains, in order of their ids.
        always: also where all are lone spheres; else None is returned then.
    """
    if not always and not any(isinstance(each, ClumpGroup) for each in groups):
        return None
    counts, shapes, offsets, poses, velocities, axes = [], [], [], [], [], []
    surfaces = []
    for each in groups:
        if isinstance(each, ClumpGroup):
            moments, turn = each.shape.principal
            count, spheres, size = len(each.radii), len(each.shape.radii), each.radii[:, None]
            own = turned(inverse(turn)[None], each.shape.centers)
            shapes.append(np.concatenate([size**3 * each.shape.volume, size**5 * moments, size], axis=1))
            offsets.append((size[:, None] * own).reshape(-1, 3))
            turns = product(each.poses[:, 3:], np.broadcast_to(turn, (count, 4)))
            poses.append(np.concatenate([each.poses[:, :3], turns], axis=1))
            velocities.append(each.velocities)
        else:
            count, spheres, size = len(each.radii), 1, each.radii[:, None].astype(np.float64)
            volume = 4.0 / 3.0 * np.pi * size**3
            shapes.append(np.concatenate([volume, np.repeat(0.4 * volume * size**2, 3, axis=1), size], axis=1))
            offsets.append(np.zeros((count, 3)))
            turn = np.array(_UPRIGHT)
            poses.append(np.concatenate([each.positions, np.broadcast_to(turn, (count, 4))], axis=1))
            velocities.append(np.concatenate([each.velocities, np.zeros((count, 3))], axis=1))
        counts.append(np.full(count, spheres))
        axes.append(np.broadcast_to(turn, (count, 4)))
        surfaces.append(np.full(count, each.surface if isinstance(each, ClumpGroup) else -1, np.int32))
    first = np.concatenate([[0], np.cumsum(np.concatenate(counts))]).astype(np.int32)
    return {
        "first": first,
        "shape": np.ascontiguousarray(np.concatenate(shapes), np.float64),
        "offset": np.ascontiguousarray(np.concatenate(offsets), np.float32),
        "pose": np.ascontiguousarray(np.concatenate(poses), np.float64),
        "velocity": np.ascontiguousarray(np.concatenate(velocities), np.float64),
        "surface": np.concatenate(surfaces),
        "axes": np.ascontiguousarray(np.concatenate(axes), np.float64),
    }


def to_frames(poses: Floats, axes: Floats) -> Floats:
    """Poses (..., clumps, 7) of the frames of clumps from those of their principal axes."""
    return np.concatenate([poses[..., :3], product(poses[..., 3:], inverse(axes))], axis=-1)


def to_axes(poses: Floats, axes: Floats) -> Floats:
    """The inverse of `to_frames`."""
    return np.concatenate([poses[..., :3], product(poses[..., 3:], axes)], axis=-1)
