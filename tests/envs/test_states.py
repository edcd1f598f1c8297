"""What observation="state" shows: its shape, its bounds, each env by itself, and its image in the mirror."""

from __future__ import annotations

import copy
from collections.abc import Callable
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from env_helpers import small

from granular_gym.envs.ant_state import VECTOR as ANT
from granular_gym.envs.bulldozer_state import VECTOR as BULLDOZER
from granular_gym.envs.dough_state import VECTOR as DOUGH
from granular_gym.envs.excavator_force import VECTOR as EXCAVATOR_FORCE
from granular_gym.envs.excavator_state import TURNS
from granular_gym.envs.excavator_state import VECTOR as EXCAVATOR
from granular_gym.envs.gear_tower import gear_vector
from granular_gym.envs.level_state import VECTOR as LEVEL
from granular_gym.envs.pour_state import VECTOR as POUR
from granular_gym.envs.silo_state import silo_vector
from granular_gym.tasks.registry import newest_ids, short_name
from granular_gym.tasks.state_vector import StateVector

PAGES = Path(__file__).parents[2] / "docs" / "tasks"
#: as the pages have them: the silo without a shaker, four gears
VECTORS = {
    "Bulldozer-v1": BULLDOZER,
    "Excavator-v1": EXCAVATOR,
    "Silo-v1": silo_vector((1, -1)),
    "Level-v1": LEVEL,
    "GearTower-v1": gear_vector(4),
    "Pour-v1": POUR,
    "ExcavatorForce-v0": EXCAVATOR_FORCE,
    "AntOnSand-v0": ANT,
    "Dough-v0": DOUGH,
}
SEED = 5


def played(
    make_vec: Any, name: str, count: int, steps: int = 3, **kwargs: Any
) -> tuple[Any, list[np.ndarray[Any, Any]]]:
    """Envs with seeds from SEED on, and their vectors over a few steps of random actions that differ by env."""
    task = f"granular_gym/{name}"
    envs = make_vec(task, count, observation="state", frame_skip=2, **(small(task) | kwargs))
    shown = [envs.reset(seed=SEED)[0]["state"]]
    draws = [np.random.default_rng(env) for env in range(count)]
    for _ in range(steps):
        actions = [draw.uniform(-1.0, 1.0, envs.single_action_space.shape) for draw in draws]
        shown.append(envs.step(np.array(actions, np.float32))[0]["state"])
    return envs, shown


def test_every_task_shows_a_vector() -> None:
    assert list(VECTORS) == [short_name(name) for name in newest_ids()]


@pytest.mark.parametrize("name", VECTORS)
def test_a_vector_is_within_its_space_and_of_its_env_alone(name: str, make_vec: Any) -> None:
    envs, many = played(make_vec, name, 3)
    _, one = played(make_vec, name, 1)
    size = envs.unwrapped.task.state_vector.size
    for together, alone in zip(many, one, strict=True):
        assert together.shape == (3, size) and together.dtype == np.float32
        assert np.isfinite(together).all() and envs.observation_space.contains({"state": together})
        assert together[0].tobytes() == alone[0].tobytes()
    assert not np.array_equal(many[0], many[-1])


def mirrored_bulldozer(task: Any) -> None:
    task.pose[:, 1:] *= -1.0
    task.goal[:, [1, 4]] = -task.goal[:, [4, 1]]
    task._plan_goals()


def mirrored_excavator(task: Any) -> None:
    for values in (task.joints, task.velocities):
        values *= TURNS
    task.bin[:, 1] *= -1.0
    task.boxes, task._held_loads = task._boxes(), None


def mirrored_silo(task: Any) -> None:
    task.receiver_x *= -1.0


def mirrored_level(task: Any) -> None:
    task.pose[:, [1, 3]] *= -1.0
    task.target = task.target[:, ::-1].copy()


def mirrored_dough(task: Any) -> None:
    task.roller[:, 0] *= -1.0
    task.target = task.target[:, :, ::-1].copy()


#: axis that the mirror turns round, and what it does to a task besides its grains
MIRRORS: dict[str, tuple[int, Callable[[Any], None]]] = {
    "Bulldozer-v1": (1, mirrored_bulldozer),
    "Excavator-v1": (1, mirrored_excavator),
    "Silo-v1": (0, mirrored_silo),
    "Level-v1": (1, mirrored_level),
    "Dough-v0": (0, mirrored_dough),
}


def test_the_mirror_is_tested_where_there_is_one() -> None:
    assert {name for name, vector in VECTORS.items() if vector.action_signs is not None} == set(MIRRORS)
    assert silo_vector(None).action_signs is None


@pytest.mark.parametrize("name", MIRRORS)
def test_a_mirrored_scene_has_the_mirrored_vector(name: str, make_vec: Any) -> None:
    axis, mirror = MIRRORS[name]
    envs, shown = played(make_vec, name, 2, grain_count=300)
    task, vector = envs.unwrapped.task, envs.unwrapped.task.state_vector
    assert len(vector.action_signs) == envs.single_action_space.shape[0]
    positions, wrenches = task.world.positions.copy(), task.results.wrenches
    positions[:, :, axis] *= -1.0
    mirror(task)
    for env in range(2):
        task.world.set_grains(positions[env], envs=[env])
    if wrenches is not None:  # forces turn as the scene does, torques the other way round
        signs = np.where(np.arange(3) == axis, -1.0, 1.0).astype(np.float32)
        task._results = task.results._replace(wrenches=wrenches * np.concatenate([signs, -signs]))
    image = task.sense_state()
    assert np.abs(image - vector.mirrored(shown[-1])).max() < 2e-3
    assert np.abs(image - shown[-1]).max() > 0.1, "the scene is no image of itself"
    assert np.array_equal(vector.mirrored(vector.mirrored(shown[-1])), shown[-1])


@pytest.mark.parametrize("name, vector", VECTORS.items())
def test_the_page_has_the_table(name: str, vector: StateVector) -> None:
    assert f"\n{vector.table()}\n" in (PAGES / f"{name}.md").read_text()


def test_what_was_saved_goes_on_with_its_own_generator() -> None:
    """Episodes that are begun later draw nothing from it."""
    arguments: dict[str, Any] = {"grain_count": 40, "num_threads": 1, "observation": "state"}
    envs: Any = gym.make_vec("granular_gym/Bulldozer-v1", num_envs=1, **arguments).unwrapped
    envs.reset(seed=0)
    saved = envs.task.save()
    begun = []
    for _ in range(2):
        envs.reset()
        begun.append(envs.task.world.positions)
        envs.task.load(saved)
    np.testing.assert_array_equal(*begun)
    envs.close()
    env: Any = gym.make("granular_gym/Bulldozer-v1", **arguments).unwrapped
    env.reset(seed=0)
    other = copy.copy(env)
    other.reset()
    begun = [other.task.world.positions]
    env.reset()
    np.testing.assert_array_equal(env.task.world.positions, begun[0])
    env.close()
    other.close()
