"""Episodes of every task on the CPU and on a GPU: observations and rewards are equal bit for bit.

On a GPU 500 env steps each, fewer where kernels run on the CPU, and with --full more of these.
"""

from __future__ import annotations

import sys
from pathlib import Path

import gymnasium as gym
import numpy as np
import pytest

import granular_gym as gg
from granular_gym.tasks.registry import newest_ids
from testbed.planar import pile_under_plunger

sys.path.insert(0, str(Path(__file__).parents[1] / "envs"))

from env_helpers import TASK_IDS, same, small

STEPS = 500
#: usual, with --full
EMULATED_STEPS = 4, 8


@pytest.fixture
def steps(full: bool) -> int:
    """Env steps of an episode here."""
    gpus = gg.info()["devices"]["cuda"]["gpus"]
    return EMULATED_STEPS[full] if "emulating" in gpus[0]["name"] else STEPS


@pytest.mark.parametrize("name", TASK_IDS)
def test_episode_of_a_task(name: str, steps: int) -> None:
    """Observations, rewards, flags and grains of two envs, from one reset to the next."""
    if name.split("/")[1].startswith(("AntOnSand", "ExcavatorForce")):
        pytest.importorskip("mujoco")
    cpu = gym.make_vec(name, num_envs=2, device="cpu", **small(name))
    answers = [cpu.reset(seed=5)]  # the bed is settled by the first, and read from the cache by the second
    gpu = gym.make_vec(name, num_envs=2, device="cuda", **small(name))
    assert gpu.unwrapped.task.world is None or gpu.unwrapped.task.world.device.startswith("cuda")
    assert same(answers[0], gpu.reset(seed=5))
    rng = np.random.default_rng(5)
    for step in range(steps):
        actions = rng.uniform(-1, 1, cpu.action_space.shape).astype(np.float32)
        answers.append(cpu.step(actions))
        assert same(answers[-1], gpu.step(actions)), f"step {step}"
    worlds = [envs.unwrapped.task.world for envs in (cpu, gpu)]
    assert worlds[0].device == "cpu" and worlds[1].device.startswith("cuda")
    for env in range(2):
        assert worlds[0].state_hash(env) == worlds[1].state_hash(env)
    # the episode is not trivial
    assert not same(answers[0][0], answers[-1][0])
    cpu.close()
    gpu.close()


@pytest.mark.parametrize("name", newest_ids())
def test_what_cameras_of_a_task_see(name: str) -> None:
    """Colours and classes through a reset of one env, on the host and as arrays that stay on the GPU."""
    if name.split("/")[1].startswith(("AntOnSand", "ExcavatorForce")):
        pytest.importorskip("mujoco")
    settings = {**small(name), "vision": ("rgb", "segmentation"), "num_envs": 2}
    cpu = gym.make_vec(name, device="cpu", **settings)
    answers = [cpu.reset(seed=5)[0]]  # the bed is settled by the first, and read from the cache by the others
    gpu, kept = (gym.make_vec(name, device="cuda", output=output, **settings) for output in ("numpy", "device"))
    assert same(answers[0], gpu.reset(seed=5)[0])
    held = [kept.reset(seed=5)[0]]
    actions = np.random.default_rng(5).uniform(-1, 1, cpu.action_space.shape).astype(np.float32)
    for number in range(3):
        if number == 1:
            mask = {"reset_mask": np.array([False, True])}
            one, two, three = (envs.reset(options=mask) for envs in (cpu, gpu, kept))
        else:
            one, two, three = (envs.step(actions) for envs in (cpu, gpu, kept))
        assert same(one[0], two[0]), f"step {number}"
        answers.append(one[0])
        held.append(three[0])
    for shown, there in zip(answers, held, strict=True):
        assert all(isinstance(array, gg.DeviceArray) for array in there.values())
        assert same(shown, {key: array.numpy() for key, array in there.items()})
    for key in shown:
        if key.endswith("_rgb"):
            assert not same(answers[0][key], answers[2][key]), "an env began again"
    for envs in (cpu, gpu, kept):
        envs.close()


@pytest.mark.parametrize("mode", ["ncp", "penalty"])
@pytest.mark.filterwarnings("ignore::granular_gym.errors.StabilityWarning")
def test_episode_of_planar_grains(mode: str, steps: int) -> None:
    """Two shapes under a tool that moves down and up."""
    springs = {"mode": "penalty", "stiffness": 1e5}
    solver, dt = (gg.Solver(**springs), 2e-4) if mode == "penalty" else (gg.Solver(iterations=20), 2e-3)
    cpu = pile_under_plunger(20).build(device="cpu", num_threads=1, solver=solver)
    gpu = pile_under_plunger(20).build(device="cuda", solver=solver)
    with cpu, gpu:
        cpu.step(dt, round(0.6 / dt))  # down to the heap, on the CPU, which is fast
        gpu.load_state(cpu.save_state())
        for step in range(steps):
            height = 0.6 - 0.4 * np.sin(np.pi * (step + 1) / steps)
            for world in (cpu, gpu):
                world.step(dt, 20, tool_poses=[[[0.4, height, 0, 1, 0, 0, 0]]])
            assert cpu.state_hash() == gpu.state_hash(), f"step {step}"
            np.testing.assert_array_equal(cpu.wrenches, gpu.wrenches)
        assert np.abs(cpu.wrenches).max() > 0 or cpu.stats["contact_count"][0] > 40
