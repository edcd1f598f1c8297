"""The stream of a world: set by the caller, and in order with reads, uploads and counters."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from device_helpers import build, needs_gpu

import granular_gym as gg


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


@needs_gpu
def test_uploads_take_what_there_was_at_the_call(gpu):
    """Nobody waits for an upload, and what was given may change at once; more than there is room for at a time."""
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
        # what is loaded or set since is not what the step brought
        changed = cpu.stats["contact_count"].copy()
        for world, state in zip((cpu, gpu), early, strict=True):
            world.load_state(state)
        assert as_on(cpu) and gpu.info["waits"] > before and not np.array_equal(cpu.stats["contact_count"], changed)
