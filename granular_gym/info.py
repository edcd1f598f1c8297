"""info.py: versions, build and devices of this installation, for bug reports."""

from __future__ import annotations

import platform
from typing import Any

import numpy as np

from granular_gym import _core
from granular_gym.base.cache import cache_dir
from granular_gym.engine.device import cuda_devices
from granular_gym.engine.scene import Scene
from granular_gym.errors import BackendError


def info() -> dict[str, Any]:
    """Facts about this installation.

    Returns:
        version, python, machine, numpy, gymnasium, compiler, flags, debug, threads (cores this process may use, see
        `Scene.build`), kernel (instruction set of the contact solver), devices (by name: whether available, and the
        reason where not), cache (folder).
    """
    build = _core.build_info()
    try:
        gpus, reason = cuda_devices(), ""
    except BackendError as error:
        gpus, reason = [], str(error)
    with Scene(((0, 0, 0), (1, 1, 1))).build(device="cpu", num_threads=1) as world:
        kernel = world.info["kernel"]
    try:
        from gymnasium import __version__ as gymnasium_version
    except ImportError:
        gymnasium_version = "missing"
    return {
        "version": build["version"],
        "python": platform.python_version(),
        "machine": platform.machine(),
        "numpy": np.__version__,
        "gymnasium": gymnasium_version,
        "compiler": build["compiler"],
        "flags": build["flags"],
        "debug": build["debug"],
        "threads": _core.usable_cores(),
        "kernel": kernel,
        "devices": {
            "cpu": {"available": True, "reason": ""},
            "cuda": {"available": bool(gpus), "built": bool(build["cuda"]), "reason": reason, "gpus": gpus},
        },
        "cache": str(cache_dir()),
    }


def describe() -> str:
    """`info` as lines of text."""
    facts = info()
    devices = facts.pop("devices")
    lines = [f"granular_gym {facts.pop('version')}"]
    lines += [f"  {name:<10} {value}" for name, value in facts.items()]
    for name, device in devices.items():
        names = ", ".join(gpu["name"] for gpu in device.get("gpus", []))
        state = "available" + (f": {names}" if names else "")
        lines.append(f"  {name:<10} {state if device['available'] else 'not available: ' + device['reason']}")
    return "\n".join(lines)
