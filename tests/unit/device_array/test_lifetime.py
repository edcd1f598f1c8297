"""How long the memory of a DeviceArray lives: exports, threads, reuse, memory that runs out, a lost device."""

from __future__ import annotations

import subprocess
import sys
import threading
from typing import Any

import numpy as np
import pytest
from device_helpers import NAMES, build, emulated_memory, free_memory, needs_emulator, needs_gpu
from dlpack_consumer import OnHost, drop, take

import granular_gym as gg
from granular_gym.engine.device import cuda_devices


@needs_gpu
def test_later_calls_leave_an_array_alone(gpu):
    kept = [(gpu.read("positions", "device"), gpu.positions)]
    for _ in range(6):
        gpu.step(1e-3, 3)
        gpu.read("positions", "device")  # dropped at once: its memory may be used again
        kept.append((gpu.read("positions", "device"), gpu.positions))
    assert not np.array_equal(kept[0][1], kept[-1][1])
    for array, host in kept:
        assert np.array_equal(array.numpy(), host)
    gpu.close()
    for array, host in kept:
        assert np.array_equal(array.numpy(), host)
        assert np.array_equal(np.from_dlpack(OnHost(array)), host)


@needs_emulator
def test_memory_goes_with_the_last_export(scene):
    before = free_memory()
    world = build(scene)
    arrays = [world.read(name, "device") for name in NAMES]
    host = arrays[0].numpy()
    first = take(arrays[0].__dlpack__())
    second = take(arrays[0].__dlpack__(max_version=(1, 0)))
    view = arrays[0].reshape(540)
    world.close()
    held = free_memory()
    assert held < before
    del arrays
    assert held < free_memory() < before, "exports hold what they export, and nothing else"
    with emulated_memory(first.tensor.data, 540) as values:
        assert np.array_equal(values, host.ravel())
    drop(first)
    del view
    assert free_memory() < before
    thread = threading.Thread(target=drop, args=(second,))
    thread.start()
    thread.join()
    assert free_memory() == before


@needs_emulator
@pytest.mark.parametrize("asked", [{}, {"max_version": (1, 0)}, {"copy": True}, {"dl_device": (1, 0)}])
def test_a_capsule_that_nobody_took_frees_itself(scene, asked):
    before = free_memory()
    with build(scene) as world:
        array = world.read("positions", "device")
    array.__dlpack__(**asked)
    taken = take(array.__dlpack__(**asked))
    del array
    assert (free_memory() == before) == ("dl_device" in asked)
    drop(taken)
    assert free_memory() == before


@needs_emulator
def test_memory_is_used_again_only_when_nobody_holds_it(gpu):
    def place(array: gg.DeviceArray) -> int:
        return int(array.__cuda_array_interface__["data"][0])

    first = gpu.read("positions", "device")
    exported = take(first.__dlpack__(stream=-1))
    del first
    assert all(place(gpu.read("positions", "device")) != exported.tensor.data for _ in range(5))
    where = exported.tensor.data
    drop(exported)
    places = {place(array) for array in [gpu.read("positions", "device") for _ in range(5)]}
    assert where in places
    steady = free_memory()
    for _ in range(100):
        gpu.step(1e-3, 1)
        arrays = [gpu.read(name, "device") for name in ("positions", "velocities")]
        assert len({place(array) for array in arrays}) == 2
    assert free_memory() == steady
    for count in range(1, 200):  # of another size each
        gpu.put(np.zeros(1000 * count, np.uint8))
    assert steady - free_memory() < 64 * 200_000, "what is kept for later has a limit"


@needs_emulator
def test_no_room_is_an_error_and_the_world_goes_on(gpu, monkeypatch):
    total = int(cuda_devices()[0]["memory"])
    kept = gpu.read("positions", "device")
    host = gpu.positions  # takes the room that it needs on the way to the host
    del kept  # its memory waits for another array
    monkeypatch.setenv("GG_EMULATOR_MEMORY", str(total - free_memory()))
    assert free_memory() == 0
    assert gpu.put(np.ones(100, np.uint8)).numpy().all(), "what waits is given up first"
    held = [gpu.put(np.zeros(100, np.uint8))]
    with pytest.raises(MemoryError, match="taking 2160000000 bytes"):
        gpu.put(np.zeros(2_160_000_000 // 8, np.float64))
    with pytest.raises(MemoryError, match="taking"):
        for _ in range(100):
            held.append(gpu.read("positions", "device"))
    assert np.array_equal(gpu.positions, host)
    with pytest.raises(MemoryError):
        held.append([held[0].__dlpack__(copy=True) for _ in range(1000)])
    gpu.step(1e-3, 5)
    monkeypatch.delenv("GG_EMULATOR_MEMORY")
    assert np.array_equal(gpu.read("positions", "device").numpy(), gpu.positions)


@needs_gpu
def test_arrays_dropped_on_other_threads_while_the_world_steps(gpu):
    stop = threading.Event()
    faults: list[str] = []

    def consume(place: list[Any]) -> None:
        while not stop.is_set():
            if place:
                array, host = place.pop()
                managed = take(array.__dlpack__(max_version=(1, 0)))
                if not np.array_equal(array.numpy(), host):
                    faults.append("changed")
                del array
                drop(managed)

    places: list[list[Any]] = [[], []]
    threads = [threading.Thread(target=consume, args=(place,)) for place in places]
    for thread in threads:
        thread.start()
    for _ in range(40):
        gpu.step(1e-3, 1)
        for place in places:
            place.append((gpu.read("positions", "device"), gpu.positions))
    stop.set()
    for thread in threads:
        thread.join()
    assert not faults


LOST = """
import os, sys, numpy as np, granular_gym as gg
scene = gg.Scene(((0, 0, 0), (1, 1, 1)))
sand = scene.add_material(density=1600.0, radius=0.01)
scene.add_grains(sand, [[0.5, 0.5, 0.5]])
world = scene.build(device="cuda")
array = world.read("positions", "device")
if sys.argv[1] == "fork":
    child = os.fork()
    if child:
        sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
    word = "spawn"
else:
    os.environ["GG_EMULATOR_FAIL"] = "1"
    word = "launch failure"
for call in (lambda: world.step(1e-3), array.numpy, array.__dlpack__, lambda: world.read("radii", "device")):
    try:
        call()
    except gg.BackendError as error:
        if word in str(error):
            continue
        print(error)
    os._exit(3)
del array
world.close()
"""


@needs_emulator
@pytest.mark.parametrize("way", ["fork", "lost"])
def test_a_lost_device_and_a_fork_are_errors(way, tmp_path):
    # elsewhere, or the folder of the source would stand before the emulated package on the path
    done = subprocess.run([sys.executable, "-c", LOST, way], capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
