"""Domain randomisation: values of episodes, their effect on the world, reproducibility, invalid arguments."""

from __future__ import annotations

import copy
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from env_helpers import OF_GRAINS, TASK_IDS, same, small

import granular_gym as gg

SAND = gg.MaterialRanges(
    pair=("sand", "sand"),
    restitution=(0.05, 0.4),
    rolling_friction=(0.05, 0.5),
    cohesion=(1.0, 20.0),
    cohesion_range=(1e-3, 2e-3),
    density=(1400.0, 1900.0),
)
TOOLS = gg.MaterialRanges(pair=("sand", "steel"), friction=(0.1, 0.6))
AROUND = gg.MaterialRanges(gravity=((0.0, 0.0, -10.5), (0.0, 0.0, -9.0)))
SILO = next(name for name in TASK_IDS if "Silo" in name)


def batch(name: str, **kwargs: Any) -> Any:
    """Three envs with small arguments."""
    return gym.make_vec(name, num_envs=3, **{**small(name), **kwargs})


@pytest.mark.parametrize("name", OF_GRAINS)
def test_every_env_has_its_own(name: str) -> None:
    with_, without = batch(name, randomize=[SAND, TOOLS, AROUND]), batch(name)
    infos = with_.reset(seed=3)[1]
    without.reset(seed=3)
    task, plain = with_.unwrapped.task, without.unwrapped.task
    pairs, densities = task.world.materials
    for ranges, other in ((SAND, 0), (TOOLS, 1)):
        for label, key in zip(ranges.labels, ranges.names, strict=True):
            low, high = getattr(ranges, key)
            values = infos[label]
            assert infos["_" + label].all() and len(set(values)) == 3, label
            assert (values >= low - 1e-6).all() and (values <= high + 1e-3).all(), label
            column = densities[:, 0] if key == "density" else pairs[:, 0, other, gg.Pair._fields.index(key)]
            np.testing.assert_array_equal(column, values.astype(np.float32), err_msg=label)
    np.testing.assert_array_equal(task.world.gravity, infos["gravity"].astype(np.float32))
    assert infos["gravity"].shape == (3, 3) and len(set(infos["gravity"][:, 2])) == 3
    # values that are not randomised, and those drawn before
    np.testing.assert_array_equal(pairs[:, 0, 0, 0], plain.friction.astype(np.float32))
    assert np.array_equal(pairs[:, 1:, 1:], plain.world.materials[0][:, 1:, 1:])
    assert np.array_equal(densities[:, 1:], plain.world.materials[1][:, 1:])
    again = batch(name, randomize=(SAND, TOOLS, AROUND))
    action = np.ones(with_.action_space.shape, np.float32)
    assert same(with_.reset(seed=3), again.reset(seed=3)) and same(with_.step(action), again.step(action))
    for envs in (with_, without, again):
        envs.close()


def test_new_values_each_episode_and_copies_go_on() -> None:
    envs = batch(SILO, randomize=AROUND)
    first = envs.reset(seed=0)[1]["gravity"]
    second = envs.reset()[1]["gravity"]
    assert not (first == second)[:, 2].any()
    twin = copy.deepcopy(envs)
    action = np.zeros(envs.action_space.shape, np.float32)
    one, two = envs.step(action), twin.step(action)
    assert same(one, two) and np.array_equal(one[4]["gravity"], second)
    assert same(envs.reset(), twin.reset())
    for each in (envs, twin):
        each.close()


def test_weight_follows_gravity() -> None:
    """A bed of twice the density has twice the weight on its support."""
    pressed = []
    for pull in (5.0, 10.0):
        down = (0.0, 0.0, -pull)
        envs = batch(SILO, randomize=gg.MaterialRanges(gravity=(down, down)))
        envs.reset(seed=1)
        world = envs.unwrapped.task.world
        world.step(2e-3, 400)
        pressed.append(float(-world.wrenches[..., 2].sum() - world.wall_wrenches[..., 2].sum()))
        envs.close()
    assert pressed[1] == pytest.approx(2.0 * pressed[0], rel=0.05)


def test_plane_shapes() -> None:
    ranges = gg.MaterialRanges(pair=("octagon", "octagon"), restitution=(0.0, 0.5), density=(500.0, 900.0))
    envs = batch(SILO, grain="octagon", randomize=ranges)
    infos = envs.reset(seed=0)[1]
    dense = envs.unwrapped.task.world.materials[1][:, 0]
    np.testing.assert_array_equal(dense, infos["octagon_density"].astype(np.float32))
    envs.close()


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"gravity": (9.0, 10.0)}, "randomize: expected None, a MaterialRanges or a sequence of them, got {'gravity'"),
        ([AROUND, None], "randomize: expected None, a MaterialRanges or a sequence of them"),
        ([AROUND, AROUND], "randomize: expected each value once, got two ranges for gravity"),
        (0.5, "randomize: expected None, a MaterialRanges or a sequence of them, got 0.5"),
    ],
)
def test_refusals(given: Any, said: str) -> None:
    with pytest.raises(gg.ArgumentError, match=said):
        batch(SILO, randomize=given)


@pytest.mark.parametrize(
    ("given", "kwargs", "said"),
    [
        ({"pair": ("sand", "stell"), "friction": (0.1, 0.2)}, {}, r"pair: .* got 'stell'; did you mean 'steel'\?"),
        ({"pair": (0, 7), "friction": (0.1, 0.2)}, {}, r"pair: expected a material, .* got 7"),
        *(
            ({name: (0.0, 0.5)}, {"grain": "hash"}, rf"{name}: expected no range with planar grains, got \[0.0, 0.5\]")
            for name in ("rolling_friction", "twisting_friction", "cohesion", "air_density", "viscosity")
        ),
        ({"wind": ((0, 0, 0), (1, 0, 0))}, {"grain": "hash"}, "wind: expected no range with planar grains"),
        ({"gravity": ((0, -9, 0), (0, -9, 1))}, {"grain": "hash"}, "gravity: expected z = 0 with planar grains"),
    ],
)
def test_what_the_world_does_not_have(given: Any, kwargs: Any, said: str) -> None:
    """It is refused before a bed settles."""
    envs = batch(SILO, randomize=gg.MaterialRanges(**given), **kwargs)
    with pytest.raises(gg.ArgumentError, match=rf"^randomize\.{said}"):
        _ = envs.unwrapped.task.world
    envs.close()


def test_gravity_in_the_plane() -> None:
    envs = batch(
        SILO, grain="hash", randomize=gg.MaterialRanges(gravity=((-1, -10, 0), (1, -9, 0)), wind=np.zeros((2, 3)))
    )
    infos = envs.reset(seed=0)[1]
    np.testing.assert_array_equal(envs.unwrapped.task.world.gravity, infos["gravity"].astype(np.float32))
    envs.close()
