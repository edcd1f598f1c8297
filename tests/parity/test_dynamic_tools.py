"""Tools with a mass on a GPU: the bits of the CPU, phase by phase and over steps."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import granular_gym as gg
from testbed.dynamic_tools import press, pressed, targets
from testbed.parity import SPHERE_KERNELS, pair, same
from tests.parity.test_phases import first_difference

MODES: list[dict[str, Any]] = [{"mode": "gauss_seidel"}, {"mode": "jacobi"}]


#: settings that a kernel a phase needs no case of their own for: the phases are those of the others
ALSO: list[dict[str, Any]] = [{"tolerance": 2e-3, "iterations": 12}, {"spin": False}]


@pytest.mark.parametrize(
    ("solver", "kernel"),
    [
        pytest.param(solver, kernel, marks=pytest.mark.full if kernel == "graph" and solver in ALSO else ())
        for solver in (*MODES, *ALSO)
        for kernel in SPHERE_KERNELS
    ],
    ids=str,
)
def test_steps(kernel: str, solver: dict[str, Any]) -> None:
    """Grains, tools, wrenches, images; forces set between steps, a state carried over."""
    cpu, gpu = pair(lambda: pressed(240), kernel, env_count=2, **solver)
    with cpu, gpu:
        for world in (cpu, gpu):
            world.set_tool_force("ball", (0.1, 0.0, 0.1), envs=1)
        assert press(cpu, 12) == press(gpu, 12)  # by then the lid lies on the grains
        same(cpu, gpu)
        for name in ("ball", "lid"):
            np.testing.assert_array_equal(cpu.tool_velocity(name), gpu.tool_velocity(name))
            np.testing.assert_array_equal(cpu.tool_force(name), gpu.tool_force(name))
        np.testing.assert_array_equal(cpu.tool_poses, gpu.tool_poses)
        assert np.abs(cpu.wrenches[0, 1:]).max() > 0.0
        gpu.load_state(cpu.save_state(env=1), envs=0)
        assert gpu.state_hash(0) == cpu.state_hash(1)
        wrong = cpu.tool_poses
        wrong[0, 1, 2] += np.float32(1e-3)
        with pytest.raises(gg.ArgumentError, match="^tool_poses: expected NaN"):
            gpu.step(1e-3, 1, tool_poses=wrong)


@pytest.mark.parametrize("mode", MODES, ids=str)
def test_every_phase(mode: dict[str, str]) -> None:
    """Substeps with contacts, in two envs of which one has a tool taken out."""
    solver = gg.Solver(**mode)
    with pressed(240).build(2, device="cpu", num_threads=1, solver=solver) as before:
        press(before, 8)
        state = before.save_state()
    cpu = pressed(240).build(2, device="cpu", num_threads=1, solver=solver)
    gpu = pressed(240).build(2, device="cuda", solver=solver)
    with cpu, gpu:
        for world in (cpu, gpu):
            world.load_state(state)
            world.set_tool_active("lid", False, envs=1)
        for k in range(8, 11):
            assert first_difference(cpu, gpu, 5e-4, targets(k)) == "", f"substep {k}"
        assert cpu.state_hash(0) == gpu.state_hash(0) != cpu.state_hash(1) == gpu.state_hash(1)
