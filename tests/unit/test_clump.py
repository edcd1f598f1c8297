"""Clumps: mass properties against closed forms and voxels, principal axes, scaling, meshes, bad arguments."""

from __future__ import annotations

import math
import pickle
import time
from typing import Any

import numpy as np
import pytest

import granular_gym as gg
from granular_gym.base import rotations
from granular_gym.shapes import mesh_spheres

CLUMPS = {
    "pair": gg.Clump.pair(0.01),
    "tetrahedron": gg.Clump.tetrahedron(0.02),
    "cube": gg.Clump.cube(1.0),
    "rod": gg.Clump.rod(0.5, 5),
    "ring": gg.Clump.ring(3.0, 12),
    "sand": gg.Clump.sand(7, radius=1e-3),
    "uneven": gg.Clump([(0, 0, 0), (1.0, 0.3, 0.1), (0.2, 0.9, -0.5)], [1.0, 0.6, 0.4]),
}
#: radius of the sphere; radii of the torus around z and of its tube
SPHERE, RING, TUBE = 1.0, 1.0, 0.5


def lattice(place: Any, rows: int, columns: int, closed: bool) -> gg.Mesh:
    """A mesh of place(a, b) for a, b from 0 to 1; b closes, a only where asked."""
    a = np.arange(rows) / (rows if closed else rows - 1)
    grid = np.arange(rows * columns).reshape(rows, columns)
    below = np.roll(grid, -1, axis=0)[: rows if closed else rows - 1]
    here = grid[: len(below)]
    quads = np.stack([here, below, np.roll(below, -1, axis=1), np.roll(here, -1, axis=1)], axis=-1).reshape(-1, 4)
    faces = np.concatenate([quads[:, [0, 1, 2]], quads[:, [0, 2, 3]]])
    return gg.Mesh(place(a[:, None], np.arange(columns) / columns).reshape(-1, 3), faces)


def on_sphere(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    polar, turn = np.pi * a, 2 * np.pi * b
    x, y, z = np.sin(polar) * np.cos(turn), np.sin(polar) * np.sin(turn), np.cos(polar) + 0 * turn
    # the poles are one point each
    return SPHERE * np.round(np.stack([x, y, z], axis=-1), 12)


def on_torus(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    tube, turn = 2 * np.pi * a, 2 * np.pi * b
    flat = RING + TUBE * np.cos(tube)
    return np.stack([flat * np.cos(turn), flat * np.sin(turn), TUBE * np.sin(tube) + 0 * turn], axis=-1)


def box(x: float, y: float, z: float) -> gg.Mesh:
    """Corners at the origin and (x, y, z)."""
    vertices = np.array([[i, j, k] for k in (0, z) for j in (0, y) for i in (0, x)], dtype=float)
    quads = [[0, 2, 3, 1], [4, 5, 7, 6], [0, 1, 5, 4], [2, 6, 7, 3], [0, 4, 6, 2], [1, 3, 7, 5]]
    return gg.Mesh(vertices, [t for q in quads for t in ([q[0], q[1], q[2]], [q[0], q[2], q[3]])])


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


def test_a_sphere_and_disjoint_spheres_are_exact():
    sphere = gg.Clump([(1.0, 2.0, 3.0)], [2.0])
    volume = 4 / 3 * math.pi * 8
    assert sphere.volume == pytest.approx(volume, rel=1e-12) and sphere.radius == pytest.approx(2.0)
    assert np.allclose(sphere.inertia, 0.4 * volume * 4 * np.eye(3), rtol=1e-12)
    assert np.allclose(sphere.centers, 0)
    two = gg.Clump([(0, 0, 0), (3, 0, 4)], [2.0, 1.0], connected=False)
    parts = 4 / 3 * math.pi * np.array([8.0, 1.0])
    assert two.volume == pytest.approx(parts.sum(), rel=1e-12)
    assert np.allclose(two.centers[0], -np.array([3, 0, 4]) / 9)
    lever = parts[0] * parts[1] / parts.sum() * (25 * np.eye(3) - np.outer([3, 0, 4], [3, 0, 4]))
    assert np.allclose(two.inertia, 0.4 * (parts @ [4.0, 1.0]) * np.eye(3) + lever)


@pytest.mark.parametrize("direction", [(1, 0, 0), (0, 0, 1), (0.3, 0.5, 0.8), (1e-9, 0, -1)])
@pytest.mark.parametrize(("one", "other", "apart"), [(1.0, 1.0, 0.8), (1.0, 0.6, 1.1), (2.0, 0.5, 1.6), (1, 1, 2)])
def test_an_overlapping_pair_agrees_with_closed_forms(direction, one, other, apart):
    axis = np.array(direction) / np.linalg.norm(direction)
    pair = gg.Clump([(0.1, 0.2, 0.3), np.array([0.1, 0.2, 0.3]) + apart * axis], [one, other])
    # two spheres cut by the plane in which they meet: volumes and moments of slices of r^2 - t^2 along the axis
    plane = (apart**2 + one**2 - other**2) / (2 * apart)
    moments, square = np.zeros(3), 0.0
    for r, middle, low, high in ((one, 0.0, -one, plane), (other, apart, plane, apart + other)):
        disc = np.poly1d([-1.0, 2 * middle, r * r - middle * middle])
        for k in range(3):
            part = (np.pi * disc * np.poly1d([1.0] + [0.0] * k)).integ()
            moments[k] += part(high) - part(low)
        part = (np.pi / 4 * disc * disc).integ()
        square += part(high) - part(low)
    center = moments[1] / moments[0]
    along, across = 2 * square, square + moments[2] - moments[0] * center**2
    assert pair.volume == pytest.approx(moments[0], rel=1e-10)
    assert np.allclose(pair.centers[0], -center * axis, atol=1e-10)
    wanted = across * np.eye(3) + (along - across) * np.outer(axis, axis)
    assert np.abs(pair.inertia - wanted).max() < 1e-10 * across


@pytest.mark.parametrize("name", CLUMPS)
def test_mass_properties_do_not_depend_on_the_frame(name):
    clump, q = CLUMPS[name], np.array([0.4, 0.3, -0.5, 0.7])
    other, turn = turned(clump, q), matrix(q / np.linalg.norm(q))
    assert other.volume == pytest.approx(clump.volume, rel=1e-6)
    assert np.abs(other.centers - clump.centers @ turn.T).max() < 1e-6 * clump.radius
    assert np.abs(other.inertia - turn @ clump.inertia @ turn.T).max() < 1e-6 * clump.inertia.max()


def test_a_cavity_is_not_filled():
    # a shell of many spheres: what lies within is no part of the union
    k = np.arange(80)
    z = 1 - (2 * k + 1) / 80
    turn = k * math.pi * (3 - math.sqrt(5))
    shell = np.stack([np.sqrt(1 - z * z) * np.cos(turn), np.sqrt(1 - z * z) * np.sin(turn), z], axis=1)
    clump = gg.Clump(shell, 0.3)
    volume, _, inertia = voxel_moments(clump.centers, clump.radii)
    assert clump.volume == pytest.approx(volume, rel=5e-3)
    assert clump.volume < 4 / 3 * math.pi * (1.3**3 - 0.85**3)
    assert np.abs(inertia - clump.inertia).max() < 5e-3 * inertia.max()


# ---- principal axes, scaling, identity ----


@pytest.mark.parametrize("name", CLUMPS)
def test_principal_axes_give_the_tensor_back(name):
    for clump in (CLUMPS[name], turned(CLUMPS[name], (0.9, -0.2, 0.3, 0.1))):
        moments, quaternion = clump.principal
        frame = matrix(quaternion)
        assert np.abs(frame @ np.diag(moments) @ frame.T - clump.inertia).max() < 2e-9 * moments.max()
        assert np.linalg.det(frame) == pytest.approx(1.0) and np.linalg.norm(quaternion) == pytest.approx(1.0)
        assert moments.min() > 0 and moments.sum() >= 2 * moments.max()
        assert np.allclose(moments, clump.principal[0]) and quaternion[0] >= 0


def test_clumps_along_their_axes_need_no_turn():
    for name in ("pair", "tetrahedron", "cube", "rod", "ring"):
        assert np.allclose(CLUMPS[name].principal[1], [1, 0, 0, 0], atol=1e-9), name
    for name in ("tetrahedron", "cube"):
        assert np.ptp(CLUMPS[name].principal[0]) < 1e-9 * CLUMPS[name].principal[0].max()
    assert CLUMPS["rod"].principal[0].argmin() == 0 and CLUMPS["ring"].principal[0].argmax() == 2


@pytest.mark.parametrize("name", CLUMPS)
def test_scaling(name):
    clump = CLUMPS[name]
    scaled = clump.scaled(2.5)
    assert scaled.volume == pytest.approx(2.5**3 * clump.volume)
    assert np.allclose(scaled.inertia, 2.5**5 * clump.inertia, rtol=1e-12)
    assert scaled.radius == pytest.approx(2.5 * clump.radius)
    anew = gg.Clump(2.5 * clump.centers, 2.5 * clump.radii)
    assert anew.volume == pytest.approx(scaled.volume, rel=1e-9)
    assert np.allclose(anew.inertia, scaled.inertia, rtol=1e-9, atol=1e-9 * scaled.inertia.max())


def test_sizes_of_the_built_in_clumps():
    for name, radius in {"pair": 0.01, "tetrahedron": 0.02, "cube": 1.0, "rod": 0.5, "ring": 3.0, "sand": 1e-3}.items():
        clump = CLUMPS[name]
        assert clump.radius == pytest.approx(radius)
        assert np.ptp(clump.radii) < 1e-12 * radius or name == "sand"
        spheres = 4 / 3 * math.pi * (clump.radii**3).sum()
        assert clump.volume < spheres and clump.volume < 4 / 3 * math.pi * radius**3
    assert len(CLUMPS["cube"].radii) == 8 and len(CLUMPS["rod"].radii) == 5 and len(CLUMPS["ring"].radii) == 12
    pair = gg.Clump.pair(1.0, aspect=1.25)
    assert (np.ptp(pair.centers[:, 0]) + 2 * pair.radii[0]) / (2 * pair.radii[0]) == pytest.approx(1.25)
    four = gg.Clump.tetrahedron(1.0, overlap=0.3)
    assert np.linalg.norm(four.centers[0] - four.centers[1]) == pytest.approx(0.7 * 2 * four.radii[0])
    touching = gg.Clump.cube(1.0, overlap=0.0)
    assert touching.volume == pytest.approx(4 / 3 * math.pi * (touching.radii**3).sum(), rel=1e-9)


def test_sand_is_drawn_by_its_seed():
    grains = [gg.Clump.sand(seed, 6) for seed in range(12)]
    assert len({grain.digest() for grain in grains}) == 12
    assert gg.Clump.sand(3, 6).digest() == grains[3].digest()
    slender = [np.sort(grain.principal[0]) for grain in grains]
    assert min(m[0] / m[2] for m in slender) < 0.6 < max(m[0] / m[2] for m in slender)
    for count in (3, 32):
        grain = gg.Clump.sand(1, count, radius=0.02)
        assert len(grain.radii) == count and grain.radius == pytest.approx(0.02)


def test_the_same_spheres_are_the_same_clump():
    clump, again = gg.Clump.tetrahedron(0.02), CLUMPS["tetrahedron"]
    assert clump.digest() == again.digest() == pickle.loads(pickle.dumps(clump)).digest()
    assert clump.digest() != clump.scaled(1.01).digest()
    assert repr(clump) == f"Clump(4 spheres, radius 0.02 m, volume {clump.volume:.4g} m3)"
    for array in (clump.centers, clump.radii, clump.inertia, *clump.principal):
        with pytest.raises(ValueError):
            array[0] = 1.0
    with pytest.raises(AttributeError):
        clump.volume = 1.0


def test_eight_spheres_take_little_time():
    gg.Clump.cube(1.0)
    times = []
    for _ in range(5):
        started = time.process_time()
        gg.Clump(CLUMPS["cube"].centers, CLUMPS["cube"].radii)
        times.append(time.process_time() - started)
    assert min(times) < 0.05


# ---- spheres of meshes ----


def test_mass_of_a_mesh_is_the_solid_s():
    clump = gg.Clump.from_mesh(box(1.0, 2.0, 3.0), 20, method="inscribed")
    assert clump.volume == pytest.approx(6.0, rel=1e-12)
    assert np.allclose(clump.inertia, 0.5 * np.diag([4 + 9, 1 + 9, 1 + 4]), rtol=1e-12)
    assert np.abs(clump.centers[0]).max() < 1.1
    cube = gg.Clump.from_mesh(box(0.2, 0.2, 0.2), 8)
    assert np.allclose(cube.inertia, 0.2**5 / 6 * np.eye(3), rtol=1e-12)
    # a tetrahedron of unit legs: its moments about the centre from those about the corner
    corner = gg.Mesh(np.concatenate([np.zeros((1, 3)), np.eye(3)]), [[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]])
    volume, center, second = mesh_spheres.solid_moments(corner)
    assert volume == pytest.approx(1 / 6) and np.allclose(center, 0.25)
    assert np.allclose(second, (1 + np.eye(3)) / 120 - np.full((3, 3), 1 / 96))


def joined(*parts: tuple[gg.Mesh, tuple[float, float, float]]) -> gg.Mesh:
    """Meshes with their middles at places, as one mesh."""
    vertices = [mesh.vertices - mesh.bounds.mean(axis=0) + place for mesh, place in parts]
    firsts = np.cumsum([0, *map(len, vertices[:-1])])
    faces = [mesh.faces + first for (mesh, _), first in zip(parts, firsts, strict=True)]
    return gg.Mesh(np.concatenate(vertices), np.concatenate(faces))


def test_parts_of_a_mesh_that_lie_in_each_other_count_once():
    """As in files of assemblies: the field of such a mesh is that of the union, and so is the mass."""
    union = joined((box(0.1, 0.1, 0.1), (0, 0, 0)), (box(0.05, 0.05, 0.05), (0.04, 0, 0)))
    volume, center, second = mesh_spheres.solid_moments(union)
    # a cube, and what the smaller one juts out: 15 mm
    wanted, reach = 1e-3 + 0.015 * 0.05**2, 0.0575
    assert volume == pytest.approx(wanted, rel=3e-3)
    assert center == pytest.approx([reach * 0.015 * 0.05**2 / wanted, 0, 0], abs=1e-4)
    field = gg.Sdf.union(gg.Sdf.box((0.05,) * 3), gg.Sdf.box((0.025,) * 3).at((0.04, 0, 0)))
    assert np.allclose(second, mesh_spheres.solid_moments(field)[2], rtol=0.01, atol=1e-9)
    # arms that cross, whose faces have their middles elsewhere
    arms = joined(*((box(*np.roll((0.3, 0.02, 0.02), k)), (0, 0, 0)) for k in range(3)))
    assert mesh_spheres.solid_moments(arms)[0] == pytest.approx(3 * 0.3 * 4e-4 - 2 * 8e-6, rel=0.01)


def test_parts_of_a_mesh_that_are_inside_out_count_as_others_do():
    small = box(0.06, 0.06, 0.06)
    mesh = joined((box(0.1, 0.1, 0.1), (0, 0, 0)), (gg.Mesh(small.vertices, small.faces[:, ::-1]), (0.2, 0, 0)))
    volume, center, _ = mesh_spheres.solid_moments(mesh)
    assert volume == pytest.approx(1e-3 + 0.06**3, rel=0.01)
    assert center == pytest.approx([0.2 * 0.06**3 / (1e-3 + 0.06**3), 0, 0], abs=1e-4)


def test_parts_of_a_mesh_that_touch_are_exact():
    apart = joined((box(0.1, 0.1, 0.1), (0, 0, 0)), (box(0.1, 0.1, 0.1), (0.1, 0.03, 0.01)))
    assert mesh_spheres.solid_moments(apart)[0] == pytest.approx(2e-3, rel=1e-12)
    inner = box(0.06, 0.06, 0.06)
    hollow = joined((box(0.1, 0.1, 0.1), (0, 0, 0)), (gg.Mesh(inner.vertices, inner.faces[:, ::-1]), (0, 0, 0)))
    assert mesh_spheres.solid_moments(hollow)[0] == pytest.approx(0.1**3 - 0.06**3, rel=1e-12)


@pytest.mark.parametrize(
    ("spacing", "mesh", "place", "offset"),
    [
        (0.16, lattice(on_sphere, 41, 80, False), on_sphere, lambda p, r: np.linalg.norm(p, axis=1) - (SPHERE - r)),
        (
            0.125,
            lattice(on_torus, 48, 96, True),
            on_torus,
            lambda p, r: np.hypot(np.hypot(p[:, 0], p[:, 1]) - RING, p[:, 2]) - (TUBE - r),
        ),
    ],
    ids=["sphere", "torus"],
)
def test_spheres_cover_a_surface_evenly(spacing, mesh, place, offset):
    clump = gg.Clump.from_mesh(mesh, spacing=spacing)
    r = clump.radii[0]
    assert r == pytest.approx(2 * spacing) and np.ptp(clump.radii) == 0
    assert np.abs(offset(clump.centers, r)).max() < 0.02 * r
    distance = np.linalg.norm(clump.centers[:, None] - clump.centers, axis=2)
    np.fill_diagonal(distance, np.inf)
    nearest = distance.min(axis=1)
    assert nearest.std() < 0.06 * nearest.mean() and 0.85 * spacing < nearest.mean() < spacing
    a, b = np.meshgrid(np.linspace(0, 1, 61), np.linspace(0, 1, 120), indexing="ij")
    surface = place(a, b)
    near = [np.linalg.norm(row[:, None] - clump.centers, axis=2).min(axis=1) for row in surface]
    farthest = float(np.max(near))
    assert farthest < 1.1 * r
    area = 4 * np.pi * (SPHERE - r) ** 2 if place is on_sphere else 4 * np.pi**2 * RING * (TUBE - r)
    assert len(clump.radii) == pytest.approx(area / (math.sqrt(0.75) * spacing**2), rel=0.03)


def test_a_number_of_spheres_on_a_surface():
    mesh = lattice(on_sphere, 17, 32, False)
    clump = gg.Clump.from_mesh(mesh, 60)
    again = gg.Clump.from_mesh(mesh, 60)
    assert len(clump.radii) == 60 and clump.digest() == again.digest()
    assert clump.radius == pytest.approx(SPHERE, rel=0.02)
    small = gg.Clump.from_mesh(mesh, 60, sphere_radius=0.4)
    assert len(small.radii) == 60 and np.allclose(small.radii, 0.4)


def test_inscribed_spheres_fill_a_mesh_from_within():
    mesh = box(1.0, 1.0, 2.0)
    filled = []
    for count in (1, 8, 40):
        clump = gg.Clump.from_mesh(mesh, count, method="inscribed")
        assert len(clump.radii) == count
        assert (np.abs(clump.centers) + clump.radii[:, None] <= np.array([0.5, 0.5, 1.0]) + 1e-6).all()
        filled.append(gg.Clump(clump.centers, clump.radii).volume / mesh.volume)
    # a sphere in a box of twice its height, then less and less empty
    assert filled[0] == pytest.approx(math.pi / 12, rel=0.02)
    assert filled[1] > 0.6 and filled[2] > 0.75
    few = gg.Clump.from_mesh(mesh, 1000, method="inscribed", sphere_radius=0.2)
    assert 3 <= len(few.radii) < 100 and few.radii.min() >= 0.2
    assert few.digest() == gg.Clump.from_mesh(mesh, 1000, method="inscribed", sphere_radius=0.2).digest()


# ---- bad arguments ----

PAIR = [(0, 0, 0), (1, 0, 0)]


@pytest.mark.parametrize(
    ("centers", "radii", "said"),
    [
        ([], [], "centers: expected at least one sphere, got none"),
        ("x", 1.0, "centers: expected an array of numbers"),
        ([(0, 0)], [1.0], r"centers: expected shape \(\*, 3\), got \(1, 2\)"),
        ((0, 0, 0), 1.0, "centers: expected shape"),
        (PAIR, [1.0, 1.0, 1.0], r"radii: expected shape \(\) or \(2,\), got \(3,\)"),
        (PAIR, [0.7, 0.0], "radii: expected finite numbers > 0, sphere 1 has 0"),
        (PAIR, [0.7, -1.0], "radii: .*sphere 1 has -1"),
        (PAIR, [math.nan, 1.0], "radii: .*sphere 0 has nan"),
        (PAIR, None, "radii: expected an array of numbers"),
        ([(0, 0, 0), (math.inf, 0, 0)], 1.0, r"centers: expected finite numbers, sphere 1 is at \[inf"),
        (np.zeros((1025, 3)), 1.0, "centers: expected at most 1024 spheres, got 1025"),
        (PAIR, [0.3, 0.4], "1 of 2 hang together with sphere 0.*between spheres 0 and 1, is a gap of 0.3 m"),
        ([(0, 0, 0), (1, 0, 0), (5, 0, 0)], 0.5, "2 of 3 hang together.*spheres 1 and 2, is a gap of 3 m"),
        (PAIR, [2.0, 0.9], r"sphere 1 \(radius 0.9 m .* lies within sphere 0 \(radius 2 m"),
        (PAIR, [1.0, 2.0], "sphere 0 .* lies within sphere 1"),
        ([(1, 1, 1), (1, 1, 1)], 1.0, "sphere 1 .* lies within sphere 0"),
    ],
)
def test_bad_spheres_are_refused_with_the_numbers(centers, radii, said):
    with pytest.raises(gg.ArgumentError, match=said):
        gg.Clump(centers, radii)


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: gg.Clump(PAIR, 1.0, connected="no"), "connected: expected True or False"),
        (lambda: gg.Clump.pair(0.0), "radius: "),
        (lambda: gg.Clump.pair(1.0, 1.0), "aspect: expected a number above 1 to 2, got 1.0"),
        (lambda: gg.Clump.pair(1.0, 2.1), "aspect: "),
        (lambda: gg.Clump.tetrahedron(-1.0), "radius: "),
        (lambda: gg.Clump.tetrahedron(1.0, 1.0), "overlap: expected a number from 0 to 0.9"),
        (lambda: gg.Clump.cube(math.nan), "radius: "),
        (lambda: gg.Clump.rod(1.0, 1), "count: expected an integer in 2 .. 1024, got 1"),
        (lambda: gg.Clump.ring(1.0, 2), "count: expected an integer in 3 .. 1024, got 2"),
        (lambda: gg.Clump.sand(-1), "seed: expected an integer >= 0"),
        (lambda: gg.Clump.sand(0, 40), "count: expected an integer in 3 .. 32, got 40"),
        (lambda: gg.Clump.pair(1.0).scaled(0.0), "factor: "),
        (lambda: gg.Clump.from_mesh(3, 10), "mesh: expected a Mesh or a path, got int"),
        (
            lambda: gg.Clump.from_mesh(box(1, 1, 1)),
            "count: expected a count or a spacing, got count=None, spacing=None",
        ),
        (lambda: gg.Clump.from_mesh(box(1, 1, 1), 9, spacing=0.1), "count: expected a count or a spacing"),
        (lambda: gg.Clump.from_mesh(box(1, 1, 1), 3), "count: expected an integer in 4 .. 1024, got 3"),
        (lambda: gg.Clump.from_mesh(box(1, 1, 1), 9, overlap=0.2), "overlap: expected None for the method 'surface'"),
        (lambda: gg.Clump.from_mesh(box(1, 1, 1), 9, method="voxels"), "method: .*'surface'.*got 'voxels'"),
        (
            lambda: gg.Clump.from_mesh(box(1, 1, 1), method="inscribed"),
            "count: .* for the method 'inscribed', got None",
        ),
        (lambda: gg.Clump.from_mesh(box(1, 1, 1), 9, method="inscribed", spacing=1), "spacing: expected None for"),
        (lambda: gg.Clump.from_mesh(box(1, 1, 1), 9, method="inscribed", sphere_radius=0.6), "sphere_radius: .* 0.5 m"),
        (lambda: gg.Clump.from_mesh(box(1, 1, 1), spacing=0.3), "spacing: .*less than 0.5 m, .*radius of 0.6 m"),
        (lambda: gg.Clump.from_mesh(box(1, 1, 1), 9, sphere_radius=0.7), "sphere_radius: .* got a radius of 0.7 m"),
        (
            lambda: gg.Clump.from_mesh(box(1, 1, 1), spacing=0.03),
            "spacing: expected at most 1024 spheres, 0.03 m gives",
        ),
        (lambda: gg.Clump.from_mesh(box(1, 1, 1), spacing=1e-4), "spacing: expected larger spheres.*samples"),
        (
            lambda: gg.Clump.from_mesh(two_boxes(), 40, sphere_radius=0.25),
            "hang together with sphere 0.*gap of .* connected=False",
        ),
    ],
)
def test_bad_arguments_are_refused_by_name(call, said):
    with pytest.raises(gg.ArgumentError, match=said):
        call()


def two_boxes() -> gg.Mesh:
    one, other = box(1, 1, 1), box(1, 1, 1)
    return gg.Mesh(np.concatenate([one.vertices, other.vertices + 1.1]), np.concatenate([one.faces, other.faces + 8]))


def test_an_open_mesh_is_refused():
    cube = box(1, 1, 1)
    with pytest.raises(gg.MeshError, match="open"):
        gg.Clump.from_mesh(gg.Mesh(cube.vertices, cube.faces[:-3]), 9)
    apart = gg.Clump.from_mesh(two_boxes(), 40, sphere_radius=0.25, connected=False)
    assert apart.volume == pytest.approx(2.0) and len(apart.radii) == 40
