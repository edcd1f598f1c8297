"""SDF grids reach as far as the largest grain is wide: sampled on where there is a mesh, else told by a warning."""

from __future__ import annotations

import io
import pickle
import warnings
from pathlib import Path

import numpy as np
import pytest

import granular_gym as gg
from testbed.standard import box_mesh

SPACING = 1.0 / 128.0  # exact in floats
HALF = (5.0 * SPACING, 4.0 * SPACING, SPACING)


def field(**options: object) -> gg.Sdf:
    """A plate of 12 triangles."""
    return gg.Sdf.from_mesh(box_mesh(HALF, 1), spacing=SPACING, **options)


def grid_of(sdf: gg.Sdf) -> gg.SdfGrid:
    grid = sdf.parts[0].grid
    assert grid is not None
    return grid


def scene_of(sdf: gg.Sdf, *radii: float) -> gg.Scene:
    scene = gg.Scene(((-1, -1, -1), (1, 1, 1)))
    scene.add_material(density=1600.0)
    for k, radius in enumerate(radii):
        scene.add_grains(0, [[0.3 * k, 0.0, 0.5]], radius)
    scene.add_tool(sdf, name="plate")
    return scene


def without_mesh(sdf: gg.Sdf) -> gg.Sdf:
    grid = grid_of(sdf)
    return gg.Sdf.from_grid(gg.SdfGrid(grid.samples, grid.spacing, grid.origin))


def shape_in(scene: gg.Scene) -> list[int]:
    """Samples along x, y, z that a world gets."""
    return scene.freeze().arrays["grid_integers"][0].tolist()


@pytest.fixture(autouse=True)
def cache_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GRANULAR_GYM_CACHE", str(tmp_path / "cache"))


@pytest.mark.parametrize("share", [0.4, 1.0, 1.2, 3.0, 10.0])
def test_a_world_gets_what_its_largest_grain_needs(share: float) -> None:
    sdf, radius = field(), share * SPACING
    given, got = grid_of(sdf), shape_in(scene_of(sdf, radius, 0.5 * radius))
    padding = max(2, int(np.ceil(2.0 * share - 1e-3)))
    assert got == [n + 2 * (padding - 2) for n in given.samples.shape[::-1]]
    assert grid_of(sdf) is given, "the Sdf itself stays as it is"
    wide = given.reaching(2.0 * radius)
    assert wide.reaches(2.0 * radius) and wide.clearance == pytest.approx(padding * SPACING, rel=1e-5)
    assert given.reaching(2.0 * radius) is wide, "sampled once"
    # both grids have their samples in the same places
    inner = wide.samples[tuple(slice(padding - 2, n - (padding - 2)) for n in wide.samples.shape)]
    np.testing.assert_allclose(inner, given.samples, atol=1e-7)


def test_without_grains_and_with_coarse_grids_nothing_changes() -> None:
    sdf = field()
    for scene in (scene_of(sdf), scene_of(sdf, SPACING)):
        np.testing.assert_array_equal(scene.freeze().arrays["sample"], grid_of(sdf).samples.reshape(-1))


def test_parts_that_share_a_grid_still_do() -> None:
    one = field()
    scene = scene_of(gg.Sdf.union(one, one.at((0.2, 0.0, 0.0))), 0.05)
    scene.add_tool(one, name="another")
    assert len(scene.freeze().arrays["grid_integers"]) == 1


def test_what_is_sampled_is_kept_on_disk(tmp_path: Path) -> None:
    first = scene_of(field(), 0.05).fingerprint()
    assert len(list((tmp_path / "cache" / "sdf").iterdir())) == 2
    assert scene_of(field(), 0.05).fingerprint() == first
    kept = scene_of(field(cache=False, num_threads=1), 0.05)
    assert kept.fingerprint() == first and len(list((tmp_path / "cache" / "sdf").iterdir())) == 2


def test_a_grid_without_a_mesh_is_told_of() -> None:
    thin = without_mesh(field())
    with pytest.warns(gg.SdfWarning, match=r"tool 'plate': expected .* at least 0.0625 m.* got 0.015625 m") as found:
        scene_of(thin, 4.0 * SPACING).build(num_threads=1).close()
    assert found[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        scene_of(thin).freeze()
        scene_of(thin, SPACING).freeze()
        scene_of(without_mesh(field(padding=8)), 4.0 * SPACING).freeze()
    # a box that cuts the solid
    grid = grid_of(field())
    cut = gg.SdfGrid(grid.samples[:, :, 5:], grid.spacing, grid.origin)
    assert cut.clearance < 0.0
    with pytest.warns(gg.SdfWarning, match=r"got -0.0078125 m"):
        scene_of(gg.Sdf.from_grid(cut), SPACING).freeze()


def test_too_many_samples_are_refused_with_the_tool() -> None:
    sdf = gg.Sdf.from_mesh(box_mesh(HALF, 1), spacing=0.001)
    with pytest.raises(gg.ArgumentError, match=r"^spacing: expected at most .* 1000 samples of padding.*'plate'.* 1 m"):
        scene_of(sdf, 0.5).build()
    with pytest.raises(gg.ArgumentError, match=r"^spacing: expected at most 4096 samples along each axis.*'plate'"):
        scene_of(sdf, 1.5).build()


def test_a_sampling_of_another_kind_is_refused() -> None:
    grid = grid_of(field())
    with pytest.raises(gg.ArgumentError, match=r"^sampling: expected a MeshSampling or None, got Mesh"):
        gg.SdfGrid(grid.samples, grid.spacing, grid.origin, "", box_mesh(HALF, 1))  # type: ignore[arg-type]


def test_pickles_and_files_keep_the_mesh(tmp_path: Path) -> None:
    sdf = field()
    wanted = scene_of(sdf, 0.05).fingerprint()
    small = len(pickle.dumps(sdf))
    assert small < 2 * grid_of(sdf).samples.nbytes + 10_000, "grids that were sampled on are not carried along"
    sdf.save(tmp_path / "plate.npz")
    for copy in (pickle.loads(pickle.dumps(sdf)), gg.Sdf.from_file(tmp_path / "plate.npz")):
        assert grid_of(copy).digest() == grid_of(sdf).digest()
        assert scene_of(copy, 0.05).fingerprint() == wanted


def test_older_files_and_pickles_have_no_mesh(tmp_path: Path) -> None:
    sdf, path = field(), tmp_path / "plate.npz"
    sdf.save(path)
    with np.load(path) as file:
        arrays = {name: file[name] for name in file.files if name not in ("vertices", "faces")}
    old = io.BytesIO()
    np.savez_compressed(old, **arrays)
    path.write_bytes(old.getvalue())
    grid = object.__new__(gg.SdfGrid)
    grid.__dict__.update({name: value for name, value in grid_of(sdf).__dict__.items() if name != "sampling"})
    grid.__dict__.pop("clearance", None)
    for copy in (gg.Sdf.from_file(path), gg.Sdf.from_grid(pickle.loads(pickle.dumps(grid)))):
        assert grid_of(copy).digest() == grid_of(sdf).digest()
        scene_of(copy, SPACING).freeze()
        with pytest.warns(gg.SdfWarning):
            scene_of(copy, 0.05).freeze()


def test_a_file_with_another_mesh_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "plate.npz"
    field().save(path)
    with np.load(path) as file:
        arrays = {name: file[name] for name in file.files}
    for change in ({"vertices": arrays["vertices"] * 2.0}, {"faces": arrays["faces"][:, ::-1]}, {"faces": np.zeros(3)}):
        other = io.BytesIO()
        np.savez_compressed(other, **{**arrays, **change})
        path.write_bytes(other.getvalue())
        with pytest.raises(gg.StateError):
            gg.Sdf.from_file(path)
