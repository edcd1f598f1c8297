"""The counters of a world: their list, types and words are the same in the engine, in Python and in the docs."""

from __future__ import annotations

import inspect
import re
from pathlib import Path
from typing import Any, get_args, get_type_hints

import numpy as np
import pytest

import granular_gym as gg
from granular_gym.engine.stats import Counters, Stats

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def world() -> Any:
    """A heap that has come down on the floor, 60 grains of radius 0.05."""
    scene = gg.Scene(bounds=((-1, -1, 0), (1, 1, 2)))
    sand = scene.add_material(radius=0.05, density=1600.0)
    scene.fill_box(sand, lower=(-0.3, -0.3, 0.02), upper=(0.3, 0.3, 0.6), count=60)
    with scene.build(num_threads=1) as built:
        built.step(1e-3, 400)
        built.step(1e-3, 10)
        yield built


def dtypes(kind: Any) -> dict[str, np.dtype[Any]]:
    """The dtypes that the annotations of a TypedDict state."""
    return {name: np.dtype(get_args(get_args(hint)[1])[0]) for name, hint in get_type_hints(kind).items()}


def documented(kind: Any) -> dict[str, str]:
    """The lines of a docstring's Attributes, each on one line."""
    lines = inspect.getdoc(kind).split("Attributes:")[1]
    found = re.findall(r"^    (\w+): (.*?)(?=^    \w+: |\Z)", lines, re.M | re.S)
    return {name: " ".join(words.split()) for name, words in found}


def test_annotations_are_what_the_engine_gives(world: Any) -> None:
    for kind, values in ((Stats, world.stats), (Counters, world.counters())):
        assert {name: value.dtype for name, value in values.items()} == dtypes(kind)
        assert list(values) == list(documented(kind))


def test_the_page_says_what_the_docstring_says() -> None:
    page = (ROOT / "docs" / "counters.md").read_text()
    rows = re.findall(r"^\| `(\w+)` \| (\w+) \| (\S+) \| (.*) \|$", page, re.M)
    assert {name: f"{meaning} [{unit}]." for name, _, unit, meaning in rows} == documented(Stats)
    assert {name: np.dtype(kind) for name, kind, *_ in rows} == dtypes(Stats)


def test_the_page_runs() -> None:
    exec(re.search(r"```python\n(.*?)```", (ROOT / "docs" / "counters.md").read_text(), re.S)[1], {})


def test_the_property_names_them_all() -> None:
    assert set(re.findall(r"`(\w+)`", gg.World.stats.__doc__)) == set(documented(Stats))


def test_contacts_of_two_grains_count_twice(world: Any) -> None:
    contacts = world.contacts()
    stats = world.stats
    with_tools = int((contacts.pairs[:, 1] < 0).sum()) if contacts.pairs.min() < 0 else None
    assert with_tools is not None and stats["tool_contact_count"][0] == with_tools > 0
    assert stats["contact_count"][0] == 2 * (len(contacts.pairs) - with_tools) + with_tools


def test_values_are_those_of_the_definitions(world: Any) -> None:
    """Energy and speed of the last substep against the velocities, iterations against the settings."""
    stats, mass = world.stats, 1600.0 * 4.0 / 3.0 * np.pi * 0.05**3
    linear = (world.velocities[0].astype(float) ** 2).sum(axis=1)
    spin = (world.angular_velocities[0].astype(float) ** 2).sum(axis=1)
    energy = 0.5 * mass * (linear.sum() + 0.4 * 0.05**2 * spin.sum())
    assert stats["kinetic_energy"][0] == pytest.approx(energy, rel=1e-5)
    assert stats["speed_max"][0] > 0.0 and stats["iteration_count"][0] <= 10 * world.solver.iterations
    assert stats["overlap_max"][0] >= stats["overlap_max_last"][0] > 0.0
    assert 0 < stats["overlap_count"][0] <= stats["contact_count"][0]


def test_grains_on_the_edge_have_not_escaped() -> None:
    scene = gg.Scene(
        bounds=((-1, -1, 0), (1, 1, 1)), boundary={"x": "open", "y": "open", "z": "open"}, gravity=(0, 0, 0)
    )
    sand = scene.add_material(radius=0.05, density=1600.0)
    scene.add_grains(sand, [[0.5, 0.0, 0.5], [0.9, 0.0, 0.5]])
    with scene.build() as world:
        world.set_grains(positions=[[1.04, 0.0, 0.5], [1.06, 0.0, 0.9]])
        world.step(1e-3)
        assert world.stats["escaped_count"][0] == 1
