"""Tasks with goals: what a step earns for the goal in force is what it paid; for another, what that would have paid."""

from __future__ import annotations

import pickle
import re
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from env_helpers import TASK_IDS, small
from numpy.typing import NDArray

from granular_gym import ArgumentError
from granular_gym.tasks.boxes import BLOCK, box_stats_of
from granular_gym.tasks.expert import scripted_expert
from granular_gym.tasks.goals import GoalTask

GOALS = ("Bulldozer", "Level", "Pour", "Silo", "Dough")
TASKS = [name for name in TASK_IDS if name.partition("/")[2].partition("-")[0] in GOALS]
WITHOUT = [name for name in TASK_IDS if name not in TASKS]
EPISODE = 48  # control periods, in which the experts move grains
LEVEL, POUR, SILO = (f"granular_gym/{name}-v1" for name in GOALS[1:4])
BULLDOZER = "granular_gym/Bulldozer-v1"


def test_tasks_with_a_goal_have_the_method_and_others_do_not() -> None:
    for name in TASKS + WITHOUT:
        env = gym.make(name, **small(name))
        assert hasattr(env.unwrapped.task, "compute_reward") == (name in TASKS)
        # Stable-Baselines3 asks an env that has it for an observation that holds its goals
        assert not hasattr(env.unwrapped, "compute_reward")
        env.close()
    assert len(TASKS) == 2 * len(GOALS) - 1 and WITHOUT, "Dough has one version"


def onto_the_heap(env: Any) -> None:
    """Puts the bulldozers behind their heaps, where a push moves grains."""
    task = env.unwrapped.task
    heaps = task.world.positions[:, :, :2].mean(axis=1)
    toward = np.sign(task.goal[:, 0])
    task.pose[:] = np.stack([heaps[:, 0] - 1.1 * toward, heaps[:, 1], np.where(toward > 0, 0.0, np.pi)], axis=1)
    task.world.set_tool_poses(task.world.drive_poses(task.pose))


#: tasks whose rewards are changes, and those that pay for each control period, with arguments
CHANGES: list[tuple[str, dict[str, Any]]] = [
    (BULLDOZER, {}), ("granular_gym/Bulldozer-v0", {"reward": "incremental"}),
    (LEVEL, {}), (LEVEL, {"reward": "paper"}), ("granular_gym/Level-v0", {}), (POUR, {}), ("granular_gym/Pour-v0", {}),
    ("granular_gym/Dough-v0", {}),
]  # fmt: skip
PERIODS: list[tuple[str, dict[str, Any]]] = [
    (BULLDOZER, {"reward": "level"}), ("granular_gym/Bulldozer-v0", {}), (SILO, {}), ("granular_gym/Silo-v0", {}),
]  # fmt: skip


@pytest.mark.parametrize(
    ("name", "more", "skip"),
    [(*case, skip) for case in CHANGES for skip in (1, 3)] + [(*case, 1) for case in PERIODS],
)
def test_rewards_of_steps_are_computed_again(name: str, more: dict[str, Any], skip: int) -> None:
    more, episode = {**small(name), **more, "frame_skip": skip}, EPISODE // skip
    envs: Any = gym.make_vec(name, num_envs=2, max_episode_steps=episode, **more)
    envs.reset(seed=4)
    if "Bulldozer" in name:
        onto_the_heap(envs)
    expert = scripted_expert(envs)
    before = first = envs.achieved_goal()
    goal, total = envs.desired_goal(), 0.0
    for k in range(episode + 4):
        _, rewards, _, truncated, _ = envs.step(expert.act())
        after = envs.achieved_goal()
        if k == episode:  # this step began new episodes
            first, goal = after, envs.desired_goal()
            expert.reset(np.ones(2, bool))
            assert (rewards == 0.0).all()
        else:
            got = envs.compute_reward(after, goal, {"before": before, "first": first})
            if skip == 1:
                assert np.array_equal(got, rewards)
            else:  # the change over several control periods is that of the sum of theirs, but for rounding
                assert got == pytest.approx(rewards, rel=1e-12, abs=1e-12)
            total += np.abs(rewards).sum()
        assert truncated.all() == (k == episode - 1)
        before = after
    assert total > 0.0
    envs.close()


@pytest.mark.parametrize(("name", "more"), PERIODS)
def test_control_periods_that_are_paid_one_by_one_must_be_steps(name: str, more: dict[str, Any]) -> None:
    env: Any = gym.make(name, frame_skip=2, **more, **small(name)).unwrapped
    env.reset(seed=0)
    with pytest.raises(ArgumentError, match="^frame_skip: expected 1"):
        env.task.compute_reward(env.achieved_goal(), env.desired_goal())
    env.close()


def test_the_snippets_of_the_page() -> None:
    page = (Path(__file__).parents[2] / "docs" / "tasks" / "README.md").read_text()
    snippets = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    assert snippets
    for snippet in snippets:
        exec(compile(snippet, "README.md", "exec"), {"__name__": "snippet"})


def test_one_env_gives_numbers(make: Any) -> None:
    env = make(LEVEL)
    env.reset(seed=1)
    one = env.unwrapped
    before, goal = one.achieved_goal(), one.desired_goal()
    assert before.shape == goal.shape == (8, 12)
    reward = env.step(np.array([1.0, 0.0, -1.0, 0.5], np.float32))[1]
    info = {"before": before, "first": before, "success": False}
    got = one.task.compute_reward(one.achieved_goal(), goal, info)
    assert isinstance(got, float) and got == reward


def test_another_goal_pays_as_if_it_had_been_drawn() -> None:
    """Two envs with the same grains and actions and different goals: each computes the rewards of the other."""
    pair: Any = gym.make_vec(BULLDOZER, num_envs=2, **small(BULLDOZER))
    pair.reset(seed=[3, 3])
    pair.task.goal[1] = pair.task.goal[0] + np.float32([-1.7, 0.1, 0.0, -1.7, 0.1, 0.0])
    onto_the_heap(pair)
    pair.task.pose[1] = pair.task.pose[0]
    pair.task.world.set_tool_poses(pair.task.world.drive_poses(pair.task.pose))
    pair.task._measure()
    goals, before = pair.desired_goal(), pair.achieved_goal()
    paid, records = [], [before]
    for _ in range(20):
        paid.append(pair.step(np.tile(np.float32([1.0, 0.1]), (2, 1)))[1])
        records.append(pair.achieved_goal())
    states = np.array(records)
    assert np.array_equal(states[:, 0], states[:, 1])
    got = pair.compute_reward(states[1:, :1], goals[::-1], {"before": states[:-1, :1]})
    assert got.shape == (20, 2) and np.array_equal(got[:, ::-1], paid)
    assert np.abs(np.array(paid) @ [1.0, -1.0]).max() > 1e-3
    pair.close()


def test_a_dose_and_a_programme_of_ones_own() -> None:
    pour: Any = gym.make(POUR, **small(POUR)).unwrapped
    reward = pour.task.compute_reward([0.5, 0.01], [0.5, 0.25], {"before": [0.25, 0.0]})
    assert reward == pytest.approx([0.5 - 0.02, -1.0 - 0.02])
    pour.close()
    silo: Any = gym.make(SILO, **small(SILO)).unwrapped
    programme = [[1.0, 2.0, 3.0], [0.1, 0.0, 0.2]]  # by 2.5 s .2 of the grains
    assert silo.task.compute_reward([2.5, 0.2, 0.0], programme) == pytest.approx(1.0 / 120.0)
    assert silo.task.compute_reward([[2.5, 0.2, 0.05], [1.0, 0.15, 0.0]], programme) == pytest.approx([0.0, 0.0])
    silo.close()


def test_what_is_not_finite_earns_nothing(make: Any) -> None:
    env = make(POUR).unwrapped
    assert env.task.compute_reward([np.nan, 0.0], 0.5, {"before": [0.0, 0.0]}) == 0.0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([0.1], 0.5, {"before": [0.0, 0.0]}), r"^achieved_goal: expected shape \(..., 2\), got \(1,\)"),
        (("much", 0.5, {"before": [0.0, 0.0]}), "^achieved_goal: expected an array of numbers"),
        (([0.1, 0.0], ["half"], {"before": [0.0, 0.0]}), "^desired_goal: expected an array of numbers"),
        (([0.1, 0.0], 0.5, {"before": 0.0}), r"^info\['before'\]: expected shape"),
        (([0.1, 0.0], 0.5, {"after": 0.0}), r"^info: expected the entry 'before', .*, got \['after'\]"),
        (([0.1, 0.0], 0.5), "^info: expected the entry 'before', .*, got None"),
        ((np.zeros((3, 2)), np.ones(2), {"before": np.zeros(2)}), r"go together, got \[\(3,\), \(2,\), \(\)\]"),
    ],
)
def test_wrong_arguments_are_named(make: Any, arguments: Any, message: str) -> None:
    env = make(POUR).unwrapped
    with pytest.raises(ArgumentError, match=message):
        env.task.compute_reward(*arguments)


def test_goals_survive_a_pickle(make: Any) -> None:
    env = make(LEVEL)
    env.reset(seed=2)
    env.step(env.action_space.sample())
    again = pickle.loads(pickle.dumps(env.unwrapped))
    assert np.array_equal(again.achieved_goal(), env.unwrapped.achieved_goal())
    assert np.array_equal(again.desired_goal(), env.unwrapped.desired_goal())
    again.close()


@pytest.mark.parametrize("grains", [1, 33, BLOCK, BLOCK + 40])
def test_boxes_count_as_the_engine_does(grains: int) -> None:
    """The mean distance of grains to a box, summed in the engine's order."""
    from granular_gym.engine.scene import Scene

    points: NDArray[np.float32] = np.random.default_rng(grains).uniform(0.1, 3.9, (2, grains, 3)).astype(np.float32)
    scene = Scene(bounds=((0.0, 0.0, 0.0), (4.0, 4.0, 4.0)))
    scene.add_grains(scene.add_material(radius=1e-4, density=1000.0), points[0])
    boxes = np.array([[1.0, 0.5, 0.0, 2.5, 2.0, 4.0], [0.0, 0.0, 1.0, 4.0, 4.0, 1.0]], np.float32)
    with scene.build(env_count=2, num_threads=1) as world:
        world.set_grains(positions=points)
        counts, distances = world.box_stats(boxes[:, :3], boxes[:, 3:])
        assert np.array_equal(world.positions, points)
    got = box_stats_of(points, boxes)
    assert np.array_equal(got[0], counts) and got[1].tobytes() == distances.tobytes()


def test_a_task_with_goals_must_say_what_they_are() -> None:
    with pytest.raises(TypeError, match="abstract"):
        GoalTask()  # type: ignore[abstract]
