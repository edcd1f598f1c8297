"""What an episode draws and the best action depends on can be seen in the observation (docs/tasks/README.md)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from env_helpers import small

from granular_gym.envs.bulldozer_observer import grains_in_view, policy
from granular_gym.tasks.expert import scripted_expert
from granular_gym.tasks.registry import NAMESPACE, newest_ids
from granular_gym.training.policies import load_policy

PAGE = Path(__file__).parents[2] / "docs" / "tasks" / "README.md"
#: what an episode derives from what it draws, by attribute of the task
DERIVED = {"score", "share", "shares", "error", "first_error", "held", "spilled", "mixing"}


@dataclass(frozen=True)
class Drawn:
    """Something that an episode draws.

    Attributes:
        change: changes it, and nothing else, in a task of one env that was reset.
        seen: in which entries of the observation it is seen; none: it is hidden.
        attribute: of the task that holds it; none: it is in the world.
        in_state: whether the vector of observation="state" tells it, too.
    """

    change: Callable[[Any], None]
    seen: set[str]
    attribute: str = ""
    in_state: bool = True


def shifted(attribute: str, *by: float) -> Callable[[Any], None]:
    """Adds to an attribute of the task."""

    def change(task: Any) -> None:
        getattr(task, attribute)[0] += by[0] if len(by) == 1 else np.array(by)

    return change


def another_bed(task: Any) -> None:
    """Loads the next bed where the present one lies."""
    task.load_beds(np.zeros(1, np.int32), np.array([1]))


def another_friction(task: Any) -> None:
    task.friction[0] += 0.1
    task.set_materials(np.zeros(1, np.int32))


def another_target(task: Any) -> None:
    task.target[0] = task.target[0][::-1, ::-1]
    task._draw_targets(slice(None))


def moved_heap(task: Any) -> None:
    task.world.transform_grains(np.array([[0.2, 0.1, 0.0]], np.float32), np.zeros(1, np.float32))


def other_stages(task: Any) -> None:
    """Exchanges the later stages of a programme: the present one and the dose stay."""
    task.ends[0] = 1.0, 2.0, 3.0
    task.rates[0] = task.rates[0, [0, 2, 1]]


def other_paint(task: Any) -> None:
    """Paints the other half: the index of mixing stays."""
    task.kind[0] = ~task.kind[0]


def other_posture(task: Any) -> None:
    """Another yaw and other angles and velocities of the joints of a robot."""
    data = task.robots.data[0]
    data.qpos[3:7] = np.cos(0.1), 0.0, 0.0, np.sin(0.1)
    data.qpos[7:] += 0.05
    data.qvel[:] += 0.1


FRICTION = Drawn(another_friction, set(), "friction")
DRAWN: dict[str, dict[str, Drawn]] = {
    "Bulldozer-v1": {
        "goal": Drawn(shifted("goal", 0.2, 0.1, 0, 0.2, 0.1, 0), {"goal", "goal_from_vehicle"}, "goal"),
        "heap": Drawn(moved_heap, {"sky"}),
        "start": Drawn(shifted("pose", 0.1, 0.1, 0.2), {"pose", "heading", "goal_from_vehicle"}, "pose"),
        "friction": FRICTION,
    },
    "Excavator-v1": {
        "bin": Drawn(shifted("bin", 0.01, -0.02), {"bin"}, "bin"),
        "bed": Drawn(another_bed, {"side"}),
        "posture": Drawn(shifted("joints", 0.05), {"joints"}, "joints"),
        "friction": FRICTION,
    },
    "Silo-v1": {
        "programme": Drawn(other_stages, {"programme"}, "rates"),
        "durations": Drawn(shifted("ends", 0.1, 0.2, 0.3), {"programme", "flow"}, "ends"),
        "receiver": Drawn(shifted("receiver_x", 0.1), {"flow"}, "receiver_x"),
        "bed": Drawn(another_bed, {"side"}, in_state=False),
        "friction": FRICTION,
    },
    "Level-v1": {
        "target": Drawn(another_target, {"target"}, "target"),
        "bed": Drawn(another_bed, {"sky"}),
        "start": Drawn(shifted("pose", 0.1, 0.1, 0.0, 0.2), {"blade"}, "pose"),
        "friction": FRICTION,
    },
    "GearTower-v1": {
        "paint": Drawn(other_paint, {"samples"}, "kind"),
        "bed": Drawn(another_bed, {"sky"}),
        "friction": FRICTION,
    },
    "Pour-v1": {
        "dose": Drawn(shifted("dose", 0.1), {"state"}, "dose"),
        "target": Drawn(shifted("target_x", 0.1), {"state"}, "target_x"),
        "cup": Drawn(shifted("cup", 0.05, 0.05, 0.0), {"state"}, "cup"),
        "contents": Drawn(another_bed, {"cup"}, in_state=False),
        "friction": FRICTION,
    },
    "ExcavatorForce-v0": {
        "bin": Drawn(shifted("bin", 0.01, -0.02), {"bin"}, "bin"),
        "bed": Drawn(another_bed, {"side"}),
        "posture": Drawn(shifted("joints", 0.05), {"joints"}, "joints"),
        "friction": FRICTION,
    },
    "AntOnSand-v0": {
        "bed": Drawn(another_bed, {"ahead"}),
        "posture": Drawn(other_posture, {"torso", "motion", "joints", "velocities"}, "robot_state"),
        "friction": FRICTION,
    },
    "Dough-v0": {
        "target": Drawn(another_target, {"target"}, "target"),
        "dough": Drawn(another_bed, {"sky"}),
        "start": Drawn(shifted("roller", 0.03, 0.0, 0.0), {"roller"}, "roller"),
        "friction": FRICTION,
    },
}
CASES = [(name, quantity) for name, drawn in DRAWN.items() for quantity in drawn]
#: what older versions draw and do not show
UNSEEN = [("Bulldozer-v0", "goal"), ("Silo-v0", "programme"), ("GearTower-v0", "paint")]


def observation(task: Any) -> dict[str, Any]:
    """What an agent sees of the only env once the task has taken over what was changed behind its back."""
    task.load(task.save())
    return {key: part[0].copy() for key, part in task.observe().items()}


def changed_entries(name: str, drawn: Drawn, **kwargs: Any) -> set[str]:
    """The entries of the observation that differ once something drawn is changed."""
    env = gym.make(NAMESPACE + name, **small(NAMESPACE + name), **kwargs)
    env.reset(seed=0)
    task = env.unwrapped.task
    if drawn.change is another_bed:  # both beds with the tools where they stood when it settled
        task.load_beds(np.zeros(1, np.int32), np.zeros(1, np.int64))
    elif drawn.change is other_stages:
        task.ends[0] = 1.0, 2.0, 3.0
    before = observation(task)
    drawn.change(task)
    after = observation(task)
    env.close()
    return {key for key in before if not np.array_equal(before[key], after[key])}


def test_every_task_is_in_the_table() -> None:
    assert [NAMESPACE + name for name in DRAWN] == newest_ids()


@pytest.mark.parametrize("name, quantity", CASES)
def test_what_is_drawn_is_seen_where_the_table_says(name: str, quantity: str) -> None:
    drawn = DRAWN[name][quantity]
    changed = changed_entries(name, drawn)
    assert changed >= drawn.seen
    assert drawn.seen or not changed, "said to be hidden"


@pytest.mark.parametrize("name, quantity", CASES)
def test_what_is_drawn_is_seen_in_the_state_vector_too(name: str, quantity: str) -> None:
    drawn = DRAWN[name][quantity]
    told = {"state"} if drawn.seen and drawn.in_state else set()
    assert changed_entries(name, drawn, observation="state") == told


@pytest.mark.parametrize("name, quantity", UNSEEN)
def test_older_versions_do_not_show_it(name: str, quantity: str) -> None:
    assert changed_entries(name, DRAWN[name.replace("v0", "v1")][quantity]) == set()


@pytest.mark.parametrize("name", DRAWN)
def test_nothing_else_is_drawn(name: str) -> None:
    """Whatever differs between episodes as they begin is in the table, or derived from what is."""
    env = gym.make(NAMESPACE + name, difficulty="hard", friction_range=(0.2, 0.6), **small(NAMESPACE + name))
    task = env.unwrapped.task
    names = ("friction", *task.episode_state)
    starts = []
    for seed in range(4):
        env.reset(seed=seed)
        starts.append({attribute: getattr(task, attribute).copy() for attribute in names})
    env.close()
    differ = {key for key in names if any(not np.array_equal(start[key], starts[0][key]) for start in starts)}
    listed = {drawn.attribute for drawn in DRAWN[name].values()} - {""}
    if "joints" in listed:  # which the state of a robot has in it
        differ -= {"robot_state"}
    assert differ - DERIVED == listed


def test_the_page_has_the_table() -> None:
    lines = PAGE.read_text().split("## What an episode draws")[1].split("\n## ")[0].splitlines()
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines if line.startswith("| ")][1:]
    said: dict[str, dict[str, set[str]]] = {}
    task = ""
    for first, quantity, _, seen in rows:
        task = first or task
        said.setdefault(task, {})[quantity.split(":")[0]] = set(seen.split("`")[1::2])
    assert said == {name: {key: drawn.seen for key, drawn in rows.items()} for name, rows in DRAWN.items()}


@pytest.mark.parametrize("depth", ["float32", "uint8"])
def test_what_is_in_view_stands_for_the_grains(depth: str, make: Any) -> None:
    env = make("granular_gym/Bulldozer-v1", grain_count=500, depth=depth)
    shown, _ = env.reset(seed=1)
    points, grains = grains_in_view(shown["sky"], shown["pose"]), env.unwrapped.task.world.positions[0]
    assert points[:, :2].mean(axis=0) == pytest.approx(grains[:, :2].mean(axis=0), abs=0.05)
    assert points[:, :2].std(axis=0) == pytest.approx(grains[:, :2].std(axis=0), rel=0.2)
    drive = load_policy("granular_gym.envs.bulldozer_observer:policy", env)
    for _ in range(3):
        action = drive(shown)
        assert env.action_space.contains(action) and action.any()
        shown = env.step(action)[0]


@pytest.mark.slow
def test_the_bulldozer_is_driven_as_well_from_the_observation_alone(make_vec: Any, full: bool) -> None:
    """An expert that is handed observations and nothing else keeps up with the one that reads the task."""
    count = 2 if full else 1
    returns, successes = [], []
    for observing in (True, False):
        envs = make_vec("granular_gym/Bulldozer-v1", count, grain_count=300, depth="uint8", autoreset_mode="Disabled")
        observations, _ = envs.reset(seed=0)
        expert, drive = scripted_expert(envs), policy(envs)
        total = np.zeros(count)
        for _ in range(600):
            observations, rewards, _, _, infos = envs.step(drive(observations) if observing else expert.act())
            total += rewards
        returns.append(total.mean())
        successes.append(infos["success"].tolist())
    assert successes == [[True] * count] * 2
    assert returns[0] > 0.9 * returns[1]
