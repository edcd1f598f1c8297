"""What tools feel: wrenches and contact maps of the observation against what the world tells."""

from __future__ import annotations

import warnings
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from env_helpers import TASK_IDS, follow, same, small
from gymnasium.utils.env_checker import check_env

import granular_gym as gg
from granular_gym.errors import ArgumentError
from granular_gym.task import TouchPad
from granular_gym.tasks.touch import MAP_SHAPE

BOTH = ("tool_wrenches", "contact_map")
#: newest versions of tasks, and what they refuse
FEELING = ["Bulldozer-v1", "Level-v1", "Excavator-v1", "Pour-v1", "GearTower-v1"]


def pushing(make_vec: Any, name: str = "granular_gym/Pour-v1", **kwargs: Any) -> tuple[Any, dict[str, Any]]:
    """A batch whose cups carry grains, after five steps."""
    envs = make_vec(name, 2, **{**small(name), "touch": BOTH, **kwargs})
    envs.reset(seed=0)
    return envs, follow(envs, 5)[-1][0]


@pytest.mark.parametrize("name", FEELING)
def test_checkers_find_nothing(make: Any, name: str) -> None:
    env = make(f"granular_gym/{name}", **{**small(f"granular_gym/{name}"), "touch": BOTH})
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_env(env.unwrapped)
    count = len(env.unwrapped.task.pads)
    assert env.observation_space["tool_wrenches"].shape == (count, 6)
    assert env.observation_space["contact_map"].shape == (count, *MAP_SHAPE)


def test_the_rest_is_as_without(make_vec: Any) -> None:
    felt, plain = make_vec(touch=BOTH), make_vec()
    felt.reset(seed=1)
    plain.reset(seed=1)
    for ours, theirs in zip(follow(felt, 4), follow(plain, 4), strict=True):
        assert same({key: ours[0][key] for key in theirs[0]}, theirs[0]) and same(ours[1:], theirs[1:])


def test_the_cup_feels_its_grains(make_vec: Any) -> None:
    envs, shown = pushing(make_vec)
    task, world = envs.unwrapped.task, envs.unwrapped.task.world
    for env in range(2):
        # the wrench, turned back into the axes of the world
        assert np.linalg.norm(shown["tool_wrenches"][env, 0, :3]) == pytest.approx(
            np.linalg.norm(world.wrenches[env, 0, :3]), rel=1e-5
        )
        contacts = world.contacts(env).with_tool(0)
        pushes = np.maximum(np.einsum("ij,ij->i", contacts.forces, contacts.normals), 0.0)
        assert shown["contact_map"][env].sum() == pytest.approx(pushes.sum(), rel=1e-5) and pushes.sum() > 0
    assert np.abs(shown["tool_wrenches"][:, 0, :3]).sum() > 0.2 * task.weight


def test_the_wrench_is_that_of_the_excavator(make_vec: Any) -> None:
    """Its own observation has the wrench on the bucket, in the axes of the bucket."""
    from granular_gym.tasks.expert import scripted_expert

    envs = make_vec("granular_gym/Excavator-v1", 2, touch=BOTH, grain_count=100)
    envs.reset(seed=0)
    expert, pushed = scripted_expert(envs), 0
    for _ in range(60):
        shown = envs.step(expert.act())[0]
        limits = envs.single_observation_space["wrench"]
        felt = np.clip(shown["tool_wrenches"][:, 0], limits.low, limits.high)
        assert np.allclose(felt, shown["wrench"], rtol=1e-4, atol=1e-4)
        pushed += bool(np.abs(shown["wrench"]).max() > 0.1)
    assert pushed > 3


def test_a_robot_feels_the_whole_period(make_vec: Any) -> None:
    pytest.importorskip("mujoco")
    envs = make_vec("granular_gym/ExcavatorForce-v0", 1, touch="tool_wrenches")
    task = envs.unwrapped.task
    envs.reset(seed=0)
    follow(envs, 1)
    task.wrenches = np.arange(task.wrenches.size, dtype=float).reshape(task.wrenches.shape)
    link = task.robots.names.index("bucket")
    found = task.observe()["tool_wrenches"][0, 0]
    assert np.linalg.norm(found[:3]) == pytest.approx(np.linalg.norm(task.wrenches[0, link, :3]), rel=1e-5)


def test_the_map_shows_where() -> None:
    pad, shape = TouchPad("plate", "x", (-0.4, 0.0), (0.4, 0.2)), MAP_SHAPE
    # turned by a quarter about z and moved: the tool's y is the world's -x
    pose = np.array([1.0, 2.0, 3.0, np.sqrt(0.5), 0.0, 0.0, np.sqrt(0.5)], np.float32)
    points = np.array([[1.0 - 0.39, 2.0, 3.19], [1.0 + 0.39, 2.5, 3.01], [1.0 + 9.0, 2.0, 2.0]], np.float32)
    shown = pad.map_of(points, np.array([5.0, 7.0, 1.0]), pose)
    assert shown.shape == shape and shown.sum() == 13.0
    assert shown[0, -1] == 5.0  # upper end of the rows, of the columns
    assert shown[-1, 0] == 8.0  # and what lies beyond the window is not lost


def test_episodes_begin_without_touch(make_vec: Any) -> None:
    envs = make_vec("granular_gym/Pour-v1", 2, grain_count=200, touch=BOTH, max_episode_steps=3)
    shown = envs.reset(seed=0)[0]
    assert not shown["tool_wrenches"].any() and not shown["contact_map"].any()
    for step in range(4):
        shown = envs.step(np.zeros(envs.action_space.shape))[0]
        assert shown["contact_map"].any() == (step < 3)


def test_with_a_state_vector_and_with_tensors(make_vec: Any) -> None:
    envs, shown = pushing(make_vec, observation="state")
    assert shown.keys() == {"state", *BOTH} == envs.single_observation_space.spaces.keys()
    whole = pushing(make_vec)[1]
    assert all(same(shown[key], whole[key]) for key in BOTH)
    pytest.importorskip("torch")
    tensors = pushing(make_vec, output="torch")[1]
    assert all(np.array_equal(tensors[key].numpy(), whole[key]) for key in BOTH)


def test_bits_are_those_of_the_env_alone(make: Any, make_vec: Any) -> None:
    name = "granular_gym/Pour-v1"
    many, alone = make_vec(name, 2, grain_count=200, touch=BOTH), make(name, grain_count=200, touch=BOTH)
    many.reset(seed=5)
    alone.reset(seed=6)
    for _ in range(3):
        shown, single = many.step(np.full((2, 3), 0.2))[0], alone.step(np.full(3, 0.2))[0]
        assert same({key: values[1] for key, values in shown.items()}, single)


def test_every_pad_names_a_tool() -> None:
    for name in TASK_IDS:
        if "AntOnSand" in name or "Force" in name:
            continue
        env = gym.make(name, **small(name))
        task = env.unwrapped.task
        assert {pad.tool for pad in task.pads} <= {tool.name for tool in task.bed_scene(0).tools}
        env.close()


def test_refusals(make: Any) -> None:
    with pytest.raises(ArgumentError, match=r"^touch: expected names out of .*tool_wrenches.*, got 'wrench'"):
        make(touch="wrench")
    with pytest.raises(ArgumentError, match=r"^touch: expected a sequence"):
        make(touch=3)
    with pytest.raises(ArgumentError, match=r"^touch: expected names out of \['tool_wrenches'\], got 'contact_map'"):
        make("granular_gym/Dough-v0", touch=BOTH)
    with pytest.raises(ArgumentError, match=r"^touch: expected names out of \['tool_wrenches'\], got 'contact_map'"):
        make(touch="contact_map", matter="sand_continuum")
    with pytest.raises(ArgumentError, match=r"^touch: expected None of a task whose tools feel nothing"):
        make("granular_gym/Silo-v1", touch=BOTH)
    with pytest.raises(gg.ArgumentError, match=r"^upper: expected more than lower"):
        TouchPad("blade", "x", (0.0, 0.0), (0.0, 1.0))
