"""glTF files: trimesh reads back what the world has."""

from __future__ import annotations

import json
import struct
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import granular_gym as gg
from granular_gym import exchange

trimesh = pytest.importorskip("trimesh", reason="trimesh is not installed")
pytest.importorskip("skimage", reason="scikit-image is not installed")


def load(path: Path) -> dict[str, Any]:
    """Meshes by name, in the axes of the world: z up."""
    scene = trimesh.load(path, force="scene")
    meshes = {}
    for name in scene.graph.nodes_geometry:
        pose, geometry = scene.graph[name]
        mesh = scene.geometry[geometry].copy()
        mesh.apply_transform(np.array([[1, 0, 0, 0], [0, 0, -1, 0], [0, 1, 0, 0], [0, 0, 0, 1.0]]) @ pose)
        meshes[name] = mesh
    return meshes


def parts(path: Path) -> tuple[dict[str, Any], bytes]:
    """The description and the numbers of a .glb file."""
    content = path.read_bytes()
    (length,) = struct.unpack("<I", content[12:16])
    return json.loads(content[20 : 20 + length]), content[28 + length :]


def test_grains_tools_and_floor(tooled: gg.World, tmp_path: Path) -> None:
    path = tmp_path / "a.glb"
    assert exchange.write_gltf(path, tooled, env=1, floor=True) == path.stat().st_size
    meshes = load(path)
    assert set(meshes) == {"grains", "tool plate", "tool ball", "floor"}
    grains = meshes["grains"]
    places, radii = tooled.positions[1], tooled.radii[1][:, None]
    count = tooled.grain_count
    assert (len(grains.vertices), len(grains.faces)) == (162 * count, 320 * count)
    reach = np.linalg.norm(grains.vertices.reshape(count, -1, 3) - places[:, None], axis=2)
    assert np.allclose(reach, radii, atol=1e-6)
    # corners of the icosahedron reach nearly as far as the sphere
    assert np.allclose(grains.bounds, [(places - radii).min(axis=0), (places + radii).max(axis=0)], atol=1e-3)
    assert grains.volume == pytest.approx((4.0 / 3.0 * np.pi * radii**3).sum(), rel=0.05) and grains.is_watertight
    assert meshes["tool plate"].volume == pytest.approx(0.06 * 0.04 * 0.02, rel=1e-4)
    assert np.allclose(meshes["tool ball"].bounds.mean(axis=0), [0, 0, 0.35], atol=1e-6)
    assert np.allclose(meshes["floor"].bounds, [[-0.1, -0.1, 0], [0.1, 0.1, 0]], atol=1e-7)
    # upright in the axes of glTF
    assert trimesh.load(path, force="scene").geometry["grains"].vertices.shape == grains.vertices.shape
    assert trimesh.load(path, force="scene").bounds[0, 1] == pytest.approx(meshes["grains"].bounds[0, 2], abs=1e-6)


def test_colours_are_linear_in_the_file(mixed: gg.World, tmp_path: Path) -> None:
    colors = np.tile([255, 128, 0], (mixed.grain_count, 1))
    exchange.write_gltf(tmp_path / "a.glb", mixed, grain_colors=colors, detail=0)
    tree, blob = parts(tmp_path / "a.glb")
    (primitive,) = tree["meshes"][0]["primitives"]
    view = tree["bufferViews"][tree["accessors"][primitive["attributes"]["COLOR_0"]]["bufferView"]]
    found = np.frombuffer(blob, np.uint8, view["byteLength"], view["byteOffset"]).reshape(-1, 4)
    assert len(found) == 12 * mixed.grain_count
    # not metal, which is what a mesh without a material is
    assert tree["materials"][primitive["material"]]["pbrMetallicRoughness"]["metallicFactor"] == 0.0
    assert np.array_equal(np.unique(found, axis=0), [[255, round(255 * (128 / 255) ** 2.2), 0, 255]])
    with pytest.raises(gg.ArgumentError, match="grain_colors: expected shape"):
        exchange.write_gltf(tmp_path / "a.glb", mixed, grain_colors=[[0, 0, 0]])


def test_a_file_is_no_larger_than_allowed(mixed: gg.World, tmp_path: Path) -> None:
    count = mixed.grain_count
    sizes = [exchange.write_gltf(tmp_path / "a.glb", mixed, detail=detail) for detail in (0, 1, 2)]
    assert sizes == sorted(sizes)
    # what the size is judged by is what is written, but for a head of a few kB
    for detail, size in enumerate(sizes):
        least = count * (28 * (10 * 4**detail + 2) + 12 * 20 * 4**detail)
        assert least <= size < least + 3000
    assert exchange.write_gltf(tmp_path / "a.glb", mixed, largest=sizes[1]) == sizes[1], "coarser by itself"
    before = (tmp_path / "a.glb").read_bytes()
    with pytest.raises(gg.ArgumentError, match=rf"largest: expected at least \d+ bytes for {count} grains at detail 2"):
        exchange.write_gltf(tmp_path / "a.glb", mixed, detail=2, largest=sizes[1])
    with pytest.raises(gg.ArgumentError, match="at detail 0, got 1000"):
        exchange.write_gltf(tmp_path / "a.glb", mixed, largest=1000)
    with pytest.raises(gg.ArgumentError, match=rf"largest: expected at least {sizes[0]} bytes"):
        exchange.write_gltf(tmp_path / "a.glb", mixed, detail=0, largest=sizes[0] - 1)
    assert (tmp_path / "a.glb").read_bytes() == before


def test_planar_grains_are_plates(planar: gg.World, tmp_path: Path) -> None:
    exchange.write_gltf(tmp_path / "a.glb", planar)
    grains = load(tmp_path / "a.glb")["grains"]
    assert grains.is_watertight
    area = planar.grain_count * gg.Shape2D.letter("B", 0.2).area
    assert grains.volume == pytest.approx(area * 0.2, rel=1e-4)
    assert np.allclose(grains.bounds[:, 2], [-0.1, 0.1], atol=1e-6)


def test_matter_is_its_surface(dough: gg.World, tmp_path: Path) -> None:
    exchange.write_gltf(tmp_path / "a.glb", dough)
    grains = load(tmp_path / "a.glb")["grains"]
    assert grains.is_watertight and grains.volume == pytest.approx(0.6 * 0.6 * 0.3, rel=0.1)
    assert np.allclose(grains.bounds, [[-0.3, -0.3, 0.0], [0.3, 0.3, 0.3]], atol=0.02)


def test_a_world_of_nothing(tmp_path: Path) -> None:
    with gg.Scene(((-1, -1, 0), (1, 1, 1))).build(device="cpu", num_threads=1) as world:
        exchange.write_gltf(tmp_path / "a.glb", world, floor=True)
    assert set(load(tmp_path / "a.glb")) == {"floor"}


def test_wrong_arguments_are_named(mixed: gg.World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.glb"
    for call, said in (
        (lambda: exchange.write_gltf(tmp_path / "a.obj", mixed), r"path: expected a name that ends in \.glb"),
        (lambda: exchange.write_gltf(path, None), "world: expected a World"),
        (lambda: exchange.write_gltf(path, mixed, env=-1), "env: expected"),
        (lambda: exchange.write_gltf(path, mixed, detail=3), r"detail: expected an integer in 0 \.\. 2"),
        (lambda: exchange.write_gltf(path, mixed, largest=0), "largest: expected"),
        (lambda: exchange.write_gltf(path, mixed, floor=1), "floor: expected True or False"),
    ):
        with pytest.raises(gg.ArgumentError, match=said):
            call()
    monkeypatch.setitem(sys.modules, "trimesh", None)
    with pytest.raises(gg.MissingError, match=r"trimesh.*granular_gym\[exchange\]"):
        exchange.write_gltf(path, mixed)
    assert not list(tmp_path.iterdir())
