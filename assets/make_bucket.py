"""Makes the meshes of the excavator's bucket from parameters: bucket_shell.stl and bucket_cheek.stl.

    python assets/make_bucket.py [folder]

Needs trimesh and manifold3d (the `dev` extra); the package itself only reads the files. Metres. The origin is the
centre of the arm's flange; x points towards the mouth, y across, z from the top plate to the floor. The shell is one
bent plate (top, back, floor, lip) with the mount on it; the cheek is the plate that closes a side, drawn around y = 0
and used once per side. These are three parts, because the engine finds one contact per grain and part: a grain in a
corner then touches both plates. The shell spans the full width, so that no seam is open.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
from make_bulldozer import block, polygon, rod, slab, write
from manifold3d import Manifold

HALF_WIDTH = 0.070  # outside
CHEEK_THICKNESS = 0.006
PLATE_THICKNESS = 0.006
LIP_THICKNESS = 0.003
LIP_LENGTH = 0.022  # length over which the floor tapers to the lip

# the inside of the section in (x, z)
TOP_FRONT, TOP_Z = 0.012, 0.052
BACK_X = -0.062
TOP_ROUND, FLOOR_ROUND = 0.026, 0.052  # radii of the bends
FLOOR_Z, LIP_X = 0.155, 0.078
ARC_POINTS = 10

# the mount: the flange's axis leans back from the mouth, so that the wrist can tip the bucket further
MOUNT_TILT = 0.5  # [rad]


def arc(x: float, z: float, radius: float, start: float, end: float) -> list[tuple[float, float]]:
    """Points of an arc around (x, z), angles [rad] from +x towards +z."""
    angles = np.linspace(start, end, ARC_POINTS)
    return [(x + radius * float(np.cos(a)), z + radius * float(np.sin(a))) for a in angles]


def inside() -> np.ndarray:
    """The inner surface from the front of the top plate, around the back, to the lip: (n, 2) x, z."""
    points = [(TOP_FRONT, TOP_Z)]
    points += arc(BACK_X + TOP_ROUND, TOP_Z + TOP_ROUND, TOP_ROUND, -0.5 * np.pi, -np.pi)
    points += arc(BACK_X + FLOOR_ROUND, FLOOR_Z - FLOOR_ROUND, FLOOR_ROUND, np.pi, 0.5 * np.pi)
    points += [(LIP_X - LIP_LENGTH, FLOOR_Z), (LIP_X, FLOOR_Z)]
    return np.array(points)


def outside(inner: np.ndarray) -> np.ndarray:
    """The outer surface: the inner one offset by the thickness of the plate, less at the lip."""
    along = np.gradient(inner, axis=0)
    along[0], along[-2:] = inner[1] - inner[0], inner[-1] - inner[-2]
    along /= np.linalg.norm(along, axis=1)[:, None]
    # the inside is on the left along the section, seen with z up
    out = np.stack([-along[:, 1], along[:, 0]], axis=1)
    thickness = np.full((len(inner), 1), PLATE_THICKNESS)
    thickness[-1] = LIP_THICKNESS
    return inner + thickness * out


def counter_clockwise(points: np.ndarray) -> list[tuple[float, float]]:
    """The corners of a polygon in counter-clockwise order."""
    x, z = points.T
    area = float(np.sum(x * np.roll(z, -1) - np.roll(x, -1) * z))
    return [tuple(p) for p in (points if area > 0.0 else points[::-1])]


def shell() -> Manifold:
    """Bent plate and mount."""
    inner = inside()
    plate = slab(polygon(counter_clockwise(np.concatenate([inner, outside(inner)[::-1]]))), -HALF_WIDTH, HALF_WIDTH)
    axis = np.array([np.sin(MOUNT_TILT), 0.0, np.cos(MOUNT_TILT)])
    disc = rod((0.0, 0.0, 0.0), tuple(0.014 * axis), 0.042)
    foot = block((-0.036, -0.034, TOP_Z - 0.013), (0.0095, 0.034, TOP_Z - 0.0025), 0.003)
    neck = Manifold.batch_hull([rod(tuple(0.004 * axis), tuple(0.0105 * axis), 0.030), foot])
    return plate + disc + neck


def cheek() -> Manifold:
    """A side plate; its front edge runs from the top plate to the lip, slightly concave."""
    outer = outside(inside())
    front = np.array([(0.046, 0.112)])
    section = polygon(counter_clockwise(np.concatenate([outer, front])))
    return slab(section, -0.5 * CHEEK_THICKNESS, 0.5 * CHEEK_THICKNESS)


def main() -> None:
    """Writes both files to the folder given on the command line; default: the folder of this script."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).resolve().parent
    for name, solid in (("bucket_shell", shell()), ("bucket_cheek", cheek())):
        path = folder / f"{name}.stl"
        mesh = write(solid, path)
        low, high = mesh.bounds
        print(
            f"{path.name}: {len(mesh.faces)} triangles, {mesh.volume * 1e6:.0f} ml, "
            f"x {low[0]:.4f} .. {high[0]:.4f}, y {low[1]:.4f} .. {high[1]:.4f}, z {low[2]:.4f} .. {high[2]:.4f} m"
        )


if __name__ == "__main__":
    main()
