"""cache.py: the cache folder on disk, and atomic writes of files."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Sequence
from pathlib import Path

from granular_gym.base import names

#: ending of the files of each kind; a kind has a folder of its own
CACHED = {"beds": ".ggstate", "sdf": ".npz", "pair_field": ".ggpair"}


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


def _cached_files(kind: str) -> list[Path]:
    return sorted((cache_dir() / kind).glob(f"*{CACHED[kind]}"))


def cache_sizes() -> dict[str, tuple[int, int]]:
    """What the cache holds: number of files and bytes, by kind."""
    files = {kind: _cached_files(kind) for kind in CACHED}
    return {kind: (len(paths), sum(path.stat().st_size for path in paths)) for kind, paths in files.items()}


def clear_cache(kinds: Sequence[str] = ()) -> tuple[int, int]:
    """Deletes files of the cache, and nothing else in its folder.

    Args:
        kinds: keys of CACHED; none: all.

    Returns:
        Number of files and bytes deleted.

    Raises:
        ArgumentError: an unknown kind.
        OSError: a file cannot be deleted.
    """
    names.refuse_unknown("kind", kinds, CACHED)
    count, size = 0, 0
    for kind in dict.fromkeys(kinds) or CACHED:
        for path in _cached_files(kind):
            size += path.stat().st_size
            path.unlink()
            count += 1
    return count, size


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
