"""Continuous matter on a GPU: the bits of the CPU, phase by phase and over steps."""

from __future__ import annotations

import numpy as np
import pytest

import granular_gym as gg
from testbed.continuum import DT, blade_at, handle, handled, knead, kneaded, stir, stirred
from testbed.parity import KERNELS, pair, same
from tests.parity.test_phases import first_difference

SPACING = 0.04


@pytest.mark.parametrize("kernel", KERNELS[:1])  # its loops show only as they run: never a graph
def test_steps(kernel: str) -> None:
    cpu, gpu = pair(lambda: kneaded(SPACING), kernel, env_count=2)
    with cpu, gpu:
        for world in (cpu, gpu):
            world.set_gravity((0.0, 0.0, -4.0), envs=1)
        assert knead(cpu, 3) == knead(gpu, 3)
        same(cpu, gpu)
        np.testing.assert_array_equal(cpu.stresses, gpu.stresses)
        np.testing.assert_array_equal(cpu.plastic_strains, gpu.plastic_strains)
        np.testing.assert_array_equal(cpu.dilations, gpu.dilations)
        assert cpu.dilations.max() > 0.0
        for world in (cpu, gpu):
            world.transform_grains((0.0, 0.0, 0.01), 0.3, envs=1)
            world.set_continuum(world.stretches[0], 0.5, envs=1, dilations=world.dilations[0])
        assert knead(cpu, 1, 3) == knead(gpu, 1, 3)
        gpu.load_state(cpu.save_state(env=1), envs=0)
        assert gpu.state_hash(0) == cpu.state_hash(1) == gpu.state_hash(1)


def test_dynamic_tools() -> None:
    cpu, gpu = pair(lambda: handled(SPACING), KERNELS[0], env_count=1)
    with cpu, gpu:
        assert handle(cpu, 4) == handle(gpu, 4)
        same(cpu, gpu)
        np.testing.assert_array_equal(cpu.tool_angular_velocity("ball"), gpu.tool_angular_velocity("ball"))


@pytest.mark.parametrize("kernel", KERNELS)
def test_explicit_steps(kernel: str) -> None:
    cpu, gpu = pair(lambda: kneaded(SPACING), kernel, env_count=2, mode="explicit")
    with cpu, gpu:
        for world in (cpu, gpu):
            world.set_gravity((0.0, 0.0, -4.0), envs=1)
        assert knead(cpu, 3, substeps=3) == knead(gpu, 3, substeps=3)
        same(cpu, gpu)
    cpu, gpu = pair(lambda: handled(SPACING), kernel, env_count=1, mode="explicit")
    with cpu, gpu:
        assert handle(cpu, 3, substeps=3) == handle(gpu, 3, substeps=3)
        same(cpu, gpu)


@pytest.mark.filterwarnings("ignore::granular_gym.errors.StabilityWarning")
def test_liquid(full: bool) -> None:
    cpu, gpu = pair(stirred, KERNELS[0], env_count=1)
    with cpu, gpu:
        steps = 4 if full else 2
        assert stir(cpu, steps) == stir(gpu, steps)
        same(cpu, gpu)
        np.testing.assert_array_equal(cpu.stresses, gpu.stresses)


def test_every_phase() -> None:
    with kneaded(SPACING).build(2, device="cpu", num_threads=1) as before:
        knead(before, 4)
        state = before.save_state()
    cpu = kneaded(SPACING).build(2, device="cpu", num_threads=1)
    gpu = kneaded(SPACING).build(2, device="cuda")
    with cpu, gpu:
        for world in (cpu, gpu):
            world.load_state(state)
            world.set_tool_active("blade", False, envs=1)
        for k in range(4, 5):
            targets = np.broadcast_to(blade_at(k), (2, 1, 7)).astype(np.float32)
            assert first_difference(cpu, gpu, DT, targets) == "", f"substep {k}"
        assert cpu.state_hash(0) == gpu.state_hash(0) != cpu.state_hash(1) == gpu.state_hash(1)


@pytest.mark.filterwarnings("ignore::granular_gym.errors.StabilityWarning")
def test_every_phase_of_liquids() -> None:
    """Each as a kernel of its own, with the shared memory that its launch asks for."""
    with stirred().build(device="cpu", num_threads=1) as before:
        stir(before, 2)
        state, targets = before.save_state(), before.tool_poses.copy()
    targets[0, 0, 0] -= 1e-3
    targets[0, 2] = np.nan  # the buoy goes where it is pushed
    cpu, gpu = stirred().build(device="cpu", num_threads=1), stirred().build(device="cuda")
    with cpu, gpu:
        for world in (cpu, gpu):
            stir(world, 1)  # its buffers grow, which ends substeps
            world.load_state(state)
        assert first_difference(cpu, gpu, DT, targets) == ""
        assert cpu.state_hash(0) == gpu.state_hash(0)


def test_devices_are_told() -> None:
    with kneaded(SPACING).build(device="cuda") as world:
        assert world.continuous and world.spacing == SPACING
        assert isinstance(world.read("positions", output="device"), gg.DeviceArray)
