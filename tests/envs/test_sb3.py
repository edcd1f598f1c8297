"""The adapter for Stable-Baselines3."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from env_helpers import same

import granular_gym as gg
from granular_gym.training.sb3 import sb3_vec_env, split_infos


def test_infos_are_split_by_their_masks() -> None:
    infos = {
        "a": np.array([1.0, 2.0]),
        "_a": np.array([True, False]),
        "final_info": {"b": np.array([3, 4]), "_b": np.array([False, True])},
        "_final_info": np.array([False, True]),
    }
    assert split_infos(infos, 2) == [{"a": 1.0}, {"final_info": {"b": 4}}]


def test_other_autoreset_modes_are_refused(make_vec: Any) -> None:
    with pytest.raises(gg.ArgumentError, match="SameStep"):
        sb3_vec_env(make_vec())
    with pytest.raises(gg.ArgumentError, match="GranularVectorEnv"):
        sb3_vec_env("no")  # type: ignore[arg-type]


@pytest.mark.torch
class TestAdapter:
    """Needs Stable-Baselines3."""

    @pytest.fixture(autouse=True)
    def needs_sb3(self) -> None:
        pytest.importorskip("stable_baselines3", reason="Stable-Baselines3 is not installed")

    def test_episode_ends(self, make_vec: Any) -> None:
        plain = make_vec(max_episode_steps=3)
        env = sb3_vec_env(make_vec(max_episode_steps=3, autoreset_mode="SameStep"))
        env.seed(5)
        assert same(env.reset(), plain.reset(seed=5)[0])
        actions = np.zeros((3, 2), np.float32)
        for step in range(3):
            observations, rewards, dones, infos = env.step(actions)
            last = plain.step(actions)[0]
            assert rewards.dtype == np.float32 and dones.tolist() == [step == 2] * 3
            assert isinstance(infos, list) and type(infos[0]["goal_share"]) is float
            assert all(info["TimeLimit.truncated"] is (step == 2) for info in infos)
        for index, info in enumerate(infos):
            assert same(info["terminal_observation"], {key: last[key][index] for key in last})
        assert not same(observations, last)
        assert env.env_is_wrapped(object) == [False] * 3 and env.get_attr("render_mode") == [None] * 3
        env.close()

    def test_a_few_steps_of_ppo(self, make_vec: Any) -> None:
        from stable_baselines3 import PPO

        env = sb3_vec_env(make_vec(num_envs=2, max_episode_steps=5, autoreset_mode="SameStep", depth="uint8"))
        PPO("MultiInputPolicy", env, n_steps=8, batch_size=8, n_epochs=1, device="cpu", seed=0).learn(32)
        env.close()
