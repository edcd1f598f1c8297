"""assets.py: paths of the files that come with the package."""

from __future__ import annotations

from pathlib import Path

from granular_gym.base import names

# installed with the package, or beside it in a checkout
_PACKAGE = Path(__file__).parent.parent
_FOLDERS = (_PACKAGE / "_assets", _PACKAGE.parent / "assets")


def asset_path(name: str) -> Path:
    """Path of an asset, for example "blade.stl".

    Raises:
        ArgumentError: there is no such file.
    """
    for folder in _FOLDERS:
        if isinstance(name, str) and name and (folder / name).is_file():
            return folder / name
    raise names.unknown("name", name, asset_names())


def asset_names() -> list[str]:
    """Names of all assets."""
    found = {
        path.relative_to(folder).as_posix()
        for folder in _FOLDERS
        if folder.is_dir()
        for path in folder.rglob("*")
        if path.is_file() and path.suffix not in (".py", ".pyc")
    }
    return sorted(found)
