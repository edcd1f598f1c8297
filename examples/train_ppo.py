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

from granular_gym.tasks.registry import task_id
from granular_gym.training.command import main, make_parser
from granular_gym.training.recipes import exploration


def parser() -> argparse.ArgumentParser:
    """The common arguments and those of PPO."""
    parser = make_parser(__doc__.splitlines()[0])
    group = parser.add_argument_group("PPO")
    group.add_argument("--learning-rate", type=float, default=7e-4)
    group.add_argument("--gamma", type=float, default=0.98, help="discount per decision")
    group.add_argument("--gae-lambda", type=float, default=0.95, help="lambda of the generalised advantage estimate")
    group.add_argument("--rollout", type=int, default=60, help="decisions of each env between two updates")
    group.add_argument("--batch", type=int, default=120, help="decisions per gradient step")
    group.add_argument("--epochs", type=int, default=10, help="passes over a rollout")
    group.add_argument("--target-kl", type=float, default=0.03, help="an update stops above this KL divergence")
    group.add_argument("--hidden", type=int, nargs="+", default=[64, 64], help="widths of the networks' layers")
    group.add_argument("--log-std", type=float, help="log of the initial noise of exploration; default: the recipe's")
    group.add_argument("--noise-hold", type=int, help="decisions for which noise is held; default: the recipe's")
    return parser


def make_model(env: Any, seed: int, args: argparse.Namespace) -> PPO:
    """PPO with state-dependent exploration (gSDE): uncorrelated noise does not move a vehicle."""
    log_std, hold = exploration(task_id(args.task))
    log_std = log_std if args.log_std is None else args.log_std
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
        use_sde=True,
        sde_sample_freq=hold if args.noise_hold is None else args.noise_hold,
        policy_kwargs={"net_arch": list(args.hidden), "log_std_init": log_std},
    )


if __name__ == "__main__":
    sys.exit(main(parser(), "PPO", lambda args: args.rollout * args.envs, make_model))
