"""width.py: a hook of MkDocs: a page without sections gives the room of its table of contents to what it shows."""

from __future__ import annotations

from typing import Any

from mkdocs.structure.pages import Page


def on_page_content(html: str, page: Page, **_: Any) -> None:
    """Wide tables of checks and of the leaderboard need it."""
    if not any(heading.children for heading in page.toc):
        page.meta.setdefault("hide", ["toc"])
