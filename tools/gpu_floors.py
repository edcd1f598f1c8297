"""gpu_floors.py: the least time of a substep of the promised scenes on a GPU, by what it is made of.

    python tools/gpu_floors.py

Runs a bed of 1,000 grains on the emulator with its instrument (testbed/traffic.py, BEDS), as the kernels of each
promised scene do, and prints per grain and substep the bytes that leave a multiprocessor and those that a second-level
cache misses, and how often blocks meet; and, for an H200 and an H100, the least time by each: memory, second-level
cache, the instructions of sweeps alone, meetings. A step takes no less than the largest of them, and no more than their
sum and what waits in between. Rates were measured on an H200 (benchmarks.gpu limits); those of an H100 follow from its
data sheet.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from testbed.traffic import BEDS, in_process, totals  # noqa: E402

SWEEPS = 10


@dataclass(frozen=True)
class Gpu:
    """What a GPU does in a second, and how long blocks take to meet [s]."""

    memory: float  # [B/s]
    second: float  # gathers of 32 bytes from the second-level cache [B/s]
    issue: float  # instructions of warps
    meeting: float


#: 132 multiprocessors with four schedulers each; an H100's memory gives 3.35 TB/s for an H200's 4.8
GPUS = {
    "H200": Gpu(4.2e12, 4.8e12, 132 * 4 * 1.94e9, 0.91e-6),
    "H100": Gpu(2.95e12, 4.8e12, 132 * 4 * 1.94e9, 0.91e-6),
}


@dataclass(frozen=True)
class Promise:
    """A promised scene."""

    grains: int
    #: of a contact in a sweep (cuda_loops.py); with the loop around it, where threads have one in each colour
    instructions: int
    #: colours after which blocks meet in a sweep
    meetings: int
    target: float  # [us]
    measured: float  # on an H200 [us]


#: measured by the version of 2026-11-27
PROMISES = {
    "1 x 50,000": Promise(50_000, 374, 10, 50.0, 607.9),
    "1 x 500,000": Promise(500_000, 306, 11, 400.0, 2536.0),
    "148 x 10,000": Promise(1_480_000, 306, 11, 1000.0, 5679.0),
    "1,024 x 1,000": Promise(1_024_000, 289, 0, 683.0, 2433.0),
}


def floors(counts: dict[str, float], promise: Promise, gpu: Gpu) -> dict[str, float]:
    """The least time of a substep by each of its parts [us]; counts: of one grain, and of a team."""
    contacts = 0.5 * counts["contacts"]
    return {
        "memory": 1e6 * promise.grains * counts["missed"] / gpu.memory,
        "second level": 1e6 * promise.grains * counts["cold"] / gpu.second,
        "sweeps": 1e6 * promise.grains * SWEEPS * contacts * promise.instructions / 32.0 / gpu.issue,
        "meetings": 1e6 * (counts["beside"] + SWEEPS * promise.meetings) * gpu.meeting if promise.meetings else 0.0,
    }


def main() -> int:
    """Exit status 0."""
    print(f"{'scene':<16}{'cold':>7}{'missed':>8}{'beside':>8}{'contacts':>10}  {'GPU':<6}", end="")
    print("".join(f"{name:>14}" for name in ("memory", "second level", "sweeps", "meetings")), end="")
    print(f"{'promised':>10}{'measured':>10}")
    for name, measured in in_process(BEDS).items():
        sums = totals(measured)
        sweeps = measured["phases"]["sweep_colour"].get("team", 0.0)
        counts = {**sums, "contacts": measured["contacts"], "beside": sums["team"] - sweeps}
        promise = PROMISES[name]
        for gpu, rates in GPUS.items():
            told = f"{counts['cold']:7.0f}{counts['missed']:8.0f}{counts['beside']:8.1f}{counts['contacts']:10.2f}"
            print(f"{name:<16}{told}  {gpu:<6}", end="")
            print("".join(f"{value:14.0f}" for value in floors(counts, promise, rates).values()), end="")
            print(f"{promise.target:10.0f}{promise.measured if gpu == 'H200' else float('nan'):10.0f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
