"""Files of meshes, fields and robots, and SVG paths, with bytes changed, cut, put in: typed errors, and no others."""

from __future__ import annotations

import hashlib
import io
import json
import struct
import warnings
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import granular_gym as gg
from granular_gym.arms.load import load_arm
from granular_gym.shapes.mesh import Mesh, load_mesh, save_stl
from testbed import planar
from testbed.arms import random_parts, urdf

CORNERS = [(x, y, z) for x in (0, 1) for y in (0, 1) for z in (0, 1)]
FACES = [
    *[(0, 1, 3), (0, 3, 2), (4, 6, 7), (4, 7, 5), (0, 4, 5), (0, 5, 1)],
    *[(2, 3, 7), (2, 7, 6), (0, 2, 6), (0, 6, 4), (1, 5, 7), (1, 7, 3)],
]
PLY = (
    "ply\nformat {} 1.0\nelement vertex 8\nproperty float x\nproperty float y\nproperty float z\n"
    "element face 12\nproperty list uchar int vertex_indices\nend_header\n"
)
TOKENS = [
    *[b"99999999999999999999999", b"-1", b"nan", b"inf", b"1e999", b"4294967295", b"2147483648", b"0", b"x", b"1e308"],
    *[b"\xff", b" ", b"1_0", b"99999999999", b"uint", b"double", b"1e-320", b"null", b"[", b"{}", b"A", b"M", b"Z"],
]
PATHS = [
    "M 0 0 L 1 0 L 1 1 Z",
    "M0,0 C 1 0 1 1 0 1 S 0 0.5 0 0 Z",
    "M 0 0 h 1 v 1 h -1 z M .2 .2 l .2 0 l 0 .2 z",
    "M 0 0 A 1 2 30 0 1 2 0 A 1 2 30 1 1 0 0 Z",
    "M0 0 Q 1 1 2 0 T 0 0 Z",
]


def ply(encoding: str, order: str) -> bytes:
    head = PLY.format(encoding).encode()
    if encoding == "ascii":
        lines = ["{} {} {}".format(*p) for p in CORNERS] + ["3 {} {} {}".format(*f) for f in FACES]
        return head + "\n".join(lines).encode()
    faces = b"".join(b"\x03" + np.array(f, order + "i4").tobytes() for f in FACES)
    return head + np.array(CORNERS, order + "f4").tobytes() + faces


def meshes() -> dict[str, bytes]:
    """A cube in each format, by file name."""
    facets = "".join(
        "facet normal 0 0 0\nouter loop\n{}endloop\nendfacet\n".format(
            "".join("vertex {} {} {}\n".format(*CORNERS[i]) for i in face)
        )
        for face in FACES
    )
    lines = ["v {} {} {}".format(*p) for p in CORNERS] + ["f {} {}/1 {}//2".format(*np.add(f, 1)) for f in FACES]
    return {
        "text.stl": f"solid a\n{facets}endsolid a\n".encode(),
        "cube.obj": "\n".join(lines).encode(),
        "text.ply": ply("ascii", ""),
        "little.ply": ply("binary_little_endian", "<"),
        "big.ply": ply("binary_big_endian", ">"),
    }


def mutated(data: bytes, draw: np.random.Generator) -> bytes:
    """A few bits flipped, tokens put in, pieces repeated or cut out; rarely the end cut off."""
    made = bytearray(data)
    for _ in range(draw.integers(1, 4)):
        near_the_head = draw.random() < 0.5
        at = int(draw.integers(min(len(made), 260) + 1 if near_the_head else len(made) + 1))
        kind = draw.integers(9)
        if kind < 2 and at < len(made):
            made[at] ^= 1 << int(draw.integers(8))
        elif kind < 5:
            made[at : at + int(draw.integers(4))] = TOKENS[draw.integers(len(TOKENS))]
        elif kind < 6:
            begin = int(draw.integers(len(made) + 1))
            made[at:at] = made[begin : begin + int(draw.integers(30))]
        elif kind < 8:
            del made[at : at + int(draw.integers(1, 20))]
        else:
            del made[at:]
    return bytes(made)


def refusals(path: Path, load: Callable[[Path], object], error: type[Exception], *, seed: int, count: int) -> int:
    """How many of so many mutations of a file are refused: by that error, which names the file."""
    whole, draw, refused = path.read_bytes(), np.random.default_rng(seed), 0
    for _ in range(count):
        path.write_bytes(mutated(whole, draw))
        try:
            load(path)
        except error as said:
            refused += 1
            assert str(path) in str(said)
    return refused


@pytest.mark.parametrize("name", [*meshes(), "binary.stl"])
def test_mutated_meshes(name: str, tmp_path: Path):
    path = tmp_path / name
    if name == "binary.stl":
        save_stl(path, Mesh(CORNERS, FACES))
    else:
        path.write_bytes(meshes()[name])
    assert load_mesh(path).volume == 1.0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of small holes, and of numbers that overflow
        assert refusals(path, load_mesh, gg.MeshError, seed=11, count=600) > 300


@pytest.mark.parametrize(
    "name, old, new, words",
    [
        ("text.ply", b"3 0 1 3", b"3 0 1 99999999999999999999", "PLY: an integer of 32 bits expected, got 9999"),
        ("text.ply", b"vertex 8", b"vertex 99999999999999", "PLY: the header counts 99999999999999 of 'vertex'"),
        ("little.ply", b"face 12", b"face 999999999999999", "PLY: the header counts 999999999999999 of 'face'"),
        ("cube.obj", b"f 1 ", b"f 99999999999999999999 ", "OBJ line 9: vertex 9999.* does not exist"),
    ],
)
def test_absurd_numbers_in_meshes(name: str, old: bytes, new: bytes, words: str, tmp_path: Path):
    path = tmp_path / name
    path.write_bytes(meshes()[name].replace(old, new, 1))
    with pytest.raises(gg.MeshError, match=words):
        load_mesh(path)


def test_an_absurd_count_of_facets(tmp_path: Path):
    path = tmp_path / "binary.stl"
    save_stl(path, Mesh(CORNERS, FACES))
    data = bytearray(path.read_bytes())
    data[80:84] = b"\xff\xff\xff\xff"
    path.write_bytes(data)
    with pytest.raises(gg.MeshError, match="the header counts 4294967295 facets"):
        load_mesh(path)


@pytest.mark.parametrize("arguments", [(None,), (3,), ("a\0.stl",), ("a.stl", "big"), ("a.stl", float("nan"))])
def test_arguments_of_load_mesh(arguments):
    with pytest.raises(gg.MeshError, match="^(path|scale): "):
        load_mesh(*arguments)
    with pytest.raises(gg.MeshError, match="^faces: integers of shape"):
        Mesh(CORNERS, [[0, 1, 2], [3]])


def test_mutated_svg_paths():
    draw, refused = np.random.default_rng(12), 0
    for k in range(3000):
        path = mutated(PATHS[k % len(PATHS)].encode(), draw).decode("latin-1")
        try:
            gg.Shape2D.from_svg(path)
        except gg.ArgumentError:
            refused += 1
    assert refused > 2000


@pytest.mark.parametrize("number", ["1e308", "1e999", "-1e10", "9" * 400])
def test_numbers_of_svg_paths(number: str):
    with pytest.raises(gg.ArgumentError, match="path: expected numbers up to 1e\\+09, got"):
        gg.Shape2D.from_svg(f"M 0 0 L {number} 0 L 1 1 Z")


@pytest.mark.parametrize(
    "radii, corners", [("1 1e-320", 2), ("1e-320 1e-320", 20), ("1e9 1e9", 2), ("1e-30 2e-30", 20)]
)
def test_arcs_of_extreme_radii(radii: str, corners: int):
    rings = gg.shapes.svg_path.flatten(f"M 0 0 A {radii} 0 0 1 2 0 L 1 -3 Z", 1e-3)
    assert np.isfinite(rings[0]).all() and len(rings[0]) >= corners
    assert len(gg.shapes.svg_path.flatten("M 0 0 A 1 1 0 0 1 2 0 Q 3 3 0 0 Z", 1e-300)[0]) == 512


def test_mutated_grids(tmp_path: Path):
    path = tmp_path / "cube.npz"
    gg.Sdf.from_mesh(Mesh(CORNERS, FACES), spacing=0.25, cache=False).save(path)
    assert refusals(path, gg.Sdf.from_file, gg.StateError, seed=13, count=300) > 100


def npy(descr: str, shape: str, data: bytes) -> bytes:
    head = f"{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}".ljust(117) + "\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head.encode() + data


@pytest.mark.parametrize(
    "samples",
    [npy("<f4", "(4096, 4096, 4096)", b"0000"), npy("<f4", "(99999999999999999,)", b""), npy("|O", "(2, 2, 2)", b"")],
)
def test_absurd_shapes_of_grids(samples: bytes, tmp_path: Path):
    path = tmp_path / "grid.npz"
    gg.Sdf.from_mesh(Mesh(CORNERS, FACES), spacing=0.25, cache=False).save(path)
    made = io.BytesIO()
    with zipfile.ZipFile(path) as old, zipfile.ZipFile(made, "w") as new:
        for name in old.namelist():
            new.writestr(name, samples if name == "samples.npy" else old.read(name))
    path.write_bytes(made.getvalue())
    with pytest.raises(gg.StateError, match="grid"):
        gg.Sdf.from_file(path)


def test_mutated_pair_fields(tmp_path: Path):
    """The header, its record and the data, the checksum mended: read, or StateError; what was read can be queried."""
    shape = gg.Shape2D.octagon(0.1)
    whole = gg.PairField.build(shape, shape, **planar.COARSE).to_bytes()[:-32]
    path, draw, refused = tmp_path / "octagon.ggpair", np.random.default_rng(14), 0
    start = whole.index(b'"record": "') + len(b'"record": "')
    for k in range(600):
        made = bytearray(whole)
        if k % 2:
            for at in draw.integers(start, start + 2 * 80, 2):
                made[at] = b"0123456789abcdef"[draw.integers(16)]
        else:
            made = bytearray(mutated(whole[: start + 400], draw) + whole[start + 400 :])
        path.write_bytes(bytes(made) + hashlib.sha256(made).digest())
        try:
            field = gg.PairField.load(path, shape, shape)
        except gg.StateError as error:
            refused += 1
            assert str(path) in str(error)
            continue
        field.query(np.full((3, 3), 0.1))
    assert refused > 300


def test_a_world_refuses_a_damaged_record():
    shape = gg.Shape2D.octagon(0.1)
    field = gg.PairField.build(shape, shape, **planar.COARSE)
    record = field.record.copy()
    record["x_count"] = 4096
    scene = gg.Scene(bounds=((0, 0), (1, 1)))
    scene.add_material(density=1000.0, shape=shape)
    scene.set_pair_field(gg.PairField(shape, shape, record, field.blob, field.settings))
    scene.add_grains(0, [(0.3, 0.3), (0.5, 0.3)])
    with pytest.raises(gg.ArgumentError, match="pair_field .*: expected a record that fits its data"):
        scene.build(device="cpu")


def test_mutated_urdf(tmp_path: Path):
    path = tmp_path / "robot.urdf"
    path.write_text(urdf(random_parts(3, 0)))
    assert refusals(path, load_arm, gg.DescriptionError, seed=16, count=400) > 100
    bomb = "".join(f'<!ENTITY e{k + 1} "{f"&e{k};" * 10}">' for k in range(12))
    for text in ("<a>" * 100_000, f'<!DOCTYPE r [<!ENTITY e0 "x">{bomb}]><robot>&e12;</robot>', "", "<robot/>"):
        path.write_text(text)
        with pytest.raises(gg.DescriptionError):
            load_arm(path)


def test_mutated_robots(tmp_path: Path):
    path = tmp_path / "robot.json"
    path.write_bytes((Path(__file__).parents[2] / "assets" / "panda.json").read_bytes())
    assert refusals(path, load_arm, gg.DescriptionError, seed=15, count=400) > 100
    for text in ("[" * 100_000, "null", "3", '{"links": 1e999}', json.dumps({"links": 10**400})):
        path.write_text(text)
        with pytest.raises(gg.DescriptionError):
            load_arm(path)
