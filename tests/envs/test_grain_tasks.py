"""Common behaviour of tasks with a settled bed: arguments, numbers of grains, errors."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from env_helpers import CONTINUOUS, NEWEST, TASK_IDS, small

import granular_gym as gg
from granular_gym.tasks.expert import scripted_expert
from granular_gym.tasks.grain_shapes import CLUMPS
from granular_gym.tasks.pace import GRAIN_LADDER, PRESETS, grain_radius
from granular_gym.tasks.registry import newest_ids
from granular_gym.tasks.task import Task


def task_of(name: str, **kwargs: Any) -> Any:
    """The task without wrappers."""
    return gym.make(name, **small(name)).unwrapped.task_class(**{**small(name), **kwargs})


@pytest.mark.parametrize("preset", list(PRESETS))
@pytest.mark.parametrize("name", TASK_IDS)
def test_the_ladder_keeps_volume_spaces_and_what_walls_promise(name: str, preset: str) -> None:
    steps = [task_of(name, grain_count=count, preset=preset) for count in GRAIN_LADDER]
    for count, task in zip(GRAIN_LADDER, steps, strict=True):
        assert count * task.radius**3 == pytest.approx(2000 * task.radius_of_2000**3)
        assert task.radius == grain_radius(count, task.radius_of_2000)
        assert task.pace.dt * task.pace.substeps == pytest.approx(task.control_period)
        assert task.solver.iterations == task.pace.iterations and task.solver.tolerance == task.pace.tolerance
        assert name in CONTINUOUS or task.fastest * task.pace.dt <= 0.5 * task.radius * (1.0 + 1e-6)
        assert task.pace.dt <= task.presets[preset].longest + 1e-9
        assert isinstance(task, Task) and task.metadata["render_fps"] * task.control_period == pytest.approx(1.0)
        assert task.observation_space == steps[0].observation_space and task.action_space == steps[0].action_space


@pytest.mark.parametrize("name", newest_ids())
@pytest.mark.filterwarnings("error::granular_gym.StabilityWarning")
def test_train_keeps_the_fewest_grains_inside(name: str) -> None:
    arguments: dict[str, Any] = {"grain_count": GRAIN_LADDER[0], "preset": "train", "num_threads": 1}
    envs, alone = gym.make_vec(name, num_envs=2, **arguments), gym.make(name, **arguments)
    batch, single = envs.reset(seed=2)[0], alone.reset(seed=3)[0]
    expert = scripted_expert(envs)
    for step in range(30):
        actions = expert.act()
        batch, _, _, _, infos = envs.step(actions)
        single, _, _, _, info = alone.step(actions[1])
        assert all(np.array_equal(batch[key][1], single[key]) for key in single), f"step {step}"
        assert infos["escaped_count"].sum() == infos["diverged"].sum() == 0
        assert all(np.array_equal(infos[key][1], value) for key, value in info.items())
    task = alone.unwrapped.task
    fast = gym.make(name, **{**arguments, "preset": "fast"}).unwrapped.task
    assert task.pace.substeps < fast.pace.substeps and task.solver.tolerance > fast.solver.tolerance
    assert (fast.solver.tolerance > 0.0) == (name in CONTINUOUS), "grains take all iterations"
    lower, upper = task.bed_scene(0).bounds
    positions = task.world.positions[0]
    assert (positions >= np.array(lower)).all() and (positions[:, :2] <= np.array(upper)[:2]).all()
    envs.close()
    alone.close()


@pytest.mark.parametrize("name", TASK_IDS)
@pytest.mark.parametrize(
    "kwargs, word",
    [
        ({"grain": "sugar"}, "grain: expected one of 'sphere'"),
        ({"difficulty": "absurd"}, "difficulty: expected one of 'easy', 'medium', 'hard'"),
        ({"grain_count": 0}, "grain_count"),
        ({"preset": "slow"}, "preset"),
        ({"depth": "uint16"}, "depth"),
        ({"num_threads": 0}, "num_threads"),
        ({"friction_range": (0.5, 0.2)}, "friction_range"),
        ({"friction_range": 0.5}, "friction_range"),
        ({"friction_range": (-0.1, 0.2)}, "friction_range"),
        ({"device": "abacus"}, "device"),
        ({"render_mode": "ansi"}, "render_mode"),
        ({"env_count": 0}, "env_count"),
    ],
)
def test_bad_arguments_name_themselves(name: str, kwargs: dict[str, Any], word: str) -> None:
    with pytest.raises(gg.ArgumentError, match=word):
        task_of(name, **kwargs)


@pytest.mark.parametrize("name", TASK_IDS)
def test_a_wrong_shape_of_grains_is_told_the_right_ones(name: str) -> None:
    shapes = ["sphere", *(() if name in CONTINUOUS else CLUMPS)]
    with pytest.raises(gg.ArgumentError, match=f"grain: expected one of {', '.join(map(repr, shapes))}"):
        task_of(name, grain="sugar")


@pytest.mark.parametrize("name", TASK_IDS)
def test_hostile_actions_change_nothing(name: str) -> None:
    envs = [gym.make(name, **small(name)).unwrapped for _ in range(2)]
    for env in envs:
        env.reset(seed=0)
    size = envs[0].action_space.shape[0]
    one_bad = np.zeros(size)
    one_bad[-1] = np.inf
    hostile = [np.full(size, np.nan), one_bad, -one_bad, np.zeros(size + 1), np.zeros((1, size)), np.zeros(0), 0.0]
    hostile += ["no", b"no", None, {}, ["0"] * size, [1j] * size, [None] * size, np.zeros(size, "M8[s]"), [[0], [0, 1]]]
    for action in hostile:
        with pytest.raises(gg.ArgumentError, match="action"):
            envs[0].step(action)
    one, two = (env.step(np.ones(size))[0] for env in envs)
    assert all(np.array_equal(one[key], two[key]) for key in one)
    for env in envs:
        env.close()


@pytest.mark.parametrize("name", TASK_IDS)
def test_a_batch_refuses_hostile_actions_and_takes_any_real_numbers(name: str) -> None:
    envs = gym.make_vec(name, num_envs=2, **small(name))
    envs.reset(seed=0)
    size = envs.single_action_space.shape[0]
    one_bad = np.zeros((2, size))
    one_bad[1, 0] = np.nan
    for actions in (
        one_bad,
        np.zeros(size),
        np.zeros((3, size)),
        np.zeros((2, size + 1)),
        None,
        "no",
        [["0"] * size] * 2,
    ):
        with pytest.raises(gg.ArgumentError, match="actions"):
            envs.step(actions)
    for dtype in (np.float16, np.float64, np.int8, np.uint64, bool):
        envs.step(np.zeros((2, size), dtype))
    assert envs.unwrapped._elapsed.tolist() == [5, 5], "what was refused changed nothing"
    envs.close()


@pytest.mark.parametrize("name", TASK_IDS)
def test_every_task_has_an_expert_and_a_success(name: str) -> None:
    env = gym.make(name, **small(name))
    info = env.reset(seed=0)[1]
    expert = scripted_expert(env)
    for _ in range(3):
        action = expert.act()
        assert action.shape == env.action_space.shape and env.action_space.contains(action)
        info = env.step(action)[4]
    assert type(info["success"]) is bool
    env.close()
    batch = gym.make_vec(name, num_envs=2, **small(name))
    batch.reset(seed=0)
    experts = scripted_expert(batch)
    assert experts.act().shape == (2, *env.action_space.shape)
    experts.reset(np.array([True, False]))
    batch.close()


def test_an_unknown_task_has_no_expert() -> None:
    with pytest.raises(gg.ArgumentError, match="task: expected one of"):
        scripted_expert(gym.make("CartPole-v1"))


@pytest.mark.parametrize("name", NEWEST)
@pytest.mark.parametrize("mode", ["NextStep", "SameStep", "Disabled"])
def test_a_batch_plays_what_its_envs_play_alone(name: str, mode: str) -> None:
    envs = gym.make_vec(name, num_envs=3, autoreset_mode=mode, max_episode_steps=4, **small(name))
    alone = gym.make(name, **small(name)).unwrapped
    batch, _ = envs.reset(seed=40)
    single, _ = alone.reset(seed=41)
    plan = np.random.default_rng(3).uniform(-1.0, 1.0, (4, *envs.action_space.shape)).astype(np.float32)
    for step in range(3):
        assert all(np.array_equal(batch[key][1], single[key]) for key in single), f"step {step}"
        batch, rewards, _, truncated, infos = envs.step(plan[step])
        single, reward, _, _, info = alone.step(plan[step, 1])
        assert rewards[1] == reward and not truncated.any()
        assert all(np.array_equal(infos[key][1], value) for key, value in info.items())
    # the masked env is reset with its own generator, the others continue
    alone.reset()
    envs.reset(options={"reset_mask": np.array([False, True, False])})
    batch, _, _, truncated, infos = envs.step(plan[3])
    single, _, _, _, info = alone.step(plan[3, 1])
    assert truncated.tolist() == [True, False, True]
    assert all(np.array_equal(batch[key][1], single[key]) for key in single)
    if mode == "SameStep":
        assert infos["_final_obs"].tolist() == [True, False, True]
    if mode == "Disabled":
        envs.reset(options={"reset_mask": truncated})
    batch, rewards, _, truncated, _ = envs.step(plan[0])
    assert not truncated.any() and envs.observation_space.contains(batch)
    assert mode != "NextStep" or rewards[0] == rewards[2] == 0.0
    envs.close()
    alone.close()
