"""The native batch with torch tensors and device arrays instead of NumPy arrays."""

from __future__ import annotations

import copy
import importlib.util
import pickle
import sys
from typing import Any

import numpy as np
import pytest
from env_helpers import same

import granular_gym as gg
from granular_gym.engine import outputs
from granular_gym.errors import ArgumentError
from granular_gym.tasks.pace import Pace

CUDA = gg.info()["devices"]["cuda"]
needs_gpu = pytest.mark.skipif(not CUDA["available"], reason=f"no cuda: {CUDA['reason']}")
EMULATED = CUDA["available"] and CUDA["gpus"][0]["name"] == "CPU emulating CUDA"
needs_torch = pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="torch is not installed")
DEPTHS = ("float32", "uint8")


@pytest.fixture
def cuda_vec(make_vec: Any) -> Any:
    """make_vec on the GPU; heaps are settled on the CPU before, which is faster than an emulated GPU."""
    if not CUDA["available"]:
        pytest.skip(f"no cuda: {CUDA['reason']}")
    make_vec(num_envs=1).reset(seed=0)
    return lambda **kwargs: make_vec(**{"num_envs": 2, "device": "cuda", **kwargs})


def on_host(answer: Any) -> Any:
    """The same with NumPy arrays."""
    if isinstance(answer, dict):
        return {key: on_host(value) for key, value in answer.items()}
    if isinstance(answer, tuple):
        return tuple(on_host(value) for value in answer)
    if isinstance(answer, gg.DeviceArray):
        return answer.numpy()
    return answer.cpu().numpy() if hasattr(answer, "cpu") else answer


def plain(answer: Any) -> Any:
    """Results of a NumPy env, with the reward type of the others."""
    if len(answer) == 2:
        return answer
    return answer[0], answer[1].astype(np.float32), *answer[2:]


def episodes(envs: Any, steps: int = 5) -> list[Any]:
    rng = np.random.default_rng(0)
    answers = [envs.reset(seed=3)]
    for _ in range(steps):
        answers.append(envs.step(rng.uniform(-1, 1, (envs.num_envs, 2))))
    return answers


@needs_gpu
@pytest.mark.parametrize("depth", DEPTHS)
@pytest.mark.parametrize("mode", ["NextStep", "SameStep"])
def test_device_arrays_hold_what_numpy_arrays_hold(cuda_vec: Any, mode: str, depth: str) -> None:
    settings = {"autoreset_mode": mode, "max_episode_steps": 3, "depth": depth}
    host, device = cuda_vec(**settings), cuda_vec(output="device", **settings)
    for expected, answer in zip(episodes(host), episodes(device), strict=True):
        arrays = [*answer[0].values(), *answer[1:-1]]
        assert all(isinstance(array, gg.DeviceArray) for array in arrays)
        assert same(on_host(answer), plain(expected))
    for key, space in device.single_observation_space.items():
        assert answer[0][key].shape == (2, *space.shape) and answer[0][key].dtype == space.dtype
    assert answer[1].dtype == np.float32 and answer[2].dtype == answer[3].dtype == bool


@needs_gpu
def test_observations_stay_on_the_device(cuda_vec: Any, monkeypatch: Any) -> None:
    envs = cuda_vec(output="device")
    kept = [envs.reset(seed=0)[0]]
    numbers = [on_host(kept[0])]
    core = envs.unwrapped.task.world._core

    class Watched:
        """The core, less the reads that bring grains or images to the host."""

        def __getattr__(self, name: str) -> Any:
            method = getattr(core, name)
            if name in ("depth", "depth_image", "get_grains"):

                def guarded(*arguments: Any) -> Any:
                    assert arguments[-1] is True, f"{name} went to the host"
                    return method(*arguments)

                return guarded
            if name == "read_results":

                def guarded_results(*arguments: Any) -> Any:
                    images, device = arguments[6], arguments[8]
                    assert device is True or not images, "images went to the host"
                    return method(*arguments)

                return guarded_results
            return method

    monkeypatch.setattr(envs.unwrapped.task.world, "_core", Watched())
    for _ in range(4):
        kept.append(envs.step(np.ones((2, 2)))[0])
        numbers.append(on_host(kept[-1]))
    monkeypatch.undo()
    envs.close()
    # returned arrays do not change later
    assert all(same(on_host(one), then) for one, then in zip(kept, numbers, strict=True))


@needs_gpu
@pytest.mark.parametrize("output", ["numpy", "device"])
@pytest.mark.parametrize("actions", ["numpy", "device"])
def test_a_step_hardly_waits_for_the_gpu(cuda_vec: Any, output: str, actions: str) -> None:
    """Once for the counters of the step, once for all that it is read for: sums and, as NumPy arrays, images."""
    envs = cuda_vec(output=output)
    envs.reset(seed=0)
    task, waits = envs.unwrapped.task, []
    task.pace, world = Pace(2e-3, 2, 4), task.world  # a long step is handed over in pieces
    for _ in range(3):
        given = world.put(np.ones((2, 2), np.float32), actions)
        before = world.info["waits"]
        envs.step(given)
        waits.append(world.info["waits"] - before)
    assert waits == [2] * 3


@needs_gpu
@pytest.mark.parametrize(
    ("name", "settings"),
    [
        ("Bulldozer-v1", {}),
        ("Level-v0", {}),
        ("Pour-v0", {}),
        ("Silo-v1", {"shaker": "wall"}),
        ("GearTower-v1", {"gear_count": 2}),
        ("Excavator-v0", {}),
    ],
)
def test_actions_on_the_gpu_stay_there(make_vec: Any, name: str, settings: dict[str, Any]) -> None:
    """The same observations, rewards and infos as with actions from the host, through resets; bits of the CPU."""
    rng, copies = np.random.default_rng(7), ("cpu", "cuda", "cuda")
    same_for_all = {"grain_count": 60, "max_episode_steps": 3, **settings}
    batches = [make_vec(f"granular_gym/{name}", 3, device=device, **same_for_all) for device in copies]
    for envs in batches:
        envs.unwrapped.task.pace = Pace(2e-3, 2, 4)
        envs.reset(seed=3)
    shape = batches[0].action_space.shape
    for _ in range(5):
        actions = rng.uniform(-1.5, 1.5, shape).astype(np.float32)
        given = actions, actions, batches[2].unwrapped.task.world.put(actions, "device")
        there = batches[2].unwrapped.task.take_actions(given[2], np.zeros(3, bool))
        assert there is given[2], "it is not copied"
        results = [envs.step(one) for envs, one in zip(batches, given, strict=True)]
        assert same(results[0], results[1]) and same(results[1], results[2])


@needs_gpu
def test_actions_on_the_gpu_that_are_not_as_they_should_be(cuda_vec: Any) -> None:
    envs = cuda_vec()
    envs.reset(seed=0)
    task = envs.unwrapped.task
    task.pace, world = Pace(2e-3, 2, 4), task.world
    with pytest.raises(ArgumentError, match=r"^actions: expected shape \(2, 2\), got \(2, 3\)"):
        envs.step(world.put(np.ones((2, 3), np.float32), "device"))
    # of another type: it comes to the host
    before, pose = world.info["waits"], task.pose.copy()
    envs.step(world.put(np.ones((2, 2), np.float64), "device"))
    assert world.info["waits"] == before + 3 and (task.pose != pose).any(axis=1).all()
    # the env at fault stays, the others move, and nothing is silent
    pose, bad = task.pose.copy(), np.ones((2, 2), np.float32)
    bad[1, 1] = np.nan
    with pytest.raises(ArgumentError, match=r"^actions: expected finite numbers, got one that is not at \[1, 1\]"):
        envs.step(world.put(bad, "device"))
    assert np.array_equal(task.pose[1], pose[1]) and not np.array_equal(task.pose[0], pose[0])
    assert np.allclose(world.tool_poses, world.drive_poses(task.pose), atol=1e-6)
    envs.step(np.ones((2, 2)))


@needs_gpu
def test_what_a_task_computes_on_the_host_is_copied_to_the_device(cuda_vec: Any) -> None:
    task = cuda_vec(output="device").unwrapped.task
    task.reset(np.arange(2, dtype=np.int32), [1, 2], None)
    observations = task.observe()
    copied = task.to_output(observations, "device")
    assert all(isinstance(array, gg.DeviceArray) for array in copied.values())
    assert same(on_host(copied), observations) and same(on_host(task.observe("device")), observations)


@needs_torch
@pytest.mark.parametrize("depth", DEPTHS)
@pytest.mark.parametrize("mode", ["NextStep", "SameStep"])
def test_torch_on_the_cpu(make_vec: Any, mode: str, depth: str) -> None:
    import torch

    settings = {"autoreset_mode": mode, "max_episode_steps": 3, "depth": depth}
    envs = make_vec(output="torch", **settings)
    for expected, answer in zip(episodes(make_vec(**settings)), episodes(envs), strict=True):
        tensors = [*answer[0].values(), *answer[1:-1]]
        assert all(isinstance(tensor, torch.Tensor) for tensor in tensors)
        assert same(on_host(answer), plain(expected))
    assert answer[1].dtype == torch.float32 and answer[2].dtype == answer[3].dtype == torch.bool


@needs_torch
@pytest.mark.skipif(not EMULATED, reason="a build with GG_CUDA=emulate is needed")
def test_torch_on_an_emulated_gpu(cuda_vec: Any, monkeypatch: Any) -> None:
    """output="torch" on a GPU, with copies instead of torch's own arrays, as torch does not support an emulated GPU."""
    import torch

    host, envs = cuda_vec(), cuda_vec(output="torch")
    streams = iter([0, 0, 2, 1, 0, 0])
    monkeypatch.setattr(outputs, "as_torch", lambda array: torch.from_numpy(array.numpy()))
    monkeypatch.setattr("granular_gym.tasks.gym_envs.torch_stream", lambda device: next(streams))
    rng = np.random.default_rng(0)
    seen = []
    pairs = [(host.reset(seed=3), envs.reset(seed=3))]
    for _ in range(5):
        actions = rng.uniform(-1, 1, (2, 2))
        pairs.append((host.step(actions), envs.step(torch.from_numpy(actions))))
        seen.append(envs.unwrapped.task.world.stream)
    assert seen == [0, 2, 1, 0, 0]
    assert all(same(on_host(answer), plain(expected)) for expected, answer in pairs)


@pytest.mark.skipif(EMULATED or not CUDA["available"], reason="a GPU is needed")
@needs_torch
def test_torch_on_a_gpu(cuda_vec: Any) -> None:
    import torch

    if not torch.cuda.is_available():
        pytest.skip("torch sees no GPU")
    settings = {"autoreset_mode": "SameStep", "max_episode_steps": 3, "num_envs": 8}
    host, envs = cuda_vec(**settings), cuda_vec(output="torch", **settings)
    rng = np.random.default_rng(0)
    streams = [torch.cuda.current_stream(), torch.cuda.Stream()]
    assert same(on_host(envs.reset(seed=3)), host.reset(seed=3))
    for step in range(8):
        actions = rng.uniform(-1, 1, (8, 2)).astype(np.float32)
        with torch.cuda.stream(streams[step % 2]):
            answer = envs.step(torch.from_numpy(actions).cuda())
            # read on the same stream, at once
            total = answer[0]["sky"].double().sum().item()
        assert all(tensor.is_cuda for tensor in (*answer[0].values(), *answer[1:4]))
        expected = plain(host.step(actions))
        assert same(on_host(answer), expected)
        assert total == pytest.approx(float(expected[0]["sky"].astype(np.float64).sum()))


@needs_torch
def test_actions_may_be_tensors(make_vec: Any) -> None:
    import torch

    ours, theirs = make_vec(), make_vec()
    for envs in (ours, theirs):
        envs.reset(seed=0)
    actions = np.array([[1, 0.5], [0.25, -1], [-0.5, 0]], np.float32)
    for tensor in (torch.tensor(actions), torch.tensor(actions, requires_grad=True), torch.tensor(actions).bfloat16()):
        assert same(ours.step(tensor), theirs.step(actions))
    with pytest.raises(gg.ArgumentError, match="^actions: expected shape"):
        ours.step(torch.zeros(2, 2))


@needs_gpu
def test_actions_may_lie_on_the_device(cuda_vec: Any) -> None:
    ours, theirs = cuda_vec(output="device"), cuda_vec()
    actions = np.array([[1, 0.5], [0.25, -1]], np.float32)
    for envs in (ours, theirs):
        envs.reset(seed=0)
    assert same(on_host(ours.step(ours.unwrapped.task.world.put(actions))), plain(theirs.step(actions)))


@pytest.mark.parametrize("clone", [copy.deepcopy, lambda env: pickle.loads(pickle.dumps(env))], ids=["copy", "pickle"])
def test_copies_keep_the_output(make_vec: Any, clone: Any) -> None:
    envs = make_vec(output="torch") if importlib.util.find_spec("torch") else make_vec()
    envs.reset(seed=1)
    twin = clone(envs)
    assert twin.unwrapped.output == envs.unwrapped.output
    assert same(on_host(envs.step(np.ones((3, 2)))), on_host(twin.step(np.ones((3, 2)))))
    twin.close()


def test_refusals(make_vec: Any, monkeypatch: Any) -> None:
    with pytest.raises(gg.ArgumentError, match="^output: expected one of"):
        make_vec(output="jax")
    with pytest.raises(gg.ArgumentError, match="^output: expected 'numpy' or 'torch' on the CPU"):
        make_vec(output="device", device="cpu")
    # "auto" is resolved at once, not at the first reset
    monkeypatch.delenv("GG_DEVICE", raising=False)
    monkeypatch.setattr("granular_gym.tasks.gym_envs.check_device", lambda device: "cpu")
    with pytest.raises(gg.ArgumentError, match=r"^output: .* \(device='auto'\)"):
        make_vec(output="device", device="auto")
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(gg.GranularError, match="pip install torch"):
        make_vec(output="torch")


def test_stable_baselines_wants_numpy(make_vec: Any) -> None:
    if importlib.util.find_spec("torch") is None:
        pytest.skip("torch is not installed")
    from granular_gym.training.sb3 import sb3_vec_env

    with pytest.raises(gg.ArgumentError, match="output='numpy'"):
        sb3_vec_env(make_vec(output="torch", autoreset_mode="SameStep").unwrapped)
