"""links.py: a hook of MkDocs: links between files of the repository lead to pages of the site, or to the repository.

Pages are written for whoever reads them in the repository: they name files relative to themselves, also outside of
docs/ (../csrc/gg.h), and README.md may name them by the address of the repository. On the site a link to a file that
the site shows leads to its page, a link to any other file that exists to the repository. What does not exist stays as
it is, and the strict build refuses it.
"""

from __future__ import annotations

import logging
import posixpath
import re
from typing import Any
from urllib.parse import unquote

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page
from sources import OUTSIDE, ROOT, page_of, repository, source_of

LOG = logging.getLogger("mkdocs.hooks.links")
#: target and anchor of a link or picture in Markdown
LINK = re.compile(r"(?<=\]\()([^()\s#]+)(#[^()\s]*)?(?=\))")
#: what an address of the repository has between its root and the path of a file
VIEW = r"/(?:blob|tree|raw)/[^/]+/"
#: code: blocks and what stands in a line
CODE = re.compile(r"^( *)(```+|~~~+).*?^\1\2|(`+)[^`\n]+\3", re.DOTALL | re.MULTILINE)


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """The address of the repository is that of the package."""
    config.repo_url = repository()
    config.repo_name = config.repo_url.split("/", 3)[-1]
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Adds what the site shows from outside of docs/."""
    for page, source in OUTSIDE.items():
        files.append(File.generated(config, page, abs_src_path=str(ROOT / source)))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, **_: Any) -> str:
    """Rewrites the links of a page, but not code."""
    here, parts, end = page.file.src_uri, [], 0
    for code in CODE.finditer(markdown):
        parts += [rewritten(markdown[end : code.start()], here, str(config.repo_url)), code.group()]
        end = code.end()
    return "".join([*parts, rewritten(markdown[end:], here, str(config.repo_url))])


def on_page_content(html: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Links of notebooks, which MkDocs does not resolve; what leads nowhere is a warning, as on other pages."""
    if not page.file.src_uri.endswith(".ipynb"):
        return html

    def resolved(link: re.Match[str]) -> str:
        target = posixpath.normpath(posixpath.join(posixpath.dirname(page.file.src_uri), link[1]))
        file = files.get_file_from_path(target)
        if file is None:
            LOG.warning("Notebook '%s' contains a link '%s', but there is no such page.", page.file.src_uri, link[1])
            return link.group()
        return f'href="{file.url_relative_to(page.file)}{link[2] or ""}"'

    return re.sub(r'href="([^":#]+\.(?:md|ipynb))(#[^"]*)?"', resolved, html)


def rewritten(text: str, page: str, address: str) -> str:
    """Markdown in which every link to a file of the repository leads where the file is seen."""

    def moved(link: re.Match[str]) -> str:
        target = re.sub(f"^{re.escape(address)}{VIEW}", "/", link[1])
        if re.match(r"[a-z]+:", target):
            return link.group()
        source = unquote(posixpath.normpath(posixpath.join("/", posixpath.dirname(source_of(page)), target)))[1:]
        shown = page_of(source)
        anchor = link[2] or ""
        if not (ROOT / source).exists() or source == "docs":
            return link.group()
        if shown is not None and (ROOT / source).is_file():
            return posixpath.relpath(shown, posixpath.dirname(page) or ".") + anchor
        return f"{address}/{'tree' if (ROOT / source).is_dir() else 'blob'}/main/{source}{anchor}"

    return LINK.sub(moved, text)
