"""What a DeviceArray exports: DLPack capsules and the CUDA array interface, without a copy."""

from __future__ import annotations

import numpy as np
import pytest
from device_helpers import EMULATED, NAMES, build, emulated_memory, needs_emulator, needs_gpu
from dlpack_consumer import OnHost, Plain, Versioned, facts, inside

import granular_gym as gg


def test_the_structs_are_those_of_numpy():
    """NumPy's own capsules, read by the declarations above, say what NumPy says."""
    host = np.arange(24, dtype=np.float64).reshape(2, 3, 4)
    for asked, kind in (({}, Plain), ({"max_version": (1, 0)}, Versioned)):
        capsule = host.__dlpack__(**asked)
        managed = inside(capsule)
        if isinstance(managed, kind):  # NumPy 1.x and 2.0 know one form
            assert managed.tensor.data == host.ctypes.data and facts(managed.tensor)[:3] == (2, 64, 1)
            assert [n for n, _ in facts(managed.tensor)[4]] == [2, 3, 4]


@needs_gpu
@pytest.mark.parametrize("asked", [None, (0, 8), (1, 0), (1, 3), (2, 0)])
def test_capsules_describe_the_array(gpu, asked):
    for name, code, bits in (("positions", 2, 32), ("grain_materials", 0, 32), ("wrenches", 2, 32)):
        array = gpu.read(name, "device")
        capsule = array.__dlpack__(max_version=asked)
        managed = inside(capsule)
        assert isinstance(managed, Versioned if asked and asked[0] >= 1 else Plain)
        if isinstance(managed, Versioned):
            # no newer than what the consumer knows; neither read-only nor a copy
            assert (managed.major, managed.minor, managed.flags) == (1, 0, 0)
        strides = [int(s) // array.itemsize for s in np.empty(array.shape, array.dtype).strides]
        assert facts(managed.tensor) == (code, bits, 1, 0, list(zip(array.shape, strides, strict=True)))
        assert (managed.tensor.device_type, managed.tensor.device_id) == (2, 0) == array.__dlpack_device__()
        assert managed.tensor.data == array.__cuda_array_interface__["data"][0]
    codes = {np.float64: (2, 64), np.int64: (0, 64), np.uint8: (1, 8), bool: (6, 8)}
    for dtype, pair in codes.items():
        capsule = gpu.put(np.zeros(2, dtype)).__dlpack__(max_version=asked)  # alive while it is read
        assert facts(inside(capsule).tensor)[:2] == pair


@needs_gpu
@pytest.mark.parametrize("asked", [None, (1, 0)])
def test_numpy_takes_a_copy_on_the_host(gpu, asked):
    for name in NAMES:
        array = gpu.read(name, "device")
        capsule = array.__dlpack__(dl_device=(1, 0), max_version=asked)
        managed = inside(capsule)
        assert (managed.tensor.device_type, managed.tensor.device_id) == (1, 0)
        assert not asked or managed.flags == 2, "a copy, and writable"
        taken = np.from_dlpack(OnHost(array, bool(asked)))
        assert np.array_equal(taken, array.numpy()) and taken.dtype == array.dtype
    if np.lib.NumpyVersion(np.__version__) >= "2.1.0":
        assert np.array_equal(np.from_dlpack(array, device="cpu"), array.numpy())
    with pytest.raises(BufferError, match="without a copy"):
        array.__dlpack__(dl_device=(1, 0), copy=False)


@needs_gpu
def test_a_copy_on_the_device_is_apart(gpu):
    array = gpu.read("positions", "device")
    where = array.__cuda_array_interface__["data"][0]
    for asked in (None, False):
        capsule = array.__dlpack__(max_version=(1, 0), copy=asked, dl_device=(2, 0))
        assert inside(capsule).tensor.data == where and inside(capsule).flags == 0
    capsule = array.__dlpack__(max_version=(1, 0), copy=True)
    managed = inside(capsule)
    assert managed.tensor.data != where and managed.flags == 2 and managed.tensor.device_type == 2
    if EMULATED:
        with emulated_memory(managed.tensor.data, 540) as values:
            assert np.array_equal(values, array.numpy().ravel())
            values[:] = 0
        assert array.numpy().any()


@needs_gpu
@pytest.mark.parametrize("device", [(2, 1), (3, 0), (13, 0), (7, 0)])
def test_other_devices_are_refused(gpu, device):
    with pytest.raises(BufferError, match="^dl_device: expected"):
        gpu.read("radii", "device").__dlpack__(dl_device=device)


@needs_gpu
def test_streams(gpu):
    array = gpu.read("radii", "device")
    for stream in (None, 1, 2, -1, gpu.stream):
        array.__dlpack__(stream=stream)
    for wrong in (0, -2, 2**70, 1.5, "a"):
        with pytest.raises(gg.ArgumentError, match="^stream: expected"):
            array.__dlpack__(stream=wrong)
    for name, wrong in (("max_version", 1), ("max_version", (1,)), ("max_version", ("a", 0)), ("dl_device", 2)):
        with pytest.raises(gg.ArgumentError, match=f"^{name}: expected"):
            array.__dlpack__(**{name: wrong})
    with pytest.raises(gg.ArgumentError, match="^copy: expected"):
        array.__dlpack__(copy=1)
    with pytest.raises(TypeError):
        array.__dlpack__(1)


@needs_gpu
def test_cuda_array_interface(gpu):
    array = gpu.read("positions", "device")
    said = array.__cuda_array_interface__
    assert said["version"] == 3 and said["shape"] == (3, 60, 3) and said["typestr"] == "<f4"
    assert said["strides"] is None and said["data"][1] is False and said["data"][0] > 0
    assert said["stream"] == gpu.stream > 2
    for stream in (0, 1):
        gpu.set_stream(stream)
        assert array.__cuda_array_interface__["stream"] == 1
    assert gpu.put(np.zeros((0, 3))).__cuda_array_interface__["data"][0] == 0
    for dtype in (np.float64, np.int32, np.int64, np.uint8, bool):
        assert gpu.put(np.zeros(1, dtype)).__cuda_array_interface__["typestr"] == np.dtype(dtype).str


@needs_emulator
def test_a_second_gpu(scene, monkeypatch):
    monkeypatch.setenv("GG_EMULATOR_DEVICES", "2")
    with build(scene, device="cuda:1") as world:
        array = world.read("radii", "device")
        assert array.device == "cuda:1" and array.__dlpack_device__() == (2, 1)
        capsule = array.__dlpack__(dl_device=(2, 1))
        assert inside(capsule).tensor.device_id == 1
        with pytest.raises(BufferError, match="^dl_device: expected"):
            array.__dlpack__(dl_device=(2, 0))
        assert np.array_equal(np.from_dlpack(OnHost(array)), world.radii)
