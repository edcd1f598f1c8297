"""cache.py: the cache folder on disk, and atomic writes of files."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path


def cache_dir() -> Path:
    """The cache folder: GRANULAR_GYM_CACHE, or granular_gym in the user's cache (XDG_CACHE_HOME, else ~/.cache)."""
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
    """Writes a file atomically: readers see either the old file or all of the new one.

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
        # mkstemp makes private files; restore the usual permissions
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
    """Writes a file of the cache; False, and no error, where it cannot be written."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_atomic(path, data)
    except OSError:
        return False
    return True
