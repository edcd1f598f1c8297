"""transfer.py: policies of the package where they were not trained: more grains, other difficulties, other materials.

    python benchmarks/transfer.py [POLICY ...] [--episodes 10] [--threads 1] [--out benchmarks/results/learning]

Plays each policy, random actions and the expert on the same seeds, adds what it measured to OUT/transfer.json, and
prints a table. `kept` is the share of the expert's return there over that on the card.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from pathlib import Path
from typing import Any

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import granular_gym as gg
from benchmarks.measure import facts
from granular_gym.training.export import results_of
from granular_gym.training.pretrained import load_pretrained, pretrained_names
from granular_gym.training.recipes import EPISODES, FIRST_SEED

OUT = Path(__file__).resolve().parent / "results" / "learning"
#: drawn for each episode; the cohesion of 300 grains is at most about their weight
MATERIALS = gg.MaterialRanges(
    friction=(0.2, 0.8), density=(1000.0, 2500.0), cohesion=(0.0, 300.0), cohesion_range=(3e-3, 5e-3)
)
#: what differs from the official episodes
CASES: dict[str, dict[str, Any]] = {
    "2,000 grains": {"grain_count": 2000},
    "10,000 grains": {"grain_count": 10_000},
    "easy": {"difficulty": "easy"},
    "hard": {"difficulty": "hard"},
    "randomised": {"randomize": MATERIALS},
    "hard, randomised": {"difficulty": "hard", "randomize": MATERIALS},
}


def main() -> None:
    """Measures what is asked for."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("policies", nargs="*", metavar="POLICY", help="default: all that come with the package")
    parser.add_argument("--cases", nargs="*", choices=CASES, default=list(CASES))
    parser.add_argument("--episodes", type=int, default=EPISODES // 2)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--out", type=Path, default=OUT)
    args = parser.parse_args()
    path = args.out / "transfer.json"
    content: dict[str, Any] = json.loads(path.read_text()) if path.exists() else {}
    seeds = range(FIRST_SEED, FIRST_SEED + args.episodes)
    print(
        "| policy | case | return: learned, expert, random | share | kept | success: learned, expert |\n"
        + "|---" * 6
        + "|"
    )
    for name in args.policies or pretrained_names():
        policy = load_pretrained(name)
        card_share = policy.card["results"]["share_of_expert"]
        for case in args.cases:
            begin = time.perf_counter()
            found = results_of(policy, seeds, {**CASES[case], "num_threads": args.threads})
            found |= {"kept": found["share_of_expert"] / card_share, "seconds": time.perf_counter() - begin}
            content.setdefault(name, {})[case] = found
            returns = ", ".join(f"{found[who]['return']:.3f}" for who in ("learned", "expert", "random"))
            success = ", ".join(f"{found[who]['success']:.0%}" for who in ("learned", "expert"))
            share, kept = found["share_of_expert"], found["kept"]
            print(f"| {name} | {case} | {returns} | {share:.0%} | {kept:.0%} | {success} |", flush=True)
            content["facts"] = facts()
            path.write_text(json.dumps(content, indent=1) + "\n")


if __name__ == "__main__":
    main()
