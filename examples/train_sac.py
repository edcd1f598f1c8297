"""train_sac.py: trains soft actor-critic, with demonstrations of the scripted expert or from scratch.

    python examples/train_sac.py [TASK] [--minutes 10 | --steps N] [--demonstrations 32] [--seed 0] [--out FOLDER]
    python examples/train_sac.py --resume FOLDER --minutes 20
    python -m granular_gym play TASK --policy FOLDER/checkpoint.zip

Tasks with a state vector (observation="state") are learned from that, with the grains, the frame skip and the settings
of the task's recipe; the policy is compared with random actions and the expert on 300 grains. With --arg
observation=pixels the policy of Bulldozer-v1 sees images alone. --demonstrations takes a number of episodes of the
expert, or a file of them; 0 learns from scratch. The learner itself is
granular_gym/training/sac.py; what is written into the folder, and resuming: docs/learning.md. Needs the `train` extra:
pip install "granular_gym[train]".
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import fields
from pathlib import Path
from typing import Any

from granular_gym.training import demonstrations
from granular_gym.training.command import main, make_parser
from granular_gym.training.sac import SAC, SacSettings

HELP = {
    "teacher": "policy in a file that reads the state vector and says what was to be done in each decision; '': none",
    "epochs": "passes over the demonstrations by which the actor is cloned",
    "critic_updates": "gradient steps of the critics alone after that",
    "clone_weight": "of the squared error to demonstrated actions in the actor's loss",
    "value_weight": "of entropy and the critics' values in it; 0: nothing but cloning",
    "gaze_weight": "of pixels: of the error of the vehicle's pose in it",
    "updates": "gradient steps per decision of an env",
    "warm_up": "decisions before own experience is learned from; from scratch they are random",
    "batch": "transitions per gradient step",
    "width": "of the hidden layers",
    "learning_rate": "of networks and temperature",
    "discount": "per decision",
    "n_steps": "n of n-step returns",
    "temperature": "of the entropy at the beginning",
    "log_std": "largest log standard deviation of actions, before tanh",
    "entropy": "aimed at, per number of an action",
    "capacity": "decisions in the replay buffer",
    "hindsight": "share of own experience that is relabelled with other goals (Bulldozer-v1)",
}


def parser() -> argparse.ArgumentParser:
    """The common arguments and those of SAC."""
    parser = make_parser((__doc__ or "").splitlines()[0])
    group = parser.add_argument_group("SAC")
    group.add_argument("--demonstrations", help="episodes of the expert to begin with (32), or a file of them; 0: none")
    group.add_argument("--chunk", type=int, default=960, help="decisions between checks of the time")
    for field in fields(SacSettings):
        if field.name in HELP:
            flag, kind = "--" + field.name.replace("_", "-"), type(field.default)
            group.add_argument(flag, type=kind, dest=field.name, help=f"{HELP[field.name]} ({field.default})")
    return parser


def make_model(env: Any, seed: int, args: argparse.Namespace) -> SAC:
    """SAC as the arguments say, then the task's recipe, then the defaults."""
    given = {name: getattr(args, name) for name in HELP if getattr(args, name) is not None}
    shown = None
    if args.demonstrations is not None and args.demonstrations.isdigit():
        given["demonstrations"] = int(args.demonstrations)
    elif args.demonstrations is not None:
        shown = demonstrations.load(Path(args.demonstrations))
    return SAC(env, seed, SacSettings.of(env.batch.spec.id, bool(env.features.kind.names), **given), shown)


if __name__ == "__main__":
    sys.exit(main(parser(), "SAC", lambda args: args.chunk, make_model))
