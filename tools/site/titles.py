"""titles.py: a hook of MkDocs: links whose text is the name of a page read as its title.

In the repository `[docs/gpu.md](docs/gpu.md)` says which file it is; a reader of the site knows no files.
"""

from __future__ import annotations

import posixpath
import re
from typing import Any

from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

#: a link whose text is a path of a page or of its folder, after `docs/`, and its target without anchor
LINK = re.compile(r"\[(`?)((?:[\w.-]+/)*[\w-]+\.md|docs/\w+)\1\](?=\(([^()\s#]+)[^()\s]*\))")


def on_page_markdown(markdown: str, page: Page, files: Files, **_: Any) -> str:
    """After links.py: targets are pages of the site."""

    def titled(link: re.Match[str]) -> str:
        target = posixpath.normpath(posixpath.join(posixpath.dirname(page.file.src_uri), link[3]))
        file = files.get_file_from_path(target)
        title = file and file.is_documentation_page() and heading(file)
        return f"[{title}]" if title else link.group()

    return LINK.sub(titled, markdown)


def heading(file: File) -> str | None:
    """The first heading of a page, up to a colon: `Films: experiments in space`."""
    found = re.search(r"^# ([^:\n]+)", file.content_string, re.MULTILINE)
    return found and found[1].strip()
