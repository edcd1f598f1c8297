"""The films in space, small: what must hold in each of them. The commands of docs/films.md run them at their sizes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from granular_gym.viewing.scene_runs import load_scene, picture, run_scene

Note = Callable[..., None]


@pytest.mark.parametrize(
    ("name", "grains"), [("hourglass", 300), ("splash", 400), ("avalanche", 400), ("bulldozer", 400)]
)
def test_a_film_passes_its_checks(name: str, grains: int, tmp_path: Path, measured: Note) -> None:
    report = run_scene(name, tmp_path, grains=grains, film=False, num_threads=1, progress=False, say=lambda _: None)
    measured(**{check["name"]: check["value"] for check in report["checks"]})
    failed = [check for check in report["checks"] if not check["passed"]]
    assert not failed
    assert report["worlds"][name]["escaped"] == 0
    assert (tmp_path / f"{name}.png").stat().st_size > 1000


def test_rings_tangle_with_friction(measured: Note) -> None:
    """One seed of the three that the command runs."""
    run = load_scene("rings")(0, 16)
    run.seconds = 1.2
    for label in ("low 1", "high 1"):
        play(run, label)
    low, high = (run.spread[label][-1][1] for label in ("low 1", "high 1"))
    measured(low=low, high=high)
    assert high < 0.8 * low


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
