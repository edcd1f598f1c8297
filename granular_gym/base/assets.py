"""assets.py: where the files that come with the package are."""

from __future__ import annotations

from pathlib import Path

from granular_gym.errors import ArgumentError

# installed with the package, or beside it in a checkout
_PACKAGE = Path(__file__).parent.parent
_PLACES = (_PACKAGE / "_assets", _PACKAGE.parent / "assets")


def asset_path(name: str) -> Path:
    """Path of an asset, for example "blade.stl".

    Raises:
        ArgumentError: there is no such file.
    """
    for place in _PLACES:
        if name and (place / name).is_file():
            return place / name
    raise ArgumentError(f"name: expected one of {asset_names()}, got {name!r}")


def asset_names() -> list[str]:
    """Names of all assets."""
    names = {
        path.relative_to(place).as_posix()
        for place in _PLACES
        if place.is_dir()
        for path in place.rglob("*")
        if path.is_file() and path.suffix not in (".py", ".pyc")
    }
    return sorted(names)
