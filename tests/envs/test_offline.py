"""Datasets by one command, and learners from a dataset alone."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from test_demonstrations import filled

import granular_gym as gg
from granular_gym.__main__ import main
from granular_gym.tasks.state_vector import Entry, StateVector
from granular_gym.training.datasets import KINDS, Request, write_dataset

BULLDOZER = "granular_gym/Bulldozer-v1"
#: episodes of 12 decisions with few grains
SMALL = {"grain_count": 40, "max_episode_steps": 12}
WORDS = [word for name, value in SMALL.items() for word in ("--arg", f"{name}={value}")]
torch_test = pytest.mark.torch


@pytest.fixture(autouse=True)
def needs_torch(request: pytest.FixtureRequest) -> None:
    if "torch" in request.keywords:
        pytest.importorskip("stable_baselines3", reason="Stable-Baselines3 is not installed")


def test_whole_episodes_of_a_replay() -> None:
    """Those that run, that the ring has overwritten in part, or that diverged are left out."""
    replay, steps = filled(40, 64, broken=11)
    episodes = replay.episodes()
    spans = [(int(each["observations"][0, 0]), int(each["observations"][-1, 0])) for each in episodes]
    assert spans == [(0, 6), (12, 18), (19, 23), (24, 30), (31, 35)]
    for (first, last), each in zip(spans, episodes, strict=True):
        assert each["following"][:, 0].tolist() == [*range(first + 1, last + 1), last + 0.5]
        assert each["ended"].tolist() == [False] * (last - first) + [True] and not each["diverged"].any()
        assert each["rewards"].tolist() == [step["reward"] for step in steps[first : last + 1]]
        assert each["terminated"][-1] == steps[last]["terminated"]
    assert [int(each["observations"][0, 0]) for each in filled(40, 16)[0].episodes()] == [31]


@pytest.fixture(scope="module")
def sac_run(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[float]]:
    """Folder of a short run of SAC whose replay buffer has wrapped round, and the returns of its episodes."""
    pytest.importorskip("stable_baselines3", reason="Stable-Baselines3 is not installed")
    from granular_gym.training.run import Run, Settings
    from granular_gym.training.sac import SAC, SacSettings

    tiny = SacSettings(demonstrations=2, epochs=1, critic_updates=1, warm_up=8, batch=8, width=8, capacity=64)
    arguments = {**SMALL, "num_threads": 1, "device": "cpu", "observation": "state", "frame_skip": 5}
    settings = Settings(BULLDOZER, arguments, 2, 1, "sum", 10.0, seed=3, chunk=16)
    folder = tmp_path_factory.mktemp("runs") / "sac"
    run = Run.begin(folder, settings, lambda env, seed: SAC(env, seed, tiny))
    run.train(env_steps=700)
    run.close()
    return folder, [row["return"] for row in run.episodes]


@torch_test
@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "replay"])
def test_the_command_plays_what_it_says(kind: str, tmp_path: Path, capsys: Any) -> None:
    from granular_gym.training import demonstrations

    path = tmp_path / "file.npz"
    words = ["dataset", "Bulldozer-v1", "--kind", kind, "--episodes", "3", "--seed", "5", *WORDS, "--out"]
    assert main([*words, str(path)]) == 0
    said = capsys.readouterr().out
    dataset = demonstrations.load(path)
    about, steps = dataset.about, dataset.steps
    assert about["kind"] == kind and about["seed"] == 5 and about["episodes"] == 3 == len(dataset.returns)
    assert f"kind {kind}" in said and f"mean return {about['mean_return']:.4g}" in said
    assert about["mean_return"] == pytest.approx(steps["rewards"].sum() / 3 / about["scale"], rel=1e-4)
    assert {"granular_gym", "numpy", "torch"} <= about["versions"].keys()
    assert about["observation"] == "state" and about["frame_skip"] == 5 and about["arguments"]["grain_count"] == 40
    assert len(steps["rewards"]) == 36 and steps["ended"].sum() == 3
    assert np.array_equal(steps["labels"], steps["actions"]), "what is learned from was played"
    assert ("disturbance" in about) == (kind == "noisy")
    assert main([*words, str(tmp_path / "again.npz")]) == 0
    again = demonstrations.load(tmp_path / "again.npz")
    assert all(np.array_equal(again.steps[name], steps[name]) for name in steps)


@torch_test
def test_kinds_differ_by_their_actions() -> None:
    from granular_gym.training.datasets import make_dataset

    steps = {
        kind: make_dataset(Request("Bulldozer-v1", kind, 2, arguments=SMALL)).steps
        for kind in ("expert", "noisy", "random")
    }
    first = {kind: values["actions"][0] for kind, values in steps.items()}
    # the same first scene, seen alike
    assert all(
        np.array_equal(values["observations"][0], steps["expert"]["observations"][0]) for values in steps.values()
    )
    assert not np.array_equal(first["expert"], first["noisy"]) and not np.array_equal(first["expert"], first["random"])
    assert np.abs(first["noisy"] - first["expert"]).max() < 1.5
    still = make_dataset(Request("Bulldozer-v1", "noisy", 2, disturbance=0.0, arguments=SMALL)).steps
    assert all(np.array_equal(still[name], steps["expert"][name]) for name in still)


@torch_test
def test_the_replay_of_a_run(sac_run: tuple[Path, list[float]], tmp_path: Path) -> None:
    from granular_gym.training import demonstrations

    folder, returns = sac_run
    path = tmp_path / "replay.npz"
    assert main(["dataset", "Bulldozer-v1", "--kind", "replay", "--run", str(folder), "--out", str(path)]) == 0
    dataset = demonstrations.load(path)
    count = len(dataset.returns)
    assert 0 < count < len(returns), "the ring keeps some of them"
    # rewards are kept in single precision
    assert dataset.returns / dataset.about["scale"] == pytest.approx(returns[-count:], abs=1e-5)
    assert dataset.about["seed"] == 3 and dataset.about["run"]["env_steps"] >= 700
    words = ["dataset", "Bulldozer-v1", "--kind", "replay", "--run", str(folder), "--episodes"]
    assert main([*words, "1", "--out", str(path)]) == 0
    assert demonstrations.load(path).returns.tolist() == dataset.returns[-1:].tolist()
    with pytest.raises(gg.ArgumentError, match=f"episodes: expected at most {count}.*, got 99"):
        write_dataset(Request("Bulldozer-v1", "replay", 99, run=folder), path)
    with pytest.raises(gg.ArgumentError, match="run: expected one of granular_gym/Silo-v1, got one of .*Bulldozer"):
        write_dataset(Request("Silo-v1", "replay", run=folder), path)
    with pytest.raises(gg.StateError, match="there is no such file"):
        write_dataset(Request("Bulldozer-v1", "replay", run=tmp_path), path)


@pytest.mark.parametrize("given, message", [
    ({"kind": "best"}, "kind: expected"),
    ({"task": "Nothing-v1"}, "Nothing"),
    ({"episodes": 0}, "episodes: expected an integer >= 1, got 0"),
    ({"seed": -1}, "seed: expected an integer >= 0, got -1"),
    ({"disturbance": 0.5}, "disturbance: expected none for a dataset of kind 'expert', got '0.5'"),
    ({"run": Path("folder")}, "run: expected none"),
    ({"kind": "noisy", "disturbance": -0.5}, "disturbance: expected"),
    ({"kind": "replay"}, "run: expected the folder of a run"),
    ({"kind": "replay", "run": Path("folder"), "seed": 1}, "seed: expected none"),
])  # fmt: skip
def test_requests_that_are_refused(given: dict[str, Any], message: str) -> None:
    with pytest.raises(gg.ArgumentError, match=message):
        Request(**{"task": "Bulldozer-v1", "kind": "expert", **given})


def test_a_file_that_cannot_be_written_is_refused_before_anything_is_played(tmp_path: Path, capsys: Any) -> None:
    for path in (tmp_path, tmp_path / "none" / "file.npz"):
        assert main(["dataset", "Bulldozer-v1", "--kind", "expert", "--out", str(path)]) == 2
        assert (
            f"out: expected a file in a folder that exists and can be written to, got '{path}'"
            in capsys.readouterr().err
        )
    assert not any(tmp_path.iterdir())


def toy(expert: bool) -> tuple[Any, Any, np.ndarray]:
    """An env of one decision per episode whose best action is .6 of the first number seen, a dataset of it, in which
    the best actions were played or such as are drawn evenly, and the best actions."""
    from granular_gym.training.demonstrations import Demonstrations

    draw, count = np.random.default_rng(0), 800
    seen = draw.uniform(-1.0, 1.0, (count, 3)).astype(np.float32)
    best = 0.6 * seen[:, :1]
    actions = best if expert else draw.uniform(-1.0, 1.0, (count, 1)).astype(np.float32)
    rewards = (1.0 - (actions - best)[:, 0] ** 2).astype(np.float32)
    yes, no = np.ones(count, bool), np.zeros(count, bool)
    steps = {"observations": seen, "actions": actions, "labels": actions, "rewards": rewards, "following": seen}
    about = {"task": "toy", "frame_skip": 1, "repeat": 1}
    env = SimpleNamespace(about=about, state_vector=StateVector([Entry("seen", "", (1, 1, 1))]))
    return env, Demonstrations(about, {**steps, "terminated": yes, "ended": yes, "diverged": no}, rewards), best


def learner(method: str, seed: int = 0, expert: bool = False, **changes: Any) -> tuple[Any, Any]:
    """A small learner of the toy, and a function that gives its mean squared distance from the best actions."""
    from granular_gym.training.offline import OfflineSettings, make_learner

    env, dataset, best = toy(expert)
    settings = OfflineSettings(method, **{"batch": 64, "width": 16, "learning_rate": 3e-3, "rate": 0.05, **changes})
    made = make_learner(env, dataset, seed, settings)
    return made, lambda: float(np.mean((made.predict(dataset.steps["observations"])[0] - best) ** 2))


@torch_test
@pytest.mark.parametrize("method", ["bc", "iql", "td3bc"])
def test_each_method_learns_the_best_actions(method: str) -> None:
    """Cloning from the best actions, the others from random ones: to clone their mean, 0, is an error of .12."""
    made, error = learner(method, expert=method == "bc")
    before = error()
    made.learn(500)
    assert made.updates == 500 and error() < min(0.04, 0.3 * before)


@torch_test
def test_cloning_random_actions_learns_nothing_and_weights_do() -> None:
    """What IQL gains is due to the weights of actions: without them it clones the mean of all."""
    errors = {}
    for name, value in (("weighed", 3.0), ("alike", 0.0)):
        made, error = learner("iql", inverse_temperature=value)
        made.learn(500)
        errors[name] = error()
    assert errors["weighed"] < 0.4 * errors["alike"]


@torch_test
@pytest.mark.parametrize("method", ["bc", "iql", "td3bc"])
def test_the_same_seed_gives_the_same_weights(method: str) -> None:
    def weights(seed: int, *parts: int) -> bytes:
        made, _ = learner(method, seed)
        for updates in parts:
            made.learn(updates)
        return b"".join(value.detach().numpy().tobytes() for value in made.actor.parameters())

    assert weights(1, 30) == weights(1, 10, 20) != weights(2, 30)


@torch_test
@pytest.mark.parametrize("method", ["bc", "iql", "td3bc"])
def test_what_else_draws_changes_no_weights(method: str) -> None:
    """Two learners of a process that learn in turn, one of which is made late, learn what they would alone."""
    import torch

    def weights(made: Any) -> bytes:
        return b"".join(value.detach().numpy().tobytes() for value in made.actor.parameters())

    alone, _ = learner(method, 1)
    alone.learn(20)
    before = torch.get_rng_state()
    one, _ = learner(method, 1)
    one.learn(10)
    assert torch.equal(torch.get_rng_state(), before), "the generator of the process stands where it stood"
    other, _ = learner(method, 1)
    for _ in range(2):
        one.learn(5)
        other.learn(10)
    assert weights(one) == weights(other) == weights(alone)


@torch_test
@pytest.mark.parametrize("name, value", [
    ("task", "granular_gym/Bulldozer-v0"), ("observation", "images"), ("features", 7), ("repeat", 3), ("frame_skip", 4),
    ("scale", 1.0), ("preset", "accurate"),
])  # fmt: skip
def test_a_dataset_of_another_env_is_refused(name: str, value: Any) -> None:
    from granular_gym.training.demonstrations import Demonstrations
    from granular_gym.training.offline import OfflineSettings, make_learner

    env, dataset, _ = toy(False)
    env.about = {**env.about, "observation": "state", "features": 3, "scale": 10.0, "preset": "fast"}
    other = Demonstrations({**env.about, name: value}, dataset.steps, dataset.returns)
    with pytest.raises(gg.ArgumentError, match=f"demonstrations: expected {name} .*, got {value!r}"):
        make_learner(env, other, 0, OfflineSettings())


@torch_test
@pytest.mark.parametrize("given", [
    {"method": "sac"}, {"batch": 1}, {"learning_rate": 0.0}, {"expectile": 1.5}, {"value_weight": -1.0},
])  # fmt: skip
def test_settings_that_make_no_sense_are_refused(given: dict[str, Any]) -> None:
    from granular_gym.training.offline import OfflineSettings

    with pytest.raises(gg.ArgumentError, match=f"{next(iter(given))}: expected"):
        OfflineSettings(**given)


def script() -> Any:
    path = Path(__file__).parents[2] / "examples" / "train_offline.py"
    if not path.exists():
        pytest.skip("the examples are not here")
    spec = importlib.util.spec_from_file_location("train_offline", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@torch_test
def test_the_script_learns_and_its_policy_plays(tmp_path: Path, capsys: Any) -> None:
    pytest.importorskip("safetensors", reason="safetensors is not installed")
    data, out = tmp_path / "expert.npz", tmp_path / "out"
    write_dataset(Request("Bulldozer-v1", "expert", 2, arguments=SMALL), data)
    words = [str(data), "--method", "td3bc", "--batch", "8", "--width", "8", "--out", str(out)]
    assert script().main([*words, "--updates", "4", "--episodes", "1"]) == 0
    report = json.loads((out / "report.json").read_text())
    assert report["settings"]["method"] == "td3bc" and report["updates"] == 4
    assert report["dataset"]["kind"] == "expert" and "--out" not in report["command"]
    assert {"learned", "random", "expert", "share_of_expert"} <= report["evaluation"].keys()
    played = ["--policy", str(out / "policy.safetensors"), "--steps", "2", "--no-film", "--out", str(tmp_path / "film")]
    assert main(["play", "Bulldozer-v1", *played]) == 0
    assert json.loads((tmp_path / "film" / "report.json").read_text())["arguments"]["grain_count"] == 300
    capsys.readouterr()
    data.write_bytes(data.read_bytes()[:500])
    assert script().main(words) == 2 and "damaged or cut short" in capsys.readouterr().err


@torch_test
def test_no_share_of_an_expert_who_earns_what_random_actions_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    pytest.importorskip("safetensors", reason="safetensors is not installed")
    from granular_gym.training import evaluation, export

    def paid(*_: Any) -> list[dict[str, float]]:
        return [{"seed": 0, "return": 0.5}]

    monkeypatch.setattr(export.evaluation, "evaluate", paid)
    assert np.isnan(evaluation.share_of_expert(0.5, 0.5, 0.5))
    data, out = tmp_path / "expert.npz", tmp_path / "out"
    write_dataset(Request("Bulldozer-v1", "expert", 1, arguments=SMALL), data)
    words = [str(data), "--method", "bc", "--batch", "8", "--width", "8", "--updates", "1", "--out", str(out)]
    assert script().main(words) == 0
    said = capsys.readouterr().out
    assert "nan" not in said and f"policy and report: {out}" in said
    assert "NaN" not in (out / "report.json").read_text()


@torch_test
def test_cards_have_no_arguments_of_the_machine(sac_run: tuple[Path, list[float]], tmp_path: Path) -> None:
    pytest.importorskip("safetensors", reason="safetensors is not installed")
    from granular_gym.training.datasets import make_dataset
    from granular_gym.training.export import export

    card = export(sac_run[0], tmp_path / "one.safetensors", "one", episodes=1)
    assert card["arguments"]["frame_skip"] == 5 and not {"num_threads", "device"} & card["arguments"].keys()

    made = make_dataset(Request("Bulldozer-v1", "random", 1, arguments={**SMALL, "device": "cpu", "num_threads": 2}))
    assert made.about["arguments"]["grain_count"] == 40
    assert not {"num_threads", "device"} & made.about["arguments"].keys()
