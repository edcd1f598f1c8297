"""VTK files: what the world has is what readers find, VTK's own among them."""

from __future__ import annotations

import sys
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import vtp

import granular_gym as gg
from granular_gym import exchange
from granular_gym.exchange.snapshot import CONTACT_FIELDS, GRAIN_FIELDS

pytest.importorskip("pyevtk", reason="pyevtk is not installed")
pytest.importorskip("trimesh", reason="trimesh is not installed")
pytest.importorskip("skimage", reason="scikit-image is not installed")

Reader = Callable[[Path], vtp.Read]


@pytest.fixture(params=list(vtp.READERS))
def read(request: pytest.FixtureRequest) -> Reader:
    return vtp.READERS[request.param]


def test_grains_are_those_of_the_env(tooled: gg.World, read: Reader, tmp_path: Path) -> None:
    paths = exchange.write_vtk(tmp_path / "new" / "folder", tooled, env=1)
    assert set(paths) == {"grains", "contacts", "tools", "wrenches", "bounds"}
    found = read(paths["grains"])
    count = tooled.grain_count
    assert np.array_equal(found.points, tooled.positions[1]) and not np.array_equal(found.points, tooled.positions[0])
    assert np.array_equal(found.cells["Verts"], np.arange(count)) and set(found.cells) == {"Verts"}
    wanted = {
        "id": np.arange(count),
        "material": tooled.grain_materials[1],
        "radius": tooled.radii[1],
        "mass": tooled.grain_masses[1].astype(np.float32),
        "velocity": tooled.velocities[1],
        "angular_velocity": tooled.angular_velocities[1],
    }
    assert set(found.point_fields) == set(wanted)
    for name, values in wanted.items():
        assert np.array_equal(found.point_fields[name], values), name
    assert np.ptp(read(paths["bounds"]).points, axis=0) == pytest.approx([0.2, 0.2, 0.4])


def test_contacts_tell_who_presses_whom(tooled: gg.World, read: Reader, tmp_path: Path) -> None:
    found = read(exchange.write_vtk(tmp_path, tooled)["contacts"])
    contacts = tooled.contacts().pressing()
    assert set(found.cell_fields) == set(CONTACT_FIELDS) and len(contacts) > 100
    fields = found.cell_fields
    assert np.array_equal(fields["force"], contacts.forces) and np.array_equal(fields["normal"], contacts.normals)
    ends = found.points[found.cells["Lines"].reshape(-1, 2)].astype(np.float64)
    positions, radii = tooled.positions[0].astype(np.float64), tooled.radii[0].astype(np.float64)
    first, second, kind = fields["first"], fields["second"], fields["kind"]
    assert set(kind) == {0, 1, 2} and np.allclose(ends[:, 0], positions[first])
    # lines are never longer than two grains that touch, also across the periodic faces
    grains = kind == 0
    gap = np.linalg.norm(ends[grains, 1] - ends[grains, 0], axis=1) - radii[first[grains]] - radii[second[grains]]
    assert np.abs(gap).max() < 1e-3
    across = np.abs(positions[second[grains], 0] - positions[first[grains], 0]) > 0.1
    assert across.sum() > 3
    deep = gap < -1e-6
    assert deep.any() and np.allclose(fields["overlap"][grains][deep], -gap[deep], atol=1e-6)
    # grains on the floor; the partner is the wall in the order of wall_wrenches
    floor = (kind == 2) & (second == 4)
    assert floor.any() and np.allclose(ends[floor, 1, 2], 0.0, atol=1e-3)
    assert np.allclose(fields["force"][floor, 2].sum(), -tooled.wall_wrenches[0, 4, 2], rtol=1e-3)
    assert set(second[kind == 1]) == {0}, "the plate alone lies among grains"


def test_tools_are_where_they_are_and_out_where_they_are_out(tooled: gg.World, read: Reader, tmp_path: Path) -> None:
    paths = exchange.write_vtk(tmp_path, tooled)
    found = read(paths["tools"])
    faces, owner = found.cells["Polys"].reshape(-1, 3), found.cell_fields["tool"]
    ball = found.points[np.unique(faces[owner == 1])]
    assert np.allclose(np.linalg.norm(ball - [0, 0, 0.35], axis=1), 0.02, atol=1e-5)
    corners = found.points[faces]
    volume = np.einsum("ij,ij->i", corners[:, 0], np.cross(corners[:, 1], corners[:, 2]))[owner == 0].sum() / 6.0
    assert volume == pytest.approx(0.06 * 0.04 * 0.02, rel=1e-4), "faces point outwards"
    forces = read(paths["wrenches"])
    assert np.array_equal(forces.points, tooled.tool_poses[0, :, :3])
    assert np.array_equal(forces.point_fields["force"], tooled.wrenches[0, :, :3])
    try:
        tooled.set_tool_active("plate", False)
        paths = exchange.write_vtk(tmp_path, tooled)
        assert set(read(paths["tools"]).cell_fields["tool"]) == {1}
        assert read(paths["wrenches"]).point_fields["tool"].tolist() == [1]
    finally:
        tooled.set_tool_active("plate", True)


def test_clumps_are_their_spheres_and_bodies_their_surface(clumped: gg.World, read: Reader, tmp_path: Path) -> None:
    paths = exchange.write_vtk(tmp_path, clumped)
    grains = read(paths["grains"])
    assert np.array_equal(grains.point_fields["clump"], clumped.clump_of_grain)
    assert grains.point_fields["mass"].sum() == pytest.approx(clumped.clump_masses.sum(), rel=1e-5)
    globe = read(paths["tools"]).points
    middle = clumped.clump_poses[0, clumped.bodies["globe"], :3]
    assert np.allclose(np.linalg.norm(globe - middle, axis=1), 0.05, atol=1e-3)


def test_planar_grains_are_their_shapes(planar: gg.World, read: Reader, tmp_path: Path) -> None:
    paths = exchange.write_vtk(tmp_path, planar)
    assert set(paths) == {"grains", "shapes", "bounds"}
    found = read(paths["shapes"])
    faces, owner = found.cells["Polys"].reshape(-1, 3), found.cell_fields["id"]
    a, b, c = np.moveaxis(found.points[faces].astype(np.float64), 1, 0)
    areas = np.bincount(owner, 0.5 * np.cross(b - a, c - a)[:, 2])
    assert np.allclose(areas, gg.Shape2D.letter("B", 0.2).area, rtol=1e-4), "holes are holes"
    for grain, place in enumerate(planar.positions[0]):
        mine = found.points[np.unique(faces[owner == grain])]
        assert np.linalg.norm(mine - place, axis=1).max() == pytest.approx(0.2, rel=1e-4)
    assert np.array_equal(read(paths["grains"]).point_fields["angle"], planar.angles[0])


def test_particles_have_stress_strain_and_density(dough: gg.World, read: Reader, tmp_path: Path) -> None:
    paths = exchange.write_vtk(tmp_path, dough)
    assert set(paths) == {"grains", "bounds"}
    fields = read(paths["grains"]).point_fields
    assert np.array_equal(fields["stress"], dough.stresses[0].reshape(-1, 9).astype(np.float32))
    assert np.abs(fields["stress"]).max() > 1.0
    assert np.array_equal(fields["density"], dough.densities[0].astype(np.float32))
    assert np.array_equal(fields["plastic_strain"], dough.plastic_strains[0])


def test_nothing_is_written_as_nothing(read: Reader, tmp_path: Path) -> None:
    with gg.Scene(((-1, -1, 0), (1, 1, 1))).build(device="cpu", num_threads=1) as world:
        paths = exchange.write_vtk(tmp_path, world)
    assert len(read(paths["grains"]).points) == 0 and read(paths["contacts"]).cells == {}


def test_a_series_names_each_moment_and_its_time(read: Reader, tmp_path: Path) -> None:
    scene = gg.Scene(((-1, -1, 0), (1, 1, 2)))
    scene.add_grains(scene.add_material(density=1000.0, radius=0.1), [[0, 0, 0.5]])
    world = scene.build(device="cpu", num_threads=1)
    heights = []
    series = exchange.VtkSeries(tmp_path, world)
    for time in (0.0, 0.05, 0.1):
        series.add(time)
        heights.append(world.positions[0, 0, 2])
        world.step(dt=1e-3, substeps=50)
    # whole before it is closed
    moments = ElementTree.parse(tmp_path / "grains.pvd").getroot().findall("Collection/DataSet")
    assert [float(each.attrib["timestep"]) for each in moments] == [0.0, 0.05, 0.1]
    assert [read(tmp_path / each.attrib["file"]).points[0, 2] for each in moments] == heights
    assert heights[2] < heights[0] and {path.suffix for path in tmp_path.iterdir()} == {".vtp", ".pvd"}
    with pytest.raises(gg.ArgumentError, match=r"time: expected above 0\.1 s, .*, got 0\.1"):
        series.add(0.1)
    series.close()
    series.close()
    with pytest.raises(gg.ClosedError, match="series is closed"):
        series.add(1.0)
    assert series.count == 3
    with exchange.VtkSeries(tmp_path / "b", world) as other:
        world.close()
        with pytest.raises(gg.ClosedError):
            other.add(0.0)


def test_a_disk_that_is_full_leaves_what_was_there(mixed: gg.World, tmp_path: Path, monkeypatch: Any) -> None:
    import pyevtk.vtk

    exchange.write_vtk(tmp_path, mixed)
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}

    def full(file: Any, data: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(pyevtk.vtk.VtkFile, "appendData", full)
    with pytest.raises(OSError, match="No space left"):
        exchange.write_vtk(tmp_path, mixed)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_wrong_arguments_are_named(mixed: gg.World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(gg.ArgumentError, match="world: expected a World, got int"):
        exchange.write_vtk(tmp_path, 3)  # type: ignore[arg-type]
    with pytest.raises(gg.ArgumentError, match=r"env: expected an integer in 0 \.\. 0, got 1"):
        exchange.write_vtk(tmp_path, mixed, env=1)
    with pytest.raises(gg.ArgumentError, match="folder: expected a path"):
        exchange.VtkSeries("", mixed)
    monkeypatch.setitem(sys.modules, "pyevtk.vtk", None)
    with pytest.raises(gg.MissingError, match=r"granular_gym\[exchange\]"):
        exchange.write_vtk(tmp_path, mixed)


def test_the_page_lists_every_field() -> None:
    page = Path(__file__).parents[2] / "docs" / "exchange.md"
    text = page.read_text()
    for name, field in GRAIN_FIELDS.items():
        assert f"| `{name}` | {field.unit or '-'} |" in text, name
    for name, (unit, _) in CONTACT_FIELDS.items():
        assert f"| `{name}` | {unit or '-'} |" in text, name
