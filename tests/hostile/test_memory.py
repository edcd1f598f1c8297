"""Out of memory: a world that cannot be built or read raises MemoryError; the process and its worlds continue.

Each case runs in its own process: a limit of the address space is permanent, and a crash must not end the tests.
Failures inside the engine are tested in C, one allocation at a time: tests/c/test_memory.c.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

PREAMBLE = """
import numpy as np
import granular_gym as gg

def make_scene(count):
    scene = gg.Scene(((-0.1, -0.1, 0.0), (0.1, 0.1, 2.0)))
    sand = scene.add_material(density=1600.0, radius=0.01)
    scene.fill_box(sand, (-0.1, -0.1, 0.0), (0.1, 0.1, 2.0), count=count)
    scene.add_tool(gg.Sdf.sphere(0.02), pose=(0, 0, 1.9))
    scene.add_camera(gg.DepthCamera.perspective(height=8, width=8, pose=(0, 0, 1.95)), name="eye")
    return scene
"""

# all allocations of Python from the n-th on fail, for n = 1, 2, ... until a call succeeds
REFUSED_OBJECTS = """
import _testcapi

world = make_scene(60).build(env_count=2, num_threads=1)
core, frozen = world._core, world._frozen
fields, solver = dict(frozen.arrays), world.solver.fields()
poses = world.tool_poses
table, densities = core.get_materials()
state = core.save_state(0)
pictured = (0, np.array([1, 8, 8, -1], np.int32), np.array([0, 0, 1.9, 1, 0, 0, 0, 0.5, 0.01, 5], np.float32),
            np.array([0, 0, 1], np.float32), None, None, None, False, 1)
grid = np.zeros(3, np.float32), np.ones(3, np.float32), np.ones(3, np.int32)
calls = {
    "new": lambda: type(core)(env_count=2, solver=solver, thread_count=1, gpu=0, **fields),
    "step": lambda: core.step(1e-3, 1, poses),
    "info": lambda: core.info(),
    "get_grains": lambda: core.get_grains("position"),
    "get_materials": lambda: core.get_materials(),
    "set_materials": lambda: core.set_materials(None, table, densities),
    "get_stats": lambda: core.get_stats(),
    "get_counters": lambda: core.get_counters(np.ones(2, bool)),
    "box_stats": lambda: core.box_stats(np.zeros((2, 1, 6), np.float32)),
    "count_boxes": lambda: core.count_boxes(np.ones((2, 1, 10), np.float32) * 0.5),
    "count_cells": lambda: core.count_cells(*grid, np.zeros((2, 60), np.uint8)),
    "count_columns": lambda: core.count_columns(*(each[:2] for each in grid)),
    "depth": lambda: core.depth(0),
    "picture": lambda: core.picture(*pictured),
    "picture_depth": lambda: core.picture_depth(*pictured[:3]),
    "save_state": lambda: core.save_state(0),
    "load_state": lambda: core.load_state(None, [state]),
    "state_hash": lambda: core.state_hash(0),
    "set_solver": lambda: core.set_solver(solver),
    "profile": lambda: core.profile(True),
}
for name, call in calls.items():
    call()
    for n in range(1000):
        passed = False
        error = None
        _testcapi.set_nomemory(n, 0)
        try:
            call()
            passed = True
        except MemoryError:
            pass
        except BaseException as caught:
            error = caught
        finally:
            _testcapi.remove_mem_hooks()
        assert error is None, (name, n, repr(error))
        if passed:
            break
    assert passed, name
    print(name, n)
world.step(1e-3, 5)
assert np.isfinite(world.positions).all()
"""

# the limit of the address space is slightly above the present size of the process
NO_ROOM = """
import os
import resource

frozen = make_scene(2000).freeze()
small = gg.World(frozen, 1, num_threads=1)
small.step(1e-3, 5)
with open("/proc/self/statm") as file:
    held = int(file.read().split()[0]) * os.sysconf("SC_PAGE_SIZE")
limit = held + 300 * 2**20
resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
for env_count in (1000, 100000):
    for _ in range(20):
        try:
            gg.World(frozen, env_count, num_threads=1)
        except MemoryError as error:
            assert "memory" in str(error), error
        else:
            raise AssertionError("made")
for _ in range(20):
    try:
        small.branch(5000)
    except MemoryError:
        pass
    else:
        raise AssertionError("branched")
hash_before = small.state_hash()
with gg.World(frozen, 1, num_threads=1) as again:
    again.step(1e-3, 5)
    assert again.state_hash() == hash_before
small.step(1e-3, 5)
assert np.isfinite(small.positions).all()
"""


def run(code: str) -> str:
    """A separate process on the CPU: a GPU's driver reserves more address space than any limit."""
    settings = {**os.environ, "GG_DEVICE": "cpu"}
    done = subprocess.run(
        [sys.executable, "-c", PREAMBLE + code], env=settings, capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_objects_that_cannot_be_made() -> None:
    pytest.importorskip("_testcapi", reason="this Python has no _testcapi, which refuses memory")
    printed = run(REFUSED_OBJECTS)
    refused = {name: int(n) for name, n in (line.split() for line in printed.splitlines())}
    assert len(refused) == 20 and sum(n > 0 for n in refused.values()) >= 12


def test_worlds_that_do_not_fit() -> None:
    resource = pytest.importorskip("resource")
    assert resource.RLIMIT_AS is not None
    if "asan" in Path("/proc/self/maps").read_text():
        pytest.skip("AddressSanitizer reserves more address space than any limit")
    run(NO_ROOM)
