"""Training: features of learners, runs that resume bit for bit, errors of disks and files, checkpoints as policies."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
import zipfile
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest

import granular_gym as gg
from granular_gym.__main__ import main
from granular_gym.training import records

pytestmark = pytest.mark.torch
BULLDOZER, SILO = "granular_gym/Bulldozer-v1", "granular_gym/Silo-v1"
ARGUMENTS = {"grain_count": 40, "num_threads": 1}


@pytest.fixture(autouse=True)
def needs_sb3(request: pytest.FixtureRequest) -> None:
    if "torch" in request.keywords:
        pytest.importorskip("stable_baselines3", reason="Stable-Baselines3 is not installed")


def make_model(algorithm: str) -> Any:
    """A function that makes a tiny model."""
    from stable_baselines3 import PPO, TD3
    from stable_baselines3.common.buffers import NStepReplayBuffer
    from stable_baselines3.common.noise import OrnsteinUhlenbeckActionNoise

    from granular_gym.training.extractor import Perceptron

    small: dict[str, Any] = {"device": "cpu", "policy_kwargs": {"net_arch": [8]}}
    if algorithm == "SAC":
        from granular_gym.training.sac import SAC, SacSettings

        tiny = SacSettings(demonstrations=2, epochs=2, critic_updates=3, warm_up=24, batch=8, width=8, capacity=64)
        return lambda env, seed: SAC(env, seed, tiny)
    if algorithm == "PPO":
        body = {"features_extractor_class": Perceptron, "features_extractor_kwargs": {"width": 8}}
        small["policy_kwargs"] = {"net_arch": [], "share_features_extractor": False, **body}
        return lambda env, seed: PPO("MlpPolicy", env, seed=seed, n_steps=8, batch_size=8, n_epochs=2, **small)
    noise = OrnsteinUhlenbeckActionNoise(np.zeros(2), np.full(2, 0.3))
    # learning begins in the second half: the first half draws actions from the space's generator
    return lambda env, seed: TD3(
        "MlpPolicy", env, seed=seed, buffer_size=64, learning_starts=24, batch_size=8, action_noise=noise,
        train_freq=(1, "step"), gradient_steps=2, replay_buffer_class=NStepReplayBuffer,
        replay_buffer_kwargs={"n_steps": 2}, **small,
    )  # fmt: skip


def begin(folder: Path, algorithm: str, task: str = BULLDOZER) -> Any:
    """A run of two envs whose episodes last 30 env steps."""
    from granular_gym.training.run import Run, Settings

    settings = Settings(task, {**ARGUMENTS, "max_episode_steps": 30}, 2, 4, "change", 0.5, seed=3, chunk=16)
    return Run.begin(folder, settings, make_model(algorithm))


def weights(run: Any) -> bytes:
    """All parameters of the model: networks and optimisers."""
    import torch

    numbers: list[Any] = []

    def collect(value: Any) -> None:
        if isinstance(value, torch.Tensor):
            numbers.append(value.detach().numpy().tobytes())
        elif isinstance(value, dict):
            for part in value.values():
                collect(part)
        elif isinstance(value, (list, tuple)):
            for part in value:
                collect(part)

    collect(run.model.get_parameters())
    return b"".join(numbers)


def timeless(path: Path) -> list[dict[str, float]]:
    """The rows of a CSV without the wall clock."""
    return [{name: value for name, value in row.items() if name != "seconds"} for row in records.read_episodes(path)]


@pytest.mark.parametrize("algorithm", ["PPO", "TD3", "SAC"])
def test_a_resumed_run_is_the_uninterrupted_one(algorithm: str, tmp_path: Path) -> None:
    from granular_gym.training.run import Run

    half, whole = (150, 300) if algorithm != "SAC" else (250, 400)  # demonstrations are steps, too
    straight = begin(tmp_path / "straight", algorithm)
    straight.train(env_steps=whole)
    first = begin(tmp_path / "halves", algorithm)
    first.train(env_steps=half)
    halfway, rows = weights(first), len(first.episodes)
    first.close()
    second = Run.resume(tmp_path / "halves")
    assert weights(second) == halfway
    second.train(env_steps=whole)
    assert second.env_steps == straight.env_steps >= whole
    assert weights(second) == weights(straight) != halfway
    lines = timeless(tmp_path / "halves" / records.EPISODES)
    assert lines == timeless(tmp_path / "straight" / records.EPISODES) and 0 < rows < len(lines)
    one, two = straight.model.env.batch.task, second.model.env.batch.task
    assert one.world.positions.tobytes() == two.world.positions.tobytes()
    if algorithm == "TD3":
        for name in ("observations", "actions", "rewards", "dones", "timeouts"):
            assert (getattr(straight.model.replay_buffer, name) == getattr(second.model.replay_buffer, name)).all()
    for run in (straight, second):
        run.close()


def test_rows_after_the_checkpoint_are_written_again(tmp_path: Path) -> None:
    """A run that was killed after its checkpoint: the CSV goes back to the checkpoint, then gets the same rows."""
    from granular_gym.training.run import Run

    run = begin(tmp_path, "PPO")
    run.train(env_steps=60)
    kept = (tmp_path / "checkpoint.zip").read_bytes()
    run.train(env_steps=180)
    lines = timeless(tmp_path / records.EPISODES)
    run.close()
    (tmp_path / "checkpoint.zip").write_bytes(kept)
    again = Run.resume(tmp_path)
    assert len(timeless(tmp_path / records.EPISODES)) < len(lines)
    again.train(env_steps=180)
    assert timeless(tmp_path / records.EPISODES) == lines
    again.close()


@pytest.mark.parametrize("damage", ["cut", "flipped", "empty", "foreign", "version"])
def test_a_damaged_checkpoint_is_refused(damage: str, tmp_path: Path) -> None:
    from granular_gym.training.run import Run

    run = begin(tmp_path, "PPO")
    run.train(env_steps=0)
    run.train(env_steps=60)
    run.close()
    path = tmp_path / "checkpoint.zip"
    data = bytearray(path.read_bytes())
    if damage == "cut":
        del data[len(data) // 2 :]
    elif damage == "flipped":
        # within the largest member: the zip's directory stays valid
        data[len(data) // 2] ^= 0xFF
    elif damage == "empty":
        data.clear()
    elif damage == "foreign":
        data[:] = b"weights"
    if damage == "version":
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("about.json", json.dumps({"version": 99}))
    else:
        path.write_bytes(data)
    with pytest.raises(gg.StateError, match=r"checkpoint\.zip: expected .*resume from .*previous\.zip"):
        Run.resume(tmp_path)
    again = Run.resume(tmp_path / "previous.zip")
    assert again.env_steps == 0
    again.close()


def test_no_checkpoint_is_said(tmp_path: Path) -> None:
    from granular_gym.training.run import Run

    with pytest.raises(gg.StateError, match="there is no such file"):
        Run.resume(tmp_path)
    run = begin(tmp_path, "PPO")
    run.train(env_steps=0)
    run.close()
    # as a crash between the two renames of a save leaves it
    (tmp_path / "checkpoint.zip").rename(tmp_path / "previous.zip")
    with pytest.raises(gg.StateError, match=r"there is no such file; .* resume from .*previous\.zip"):
        Run.resume(tmp_path)
    with pytest.raises(gg.StateError, match="expected a folder without a run"):
        begin(tmp_path, "PPO")


def test_a_folder_with_another_run_is_not_resumed_into(tmp_path: Path) -> None:
    from granular_gym.training.run import Run

    for name in ("one", "two"):
        run = begin(tmp_path / name, "PPO")
        run.train(env_steps=0)
        run.close()
    before = {path: path.read_bytes() for path in (tmp_path / "two").iterdir() if path.is_file()}
    with pytest.raises(gg.StateError, match="two: expected a folder without a run"):
        Run.resume(tmp_path / "one", tmp_path / "two")
    assert {path: path.read_bytes() for path in (tmp_path / "two").iterdir() if path.is_file()} == before
    own = tmp_path / "two" / ".." / "one"
    for path, folder in ((tmp_path / "one", own), (tmp_path / "one" / "checkpoint.zip", tmp_path / "three")):
        Run.resume(path, folder).close()
    assert (tmp_path / "three" / records.EPISODES).exists()


@pytest.mark.parametrize("name", ["envs", "repeat", "chunk"])
def test_settings_that_would_never_end_are_refused(name: str) -> None:
    from granular_gym.training.run import Settings

    with pytest.raises(gg.ArgumentError, match=f"{name}: expected an integer >= 1, got 0"):
        Settings(BULLDOZER, **{name: 0})


FULL_DISK = """
import resource, sys
sys.path.insert(0, {tests!r})
from pathlib import Path
from test_training import begin
from granular_gym.training import records
folder = Path({folder!r})
run = begin(folder, {algorithm!r})
run.train(env_steps=300)
rows = len(run.episodes)
# no file may grow beyond the limit: a write fails half way
for limit, write in ((2000, run.save), (60, lambda: records.write_episodes(folder, run.episodes))):
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, resource.RLIM_INFINITY))
    try:
        write()
    except OSError as error:
        print("failed:", error.strerror)
print("rows:", rows)
"""


@pytest.mark.parametrize("algorithm", ["PPO", "SAC"])
def test_writes_that_fail_half_way_lose_nothing(algorithm: str, tmp_path: Path) -> None:
    """Failing writes, by a limit on the size of files, of a checkpoint and of the CSV."""
    from granular_gym.training import checkpoint

    code = FULL_DISK.format(tests=str(Path(__file__).parent), folder=str(tmp_path), algorithm=algorithm)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=300)
    assert done.stdout.count("failed: File too large") == 2, done.stderr
    assert checkpoint.read_about(tmp_path)["env_steps"] >= 300
    rows = int(done.stdout.rpartition(":")[2])
    assert len(records.read_episodes(tmp_path / records.EPISODES)) == rows > 0
    left = {path.name for path in tmp_path.iterdir()}
    assert left == {"checkpoint.zip", "episodes.csv", "tensorboard"}, "no remains of the failed writes"


def script(name: str) -> Any:
    """An example as a module."""
    import importlib.util

    path = Path(__file__).parents[2] / "examples" / f"{name}.py"
    if not path.exists():
        pytest.skip("the examples are not here")
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


SHORT = {
    "train_ppo": ["--rollout", "8", "--batch", "8", "--width", "8"],
    "train_td3": ["--chunk", "16", "--batch", "8", "--warm-up", "8", "--hidden", "8", "--buffer", "100"],
}


@pytest.mark.parametrize("name", sorted(SHORT))
def test_scripts_train_evaluate_resume_and_play(name: str, tmp_path: Path, capsys: Any) -> None:
    from granular_gym.training.command import main as train

    module, folder = script(name), tmp_path / "run"
    chunk = {"train_ppo": lambda args: 16, "train_td3": lambda args: args.chunk}[name]
    parts = (module.parser(), name[6:].upper(), chunk, module.make_model)
    small = ["--grains", "40", "--envs", "2", "--arg", "max_episode_steps=30", "--out", str(folder)]
    assert train(*parts, ["Bulldozer-v1", "--steps", "60", "--episodes", "2", *small, *SHORT[name]]) == 0
    report = json.loads((folder / "report.json").read_text())
    assert set(report["evaluation"]) == {"learned", "random", "expert"} and report["env_steps"] >= 60
    assert (folder / "plot.png").read_bytes()[:4] == b"\x89PNG"
    assert any((folder / "tensorboard").iterdir())
    assert train(*parts, ["--resume", str(folder), "--steps", "120", "--evaluate"]) == 0
    assert json.loads((folder / "report.json").read_text())["env_steps"] >= 120
    played = ["--policy", str(folder / "checkpoint.zip"), "--steps", "3", "--no-film", "--out", str(tmp_path / "film")]
    assert main(["play", "Bulldozer-v1", *played]) == 0
    assert json.loads((tmp_path / "film" / "report.json").read_text())["arguments"]["grain_count"] == 40
    capsys.readouterr()
    (folder / "checkpoint.zip").write_bytes(b"no")
    assert main(["play", "Bulldozer-v1", *played]) == 2
    assert train(*parts, ["--resume", str(folder)]) == 2
    errors = capsys.readouterr().err
    assert errors.count("expected a whole checkpoint") == 2


def test_options_beside_a_resumed_run(tmp_path: Path, capsys: Any) -> None:
    """Those that agree with it may be given, others are refused, and the run stays as it was."""
    from granular_gym.training.command import main as train

    module, folder = script("train_ppo"), tmp_path / "run"
    parts = (module.parser(), "PPO", lambda args: args.rollout * args.envs, module.make_model)
    words = ["Silo-v1", "--grains", "40", "--envs", "2", "--arg", "max_episode_steps=30", "--evaluate"]
    words += [*SHORT["train_ppo"], "--steps", "0"]
    assert train(*parts, [*words, "--out", str(folder)]) == 0
    resumed = ["--resume", str(folder), "--evaluate", "--steps", "0"]
    assert train(*parts, resumed) == 0 and train(*parts, [*words, "--resume", str(folder)]) == 0
    before = (folder / "checkpoint.zip").read_bytes()
    capsys.readouterr()
    for more, said in (
        (["Bulldozer-v1"], "task: expected 'granular_gym/Silo-v1', which the resumed run has, got 'granular_gym/Bull"),
        (["--envs", "32"], "envs: expected 2, which"),
        (["--seed", "1"], "seed: expected 0, which"),
        (["--grains", "41"], "grains: expected 40, which"),
        (["--arg", "max_episode_steps=31"], "arg max_episode_steps: expected 30, which"),
        (["--arg", "difficulty=easy"], "arg difficulty: expected none for a run that is resumed, got 'easy'"),
        (["--gamma", "0.5"], "gamma: expected 0.98, which"),
        (["--log-std", "-1"], "log-std: expected none for a run that is resumed, got -1.0"),
    ):
        assert train(*parts, [*more, *resumed]) == 2
        assert said in capsys.readouterr().err
    assert (folder / "checkpoint.zip").read_bytes() == before


@pytest.mark.parametrize("words, said", [
    (["--episodes", "-1"], "episodes: expected an integer >= 0, got -1"),
    (["--gamma", "3"], "gamma: expected"),
    (["--envs", "1", "--rollout", "1"], "rollout: expected an integer >= 2, got 1"),
    (["--batch", "1"], "batch: expected an integer >= 2, got 1"),
    (["--rollout", "0"], "chunk: expected an integer >= 1, got 0"),
])  # fmt: skip
def test_what_a_script_refuses_before_it_trains(words: list[str], said: str, tmp_path: Path, capsys: Any) -> None:
    from granular_gym.training.command import main as train

    module, folder = script("train_ppo"), tmp_path / "run"
    parts = (module.parser(), "PPO", lambda args: args.rollout * args.envs, module.make_model)
    few = ["Silo-v1", "--grains", "40", "--envs", "2", "--steps", "0", "--evaluate", "--out", str(folder)]
    assert train(*parts, [*few, *words]) == 2
    assert said in capsys.readouterr().err and not folder.exists()


@pytest.mark.parametrize("saved", [False, True])
def test_ctrl_c_says_whether_there_is_a_checkpoint(saved: bool, tmp_path: Path, monkeypatch: Any, capsys: Any) -> None:
    from granular_gym.training import command

    def interrupted(run: Any, *_: Any) -> None:
        if saved:
            run.save()
        raise KeyboardInterrupt

    monkeypatch.setattr(command, "train_with_bar", interrupted)
    module, folder = script("train_ppo"), tmp_path / "run"
    parts = (module.parser(), "PPO", lambda args: 16, module.make_model)
    words = ["Silo-v1", "--grains", "40", "--envs", "2", "--out", str(folder), *SHORT["train_ppo"]]
    assert command.main(*parts, words) == 130
    said = capsys.readouterr().err
    assert (f"go on with --resume {folder}" in said) == saved and ("no checkpoint was written yet" in said) != saved


def test_a_disk_that_fills_up_while_training_is_said(tmp_path: Path, monkeypatch: Any, capsys: Any) -> None:
    from granular_gym.training import command

    module, folder = script("train_ppo"), tmp_path / "run"
    parts = (module.parser(), "PPO", lambda args: 16, module.make_model)
    words = ["--steps", "300", "--grains", "40", "--envs", "2", "--arg", "max_episode_steps=30", "--evaluate"]
    fsync, calls = os.fsync, []

    def full(handle: int) -> None:
        calls.append(handle)
        if len(calls) > 5:
            raise OSError(28, "No space left on device")
        fsync(handle)

    monkeypatch.setattr(os, "fsync", full)
    assert command.main(*parts, [*words, "--save-every", "0", "--out", str(folder), *SHORT["train_ppo"]]) == 1
    said = capsys.readouterr().err
    assert "No space left on device" in said and "is whole" in said and f"--resume {folder}" in said
    monkeypatch.undo()
    assert command.main(*parts, ["--resume", str(folder), "--steps", "300", "--evaluate"]) == 0


def test_a_killed_learner_goes_on_from_its_checkpoint(tmp_path: Path) -> None:
    """SAC, killed in the middle of its work; what it wrote is whole."""
    from granular_gym.training import checkpoint

    path = Path(__file__).parents[2] / "examples" / "train_sac.py"
    if not path.exists():
        pytest.skip("the examples are not here")
    folder = tmp_path / "run"
    words = ["Bulldozer-v1", "--grains", "40", "--envs", "2", "--arg", "max_episode_steps=30", "--out", str(folder)]
    tiny = {"demonstrations": 2, "epochs": 1, "critic-updates": 3, "warm-up": 8, "batch": 8, "width": 8, "chunk": 16}
    words += [word for name, value in tiny.items() for word in (f"--{name}", str(value))]
    endless = subprocess.Popen(
        [sys.executable, str(path), *words, "--minutes", "60", "--save-every", "0", "--evaluate"],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        deadline = time.monotonic() + 120.0
        while not (folder / "previous.zip").exists() and endless.poll() is None and time.monotonic() < deadline:
            time.sleep(0.05)
        assert endless.poll() is None and (folder / "previous.zip").exists()
    finally:
        endless.kill()
        endless.wait()
    kept = checkpoint.read_about(folder)["env_steps"]
    again = ["--resume", str(folder), "--steps", str(kept + 200), "--evaluate"]
    done = subprocess.run([sys.executable, str(path), *again], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0 and f"resumed after {kept:,} env steps" in done.stdout, done.stderr
    assert checkpoint.read_about(folder)["env_steps"] >= kept + 200 > 200


def test_rewards_and_returns_of_a_learner() -> None:
    from granular_gym.training.batch import make_batch
    from granular_gym.training.learner_env import LearnerEnv

    arguments = {**ARGUMENTS, "max_episode_steps": 10}
    with pytest.raises(gg.ArgumentError, match="argument: expected none named depth, which is 'uint8' for learners"):
        make_batch(BULLDOZER, 2, {**arguments, "depth": "float32"})
    plain = make_batch(BULLDOZER, 2, arguments)
    plain.reset(seed=[7, 8])
    actions = np.array([[0.5, 0.2], [-1.0, 0.0]], np.float32)
    rewards = np.stack([plain.step(actions)[1] for _ in range(10)])
    for kind in ("sum", "change"):
        env = LearnerEnv(make_batch(BULLDOZER, 2, arguments), repeat=4, reward=kind, scale=2.0)
        env.seed(7)
        assert env.reset().shape == (2, *env.observation_space.shape)
        paid = []
        for _ in range(3):  # 4, 4 and the 2 steps that are left
            features, reward, dones, infos = env.step(actions)
            paid.append(reward)
        assert dones.all() and np.isfinite(features).all()
        expected = rewards[-1] - rewards[0] if kind == "change" else rewards.sum(axis=0)
        assert np.allclose(np.sum(paid, axis=0), 2.0 * expected, rtol=1e-5, atol=1e-5)
        for index, info in enumerate(infos):
            assert info["episode"]["l"] == 10
            assert info["episode"]["r"] == pytest.approx(rewards[:, index].sum(), rel=1e-6)
            assert info["terminal_observation"].shape == env.observation_space.shape
        env.close()
    plain.close()


def test_what_the_bulldozer_s_learner_sees_is_where_the_grains_are() -> None:
    from granular_gym.training.batch import make_batch
    from granular_gym.training.features import features_of

    batch = make_batch(BULLDOZER, 4, {"grain_count": 300, "num_threads": 1})
    observations, infos = batch.reset(seed=2)
    seen = features_of(BULLDOZER, batch.single_observation_space)(observations, [{}] * 4)
    # of v0, whose goal is in the infos only, a learner sees the same
    old = make_batch("granular_gym/Bulldozer-v0", 4, {"grain_count": 300, "num_threads": 1})
    goals = [{"goal": goal} for goal in infos["goal"]]
    of_old = features_of("granular_gym/Bulldozer-v0", old.single_observation_space)(old.reset(seed=2)[0], goals)
    assert np.array_equal(seen, of_old)
    old.close()
    for env in range(4):
        x, y, yaw = batch.task.pose[env]
        middle = batch.task.world.positions[env][:, :2].mean(axis=0) - (x, y)
        turn = np.array([[np.cos(yaw), np.sin(yaw)], [-np.sin(yaw), np.cos(yaw)]])
        assert 4.0 * seen[env, :2] == pytest.approx(turn @ middle, abs=0.06)
        goal = 0.5 * (infos["goal"][env][:2] + infos["goal"][env][3:5]) - (x, y)
        assert 4.0 * seen[env, 2:4] == pytest.approx(turn @ goal, abs=1e-4)
    batch.close()


def test_every_task_has_features() -> None:
    from env_helpers import TASK_IDS, small

    from granular_gym.training.features import features_of

    for name in TASK_IDS:
        env = gym.make(name, depth="uint8", **small(name))
        assert features_of(name, env.observation_space).size > 3
        env.close()


def test_running_mean() -> None:
    assert records.running_mean([1.0, 2.0, 3.0, 4.0], 2).tolist() == [1.0, 1.5, 2.5, 3.5]
    assert records.running_mean([], 2).tolist() == []


def test_the_command_of_a_report_says_what_was_trained() -> None:
    from granular_gym.training.command import without_out

    words = ["Silo-v1", "--out", "here", "--seed", "3"]
    assert without_out(words) == ["Silo-v1", "--seed", "3"]
    assert without_out(["--out=here", "Silo-v1"]) == ["Silo-v1"]
    assert without_out(["Silo-v1", "--seed", "3"]) == ["Silo-v1", "--seed", "3"]


def test_sac_that_only_clones(tmp_path: Path) -> None:
    """With value_weight 0 the critics stay as they are and the actor learns; without demonstrations it is refused."""
    from granular_gym.errors import ArgumentError
    from granular_gym.training.run import Run, Settings
    from granular_gym.training.sac import SAC, SacSettings

    tiny = {"demonstrations": 2, "epochs": 1, "critic_updates": 3, "warm_up": 8, "batch": 8, "width": 8, "capacity": 64}
    settings = Settings(BULLDOZER, {**ARGUMENTS, "max_episode_steps": 30}, 2, 4, "change", 0.5, seed=3, chunk=16)

    def make(env: Any, seed: int) -> Any:
        return SAC(env, seed, SacSettings(**tiny, value_weight=0.0))

    def weights(run: Any, name: str) -> list[Any]:
        return [value.clone() for value in getattr(run.model, name).parameters()]

    run = Run.begin(tmp_path / "run", settings, make)
    before = {name: weights(run, name) for name in ("actor", "critics", "targets")}
    run.train(env_steps=200)
    moved = {
        name: any(not bool((a == b).all()) for a, b in zip(before[name], weights(run, name), strict=True))
        for name in before
    }
    assert moved == {"actor": True, "critics": False, "targets": False}
    with pytest.raises(ArgumentError, match="demonstrations: expected some where value_weight is 0"):
        SAC(run.model.env, 0, SacSettings(**{**tiny, "demonstrations": 0}, value_weight=0.0))
    run.close()
    with pytest.raises(ArgumentError, match="clone_weight: expected more than 0"):
        SacSettings(clone_weight=0.0, value_weight=0.0)


class Silent:
    """A logger and a callback that do nothing."""

    def __getattr__(self, name: str) -> Any:
        return lambda *_: None


@pytest.mark.parametrize("given", [
    {"demonstrations": 0, "warm_up": 0},  # nothing to learn from in the first decision
    {"demonstrations": 2, "warm_up": 0},
    {"demonstrations": 2, "warm_up": 24, "capacity": 10},  # steps beyond the capacity count as well
])  # fmt: skip
def test_sac_learns_from_its_own_experience(given: dict[str, int], monkeypatch: pytest.MonkeyPatch) -> None:
    from granular_gym.training.batch import make_batch
    from granular_gym.training.learner_env import LearnerEnv
    from granular_gym.training.replay import Replay
    from granular_gym.training.sac import SAC, SacSettings

    arguments = {**ARGUMENTS, "max_episode_steps": 30, "observation": "state", "frame_skip": 2}
    env = LearnerEnv(make_batch(SILO, 3, arguments), scale=10.0)
    tiny = {"epochs": 1, "critic_updates": 1, "batch": 8, "width": 8, "capacity": 64, **given}
    model = SAC(env, 0, SacSettings(**tiny))
    model.set_logger(Silent())
    drawn: list[int] = []
    sample = Replay.sample

    def noted(self: Replay, draw: Any, count: int) -> Any:
        if self is model.replay_buffer.own:
            drawn.append(model.num_timesteps)
        return sample(self, draw, count)

    monkeypatch.setattr(Replay, "sample", noted)
    model.learn(36, Silent())
    assert model.num_timesteps == 36 and min(drawn) == max(given["warm_up"], 3) and max(drawn) == 33
    env.close()


@pytest.mark.parametrize("name, value", [("rate", 5.0), ("discount", 2.0), ("learning_rate", 1.5)])
def test_settings_of_sac_beyond_what_makes_sense(name: str, value: float) -> None:
    from granular_gym.training.sac import SacSettings

    with pytest.raises(gg.ArgumentError, match=f"{name}: expected"):
        SacSettings(**{name: value})


def test_settings_of_sac_come_from_the_recipe(monkeypatch: pytest.MonkeyPatch) -> None:
    from granular_gym.errors import ArgumentError
    from granular_gym.tasks.recipe import Recipe
    from granular_gym.tasks.registry import task_ids
    from granular_gym.training import sac

    changed = [task for task in task_ids() if sac.SacSettings.of(task) != sac.SacSettings()]
    assert changed == ["granular_gym/Excavator-v1"]
    settings = sac.SacSettings.of(changed[0], width=32)
    assert (settings.width, settings.value_weight) == (32, 0.0), "what is given comes before the recipe"
    monkeypatch.setattr(sac, "recipe_of", lambda task: Recipe(sac={"widht": 32}))
    with pytest.raises(ArgumentError, match="sac: expected settings of SAC .*, got 'widht'"):
        sac.SacSettings.of(BULLDOZER)
