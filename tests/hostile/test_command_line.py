"""The command line: version, cache, readers that go away, wrong words, and what a scene says while it runs."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import granular_gym as gg
from granular_gym.__main__ import main
from granular_gym.viewing import progress


def start(*words: str, **pipes: Any) -> subprocess.Popen[str]:
    return subprocess.Popen([sys.executable, "-m", "granular_gym", *words], text=True, stderr=subprocess.PIPE, **pipes)


@pytest.mark.parametrize("buffered", [True, False])
@pytest.mark.parametrize(
    "words",
    [
        ["info"],
        pytest.param(["info", "--json"], marks=pytest.mark.full),
        ["cache"],
        ["--version"],
        pytest.param(["--help"], marks=pytest.mark.full),
    ],
)
def test_a_reader_that_went_away_makes_no_traceback(words: list[str], buffered: bool) -> None:
    read, write = os.pipe()
    os.close(read)
    process = start(*words, stdout=write, env={**os.environ, "PYTHONUNBUFFERED": "" if buffered else "1"})
    os.close(write)
    error = process.communicate(timeout=60)[1]
    # argparse ignores that nobody reads where it writes at once
    assert error == "" and process.returncode in ((141,) if buffered or words[0][0] != "-" else (0, 141))


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stop:
        main(["--version"])
    assert stop.value.code == 0 and capsys.readouterr().out == f"granular_gym {gg.__version__}\n"


def test_cache_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("GRANULAR_GYM_CACHE", str(tmp_path))
    (tmp_path / "beds").mkdir()
    (tmp_path / "beds" / "a.ggstate").write_bytes(bytes(1_500_000))
    assert main(["cache"]) == 0
    text = capsys.readouterr().out
    assert str(tmp_path) in text and "beds            1 files        1.5 MB" in text
    assert main(["cache", "--clear", "sdf"]) == 0
    assert "deleted 0 files" in capsys.readouterr().out
    assert main(["cache", "--clear", "bed"]) == 2
    assert "did you mean 'beds'" in capsys.readouterr().err
    assert main(["cache", "--clear"]) == 0
    assert "deleted 1 files, 1.5 MB" in capsys.readouterr().out and not list((tmp_path / "beds").iterdir())


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["scene", "Drum"], "did you mean 'drum'"),
        (["scene", "drum", "--grains", "0"], "grains: expected an integer in 1 .."),
        (["scene", "drum", "--grains", "10000000"], "grains: expected an integer in 1 .."),
        (["scene", "incline", "--grains", "50"], "grains: expected none, incline has a fixed number"),
        (["scene", "incline", "--size", "full"], "size: expected test, incline has one size only"),
        (["scene", "silo", "--size", "full", "--grains", "5"], "size: expected a size or a number of grains"),
        (["scene", "drum", "--threads", "0"], "num_threads: expected"),
        (["scene", "drum", "--seed", "-1"], "seed: expected"),
        (["play", "sillo"], "did you mean 'Silo-v"),
        (["play", "silo", "--arg", "grain_cuont=60"], "did you mean 'grain_count'"),
        (["play", "silo", "--arg", "max_episode_steps=-2"], "max_episode_steps: expected an integer >= 1"),
        (["calibrate", "--density", "1", "--radius", "1"], "expected at least one of --angle"),
        (["calibrate", "--angle", "30", "--density", "-1", "--radius", "1"], "density: expected"),
    ],
)
def test_wrong_words(words: list[str], said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = [] if words[0] == "calibrate" else ["--out", str(tmp_path / "new")]
    assert main([*words, *folder]) == 2
    out, error = capsys.readouterr()
    assert out == "" and len(error.splitlines()) == 1 and said in error, error
    assert not (tmp_path / "new").exists(), "nothing is written"


def test_ctrl_c_is_said_in_a_line(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def interrupt(*_: Any, **__: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("granular_gym.__main__.play", interrupt)
    assert main(["play", "silo"]) == 130
    assert capsys.readouterr().err.endswith("play: interrupted\n")


# ---- a scene ----


def test_a_scene_says_what_it_does(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["scene", "incline", "--no-film", "--threads", "1", "--out", str(tmp_path)]
    assert main([*words, "--progress"]) == 0
    out, error = capsys.readouterr()
    lines = out.splitlines()
    assert lines[0] == "incline: a block on a slope of 16 degrees"
    assert lines[1] == "3 worlds (0.28, 0.30, 0.32), 3 s each in 3,000 steps of 1 ms"
    assert str(tmp_path) in lines[2]
    told = error.splitlines()
    assert 5 <= len(told) <= 11 and told[0] == "0.28: 0.00 of 3 s, 0 % of the run", "a log is not flooded"
    assert "\r" not in error
    assert main(words) == 0
    assert capsys.readouterr().err == "", "quiet where it is no terminal"


class Terminal:
    def __init__(self) -> None:
        self.text = ""

    def isatty(self) -> bool:
        return True

    def write(self, text: str) -> None:
        self.text += text

    def flush(self) -> None:
        pass


def test_progress_on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """One line that is written over at most four times a second; the duration is estimated once."""
    terminal, said, now = Terminal(), [], [0.0]
    monkeypatch.setattr(sys, "stderr", terminal)
    shown = progress.Progress(("a", "b"), 10.0, None, said.append, clock=lambda: now[0])
    for k in range(1000):
        now[0] = 0.01 * k
        shown.update("a", 0.005 * k)
    assert terminal.text.count("\r") in range(40, 45) and "\n" not in terminal.text
    assert said == ["about 40 s in all"]
    assert "a: 4.88 of 10 s, 24 % of the run, about 30 s left" in terminal.text
    shown.clear()
    assert terminal.text.endswith("\r\x1b[K")


@pytest.mark.parametrize(
    ("seconds", "text"), [(0.1, "1 s"), (99, "99 s"), (170, "3 min"), (5400, "90 min"), (9e3, "2.5 h")]
)
def test_durations(seconds: float, text: str) -> None:
    assert progress.duration(seconds) == text
