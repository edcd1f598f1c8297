"""Datasets of Minari: what they hold, that they play again bit for bit, and what is refused."""

from __future__ import annotations

import io
import json
import os
import pty
import re
import select
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest

import granular_gym as gg
from granular_gym.__main__ import main
from granular_gym.recording import files
from granular_gym.recording.episode import Episode, first_difference
from granular_gym.recording.players import kind_of, turns_of
from granular_gym.recording.record import Recording, record, record_all
from granular_gym.recording.replay import replay
from granular_gym.tasks.registry import newest_ids
from granular_gym.teleop.keyboard import Keyboard
from granular_gym.teleop.screen import Screen

POUR, SILO = "granular_gym/Pour-v1", "granular_gym/Silo-v1"
PAGE_ID = "granular_gym/Silo-v1/expert-v0"
SMALL = {"grain_count": 100, "max_episode_steps": 12, "num_threads": 1}
WORDS = [word for name, value in SMALL.items() for word in ("--arg", f"{name}={value}")]


def quiet(text: str) -> None:
    """Says nothing."""


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of datasets."""
    pytest.importorskip("minari", reason="Minari is not installed")
    pytest.importorskip("h5py", reason="h5py is not installed")
    return tmp_path_factory.mktemp("datasets")


@pytest.fixture(scope="module")
def recorded(root: Path) -> Recording:
    """Two episodes of Pour, by the expert and at random."""
    return record(
        POUR, policy="expert,random", episodes=2, seed=7, dataset_id="lab/pour-v0", out=root, arguments=SMALL, say=quiet
    )


def test_minari_reads_it(recorded: Recording, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import minari

    monkeypatch.setenv("MINARI_DATASETS_PATH", str(root))
    assert list(minari.list_local_datasets()) == ["lab/pour-v0"]
    dataset = minari.load_dataset("lab/pour-v0")
    assert dataset.total_episodes == 2 and dataset.total_steps == 24 == recorded.steps
    seeds = [about["seed"] for about in dataset.storage.get_episode_metadata([0, 1])]
    assert seeds == [7, 8]
    first = dataset[0]
    assert first.observations["side"].dtype == np.uint8 and first.observations["side"].shape == (13, 1, 48, 64)
    assert first.observations["side"].std() > 10.0, "an image"
    assert first.infos["success"].dtype == bool and first.infos["state_vector"].shape == (13, 34)
    assert first.actions.dtype == np.float32 and first.truncations.tolist() == [False] * 11 + [True]
    assert first.rewards.sum() == recorded.returns[0]
    about = dataset.storage.metadata
    assert about["granular_gym"]["version"] == gg.__version__ and about["requirements"] == ["granular_gym==0.1.0"]
    assert recorded.size == sum(file.stat().st_size for file in recorded.path.rglob("*") if file.is_file())
    env = dataset.recover_environment()
    try:
        assert env.spec.max_episode_steps == 12 and env.unwrapped.task.grain_count == 100
        observation, _ = env.reset(seed=7)
        assert all(np.array_equal(part, first.observations[name][0]) for name, part in observation.items())
    finally:
        env.close()


def test_the_state_vector_is_what_a_learner_sees(recorded: Recording, root: Path) -> None:
    episode = files.Dataset("lab/pour-v0", root).episode(0)
    env = gym.make(POUR, observation="state", **SMALL)
    seen = [env.reset(seed=7)[0]["state"]]
    seen += [env.step(action)[0]["state"] for action in episode.fields["actions"]]
    env.close()
    assert np.array_equal(np.stack(seen), episode.fields["infos/state_vector"])


def test_it_plays_again_bit_for_bit(recorded: Recording, root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["replay", "lab/pour-v0", "--root", str(root), "--arg", "num_threads=2"]) == 0
    assert capsys.readouterr().out.count("12 steps, every bit as recorded") == 2
    assert main(["replay", str(recorded.path), "--episode", "1"]) == 0
    assert capsys.readouterr().out == "episode 1, seed 8: 12 steps, every bit as recorded\n"


@pytest.mark.parametrize(
    ("field", "row", "step"),
    [("rewards", 4, 5), ("observations/side", 6, 6), ("infos/held", 12, 12), ("terminations", 11, 12)],
)
def test_one_changed_value_is_found(recorded: Recording, root: Path, tmp_path: Path, field: str, row: int, step: int):
    import shutil

    import h5py

    copy = Path(shutil.copytree(recorded.path, tmp_path / "copy"))
    with h5py.File(copy / "data" / "main_data.hdf5", "a") as file:
        values = file["episode_1"][field]
        changed = values[row]
        if values.dtype == bool:
            values[row] = not changed
        elif values.dtype.kind == "f":
            values[row] = np.nextafter(changed, 1e3)  # the last bit
        else:
            values[row, 0, 3, 4] = changed[0, 3, 4] ^ 1
    assert replay(str(copy), episode=0, say=quiet) == 1
    with pytest.raises(gg.ReplayError, match=f"episode 1, step {step}: expected {field} as recorded, .*, got "):
        replay(str(copy), say=quiet)


def test_the_version_that_recorded_it_is_told(recorded: Recording, tmp_path: Path) -> None:
    import shutil

    copy = Path(shutil.copytree(recorded.path, tmp_path / "copy"))
    path = copy / "data" / "metadata.json"
    about = json.loads(path.read_text())
    about["granular_gym"]["engine"] = "of yesterday"
    path.write_text(json.dumps(about))
    said: list[str] = []
    replay(str(copy), episode=0, say=said.append)
    assert said[0].startswith("recorded by granular_gym 0.1.0, engine of yesterday, which is not what runs now")
    about["granular_gym"]["task"] = "granular_gym/Silo-v1"
    path.write_text(json.dumps(about))
    with pytest.raises(gg.ArgumentError, match="dataset: expected one whose env is granular_gym/Silo-v1, got 'gran"):
        replay(str(copy), say=quiet)
    about["granular_gym"]["task"] = "granular_gym/Pour-v9"
    path.write_text(json.dumps(about))
    with pytest.raises(gg.ArgumentError, match="task: expected one of"):
        replay(str(copy), say=quiet)
    del about["granular_gym"]
    path.write_text(json.dumps(about))
    with pytest.raises(gg.ArgumentError, match="dataset: expected one that `record` wrote"):
        replay(str(copy), say=quiet)
    path.write_text(path.read_text()[:-9])
    with pytest.raises(gg.StateError, match="expected a whole dataset"):
        replay(str(copy), say=quiet)


def test_mixed_and_noise(root: Path) -> None:
    made = record(SILO, policy="mixed", episodes=3, noise=0.3, out=root, arguments=SMALL, say=quiet)
    assert made.id == "granular_gym/Silo-v1/mixed-noise-30-v0"
    mixed = files.Dataset(made.id, root)
    episodes = list(mixed.episodes())
    assert [episode.policy for episode in episodes] == ["expert", "noisy", "random"]
    plain = record(SILO, episodes=1, out=root, dataset_id="plain-v0", arguments=SMALL, say=quiet)
    undisturbed = files.Dataset(str(plain.path)).episode(0).fields
    assert np.array_equal(undisturbed["infos/state_vector"][0], episodes[0].fields["infos/state_vector"][0]), (
        "the same scene"
    )
    shift = np.abs(undisturbed["actions"][0] - episodes[0].fields["actions"][0])
    assert 0.0 < shift.max() < 0.6, "and a disturbed expert"
    assert replay(made.id, root=root, say=quiet) == 3


def test_ctrl_c_keeps_whole_episodes(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(text: str) -> None:
        if "seed 1" in text:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        record(SILO, episodes=9, dataset_id="cut-v0", out=root, arguments=SMALL, say=interrupt)
    assert files.Dataset("cut-v0", root).count == 2
    assert not list(root.glob(".recording-*"))


def test_ctrl_c_while_an_episode_is_written_waits(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from minari.dataset._storages.hdf5_storage import HDF5Storage

    write, calls = HDF5Storage.update_episode_metadata, []

    def interrupted(self: Any, *arguments: Any) -> None:
        calls.append(os.kill(os.getpid(), signal.SIGINT) if len(calls) == 1 else None)
        write(self, *arguments)

    monkeypatch.setattr(HDF5Storage, "update_episode_metadata", interrupted)
    with pytest.raises(KeyboardInterrupt):
        record(SILO, episodes=9, dataset_id="held-v0", out=root, arguments=SMALL, say=quiet)
    assert files.Dataset("held-v0", root).count == 2
    assert replay("held-v0", root=root, say=quiet) == 2


#: plain colours, the top left corner, nothing from there on
EMPTIED = "\x1b[0m\x1b[H\x1b[J"


def test_ctrl_c_at_the_keyboard_empties_the_screen(root: Path, tmp_path: Path) -> None:
    user, terminal = pty.openpty()
    words = [sys.executable, "-m", "granular_gym", "record", SILO, "--policy", "keyboard", "--out", str(tmp_path)]
    more = ["--arg", "grain_count=100", "--arg", "num_threads=1"]
    env = {**os.environ, "COLUMNS": "40", "LINES": "20"}

    def own_terminal() -> None:
        os.setsid()
        import fcntl
        import termios

        fcntl.ioctl(0, termios.TIOCSCTTY, 0)

    process = subprocess.Popen(
        [*words, *more], stdin=terminal, stdout=terminal, stderr=terminal, env=env, preexec_fn=own_terminal
    )
    os.close(terminal)
    shown, end, pressed = b"", time.monotonic() + 60.0, False
    try:
        while time.monotonic() < end:
            if select.select([user], [], [], 0.1)[0]:
                try:
                    sent = os.read(user, 65536)
                except OSError:  # the process has ended
                    break
                shown += sent
            if not pressed and b"Ctrl-C: end" in shown:
                os.write(user, b"\x03")
                pressed = True
        assert process.wait(20) == 130
    finally:
        process.kill()
        process.wait()
        os.close(user)
    text = shown.decode("utf-8", "replace")
    assert text.count(EMPTIED) == 1, text[-500:]
    assert text.partition(EMPTIED)[2].strip() == "python -m granular_gym record: interrupted"


class Cut(io.StringIO):
    """A terminal whose second picture is interrupted in the middle of an escape sequence."""

    pictures = 0

    def write(self, text: str) -> int:
        self.pictures += "\u2580" in text
        if self.pictures == 2 and "\u2580" in text:
            super().write(text[: text.index("\x1b[38;2;", len(text) // 2) + 7])
            raise KeyboardInterrupt
        return super().write(text)


def test_a_picture_that_is_cut_off_is_taken_away(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("granular_gym.teleop.screen.RATE", 1e9)
    env = gym.make(SILO, **SMALL)
    env.reset(seed=0)
    user, terminal = pty.openpty()
    out = Cut()
    try:
        policy = Keyboard(env, terminal, Screen(out))
        policy(None)
        assert EMPTIED not in out.getvalue()
        with pytest.raises(KeyboardInterrupt):
            policy(None)
        policy.close()
        policy.close()
    finally:
        env.close()
        os.close(user)
        os.close(terminal)
    assert out.getvalue().endswith("\x1b[38;2;" + EMPTIED), "once"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["record", "pouur"], "did you mean 'Pour-v"),
        (["record", "pour", "--episodes", "0"], "episodes: expected an integer >= 1, got 0"),
        (["record", "pour", "--seed", "-1"], "seed: expected an integer >= 0"),
        (["record", "pour", "--noise", "2"], "noise: expected"),
        (["record", "pour", "--policy", "expret"], "policy: expected one of expert"),
        (["record", "pour", "--policy", "expert,,random"], "policy: expected names with commas"),
        (["record", "pour", "--policy", "keyboard"], "policy: expected a terminal as standard input"),
        (["record", "pour", "--dataset-id", "no version"], "dataset-id: expected a name like"),
        (["record", "pour", "--dataset-id", "a/b-v0"], "2 characters or more of a NAMESPACE"),
        (["record", "pour", "--dataset-id", "lab/b"], "NAME-vNUMBER or NAMESPACE/NAME-vNUMBER of letters"),
        (
            ["record", "pour", "--dataset-id", "lab/pour-v0"],
            "dataset-id: expected a new one, or --overwrite, 'lab/",
        ),
        (["record", "pour", "--dataset-id", "../pour-v0"], "dataset-id: expected a name like"),
        (["record", "pour", "--arg", "grain_cuont=3"], "did you mean 'grain_count'"),
        (["record", "all", "--dataset-id", "a-v0"], "dataset-id: expected none for all tasks"),
        (["replay", "lab/porr-v0"], "did you mean 'lab/pour-v0'"),
        (["replay", "lab/pour-v0", "--episode", "2"], "episode: expected 0 .. 1, got 2"),
        (["replay", "lab/pour-v0", "--arg", "grain_count=50"], "argument: "),
    ],
)
def test_wrong_words(
    recorded: Recording, root: Path, words: list[str], said: str, capsys: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = sorted(root.rglob("*"))
    more = ["--out", str(root), *WORDS] if words[0] == "record" else ["--root", str(root)]
    with open("/dev/null") as nothing:
        monkeypatch.setattr(sys, "stdin", nothing)
        assert main([*words, *more]) == 2
    out, error = capsys.readouterr()
    assert out == "" and len(error.splitlines()) == 1 and said in error, error
    assert sorted(root.rglob("*")) == before, "nothing is written"


def test_overwrite(root: Path) -> None:
    arguments = {**SMALL, "max_episode_steps": 2}
    made = record(SILO, policy="random", dataset_id="c-v0", episodes=1, out=root, arguments=arguments, say=quiet)
    again = record(
        SILO, policy="random", dataset_id="c-v0", episodes=2, out=root, overwrite=True, arguments=arguments, say=quiet
    )
    assert made.path == again.path and files.Dataset("c-v0", root).count == 2
    (root / "free-v0").mkdir()
    with pytest.raises(gg.ArgumentError, match="expected one whose folder is free"):
        record(SILO, dataset_id="free-v0", out=root, overwrite=True, arguments=arguments, say=quiet)


@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), KeyboardInterrupt()])
def test_a_dataset_that_cannot_be_replaced_stays(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: BaseException
) -> None:
    arguments = {**SMALL, "max_episode_steps": 2}
    made = record(SILO, policy="random", episodes=2, out=tmp_path, arguments=arguments, say=quiet)
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    rename = Path.rename

    def full(self: Path, target: Any) -> Path:
        # of the new one; the old one is put back
        if made.path in (Path(target), Path(target).parent) and self.name != "replaced":
            raise error
        return rename(self, target)

    monkeypatch.setattr(Path, "rename", full)
    with pytest.raises(type(error)):
        record(SILO, policy="random", episodes=1, out=tmp_path, overwrite=True, arguments=arguments, say=quiet)
    monkeypatch.undo()
    assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["granular_gym"], "no remains"
    assert replay(made.id, root=tmp_path, say=quiet) == 2


def test_ctrl_c_as_a_dataset_is_finished(root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In the middle of it, and when its last line is said: it is whole, and the interrupt arrives."""
    arguments = {**SMALL, "max_episode_steps": 2}

    def interrupted(text: str) -> None:
        if " MB in " in text:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        record(SILO, policy="random", episodes=2, out=tmp_path, arguments=arguments, say=interrupted)
    assert replay("granular_gym/Silo-v1/random-v0", root=tmp_path, say=quiet) == 2
    pack = files._pack

    def pressed(path: Path) -> None:
        os.kill(os.getpid(), signal.SIGINT)
        pack(path)

    monkeypatch.setattr(files, "_pack", pressed)
    with pytest.raises(KeyboardInterrupt):
        record(SILO, policy="random", episodes=3, dataset_id="b-v0", out=tmp_path, arguments=arguments, say=quiet)
    assert replay("b-v0", root=tmp_path, say=quiet) == 3


def test_arguments_of_the_machine_are_not_kept(root: Path, tmp_path: Path) -> None:
    arguments = {**SMALL, "max_episode_steps": 2, "device": "cpu"}
    record(SILO, policy="random", episodes=1, dataset_id="b-v0", out=tmp_path, arguments=arguments, say=quiet)
    kept = files.Dataset("b-v0", tmp_path).about["arguments"]
    assert kept["grain_count"] == 100 and not {"num_threads", "device"} & kept.keys()


def test_relative_folders(root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    arguments = {**SMALL, "max_episode_steps": 2}
    made = record(SILO, policy="random", episodes=1, out=Path("datasets"), arguments=arguments, say=quiet)
    assert made.path == tmp_path / "datasets" / "granular_gym" / "Silo-v1" / "random-v0"
    assert replay(made.id, root=Path("datasets"), say=quiet) == 1
    assert replay(f"datasets/{made.id}", say=quiet) == 1
    monkeypatch.setenv("MINARI_DATASETS_PATH", "mine")
    made = record(SILO, policy="random", episodes=1, dataset_id="lab/b-v0", arguments=arguments, say=quiet)
    assert made.path == tmp_path / "mine" / "lab" / "b-v0" and replay("lab/b-v0", say=quiet) == 1
    assert sorted(path.name for path in tmp_path.iterdir()) == ["datasets", "mine"]


@pytest.mark.parametrize("dataset_id", ["b-v0", "ab/c-v12", "lab/more_of-it/c-v0"])
def test_ids_that_minari_takes(root: Path, dataset_id: str) -> None:
    assert files.check_id(dataset_id) == dataset_id


#: records some of all tasks in a Python without MuJoCo; what is loaded here may have it already
WITHOUT_MUJOCO = """
import json, sys
from pathlib import Path
sys.modules["mujoco"] = None
from granular_gym.recording import record
record.newest_ids = lambda: json.loads(sys.argv[1])
arguments = {"grain_count": 100, "max_episode_steps": 1, "num_threads": 1}
left_out = record.record_all(policy="random", episodes=1, out=Path(sys.argv[2]), arguments=arguments)
print(json.dumps(left_out))
"""


def test_all_tasks_but_those_that_lack_a_library(root: Path, tmp_path: Path) -> None:
    without = [f"granular_gym/{name}" for name in ("ExcavatorForce-v0", "AntOnSand-v0")]
    recorded = [SILO, "granular_gym/Dough-v0"]
    tasks = [recorded[0], *without, recorded[1]]
    assert [name for name in newest_ids() if name in tasks] == tasks, "some of all; one behind those that lack it"
    words = [sys.executable, "-c", WITHOUT_MUJOCO, json.dumps(tasks), str(tmp_path)]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    *said, last = done.stdout.splitlines()
    left_out = json.loads(last)
    assert list(left_out) == without and all("needs MuJoCo: pip install" in why for why in left_out.values())
    assert said[-2:] == [f"left out: {name}: {why}" for name, why in left_out.items()]
    assert all((tmp_path / name / "random-v0" / "data" / "metadata.json").is_file() for name in recorded)
    assert not any((tmp_path / name).exists() for name in without)


def test_ids_of_all_tasks_are_checked_first(root: Path, tmp_path: Path) -> None:
    arguments = {**SMALL, "max_episode_steps": 1}
    for task in (SILO, POUR):
        record(task, policy="random", episodes=1, out=tmp_path, arguments=arguments, say=quiet)
    said: list[str] = []
    with pytest.raises(gg.ArgumentError, match="dataset-id: expected new ones, or --overwrite, .* exist in") as caught:
        record_all(policy="random", episodes=1, out=tmp_path, arguments=arguments, say=said.append)
    assert not said and re.findall(r"'(.*?)'", str(caught.value)) == [f"{task}/random-v0" for task in (SILO, POUR)]


@pytest.mark.parametrize(("left_out", "status"), [({}, 0), ({"granular_gym/AntOnSand-v0": "it needs MuJoCo"}, 1)])
def test_status_of_all_tasks(left_out: dict[str, str], status: int, monkeypatch: pytest.MonkeyPatch) -> None:
    given: dict[str, Any] = {}

    def recorded(**arguments: Any) -> dict[str, str]:
        given.update(arguments)
        return left_out

    monkeypatch.setattr("granular_gym.__main__.record_all", recorded)
    assert main(["record", "all", "--policy", "random", "--episodes", "3", "--arg", "grain_count=9"]) == status
    assert given["policy"] == "random" and given["episodes"] == 3 and given["arguments"] == {"grain_count": 9}


def test_all_tasks_lack_a_library(root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(task: str, **_: Any) -> None:
        raise gg.MissingError(f"{task} needs something")

    monkeypatch.setattr("granular_gym.recording.record.record", missing)
    with pytest.raises(gg.MissingError, match=f"{newest_ids()[-1]} needs something"):
        record_all(out=tmp_path, say=quiet)


def test_without_minari(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    monkeypatch.setitem(sys.modules, "minari", None)
    monkeypatch.setitem(sys.modules, "h5py", None)
    assert main(["record", "pour", "--out", str(tmp_path / "x")]) == 2
    assert "datasets need Minari: pip install 'granular_gym[data]'" in capsys.readouterr().err
    assert not (tmp_path / "x").exists()


BLOCKS = re.findall(r"```python\n(.*?)```", (Path(__file__).parents[2] / "docs" / "datasets.md").read_text(), re.DOTALL)


def test_the_page_loads_with_minari(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    record(SILO, policy="random", episodes=2, dataset_id=PAGE_ID, out=root, arguments=SMALL, overwrite=True, say=quiet)
    monkeypatch.setenv("MINARI_DATASETS_PATH", str(root))
    names: dict[str, Any] = {}
    exec(BLOCKS[1], names)
    assert names["states"].shape == names["following"].shape == (24, 32) and names["actions"].shape == (24, 2)
    assert names["env"].unwrapped.task.grain_count == 100
    names["env"].close()


@pytest.mark.torch
def test_the_page_learns(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("stable_baselines3", reason="Stable-Baselines3 is not installed")
    record(SILO, policy="random", episodes=2, dataset_id=PAGE_ID, out=root, arguments=SMALL, overwrite=True, say=quiet)
    monkeypatch.setenv("MINARI_DATASETS_PATH", str(root))
    names: dict[str, Any] = {}
    exec(BLOCKS[0].replace("5000", "2"), names)
    assert names["learner"].updates == 2 and names["actions"].shape == (24, 2)


@pytest.mark.torch
def test_offline_learners_take_it(recorded: Recording, root: Path) -> None:
    pytest.importorskip("stable_baselines3", reason="Stable-Baselines3 is not installed")
    from granular_gym.recording.learning import demonstrations_of
    from granular_gym.training.offline import OfflineSettings, env_of, make_learner

    dataset = files.Dataset("lab/pour-v0", root)
    dataset.about["arguments"] |= {"num_threads": 1, "device": "cpu"}  # as older versions kept them
    found = demonstrations_of(dataset)
    assert not {"num_threads", "device"} & found.about["arguments"].keys()
    assert found.returns == pytest.approx([10.0 * value for value in recorded.returns], abs=1e-5)
    assert found.steps["ended"].sum() == 2 and len(found.steps["rewards"]) == 24
    first = dataset.episode(0).fields
    assert np.array_equal(found.steps["following"][:11], first["infos/state_vector"][1:12])
    env = env_of(found)
    learner = make_learner(env, found, 0, OfflineSettings(method="bc", width=16, batch=24))
    env.close()
    states, actions = found.steps["observations"], found.steps["actions"]
    before = np.square(learner.predict(states)[0] - actions).mean()
    learner.learn(100)
    assert np.square(learner.predict(states)[0] - actions).mean() < 0.8 * before


# without Minari ------------------------------------------------------------------------------------------------------


def episode_of(**changed: Any) -> Episode:
    fields = {
        "observations/x": np.arange(8, dtype=np.float32).reshape(4, 2),
        "infos/y": np.array([0.0, np.nan, 1.0, 2.0]),
        "actions": np.zeros((3, 1), np.float32),
        "rewards": np.array([0.0, 1.0, 2.0]),
        "terminations": np.array([False, False, True]),
    }
    return Episode(0, "expert", {**fields, **changed})


def test_where_episodes_differ() -> None:
    assert first_difference(episode_of(), episode_of()) is None, "NaN is NaN"
    other = np.arange(8, dtype=np.float32).reshape(4, 2)
    other[2, 1] += 1.0
    assert first_difference(episode_of(), episode_of(**{"observations/x": other})) == (2, "observations/x")
    signed = np.array([-0.0, 1.0, 2.0])
    assert first_difference(episode_of(), episode_of(rewards=signed)) == (1, "rewards"), "bits, not values"
    assert first_difference(episode_of(), episode_of(rewards=signed[:0])) == (1, "rewards")
    both = episode_of(**{"observations/x": other, "rewards": np.array([0.0, 5.0, 2.0])})
    assert first_difference(episode_of(), both) == (2, "observations/x"), "what is seen before what is paid"
    assert first_difference(episode_of(), episode_of(more=signed)) == (0, "more")
    assert first_difference(episode_of(), episode_of(rewards=np.zeros(3, np.float32))) == (0, "rewards")


def test_names_of_players() -> None:
    assert turns_of("mixed") == ["expert", "noisy", "random"] and turns_of("a:b, random") == ["a:b", "random"]
    assert (
        kind_of("expert", 0.3) == "expert-noise-30"
        and kind_of("runs/one.zip,my.module:make", None) == "one-my-module-make"
    )
