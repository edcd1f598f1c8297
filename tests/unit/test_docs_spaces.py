"""The tables of spaces on the pages of tasks are those of the code."""

from __future__ import annotations

import re
from pathlib import Path

import gymnasium as gym
import pytest

import granular_gym  # noqa: F401  registers the tasks
from granular_gym.tasks.registry import newest_ids, short_name

TASKS = Path(__file__).parents[2] / "docs" / "tasks"
PART = re.compile(r"^\| `(\w+)` \| \(([^)]*)\)( \w+)? \|", re.MULTILINE)
ENTRY = re.compile(r"^\| (\d+)(?: \.\. (\d+))? \| ([^|]+) \|")
#: pages whose observation is that of another page, and what it has besides
SAME_AS = {"ExcavatorForce-v0": ("Excavator-v1", {"torques"})}


def page(task: str) -> str:
    return (TASKS / f"{task}.md").read_text(encoding="utf-8")


def made(task: str, **arguments: str) -> gym.Env:
    if task in ("AntOnSand-v0", "ExcavatorForce-v0"):
        pytest.importorskip("mujoco")
    return gym.make(f"granular_gym/{task}", **arguments)


@pytest.fixture(params=[short_name(each) for each in newest_ids()])
def task(request: pytest.FixtureRequest) -> str:
    """Each newest task, as its page is called."""
    return request.param


def test_the_table_of_observations_has_every_key_and_shape(task: str) -> None:
    same, more = SAME_AS.get(task, (task, set()))
    rows = PART.findall(page(same))
    env = made(task)
    spaces = env.observation_space
    assert {key for key, *_ in rows} | more == set(spaces)
    assert all(f"`{key}`" in page(task) for key in more)
    for key, shape, dtype in rows:
        # numbers of a task that has as many parts as it is told: 2 `gear_count` + 1, of four by default
        sides = [eval(side.replace(" `gear_count`", "*4")) for side in shape.split(",") if side.strip()]
        assert tuple(sides) == spaces[key].shape, key
        assert dtype.strip() in ("", str(spaces[key].dtype)), key
    env.close()


def test_the_table_of_the_state_has_every_entry(task: str) -> None:
    table = page(task).partition("| entries | name | meaning |\n")[2].partition("\n\n")[0]
    rows = [row.groups() for row in map(ENTRY.match, table.splitlines()) if row]
    env = made(task, observation="state")
    vector = env.unwrapped.task.state_vector
    told = [(name.strip(), int(last or first) - int(first) + 1) for first, last, name in rows]
    assert told == [(entry.name, entry.size) for entry in vector.entries]
    ends = [int(last or first) + 1 for first, last, _ in rows]
    assert [int(first) for first, *_ in rows] == [0, *ends[:-1]]
    assert env.observation_space["state"].shape == (ends[-1],) == (vector.size,)
    env.close()
