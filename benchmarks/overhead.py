"""overhead.py: what Python adds to a batched env step: its time less the time spent inside the C core.

Every call that an env step makes into the core (the step itself, images, counters, box sums, copies) is timed; what is
left is checking, bookkeeping, infos and the arrays of NumPy or torch: by the clock on the wall (overhead_us), and in
time of the processor (overhead_cpu_us), which other programs on the machine hardly disturb. The clock's own cost is
measured beside it: it is in the figures and can be taken off.

While the core works, the processor's caches forget Python, and fetching it again is in these figures: they grow with
the time that a step takes on the CPU. warm_us and warm_cpu_us are the same step with a core that gives the answers of
the last one at once: what Python itself has to do.

    python -m benchmarks.overhead [--envs 1 1024]

prints warm_cpu_us of every task; the case `overhead` of benchmarks/run.py measures all of it for Bulldozer-v0.
"""

from __future__ import annotations

import argparse
import itertools
import statistics
import time
import warnings
from typing import Any

import gymnasium as gym

from benchmarks import measure
from benchmarks.measure import Row
from granular_gym.tasks.pace import Pace

TASK = "granular_gym/Bulldozer-v0"  # as it was since the first of these measurements
#: most that Python may add to a step [us], by number of envs
TARGET_US = {1: 30.0, 1024: 150.0}
WARM_STEPS = 200
#: tasks by name, all versions, and their arguments
VERSIONS: dict[str, dict[str, Any]] = {
    "Bulldozer-v0": {},
    "Bulldozer-v1": {},
    "Level-v0": {},
    "Level-v1": {},
    "Pour-v0": {},
    "Pour-v1": {},
    "Silo-v0": {},
    "Silo-v1": {},
    "GearTower-v0": {"gear_count": 2},
    "GearTower-v1": {"gear_count": 2},
    "Excavator-v0": {},
    "Excavator-v1": {},
}
COUNTERS = ("escaped_count", "fast_count", "diverged")


class Clocked:
    """A core whose calls are timed.

    Attributes:
        seconds: spent in calls so far, on the wall.
        cpu: the same in time of the processor, of the calling thread.
        calls: number of them.
        answers: None, or a list that takes the name and the answer of each call.
    """

    def __init__(self, core: Any) -> None:
        self._clocked = core
        self.answers: list[tuple[str, Any]] | None = None
        self.clear()

    def clear(self) -> None:
        """Begins anew."""
        self.seconds, self.cpu, self.calls = 0.0, 0.0, 0

    def __getattr__(self, name: str) -> Any:
        value = getattr(self._clocked, name)
        if not callable(value):
            return value

        def timed(*args: Any) -> Any:
            start, cpu = time.perf_counter(), time.thread_time()
            try:
                answer = value(*args)
            finally:
                self.seconds += time.perf_counter() - start
                self.cpu += time.thread_time() - cpu
                self.calls += 1
            if self.answers is not None:
                self.answers.append((name, answer))
            return answer

        # found at once from now on
        self.__dict__[name] = timed
        return timed


class Answering:
    """A core that gives the answers of an earlier step at once, in their order, and again after the last."""

    def __init__(self, answers: list[tuple[str, Any]]) -> None:
        self._answers = itertools.cycle(answers)

    def __getattr__(self, name: str) -> Any:
        def answer(*_: Any) -> Any:
            asked, value = next(self._answers)
            if asked != name:
                raise RuntimeError(f"core: expected the call {asked} of the step before, got {name}")
            return value

        self.__dict__[name] = answer
        return answer


def clock_cost(rounds: int = 2000) -> float:
    """What timing one call adds to the time outside of it [s], measured on a call that does nothing."""

    class Nothing:
        def call(self, *_: Any) -> None:
            pass

    bare = Nothing()
    clocked = Clocked(bare)
    clocked.call(1, 2)
    clocked.clear()
    start = time.perf_counter()
    for _ in range(rounds):
        clocked.call(1, 2)
    return max(0.0, (time.perf_counter() - start - clocked.seconds) / rounds)


def vector_step(envs: Any, steps: int) -> Row:
    """Python's own time of `steps` steps of a batch, and what the last one says of its accuracy.

    Args:
        envs: a granular vector env after its reset.
        steps: number of timed steps; two more come before, and one and WARM_STEPS behind.
    """
    world = envs.task.world
    plain, world._core = world._core, Clocked(world._core)
    core: Any = world._core
    try:
        actions = envs.action_space.sample()
        outside, cpu_outside, inside = [], [], []
        infos: dict[str, Any] = {}
        for k in range(steps + 2):
            core.clear()
            cpu, start = time.thread_time(), time.perf_counter()
            answer = envs.step(actions)
            whole, cpu_whole = time.perf_counter() - start, time.thread_time() - cpu
            # letting go of the images is the caller's
            infos = answer[-1]
            del answer
            if k >= 2:
                outside.append(1e6 * (whole - core.seconds))
                cpu_outside.append(1e6 * (cpu_whole - core.cpu))
                inside.append(1e6 * core.seconds)
        calls = core.calls
        waits = plain.info()["waits"]
        core.answers = []
        envs.step(actions)
        waits = plain.info()["waits"] - waits
        warm, cpu_warm = warm_steps(envs, actions, core.answers)
    finally:
        world._core = plain
    row: Row = {"envs": envs.num_envs, "grains": world.grain_count, "output": envs.output, "repeats": steps}
    row["overhead_us"] = measure.spread(outside)
    row["overhead_cpu_us"] = measure.spread(cpu_outside)
    row["warm_us"] = measure.spread(warm)
    row["warm_cpu_us"] = measure.spread(cpu_warm)
    row["core_us"] = measure.spread(inside)
    row["core_calls"] = calls
    row["waits"] = waits  # of the host for a GPU, in one step
    row["clock_us"] = 1e6 * clock_cost() * calls
    row.update(batch_quality(infos, world.grain_count))
    return row


def warm_steps(envs: Any, actions: Any, answers: list[tuple[str, Any]]) -> tuple[list[float], list[float]]:
    """Wall and processor times [us] of steps whose core gives these answers; the world's core is then that."""
    envs.task.world._core = Answering(answers)
    wall, cpu = [], []
    for _ in range(WARM_STEPS):
        began, start = time.thread_time(), time.perf_counter()
        envs.step(actions)
        wall.append(1e6 * (time.perf_counter() - start))
        cpu.append(1e6 * (time.thread_time() - began))
    return wall, cpu


def batch_quality(infos: dict[str, Any], grains: int) -> Row:
    """Residual, overlap and counters that the infos of a step tell, over all envs."""
    row: Row = {
        "residual": float(infos["residual"].max()),
        "overlap_mean_pct": 100.0 * float(infos["overlap_mean"].mean()),
        "overlap_max_pct": 100.0 * float(infos["overlap_max"].max()),
        "contacts_per_grain": float(infos["contact_count"].mean()) / grains,
    }
    return {**row, **{key: int(infos[key].sum()) for key in COUNTERS}}


def bulldozers(count: int, grains: int, device: str, output: str, pace: Pace) -> Any:
    """A batch of bulldozers after its first reset, whose env step is computed as `pace` says."""
    made = gym.make_vec(
        TASK,
        num_envs=count,
        vectorization_mode="vector_entry_point",
        grain_count=grains,
        preset="accurate",
        device=device,
        output=output,
        # threads that wait for each other would disturb what is measured
        num_threads=1,
    )
    made.task.pace = pace
    made.reset(seed=0)
    made.action_space.seed(0)
    return made


def overhead(quick: bool) -> list[Row]:
    """Batches of 1 to 1,024 bulldozers of few grains, on the CPU; how long the core takes does not matter."""
    rows = []
    for count in (1, 16) if quick else (1, 16, 128, 1024):
        envs = bulldozers(count, 20, "cpu", "numpy", Pace(2e-3, 2, 4))
        try:
            # most of the time goes to the images, which the core renders
            row = vector_step(envs, max(15, min(300, 4000 // count)) if not quick else 20)
        finally:
            envs.close()
        rows.append({"name": f"vector step of {count} bulldozers", "threads": 1, **row})
    return rows


def warm_task(name: str, count: int, settings: dict[str, Any]) -> float:
    """Median of warm_cpu_us of a task [us]; how its env step is computed does not matter."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        envs = gym.make_vec(
            f"granular_gym/{name}",
            num_envs=count,
            vectorization_mode="vector_entry_point",
            grain_count=60,
            num_threads=1,
            **settings,
        )
        envs.task.pace = Pace(1e-3, 1, 2)
        envs.max_episode_steps = None  # no episode ends
        envs.reset(seed=0)
    world = envs.task.world
    plain, world._core = world._core, Clocked(world._core)
    core: Any = world._core
    envs.action_space.seed(0)
    actions = envs.action_space.sample()
    try:
        envs.step(actions)  # what is prepared once is prepared
        core.answers = []
        envs.step(actions)
        return statistics.median(warm_steps(envs, actions, core.answers)[1])
    finally:
        world._core = plain
        envs.close()


def main() -> None:
    """Prints the table of tasks."""
    parser = argparse.ArgumentParser(description="processor time of Python in a warm batched env step")
    parser.add_argument("--envs", type=int, nargs="+", default=[1, 1024], help="envs of a batch [1 1024]")
    counts = parser.parse_args().envs
    print("task          ", *(f"{count:>6} envs [us]" for count in counts))
    for name, settings in VERSIONS.items():
        print(f"{name:14}", *(f"{warm_task(name, count, settings):16.0f}" for count in counts), flush=True)


if __name__ == "__main__":
    main()
