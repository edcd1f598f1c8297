"""train_td3.py: trains TD3 (Stable-Baselines3) on a batch of envs; compares with random actions and the expert.

    python examples/train_td3.py [TASK] [--minutes 10 | --steps N] [--seed 0] [--out FOLDER]
    python examples/train_td3.py --resume FOLDER --minutes 20
    python -m granular_gym play TASK --policy FOLDER/checkpoint.zip

Tasks with a state vector are learned from that, with the grains and the frame skip of the task's recipe; with --arg
observation=images from images. Writes into the folder: episodes.csv (a row per episode), tensorboard/, checkpoint.zip
and previous.zip (a run resumes from them bit for bit), report.json (evaluation, settings, versions), plot.png. All
arguments: --help; observations and rewards of learners: granular_gym/training. Needs the `train` extra: pip install
"granular_gym[train]".
"""

from __future__ import annotations

import argparse
import sys
from typing import Any

import numpy as np
from stable_baselines3 import TD3
from stable_baselines3.common.buffers import NStepReplayBuffer
from stable_baselines3.common.noise import OrnsteinUhlenbeckActionNoise

from granular_gym.training.command import main, make_parser


def parser() -> argparse.ArgumentParser:
    """The common arguments and those of TD3."""
    parser = make_parser(__doc__.splitlines()[0])
    group = parser.add_argument_group("TD3")
    group.add_argument("--learning-rate", type=float, default=4e-4)
    group.add_argument("--gamma", type=float, default=0.97, help="discount per decision")
    group.add_argument("--tau", type=float, default=0.01, help="rate of the target networks per gradient step")
    group.add_argument("--batch", type=int, default=256, help="decisions per gradient step")
    group.add_argument("--gradient-steps", type=int, default=8, help="gradient steps per decision of the batch of envs")
    group.add_argument("--buffer", type=int, default=100_000, help="decisions in the replay buffer")
    group.add_argument("--warm-up", type=int, default=1000, help="random decisions before learning")
    group.add_argument("--n-steps", type=int, default=3, help="n of n-step returns")
    group.add_argument("--noise", type=float, default=0.35, help="standard deviation of exploration, per decision")
    group.add_argument("--noise-return", type=float, default=0.3, help="mean reversion of the noise per decision")
    group.add_argument("--chunk", type=int, default=960, help="decisions between checks of the time")
    group.add_argument("--hidden", type=int, nargs="+", default=[128, 128], help="widths of the networks' layers")
    return parser


def make_model(env: Any, seed: int, args: argparse.Namespace) -> TD3:
    """TD3 with correlated exploration (Ornstein-Uhlenbeck): uncorrelated noise does not move a vehicle."""
    size = env.action_space.shape[0]
    noise = OrnsteinUhlenbeckActionNoise(np.zeros(size), np.full(size, args.noise), theta=args.noise_return, dt=1.0)
    return TD3(
        "MlpPolicy",
        env,
        seed=seed,
        device="cpu",
        buffer_size=args.buffer,
        learning_starts=args.warm_up,
        batch_size=args.batch,
        gamma=args.gamma,
        tau=args.tau,
        learning_rate=args.learning_rate,
        # as TD3's own n_steps does, which warns whenever such a model is loaded
        replay_buffer_class=NStepReplayBuffer,
        replay_buffer_kwargs={"n_steps": args.n_steps, "gamma": args.gamma},
        train_freq=(1, "step"),
        gradient_steps=args.gradient_steps,
        action_noise=noise,
        policy_kwargs={"net_arch": list(args.hidden)},
    )


if __name__ == "__main__":
    sys.exit(main(parser(), "TD3", lambda args: args.chunk, make_model))
