"""Libraries that take a DeviceArray without a copy: torch, JAX, CuPy."""

from __future__ import annotations

import sys

import numpy as np
import pytest
from device_helpers import CUDA, EMULATED, NAMES, build, needs_gpu
from dlpack_consumer import OnHost

import granular_gym as gg


def test_torch_is_asked_for_only_when_needed(world, monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    assert world.read("radii").shape == (3, 60)
    with pytest.raises(gg.GranularError, match="pip install torch"):
        world.read("radii", "torch")


@needs_gpu
@pytest.mark.parametrize("versioned", [True, False])
def test_torch_takes_what_dlpack_gives(gpu, versioned):
    torch = pytest.importorskip("torch", reason="torch is not installed")
    for name in NAMES:
        array = gpu.read(name, "device")
        tensor = torch.from_dlpack(OnHost(array, versioned))
        assert np.array_equal(tensor.numpy(), array.numpy()) and tensor.is_contiguous()
    flags = torch.from_dlpack(OnHost(gpu.put(np.array([True, False])), versioned))
    assert flags.dtype == torch.bool and flags.tolist() == [True, False]


@needs_gpu
def test_jax_takes_what_dlpack_gives(gpu):
    dlpack = pytest.importorskip("jax.dlpack", reason="JAX is not installed")
    for name in NAMES:
        array = gpu.read(name, "device")
        assert np.array_equal(np.asarray(dlpack.from_dlpack(OnHost(array))), array.numpy())


def test_torch_tensors_on_the_cpu_share_the_array(scene):
    torch = pytest.importorskip("torch", reason="torch is not installed")
    with build(scene, device="cpu") as world:
        world.step(1e-3, 5)
        for name in NAMES:
            tensor = world.read(name, "torch")
            assert np.array_equal(tensor.numpy(), getattr(world, name)) and tensor.device.type == "cpu"
            tensor += 1  # the caller's own
            assert name == "grain_materials" or not np.array_equal(tensor.numpy(), getattr(world, name))
        assert all(isinstance(one, torch.Tensor) for one in world.box_stats((0, 0, 0), (1, 1, 1), "torch"))
        host = np.ones(3, np.float32)
        world.put(host, "torch")[0] = 5.0
        assert host[0] == 5.0, "no copy"


@pytest.mark.skipif(EMULATED or not CUDA["available"], reason="a GPU is needed")
def test_jax_on_a_gpu(scene):
    jax = pytest.importorskip("jax", reason="JAX is not installed")
    if jax.default_backend() != "gpu":
        pytest.skip("JAX sees no GPU")
    with build(scene) as world:
        array = world.read("positions", "device")
        taken = jax.dlpack.from_dlpack(array)
        assert taken.unsafe_buffer_pointer() == array.__cuda_array_interface__["data"][0]
        assert np.array_equal(np.asarray(taken), world.positions)


@pytest.mark.skipif(EMULATED or not CUDA["available"], reason="a GPU is needed")
def test_cupy_on_a_gpu(scene):
    cupy = pytest.importorskip("cupy", reason="CuPy is not installed")
    with build(scene) as world:
        array = world.read("positions", "device")
        for taken in (cupy.asarray(array), cupy.from_dlpack(array)):
            assert taken.data.ptr == array.__cuda_array_interface__["data"][0]
            assert np.array_equal(cupy.asnumpy(taken), world.positions)
        with cupy.cuda.Stream(non_blocking=True) as stream:
            world.set_stream(stream)
            world.step(1e-3, 2)
            total = float(cupy.asarray(world.read("velocities", "device")).astype(cupy.float64).sum())
        assert total == pytest.approx(float(world.velocities.astype(np.float64).sum()), abs=1e-6)


@pytest.mark.skipif(EMULATED or not CUDA["available"], reason="a GPU is needed")
def test_torch_on_a_gpu(scene):
    torch = pytest.importorskip("torch", reason="torch is not installed")
    if not torch.cuda.is_available():
        pytest.skip("torch sees no GPU")
    with build(scene) as world:
        array = world.read("positions", "device")
        tensor = torch.from_dlpack(array)
        assert tensor.is_cuda and tensor.data_ptr() == array.__cuda_array_interface__["data"][0]
        assert torch.as_tensor(array, device="cuda").data_ptr() == tensor.data_ptr()
        tensor += 1.0
        torch.cuda.synchronize()
        assert np.array_equal(array.numpy(), world.positions + 1.0), "one memory"
        side = torch.cuda.Stream()
        for stream in (side, torch.cuda.current_stream()):
            with torch.cuda.stream(stream):
                world.set_stream(stream)
                for _ in range(20):
                    world.step(1e-3, 2)
                    # read by torch on this stream with no waiting of ours, dropped while torch may still be busy
                    total = world.read("velocities", "torch").double().sum()
                assert total.item() == pytest.approx(float(world.velocities.astype(np.float64).sum()), abs=1e-6)
        for asked in ({"device": "cpu"}, {"copy": True}):
            assert np.array_equal(torch.from_dlpack(array, **asked).cpu().numpy(), array.numpy())
    assert np.isfinite(tensor.cpu().numpy()).all(), "the memory outlives the world"
