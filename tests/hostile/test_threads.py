"""How many threads worlds take, alone and many in one process, and that threads without work sleep.

Each test runs in a process of its own, whose threads, affinity and environment it may change. Quotas of control groups:
tests/c/test_cores.c; the threads themselves: tests/c/test_threads.c.
"""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

pytestmark = pytest.mark.skipif(not hasattr(os, "sched_getaffinity"), reason="needs Linux")

BEGIN = """
import os, threading, time
import gymnasium as gym
import granular_gym as gg

def build(count=60, env_count=1, num_threads=None, mode="gauss_seidel"):
    scene = gg.Scene(((-0.1, -0.1, 0.0), (0.1, 0.1, 5.0)))
    sand = scene.add_material(density=1600.0, radius=0.005)
    scene.fill_box(sand, (-0.1, -0.1, 0.0), (0.1, 0.1, 5.0), count=count)
    return scene.build(env_count, device="cpu", num_threads=num_threads, solver=gg.Solver(mode=mode))

def thread_count():
    return len(os.listdir("/proc/self/task"))

def states():
    # of all threads but this one: R while they run or spin, S while they sleep
    found = []
    for task in os.listdir("/proc/self/task"):
        if int(task) != threading.get_native_id():
            with open(f"/proc/self/task/{task}/stat") as file:
                found.append(file.read().rpartition(")")[2].split()[0])
    return found

def wait_until(condition):
    end = time.monotonic() + 60.0
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.01)

cores = len(os.sched_getaffinity(0))
at_import = thread_count()  # libraries have threads of their own
most = at_import + cores - 1
"""


def run(code: str, **environment: str) -> None:
    plain = {key: value for key, value in os.environ.items() if key != "OMP_NUM_THREADS"}
    done = subprocess.run(
        [sys.executable, "-c", BEGIN + code],
        env={**plain, **environment},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr


def test_a_default_takes_what_its_work_can_use() -> None:
    run("""
usable = gg.info()["threads"]  # a quota may lie below the affinity
assert 1 <= usable <= cores
assert build(500).num_threads == build(500, mode="paper").num_threads == 1
assert build(5000).num_threads == build(19_999, mode="paper").num_threads == 1
assert build(20_000, mode="paper").num_threads == min(usable, 2)
assert build(20_000).num_threads == 1  # a colour is less work to share than all contacts
assert build(40_000).num_threads == min(usable, 2)
assert build(60, env_count=3).num_threads == min(usable, 3)
world = build(60, num_threads=64)
assert world.num_threads == 64 and "num_threads=64" in repr(world)
world.num_threads = 2
assert world.num_threads == world.info["thread_count"] == 2
assert build(60).branch(2).num_threads == min(usable, 2)
""")


@pytest.mark.parametrize("value", ["1", "1,4"])
def test_omp_num_threads_limits_a_default(value: str) -> None:
    run(
        """
assert gg.info()["threads"] == 1
assert build(5000, env_count=8).num_threads == 1
assert build(60, num_threads=2).num_threads == 2
""",
        OMP_NUM_THREADS=value,
    )


def test_affinity_limits_a_default_and_what_runs() -> None:
    run("""
world = build(3000, num_threads=8)
world.step(1e-3, 5)
assert thread_count() <= most
before = thread_count()
os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
assert gg.info()["threads"] == 1 and build(5000, env_count=8).num_threads == 1
twin = build(3000, num_threads=8)
twin.step(1e-3, 5)
assert twin.state_hash() == world.state_hash() and thread_count() == before
""")


def test_importing_and_building_start_no_thread() -> None:
    run("""
worlds = [build(60, env_count=2) for _ in range(3)]
assert thread_count() == at_import
""")


@pytest.mark.parametrize("arguments", ["3000, 1, 64", "60, 32, 64"])
def test_threads_without_work_sleep(arguments: str) -> None:
    """More threads than cores are not started; those that are sleep while Python goes on."""
    run(f"""
world = build({arguments})
world.step(1e-3, 5)
assert thread_count() <= most
wait_until(lambda: "R" not in states())
""")


def test_many_worlds_share_threads() -> None:
    """Stepped from several threads of Python; each gives the bits that it gives alone."""
    run("""
worlds = [build(400 + 100 * k, env_count=1 + k % 3, num_threads=4) for k in range(6)]
twins = [build(400 + 100 * k, env_count=1 + k % 3, num_threads=1) for k in range(6)]

def play(world):
    for _ in range(10):
        world.step(1e-3, 3)

callers = [threading.Thread(target=play, args=(world,)) for world in worlds]
for caller in callers:
    caller.start()
for caller in callers:
    caller.join()
wait_until(lambda: thread_count() <= most)  # the system takes a moment to end those that were joined
for world, twin in zip(worlds, twins):
    play(twin)
    assert [world.state_hash(e) for e in range(world.env_count)] == [twin.state_hash(e) for e in range(twin.env_count)]
""")


def test_worlds_leave_no_threads_behind() -> None:
    """64 worlds have the threads of one, and their end, also by an exception, leaves none at work."""
    run("""
worlds = [build(60, env_count=2, num_threads=2) for _ in range(64)]
for world in worlds:
    world.step(1e-3, 2)
before = thread_count()
assert before <= most
wait_until(lambda: "R" not in states())
for world in worlds[::2]:
    world.close()
del worlds, world
for _ in range(64):
    with build(60, env_count=2, num_threads=2) as world:
        world.step(1e-3, 2)
assert thread_count() == before
wait_until(lambda: "R" not in states())
""")


def test_an_interrupted_step_leaves_threads_that_work() -> None:
    """Ctrl-C in the middle of a step on several threads; the next steps give the bits of a world left alone."""
    run("""
import signal
signal.signal(signal.SIGINT, signal.default_int_handler)
world, twin = build(3000, num_threads=2), build(3000, num_threads=1)
begin = world.save_state()
interrupt = threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT))
interrupt.start()
try:
    while True:
        world.step(1e-4, 100_000)
except KeyboardInterrupt:
    pass
wait_until(lambda: "R" not in states())
world.load_state(begin)
world.step(1e-3, 20)
twin.step(1e-3, 20)
assert world.state_hash() == twin.state_hash()
""")


def test_vector_envs_of_gymnasium() -> None:
    """Several worlds in one process, and in forked processes beside it while its own threads wait."""
    run("""
make = [lambda: gym.make("granular_gym/Level-v0", grain_count=200, num_threads=2)] * 3
together = gym.vector.SyncVectorEnv(make)
first, _ = together.reset(seed=4)
assert thread_count() <= most
apart = gym.vector.AsyncVectorEnv(make, context="fork")
second, _ = apart.reset(seed=4)
assert all((first[key] == second[key]).all() for key in first)
actions = together.action_space.sample()
for _ in range(3):
    ours, theirs = together.step(actions), apart.step(actions)
    assert all((ours[0][key] == theirs[0][key]).all() for key in ours[0])
apart.close()
together.close()
""")
