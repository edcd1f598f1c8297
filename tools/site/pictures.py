"""pictures.py: a hook of MkDocs: pages of films and plots, made from the captions that stand beside them elsewhere.

The gallery takes films from docs/films.md and the pages of tasks, the page of validation plots what docs/validation.md
says of each check, that of performance plots the cases of benchmarks/run.py, and what GPUs and learners left.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from sources import ROOT

if str(ROOT) not in sys.path:
    sys.path.insert(0, str(ROOT))
from benchmarks.run import CASES

#: the page has its whole width
WIDE = ("---", "hide:", "  - toc", "---", "")
DOCS = ROOT / "docs"
RESULTS = ROOT / "benchmarks" / "results"
FILM = re.compile(r"!\[([^]]+)\]\(([\w./-]+\.webp)\)")
CHECK = re.compile(r"^\| \[(\w+)\]\((validation/\w+\.md)\) \| ([^|]+) \| ([^|]+) \|", re.MULTILINE)


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Adds the pages."""
    for page, make in {
        "gallery.md": gallery,
        "validation/plots.md": validation_plots,
        "performance/plots.md": performance_plots,
    }.items():
        files.append(File.generated(config, page, content="\n".join(make()) + "\n"))
    return files


def figure(picture: str, caption: str, link: str) -> Iterator[str]:
    """A card: a picture that leads to a page, and its caption."""
    what = re.sub(r"[*`]", "", caption.split(".")[0])
    yield from (f"-   [![{what}]({picture})]({link})", "")
    yield from (f"    {paragraph}\n" for paragraph in caption.split("\n"))


def cards(*figures: Iterator[str], kind: str = "") -> Iterator[str]:
    """A grid of cards; of `kind` "wide" fewer beside each other."""
    yield from (f'<div class="grid cards {kind}" markdown>', "")
    for each in figures:
        yield from each
    yield from ("</div>", "")


def gallery() -> Iterator[str]:
    """All films, with what they show and the command that makes them."""
    yield from (*WIDE, "# Gallery", "", "## Tasks", "")
    yield from ("Experts at work. Each page tells the exact command of its film.", "")
    pages = sorted(path for path in (DOCS / "tasks").glob("*-v*.md"))
    yield from cards(
        *(
            figure(f"tasks/{film[2]}", f"{film[1]}\n`python -m granular_gym play {page.stem}`", f"tasks/{page.name}")
            for page in pages
            for film in FILM.finditer(page.read_text(encoding="utf-8"))
        )
    )
    space, matter = (DOCS / "films.md").read_text(encoding="utf-8").split("## Continuous matter")
    for title, part in {"Grains and bodies": space, "Continuous matter": matter}.items():
        yield from (f"## {title}", "")
        yield from cards(
            *(
                figure(film[2], f"{film[1]}\n`python -m granular_gym scene {Path(film[2]).stem}`", "films.md")
                for film in FILM.finditer(part)
            )
        )


def validation_plots() -> Iterator[str]:
    """The plots of all checks, with the law and the figure of each."""
    yield from (*WIDE, "# Validation in plots", "")
    yield from ("Each plot leads to the page of its check: set-up, targets, sources and tables.", "")
    rows = CHECK.findall((DOCS / "validation.md").read_text(encoding="utf-8"))
    yield from cards(
        *(
            figure(picture.name, f"**{name}**: {law}\n{measured}", f"{name}.md")
            for name, _, law, measured in rows
            for picture in sorted((DOCS / "validation").glob(f"{name}_*.png"))
            # not those of a check whose name begins alike
            if picture.stem.rpartition("_")[0] == name
        ),
        kind="wide",
    )


def performance_plots() -> Iterator[str]:
    """The plots of what was measured, on the CPU, on GPUs and of learners."""
    yield from (
        *WIDE,
        "# Performance in plots",
        "",
        "Tables, machines and methods: [Performance](../performance.md).",
        "",
    )
    shared = (
        "`make bench` measures and draws them. Machine and day stand below each: shared machines of one name took up "
        "to 1.7 times as long on another day. What ran in turns in one run compares; figures of two plots do not."
    )
    yield from ("## Processor", "", shared, "")
    yield from plots(
        {RESULTS / "cpu" / f"{name}.png": f"**{name}**: {case.about}" for name, case in CASES.items()},
        "performance.md",
    )
    yield from ("## GPU", "", "`make gpu` measures and draws them ([GPU](../gpu.md)).", "")
    pictures = sorted(path for path in RESULTS.glob("*/*.png") if path.parent.name not in ("cpu", "learning"))
    yield from plots({path: f"**{path.stem}** ({path.parent.name.replace('_', ' ')})" for path in pictures}, "gpu.md")
    yield from ("## Learning", "", "Curves of training runs ([Learning](../learning.md)).", "")
    pictures = sorted((RESULTS / "learning").glob("*.png"))
    yield from plots({path: f"**{path.stem}**" for path in pictures}, "learning.md")


def plots(captions: dict[Path, str], page: str) -> Iterator[str]:
    """Cards of those pictures that exist."""
    yield from cards(
        *(
            figure(f"../{path.relative_to(ROOT).as_posix()}", caption, f"../{page}")
            for path, caption in captions.items()
            if path.is_file()
        ),
        kind="wide",
    )
