"""checkpoints.py: a trained simulator in a file, with what is needed to go on training bit for bit.

A file of `torch.save` that holds tensors, numbers, texts and containers of them alone: it is read with
`weights_only=True`, so that no code in it runs. It is written whole or not at all.
"""

from __future__ import annotations

import io
from dataclasses import asdict
from pathlib import Path
from typing import Any

from granular_gym.base import cache
from granular_gym.errors import GranularError, StateError
from granular_gym.learned import models
from granular_gym.learned.needs import torch
from granular_gym.learned.simulator import Scale, Simulator

VERSION = 3
NAME = "checkpoint.pt"


def write(path: Path, simulator: Simulator, options: dict[str, Any], run: dict[str, Any] | None = None) -> None:
    """Writes a checkpoint.

    Args:
        path: the file.
        simulator: the model.
        options: that `models.make` was given.
        run: what a Trainer needs to go on.

    Raises:
        OSError: it cannot be written; the file that was there is untouched.
    """
    buffer = io.BytesIO()
    content = {
        "version": VERSION,
        "model": simulator.name,
        "scale": asdict(simulator.scale),
        "options": options,
        "weights": simulator.state_dict(),
        "run": run,
    }
    torch.save(content, buffer)
    cache.write_atomic(path, buffer.getvalue())


def read(path: Path) -> dict[str, Any]:
    """What `write` was given, checked.

    Args:
        path: the file, or the folder of its run.

    Raises:
        StateError: there is none, it is damaged or cut short, or of another version.
    """
    path = path / NAME if path.is_dir() else path
    try:
        content = torch.load(io.BytesIO(path.read_bytes()), map_location="cpu", weights_only=True)
        version = content["version"]
    except FileNotFoundError:
        raise StateError(f"{path}: expected a checkpoint, there is no such file") from None
    except OSError as error:
        raise StateError(f"{path}: expected a checkpoint that can be read ({error.strerror})") from None
    except Exception as error:  # torch raises errors of many kinds where bytes are wrong
        what = str(error).partition("\n")[0]
        raise StateError(f"{path}: expected a whole checkpoint, it is damaged or cut short ({what})") from None
    if version != VERSION:
        raise StateError(f"{path}: expected version {VERSION}, got {version!r}")
    return dict(content)


def load(path: str | Path, device: str = "cpu") -> Simulator:
    """The simulator of a checkpoint, ready to predict.

    Raises:
        StateError: there is none, it is damaged, cut short or of another version, or weights do not fit their model.
    """
    path = Path(path)
    simulator = restore(read(path), path)
    simulator.to(device).eval()
    return simulator


def restore(content: dict[str, Any], path: Path) -> Simulator:
    """The simulator of what `read` gave; raises like `load`."""
    try:
        simulator = models.make(content["model"], Scale(**content["scale"]), **content["options"])
        simulator.load_state_dict(content["weights"])
    except (KeyError, TypeError, RuntimeError, GranularError) as error:
        raise StateError(f"{path}: expected weights that fit their model ({error})") from None
    return simulator
