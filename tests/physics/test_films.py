"""The films in space, small: what must hold in each of them. The commands of docs/films.md run them at their sizes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from granular_gym.scenes import rings
from granular_gym.viewing.scene_runs import load_scene, picture, run_scene

Note = Callable[..., None]


@pytest.mark.parametrize(
    ("name", "grains"), [("hourglass", 300), ("splash", 400), ("avalanche", 400), ("bulldozer", 250)]
)
def test_a_film_passes_its_checks(name: str, grains: int, tmp_path: Path, measured: Note) -> None:
    report = run_scene(name, tmp_path, grains=grains, film=False, num_threads=1, progress=False, say=lambda _: None)
    measured(**{check["name"]: check["value"] for check in report["checks"]})
    failed = [check for check in report["checks"] if not check["passed"]]
    assert not failed
    assert report["worlds"][name]["escaped"] == 0
    assert (tmp_path / f"{name}.png").stat().st_size > 1000


def test_rings_tangle_with_friction(full: bool, monkeypatch: pytest.MonkeyPatch, measured: Note) -> None:
    """Friction holds up rings that no pole passes through: the checks of the film, of 16 rings, of one seed (with
    --full of all three)."""
    kind, seeds = load_scene("rings"), rings.SEEDS if full else 1
    monkeypatch.setattr(rings, "SEEDS", seeds)
    monkeypatch.setattr(kind, "labels", kind.labels[: seeds * len(rings.SURFACES)])
    run = kind(0, 16)
    run.seconds = 2.0
    for label in run.labels:
        play(run, label)
        measured(**{f"{name} of {label}": value for name, value in run.figures(label).items()})
    checks = [check for check in run.checks() if "pole" in check.name]
    assert len(checks) == seeds
    assert all(check.passed for check in checks)


def test_a_pole_passes_through_a_ring_around_it_only() -> None:
    run = load_scene("rings")(0, 40)
    x, y = run._poles()[0]
    aslant = (np.cos(0.4), np.sin(0.4), 0.0, 0.0)
    flat, upright = (1.0, 0.0, 0.0, 0.0), (np.cos(np.pi / 4), 0.0, np.sin(np.pi / 4), 0.0)
    rings = {
        (x, y, 0.1, *flat): True,
        (x + 0.03, y, 0.1, *aslant): True,
        (x, y + 0.03, 0.26, *aslant): True,  # its plane meets the axis at .23 m
        (x, y - 0.03, 0.26, *aslant): False,  # at .29 m, above the top
        (x, y + 0.04, 0.1, *flat): True,
        (x, y + 0.04, 0.1, *aslant): False,  # its disc is 32 mm wide on this side
        (x - 0.06, y, 0.004, *flat): False,
        (x - 0.02, y, 0.1, *upright): False,
        (x, y, 0.251, *flat): False,
    }
    np.testing.assert_array_equal(run.threaded(np.array(list(rings))), list(rings.values()))


def test_pictures_leave_the_world_as_it_is() -> None:
    """A tool that pictures leave out is back before the next step: the same bits with pictures and without."""
    ends = []
    for pictured in (False, True):
        run = load_scene("hourglass")(0, 40)
        run.seconds = 1.2
        ends.append(play(run, run.labels[0], pictured))
    np.testing.assert_array_equal(*ends)


def play(run: Any, label: str, pictured: bool = False) -> np.ndarray:
    """Simulates a world of a run; returns the positions at the end."""
    span = round(1.0 / run.pictures_per_second / run.dt)
    with run.scene(label).build(device="cpu", solver=run.solver, num_threads=1) as world:
        for k in range(round(run.seconds / (span * run.dt))):
            world.step(run.dt, span, tool_poses=run.drive(label, world, k * span * run.dt))
            run.watch(label, world, (k + 1) * span * run.dt)
            if pictured and k % 10 == 0:
                picture(run, world)
        return world.positions[0]
