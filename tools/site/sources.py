"""sources.py: where the pages of the site come from, as paths in the repository.

A page is a file of docs/ or one of `OUTSIDE`, which the site shows besides; pictures of benchmarks are copied, too.
"""

from __future__ import annotations

import sys
from pathlib import Path

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).resolve().parents[2]
#: path of a page on the site, of a file in the repository
OUTSIDE = {
    "changelog.md": "CHANGELOG.md",
    "contributing.md": "CONTRIBUTING.md",
    "security.md": "SECURITY.md",
    "conduct.md": "CODE_OF_CONDUCT.md",
    **{
        path.relative_to(ROOT).as_posix(): path.relative_to(ROOT).as_posix()
        for path in sorted((ROOT / "benchmarks" / "results").rglob("*.png"))
    },
}
#: path of a file in the repository, of its page or copy on the site; all others of docs/ keep theirs
SHOWN = {source: page for page, source in OUTSIDE.items()} | {"README.md": "index.md"}


def repository() -> str:
    """Address of the repository: `Repository` of [project.urls] in pyproject.toml, the one place that has it."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    address: str = project["urls"]["Repository"]
    return address.rstrip("/")


def source_of(page: str) -> str:
    """Path in the repository of a page of the site; a page that the build makes stands in docs/."""
    return OUTSIDE.get(page, f"docs/{page}")


def page_of(source: str) -> str | None:
    """Path on the site of a file of the repository; None: the site does not show it."""
    if source.startswith("docs/"):
        return source.removeprefix("docs/")
    return SHOWN.get(source)
