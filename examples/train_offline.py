"""train_offline.py: learns a policy from a dataset alone: behaviour cloning, IQL or TD3+BC.

    python -m granular_gym dataset Bulldozer-v1 --kind noisy --out noisy.npz
    python -m granular_gym record Silo-v1 --episodes 32 --arg frame_skip=2 --arg grain_count=300
    python examples/train_offline.py noisy.npz [--method iql] [--updates 10000 | --minutes 5] [--seed 0] [--out FOLDER]
    python examples/train_offline.py granular_gym/Silo-v1/expert-v0 --method bc
    python -m granular_gym play Bulldozer-v1 --policy FOLDER/policy.safetensors

Writes the policy with its card (policy.safetensors) and report.json: what it, random actions and the expert earn on
episodes of 300 grains, with settings, versions and command. The learners are in granular_gym/training/offline.py. Needs
the `train` extra: pip install "granular_gym[train]".
"""

from __future__ import annotations

import argparse
import json
import math
import os
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict, fields
from pathlib import Path

from granular_gym.base import cache, checks
from granular_gym.errors import GranularError
from granular_gym.recording.files import Dataset
from granular_gym.recording.learning import demonstrations_of
from granular_gym.tasks.registry import short_name
from granular_gym.training import demonstrations
from granular_gym.training.command import without_out
from granular_gym.training.demonstrations import Demonstrations
from granular_gym.training.export import write_policy
from granular_gym.training.offline import METHODS, Offline, OfflineSettings, env_of, make_learner
from granular_gym.training.recipes import EPISODES, OFFICIAL
from granular_gym.training.run import prepare

HELP = {
    "batch": "transitions per gradient step",
    "width": "of the hidden layers",
    "learning_rate": "of all networks",
    "discount": "per decision",
    "n_steps": "n of n-step returns",
    "expectile": "IQL: of the values of actions, that of a state",
    "inverse_temperature": "IQL: of the weights of actions",
    "value_weight": "TD3+BC: of the critics' value beside the squared error",
}
UPDATES, CHUNK = 10_000, 100


def parser() -> argparse.ArgumentParser:
    """The command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument(
        "dataset",
        help="of python -m granular_gym dataset (a file, .npz), or of record (id or folder, Minari)",
    )
    parser.add_argument("--method", choices=tuple(METHODS), default="iql")
    limit = parser.add_mutually_exclusive_group()
    limit.add_argument("--updates", type=int, help=f"gradient steps; default: {UPDATES}")
    limit.add_argument("--minutes", type=float, help="of training instead, by wall clock")
    parser.add_argument("--seed", type=int, default=0, help="of weights and what is drawn from the dataset")
    parser.add_argument("--episodes", type=int, default=EPISODES, help="of the evaluation, each with its own seed")
    parser.add_argument("--out", type=Path, help="folder; default: out/offline/TASK_KIND_METHOD_SEED")
    for field in fields(OfflineSettings):
        if field.name in HELP:
            flag, kind = "--" + field.name.replace("_", "-"), type(field.default)
            parser.add_argument(flag, type=kind, dest=field.name, help=f"{HELP[field.name]} ({field.default})")
    return parser


def load(name: str) -> Demonstrations:
    """The dataset of a file, or of Minari."""
    path = Path(name)
    is_file = path.is_file() or path.suffix == ".npz"
    return demonstrations.load(path) if is_file else demonstrations_of(Dataset(name))


def train(learner: Offline, updates: int | None, minutes: float | None) -> float:
    """Learns up to a limit; returns the seconds."""
    begun = time.perf_counter()
    if minutes is None:
        learner.learn(UPDATES if updates is None else updates)
    else:
        end = 60.0 * checks.number("minutes", minutes, 0.0)
        while time.perf_counter() - begun < end:
            learner.learn(CHUNK)
    return time.perf_counter() - begun


def main(words: Sequence[str] | None = None) -> int:
    """Learns, evaluates, writes; returns the exit status (2: bad arguments, or a file that was not written)."""
    args = parser().parse_args(words)
    given = {name: getattr(args, name) for name in HELP if getattr(args, name) is not None}
    try:
        settings = OfflineSettings(method=args.method, **given)
        prepare(args.seed)
        checks.integer("episodes", args.episodes, 1)
        dataset = load(args.dataset)
        env = env_of(dataset)
        learner = make_learner(env, dataset, args.seed, settings)
        env.close()
        name = f"{short_name(dataset.about['task'])}_{dataset.about['kind']}_{args.method}_{args.seed}"
        folder: Path = args.out or Path("out/offline") / name
        folder.mkdir(parents=True, exist_ok=True)
        seconds = train(learner, args.updates, args.minutes)
        command = ["python", os.path.relpath(sys.argv[0]), *without_out(sys.argv[1:] if words is None else words)]
        card = learner.card(name, " ".join(command), seconds)
        card["arguments"] = {**card["arguments"], **OFFICIAL}
        write_policy(folder / "policy.safetensors", learner, card, args.episodes)
        report = {key: card[key] for key in ("command", "task", "algorithm", "seed", "seconds", "versions")}
        report |= {"settings": asdict(settings), "updates": learner.updates, "dataset": dataset.about}
        share = card["results"]["share_of_expert"]  # NaN, which JSON has not, where random actions earn as much
        known = math.isfinite(share)
        report |= {"evaluation": {**card["results"], "share_of_expert": share if known else None}}
        report |= {"arguments": card["arguments"]}
        cache.write_atomic(folder / "report.json", (json.dumps(report, indent=1) + "\n").encode())
    except (GranularError, OSError) as error:
        print(f"train_offline.py: {error}", file=sys.stderr)
        return 2
    results = card["results"]
    for who in ("learned", "random", "expert"):
        print(f"{who:8} return {results[who]['return']:8.4g}   success {results[who].get('success', 0.0):4.0%}")
    text = f"{share:.0%} of the distance from random to the expert; " if known else ""
    print(f"{text}policy and report: {folder}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
