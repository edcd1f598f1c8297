"""Policies in files: those of this package earn what their cards say, and files that are wrong are refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest

import granular_gym as gg
from granular_gym.__main__ import main
from granular_gym.tasks.registry import task_class, unversioned
from granular_gym.training.evaluation import evaluate
from granular_gym.training.policies import load_policy, trained_arguments
from granular_gym.training.pretrained import (
    FOLDER,
    Pretrained,
    entries_of,
    is_pretrained,
    load_pretrained,
    pretrained_names,
    read_card,
    table,
    write_pretrained,
)

pytest.importorskip("safetensors", reason="safetensors is not installed")

LEVEL = "granular_gym/Level-v1"
ACTIONS = 4
#: a small env of the task
SMALL = {"observation": "state", "frame_skip": 2, "grain_count": 60, "num_threads": 1}


def made(**changes: Any) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """Card and weights of a small policy of the levelling task, drawn at random."""
    vector = task_class(LEVEL).state_vector
    assert vector is not None
    draw = np.random.default_rng(0)
    sizes = [vector.size, 16, 16, ACTIONS]
    weights = {}
    for k in range(3):
        weights[f"{k}.weight"] = draw.normal(0.0, 0.3, (sizes[k + 1], sizes[k])).astype(np.float32)
        weights[f"{k}.bias"] = draw.normal(0.0, 0.3, sizes[k + 1]).astype(np.float32)
        if k < 2:
            weights[f"{k}.norm.weight"] = draw.uniform(0.5, 1.5, sizes[k + 1]).astype(np.float32)
            weights[f"{k}.norm.bias"] = draw.normal(0.0, 0.3, sizes[k + 1]).astype(np.float32)
    results = {who: {"return": value} for who, value in (("random", 0.0), ("expert", 0.5), ("learned", 0.4))}
    card = {
        "name": "small",
        "task": LEVEL,
        "arguments": SMALL,
        "entries": entries_of(vector),
        "algorithm": "SAC",
        "command": "",
        "seed": 0,
        "env_steps": 0,
        "seconds": 0.0,
        "results": results,
    }
    return {**card, **changes}, weights


@pytest.mark.slow
@pytest.mark.parametrize("name", pretrained_names())
def test_policies_earn_what_their_cards_say(name: str) -> None:
    """On the first episodes of the card: the share of the expert's return within .05, and the file is small."""
    card, results = read_card(name), read_card(name)["results"]
    first, count = results["seeds"][0], 4
    policy = load_pretrained(name)
    rows = evaluate(
        card["task"],
        {**card["arguments"], "num_threads": 2},
        lambda batch, _: policy.policy(batch),
        range(first, first + count),
    )
    scale = results["expert"]["return"] - results["random"]["return"]
    difference = np.mean([row["return"] for row in rows]) - np.mean(results["returns"][:count])
    assert abs(difference / scale) <= 0.05, (rows, results["returns"][:count])
    assert gg.asset_path(f"{FOLDER}/{name}.safetensors").stat().st_size < 1e6


def test_the_page_shows_the_cards() -> None:
    page = Path(__file__).parents[2] / "docs" / "learning.md"
    assert pretrained_names() and table() in page.read_text()


@pytest.mark.parametrize("name", pretrained_names())
def test_reward_thresholds(name: str) -> None:
    """A task is solved where its expert's return is reached, in steps of .05; version 0 has no threshold."""
    card = read_card(name)
    threshold = gym.spec(card["task"]).reward_threshold
    assert threshold is not None and 0.0 <= card["results"]["expert"]["return"] - threshold < 0.05
    assert gym.spec(unversioned(card["task"]) + "-v0").reward_threshold is None


def test_layers() -> None:
    """Against the same layers written out for one state."""
    card, weights = made()
    state = np.random.default_rng(1).uniform(-1.0, 1.0, (5, weights["0.weight"].shape[1])).astype(np.float32)
    actions = Pretrained(card, weights).actions(state)
    for row, action in zip(state, actions, strict=True):
        values = row.astype(np.float64)
        for k in range(3):
            values = weights[f"{k}.weight"].astype(np.float64) @ values + weights[f"{k}.bias"]
            if k < 2:
                values = (values - np.mean(values)) / np.sqrt(np.var(values) + 1e-5)
                values = np.maximum(values * weights[f"{k}.norm.weight"] + weights[f"{k}.norm.bias"], 0.0)
        np.testing.assert_allclose(action, np.tanh(values), rtol=1e-6)


def test_a_file_is_played(tmp_path: Path, capsys: Any) -> None:
    """One env and a batch act alike; `play` tells each return, the share of the expert and success."""
    card, weights = made()
    path = tmp_path / "small.safetensors"
    write_pretrained(path, card, weights)
    assert is_pretrained(str(path)) and read_card(str(path)) == card
    arguments = trained_arguments(LEVEL, str(path))
    assert arguments == {**SMALL, "depth": "uint8"}
    single = gym.make(LEVEL, **arguments)
    batch = gym.make_vec(LEVEL, num_envs=2, **arguments)
    one, both = single.reset(seed=3)[0], batch.reset(seed=[3, 4])[0]
    action = load_policy(str(path), single)(one)
    assert action.shape == single.action_space.shape
    np.testing.assert_array_equal(load_policy(str(path), batch)(both)[0], action)
    single.close()
    batch.close()
    write_pretrained(path, {**card, "arguments": {**SMALL, "max_episode_steps": 3}}, weights)
    words = ["play", "level", "--policy", str(path), "--episodes", "2", "--seed", "5", "--no-film"]
    words += ["--out", str(tmp_path / "out")]
    assert main([*words, "--arg", "num_threads=2"]) == 0
    lines = capsys.readouterr().out.splitlines()
    report = json.loads((tmp_path / "out" / "report.json").read_text())
    assert [row["seed"] for row in report["episodes"]] == [5, 6] and report["steps"] == 6
    assert report["return"] == np.mean([row["return"] for row in report["episodes"]])
    for line, row in zip(lines, report["episodes"], strict=True):
        assert row["share_of_expert"] == pytest.approx(row["return"] / 0.5)
        assert f"{row['share_of_expert']:.0%} of the expert" in line and f"success {row['success']}" in line
    # other episodes than those of the card have no share of what it says
    for other in (["--steps", "3"], ["--arg", "grain_count=50"], ["--arg", "max_episode_steps=2"]):
        assert main([*words, *other]) == 0
        assert "of the expert" not in capsys.readouterr().out
        report = json.loads((tmp_path / "out" / "report.json").read_text())
        assert not any("share_of_expert" in row for row in report["episodes"])


def test_wrong_files(tmp_path: Path, capsys: Any) -> None:
    """Damaged, cut short, of another task, vector, or number of actions: refused, and nothing is written."""
    card, weights = made()
    path = tmp_path / "one.safetensors"
    write_pretrained(path, card, weights)
    data = path.read_bytes()
    for kind, wrong in (("empty", b""), ("short", data[: len(data) // 2]), ("noise", b"\xff" * 400)):
        (tmp_path / f"{kind}.safetensors").write_bytes(wrong)
        with pytest.raises(gg.StateError, match="damaged or cut short"):
            load_pretrained(str(tmp_path / f"{kind}.safetensors"))
    with pytest.raises(gg.StateError, match="no such file"):
        read_card(str(tmp_path / "none.safetensors"))
    with pytest.raises(gg.ArgumentError, match="policy: expected"):
        load_pretrained("nothing")
    write_pretrained(path, {"name": "no card"}, weights)
    with pytest.raises(gg.StateError, match="expected a policy of format"):
        load_pretrained(str(path))
    with pytest.raises(gg.StateError, match="layer 1"):
        Pretrained(card, {**weights, "1.weight": weights["1.weight"][:, 1:]})
    with pytest.raises(gg.StateError, match="expected layers"):
        Pretrained(card, {})
    env = gym.make(LEVEL, **SMALL)
    short = {**weights, "2.weight": weights["2.weight"][:1], "2.bias": weights["2.bias"][:1]}
    with pytest.raises(gg.StateError, match=f"expected 1 actions, the env takes {ACTIONS}"):
        Pretrained(card, short).policy(env)
    other = [["entry", sum(size for _, size in card["entries"])]]
    with pytest.raises(gg.StateError, match="entries"):
        Pretrained({**card, "entries": other}, weights).policy(env)
    env.close()
    pictures = gym.make(LEVEL, grain_count=60, num_threads=1)
    with pytest.raises(gg.StateError, match="observation='state'"):
        Pretrained(card, weights).policy(pictures)
    pictures.close()
    write_pretrained(path, card, weights)
    assert main(["play", "silo", "--policy", str(path), "--out", str(tmp_path / "out")]) == 2
    assert "expected one trained on granular_gym/Silo-v1" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()
