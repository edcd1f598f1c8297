"""beds.py: settled beds kept on disk, so that a reset costs a copy and not seconds of settling.

The key of a bed is a hash of everything that shapes it: all arrays of the scene, the version of the engine, and what
the caller adds (solver, time step, how long it settled). A damaged or foreign file is made anew.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from granular_gym import _core
from granular_gym.base import cache, checks
from granular_gym.engine.frozen import FrozenScene
from granular_gym.engine.scene import Scene
from granular_gym.engine.state import VERSION, State
from granular_gym.errors import ArgumentError, StateError

# beds used in this process, newest last
_recent: dict[str, State] = {}
_RECENT_MAX = 16


def bed_key(scene: Scene | FrozenScene, key_extra: Any) -> str:
    """Hash of everything that shapes a bed.

    Args:
        scene: what it is made of.
        key_extra: whatever else shapes it; anything JSON can write.
    """
    frozen = scene.freeze() if isinstance(scene, Scene) else checks.instance("scene", scene, FrozenScene)
    try:
        extra = json.dumps(key_extra, sort_keys=True)
    except (TypeError, ValueError) as error:
        raise ArgumentError(f"key_extra: expected something JSON can write, got {key_extra!r} ({error})") from None
    parts = [frozen.digest(), extra, _core.build_info()["source"], str(VERSION)]
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()


def settled_bed(scene: Scene | FrozenScene, key_extra: Any, make: Callable[[], State]) -> State:
    """The settled bed of a scene: from memory, from disk, or made now and kept.

    Args:
        scene: what the bed is made of.
        key_extra: whatever else shapes it (solver fields, dt, seconds of settling); anything JSON can write.
        make: settles the bed and returns its state; called only where no whole file is found.

    Returns:
        The state; load it with `World.load_state`.
    """
    frozen = scene.freeze() if isinstance(scene, Scene) else checks.instance("scene", scene, FrozenScene)
    if not callable(make):
        raise ArgumentError(f"make: expected a function that returns a State, got {type(make).__name__}")
    key = bed_key(frozen, key_extra)
    path = bed_path(key)
    # a test or a user may point the cache elsewhere while this process runs
    name = os.fspath(path)
    if name in _recent:
        _recent[name] = _recent.pop(name)
        return _recent[name]
    state = _read(path, frozen.layout())
    if state is None:
        state = make()
        if not isinstance(state, State):
            raise ArgumentError(f"make: expected a function that returns a State, got {type(state).__name__}")
        cache.store(path, state.to_bytes())
    _recent[name] = state
    while len(_recent) > _RECENT_MAX:
        del _recent[next(iter(_recent))]
    return state


def bed_path(key: str) -> Path:
    """File of a bed."""
    return cache.cache_dir() / "beds" / f"{key}.ggstate"


def forget() -> None:
    """Forgets the beds held in memory; files stay."""
    _recent.clear()


def _read(path: Path, layout: str) -> State | None:
    try:
        state = State.load(path)
    except (OSError, StateError):
        return None
    return state if state.layout == layout else None
