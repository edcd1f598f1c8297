"""train_ppo.py: trains PPO (Stable-Baselines3) on a batch of envs; compares with random actions and the expert.

    python examples/train_ppo.py [TASK] [--minutes 10 | --steps N] [--seed 0] [--out FOLDER]
    python examples/train_ppo.py --resume FOLDER --minutes 20
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

from stable_baselines3 import PPO

from granular_gym.base import checks
from granular_gym.tasks.registry import task_id
from granular_gym.training.command import main, make_parser
from granular_gym.training.extractor import Perceptron
from granular_gym.training.recipes import recipe_of


def parser() -> argparse.ArgumentParser:
    """The common arguments and those of PPO."""
    parser = make_parser(__doc__.splitlines()[0])
    group = parser.add_argument_group("PPO")
    group.add_argument("--learning-rate", type=float, default=5e-4)
    group.add_argument("--gamma", type=float, default=0.98, help="discount per decision")
    group.add_argument("--gae-lambda", type=float, default=0.95, help="lambda of the generalised advantage estimate")
    group.add_argument("--rollout", type=int, default=60, help="decisions of each env between two updates")
    group.add_argument("--batch", type=int, default=480, help="decisions per gradient step")
    group.add_argument("--epochs", type=int, default=8, help="passes over a rollout")
    group.add_argument("--target-kl", type=float, default=0.03, help="an update stops above this KL divergence")
    group.add_argument("--width", type=int, default=128, help="of the two hidden layers of policy and value")
    group.add_argument("--log-std", type=float, help="log of the first standard deviation; default: the recipe's")
    parser.set_defaults(envs=32)
    return parser


def make_model(env: Any, seed: int, args: argparse.Namespace) -> PPO:
    """PPO whose policy and value have bodies of their own."""
    # advantages are normalised, which takes two decisions
    for name, least in (("rollout", 1 if env.num_envs > 1 else 2), ("batch", 2), ("epochs", 1), ("width", 1)):
        checks.integer(name, getattr(args, name), least)
    for name in ("learning_rate", "gamma", "gae_lambda"):
        checks.number(name, getattr(args, name), 0.0, 1.0, above=name != "gae_lambda")
    checks.number("target_kl", args.target_kl, 0.0, above=True)
    log_std = recipe_of(task_id(args.task)).log_std if args.log_std is None else args.log_std
    return PPO(
        "MlpPolicy",
        env,
        seed=seed,
        device="cpu",
        n_steps=args.rollout,
        batch_size=args.batch,
        n_epochs=args.epochs,
        gamma=args.gamma,
        gae_lambda=args.gae_lambda,
        learning_rate=args.learning_rate,
        target_kl=args.target_kl,
        policy_kwargs={
            "net_arch": [],
            "features_extractor_class": Perceptron,
            "features_extractor_kwargs": {"width": args.width},
            "share_features_extractor": False,
            "log_std_init": log_std,
        },
    )


if __name__ == "__main__":
    sys.exit(main(parser(), "PPO", lambda args: args.rollout * args.envs, make_model))
