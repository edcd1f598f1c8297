"""DeviceArray: reads of a world, copies to the host, uploads, and what they refuse."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest
from device_helpers import NAMES, needs_gpu
from dlpack_consumer import OnHost

import granular_gym as gg


@needs_gpu
def test_every_read_is_the_same_on_the_device(gpu):
    for name in NAMES:
        host, array = gpu.read(name), gpu.read(name, "device")
        assert isinstance(array, gg.DeviceArray) and array.device == "cuda:0", name
        assert (array.shape, array.dtype, array.ndim, array.size, array.itemsize, array.nbytes) == (
            host.shape,
            host.dtype,
            host.ndim,
            host.size,
            host.itemsize,
            host.nbytes,
        )
        assert np.array_equal(array.numpy(), host) and np.array_equal(host, getattr(gpu, name)), name
    for one, other in zip(
        gpu.box_stats((-1, -1, 0), (1, 1, 0.05)), gpu.box_stats((-1, -1, 0), (1, 1, 0.05), "device"), strict=True
    ):
        assert np.array_equal(one, other.numpy()) and one.dtype == other.dtype


def test_depth_images(world):
    ways = ("numpy",) if world.device == "cpu" else ("numpy", "device")
    plain = world.depth("sky")
    for near, far in ((0.0, 2.0), (0.4, 0.95), (0.9, 0.9001)):
        clipped = np.clip(plain, np.float32(near), np.float32(far))
        share = np.clip((plain - near) / (far - near), 0.0, 1.0)
        for way in ways:
            metres = np.asarray(world.depth("sky", way, limits=(near, far)))
            bytes_ = np.asarray(world.depth("sky", way, limits=(near, far), dtype="uint8"))
            assert metres.dtype == np.float32 and np.array_equal(metres, clipped)
            assert bytes_.dtype == np.uint8 and np.array_equal(bytes_, np.rint(share * 255.0).astype(np.uint8))
    for way in ways:
        assert np.array_equal(np.asarray(world.depth("ego", way)), world.depth("ego"))
    whole = world.depth("sky", dtype="uint8")
    assert np.array_equal(whole, world.depth("sky", limits=(0.0, 2.0), dtype="uint8"))
    for wrong in ((1.0, 1.0), (2.0, 1.0), (0.0, np.inf), (0.0,)):
        with pytest.raises(gg.ArgumentError, match="^limits: expected"):
            world.depth("sky", limits=wrong)
    with pytest.raises(gg.ArgumentError, match="^dtype: expected"):
        world.depth("sky", dtype="uint16")


@needs_gpu
def test_copies_to_the_host(gpu):
    array, host = gpu.read("positions", "device"), gpu.positions
    first = array.numpy()
    first[...] = 0
    assert np.array_equal(array.numpy(), host), "a copy is a copy"
    assert np.asarray(array).dtype == np.float32 and np.array_equal(np.asarray(array, np.float64), host)
    assert np.array_equal(np.array(array, copy=True), host)
    with pytest.raises(ValueError, match="^copy: expected"):
        array.__array__(copy=False)
    assert len(array) == 3 and repr(array) == "DeviceArray(shape=(3, 60, 3), dtype=float32, device='cuda:0')"
    assert gpu.read("radii", "device").numpy().flags.writeable


@needs_gpu
def test_reshape_shares_the_memory(gpu):
    array = gpu.read("positions", "device")
    for flat in (array.reshape(180, 3), array.reshape((180, 3))):
        assert flat.shape == (180, 3)
        assert flat.__cuda_array_interface__["data"] == array.__cuda_array_interface__["data"]
    assert np.array_equal(array.reshape(540).numpy(), array.numpy().ravel())
    for wrong in ((7,), (180, -3), (2,) * 5, ("a",), (2**31 - 1, 2**31 - 1, 2**31 - 1)):
        with pytest.raises(gg.ArgumentError, match="^shape: expected"):
            array.reshape(*wrong)


@needs_gpu
def test_it_is_not_made_nor_copied_by_python(gpu):
    array = gpu.read("radii", "device")
    with pytest.raises(TypeError):
        gg.DeviceArray()
    for attempt in (pickle.dumps, copy.copy, copy.deepcopy):
        with pytest.raises(TypeError, match="copy it to the host"):
            attempt(array)
    with pytest.raises(TypeError, match="no length"):
        len(gpu.put(np.float32(1.0)))
    with pytest.raises(AttributeError):
        array.shape = (1,)


@needs_gpu
def test_put(gpu):
    for dtype in (np.float32, np.float64, np.int32, np.int64, np.uint8, bool):
        for shape in ((), (3,), (0,), (2, 0, 3), (2, 3, 4, 5)):
            host = (np.arange(np.prod(shape, dtype=int)) % 2).reshape(shape).astype(dtype)
            array = gpu.put(host)
            assert (array.shape, array.dtype) == (host.shape, host.dtype)
            assert np.array_equal(array.numpy(), host) and np.array_equal(np.from_dlpack(OnHost(array)), host)
    assert np.array_equal(gpu.put(np.arange(12).reshape(3, 4).T).numpy(), np.arange(12).reshape(3, 4).T)
    for wrong in (
        np.zeros(3, np.float16),
        np.zeros(3, complex),
        np.array([None]),
        np.zeros((1,) * 5),
        np.zeros(2, ">f4"),
    ):
        with pytest.raises(gg.ArgumentError, match="^array: expected"):
            gpu.put(wrong)


def test_what_a_reader_may_ask_for(world):
    for name, word in (("position", "name"), (None, "name")):
        with pytest.raises(gg.ArgumentError, match=f"^{word}: expected one of 'positions'"):
            world.read(name)
    for call in (
        lambda output: world.read("radii", output),
        lambda output: world.depth("sky", output),
        lambda output: world.box_stats((0, 0, 0), (1, 1, 1), output),
        lambda output: world.put(np.zeros(3), output),
    ):
        with pytest.raises(gg.ArgumentError, match="^output: expected one of"):
            call("cupy")
        if world.device == "cpu":
            with pytest.raises(gg.BackendError, match="^output: expected numpy or torch"):
                call("device")
    world.close()
    with pytest.raises(gg.ClosedError):
        world.read("radii", "device" if world.device != "cpu" else "numpy")
