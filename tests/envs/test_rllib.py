"""The example of rollouts in several processes, on Ray RLlib."""

from __future__ import annotations

import csv
import importlib.util
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.torch


@pytest.mark.slow
def test_two_env_runners_learn_together(tmp_path: Path) -> None:
    pytest.importorskip("ray.rllib", reason="Ray RLlib is not installed")
    path = Path(__file__).parents[2] / "examples" / "train_rllib.py"
    if not path.exists():
        pytest.skip("the examples are not here")
    spec = importlib.util.spec_from_file_location("train_rllib", path)
    assert spec is not None and spec.loader is not None
    example = sys.modules["train_rllib"] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(example)
    import ray

    # runners are other processes: the example is pickled by value
    ray.cloudpickle.register_pickle_by_value(example)
    words = ["--grains", "40", "--runners", "2", "--envs", "2", "--rollout", "12", "--iterations", "3"]
    assert example.main([*words, "--arg", "max_episode_steps=20", "--out", str(tmp_path)]) == 0
    with (tmp_path / "iterations.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["runners"] for row in rows] == ["2"] * 3, "both runners are alive"
    assert [int(row["env_steps"]) for row in rows] == sorted(int(row["env_steps"]) for row in rows)
    # 2 runners, 2 envs, 12 decisions of 2 env steps; resets are not decisions
    assert int(rows[-1]["env_steps"]) >= 3 * 2 * 2 * 12 * 2
    assert rows[-1]["return"] and (tmp_path / "checkpoint").is_dir()
