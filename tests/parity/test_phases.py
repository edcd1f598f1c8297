"""Phase by phase: after each phase of a substep every array of a world is the same on the CPU and on a GPU."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import granular_gym as gg
from testbed.beds import DT, GRAVITY
from testbed.heaps import blade_pose, trough
from testbed.parity import (
    BELL,
    KERNELS,
    SPHERE_KERNELS,
    TABLE,
    clumped,
    fielded,
    forced,
    heap,
    mixed,
    moist,
    pair,
    planar,
    poses,
    rough,
    same,
    scooped,
    tabled,
)
from testbed.planar import planks_on_rack

#: arrays that may differ, and after which phases (None: all), as they are specific to a device there
OWN: dict[str, set[str] | None] = {
    "cell_cursor": None,  # GPU only
    "cell_point": None,  # CPU only
    "hash_head": None,  # chains of the linked hash, in any order
    "hash_next": None,
    "uncoloured": None,  # in any order
    "uncoloured_slot": None,
    "uncoloured_first": None,
    "colour_tally": None,  # GPU only
    "colour_contact": None,
    "push": None,
    "sweep_own": None,
    "sweep_other": None,
    # sorting leaves half of its memory in any state: that of tangents until they are there, and that of energies
    "continuum_tangent": {"allocate_contacts", "list_contacts", "continuum_key", "continuum_order", "continuum_begin"}
    | {"continuum_list", "continuum_open_blocks", "continuum_open_nodes", "continuum_regularise"}
    | {f"liquid_{part}" for part in ("open", "count", "share", "measure", "crowd", "flow", "flow_iterate")}
    | {"liquid_press_iterate", "liquid_keep_iterate"},
    "matter_first": None,
    "continuum_given": None,  # a GPU does not copy what nodes say; what they are given shows in their sums
    "next_count": {"order"},  # grains that a GPU has not yet sorted
    # a GPU computes the residual only on request
    "slice_stats": {"iterate", "planar_iterate", "note_change", "sum_tool_impulses", "sync_tools", "spread_tools"},
}
CASES: dict[str, tuple[Any, dict[str, Any]]] = {
    "heap": (lambda: heap(60), {}),
    "linked_hash": (lambda: heap(60), {"broad_phase": "linked_hash"}),
    "paper": (lambda: heap(60), {"mode": "paper", "iterations": 5}),
    "tolerance": (lambda: heap(60), {"tolerance": 2e-3, "iterations": 12}),
    "mixed": (mixed, {}),
    "moist": (moist, {}),
    "scooped": (scooped, {}),
    "rough": (rough, {}),
    "rough_linked_hash": (rough, {"broad_phase": "linked_hash"}),
    "jacobi": (lambda: heap(60), {"mode": "jacobi"}),
    "jacobi_linked_hash": (lambda: heap(60), {"mode": "jacobi", "broad_phase": "linked_hash"}),
    "jacobi_tolerance": (lambda: heap(60), {"mode": "jacobi", "tolerance": 2e-3, "iterations": 12}),
    "jacobi_mixed": (mixed, {"mode": "jacobi"}),
    "jacobi_moist": (moist, {"mode": "jacobi"}),
    "jacobi_scooped": (scooped, {"mode": "jacobi"}),
    "jacobi_rough": (rough, {"mode": "jacobi"}),
    "clumps": (clumped, {}),
    "fields": (fielded, {}),
    "clumps_tolerance": (clumped, {"tolerance": 2e-3, "iterations": 12}),
    "bell": (forced, {"mode": "bell", "bell": BELL}),
    "bell_rkf45": (forced, {"mode": "bell", "bell": BELL, "integrator": "rkf45", "tolerance": 1e-3}),
    "table": (tabled, {"mode": "table", "table": TABLE}),
    "planar": (planar, {"iterations": 12}),
    "penalty": (planar, {"mode": "penalty", "stiffness": 1e5}),
}
#: whose substeps are many times as long on an emulated GPU
LONG = {"clumps", "clumps_tolerance", "fields", "bell_rkf45"}


def first_difference(one: gg.World, other: gg.World, dt: float, tool_poses: Any = None) -> str:
    """The first phase and arrays in which a substep of two worlds differs; empty: equal."""
    targets = None
    if tool_poses is not None:
        targets = np.ascontiguousarray(np.broadcast_to(tool_poses, (one.env_count, one.tool_count, 7)), np.float32)
    traces = [world._core.trace(dt, targets) for world in (one, other)]
    for (phase, number, here), (also, same_number, there) in zip(*traces, strict=True):
        assert (phase, number) == (also, same_number)
        allowed = {name for name, phases in OWN.items() if phases is None or phase in phases}
        differing = sorted(name for name in here if here[name] != there[name] and name not in allowed)
        if differing:
            return f"{phase} {number}: {', '.join(differing)}"
    return ""


@pytest.mark.parametrize("name", CASES)
@pytest.mark.filterwarnings("ignore::granular_gym.errors.StabilityWarning")
def test_every_phase(name: str, full: bool) -> None:
    """Six substeps of a bed in motion, in two envs; three, where these are long."""
    make, settings = CASES[name]
    solver, dt = gg.Solver(**settings), 5e-4
    with make().build(device="cpu", num_threads=1, solver=solver) as before:
        for k in range(4):
            before.step(dt, 60, tool_poses=poses(k, before))
        state = before.save_state()
    cpu = make().build(env_count=2, device="cpu", num_threads=1, solver=solver)
    gpu = make().build(env_count=2, device="cuda", solver=solver)
    with cpu, gpu:
        for world in (cpu, gpu):
            world.load_state(state, envs=[1])  # env 0 is as built
        for k in range(4, 7 if name in LONG and not full else 10):
            assert first_difference(cpu, gpu, dt, poses(k, cpu)) == "", f"substep {k - 4}"
        assert int(cpu.stats["contact_count"][1]) > 10
        assert cpu.state_hash(1) == gpu.state_hash(1)


def test_planks_on_narrow_tools() -> None:
    """Which touch them between the points of their outlines."""
    solver = gg.Solver(iterations=12)
    with planks_on_rack().build(device="cpu", num_threads=1, solver=solver) as before:
        before.step(5e-4, 60)
        state = before.save_state()
    with (
        planks_on_rack().build(device="cpu", num_threads=1, solver=solver) as cpu,
        planks_on_rack().build(device="cuda", solver=solver) as gpu,
    ):
        for world in (cpu, gpu):
            world.load_state(state)
        for k in range(4):
            assert first_difference(cpu, gpu, 5e-4) == "", f"substep {k}"
        assert np.abs(cpu.wrenches[0, :2, 1]).min() > 0.0 and cpu.state_hash(0) == gpu.state_hash(0)


@pytest.mark.parametrize("make", [lambda: heap(60), scooped], ids=["heap", "scooped"])
def test_with_a_tool_taken_out(make: Any) -> None:
    """In env 1 of two; depth images too."""
    with make().build(env_count=2, device="cpu", num_threads=1) as cpu, make().build(env_count=2, device="cuda") as gpu:
        for world in (cpu, gpu):
            world.set_tool_active(0, False, envs=1)
            assert world.tools_active.tolist() == [[True], [False]]
        for k in range(3):
            assert first_difference(cpu, gpu, 5e-4, poses(k, cpu)) == "", f"substep {k}"
        for camera in cpu.camera_names:
            assert np.array_equal(cpu.depth(camera), gpu.depth(camera))
        assert cpu.state_hash(0) == gpu.state_hash(0) != cpu.state_hash(1) == gpu.state_hash(1)


@pytest.mark.parametrize("mode", ["gauss_seidel", "jacobi"])
def test_asleep(mode: str) -> None:
    """An env that sleeps beside one that does not; a tool that comes near the first wakes it."""
    solver, dt = gg.Solver(sleep=True, mode=mode, iterations=20), 1e-3
    far = [(-0.13, 0.0, 0.3, 1.0, 0.0, 0.0, 0.0)]
    with heap(60).build(device="cpu", num_threads=1, solver=solver) as before:
        before.set_tool_poses(far)
        for _ in range(200):
            before.step(dt, 20)
        assert before.stats["asleep_share"][0] == 1.0
        state = before.save_state()
    cpu = heap(60).build(env_count=2, device="cpu", num_threads=1, solver=solver)
    gpu = heap(60).build(env_count=2, device="cuda", solver=solver)
    with cpu, gpu:
        for world in (cpu, gpu):
            world.load_state(state, envs=[1])  # env 0 is as built
        shares = []
        for k in range(6):
            # above the heap first, then down into it
            target = np.array([far] * 2)
            target[1, 0, 0] += 0.01 * k
            target[1, 0, 2] -= 0.1 * max(k - 2, 0)
            assert first_difference(cpu, gpu, dt, target) == "", f"substep {k}"
            for name, values in cpu.stats.items():
                np.testing.assert_array_equal(values, gpu.stats[name], err_msg=name)
            np.testing.assert_array_equal(cpu.wall_wrenches, gpu.wall_wrenches)
            shares.append(cpu.stats["asleep_share"].tolist())
        assert shares[0] == [0.0, 1.0] and shares[-1][0] == 0.0
        assert cpu.stats["iteration_count"][1] > 0 and shares[-1][1] < 0.5


@pytest.mark.parametrize("kernel", KERNELS)
def test_steps_asleep(kernel: str) -> None:
    """Whole steps of both schedules, in which envs fall asleep, wake and sleep again."""
    cpu, gpu = pair(lambda: heap(60), kernel, 2, sleep=True)
    with cpu, gpu:
        shares = []
        for k in range(4):
            for world in (cpu, gpu):
                if k == 0:
                    world.set_gravity((0.0, 0.0, 0.0))
                    world.set_grains(velocities=np.zeros((2, 60, 3), np.float32))
                if k == 3:
                    world.set_gravity((0.0, 0.0, -GRAVITY), envs=[1])
                world.step(1e-3, 2)
            same(cpu, gpu)
            shares.append(cpu.stats["asleep_share"].tolist())
        assert shares == [[0.0, 0.0], [0.0, 0.0], [1.0, 1.0], [1.0, 0.0]]


@pytest.mark.parametrize("kernel", SPHERE_KERNELS)
def test_part_asleep(kernel: str) -> None:
    """Steps in which a heap sleeps while a blade ploughs another; then all wakes."""
    with trough().build(device="cpu", num_threads=1) as before:
        before.step(DT, 1000)
        state = before.save_state()
    cpu, gpu = pair(trough, kernel, 2, sleep=True)
    with cpu, gpu:
        shares = []
        for k in range(8):
            for world in (cpu, gpu):
                if k == 0:
                    world.load_state(state)
                    world.set_tool_poses(np.tile(blade_pose(14), (2, 1, 1)))
                if k == 6:
                    world.set_gravity((0.0, 0.5, -GRAVITY), envs=[1])
                world.step(DT, 6, tool_poses=np.tile(blade_pose(15 + k), (2, 1, 1)))
            same(cpu, gpu)
            np.testing.assert_array_equal(cpu.wrenches, gpu.wrenches)
            np.testing.assert_array_equal(cpu.wall_wrenches, gpu.wall_wrenches)
            shares.append(cpu.stats["asleep_share"].tolist())
        gpu.load_state(cpu.save_state(env=0), envs=1)
        assert gpu.state_hash(1) == cpu.state_hash(0)
        assert 0.0 < shares[5][0] < 1.0 and shares[6][1] == 0.0 < shares[6][0]


def test_a_trace_is_a_substep() -> None:
    """The phases compared above are those of a step."""
    traced, stepped = (heap(60).build(device="cpu", num_threads=1) for _ in range(2))
    with traced, stepped:
        for k in range(20):
            stepped.step(1e-3, 1, tool_poses=poses(k, stepped))
            seen = [phase for phase, _, _ in traced._core.trace(1e-3, np.float32([poses(k, traced)]))]
        assert traced.state_hash() == stepped.state_hash()
        assert (
            seen[:3] == ["plan_tools", "watch_tools", "open_step"]
            and seen.count("advance_bodies") == traced.solver.iterations
        )
        assert seen[-2:] == ["close_substep", "arrive_tools"]


def test_a_difference_is_named() -> None:
    """Changes of one bit of a velocity and of a material are found in the first phase that reads them."""
    cpu, gpu = heap(60).build(device="cpu", num_threads=1), heap(60).build(device="cuda")
    with cpu, gpu:
        assert first_difference(cpu, gpu, 1e-3) == ""
        pairs, densities = gpu._core.get_materials()
        pairs[0, 0, 0, 0] = np.nextafter(pairs[0, 0, 0, 0], np.float32(1))
        gpu._core.set_materials(None, pairs, densities)
        assert first_difference(cpu, gpu, 1e-3) == "plan_tools 0: pair"
    cpu, gpu = heap(60).build(device="cpu", num_threads=1), heap(60).build(device="cuda")
    with cpu, gpu:
        velocities = np.zeros((1, 60, 3), np.float32)
        for world in (cpu, gpu):
            world.set_grains(velocities=velocities)
            velocities[0, 7, 0] = 1e-30
        assert first_difference(cpu, gpu, 1e-3).startswith("plan_tools 0: body_a")
