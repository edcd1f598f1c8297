"""spaces.py: a hook of MkDocs: the page of a task ends with its spaces as the code has them.

Envs are made while the site is built, so the tables cannot lag behind the code.
"""

from __future__ import annotations

import itertools
import re
import sys
from collections.abc import Iterator
from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces
from mkdocs.structure.pages import Page
from sources import ROOT

if str(ROOT) not in sys.path:
    sys.path.insert(0, str(ROOT))
import granular_gym  # noqa: F401  registers the tasks

TASK_PAGE = re.compile(r"tasks/(\w+-v\d+)\.md")
#: intervals that a table shows; of a vector with more parts the count and the widest
SHOWN_PARTS = 9


def on_page_markdown(markdown: str, page: Page, **_: Any) -> str:
    """Adds the section to pages of tasks."""
    task = TASK_PAGE.fullmatch(page.file.src_uri)
    return f"{markdown.rstrip()}\n\n{section('granular_gym/' + task[1])}" if task else markdown


def section(name: str) -> str:
    """The spaces of a task in Markdown: of both kinds of observation, of what `vision` adds, and of actions."""
    images, state = gymnasium.make(name), gymnasium.make(name, observation="state")
    seeing = gymnasium.make(name, vision=("rgb", "segmentation"))
    added = {key: part for key, part in seeing.observation_space.items() if key not in images.observation_space.spaces}
    lines = [
        "## Spaces",
        "",
        f'As `gymnasium.make("{name}")` has them; `make_vec` puts the number of envs before each shape. '
        "Ranges are bounds, not what is usual.",
        "",
        "| space | key | shape | dtype | range |",
        "|---|---|---|---|---|",
        *rows("observation", images.observation_space),
        *rows('with `observation="state"`', state.observation_space),
        *rows('with `vision=("rgb", "segmentation")` also', spaces.Dict(added)),
        *rows("action", images.action_space),
    ]
    images.close()
    state.close()
    seeing.close()
    return "\n".join(lines) + "\n"


def rows(title: str, space: spaces.Space[Any]) -> Iterator[str]:
    """A line for each part of a space."""
    for key, part in space.items() if isinstance(space, spaces.Dict) else [("", space)]:
        shape = ",&nbsp;".join(map(str, part.shape)) + ("," if len(part.shape) == 1 else "")
        yield f"| {title} | {f'`{key}`' if key else ''} | ({shape}) | {part.dtype} | {extent(part)} |"
        title = ""


def extent(box: spaces.Box) -> str:
    """The interval of all parts of a box, or those of one part after the other, equal neighbours together."""
    bounds = np.stack([box.low.ravel(), box.high.ravel()], axis=1)
    if (bounds == bounds[0]).all():
        return interval(*bounds[0])
    starts = [0, *(np.flatnonzero((bounds[1:] != bounds[:-1]).any(axis=1)) + 1), len(bounds)]
    runs = list(itertools.pairwise(starts))
    if len(runs) > SHOWN_PARTS:
        return f"{interval(bounds[:, 0].min(), bounds[:, 1].max())} at most"
    return "; ".join(
        f"{first}: {interval(*bounds[first])}"
        if end - first == 1
        else f"{first} to {end - 1}: {interval(*bounds[first])}"
        for first, end in runs
    )


def interval(low: float, high: float) -> str:
    """Two bounds with four digits, in one line."""
    return f"{low:.4g}&nbsp;..&nbsp;{high:.4g}"
