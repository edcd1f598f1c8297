"""Mesh files and repair: valid files of every format and encoding, and invalid ones."""

from __future__ import annotations

import struct
import subprocess
import sys
import time
import warnings
from pathlib import Path

import numpy as np
import pytest

from granular_gym.errors import GranularError, MeshError
from granular_gym.shapes.mesh import Mesh, MeshWarning, load_mesh, save_stl

CUBE_VERTICES = np.array([[x, y, z] for z in (0, 2) for y in (0, 3) for x in (0, 1)], dtype=np.float64)
CUBE_QUADS = [[0, 2, 3, 1], [4, 5, 7, 6], [0, 1, 5, 4], [2, 6, 7, 3], [0, 4, 6, 2], [1, 3, 7, 5]]
CUBE_FACES = np.array([t for q in CUBE_QUADS for t in ([q[0], q[1], q[2]], [q[0], q[2], q[3]])])


def sphere(rings: int = 24, radius: float = 1.0) -> Mesh:
    """A closed sphere of rings x 2 rings quads, poles as fans."""
    around = 2 * rings
    polar, turn = np.meshgrid(
        np.pi * np.arange(1, rings) / rings, 2 * np.pi * np.arange(around) / around, indexing="ij"
    )
    body = np.stack([np.sin(polar) * np.cos(turn), np.sin(polar) * np.sin(turn), np.cos(polar)], axis=-1).reshape(-1, 3)
    vertices = radius * np.concatenate([body, [[0, 0, 1], [0, 0, -1]]])
    top, bottom, faces = len(body), len(body) + 1, []
    for j in range(around):
        k = (j + 1) % around
        faces.append([top, j, k])
        for i in range(rings - 2):
            a, b = i * around, (i + 1) * around
            faces += [[a + j, b + j, b + k], [a + j, b + k, a + k]]
        faces.append([bottom, (rings - 2) * around + k, (rings - 2) * around + j])
    return Mesh(vertices, np.array(faces))


def cube() -> Mesh:
    return Mesh(CUBE_VERTICES, CUBE_FACES)


def stl_binary(vertices, faces) -> bytes:
    data = b"solid but binary all the same".ljust(80) + struct.pack("<I", len(faces))
    for face in faces:
        data += struct.pack("<12fH", 0, 0, 0, *np.asarray(vertices)[face].reshape(-1), 0)
    return data


def stl_ascii(vertices, faces) -> bytes:
    lines = ["solid cube"]
    for face in faces:
        lines += ["  facet normal 0 0 0", "    outer loop"]
        lines += [f"      vertex {x:.9e} {y:.9e} {z:.9e}" for x, y, z in np.asarray(vertices)[face]]
        lines += ["    endloop", "  endfacet"]
    return "\n".join([*lines, "endsolid cube"]).encode()


def obj(vertices, polygons) -> bytes:
    lines = ["# a comment", "mtllib none.mtl", "o cube"]
    lines += [f"v {x} {y} {z} 0.5 0.5 0.5" for x, y, z in vertices]
    lines += ["vn 0 0 1", "s off"]
    lines += ["f " + " ".join(f"{i + 1}//1" for i in polygon) for polygon in polygons]
    return "\n".join(lines).encode()


def ply(vertices, polygons, encoding: str, extra: bool = True) -> bytes:
    """With a colour of vertices, a flag of faces and an unknown element."""
    head = f"ply\nformat {encoding} 1.0\ncomment made by hand\nelement vertex {len(vertices)}\n"
    head += "property double x\nproperty double y\nproperty double z\n" + ("property uchar red\n" if extra else "")
    head += f"element face {len(polygons)}\n" + ("property uchar flag\n" if extra else "")
    head += "property list uchar int vertex_indices\n"
    head += "element edge 2\nproperty int vertex1\nproperty int vertex2\n" if extra else ""
    data = (head + "end_header\n").encode()
    if encoding == "ascii":
        lines = [f"{x} {y} {z}" + (" 7" if extra else "") for x, y, z in vertices]
        lines += [("1 " if extra else "") + f"{len(p)} " + " ".join(map(str, p)) for p in polygons]
        return data + "\n".join(lines + (["0 1", "1 2"] if extra else [])).encode() + b"\n"
    order = "<" if "little" in encoding else ">"
    for x, y, z in vertices:
        data += struct.pack(order + "3d", x, y, z) + (b"\x07" if extra else b"")
    for p in polygons:
        data += (b"\x01" if extra else b"") + struct.pack(f"{order}B{len(p)}i", len(p), *p)
    return data + (struct.pack(order + "4i", 0, 1, 1, 2) if extra else b"")


GOOD = {
    "binary.stl": stl_binary(CUBE_VERTICES, CUBE_FACES),
    "ascii.stl": stl_ascii(CUBE_VERTICES, CUBE_FACES),
    "upper.STL": stl_ascii(CUBE_VERTICES, CUBE_FACES).upper(),
    "triangles.obj": obj(CUBE_VERTICES, CUBE_FACES.tolist()),
    "quads.obj": obj(CUBE_VERTICES, CUBE_QUADS),
    "windows.obj": obj(CUBE_VERTICES, CUBE_QUADS).replace(b"\n", b"\r\n"),
    "ascii.ply": ply(CUBE_VERTICES, CUBE_FACES.tolist(), "ascii"),
    "quads.ply": ply(CUBE_VERTICES, CUBE_QUADS, "ascii", extra=False),
    "little.ply": ply(CUBE_VERTICES, CUBE_FACES.tolist(), "binary_little_endian"),
    "big.ply": ply(CUBE_VERTICES, CUBE_FACES.tolist(), "binary_big_endian"),
    "little_quads.ply": ply(CUBE_VERTICES, CUBE_QUADS, "binary_little_endian"),
    "big_quads.ply": ply(CUBE_VERTICES, CUBE_QUADS, "binary_big_endian", extra=False),
}


@pytest.mark.parametrize("name", GOOD)
def test_every_format(tmp_path, name):
    path = tmp_path / name
    path.write_bytes(GOOD[name])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        mesh = load_mesh(path)
    assert mesh.vertices.dtype == np.float64 and mesh.vertices.shape == (8, 3)
    assert mesh.faces.dtype == np.int32 and mesh.faces.shape == (12, 3)
    assert mesh.is_watertight
    assert mesh.volume == pytest.approx(6.0, rel=1e-12)
    assert mesh.area == pytest.approx(22.0, rel=1e-12)
    np.testing.assert_array_equal(mesh.bounds, [[0, 0, 0], [1, 3, 2]])


@pytest.mark.parametrize("name", GOOD)
def test_every_truncation_is_refused(tmp_path, name):
    """A truncated file is refused with a MeshError, unless only white space was lost."""
    data = GOOD[name]
    path = tmp_path / name
    refused = 0
    cuts = sorted({*range(0, len(data), max(1, len(data) // 150)), *range(len(data) - 20, len(data))})
    for cut in cuts:
        path.write_bytes(data[:cut])
        try:
            mesh = load_mesh(path)
        except MeshError as error:
            assert len(str(error)) > len(str(path)) + 10
            refused += 1
        else:
            assert cut >= len(data) - 20 and mesh.volume == pytest.approx(6.0)
    assert refused >= 0.85 * len(cuts)


@pytest.mark.parametrize("name", GOOD)
def test_damaged_bytes_never_crash(tmp_path, name):
    """Random damage gives a mesh or a MeshError, in short time."""
    rng = np.random.default_rng(5)
    path = tmp_path / name
    begun = time.perf_counter()
    for _ in range(150):
        data = bytearray(GOOD[name])
        for place in rng.integers(0, len(data), rng.integers(1, 6)):
            data[place] = rng.integers(0, 256)
        path.write_bytes(data)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                assert len(load_mesh(path).faces) > 0
            except MeshError:
                pass
    assert time.perf_counter() - begun < 30.0


def edited(name: str, old: bytes, new: bytes) -> bytes:
    assert old in GOOD[name]
    return GOOD[name].replace(old, new, 1)


HOSTILE = {
    "empty.stl": (b"", "empty"),
    "short.stl": (b"abc", "truncated"),
    "none.stl": (b"\0" * 84, "empty"),
    "count_high.stl": (GOOD["binary.stl"][:80] + struct.pack("<I", 13) + GOOD["binary.stl"][84:], "counts 13 facets"),
    "count_low.stl": (GOOD["binary.stl"][:80] + struct.pack("<I", 11) + GOOD["binary.stl"][84:], "counts 11 facets"),
    "count_huge.stl": (GOOD["binary.stl"][:80] + b"\xff" * 4 + GOOD["binary.stl"][84:], "counts 4294967295"),
    "nan.stl": (stl_binary(CUBE_VERTICES * np.nan, CUBE_FACES), "finite"),
    "infinite.stl": (stl_ascii(CUBE_VERTICES + np.inf, CUBE_FACES), "finite"),
    "word.stl": (edited("ascii.stl", b"1.000000000e+00", b"one"), "'one'"),
    "two_corners.stl": (edited("ascii.stl", b"      vertex 0.0", b"      v 0.0"), "35 vertices"),
    "no_end.stl": (edited("ascii.stl", b"endsolid", b""), "endsolid"),
    "picture.obj": (b"\x89PNG\r\n\x1a\n" * 40, "empty"),
    "no_faces.obj": (obj(CUBE_VERTICES, []), "empty"),
    "face_high.obj": (edited("quads.obj", b"f 1//1", b"f 9//1"), "from 0 to 7"),
    "face_zero.obj": (edited("quads.obj", b"f 1//1", b"f 0//1"), "vertex 0 does not exist"),
    "face_back.obj": (edited("quads.obj", b"f 1//1", b"f -9//1"), "vertex -9 does not exist"),
    "face_word.obj": (edited("quads.obj", b"f 1//1", b"f x//1"), "'x"),
    "face_big.obj": (edited("quads.obj", b"f 1//1", b"f 99999999999999999999"), "does not exist"),
    "two_numbers.obj": (edited("quads.obj", b"v 0.0 0.0 0.0 0.5 0.5 0.5", b"v 0.0 0.0"), "line 4"),
    "nan.obj": (edited("quads.obj", b"v 0.0 0.0 0.0", b"v nan 0.0 0.0"), "vertex 0"),
    "huge.obj": (edited("quads.obj", b"v 0.0 0.0 0.0", b"v 1e300 0.0 0.0"), "vertex 0"),
    "no_header.ply": (b"solid cube", "header"),
    "format.ply": (edited("ascii.ply", b"format ascii", b"format utf8"), "'utf8'"),
    "type.ply": (edited("ascii.ply", b"property double x", b"property quad x"), "quad"),
    "no_x.ply": (edited("ascii.ply", b"property double x", b"property double u"), "x missing"),
    "twice.ply": (edited("ascii.ply", b"property double y", b"property double x"), "one name"),
    "no_list.ply": (edited("ascii.ply", b"vertex_indices", b"corners"), "vertex_indices"),
    "count_high.ply": (edited("little.ply", b"vertex 8", b"vertex 900"), "header counts"),
    "count_huge.ply": (edited("big.ply", b"face 12", b"face 99999999999999"), "truncated"),
    "count_negative.ply": (edited("ascii.ply", b"vertex 8", b"vertex -8"), "-8"),
    "count_low.ply": (edited("little.ply", b"face 12", b"face 11"), "more than"),
    "count_word.ply": (edited("ascii.ply", b"vertex 8", b"vertex eight"), "not understood"),
    "index.ply": (ply(CUBE_VERTICES, [[0, 1, 8], *CUBE_FACES.tolist()], "binary_big_endian"), "from 0 to 7"),
    "negative.ply": (ply(CUBE_VERTICES, [[0, 1, -1], *CUBE_FACES.tolist()], "ascii"), "from 0 to 7"),
    "corners.ply": (ply(CUBE_VERTICES, [[0, 1], *CUBE_QUADS], "ascii"), "2 corners"),
    "cube.fbx": (b"anything", ".stl, .obj or .ply"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_file(tmp_path, name):
    data, words = HOSTILE[name]
    path = tmp_path / name
    path.write_bytes(data)
    with pytest.raises(MeshError) as caught:
        load_mesh(path)
    assert words in str(caught.value) and name in str(caught.value)
    assert isinstance(caught.value, ValueError) and isinstance(caught.value, GranularError)


def test_missing_file_and_folder(tmp_path):
    with pytest.raises(MeshError, match=r"No such file"):
        load_mesh(tmp_path / "missing.stl")
    (tmp_path / "folder.stl").mkdir()
    with pytest.raises(MeshError, match=r"folder\.stl"):
        load_mesh(tmp_path / "folder.stl")
    (tmp_path / "cube.stl").write_bytes(GOOD["binary.stl"])
    for scale in (0.0, -1.0, np.nan, np.inf):
        with pytest.raises(MeshError, match="scale"):
            load_mesh(tmp_path / "cube.stl", scale=scale)
    assert load_mesh(tmp_path / "cube.stl", scale=0.001).volume == pytest.approx(6e-9)


@pytest.mark.parametrize(
    ("vertices", "faces", "words"),
    [
        (np.zeros((0, 3)), np.zeros((0, 3), int), "empty"),
        (CUBE_VERTICES, np.zeros((0, 3), int), "empty"),
        (CUBE_VERTICES[:, :2], CUBE_FACES, "shape (V, 3)"),
        (CUBE_VERTICES, CUBE_FACES[:, :2], "shape (F, 3)"),
        (CUBE_VERTICES, CUBE_FACES.astype(float), "integers"),
        (CUBE_VERTICES, CUBE_FACES + 1, "from 0 to 7"),
        (CUBE_VERTICES, CUBE_FACES - 1, "from 0 to 7"),
        ("words", CUBE_FACES, "vertices"),
        (CUBE_VERTICES * np.nan, CUBE_FACES, "finite"),
    ],
)
def test_bad_arrays(vertices, faces, words):
    with pytest.raises(MeshError) as caught:
        Mesh(vertices, faces)
    assert words in str(caught.value)


def test_arrays_are_copies_and_frozen():
    vertices = CUBE_VERTICES.copy()
    mesh = Mesh(vertices, CUBE_FACES)
    vertices[:] = 0.0
    assert mesh.volume == pytest.approx(6.0)
    with pytest.raises(ValueError):
        mesh.vertices[0, 0] = 1.0


# ---- repair ----


def test_inverted_mesh_is_turned():
    inverted = Mesh(CUBE_VERTICES, CUBE_FACES[:, ::-1])
    assert inverted.volume == pytest.approx(-6.0)
    assert inverted.repair().volume == pytest.approx(6.0)


def test_turned_faces_are_turned_back():
    faces = CUBE_FACES.copy()
    faces[[1, 6, 9]] = faces[[1, 6, 9]][:, ::-1]
    broken = Mesh(CUBE_VERTICES, faces)
    assert not broken.is_watertight
    fixed = broken.repair()
    assert fixed.is_watertight and fixed.volume == pytest.approx(6.0)


def test_soup_duplicates_and_degenerates():
    corners = CUBE_VERTICES[CUBE_FACES].reshape(-1, 3)
    noisy = corners + 1e-9 * np.random.default_rng(1).standard_normal(corners.shape)
    faces = np.arange(36).reshape(-1, 3)
    for vertices in (corners, noisy):
        extra = [[0, 0, 1], [4, 4, 4], faces[2].tolist(), np.roll(faces[3], 1).tolist()]
        fixed = Mesh(np.concatenate([vertices, [[50, 50, 50]]]), np.concatenate([faces, extra])).repair()
        fixed.check()
        assert len(fixed.vertices) == 8 and len(fixed.faces) == 12 and fixed.is_watertight
        assert fixed.volume == pytest.approx(6.0, rel=1e-6)


def test_faces_of_no_area():
    # a degenerate face is dropped, unless it closes the gap at a T-junction
    vertices = np.concatenate([CUBE_VERTICES, [[0.5, 0.0, 0.0]]])
    needless = Mesh(vertices, np.concatenate([CUBE_FACES, [[0, 8, 1], [1, 8, 0]]])).repair()
    assert len(needless.faces) == 12 and needless.is_watertight
    # the bottom's edge 1-0 is split at vertex 8, the front's edge 0-1 is not
    split = [[0, 2, 3], [0, 3, 8], [8, 3, 1]]
    assert [0, 3, 1] in CUBE_FACES.tolist()
    rest = [f for f in CUBE_FACES.tolist() if f not in ([0, 2, 3], [0, 3, 1])]
    needed = Mesh(vertices, np.array(rest + split + [[0, 8, 1]])).repair()
    assert needed.is_watertight and needed.volume == pytest.approx(6.0)


def test_all_degenerate_is_refused():
    with pytest.raises(MeshError, match="degenerate"):
        Mesh(CUBE_VERTICES, np.array([[0, 0, 1], [2, 2, 2]])).repair()


def test_flat_mesh_is_refused():
    flat = Mesh(CUBE_VERTICES * [1, 1, 0], CUBE_FACES)
    with pytest.raises(MeshError, match=r"no volume|degenerate|open"):
        flat.repair().check()


def test_moebius_strip_is_refused():
    count = 40
    turn = 2 * np.pi * np.arange(count) / count
    edge = [
        np.stack(
            [
                (1 + s * np.cos(turn / 2)) * np.cos(turn),
                (1 + s * np.cos(turn / 2)) * np.sin(turn),
                s * np.sin(turn / 2),
            ],
            1,
        )
        for s in (-0.3, 0.3)
    ]
    faces = []
    for i in range(count):
        a, b = i, count + i
        c, d = (i + 1, count + i + 1) if i + 1 < count else (count, 0)
        faces += [[a, c, b], [b, c, d]]
    with pytest.raises(MeshError, match="one side"):
        Mesh(np.concatenate(edge), np.array(faces)).repair()


def test_large_hole_is_refused_small_hole_warns():
    ball = sphere()
    open_box = Mesh(CUBE_VERTICES, CUBE_FACES[2:])
    with pytest.raises(MeshError, match="open: 1 hole,"):
        open_box.repair().check()
    with pytest.raises(MeshError, match="open"):
        Mesh(ball.vertices, ball.faces[ball.vertices[ball.faces][:, :, 2].min(axis=1) < 0.5]).repair().check()
    pierced = Mesh(ball.vertices, np.delete(ball.faces, [100, 900], axis=0))
    assert len(pierced.holes()) == 2 and not pierced.is_watertight
    with pytest.warns(MeshWarning, match="2 holes"):
        pierced.repair().check()
    # many small holes are refused
    with pytest.raises(MeshError, match="open"):
        Mesh(ball.vertices, np.delete(ball.faces, np.arange(0, 2000, 40), axis=0)).repair().check()


def test_hole_lengths():
    (length,) = Mesh(CUBE_VERTICES, CUBE_FACES[2:]).holes()
    assert length == pytest.approx(8.0)
    assert len(cube().holes()) == 0


def test_two_boxes_that_share_an_edge_are_closed():
    other = CUBE_VERTICES + np.array([1, 3, 0])
    both = Mesh(np.concatenate([CUBE_VERTICES, other]), np.concatenate([CUBE_FACES, CUBE_FACES + 8])).repair()
    assert len(both.vertices) == 14 and both.is_watertight and both.volume == pytest.approx(12.0)


def test_hollow_keeps_its_inner_surface():
    inner = cube()
    vertices = np.concatenate([CUBE_VERTICES * 3 - 1, inner.vertices])
    hollow = Mesh(vertices, np.concatenate([CUBE_FACES, CUBE_FACES[:, ::-1] + 8])).repair()
    assert hollow.volume == pytest.approx(27 * 6.0 - 6.0)


def test_save_stl_round_trip(tmp_path):
    ball = sphere()
    save_stl(tmp_path / "a.stl", ball)
    save_stl(tmp_path / "b.stl", ball)
    assert (tmp_path / "a.stl").read_bytes() == (tmp_path / "b.stl").read_bytes()
    back = load_mesh(tmp_path / "a.stl")
    assert len(back.faces) == len(ball.faces) and len(back.vertices) == len(ball.vertices)
    assert back.volume == pytest.approx(ball.volume, rel=1e-6)
    assert ball.volume == pytest.approx(4 / 3 * np.pi, rel=1e-2)


def test_large_mesh_is_quick(tmp_path):
    ball = sphere(rings=160)
    save_stl(tmp_path / "ball.stl", ball)
    begun = time.perf_counter()
    assert load_mesh(tmp_path / "ball.stl").is_watertight
    assert time.perf_counter() - begun < 20.0 and len(ball.faces) > 100_000


# ---- oracles ----


@pytest.mark.parametrize("name", [name for name in GOOD if name != "upper.STL"])
def test_trimesh_reads_the_same(tmp_path, name):
    trimesh = pytest.importorskip("trimesh", reason="trimesh is not installed: no second reader to compare with")
    path = tmp_path / name
    path.write_bytes(GOOD[name])
    theirs, ours = trimesh.load(path, force="mesh"), load_mesh(path)
    assert ours.volume == pytest.approx(theirs.volume, rel=1e-6)
    assert ours.is_watertight == theirs.is_watertight
    np.testing.assert_allclose(ours.bounds, theirs.bounds, atol=1e-6)


@pytest.mark.parametrize("suffix", ["stl", "ply", "obj"])
def test_files_written_by_trimesh(tmp_path, suffix):
    trimesh = pytest.importorskip("trimesh", reason="trimesh is not installed: no second writer to compare with")
    torus = trimesh.creation.torus(0.5, 0.2)
    torus.export(tmp_path / f"torus.{suffix}")
    ours = load_mesh(tmp_path / f"torus.{suffix}")
    assert ours.is_watertight and len(ours.faces) == len(torus.faces)
    assert ours.volume == pytest.approx(torus.volume, rel=1e-5)


def test_libigl_gives_the_same_field():
    igl = pytest.importorskip("igl", reason="libigl is not installed: no second distance field to compare with")
    core = pytest.importorskip("granular_gym._core", reason="the extension is not built")
    ball = sphere(rings=12, radius=0.2)
    # a second ball cut into the first, and a hole: still one field by winding number
    vertices = np.concatenate([ball.vertices, ball.vertices + np.array([0.15, 0.0, 0.0])])
    faces = np.concatenate([np.delete(ball.faces, 50, axis=0), ball.faces + len(ball.vertices)]).astype(np.int32)
    origin, spacing, counts = (-0.31, -0.29, -0.3), 0.025, (33, 25, 24)
    ours = core.mesh_to_grid(vertices, faces, spacing, origin, counts)
    assert ours.shape == counts[::-1] and ours.dtype == np.float32
    z, y, x = np.indices(ours.shape)
    points = np.float32(origin).astype(float) + float(np.float32(spacing)) * np.stack([x, y, z], axis=-1).reshape(-1, 3)
    distance = np.sqrt(igl.point_mesh_squared_distance(points, vertices, faces)[0])
    np.testing.assert_allclose(np.abs(ours.reshape(-1)), distance, atol=1e-6)
    # for a fractional w libigl scales the distance by 1 - 2 w: only its sign is compared
    signed = igl.signed_distance(points, vertices, faces, sign_type=igl.SIGNED_DISTANCE_TYPE_WINDING_NUMBER)[0]
    clear = np.abs(signed) > 0.05 * distance
    assert clear.mean() > 0.99 and (signed < -0.02).sum() > 500
    np.testing.assert_array_equal(ours.reshape(-1)[clear] < 0.0, signed[clear] < 0.0)


# ---- the project's own meshes ----

ASSETS = Path(__file__).resolve().parents[2] / "assets"


@pytest.mark.parametrize(
    ("name", "lower", "upper"),
    [
        ("bulldozer_blade.stl", (0.36, -0.455, 0.005), (0.605, 0.455, 0.305)),
        ("bulldozer_hull.stl", (-0.44, -0.395, 0.005), (0.42, 0.395, 0.681)),
    ],
)
def test_bulldozer_meshes(name, lower, upper):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        mesh = load_mesh(ASSETS / name)
    assert mesh.is_watertight and mesh.volume > 0.0
    assert len(mesh.faces) < 6000 and (ASSETS / name).stat().st_size < 300_000
    np.testing.assert_allclose(mesh.bounds, [lower, upper], atol=1e-3)
    # the vehicle is the same on both sides
    np.testing.assert_allclose(mesh.bounds[0, 1], -mesh.bounds[1, 1], atol=1e-6)


def test_gear_mesh_comes_from_the_script(tmp_path):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        mesh = load_mesh(ASSETS / "gear.stl")
    assert mesh.is_watertight and (ASSETS / "gear.stl").stat().st_size < 300_000
    subprocess.run([sys.executable, ASSETS / "make_gear.py", tmp_path], check=True, capture_output=True, timeout=120)
    assert (tmp_path / "gear.stl").read_bytes() == (ASSETS / "gear.stl").read_bytes()


def test_bulldozer_meshes_come_from_the_script(tmp_path):
    pytest.importorskip("manifold3d", reason="manifold3d is not installed: meshes cannot be made again")
    pytest.importorskip("trimesh", reason="trimesh is not installed: meshes cannot be made again")
    subprocess.run(
        [sys.executable, ASSETS / "make_bulldozer.py", tmp_path], check=True, capture_output=True, timeout=120
    )
    for name in ("bulldozer_blade.stl", "bulldozer_hull.stl"):
        made, kept = load_mesh(tmp_path / name), load_mesh(ASSETS / name)
        assert made.volume == pytest.approx(kept.volume, rel=1e-4)
        np.testing.assert_allclose(made.bounds, kept.bounds, atol=1e-5)


# ---- polygons that are not convex ----


@pytest.mark.parametrize("first", range(6))
@pytest.mark.parametrize("suffix", ["obj", "ply"])
def test_polygons_that_are_not_convex_are_cut_within_themselves(suffix: str, first: int, tmp_path: Path):
    """An L: fans from most of its corners would close the notch with a skin that grains meet."""
    outline = [(0.2, 1.0), (0.0, 1.0), (0.0, 0.0), (1.0, 0.0), (1.0, 0.2), (0.2, 0.2)]
    vertices = [(x, y, z) for z in (0.0, 1.0) for x, y in outline]
    top = [6 + (first + k) % 6 for k in range(6)]
    faces = [top, [k - 6 for k in top[::-1]], *([k, (k + 1) % 6, (k + 1) % 6 + 6, k + 6] for k in range(6))]
    path = tmp_path / f"l.{suffix}"
    if suffix == "obj":
        lines = [f"v {x} {y} {z}" for x, y, z in vertices]
        lines += ["f " + " ".join(str(k + 1) for k in face) for face in faces]
    else:
        lines = ["ply", "format ascii 1.0", "element vertex 12", *(f"property double {axis}" for axis in "xyz")]
        lines += ["element face 8", "property list uchar int vertex_indices", "end_header"]
        lines += [f"{x} {y} {z}" for x, y, z in vertices]
        lines += [" ".join(map(str, [len(face), *face])) for face in faces]
    path.write_text("\n".join(lines) + "\n")
    mesh = load_mesh(path)
    assert mesh.is_watertight and mesh.volume == pytest.approx(0.36) and len(mesh.faces) == 20
    assert mesh.area == pytest.approx(2 * 0.36 + 4.0)


def test_a_polygon_with_a_bridge_to_its_hole(tmp_path: Path):
    """As modellers write a face with a hole: around it and back over the bridge."""
    rings = [(0, 0), (3, 0), (3, 3), (0, 3), (1, 1), (1, 2), (2, 2), (2, 1)]
    face = [0, 1, 2, 3, 0, 4, 5, 6, 7, 4]
    lines = [f"v {x} {y} {z}" for z in (0, 1) for x, y in rings]
    faces = [[k + 8 for k in face], face[::-1]]
    faces += [[a, b, b + 8, a + 8] for a, b in ((0, 1), (1, 2), (2, 3), (3, 0), (4, 5), (5, 6), (6, 7), (7, 4))]
    lines += ["f " + " ".join(str(k + 1) for k in each) for each in faces]
    (tmp_path / "frame.obj").write_text("\n".join(lines) + "\n")
    mesh = load_mesh(tmp_path / "frame.obj")
    assert mesh.is_watertight and mesh.volume == pytest.approx(8.0) and mesh.area == pytest.approx(16.0 + 16.0)
