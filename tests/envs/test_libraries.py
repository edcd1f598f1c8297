"""Other libraries: every snippet of docs/interfaces.md runs unchanged; the single-file trainer trains."""

from __future__ import annotations

import json
import os
import re
import runpy
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "interfaces.md"
TRAINER = ROOT / "examples" / "ppo_single_file.py"
SAC_TRAINER = ROOT / "examples" / "sac_single_file.py"
TD3_TRAINER = ROOT / "examples" / "td3_single_file.py"
BLOCK = re.compile(r"(?:<!-- needs: ([\w ]+) -->\n)?```python\n(.*?)```", re.DOTALL)


def snippets() -> list[Any]:
    """Code and its requirements, by heading."""
    page, found = PAGE.read_text(), []
    for block in BLOCK.finditer(page):
        heading = page[: block.start()].rpartition("\n## ")[2].partition("\n")[0]
        name = f"{heading}-{sum(one.id.startswith(heading + '-') for one in found)}"
        found.append(pytest.param(block[2], (block[1] or "").split(), id=name))
    return found


def test_the_page_is_read() -> None:
    needs = {module for one in snippets() for module in one.values[1]}
    assert {"torch", "stable_baselines3", "torchrl", "skrl", "moviepy", "viser"} <= needs
    assert PAGE.read_text().count("```python") == len(snippets())


@pytest.mark.parametrize("code, needs", snippets())
def test_snippet(code: str, needs: list[str], tmp_path: Path, monkeypatch: Any) -> None:
    for module in needs:
        pytest.importorskip(module, reason=f"{module} is not installed")
    monkeypatch.chdir(tmp_path)
    exec(compile(code, str(PAGE), "exec"), {"__name__": "snippet"})
    if "videos" in code:
        assert [path.suffix for path in (tmp_path / "videos").iterdir()] == [".mp4"]


def trained(example: Path, words: list[str], folder: Path) -> dict[str, Any]:
    """Runs an example that writes into the folder; its report."""
    # the child must import the same packages
    paths = os.pathsep.join(path for path in sys.path if path)
    done = subprocess.run(
        [sys.executable, str(example), *words],
        env={**os.environ, "PYTHONPATH": paths},
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    report: dict[str, Any] = json.loads((folder / "report.json").read_text())
    return report


class TestSingleFileTrainer:
    """Needs torch."""

    @pytest.fixture(autouse=True)
    def needs_torch(self) -> None:
        pytest.importorskip("torch", reason="torch is not installed")

    def test_it_trains_and_leaves_what_it_promises(self, tmp_path: Path) -> None:
        import torch

        arguments = ["Pour-v0", "--steps", "24", "--envs", "2", "--rollout", "6", "--grains", "60", "--epochs", "1"]
        arguments += ["--minibatches", "2", "--max-episode-steps", "4", "--threads", "1", "--out", str(tmp_path)]
        report = trained(TRAINER, arguments, tmp_path)
        assert [line["steps"] for line in report["iterations"]] == [12, 24]
        # 12 steps of each env, of which every fifth is a reset
        assert report["iterations"][-1]["episodes"] == 4 and np.isfinite(report["iterations"][-1]["return"])
        weights = torch.load(tmp_path / "policy.pt", weights_only=True)
        assert all(torch.isfinite(array).all() for array in weights.values())
        assert (weights["log_std"] != -0.5).all(), "the optimizer moved it"

    def test_advantages_end_with_episodes_and_go_on_where_time_ran_out(self) -> None:
        import torch

        trainer = runpy.run_path(str(TRAINER))
        rewards = torch.tensor([[1.0, 1.0], [2.0, 2.0], [4.0, 4.0]])
        values = torch.tensor([[0.5, 0.5], [1.0, 1.0], [3.0, 3.0], [7.0, 7.0]])
        # env 0 terminates in step 1, env 1 is truncated
        terminated = torch.tensor([[False, False], [True, False], [False, False]])
        done = torch.tensor([[False, False], [True, True], [False, False]])
        found = trainer["advantages"](rewards, values, terminated, done, 0.5, 0.5)
        last = 4.0 + 0.5 * 7.0 - 3.0
        ended, cut = 2.0 - 1.0, 2.0 + 0.5 * 3.0 - 1.0
        first = 1.0 + 0.5 * 1.0 - 0.5
        expected = [[first + 0.25 * ended, first + 0.25 * cut], [ended, cut], [last, last]]
        assert found.numpy() == pytest.approx(np.array(expected))

    def test_the_policy_learns_what_pays(self) -> None:
        import argparse

        import gymnasium as gym
        import torch

        trainer = runpy.run_path(str(TRAINER))
        torch.manual_seed(0)
        space = gym.spaces.Dict(
            {
                "pose": gym.spaces.Box(-2.0, 2.0, (3,), np.float32),
                "eye": gym.spaces.Box(0.0, 3.0, (12, 16), np.float32),
            }
        )
        agent = trainer["Agent"](space, 2)
        optimizer = torch.optim.Adam(agent.parameters(), lr=2e-3)
        args = argparse.Namespace(epochs=4, minibatches=2, clip=0.2, entropy=0.0)
        wanted = torch.tensor([0.6, -0.6])
        for _ in range(15):
            observation = {"pose": torch.rand(256, 3), "eye": 3.0 * torch.rand(256, 12, 16)}
            with torch.no_grad():
                distribution, value = agent(observation)
                action = distribution.sample()
            reward = -(action - wanted).square().sum(-1)
            log_prob = distribution.log_prob(action).sum(-1)
            batch = {"observations": observation, "actions": action, "log_probs": log_prob, "returns": reward}
            trainer["update"](agent, optimizer, {**batch, "advantages": reward - value}, args)
        assert agent(observation)[0].mean.mean(0).tolist() == pytest.approx(wanted.tolist(), abs=0.15)


class TestSacSingleFile:
    """examples/sac_single_file.py."""

    def test_it_trains(self, tmp_path: Path) -> None:
        torch = pytest.importorskip("torch", reason="torch is not installed")
        words = ["--minutes", "0.05", "--demonstrations", "2", "--envs", "2", "--grains", "30", "--episodes", "2"]
        report = trained(SAC_TRAINER, [*words, "--out", str(tmp_path)], tmp_path)
        assert report["env_steps"] > 0
        assert len(report["returns"]) == 2 and np.isfinite(report["returns"]).all()
        weights = torch.load(tmp_path / "policy.pt", weights_only=True)
        assert all(torch.isfinite(array).all() for array in weights.values())

    def test_returns_over_several_steps(self) -> None:
        """Three steps summed with the discount; an end cuts the sum, and no value follows a termination."""
        pytest.importorskip("torch", reason="torch is not installed")
        example = runpy.run_path(str(SAC_TRAINER))
        memory, discount = example["Memory"](None, 1), example["DISCOUNT"]
        for step in range(5):
            memory.add(0, step, step, step, 10.0**step, step + 1, (False, step == 4))
        memory.add(0, 7, 7, 7, 1.0, 8, (True, True))
        found = [(row[0], row[4]) for row in memory.rows]
        assert found == [(0, 3), (1, 4), (2, 5), (3, 5), (4, 5), (7, 8)]
        sums = [1 + 10 * discount + 100 * discount**2, 1e3 + 1e4 * discount, 1e4]
        assert [memory.rows[k][3] for k in (0, 3, 4)] == pytest.approx(sums)
        assert [row[5] for row in memory.rows] == pytest.approx([*[discount**3] * 3, discount**2, discount, 0.0])


class TestTd3SingleFile:
    """examples/td3_single_file.py."""

    def test_it_trains(self, tmp_path: Path) -> None:
        torch = pytest.importorskip("torch", reason="torch is not installed")
        words = ["--minutes", "0.05", "--envs", "2", "--grains", "30", "--episodes", "2", "--warm-up", "2"]
        report = trained(TD3_TRAINER, [*words, "--batch", "16", "--out", str(tmp_path)], tmp_path)
        assert len(report["returns"]) == 2 and np.isfinite(report["returns"]).all()
        weights = torch.load(tmp_path / "policy.pt", weights_only=True)
        assert all(torch.isfinite(array).all() for array in weights.values())

    def test_returns_over_several_steps(self) -> None:
        """Three steps summed with the discount, also where the ring begins anew; an end cuts the sum, the newest step
        too; no value follows a termination, and a reset is not learned from."""
        torch = pytest.importorskip("torch", reason="torch is not installed")
        example = runpy.run_path(str(TD3_TRAINER))
        memory, discount = example["Memory"](8, 1, 1, 1, "cpu"), example["DISCOUNT"]
        torch.manual_seed(0)
        # steps 4 to 11 are kept; the episode is truncated at 6, 7 is a reset, it is terminated at 9, 10 is a reset
        for step in range(12):
            memory.add(
                states=torch.tensor([[float(step)]]),
                after=torch.tensor([[step + 1.0]]),
                actions=torch.tensor([[-float(step)]]),
                rewards=torch.tensor([10.0**step]),
                terminated=torch.tensor([step == 9]),
                ended=torch.tensor([step in (6, 9)]),
                valid=torch.tensor([step not in (7, 10)]),
            )
        found = {}
        states, actions, rewards, after, discounts, weights = memory.batch(500)
        assert (actions == -states).all()
        for k in range(500):
            found[int(states[k, 0])] = [float(part[k]) for part in (rewards, after[:, 0], discounts, weights)]
        assert sorted(found) == list(range(4, 12))
        expected = {
            4: [1e4 * (1 + 10 * discount + 100 * discount**2), 7, discount**3, 1],
            5: [1e5 * (1 + 10 * discount), 7, discount**2, 1],
            6: [1e6, 7, discount, 1],
            8: [1e8 * (1 + 10 * discount), 10, 0, 1],
            9: [1e9, 10, 0, 1],
            11: [1e11, 12, discount, 1],
        }
        for step, wanted in expected.items():
            assert found[step] == pytest.approx(wanted), step
        assert found[7][3] == found[10][3] == 0.0
