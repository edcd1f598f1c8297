"""External faults: a worker process that is killed in a step, a full disk while a film is written."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import gymnasium as gym
import numpy as np
import pytest

import granular_gym  # noqa: F401  registers the tasks

TASK = "granular_gym/Silo-v1"


@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning", "ignore:.*Calling `close`:UserWarning")
def test_a_worker_killed_in_mid_step_is_said_and_the_rest_closes() -> None:
    envs = gym.vector.AsyncVectorEnv([lambda: gym.make(TASK, grain_count=60, num_threads=1)] * 3)
    try:
        envs.reset(seed=0)
        victim = envs.processes[1].pid
        os.kill(victim, signal.SIGSTOP)  # it has received the action and not yet replied
        envs.step_async(np.zeros((3, 2), np.float32))
        os.kill(victim, signal.SIGKILL)
        with pytest.raises((EOFError, ConnectionError)):
            envs.step_wait(timeout=60)
    finally:
        envs.close(terminate=True)
    for process in envs.processes:
        process.join(60)
    assert [process.exitcode for process in envs.processes][1] == -signal.SIGKILL
    assert not any(process.is_alive() for process in envs.processes)
    # this process is not affected
    env = gym.make(TASK, grain_count=60, num_threads=1)
    env.reset(seed=0)
    env.step([0.0, 0.0])
    env.close()


def limited(code: str, largest_file: int) -> subprocess.CompletedProcess[str]:
    """Runs Python code with a limit on the size of files, like a disk that fills up."""
    head = f"import resource; resource.setrlimit(resource.RLIMIT_FSIZE, ({largest_file}, {largest_file}))\n"
    return subprocess.run([sys.executable, "-c", head + code], capture_output=True, text=True, timeout=240)


def test_a_film_on_a_full_disk_is_said_and_stays_readable(tmp_path: Path) -> None:
    imageio = pytest.importorskip("imageio.v2", reason="imageio is not installed")
    pytest.importorskip("imageio_ffmpeg", reason="imageio-ffmpeg is not installed")
    path = tmp_path / "film.mp4"
    code = (
        "import numpy as np; from pathlib import Path; from granular_gym.viewing.film import Film\n"
        f"film = Film(Path({str(path)!r}), 5)\n"
        "try:\n"
        "    for k in range(60):\n"
        "        film.add(np.random.default_rng(k).integers(0, 255, (96, 96, 3), np.uint8))\n"
        "    film.close()\n"
        "except OSError as error:\n"
        "    print(error)\n"
        "else:\n"
        "    print('nothing was said')\n"
    )
    done = limited(code, 200_000)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(f"film: could not write {path}") and done.stdout.endswith("is the disk full?\n")
    assert done.stderr == ""
    with imageio.get_reader(path) as film:
        pictures = list(iter(film))  # it has no length
    assert 5 <= len(pictures) < 60 and pictures[0].shape == (96, 96, 3)
    # with enough space there is no message, and all pictures are written
    done = limited(code, 100_000_000)
    assert done.stdout == "nothing was said\n", done.stderr
    with imageio.get_reader(path) as film:
        assert len(list(iter(film))) == 60


def test_play_on_a_full_disk_is_said_in_one_line(tmp_path: Path) -> None:
    out = tmp_path / "out"
    code = (
        "from granular_gym.__main__ import main; import sys\n"
        f"sys.exit(main(['play', 'silo', '--steps', '1', '--no-film', '--out', {str(out)!r},"
        " '--arg', 'grain_count=60', '--arg', 'num_threads=1']))\n"
    )
    done = limited(code, 10_000)
    assert done.returncode == 2 and done.stdout == ""
    assert len(done.stderr.splitlines()) == 1 and str(out / "first.png") in done.stderr
    assert not (out / "report.json").exists()


def test_ctrl_c_leaves_films_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """While a picture is written Ctrl-C waits."""
    pytest.importorskip("imageio_ffmpeg", reason="imageio-ffmpeg is not installed")
    from granular_gym.film import Film

    picture = np.zeros((32, 32, 3), np.uint8)
    film = Film(tmp_path / "film.mp4", 5)
    film.add(picture)
    append = film._writer.append_data

    def interrupted(picture: np.ndarray) -> None:
        os.kill(os.getpid(), signal.SIGINT)
        append(picture)

    monkeypatch.setattr(film._writer, "append_data", interrupted)
    with pytest.raises(KeyboardInterrupt):
        film.add(picture)
    film.close()  # every picture is in the file
    assert film.count == 2
