"""gpu_floors.py: the least time of a substep of the promised scenes on a GPU, by what it is made of.

    python tools/gpu_floors.py

Runs a bed of 1,000 grains on the emulator with its instrument (testbed/traffic.py, BEDS), as the kernels of each
promised scene do, with the sweeps of the default and with as many as are no less accurate than ten Jacobi iterations,
and prints per grain and substep the bytes that leave a multiprocessor and those that a second-level cache misses, and
how often blocks meet; and, for an H200 and an H100, the least time by each: memory, second-level cache, the
instructions of sweeps alone, meetings. A step takes no less than the largest of them, and no more than their sum and
what waits in between. Rates, and the times beside them, are those that make gpu measured on an H200; of an H100 the
memory is slower by its data sheet.
"""

from __future__ import annotations

import itertools
import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from benchmarks.gpu.roofline import BANDWIDTHS  # noqa: E402
from benchmarks.gpu.targets import TARGETS, Target  # noqa: E402
from testbed.traffic import BED_SWEEPS, BEDS, in_process, totals  # noqa: E402

REPORT = ROOT / "benchmarks" / "results" / "NVIDIA_H200" / "report.json"
SCHEDULERS = 4


@dataclass(frozen=True)
class Gpu:
    """What a GPU does in a second, and how long blocks take to meet [s]."""

    memory: float  # [B/s]
    second: float  # gathers of 32 bytes from the second-level cache [B/s]
    issue: float  # instructions of warps
    meeting: float


@dataclass(frozen=True)
class Promise:
    """A promised scene."""

    target: str  # of TARGETS
    grains: int
    #: of a contact in a sweep (cuda_loops.py); with the loop around it, where threads have one in each colour
    instructions: int
    #: colours after which blocks meet in a sweep
    meetings: int


PROMISES = {
    "1 x 50,000": Promise("blade", 50_000, 487, 10),
    "1 x 500,000": Promise("large", 500_000, 413, 11),
    "148 x 10,000": Promise("wide", 1_480_000, 413, 11),
    "1,024 x 1,000": Promise("batch", 1_024_000, 288, 0),
}


def gpus(report: dict[str, Any]) -> dict[str, Gpu]:
    """The GPU that was measured, an H200, and an H100, by their limits."""
    limits = {row["name"]: row["value"] for row in report["cases"]["limits"]["rows"]}
    issue = limits["multiprocessors"] * SCHEDULERS * 1e6 * limits["clock"]
    second, meeting = 1e9 * limits["gather 4 MB"], 1e-6 * limits["team barrier 64 blocks"]
    memory = 1e9 * limits["copy read and written"] / BANDWIDTHS["H200"]
    return {name: Gpu(memory * BANDWIDTHS[name], second, issue, meeting) for name in ("H200", "H100")}


def promised(target: Target, grains: int) -> float:
    """The longest substep that keeps a promise [us]; substeps are of 1 ms."""
    times = {"times_real_time": 1e3 / target.wanted, "grain_steps_per_s": 1e6 * grains / target.wanted}
    return times.get(target.figure, target.wanted)


def floors(counts: dict[str, float], promise: Promise, gpu: Gpu, sweeps: int) -> dict[str, float]:
    """The least time of a substep by each of its parts [us]; counts: of one grain, and of a team."""
    contacts = 0.5 * counts["contacts"]
    return {
        "memory": 1e6 * promise.grains * counts["missed"] / gpu.memory,
        "second level": 1e6 * promise.grains * counts["cold"] / gpu.second,
        "sweeps": 1e6 * promise.grains * sweeps * contacts * promise.instructions / 32.0 / gpu.issue,
        "meetings": 1e6 * (counts["beside"] + sweeps * promise.meetings) * gpu.meeting if promise.meetings else 0.0,
    }


def main() -> int:
    """Exit status 0."""
    report = json.loads(REPORT.read_text())
    print(f"{'scene':<16}{'sweeps':>8}{'cold':>7}{'missed':>8}{'beside':>8}{'contacts':>10}  {'GPU':<6}", end="")
    print("".join(f"{name:>14}" for name in ("memory", "second level", "sweeps", "meetings")), end="")
    print(f"{'promised':>10}{'measured':>10}")
    beds = in_process(BEDS)
    for (name, promise), sweeps in itertools.product(PROMISES.items(), BED_SWEEPS):
        measured = beds[f"{name}, {sweeps} sweeps"]
        sums = totals(measured)
        within = measured["phases"]["sweep_colour"].get("team", 0.0)
        counts = {**sums, "contacts": measured["contacts"], "beside": sums["team"] - within}
        target = TARGETS[promise.target]
        (row,) = (row for row in report["cases"][target.case]["rows"] if row["name"] == target.name)
        took = {("H200", BED_SWEEPS[0]): f"{row['us_per_step']['median']:10.0f}"}
        for gpu, rates in gpus(report).items():
            told = f"{counts['cold']:7.0f}{counts['missed']:8.0f}{counts['beside']:8.1f}{counts['contacts']:10.2f}"
            print(f"{name:<16}{sweeps:8}{told}  {gpu:<6}", end="")
            print("".join(f"{value:14.0f}" for value in floors(counts, promise, rates, sweeps).values()), end="")
            print(f"{promised(target, promise.grains):10.0f}{took.get((gpu, sweeps), '')}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
