"""resume.py: checkpoints of long cases: the world's state and the measurements so far, on disk.

States are exact: a resumed case gives the same bits as an uninterrupted one.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import granular_gym as gg
from granular_gym import _core
from validation import ROOT

_FOLDER = ROOT / "out" / "validation" / "states"


class Checkpoint:
    """The checkpoint of one case.

    Args:
        name: of the check.
        params: of the case.
    """

    def __init__(self, name: str, params: dict[str, Any]) -> None:
        key = json.dumps([params, str(_core.build_info()["source"])], sort_keys=True)
        self._path = _FOLDER / f"{name}_{hashlib.sha256(key.encode()).hexdigest()[:16]}.ggstate"
        self._notes: Path = self._path.with_suffix(".json")

    def load(self, world: gg.World) -> dict[str, Any] | None:
        """Restores the world; returns the notes, or None where there is no valid checkpoint."""
        try:
            notes = json.loads(self._notes.read_text())
            # the notes hold the hash of their state
            data = self._path.read_bytes()
            if hashlib.sha256(data).hexdigest() != notes.pop("state"):
                return None
            world.load_state(gg.State.from_bytes(data))
            return dict(notes)
        except (OSError, ValueError, KeyError, gg.StateError):
            return None

    def save(self, world: gg.World, notes: dict[str, Any]) -> None:
        """Stores the state of a world, and notes for JSON."""
        _FOLDER.mkdir(parents=True, exist_ok=True)
        data = world.save_state().to_bytes()
        for path, content in ((self._path, data), (self._notes, None)):
            part = path.with_suffix(path.suffix + ".part")
            if content is None:
                part.write_text(json.dumps({**notes, "state": hashlib.sha256(data).hexdigest()}))
            else:
                part.write_bytes(content)
            part.replace(path)

    def remove(self) -> None:
        """Deletes the checkpoint."""
        self._path.unlink(missing_ok=True)
        self._notes.unlink(missing_ok=True)
