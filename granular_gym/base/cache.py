"""cache.py: where things that are slow to make are kept on disk, and how files get there whole or not at all."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path


def cache_dir() -> Path:
    """GRANULAR_GYM_CACHE, or granular_gym in the user's cache directory (XDG_CACHE_HOME, else ~/.cache)."""
    own = os.environ.get("GRANULAR_GYM_CACHE")
    if own:
        return Path(own)
    base = os.environ.get("XDG_CACHE_HOME")
    try:
        return (Path(base) if base else Path.home() / ".cache") / "granular_gym"
    except RuntimeError:
        # no home directory
        return Path(tempfile.gettempdir()) / "granular_gym"


def write_atomic(path: str | os.PathLike[str], data: bytes) -> None:
    """Writes a file so that readers see either the old one or all of the new one.

    Raises:
        OSError: the file cannot be written.
    """
    path = Path(path)
    handle, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        # mkstemp makes files private; give them the usual permissions
        mask = os.umask(0)
        os.umask(mask)
        os.chmod(name, 0o666 & ~mask)
        os.replace(name, path)
    except BaseException:
        try:
            os.unlink(name)
        except FileNotFoundError:
            pass
        raise


def store(path: Path, data: bytes) -> bool:
    """Writes a file of the cache; a full or read-only disk costs speed, not the result. True where it was written."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_atomic(path, data)
    except OSError:
        return False
    return True
