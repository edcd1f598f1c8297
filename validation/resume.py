"""resume.py: long cases go on where they stopped: the world's state and what was measured so far, on disk.

A snapshot of a world is exact, so a case that was interrupted gives the bits of one that was not.
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
    """The place of one case on disk.

    Args:
        name: of the check.
        params: of the case.
    """

    def __init__(self, name: str, params: dict[str, Any]) -> None:
        key = json.dumps([params, str(_core.build_info()["source"])], sort_keys=True)
        self._path = _FOLDER / f"{name}_{hashlib.sha256(key.encode()).hexdigest()[:16]}.ggstate"
        self._notes: Path = self._path.with_suffix(".json")

    def load(self, world: gg.World) -> dict[str, Any] | None:
        """Puts the world where the case stopped and returns what was noted, or None where nothing is kept."""
        try:
            notes = json.loads(self._notes.read_text())
            # the notes name the state they belong to
            data = self._path.read_bytes()
            if hashlib.sha256(data).hexdigest() != notes.pop("state"):
                return None
            world.load_state(gg.State.from_bytes(data))
            return dict(notes)
        except (OSError, ValueError, KeyError, gg.StateError):
            return None

    def save(self, world: gg.World, notes: dict[str, Any]) -> None:
        """Keeps a world and notes that JSON can write."""
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
        """Once the case is done."""
        self._path.unlink(missing_ok=True)
        self._notes.unlink(missing_ok=True)
