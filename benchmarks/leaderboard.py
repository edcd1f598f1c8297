"""leaderboard.py: docs/leaderboard.md, from what is in benchmarks/results/learning; nothing is measured here.

    python -m benchmarks.leaderboard [--check]

--check writes nothing; the exit status is 1 where the page is not that of the results.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).resolve().parent / "results" / "learning"
PAGE = Path(__file__).resolve().parents[1] / "docs" / "leaderboard.md"

HEAD = """# Leaderboard

Made by `python -m benchmarks.leaderboard` from `benchmarks/results/learning/summary.json`. A row is a learner on a
task: its policy without noise plays 20 episodes that no run trained on (300 grains, `fast`, medium, seeds 100,000 to
100,019). *Share* is (learned - random) / (expert - random) of the mean returns: the interquartile mean over seeds of
training with its 95 % bootstrap interval, then that of each seed. Minutes of training include demonstrations, not the
evaluation; where a dash stands it was not noted. A planner does not train: its minutes are those of all 20 episodes,
its env steps those tried. How a row of one's own is made:
[learning](learning.md#a-row-of-ones-own).

"""
COLUMNS = (
    "task", "learner", "share of the expert [%]", "of each seed [%]", "success [%]", "env steps",
    "min: wall, processor", "commit", "command",
)  # fmt: skip


def percent(value: float) -> str:
    """A share in percent."""
    return f"{100.0 * value:.0f}"


def row(task: str, label: str, found: dict[str, Any]) -> str:
    """A line of the table.

    Args:
        task: its name.
        label: of the learner.
        found: as `benchmarks/learning.py` sums it up.
    """
    share = percent(found["iqm"])
    if "interval" in found:
        share += f" ({percent(found['interval'][0])} to {percent(found['interval'][1])})"
    processor = found.get("cpu_minutes")
    return line(
        [
            task,
            label,
            share,
            ", ".join(map(percent, found["shares"])),
            ", ".join("-" if success is None else percent(success) for success in found["success"]),
            f"{statistics.median(found['env_steps']):,.0f}",
            f"{found['minutes']:g}, {'-' if processor is None else format(statistics.median(processor), '.0f')}",
            found.get("commit", "-"),
            f"`{found['command']}`",
        ]
    )


def line(cells: Sequence[str]) -> str:
    """Of a table in Markdown."""
    return f"| {' | '.join(cells)} |\n"


def page(summary: dict[str, Any]) -> str:
    """The page, tasks by name, the best learner of each first."""
    lines = [HEAD, line(COLUMNS), line(["---"] * len(COLUMNS))]
    for task in sorted(name for name, part in summary.items() if isinstance(part, dict)):
        learners = {label: found for label, found in summary[task].items() if label != "baselines"}
        best = sorted(learners, key=lambda label: -learners[label]["iqm"])
        lines += [row(task, label, learners[label]) for label in best]
    return "".join(lines)


def main(words: list[str] | None = None) -> int:
    """Writes the page, or compares it."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--check", action="store_true", help="write nothing; status 1 where the page is not up to date")
    args = parser.parse_args(words)
    wanted = page(json.loads((RESULTS / "summary.json").read_text()))
    if not args.check:
        PAGE.write_text(wanted)
    elif not PAGE.exists() or PAGE.read_text() != wanted:
        print(f"{PAGE}: not that of {RESULTS}; python -m benchmarks.leaderboard writes it", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
