"""The bucket of the excavator: its meshes, the script that makes them, and its capsules in the guard."""

from __future__ import annotations

import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest

from granular_gym.envs.excavator import BUCKET_ROWS, bucket_capsules, bucket_sdf
from granular_gym.envs.excavator_state import LIP
from granular_gym.shapes.mesh import load_mesh

ASSETS = Path(__file__).resolve().parents[2] / "assets"


@pytest.mark.parametrize(
    ("name", "lower", "upper"),
    [
        ("bucket_shell.stl", (-0.068, -0.070, -0.0201), (0.078, 0.070, 0.161)),
        ("bucket_cheek.stl", (-0.068, -0.003, 0.046), (0.078, 0.003, 0.161)),
    ],
)
def test_meshes(name: str, lower: tuple[float, ...], upper: tuple[float, ...]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        mesh = load_mesh(ASSETS / name)
    assert mesh.is_watertight and mesh.volume > 0.0
    np.testing.assert_allclose(mesh.bounds, [lower, upper], atol=2e-4)
    np.testing.assert_allclose(mesh.bounds[0, 1], -mesh.bounds[1, 1], atol=1e-6)


def test_meshes_come_from_the_script(tmp_path: Path) -> None:
    pytest.importorskip("manifold3d", reason="manifold3d is not installed: meshes cannot be made again")
    pytest.importorskip("trimesh", reason="trimesh is not installed: meshes cannot be made again")
    subprocess.run([sys.executable, ASSETS / "make_bucket.py", tmp_path], check=True, capture_output=True, timeout=120)
    for name in ("bucket_shell.stl", "bucket_cheek.stl"):
        made, kept = load_mesh(tmp_path / name), load_mesh(ASSETS / name)
        assert made.volume == pytest.approx(kept.volume, rel=1e-4)
        np.testing.assert_allclose(made.bounds, kept.bounds, atol=1e-5)


def test_the_guard_s_capsules_cover_the_bucket() -> None:
    """All points of the meshes lie in capsules or next to them, and no capsule extends far beyond."""
    shell, cheek = load_mesh(ASSETS / "bucket_shell.stl"), load_mesh(ASSETS / "bucket_cheek.stl")
    side = np.array([0.0, 0.067, 0.0])
    points = np.concatenate([shell.vertices, cheek.vertices + side, cheek.vertices - side])
    capsules = bucket_capsules()
    a, b, radius = capsules[:, :3], capsules[:, 3:6], capsules[:, 6]
    way = b - a
    t = np.clip(((points[:, None] - a) * way).sum(axis=2) / np.maximum((way**2).sum(axis=1), 1e-12), 0.0, 1.0)
    gaps = np.linalg.norm(points[:, None] - a - t[..., None] * way, axis=2) - radius
    assert gaps.min(axis=1).max() < 0.004
    lower, upper = points.min(axis=0), points.max(axis=0)
    ends = np.concatenate([a, b])
    reach = np.concatenate([radius, radius])[:, None]
    plates = np.tile(np.arange(len(capsules)) < len(capsules) - 1, 2)  # without the mount
    assert ((ends + reach)[plates] < upper + 0.005).all()
    assert ((ends - reach)[plates] > [*(lower[:2] - 0.005), 0.04]).all()


def test_the_mount_leans_as_the_chain_does() -> None:
    """The disc of the mount is square to the axis of the flange, which the chain turns by half a radian."""
    vertices = load_mesh(ASSETS / "bucket_shell.stl").vertices
    tilt = -BUCKET_ROWS[1, 1]
    axis = np.array([np.sin(tilt), 0.0, np.cos(tilt)])
    height = vertices @ axis
    face = vertices[np.abs(height) < 1e-5]
    assert height.min() > -1e-5 and len(face) >= 20
    assert np.linalg.norm(face, axis=1).max() == pytest.approx(0.042, abs=1e-4)


def test_the_lip_is_the_edge() -> None:
    vertices = load_mesh(ASSETS / "bucket_shell.stl").vertices
    edge = vertices[vertices[:, 0] > vertices[:, 0].max() - 1e-5]
    assert LIP[0] == pytest.approx(edge[:, 0].max(), abs=1e-4)
    assert edge[:, 2].min() - 1e-4 <= LIP[2] <= edge[:, 2].max() + 1e-4


def test_shell_and_cheeks_are_parts_of_their_own() -> None:
    parts = bucket_sdf().parts
    assert len(parts) == 3 and all(part.kind == "grid" for part in parts)
    assert parts[1].grid is parts[2].grid, "both cheeks share one field"
    assert [part.pose[1] for part in parts] == pytest.approx([0.0, 0.067, -0.067])
