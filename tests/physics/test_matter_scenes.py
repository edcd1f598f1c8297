"""The experiments with continuous matter, small: what must hold in each of them. The commands of docs/films.md run them
at their sizes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import granular_gym as gg
from granular_gym.viewing.matter_runs import pieces
from granular_gym.viewing.scene_runs import load_scene, run_scene

Note = Callable[..., None]


@pytest.mark.parametrize(
    ("name", "grains"),
    [
        ("panels", 125),
        pytest.param("slope", 1200, marks=pytest.mark.full),
        ("tear", 250),
        pytest.param("roll", 200, marks=pytest.mark.full),
    ],
)
def test_an_experiment_passes_its_checks(name: str, grains: int, tmp_path: Path, measured: Note) -> None:
    report = run_scene(name, tmp_path, grains=grains, film=False, num_threads=1, progress=False, say=lambda _: None)
    measured(**{check["name"]: check["value"] for check in report["checks"]})
    assert [check["name"] for check in report["checks"] if not check["passed"]] == []
    assert all(world["escaped"] == 0 for world in report["worlds"].values())


def test_pieces_share_no_node() -> None:
    """Two cubes are one body until no node is in the reach of both: a node reaches 1.5 spacings to each side."""
    for gap, found in ((0.0, [1000]), (0.03, [1000]), (0.07, [500, 500])):
        scene = gg.Scene(((0, 0, 0), (0.3, 0.1, 0.1)))
        dough = scene.add_material(density=1000.0, continuum=gg.VonMises(2e4, 0.4, 1e3))
        for x in (0.0, 0.04 + gap):
            scene.add_continuum(dough, (x, 0.0, 0.0), (x + 0.04, 0.04, 0.04), spacing=0.02)
        with scene.build(device="cpu", num_threads=1) as world:
            assert pieces(world) == found


@pytest.fixture(scope="module")
def lifted() -> Any:
    """The scene with a rigid cube 150 times as dense as the elastic ones, a quarter of a second into the lift."""
    run = load_scene("shake")(0, 128)
    with run.scene("150").build(device="cpu", num_threads=1) as world:
        for k in range(85):
            world.step(run.dt, tool_poses=run.drive("150", world, k * run.dt))
            run.watch("150", world, (k + 1) * run.dt)
    return run


def test_a_heavy_cube_is_solved(lifted: Any) -> None:
    assert [check.name for check in lifted.solved() if not check.passed] == []
    assert max(lifted.grips["150"]) > 300.0


def test_a_heavy_cube_is_held(lifted: Any) -> None:
    assert -lifted.moved("150")[-1, 2] < 5e-3
