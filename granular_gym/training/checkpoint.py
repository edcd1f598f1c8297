"""checkpoint.py: a training run in one file, from which it goes on bit for bit.

A zip archive: about.json (what the run is, readable without torch), model.zip (Stable-Baselines3: weights, optimisers,
counters), envs.pickle (the batch with every grain), random.pickle (states of all random generators), replay.pickle
where the algorithm has a replay buffer. It is written whole or not at all, and the one before it is kept. Pickles run
code when they are read: open only checkpoints that you trust.
"""

from __future__ import annotations

import io
import json
import os
import pickle
import random
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from granular_gym.base import cache
from granular_gym.errors import StateError

VERSION = 2
NAME, PREVIOUS = "checkpoint.zip", "previous.zip"


def write(folder: Path, about: dict[str, Any], members: dict[str, bytes]) -> Path:
    """Writes the checkpoint of a run; the one that was there becomes the previous one.

    Args:
        folder: of the run.
        about: what JSON can hold.
        members: further members of the archive by name.

    Returns:
        The file.

    Raises:
        OSError: the file cannot be written; the checkpoints that were there are untouched.
    """
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        archive.writestr("about.json", json.dumps({"version": VERSION, **about}, indent=1))
        for name, data in members.items():
            archive.writestr(name, data)
    path, fresh = folder / NAME, folder / (NAME + ".new")
    cache.write_atomic(fresh, buffer.getvalue())
    if path.exists():
        os.replace(path, folder / PREVIOUS)
    os.replace(fresh, path)
    return path


def read(path: Path) -> tuple[dict[str, Any], dict[str, bytes]]:
    """Reads a checkpoint: what `write` was given.

    Args:
        path: the file, or the folder of its run.

    Raises:
        StateError: there is none, it is damaged, cut short or of another version; the message says which, and whether
            the one before it is whole.
    """
    path = path / NAME if path.is_dir() else path
    try:
        return _read(path)
    except StateError as error:
        before = path.with_name(PREVIOUS)
        if path == before:
            raise
        try:
            steps = _read(before)[0].get("env_steps", 0)
        except StateError:
            raise error from None
        raise StateError(f"{error}; the one before it is whole ({steps:,} env steps): resume from {before}") from None


def read_about(path: Path) -> dict[str, Any]:
    """What a checkpoint says of itself; raises like `read`."""
    return read(path)[0]


def _read(path: Path) -> tuple[dict[str, Any], dict[str, bytes]]:
    try:
        with zipfile.ZipFile(path) as archive:
            # reading a member to its end checks its checksum
            members = {name: archive.read(name) for name in archive.namelist()}
        about = json.loads(members.pop("about.json"))
        version = about["version"]
    except FileNotFoundError:
        raise StateError(f"{path}: expected a checkpoint, there is no such file") from None
    except OSError as error:
        raise StateError(f"{path}: expected a checkpoint that can be read ({error.strerror})") from None
    except Exception as error:  # the archive's reader raises errors of many kinds where bytes are wrong
        raise StateError(f"{path}: expected a whole checkpoint, it is damaged or cut short ({error})") from None
    if version != VERSION:
        raise StateError(f"{path}: expected version {VERSION}, got {version!r}")
    return about, members


# a model and its surroundings as members -----------------------------------------------------------------------------


def pack(model: Any) -> dict[str, bytes]:
    """Members that hold a model of Stable-Baselines3, its LearnerEnv and every random generator it draws from."""
    import torch

    buffer = io.BytesIO()
    model.save(buffer)
    members = {"model.zip": buffer.getvalue(), "envs.pickle": model.env.save()}
    if getattr(model, "replay_buffer", None) is not None:
        members["replay.pickle"] = pickle.dumps(model.replay_buffer)
    # NumPy's global generator is the one that Stable-Baselines3 draws from
    members["random.pickle"] = pickle.dumps(
        {
            "python": random.getstate(),
            "numpy": np.random.get_state(),  # noqa: NPY002
            "torch": torch.get_rng_state(),
            "actions": model.action_space.np_random.bit_generator.state,
        }
    )
    return members


def unpack(algorithm: type, load_envs: Callable[[bytes], Any], members: dict[str, bytes]) -> Any:
    """The model that `pack` took, with its envs; random generators stand where they stood.

    Raises:
        StateError: a member is missing or cannot be read.
    """
    import torch

    try:
        env = load_envs(members["envs.pickle"])
        model = algorithm.load(  # type: ignore[attr-defined]
            io.BytesIO(members["model.zip"]), env=env, device="cpu", force_reset=False
        )
        if "replay.pickle" in members:
            model.replay_buffer = pickle.loads(members["replay.pickle"])
        states = pickle.loads(members["random.pickle"])
    except Exception as error:  # of an archive that is whole but was written by other versions
        raise StateError(
            f"checkpoint: expected members that these versions of the packages can read ({error})"
        ) from error
    # last: making a model draws from and seeds them
    random.setstate(states["python"])
    np.random.set_state(states["numpy"])  # noqa: NPY002
    torch.set_rng_state(states["torch"])
    model.action_space.np_random.bit_generator.state = states["actions"]
    return model
