"""assets.py: paths of the files that come with the package."""

from __future__ import annotations

from pathlib import Path

from granular_gym.errors import ArgumentError

# installed with the package, or beside it in a checkout
_PACKAGE = Path(__file__).parent.parent
_FOLDERS = (_PACKAGE / "_assets", _PACKAGE.parent / "assets")


def asset_path(name: str) -> Path:
    """Path of an asset, for example "blade.stl".

    Raises:
        ArgumentError: there is no such file.
    """
    for folder in _FOLDERS:
        if name and (folder / name).is_file():
            return folder / name
    raise ArgumentError(f"name: expected one of {asset_names()}, got {name!r}")


def asset_names() -> list[str]:
    """Names of all assets."""
    names = {
        path.relative_to(folder).as_posix()
        for folder in _FOLDERS
        if folder.is_dir()
        for path in folder.rglob("*")
        if path.is_file() and path.suffix not in (".py", ".pyc")
    }
    return sorted(names)
