"""The adapter for Stable-Baselines3."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from env_helpers import same
from gymnasium import spaces
from gymnasium.wrappers import vector as wrappers

import granular_gym as gg
from granular_gym.training.sb3 import sb3_vec_env
from granular_gym.training.wrapped import WrappedBatch, split_infos


def test_infos_are_split_by_their_masks() -> None:
    infos = {
        "a": np.array([1.0, 2.0]),
        "_a": np.array([True, False]),
        "final_info": {"b": np.array([3, 4]), "_b": np.array([False, True])},
        "_final_info": np.array([False, True]),
    }
    assert split_infos(infos, 2) == [{"a": 1.0}, {"final_info": {"b": 4}}]


def test_infos_without_masks_are_of_all_envs() -> None:
    infos = {"episode": {"r": np.array([1.0, 2.0])}, "_episode": np.array([False, True]), "_own": np.array([3, 4])}
    assert split_infos(infos, 2) == [{"_own": 3}, {"_own": 4, "episode": {"r": 2.0}}]


def test_other_autoreset_modes_are_refused(make_vec: Any) -> None:
    with pytest.raises(gg.ArgumentError, match="SameStep"):
        sb3_vec_env(make_vec())
    with pytest.raises(gg.ArgumentError, match="GranularVectorEnv"):
        sb3_vec_env("no")  # type: ignore[arg-type]
    buffers = {"rewards": np.zeros(3)}
    with pytest.raises(gg.ArgumentError, match="vector_env: expected one made without out"):
        sb3_vec_env(make_vec(autoreset_mode="SameStep", out=buffers))


class Doubled(gym.vector.VectorObservationWrapper):
    """Poses twice as large."""

    def observations(self, observations: Any) -> Any:
        """The pose doubled, images as they are."""
        return {**observations, "pose": 2.0 * observations["pose"]}


class Posed(gym.vector.VectorWrapper):
    """The pose alone, by a wrapper that is none of observations in name."""

    def __init__(self, env: Any) -> None:
        super().__init__(env)
        self.single_observation_space = env.single_observation_space["pose"]
        self.observation_space = env.observation_space["pose"]


class Listed(gym.vector.VectorWrapper):
    """Infos that are no dict."""

    def reset(self, **kwargs: Any) -> Any:
        """A list of infos."""
        return super().reset(**kwargs)[0], []


MODES = ["SameStep", "Disabled"]


class TestWrapped:
    """Batches in Gymnasium's vector wrappers; needs no Stable-Baselines3."""

    @pytest.mark.parametrize("mode", MODES)
    def test_both_modes_play_the_same_episodes(self, make_vec: Any, mode: str) -> None:
        """Bit for bit what the batch itself gives with "SameStep"."""
        plain = make_vec(max_episode_steps=2, autoreset_mode="SameStep")
        batch = WrappedBatch(make_vec(max_episode_steps=2, autoreset_mode=mode))
        assert same(batch.reset([5, 6, 7], None)[0], plain.reset(seed=5)[0])
        for step in range(4):
            observations, rewards, _, truncated, infos = plain.step(np.full((3, 2), 0.3, np.float32))
            steps = batch.step(np.full((3, 2), 0.3, np.float32))
            assert same(steps.observations, observations) and same(steps.rewards, rewards.astype(np.float32))
            assert steps.dones.tolist() == truncated.tolist() == [step % 2 == 1] * 3
            for env in np.flatnonzero(steps.dones):
                assert same(steps.infos[env].pop("terminal_observation"), infos["final_obs"][env])
                assert steps.infos[env].pop("TimeLimit.truncated") is True
                assert same(steps.infos[env], split_infos(infos["final_info"], 3)[env])
                begun = split_infos({k: v for k, v in infos.items() if "final" not in k}, 3)[env]
                assert same(steps.reset_infos[env], begun) and not same(begun, steps.infos[env])

    def test_one_env_ends_alone(self, make_vec: Any) -> None:
        batch = WrappedBatch(make_vec(max_episode_steps=3, autoreset_mode="Disabled"))
        batch.reset([1, 2, 3], None)
        batch.vector_env.reset(seed=[None, 9, None], options={"reset_mask": np.array([True, False, True])})
        for actions in np.full((2, 3, 2), 0.3, np.float32):
            batch.step(actions)
            batch.vector_env.reset(options={"reset_mask": np.array([True, False, True])})
        steps = batch.step(actions)
        assert steps.dones.tolist() == [False, True, False]
        assert [info is None for info in steps.reset_infos] == [True, False, True]
        assert "terminal_observation" in steps.infos[1] and "terminal_observation" not in steps.infos[0]

    def test_wrappers_of_observations_see_the_last_one(self, make_vec: Any) -> None:
        plain = make_vec(max_episode_steps=2)
        batch = WrappedBatch(Doubled(make_vec(max_episode_steps=2, autoreset_mode="Disabled")))
        plain.reset(seed=5)
        first = batch.reset([5, 6, 7], None)[0]["pose"]
        for _ in range(2):
            last = plain.step(np.ones((3, 2), np.float32))[0]["pose"]
            steps = batch.step(np.ones((3, 2), np.float32))
        ended = np.stack([info["terminal_observation"]["pose"] for info in steps.infos])
        assert np.array_equal(ended, 2.0 * last) and not np.array_equal(ended, first)
        assert not np.array_equal(steps.observations["pose"], ended)

    def test_flat_observations(self, make_vec: Any) -> None:
        batch = WrappedBatch(wrappers.FlattenObservation(make_vec(max_episode_steps=1, autoreset_mode="Disabled")))
        flat = batch.vector_env.single_observation_space
        assert batch.reset(None, None)[0].shape == (3, *flat.shape)
        steps = batch.step(np.zeros((3, 2), np.float32))
        assert steps.dones.all() and steps.observations.shape == (3, *flat.shape)
        assert steps.infos[0]["terminal_observation"].shape == flat.shape

    @pytest.mark.parametrize("mode", MODES)
    def test_rewards_and_statistics(self, make_vec: Any, mode: str) -> None:
        env = make_vec(max_episode_steps=2, autoreset_mode=mode)
        env = wrappers.TransformReward(wrappers.RecordEpisodeStatistics(env), lambda rewards: 3.0 * rewards)
        batch = WrappedBatch(env)
        batch.reset([5, 6, 7], None)
        # with "SameStep" Gymnasium before 1.4 leaves the first step of later episodes out
        for _ in range({"Disabled": 2, "SameStep": 1}[mode]):  # episodes
            paid = np.zeros(3)
            for _ in range(2):
                steps = batch.step(np.full((3, 2), 0.5, np.float32))
                paid += steps.rewards / 3.0
            for env_index, info in enumerate(steps.infos):
                assert info["episode"]["l"] == 2 and info["episode"]["r"] == pytest.approx(paid[env_index], abs=1e-6)
                assert "episode" not in steps.reset_infos[env_index]

    def test_wrappers_that_cannot_be_used(self, make_vec: Any) -> None:
        same_step, disabled, next_step = (make_vec(autoreset_mode=mode) for mode in (*MODES, "NextStep"))
        for wrapped, words in (
            (wrappers.DictInfoToList(disabled), "DictInfoToList cannot be used: infos must stay a dict"),
            (wrappers.NormalizeReward(disabled), "autoreset_mode='SameStep' with NormalizeReward"),
            (wrappers.RecordEpisodeStatistics(next_step), "'SameStep' or 'Disabled', got 'NextStep'"),
            (Posed(same_step), "autoreset_mode='Disabled' where a wrapper changes observations"),
        ):
            with pytest.raises(gg.ArgumentError, match=words):
                WrappedBatch(wrapped)
        WrappedBatch(wrappers.NormalizeReward(make_vec(autoreset_mode="SameStep")))
        with pytest.raises(gg.ArgumentError, match="infos a dict, got list"):
            WrappedBatch(Listed(make_vec(autoreset_mode="Disabled"))).reset(None, None)

    def test_normalised_observations_are_refused(self, make_vec: Any) -> None:
        flat = wrappers.TransformObservation(
            make_vec(),
            lambda observations: observations["pose"],
            single_observation_space=spaces.Box(-4.0, 4.0, (3,), np.float32),
        )
        with pytest.raises(gg.ArgumentError, match="NextStep"):
            WrappedBatch(wrappers.NormalizeObservation(flat))

    def test_a_wrapper_that_forgets_one_of_its_spaces(self, make_vec: Any) -> None:
        env = make_vec(autoreset_mode="Disabled")
        with pytest.warns(UserWarning, match="don't match"):
            wrapped = wrappers.TransformObservation(
                env, lambda observations: observations["pose"], observation_space=env.observation_space["pose"]
            )
        with pytest.raises(gg.ArgumentError, match="give the wrapper both"):
            WrappedBatch(wrapped)

    def test_attributes_of_wrappers_and_batch(self, make_vec: Any) -> None:
        batch = WrappedBatch(Doubled(make_vec(autoreset_mode="Disabled")))
        batch.set("render_fps", 7)
        assert batch.get("render_fps") == (7, 7, 7) and batch.vector_env.unwrapped.render_fps == 7
        assert batch.get("max_episode_steps") == (batch.vector_env.unwrapped.max_episode_steps,) * 3
        assert batch.is_wrapped(Doubled) and not batch.is_wrapped(Posed)
        with pytest.raises(AttributeError, match="no attribute 'colour'"):
            batch.get("colour")


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

    def test_a_wrapped_batch(self, make_vec: Any) -> None:
        made = make_vec(num_envs=2, max_episode_steps=5, autoreset_mode="Disabled", depth="uint8")
        env = sb3_vec_env(wrappers.RecordEpisodeStatistics(wrappers.FlattenObservation(made)))
        assert env.observation_space == spaces.flatten_space(made.single_observation_space)
        assert env.env_is_wrapped(wrappers.FlattenObservation) == [True, True]
        assert env.env_is_wrapped(Doubled, indices=[1]) == [False]
        from stable_baselines3 import PPO

        learner = PPO("MlpPolicy", env, n_steps=8, batch_size=8, n_epochs=1, device="cpu", seed=0).learn(32)
        assert [episode["l"] for episode in learner.ep_info_buffer] == [5] * len(learner.ep_info_buffer) != []
        env.close()

    def test_options_must_be_the_same_for_all(self, make_vec: Any) -> None:
        env = sb3_vec_env(make_vec(num_envs=2, autoreset_mode="SameStep"))
        env.set_options([{"a": 1}, {"a": 2}])
        with pytest.raises(gg.ArgumentError, match="same for all envs"):
            env.reset()
