"""DeviceArray: access without copies, lifetime, streams, and invalid arguments."""

from __future__ import annotations

import contextlib
import copy
import ctypes
import pickle
import subprocess
import sys
import threading
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import granular_gym as gg
from granular_gym import _core
from granular_gym.engine.device import cuda_devices

CUDA = gg.info()["devices"]["cuda"]
EMULATED = CUDA["available"] and CUDA["gpus"][0]["name"] == "CPU emulating CUDA"
needs_gpu = pytest.mark.skipif(not CUDA["available"], reason=f"no cuda: {CUDA['reason']}")
# the memory of an emulated GPU can be read and counted by a test
needs_emulator = pytest.mark.skipif(not EMULATED, reason="a build with GG_CUDA=emulate is needed")
NAMES = (
    "positions",
    "velocities",
    "angular_velocities",
    "radii",
    "grain_materials",
    "tool_poses",
    "wrenches",
    "wall_wrenches",
)


@contextlib.contextmanager
def emulated_memory(address: int, count: int) -> Iterator[np.ndarray]:
    """`count` floats in the memory of an emulated GPU, which the host cannot access otherwise."""
    library = ctypes.CDLL(_core.__file__)
    library.gg_emulator_use_memory(1)
    try:
        yield np.ctypeslib.as_array((ctypes.c_float * count).from_address(address))
    finally:
        library.gg_emulator_use_memory(-1)


def build(scene: gg.Scene, device: str = "cuda", **kwargs: Any) -> gg.World:
    return scene.build(env_count=3, device=device, num_threads=1, **kwargs)


@pytest.fixture
def gpu(scene: gg.Scene):
    """A world of three envs on a GPU, a few steps old."""
    if not CUDA["available"]:
        pytest.skip(f"no cuda: {CUDA['reason']}")
    with build(scene) as world:
        world.step(1e-3, 5)
        yield world


# ---- the structs of DLPack, declared here once more ------------------------------------------------------------------


class Tensor(ctypes.Structure):
    _fields_ = (
        ("data", ctypes.c_void_p),
        ("device_type", ctypes.c_int32),
        ("device_id", ctypes.c_int32),
        ("ndim", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    )


class Plain(ctypes.Structure):
    _fields_ = (("tensor", Tensor), ("context", ctypes.c_void_p), ("deleter", ctypes.c_void_p))


class Versioned(ctypes.Structure):
    _fields_ = (
        ("major", ctypes.c_uint32),
        ("minor", ctypes.c_uint32),
        ("context", ctypes.c_void_p),
        ("deleter", ctypes.c_void_p),
        ("flags", ctypes.c_uint64),
        ("tensor", Tensor),
    )


KINDS = {"dltensor": Plain, "dltensor_versioned": Versioned}
api = ctypes.pythonapi
api.PyCapsule_GetName.argtypes, api.PyCapsule_GetName.restype = [ctypes.py_object], ctypes.c_char_p
api.PyCapsule_SetName.argtypes = [ctypes.py_object, ctypes.c_char_p]
api.PyCapsule_GetPointer.argtypes = [ctypes.py_object, ctypes.c_char_p]
api.PyCapsule_GetPointer.restype = ctypes.c_void_p


def inside(capsule: Any) -> Any:
    """The managed tensor in an unused capsule; it lives as long as the capsule."""
    name = api.PyCapsule_GetName(capsule)
    return KINDS[name.decode()].from_address(api.PyCapsule_GetPointer(capsule, name))


used_names = [ctypes.create_string_buffer(f"used_{kind}".encode()) for kind in KINDS]


def take(capsule: Any) -> Any:
    """Takes the tensor as a consumer does; the caller must call `drop`."""
    managed = inside(capsule)
    api.PyCapsule_SetName(capsule, ctypes.cast(used_names[isinstance(managed, Versioned)], ctypes.c_char_p))
    return managed


def drop(managed: Any) -> None:
    """The consumer's deleter; ctypes calls it without the GIL."""
    ctypes.CFUNCTYPE(None, ctypes.c_void_p)(managed.deleter)(ctypes.addressof(managed))


def facts(tensor: Tensor) -> tuple[Any, ...]:
    lengths = [(tensor.shape[k], tensor.strides[k]) for k in range(tensor.ndim)]
    return tensor.code, tensor.bits, tensor.lanes, tensor.byte_offset, lengths


class OnHost:
    """A DeviceArray in a library without GPU support."""

    def __init__(self, array: gg.DeviceArray, versioned: bool = True) -> None:
        self.array, self.versioned = array, versioned

    def __dlpack_device__(self) -> tuple[int, int]:
        return 1, 0

    def __dlpack__(self, **kwargs: Any) -> Any:
        asked = {"max_version": kwargs.get("max_version")} if self.versioned else {}
        return self.array.__dlpack__(dl_device=(1, 0), **asked)


# ---- attributes ------------------------------------------------------------------------------------------------------


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


# ---- DLPack ----------------------------------------------------------------------------------------------------------


def test_the_structs_are_those_of_numpy():
    """Capsules of NumPy, read by the declarations above, agree with NumPy."""
    host = np.arange(24, dtype=np.float64).reshape(2, 3, 4)
    for asked, kind in (({}, Plain), ({"max_version": (1, 0)}, Versioned)):
        capsule = host.__dlpack__(**asked)
        managed = inside(capsule)
        if isinstance(managed, kind):  # NumPy 1.x and 2.0 support one version
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
            # not newer than the consumer's version; neither read-only nor a copy
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


# ---- the stream of a world -------------------------------------------------------------------------------------------


class Stream:
    def __init__(self, **attributes: Any) -> None:
        self.__dict__.update(attributes)


class Protocol:
    def __cuda_stream__(self) -> tuple[int, int]:
        return 0, 2


def test_a_world_takes_a_stream(world):
    if world.device == "cpu":
        assert world.stream == 0
        with pytest.raises(gg.BackendError, match="^stream: "):
            world.set_stream(0)
        return
    own = world.stream
    for stream, handle in ((0, 0), (1, 1), (Protocol(), 2), (Stream(cuda_stream=0), 0), (Stream(ptr=own), own)):
        world.set_stream(stream)
        assert world.stream == handle
    for wrong in (-1, "a", None, 1.5, 2**64):
        with pytest.raises(gg.ArgumentError, match="^stream: expected"):
            world.set_stream(wrong)
    assert world.stream == own


@needs_gpu
@pytest.mark.parametrize("kernel", ["team", "graph"])
def test_the_stream_changes_no_result(scene, kernel):
    with build(scene) as one, build(scene) as other:
        for world in (one, other):
            world._core.set_kernel(kernel)
        for stream in (0, 1, 2, one.stream):
            one.set_stream(stream)
            for world in (one, other):
                world.step(1e-3, 4)
            assert np.array_equal(one.read("positions", "device").numpy(), other.positions)


# ---- lifetime ----------------------------------------------------------------------------------------------------


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


@needs_gpu
def test_uploads_take_what_there_was_at_the_call(gpu):
    """Uploads are asynchronous, and their sources may change at once; more of them than the staging buffer holds."""
    rng = np.random.default_rng(0)
    values, sent, before = np.empty(60_001, np.float32), [], gpu.info["waits"]
    for _ in range(12):
        values[:] = rng.random(len(values))
        sent.append((gpu.put(values), values.copy()))
    assert 0 < gpu.info["waits"] - before < 12
    large = rng.random(400_000)
    sent.append((gpu.put(large), large.copy()))
    large[:] = 0.0
    for array, host in sent:
        assert np.array_equal(array.numpy(), host)


@needs_gpu
def test_counters_come_with_the_step(gpu, scene):
    def as_on(cpu):
        return all(np.array_equal(values, gpu.stats[name]) for name, values in cpu.stats.items())

    with build(scene, device="cpu") as cpu:
        cpu.step(1e-3, 5)
        early = [world.save_state() for world in (cpu, gpu)]
        for world in (cpu, gpu):
            world.step(1e-3, 3)
        before = gpu.info["waits"]
        assert as_on(cpu) and gpu.info["waits"] == before
        # values loaded or set since differ from those of the step
        changed = cpu.stats["contact_count"].copy()
        for world, state in zip((cpu, gpu), early, strict=True):
            world.load_state(state)
        assert as_on(cpu) and gpu.info["waits"] > before and not np.array_equal(cpu.stats["contact_count"], changed)


def free_memory() -> int:
    return int(cuda_devices()[0]["memory_free"])


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
    host = gpu.positions  # allocates its staging buffer
    del kept  # its memory is kept for another array
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
    # in another folder, or the source would precede the emulated package on the path
    done = subprocess.run([sys.executable, "-c", LOST, way], capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr


# ---- torch -----------------------------------------------------------------------------------------------------------


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
                    # read by torch on this stream without synchronisation, dropped while torch may still use it
                    total = world.read("velocities", "torch").double().sum()
                assert total.item() == pytest.approx(float(world.velocities.astype(np.float64).sum()), abs=1e-6)
        for asked in ({"device": "cpu"}, {"copy": True}):
            assert np.array_equal(torch.from_dlpack(array, **asked).cpu().numpy(), array.numpy())
    assert np.isfinite(tensor.cpu().numpy()).all(), "the memory outlives the world"
