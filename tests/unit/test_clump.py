"""Clumps: mass properties against closed forms and voxels, principal axes, scaling, invalid arguments."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import granular_gym as gg
from granular_gym.base import rotations

CLUMPS = {
    "pair": gg.Clump.pair(0.01),
    "tetrahedron": gg.Clump.tetrahedron(0.02),
    "cube": gg.Clump.cube(1.0),
    "rod": gg.Clump.rod(0.5, 5),
    "ring": gg.Clump.ring(3.0, 12),
}


def matrix(quaternion: np.ndarray) -> np.ndarray:
    return np.stack([rotations.rotate(quaternion, axis) for axis in np.eye(3)], axis=1)


def turned(clump: gg.Clump, quaternion: Any) -> gg.Clump:
    """The same spheres in another frame, away from the origin."""
    q = np.array(quaternion) / np.linalg.norm(quaternion)
    return gg.Clump(rotations.rotate(q, clump.centers) + np.array([5.0, -3.0, 1.0]), clump.radii)


def voxel_moments(centers: np.ndarray, radii: np.ndarray, count: int = 128) -> tuple[float, np.ndarray, np.ndarray]:
    """Volume, centre and inertia tensor about it of the voxels whose middle lies within a sphere."""
    lower, upper = (centers - radii[:, None]).min(axis=0), (centers + radii[:, None]).max(axis=0)
    x, y, z = (lower[k] + (np.arange(count) + 0.5) * (upper[k] - lower[k]) / count for k in range(3))
    solid = np.zeros((count, count, count), bool)
    for (a, b, c), r in zip(centers, radii, strict=True):
        solid |= (x[:, None, None] - a) ** 2 + (y[:, None] - b) ** 2 + (z - c) ** 2 < r * r
    cell = float(((upper - lower) / count).prod())
    # sums over one and two axes carry all moments up to the second
    xy, xz, yz = solid.sum(axis=2), solid.sum(axis=1), solid.sum(axis=0)
    axes, counts = (x, y, z), (xy.sum(axis=1), xy.sum(axis=0), yz.sum(axis=0))
    total = counts[0].sum()
    center = np.array([counts[k] @ axes[k] for k in range(3)]) / total
    second = np.diag([counts[k] @ axes[k] ** 2 for k in range(3)])
    for (j, k), table in {(0, 1): xy, (0, 2): xz, (1, 2): yz}.items():
        second[j, k] = second[k, j] = axes[j] @ table @ axes[k]
    second = cell * (second - total * np.outer(center, center))
    return cell * float(total), center, np.trace(second) * np.eye(3) - second


@pytest.mark.parametrize("name", CLUMPS)
def test_mass_properties_agree_with_voxels(name):
    clump = CLUMPS[name]
    volume, center, inertia = voxel_moments(clump.centers, clump.radii)
    assert volume == pytest.approx(clump.volume, rel=5e-3)
    assert np.abs(center).max() < 5e-3 * clump.radius
    assert np.abs(inertia - clump.inertia).max() < 5e-3 * clump.inertia.max()
