"""Tasks whose grains are clumps instead of spheres."""

from __future__ import annotations

import copy
import math
import warnings
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from env_helpers import CONTINUOUS, follow, same, small
from gymnasium.utils.env_checker import check_env

import granular_gym as gg
from granular_gym.tasks.expert import scripted_expert
from granular_gym.tasks.grain_shapes import CLUMPS, GRAIN_SHAPES, GrainForm
from granular_gym.tasks.registry import newest_ids
from granular_gym.tasks.task import Task

BULLDOZER, SILO = "granular_gym/Bulldozer-v1", "granular_gym/Silo-v1"
OF_CLUMPS = [name for name in newest_ids() if name not in CONTINUOUS]


def arguments(name: str) -> dict[str, Any]:
    """Arguments for cheap steps with clumps; beds are shared by the tests."""
    few = {"gear_count": 1, "grain_count": 100} if "GearTower" in name else {}
    return {**small(name), **few, "grain": "tetrahedron", "preset": "train"}


@pytest.mark.parametrize("name", GRAIN_SHAPES)
def test_a_form_has_the_volume_of_its_sphere(name: str) -> None:
    form = GrainForm.named(name, 0.03)
    if form.clump is None:
        assert (form.spheres, form.reach, form.finest, form.looseness) == (1, 0.03, 0.03, 1.0)
        return
    assert form.clump.volume == pytest.approx(4.0 / 3.0 * math.pi * 0.03**3)
    assert form.finest < form.radius < form.reach < 1.6 * form.radius
    extent = np.linalg.norm(form.clump.centers, axis=1) + form.clump.radii
    assert form.reach == pytest.approx(extent.max()) and form.spheres == len(extent)
    assert form.rolls == (name in ("pair", "rod")), "what is round about an axis rolls about it"
    assert form.rolling(0.3) == (0.3 if form.rolls else 0.0)


@pytest.mark.parametrize("name", OF_CLUMPS)
def test_a_task_of_clumps_keeps_the_contract(name: str) -> None:
    env = gym.make(name, **arguments(name)).unwrapped
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_env(env, skip_render_check=True)
    first = env.reset(seed=4)[0]
    task, world = env.task, env.task.world
    assert world.clump_count == task.grain_count and world.grain_count == task.world_grain_count
    assert task.world_grain_count == task.grain_count * task.form.spheres
    # all is there: a share of 1, with the mass of spheres
    reach = 100.0
    assert task.share_in([-reach] * 3, [reach] * 3) == pytest.approx(1.0)
    spheres = task.grain_count * task.density * 4.0 / 3.0 * math.pi * task.radius**3
    assert world.clump_masses.sum() == pytest.approx(spheres, rel=1e-5) and task.mass == pytest.approx(spheres)
    assert task.fastest * task.pace.dt <= 0.5 * task.form.finest * (1.0 + 1e-6)
    pairs = world.materials[0][0]
    assert pairs[0, 0, 0] == pytest.approx(task.friction[0]) and pairs[0, 1, 0] > 0.0, "friction is drawn as of spheres"
    assert not pairs[0, :, 2].any(), "clumps have no rolling friction"
    # the same again, and from a copy in the middle
    ran = follow(env, 3)
    assert ran[-1][4]["escaped_count"] == 0 and not ran[-1][4]["diverged"]
    assert same(env.reset(seed=4)[0], first) and same(follow(env, 3), ran)
    twin = copy.deepcopy(env)
    assert same(follow(env, 2), follow(twin, 2))
    env.close()
    twin.close()


@pytest.mark.parametrize("name", OF_CLUMPS)
def test_a_batch_of_clumps_shows_states_to_learners(name: str) -> None:
    shown = {**arguments(name), "observation": "state", "frame_skip": 2}
    envs, alone = gym.make_vec(name, num_envs=2, **shown), gym.make(name, **shown).unwrapped
    batch, single = envs.reset(seed=20)[0], alone.reset(seed=21)[0]
    task, expert = envs.unwrapped.task, scripted_expert(envs)
    goals, first = (task.desired_goal(), task.achieved_goal()) if hasattr(task, "pay") else (None, None)
    for _ in range(3):
        actions = expert.act()
        batch, rewards, *_ = envs.step(actions)
        single, reward, *_ = alone.step(actions[1])
        assert rewards[1] == reward and same(batch["state"][1], single["state"])
        assert envs.observation_space.contains(batch)
    if goals is not None and name != SILO:  # which is paid in each control period
        paid = task.compute_reward(task.achieved_goal(), goals, {"before": first, "first": first})
        assert paid.shape == (2,) and np.isfinite(paid).all()
    envs.close()
    alone.close()


@pytest.mark.parametrize("name", list(CLUMPS))
def test_every_shape_is_pushed_and_painted_by_clump(name: str, make: Any) -> None:
    env = make(BULLDOZER, grain=name, grain_count=40, preset="train", render_mode="rgb_array")
    env.reset(seed=1)
    task = env.unwrapped.task
    before = task.world.positions[0]
    assert np.hypot(*(before[:, :2] - before[:, :2].mean(axis=0)).T).max() < 1.2, "the heap lies together"
    env.step([0.0, 0.0])
    assert np.abs(task.world.positions[0] - before).max() < 0.05 * task.radius, "the heap is at rest"
    colors = task.grain_colors(0).reshape(task.grain_count, task.form.spheres, 3)
    assert (colors == colors[:, :1]).all() and len(np.unique(colors[:, 0], axis=0)) > 10
    assert env.render().shape == (400, 704, 3)


def test_what_has_no_clumps_refuses_them(make: Any) -> None:
    class Plain(Task):
        """A task that says nothing of shapes."""

    assert Plain.grains == ("sphere",)
    for grain in ("sugar", "Cube", "", None, 3, ["tetrahedron"]):
        with pytest.raises(gg.ArgumentError, match="grain: expected"):
            make(BULLDOZER, grain=grain)
    for grain in (["tetrahedron", "hash"], ("octagon", "sphere"), "octahedron"):
        with pytest.raises(gg.ArgumentError, match="grain: expected one of"):
            make(SILO, grain=grain)
