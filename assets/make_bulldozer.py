"""Makes the meshes of the toy bulldozer from parameters: bulldozer_blade.stl and bulldozer_hull.stl.

    python assets/make_bulldozer.py [folder]

Needs trimesh and manifold3d (the `dev` extra); the package itself only reads the files. Metres; x forward, z up, origin
on the ground at the vehicle's centre. Solids are unions and differences of convex pieces and so watertight. They are
about 3 cm thick or more, so that an SDF grid of 1 to 2 cm spacing resolves them; blade and wings are thicker than a
grain's radius. Nothing near the ground squeezes grains: the tracks are triangles that lean inward (high drive), the
belly between them is closed down to the clearance.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import trimesh
from manifold3d import CrossSection, Manifold

CLEARANCE = 0.005  # of everything above the ground [m]
SEGMENTS = 20  # corners of a full circle

# blade: a curved plate, concave to the front, between two wings
BLADE_EDGE = 0.50  # x of the cutting edge and of the upper edge
BLADE_HEIGHT = 0.30
BLADE_HOLLOW = 0.055  # depth of the curve
BLADE_THICKNESS = 0.05
BLADE_HALF_WIDTH = 0.455
WING_THICKNESS = 0.045
WING_FRONT = 0.605  # x of the wings' front end

# hull
REAR, NOSE = -0.44, 0.37
TRACK_INNER, TRACK_OUTER = 0.20, 0.34  # |y|
TRACK_HEIGHT = 0.29


def polygon(points: list[tuple[float, float]]) -> CrossSection:
    """A filled polygon, corners counter-clockwise."""
    return CrossSection([np.array(points, dtype=np.float64)])


def slab(section: CrossSection, y0: float, y1: float) -> Manifold:
    """The extrusion from y0 to y1 of a section in (x, z)."""
    # extrusion is along +z; after a rotation about x by 90 degrees along -y
    return section.extrude(y1 - y0).rotate([90.0, 0.0, 0.0]).translate([0.0, y1, 0.0])


def block(lower: tuple[float, float, float], upper: tuple[float, float, float], chamfer: float = 0.0) -> Manifold:
    """A box with chamfered edges."""
    a, b = np.array(lower), np.array(upper)
    points = []
    for axis in range(3):
        inset = np.full(3, chamfer)
        inset[axis] = 0.0
        low, high = a + inset, b - inset
        points += [
            [(low, high)[i][0], (low, high)[j][1], (low, high)[k][2]] for i in (0, 1) for j in (0, 1) for k in (0, 1)
        ]
    return Manifold.hull_points(np.array(points))


def rod(start: tuple[float, float, float], end: tuple[float, float, float], radius: float) -> Manifold:
    """A cylinder between two points."""
    a, b = np.array(start), np.array(end)
    axis = (b - a) / np.linalg.norm(b - a)
    side = np.cross(axis, [0.0, 0.0, 1.0] if abs(axis[2]) < 0.9 else [1.0, 0.0, 0.0])
    side /= np.linalg.norm(side)
    up = np.cross(axis, side)
    turn = 2.0 * np.pi * np.arange(SEGMENTS) / SEGMENTS
    ring = radius * (np.cos(turn)[:, None] * side + np.sin(turn)[:, None] * up)
    return Manifold.hull_points(np.concatenate([a + ring, b + ring]))


def both_sides(piece: Manifold) -> Manifold:
    """A piece and its mirror image on the other side of the vehicle."""
    return piece + piece.mirror([0.0, 1.0, 0.0])


def blade() -> Manifold:
    """Plate and wings."""
    z = np.linspace(0.0, BLADE_HEIGHT, 17)
    across = 2.0 * z / BLADE_HEIGHT - 1.0
    front = BLADE_EDGE - BLADE_HOLLOW * (1.0 - across**2)
    back = front - BLADE_THICKNESS * (1.0 + 0.25 * across**2)
    outline = list(zip(front, z + CLEARANCE, strict=True)) + list(zip(back[::-1], z[::-1] + CLEARANCE, strict=True))
    plate = slab(polygon(outline), -BLADE_HALF_WIDTH, BLADE_HALF_WIDTH)
    low, high = CLEARANCE, CLEARANCE + BLADE_HEIGHT
    wing = polygon(
        [
            (BLADE_EDGE - 0.10, low),
            (WING_FRONT - 0.015, low),
            (WING_FRONT, low + 0.02),
            (WING_FRONT, low + 0.13),
            (BLADE_EDGE + 0.02, high),
            (BLADE_EDGE - 0.08, high),
        ]
    )
    # ribs on the back, where the arms are attached
    rib = polygon(
        [(BLADE_EDGE - 0.14, 0.06), (BLADE_EDGE - 0.07, 0.05), (BLADE_EDGE - 0.07, 0.27), (BLADE_EDGE - 0.12, 0.25)]
    )
    return (
        plate
        + both_sides(slab(wing, BLADE_HALF_WIDTH - WING_THICKNESS, BLADE_HALF_WIDTH))
        + both_sides(slab(rib, 0.12, 0.17))
    )


def track() -> Manifold:
    """The left track: a belt around a triangle, open at the side with wheels in it; cleats on the slopes."""
    outline = polygon(
        [
            (REAR + 0.03, CLEARANCE),
            (NOSE - 0.03, CLEARANCE),
            (NOSE, CLEARANCE + 0.03),
            (NOSE, 0.085),
            (NOSE - 0.035, 0.125),
            (-0.06, TRACK_HEIGHT - 0.01),
            (-0.11, TRACK_HEIGHT),
            (-0.20, TRACK_HEIGHT),
            (-0.25, TRACK_HEIGHT - 0.02),
            (REAR + 0.03, 0.13),
            (REAR, 0.09),
            (REAR, CLEARANCE + 0.03),
        ]
    )
    solid = slab(outline, TRACK_INNER, TRACK_OUTER)
    recess = slab(outline.offset(-0.034), TRACK_OUTER - 0.035, TRACK_OUTER + 0.01)
    wheels = [(-0.155, 0.205, 0.062), (REAR + 0.085, 0.08, 0.052), (NOSE - 0.085, 0.08, 0.052)]
    wheels += [(x, 0.065, 0.036) for x in (-0.24, -0.14, -0.04, 0.06, 0.16)]
    hubs = Manifold()
    for x, z, radius in wheels:
        hubs += rod((x, TRACK_INNER + 0.05, z), (x, TRACK_OUTER - 0.005, z), radius)
        hubs += rod((x, TRACK_INNER + 0.05, z), (x, TRACK_OUTER + 0.006, z), 0.4 * radius)
    return solid - recess + hubs + cleats(outline)


def cleats(outline: CrossSection) -> Manifold:
    """Bars across the parts of the belt that do not face the ground."""
    corners = outline.to_polygons()[0]
    bars = Manifold()
    for a, b in zip(corners, np.roll(corners, -1, axis=0), strict=True):
        length = float(np.linalg.norm(b - a))
        if length < 0.08 or max(a[1], b[1]) < 0.05:
            continue
        along = (b - a) / length
        out = np.array([along[1], -along[0]])
        for s in np.arange(0.5, round(length / 0.055)) / round(length / 0.055) * length:
            middle = a + s * along
            bar = [
                middle - 0.013 * along - 0.01 * out,
                middle + 0.013 * along - 0.01 * out,
                middle + 0.010 * along + 0.013 * out,
                middle - 0.010 * along + 0.013 * out,
            ]
            # counter-clockwise for either orientation of the outline
            bar = bar if np.cross([*(bar[1] - bar[0]), 0.0], [*(bar[2] - bar[1]), 0.0])[2] > 0 else bar[::-1]
            bars += slab(polygon([tuple(p) for p in bar]), TRACK_INNER, TRACK_OUTER)
    return bars


def engine() -> Manifold:
    """Belly, hood with grille, and exhaust."""
    belly = block((REAR + 0.06, -0.23, CLEARANCE + 0.002), (NOSE - 0.03, 0.23, 0.21), 0.02)
    hood = slab(
        polygon([(-0.06, 0.15), (0.35, 0.10), (0.375, 0.125), (0.375, 0.315), (0.345, 0.345), (-0.06, 0.385)]),
        -0.165,
        0.165,
    )
    # edges along the hood are cut at 45 degrees, and thick bars stand before the radiator
    edge = block((-0.2, 0.0, 0.0), (0.5, 0.08, 0.08)).rotate([45.0, 0.0, 0.0]).translate([0.0, 0.165, 0.308])
    hood -= both_sides(edge)
    for y in (-0.09, -0.03, 0.03, 0.09):
        hood -= block((0.35, y - 0.016, 0.15), (0.40, y + 0.016, 0.30))
    exhaust = rod((0.20, 0.075, 0.32), (0.20, 0.075, 0.44), 0.026) + rod(
        (0.20, 0.075, 0.42), (0.17, 0.075, 0.50), 0.018
    )
    filter_pot = rod((0.08, -0.075, 0.32), (0.08, -0.075, 0.42), 0.03) + rod(
        (0.08, -0.075, 0.41), (0.08, -0.075, 0.435), 0.04
    )
    return belly + hood + exhaust + filter_pot


def cab() -> Manifold:
    """Cab with windows set back, roof with lights, tank behind."""
    frame = slab(
        polygon([(-0.30, 0.18), (-0.02, 0.18), (-0.02, 0.36), (-0.055, 0.60), (-0.28, 0.60), (-0.30, 0.36)]),
        -0.16,
        0.16,
    )
    depth = 0.022
    side = polygon([(-0.265, 0.40), (-0.065, 0.40), (-0.085, 0.565), (-0.252, 0.565)])
    windows = both_sides(slab(side, 0.16 - depth, 0.2))
    windows += slab(polygon([(-0.05, 0.42), (0.05, 0.42), (0.05, 0.565), (-0.073, 0.565)]), -0.125, 0.125)
    windows += slab(polygon([(-0.35, 0.42), (-0.273, 0.42), (-0.26, 0.565), (-0.35, 0.565)]), -0.125, 0.125)
    roof = block((-0.315, -0.19, 0.595), (-0.015, 0.19, 0.64), 0.014)
    lamp = rod((-0.06, 0.12, 0.655), (-0.005, 0.12, 0.655), 0.026)
    tank = block((REAR + 0.035, -0.145, 0.15), (-0.2, 0.145, 0.38), 0.03)
    # boards over the tracks that the cab stands on
    board = both_sides(block((-0.32, 0.13, 0.285), (0.0, 0.325, 0.325), 0.012))
    return frame - windows + roof + both_sides(lamp) + tank + board


def arms() -> Manifold:
    """Push arms outside the tracks and lift cylinders beside the hood; both reach to the back of the blade."""
    arm = slab(
        polygon([(-0.05, 0.10), (0.02, 0.085), (0.41, 0.075), (0.42, 0.13), (0.02, 0.145), (-0.05, 0.135)]),
        0.348,
        0.388,
    )
    pivot = rod((-0.015, 0.30, 0.115), (-0.015, 0.395, 0.115), 0.042)
    lift = rod((0.20, 0.185, 0.315), (0.30, 0.155, 0.275), 0.027) + rod(
        (0.28, 0.161, 0.283), (0.40, 0.145, 0.21), 0.018
    )
    bracket = block((0.17, 0.12, 0.26), (0.235, 0.20, 0.335), 0.012)
    return both_sides(arm + pivot + lift + bracket)


def hull() -> Manifold:
    """All but the blade."""
    return both_sides(track()) + engine() + cab() + arms()


def write(solid: Manifold, path: Path) -> trimesh.Trimesh:
    """Writes a binary STL; returns the mesh as read from it."""
    # remove details below 0.2 mm, so that rounding to float32 folds no face
    raw = solid.simplify(2e-4).to_mesh()
    mesh = trimesh.Trimesh(np.asarray(raw.vert_properties)[:, :3], np.asarray(raw.tri_verts), process=False)
    mesh.export(path)
    read = trimesh.load(path, force="mesh")
    if not read.is_watertight or read.volume <= 0.0:
        raise RuntimeError(f"{path}: a watertight mesh expected")
    return read


def main() -> None:
    """Writes both files to the folder given on the command line; default: the folder of this script."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).resolve().parent
    for name, solid in (("bulldozer_blade", blade()), ("bulldozer_hull", hull())):
        path = folder / f"{name}.stl"
        mesh = write(solid, path)
        low, high = mesh.bounds
        print(
            f"{path.name}: {len(mesh.faces)} triangles, {path.stat().st_size / 1000:.0f} kB, "
            f"{mesh.volume * 1000:.1f} l, "
            f"x {low[0]:.3f} .. {high[0]:.3f}, y {low[1]:.3f} .. {high[1]:.3f}, z {low[2]:.3f} .. {high[2]:.3f} m"
        )


if __name__ == "__main__":
    main()
