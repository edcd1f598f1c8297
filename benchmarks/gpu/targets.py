"""targets.py: the figures to be reached on a GPU, for the benchmarks and their report.

Uses the standard library only: tools/run_gpu.py reads it before packages are installed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Target:
    """A figure to be reached.

    Attributes:
        case: the case of benchmarks/gpu/run.py that measures it.
        name: the scene at its full size.
        figure: the column of the figure.
        wanted: its bound.
        at_most: an upper bound; else a lower one.
    """

    case: str
    name: str
    figure: str
    wanted: float
    at_most: bool = False


TARGETS: dict[str, Target] = {
    "blade": Target("speed", "50000 grains, blade, 1 ms", "us_per_step", 50.0, True),
    "bucket": Target("speed", "50000 grains, bucket, 0.5 ms", "times_real_time", 10.0),
    "large": Target("speed", "500000 grains at rest, 1 ms", "times_real_time", 2.5),
    "batch": Target("batch", "1024 envs x 1000 grains", "grain_steps_per_s", 1.5e9),
    "wide": Target("batch", "148 envs x 10000 grains", "times_real_time", 1.0),
    "bulldozer": Target("bulldozer", "1024 bulldozers x 1000 grains, 50 substeps", "env_steps_per_s", 3e4),
    "crossover": Target("crossover", "largest in real time", "real_time_grains", 1.5e6),
    "sky": Target("depth", "sky: 64 x 64, 1000 grains, 1024 envs", "images_per_s", 1e6),
    "side": Target("depth", "side: 64 x 64, 1000 grains, 1024 envs", "images_per_s", 1e6),
    "pile": Target("planar", "pile of 11000 #, 1 ms", "times_real_time", 1.0),
    "overhead_1": Target("overhead", "vector step of 1 bulldozers", "overhead_us", 20.0, True),
    "overhead_many": Target("overhead", "vector step of 1024 bulldozers", "overhead_us", 20.0, True),
}

#: envs, grains, layers of the beds on which kernels are compared
KERNEL_SIZES = (
    (1, 1_000, 10),
    (1, 10_000, 20),
    (1, 50_000, 20),
    (1, 500_000, 20),
    (64, 1_000, 10),
    (1024, 1_000, 10),
)
#: least number of grains in all envs for timings by phase
PHASES_FROM = 50_000
#: grains of each of two worlds that are stepped at the same time
STREAM_SIZES = (1_000, 10_000, 50_000)
#: sweeps of mode gauss_seidel that are at least as accurate as ten Jacobi iterations (docs/performance.md)
EQUAL_SWEEPS = 5
#: settings of the solver that are compared
MODES: dict[str, dict[str, Any]] = {
    "gauss_seidel": {},
    f"gauss_seidel, {EQUAL_SWEEPS} sweeps": {"iterations": EQUAL_SWEEPS},
    "jacobi": {"mode": "jacobi"},
}
#: cases of continuous matter, and limits of a GPU that docs/gpu.md shows
MATTER = ("rolling", "sand of 1000", "sand of 50653", "sand of 1000000", "envs of sand")
LIMITS = (
    "clock",
    "float operations 16 warps per multiprocessor",
    "gather 4 MB",
    "gather 32 MB",
    "gather 64 MB",
    "gather 1024 MB",
    "read 1024 MB",
    "copy read and written",
    "team barrier 64 blocks",
    "grid sync 64 blocks",
    "cluster barrier 16 blocks",
    "block barrier",
)
#: one persistent kernel for a step, whose envs are stepped by one block each or by many, and one kernel for each phase
#: in a CUDA graph
KERNELS = ("block", "team", "graph")
#: the most grains of an env that a block is tried with
BLOCK_GRAINS = 2_000
