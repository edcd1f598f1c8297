"""Includes of csrc run downwards, and the check of it finds those that do not."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "tools"))

import check_includes  # noqa: E402

FILES = (
    "base/base.h",
    "state/view.h",
    "solvers/contacts.h",
    "solvers/spheres/a.h",
    "solvers/planar/b.h",
    "phases/step.h",
)


def sources(folder: Path, source: str, target: str) -> Path:
    """A small tree in which `source` includes `target`, both relative to it."""
    for name in (*FILES, source):
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("/* empty */\n")
    up = "../" * source.count("/")
    (folder / source).write_text(f'#include <math.h>\n#include "stb_image_write.h"\n#include "{up}{target}"\n')
    return folder


def test_the_engine_has_no_fault() -> None:
    """No include of csrc runs up, and there are includes to read."""
    root = ROOT / "csrc"
    assert check_includes.problems(root) == []
    assert sum(len(check_includes.INCLUDE.findall(file.read_text())) for file in root.rglob("*.h")) > 50


@pytest.mark.parametrize(
    ("source", "target"),
    [
        ("phases/step.h", "solvers/spheres/a.h"),
        ("solvers/spheres/a.h", "solvers/contacts.h"),
        ("state/view.h", "base/base.h"),
        ("gg.h", "state/view.h"),
    ],
)
def test_downwards_is_right(tmp_path: Path, source: str, target: str) -> None:
    """A layer includes itself and what is below it."""
    assert check_includes.problems(sources(tmp_path, source, target)) == []


@pytest.mark.parametrize(
    ("source", "target"),
    [
        ("base/base.h", "state/view.h"),
        ("state/view.h", "phases/step.h"),
        ("solvers/spheres/a.h", "solvers/planar/b.h"),
        ("sensors/c.h", "solvers/contacts.h"),
    ],
)
def test_upwards_is_found(tmp_path: Path, source: str, target: str) -> None:
    """An include that runs up, from one law to another, or between layers of one rank, is named."""
    found = check_includes.problems(sources(tmp_path, source, target))
    assert len(found) == 1 and found[0].startswith(f"{source} includes {target}")


def test_an_unknown_layer_is_found(tmp_path: Path) -> None:
    """A folder that no layer knows is a fault."""
    assert check_includes.problems(sources(tmp_path, "attic/old.h", "base/base.h")) == [
        "attic/old.h: not in a known layer"
    ]
