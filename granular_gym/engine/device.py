"""device.py: where a world runs: "cpu", or a GPU as "cuda:0".

"auto" takes the first GPU that works and otherwise the CPU. The environment variable GG_DEVICE (cpu, cuda, cuda:1)
takes the place of "auto" where it is set. A GPU that is asked for by name never falls back: where it cannot be used,
the error says why. Nothing here touches a GPU before it is asked for.
"""

from __future__ import annotations

import os
import re
from typing import Any

from granular_gym import _core
from granular_gym.errors import ArgumentError, BackendError

_working: dict[tuple[int, int], str] = {}  # process and GPU: "" or why it cannot be used


def cuda_devices() -> list[dict[str, Any]]:
    """Facts about the GPUs that this process can use.

    Returns:
        For each its name, memory and memory_free [bytes], multiprocessors, capability (10 * major + minor),
        driver_version and runtime_version (1000 * major + 10 * minor).

    Raises:
        BackendError: there is none; the message says why.
    """
    return [_core.cuda_device(number) for number in range(_core.cuda_device_count())]


def _fault(number: int) -> str:
    """Why a GPU cannot be used; empty: it can."""
    key = (os.getpid(), number)
    if key not in _working:
        try:
            _core.cuda_check(number)
            _working[key] = ""
        except (BackendError, ArgumentError, MemoryError) as error:
            _working[key] = str(error)
    return _working[key]


def _named(name: str, device: Any) -> str:
    """The device that an argument or a variable called `name` asks for."""
    if not isinstance(device, str) or not re.fullmatch(r"auto|cpu|cuda(:\d{1,3})?", device):
        raise ArgumentError(f"{name}: expected auto, cpu, cuda or cuda:<number>, got {device!r}")
    if device.startswith("cuda") and not _core.build_info()["cuda"]:
        raise BackendError(
            f"{name}: {device!r} cannot be used: this build has no CUDA backend: it was built without nvcc"
        )
    return device


def parse_device(device: Any) -> str:
    """Returns `device`, or what GG_DEVICE says in place of "auto"; touches no GPU, so that a process may still fork.

    Raises:
        ArgumentError: one of them is not auto, cpu, cuda or cuda:<number>.
        BackendError: a GPU is asked for, and this build knows none.
    """
    name = _named("device", device)
    return _named("GG_DEVICE", os.environ.get("GG_DEVICE") or "auto") if name == "auto" else name


def check_device(device: Any) -> str:
    """The device a world runs on, "cpu" or "cuda:0", from "auto", "cpu", "cuda" (the first GPU) or "cuda:1".

    Raises:
        ArgumentError: none of these.
        BackendError: a GPU was asked for and cannot be used; the message says why.
    """
    name = parse_device(device)
    number = int(name.partition(":")[2] or 0)
    if name == "cpu" or (name == "auto" and _fault(number)):
        return "cpu"
    fault = _fault(number)
    if fault:
        asked = "device" if device == name else "GG_DEVICE"
        raise BackendError(f"{asked}: {name!r} cannot be used: {fault}")
    return f"cuda:{number}"


def gpu_number(device: str) -> int:
    """What the engine calls a checked device: 0 the CPU, k + 1 the GPU number k."""
    return 0 if device == "cpu" else int(device.partition(":")[2]) + 1
