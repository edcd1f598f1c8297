"""`python -m granular_gym play`: films, pictures and reports of one episode."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from env_helpers import NEWEST, small

import granular_gym as gg
from granular_gym.__main__ import main
from granular_gym.tasks.registry import parse_arguments, task_id
from granular_gym.training.policies import load_policy
from granular_gym.viewing.film import Film
from granular_gym.viewing.play import play

SILO = "granular_gym/Silo-v1"


def steady(env: Any) -> Any:
    """A policy of a user: the same action for any observation."""
    action = np.full(env.action_space.shape, 0.1, np.float32)
    return lambda observation: action


def hostile(env: Any) -> Any:
    """A policy that returns invalid actions."""
    return lambda observation: [np.nan, 0.0]


@pytest.mark.parametrize("name", ["Silo-v1", "silo-v1", "silo", "Silo", "granular_gym/silo", SILO])
def test_names_of_tasks(name: str) -> None:
    assert task_id(name) == SILO


@pytest.mark.parametrize("name", NEWEST)
def test_every_task_is_played(name: str, tmp_path: Path) -> None:
    report = play(name, tmp_path / "a", steps=2, film=False, arguments=small(name), say=lambda text: None)
    assert report["steps"] == 2 and np.isfinite(report["return"]) and report["info"]["diverged"] is False
    assert json.loads((tmp_path / "a" / "report.json").read_text()) == report
    for picture in ("first.png", "last.png"):
        assert (tmp_path / "a" / picture).read_bytes()[:4] == b"\x89PNG"


def test_a_film_and_the_same_return_for_the_same_seed(tmp_path: Path) -> None:
    pytest.importorskip("imageio_ffmpeg", reason="imageio-ffmpeg is not installed")
    arguments = {**small(SILO), "difficulty": "hard"}
    one = play("silo", tmp_path, seed=3, steps=4, policy="random", arguments=arguments, say=lambda text: None)
    assert (tmp_path / "Silo-v1.mp4").stat().st_size > 1000
    two = play(
        "silo", tmp_path, seed=3, steps=4, policy="random", film=False, arguments=arguments, say=lambda text: None
    )
    assert one["return"] == two["return"] and one["info"] == two["info"]


def test_a_film_of_every_third_step_is_in_real_time(tmp_path: Path) -> None:
    imageio_ffmpeg = pytest.importorskip("imageio_ffmpeg", reason="imageio-ffmpeg is not installed")
    arguments = {**small(SILO), "frame_skip": 2}
    play("silo", tmp_path, steps=6, every=3, policy="random", arguments=arguments, say=lambda text: None)
    pictures, seconds = imageio_ffmpeg.count_frames_and_secs(str(tmp_path / "Silo-v1.mp4"))
    env = gym.make(SILO, **arguments)
    assert pictures == 3  # the beginning, after three steps, the end
    assert seconds == pytest.approx(pictures * 3 * env.unwrapped.task.step_period, rel=0.05)
    env.close()


def test_a_policy_of_the_user_s(tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.syspath_prepend(str(Path(__file__).parent))
    arguments = [
        "--arg",
        "grain_count=60",
        "--arg",
        "num_threads=1",
        "--steps",
        "3",
        "--no-film",
        "--out",
        str(tmp_path),
    ]
    assert main(["play", "silo", "--policy", "test_play:steady", *arguments]) == 0
    env = gym.make(SILO, **small(SILO))
    env.reset(seed=0)
    total = sum(env.step([0.1, 0.1])[1] for _ in range(3))
    assert json.loads((tmp_path / "report.json").read_text())["return"] == pytest.approx(total)
    env.close()


@pytest.mark.parametrize(
    "arguments, word",
    [
        (["nothing"], "task: expected one of"),
        (["silo", "--policy", "nothing"], "policy: expected"),
        (["silo", "--policy", "nothing:at_all"], "policy: expected a module"),
        (["silo", "--policy", "math:pi"], "policy: expected 'math:pi' to return a function"),
        (["silo", "--seed", "-1"], "seed"),
        (["silo", "--steps", "0"], "steps"),
        (["silo", "--arg", "nothing=1"], "argument.*nothing"),
        (["silo", "--arg", "nothing"], "argument: expected name=value"),
        (["silo", "--arg", "difficulty=wild"], "difficulty"),
        (["silo", "--arg", "render_mode=depth_array"], "render_mode"),
    ],
)
def test_bad_input_is_said_in_one_line(arguments: list[str], word: str, tmp_path: Path, capsys: Any) -> None:
    extra = ["--arg", "grain_count=60", "--arg", "num_threads=1", "--out", str(tmp_path / "new")]
    assert main(["play", *arguments, *extra]) == 2
    out, error = capsys.readouterr()
    assert out == "" and len(error.splitlines()) == 1
    assert re.search(word, error), error
    assert not (tmp_path / "new").exists(), "nothing is written"


def test_a_report_is_whole_or_the_one_before(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "report.json").write_text("before")

    def full(handle: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left"):
        play(SILO, tmp_path, policy="random", steps=1, film=False, arguments=small(SILO), say=lambda text: None)
    assert (tmp_path / "report.json").read_text() == "before"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["first.png", "last.png", "report.json"]


@pytest.mark.parametrize("name", ["a.txt", "a.gif", "a"])
def test_films_are_mp4(name: str, tmp_path: Path) -> None:
    with pytest.raises(gg.ArgumentError, match=r"path: expected a file that ends in \.mp4, got '.*'"):
        Film(tmp_path / name, 5)


def test_a_film_that_is_complete_takes_no_pictures(tmp_path: Path) -> None:
    pytest.importorskip("imageio_ffmpeg", reason="imageio-ffmpeg is not installed")
    with Film(tmp_path / "a.MP4", 5) as film:
        film.add(np.zeros((32, 48, 3), np.uint8))
    with pytest.raises(gg.ClosedError, match=r"a\.MP4 is complete"):
        film.add(np.zeros((32, 48, 3), np.uint8))
    film.close()
    assert film.count == 1


def test_a_policy_s_bad_action_is_said(tmp_path: Path, monkeypatch: Any, capsys: Any) -> None:
    monkeypatch.syspath_prepend(str(Path(__file__).parent))
    extra = ["--arg", "grain_count=60", "--no-film", "--out", str(tmp_path)]
    assert main(["play", "silo", "--policy", "test_play:hostile", *extra]) == 2
    assert "action: expected finite numbers" in capsys.readouterr().err


def test_arguments_are_json_or_text() -> None:
    assert parse_arguments(["a=3", "b=wedge", "c=true", "d=[0.1, 0.2]", "e=x=y"]) == {
        "a": 3,
        "b": "wedge",
        "c": True,
        "d": [0.1, 0.2],
        "e": "x=y",
    }
    with pytest.raises(gg.ArgumentError, match="name=value"):
        parse_arguments(["1=2"])
    with pytest.raises(gg.ArgumentError, match="policy"):
        load_policy("", None)
