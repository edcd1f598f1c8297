"""Worlds under threads, forks, signals, copies and garbage collection.

Tests of forks and of resident memory run on the CPU, as a GPU's driver affects both. For a GPU see
tests/unit/test_cuda_build.py and device_array.
"""

from __future__ import annotations

import copy
import gc
import multiprocessing
import os
import pickle
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

import granular_gym as gg
from granular_gym.engine.frozen import FrozenScene


def make_scene(count: int = 60) -> gg.Scene:
    scene = gg.Scene(((-0.1, -0.1, 0.0), (0.1, 0.1, 2.0)))
    sand = scene.add_material(density=1600.0, radius=0.01)
    scene.fill_box(sand, (-0.1, -0.1, 0.0), (0.1, 0.1, 2.0), count=count)
    scene.add_tool(gg.Sdf.sphere(0.02), pose=(0, 0, 1.9))
    scene.add_camera(gg.DepthCamera.perspective(height=8, width=8, pose=(0, 0, 1.95)), name="eye")
    return scene


def every_call(world: gg.World) -> list:
    return [
        lambda: world.step(1e-3),
        lambda: world.positions,
        lambda: world.stats,
        lambda: world.wrenches,
        lambda: world.tool_poses,
        lambda: world.gravity,
        lambda: world.materials,
        lambda: world.air,
        lambda: world.set_air(viscosity=1e-5),
        lambda: world.set_pair(0, 0, friction=0.3),
        lambda: world.set_density(0, 1000.0),
        lambda: world.info,
        lambda: world.depth("eye"),
        lambda: world.picture("eye"),
        lambda: world.save_state(),
        lambda: world.state_hash(),
        lambda: world.box_stats((0, 0, 0), (1, 1, 1)),
        lambda: world.set_gravity((0, 0, 0)),
        lambda: world.set_grains(velocities=np.zeros((world.grain_count, 3))),
        lambda: world.transform_grains((0, 0, 0), 0.0),
        lambda: world.set_tool_poses([[0, 0, 1, 1, 0, 0, 0]]),
        lambda: world.set_solver(gg.Solver()),
        lambda: world.profile(True),
        lambda: world.branch(2),
        lambda: pickle.dumps(world),
        lambda: copy.deepcopy(world),
    ]


def test_use_after_close():
    world = make_scene().build()
    state = world.save_state()
    kept = world.positions
    world.close()
    world.close()
    assert world.closed and "closed" in repr(world)
    for call in [*every_call(world), lambda: world.load_state(state)]:
        with pytest.raises(gg.ClosedError, match="closed"):
            call()
    # arrays returned before own their memory
    assert np.isfinite(kept).all()


def test_context_manager_closes_after_an_error():
    with pytest.raises(ZeroDivisionError), make_scene().build() as world:
        raise ZeroDivisionError
    assert world.closed


def resident() -> int:
    """Resident memory [bytes]."""
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


@pytest.mark.parametrize("how", ["close", "drop"])
def test_a_thousand_worlds_leave_no_memory_behind(how):
    scene = make_scene(200)
    frozen = scene.freeze()

    def cycle() -> None:
        world = gg.World(frozen, 2, "cpu", num_threads=1)
        world.step(1e-3, 1)
        world.depth("eye")
        if how == "close":
            world.close()

    for _ in range(100):
        cycle()
    gc.collect()
    before = resident()
    for _ in range(1000):
        cycle()
    gc.collect()
    # a leak of the smallest array of a world would be more
    assert resident() - before < 2_000_000


def test_refused_worlds_leave_no_memory_behind():
    frozen = make_scene(200).freeze()
    arrays = {**frozen.arrays, "radius": -frozen.arrays["radius"]}
    bad = FrozenScene(arrays, frozen.tool_names, frozen.cameras)

    def cycle() -> None:
        with pytest.raises(gg.ArgumentError):
            gg.World(bad, 2, "cpu", num_threads=1)

    for _ in range(50):
        cycle()
    gc.collect()
    before = resident()
    for _ in range(500):
        cycle()
    gc.collect()
    assert resident() - before < 2_000_000


def test_reading_and_failing_leave_no_memory_behind():
    with make_scene(200).build(device="cpu", num_threads=1) as world:

        def cycle() -> None:
            for call in every_call(world)[1:13]:
                call()
            for call in (lambda: world.set_grains(np.zeros((3, 3))), lambda: world.depth("nose")):
                with pytest.raises(gg.ArgumentError):
                    call()

        for _ in range(50):
            cycle()
        gc.collect()
        before = resident()
        for _ in range(300):
            cycle()
        gc.collect()
        assert resident() - before < 2_000_000


def test_worlds_in_reference_cycles_are_collected():
    class Holder:
        pass

    gc.collect()
    before = resident()
    for _ in range(200):
        holder = Holder()
        holder.world = make_scene(500).build(device="cpu", num_threads=1)
        holder.me = holder
    del holder
    gc.collect()
    assert resident() - before < 30_000_000


def test_a_second_thread_meets_a_typed_error():
    world = make_scene(400).build(env_count=4)
    done: list[BaseException | str] = []

    def long_step() -> None:
        try:
            world.step(1e-3, 1500)
            done.append("finished")
        except BaseException as error:
            done.append(error)

    thread = threading.Thread(target=long_step)
    thread.start()
    busy = 0
    while thread.is_alive() and busy < 3:
        try:
            world.state_hash()
        except gg.BusyError:
            busy += 1
            with pytest.raises(gg.BusyError):
                world.close()
            with pytest.raises(gg.BusyError):
                world.step(1e-3)
        time.sleep(0.002)
    thread.join()
    assert busy == 3 and done == ["finished"]
    world.step(1e-3)
    world.close()


def test_two_worlds_in_two_threads_compute_the_same():
    scene = make_scene(200)
    expected = None
    hashes: list[int] = []

    def run() -> None:
        with scene.build(num_threads=2) as world:
            for _ in range(20):
                world.step(1e-3, 5)
            hashes.append(world.state_hash())

    run()
    expected = hashes.pop()
    threads = [threading.Thread(target=run) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert hashes == [expected] * 4


@pytest.fixture
def hears_ctrl_c():
    """Shells start background processes with SIGINT ignored."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def test_ctrl_c_stops_a_long_step_and_the_world_goes_on(hears_ctrl_c):
    world = make_scene(400).build(env_count=2)
    timer = threading.Timer(0.4, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    start = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        world.step(1e-3, 10**8)
    assert time.monotonic() - start < 10.0
    timer.join()
    # it is at the end of a complete substep: finite, readable, and a copy continues in the same way
    assert np.isfinite(world.positions).all()
    other = copy.deepcopy(world)
    for each in (world, other):
        each.step(1e-3, 5)
    assert world.state_hash() == other.state_hash()
    world.close()
    other.close()


def test_a_handler_that_raises_is_passed_on():
    class Alarm(Exception):
        pass

    def handler(*_: object) -> None:
        raise Alarm

    world = make_scene(400).build()
    old = signal.signal(signal.SIGALRM, handler)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.3)
        with pytest.raises(Alarm):
            world.step(1e-3, 10**8)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, old)
    world.step(1e-3)
    world.close()


def wait_for(pid: int, seconds: float) -> int:
    """Exit status of a child; a child that hangs is ended and fails the test."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        done, status = os.waitpid(pid, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.01)
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    pytest.fail("the forked child hangs")


@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
def test_a_child_forked_after_a_step_can_step():
    with make_scene(200).build(device="cpu", num_threads=2) as world:
        world.step(1e-3, 20)
        for _ in range(3):
            pid = os.fork()
            if pid == 0:
                status = 1
                try:
                    world.step(1e-3, 20)
                    with make_scene(100).build(device="cpu", num_threads=2) as fresh:
                        fresh.step(1e-3, 20)
                    status = 0
                finally:
                    os._exit(status)
            assert wait_for(pid, 60.0) == 0
        # the parent continues too, with the results of the children
        world.step(1e-3, 20)


@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
def test_a_fork_while_another_thread_steps():
    world = make_scene(400).build(device="cpu", num_threads=2)
    thread = threading.Thread(target=world.step, args=(1e-3, 4000))
    thread.start()
    time.sleep(0.05)
    pid = os.fork()
    if pid == 0:
        status = 1
        try:
            # the thread that was stepping is not in this process: its world stays busy, others work
            try:
                world.step(1e-3)
            except gg.BusyError:
                with make_scene(100).build(device="cpu", num_threads=2) as fresh:
                    fresh.step(1e-3, 20)
                status = 0
        finally:
            os._exit(status)
    stepping = thread.is_alive()
    status = wait_for(pid, 60.0)
    thread.join()
    if not stepping:
        pytest.skip("the machine was too fast: nothing was stepping at the fork")
    assert status == 0
    world.step(1e-3)
    world.close()


def hash_after(world: gg.World) -> int:
    world.step(1e-3, 20)
    return world.state_hash()


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
def test_worlds_travel_to_other_processes(method):
    with make_scene().build(env_count=2, device="cpu" if method == "fork" else "auto") as world:
        world.step(1e-3, 50)
        with multiprocessing.get_context(method).Pool(1) as pool:
            remote = pool.apply_async(hash_after, (world,)).get(120)
        assert remote == hash_after(world)


def test_daemon_workers_use_one_thread():
    with multiprocessing.get_context("fork").Pool(1) as pool:
        assert pool.apply_async(threads_used).get(60) == 1


def threads_used() -> int:
    with make_scene().build(device="cpu") as world:
        return world.num_threads


def test_pickles_of_every_protocol():
    with make_scene().build(env_count=2) as world:
        world.step(1e-3, 30)
        expected = world.state_hash()
        for protocol in range(2, pickle.HIGHEST_PROTOCOL + 1):
            with pickle.loads(pickle.dumps(world, protocol)) as other:
                assert other.state_hash() == expected
        cloudpickle = pytest.importorskip("cloudpickle")
        with pickle.loads(cloudpickle.dumps(world)) as other:
            assert other.state_hash() == expected


@pytest.mark.parametrize("ending", ["pass", "del world", "world.close()", "import os; os._exit(0)", "1/0"])
def test_the_interpreter_can_exit_at_any_time(ending):
    code = (
        "import granular_gym as gg\n"
        "scene = gg.Scene(((0, 0, 0), (1, 1, 1)))\n"
        "scene.fill_box(scene.add_material(density=1.0, radius=0.05), (0, 0, 0), (1, 1, 1), count=50)\n"
        "world = scene.build(env_count=2)\n"
        "world.step(1e-3, 5)\n"
        "kept = [world.positions, world]; kept.append(kept)\n"
        f"{ending}\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.returncode == (1 if ending == "1/0" else 0), done.stderr


def test_exit_while_a_daemon_thread_steps():
    code = (
        "import threading, time, granular_gym as gg\n"
        "scene = gg.Scene(((0, 0, 0), (1, 1, 1)))\n"
        "scene.fill_box(scene.add_material(density=1.0, radius=0.05), (0, 0, 0), (1, 1, 1), count=500)\n"
        "world = scene.build()\n"
        "threading.Thread(target=world.step, args=(1e-3, 10**8), daemon=True).start()\n"
        "time.sleep(0.3)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
