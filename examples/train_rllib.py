"""train_rllib.py: trains PPO of Ray RLlib on a task; rollouts run in several processes, on one or more machines.

    python examples/train_rllib.py [TASK] [--runners 2] [--envs 8] [--iterations 20] [--grains 300] [--out FOLDER]

Each env runner steps a native batch of envs: one world, without the GIL. For several machines start Ray on each
(`ray start --head` on the first, `ray start --address=FIRST:6379` on the others, granular_gym installed on all), then

    python examples/train_rllib.py --address auto --runners 16

Ray puts the runners on free cores and restarts failed ones. Writes into the folder: iterations.csv (env steps, seconds,
return of the task) and checkpoint/ (of RLlib). Observations are the features of granular_gym/training/features.py,
rewards are the task's times --scale. Needs: pip install "ray[rllib]" torch.
"""

from __future__ import annotations

import argparse
import csv
import io
import sys
import time
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import ray
from gymnasium.vector.utils import batch_space
from ray.rllib.algorithms.ppo import PPOConfig
from ray.rllib.core.rl_module.default_model_config import DefaultModelConfig
from ray.tune.registry import register_env

from granular_gym.base import cache
from granular_gym.tasks.registry import parse_arguments, task_id
from granular_gym.training.features import features_of


class LearnerBatch(gym.vector.VectorEnv):
    """A native batch whose observations are features and whose actions are held over several env steps.

    Args:
        task: id of the task.
        num_envs: number of envs.
        repeat: env steps per decision.
        scale: factor of the rewards.
        **arguments: arguments of the task.
    """

    def __init__(self, task: str, num_envs: int, repeat: int, scale: float, **arguments: Any) -> None:
        self.closed = True  # nothing for __del__ to close where the constructor fails
        self.batch = gym.make_vec(task, num_envs=num_envs, depth="uint8", **arguments)
        self.features = features_of(task, self.batch.single_observation_space)
        self.num_envs, self.repeat, self.scale = num_envs, repeat, scale
        self.metadata = self.batch.metadata
        self.single_observation_space, self.single_action_space = self.features.space, self.batch.single_action_space
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = self.batch.action_space
        self._over = np.zeros(num_envs, bool)
        self.closed = False

    def _features(self, observations: Any, infos: dict[str, Any]) -> Any:
        """Features of a batch of observations."""
        one_each = [{name: infos[name][env] for name in infos if name[0] != "_"} for env in range(self.num_envs)]
        return self.features(observations, one_each)

    def reset(self, *, seed: Any = None, options: Any = None) -> tuple[Any, dict[str, Any]]:
        """Features of the first observations."""
        observations, infos = self.batch.reset(seed=seed, options=options)
        self._over[:] = False
        return self._features(observations, infos), {}

    def step(self, actions: Any) -> tuple[Any, ...]:
        """Holds the actions for `repeat` env steps, or until an episode ends; the step after an end is the reset."""
        rewards = np.zeros(self.num_envs)
        for _ in range(1 if self._over.any() else self.repeat):
            observations, reward, terminated, truncated, infos = self.batch.step(actions)
            rewards += reward
            self._over = terminated | truncated
            if self._over.any():
                break
        return self._features(observations, infos), self.scale * rewards, terminated, truncated, {}

    def close_extras(self, **kwargs: Any) -> None:
        """Frees the world."""
        self.batch.close()


def parse(words: list[str] | None) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("task", nargs="?", default="Silo-v1", help="name of the task; default: Silo-v1")
    parser.add_argument("--runners", type=int, default=2, help="processes of rollouts; each uses one core")
    parser.add_argument("--envs", type=int, default=8, help="envs of each runner, in one world")
    parser.add_argument("--iterations", type=int, default=20, help="number of rollouts, each with an update")
    parser.add_argument("--rollout", type=int, default=60, help="decisions of each env per iteration")
    parser.add_argument("--grains", type=int, default=300, help="grains per env")
    parser.add_argument("--arg", action="append", default=[], metavar="NAME=VALUE", help="argument of the task")
    parser.add_argument("--repeat", type=int, default=2, help="env steps per decision")
    parser.add_argument("--scale", type=float, default=0.2, help="factor of the reward")
    parser.add_argument("--learning-rate", type=float, default=7e-4)
    parser.add_argument("--gamma", type=float, default=0.98, help="discount per decision")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--address", help="address of a running Ray cluster, or auto; default: this machine only")
    parser.add_argument("--out", type=Path, default=Path("out/train/rllib"), help="folder for the results")
    return parser.parse_args(words)


def make_config(args: argparse.Namespace) -> PPOConfig:
    """The configuration of RLlib."""
    arguments = {"grain_count": args.grains, "num_threads": 1, **parse_arguments(args.arg)}
    settings = {"task": task_id(args.task), "repeat": args.repeat, "scale": args.scale, **arguments}
    decisions = max(args.runners, 1) * args.envs * args.rollout
    register_env("learner_batch", lambda context: LearnerBatch(**{"num_envs": args.envs, **context}))
    return (
        PPOConfig()
        .environment("learner_batch", env_config=settings)
        .env_runners(
            num_env_runners=args.runners,
            num_envs_per_env_runner=args.envs,
            gym_env_vectorize_mode="vector_entry_point",
            rollout_fragment_length=args.rollout,
        )
        .fault_tolerance(restart_failed_env_runners=True)
        .training(
            lr=args.learning_rate,
            gamma=args.gamma,
            lambda_=0.95,
            train_batch_size_per_learner=decisions,
            minibatch_size=min(120, decisions),
            num_epochs=10,
            vf_clip_param=1e6,
        )
        .rl_module(model_config=DefaultModelConfig(fcnet_hiddens=[64, 64], fcnet_activation="tanh"))
        .debugging(seed=args.seed, log_level="ERROR")
    )


def main(words: list[str] | None = None) -> int:
    """Trains; prints a line per iteration; returns the exit status."""
    args = parse(words)
    args.out.mkdir(parents=True, exist_ok=True)
    cores = {} if args.address else {"num_cpus": args.runners + 1}
    ray.init(address=args.address, include_dashboard=False, log_to_driver=False, **cores)
    try:
        algorithm = make_config(args).build_algo()
        rows: list[dict[str, Any]] = []
        begin = time.perf_counter()
        for iteration in range(args.iterations):
            played = algorithm.train()["env_runners"]
            mean = played.get("episode_return_mean", np.nan)  # NaN where no episode has ended
            row = {
                "iteration": iteration,
                "env_steps": int(played["num_env_steps_sampled_lifetime"]) * args.repeat,
                "seconds": round(time.perf_counter() - begin, 3),
                "return": float(mean) / args.scale if np.isfinite(mean) else "",
                "runners": algorithm.env_runner_group.num_healthy_remote_workers(),
            }
            rows.append(row)
            text = io.StringIO()
            writer = csv.DictWriter(text, list(row), lineterminator="\n")
            writer.writeheader()
            writer.writerows(rows)
            cache.write_atomic(args.out / "iterations.csv", text.getvalue().encode())
            print(", ".join(f"{name} {value}" for name, value in row.items()), flush=True)
        algorithm.save_to_path(str((args.out / "checkpoint").resolve()))
        algorithm.stop()
    finally:
        ray.shutdown()
    print(f"episodes by iteration and checkpoint: {args.out}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
