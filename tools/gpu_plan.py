"""gpu_plan.py: the stages of `make gpu`, their time budgets, and the state of a run.

Uses the standard library only: it runs before packages are installed.
"""

from __future__ import annotations

import argparse
import os
import shutil
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
WORK = ROOT / "build" / "gpu"
VENV = WORK / "venv"
PYTHON = str(VENV / "bin" / "python")
#: builds with other flags of nvcc, timed against the default build: flags, and their effect in words
VARIANTS: dict[str, tuple[str, str]] = {
    "fmad": ("-fmad=true", "contraction allowed: time over that without"),
    "128": ("-DGG_THREADS=128", "blocks of 128 threads: time over that with 256"),
    "512": ("-DGG_THREADS=512", "blocks of 512 threads: time over that with 256"),
    "resident768": ("-DGG_THREADS_RESIDENT=768", "768 threads on a multiprocessor: time over that with 512"),
    "resident1024": ("-DGG_THREADS_RESIDENT=1024", "1024 threads on a multiprocessor: time over that with 512"),
    "near": ("-DGG_NEAR_MOST=GG_NEAR_NOW", "iterates before the last sweep in memory: time over that with them near"),
}
#: (stage, group, budget [s] of ten minutes), in the order in which they run. A stage that ends early leaves its time to
#: the later ones; a stage may use up to twice its budget from such time
PLAN: tuple[tuple[str, str, float], ...] = (
    ("packages", "", 12.0),
    ("build", "", 150.0),
    ("info", "", 4.0),
    ("benchmark speed", "benchmarks", 16.0),
    ("benchmark batch", "benchmarks", 12.0),
    ("benchmark bulldozer", "benchmarks", 12.0),
    ("benchmark crossover", "benchmarks", 10.0),
    ("benchmark depth", "benchmarks", 6.0),
    ("benchmark planar", "benchmarks", 12.0),
    ("benchmark overhead", "benchmarks", 10.0),
    ("parity", "parity", 75.0),
    ("every kernel once", "sanitizer", 6.0),
    ("memcheck", "sanitizer", 14.0),
    ("racecheck", "sanitizer", 14.0),
    ("initcheck", "sanitizer", 14.0),
    ("synccheck", "sanitizer", 14.0),
    ("resources of kernels", "suite", 2.0),
    ("test suite, GPU", "suite", 30.0),
    ("test suite, CPU", "suite", 14.0),
    ("benchmark kernels", "benchmarks", 26.0),
    ("benchmark modes", "benchmarks", 16.0),
    ("benchmark limits", "benchmarks", 4.0),
    ("benchmark matter", "benchmarks", 12.0),
    ("benchmark streams", "benchmarks", 10.0),
    ("benchmark phases", "benchmarks", 8.0),
    ("benchmark sort", "benchmarks", 10.0),
    ("benchmark hash_size", "benchmarks", 10.0),
    ("benchmark gears", "benchmarks", 10.0),
    ("benchmark price", "benchmarks", 8.0),
    *((f"benchmark price, {name}", "benchmarks", 6.0) for name in VARIANTS),
    ("report", "", 12.0),
)
#: stages that all others need: they may use the time of later stages
ESSENTIAL = ("build", "info")
GROUPS = ("benchmarks", "parity", "sanitizer", "suite")
SANITIZERS = ("memcheck", "racecheck", "initcheck", "synccheck")
#: a stage with less time than this is not started [s]
LEAST = 3.0
#: cases of benchmarks/gpu/run.py in the order of PLAN, without the one that compares builds
PLAN_CASES = [name.split()[1] for name, kind, _ in PLAN if kind == "benchmarks" and "price" not in name]


def reserved(plan: tuple[tuple[str, str, float], ...], after: str, scale: float) -> float:
    """Seconds that are reserved for the stages after one."""
    names = [name for name, _, _ in plan]
    return scale * sum(seconds for _, _, seconds in plan[names.index(after) + 1 :])


def allowed(plan: tuple[tuple[str, str, float], ...], stage: str, left: float, scale: float = 1.0) -> float:
    """Seconds that a stage may take.

    Args:
        plan: the selected stages.
        stage: name of one of them.
        left: seconds until the end of the run.
        scale: length of the run over ten minutes.
    """
    own = scale * next(seconds for name, _, seconds in plan if name == stage)
    report = scale * plan[-1][2] if stage != plan[-1][0] else 0.0
    spare = left - reserved(plan, stage, scale)
    if stage in ESSENTIAL:
        return max(0.0, left - report)
    # time that was overrun is missing for the last stages; the next ones keep their budgets
    return max(0.0, min(left - report, max(own, min(2.0 * own, spare))))


class Run:
    """One run: its time, its environment variables, and the results of its stages."""

    def __init__(self, args: argparse.Namespace) -> None:
        self.args = args
        self.start = time.monotonic()
        self.end = self.start + 60.0 * args.minutes
        self.wanted = args.only.split(",") if args.only else list(GROUPS)
        self.plan = tuple(stage for stage in PLAN if not stage[1] or stage[1] in self.wanted)
        self.stages: list[dict[str, Any]] = []
        self.environment = {
            **os.environ,
            "GG_CUDA": "emulate" if args.emulate else "1",
            "GG_CUDA_ARCH": os.environ.get("GG_CUDA_ARCH") or "native",
            "PIP_DISABLE_PIP_VERSION_CHECK": "1",
            # or JAX would allocate most of the GPU's memory
            "XLA_PYTHON_CLIENT_PREALLOCATE": "false",
        }
        if not args.emulate:
            # tests that need nvcc must not be skipped
            self.environment["GG_EXPECT_NVCC"] = "1"
        folders = [os.environ.get("PYTHON_INCLUDE", ""), os.environ.get("CPATH", "")]
        if any(folders):
            self.environment["CPATH"] = ":".join(folder for folder in folders if folder)
        if not shutil.which("nvcc") and not os.environ.get("CUDA_HOME"):
            self.environment["CUDA_HOME"] = "/usr/local/cuda"

    def left(self) -> float:
        """Seconds until the end of the run."""
        return self.end - time.monotonic()

    def limit(self, stage: str) -> float:
        """Seconds that a stage may take."""
        return allowed(self.plan, stage, self.left(), self.args.minutes / 10.0)

    def reserved_for(self, stage: str) -> float:
        """Seconds that are reserved for a stage."""
        return self.args.minutes / 10.0 * next(seconds for name, _, seconds in PLAN if name == stage)

    def cut(self, stage: str) -> bool:
        """Whether there is no time left for a stage; records it as cut."""
        if self.limit(stage) >= LEAST * min(1.0, self.args.minutes / 10.0):
            return False
        self.note(stage, "cut", 0.0, why="there was no time left")
        return True

    def note(self, name: str, status: str, seconds: float, **facts: Any) -> None:
        """Records and prints the result of a stage."""
        self.stages.append({"stage": name, "status": status, "seconds": round(seconds, 1), **facts})
        text = ", ".join(f"{k} {v}" for k, v in facts.items() if k not in ("log", "failures"))
        print(f"{time.monotonic() - self.start:5.0f} s  {name:<24} {status:<8} {seconds:5.0f} s  {text}", flush=True)

    def command(
        self, name: str, words: list[str], limit: float, cores: list[int] | None = None, **environment: str
    ) -> tuple[str, float, str]:
        """Runs a command, output to build/gpu/<name>.log: status (passed, failed, timeout), seconds, output."""
        log = WORK / f"{name.replace('/', '_')}.log"
        start = time.monotonic()
        prefix = ["taskset", "-c", ",".join(map(str, cores))] if cores and shutil.which("taskset") else []
        with log.open("w") as out:
            process = subprocess.Popen(
                [*prefix, *words],
                cwd=ROOT,
                stdout=out,
                stderr=subprocess.STDOUT,
                env={**self.environment, **environment},
                start_new_session=True,
            )
            try:
                code = process.wait(max(0.1, min(limit, self.left())))
                status = "passed" if code == 0 else "failed"
            except subprocess.TimeoutExpired:
                status = "timeout"
                stop(process)
            except BaseException:
                stop(process)
                raise
        return status, time.monotonic() - start, log.read_text(errors="replace")


def stop(process: subprocess.Popen[Any]) -> None:
    """Ends a command and its child processes."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    process.wait()


def tail(text: str, lines: int = 12) -> str:
    """The last lines of a log."""
    return "\n".join(text.strip().splitlines()[-lines:])
