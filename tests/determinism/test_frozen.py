"""An env that stops being finite freezes with finite numbers, the same however it is run."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import granular_gym as gg
from testbed.frozen import BREAKS, break_env, frozen_scene

READINGS = ("positions", "velocities", "angular_velocities", "tool_poses", "wrenches", "wall_wrenches")


def run(law: str, env_count: int, bad: int, num_threads: int = 1, kernel: str | None = None) -> Any:
    """Readings of the env that breaks, and the hashes of all."""
    scene, solver = frozen_scene(law)
    with scene.build(env_count, device="cpu", num_threads=num_threads, solver=solver) as world:
        if kernel is not None:
            world._core.set_kernel(kernel)
        world.step(1e-4, 20)
        break_env(world, law, bad)
        world.step(1e-4, 3)
        assert world.stats["diverged"].tolist() == [int(env == bad) for env in range(env_count)]
        readings = {name: getattr(world, name)[bad] for name in READINGS}
        readings |= {name: values[bad] for name, values in world.stats.items()}
        readings["depth"] = world.depth("eye")[bad]
        return readings, [world.state_hash(env) for env in range(env_count)]


@pytest.mark.parametrize("law", BREAKS)
def test_all_that_is_read_is_finite(law: str) -> None:
    readings, _ = run(law, 1, 0)
    for name, values in readings.items():
        assert np.isfinite(values).all(), name
    assert not readings["wrenches"].any() and not readings["wall_wrenches"].any()


@pytest.mark.parametrize("law", BREAKS)
def test_the_same_alone_and_in_company(law: str) -> None:
    """Also for any number of threads and on every instruction set."""
    alone, (wanted,) = run(law, 1, 0)
    others: list[Callable[[], Any]] = [
        lambda: run(law, 1, 0, num_threads=3),
        lambda: run(law, 1, 0, kernel="scalar"),
        lambda: run(law, 5, 2),
        lambda: run(law, 7, 2, num_threads=2),
    ]
    for other in others:
        readings, hashes = other()
        assert hashes[2 if len(hashes) > 1 else 0] == wanted
        for name, values in readings.items():
            np.testing.assert_array_equal(values, alone[name], err_msg=name)
        calm = {value for env, value in enumerate(hashes) if env != 2}
        assert len(hashes) == 1 or (len(calm) == 1 and wanted not in calm)


@pytest.mark.parametrize("law", BREAKS)
def test_it_stays_and_can_be_used_again(law: str) -> None:
    scene, solver = frozen_scene(law)
    with scene.build(2, device="cpu", solver=solver) as world:
        world.step(1e-4, 20)
        calm = world.save_state(env=0)
        break_env(world, law, 1)
        world.step(1e-4, 1)
        # the step that fails says so
        assert world.stats["diverged"].tolist() == [0, 1]
        frozen = world.state_hash(1)
        world.step(1e-4, 5)
        assert world.state_hash(1) == frozen and world.stats["diverged"].tolist() == [0, 1]
        if not world.planar:
            assert len(world.contacts(1).pairs) == 0
        world.load_state(calm)
        world.step(1e-4, 5)
        assert world.state_hash(0) == world.state_hash(1) and not world.stats["diverged"].any()


def test_grains_that_are_finite_go_on_to_the_end_of_the_substep() -> None:
    """A grain whose next velocity is not finite keeps the last one, and where it is."""
    scene = gg.Scene(((-1, -1, 0), (1, 1, 1)))
    scene.add_grains(scene.add_material(density=1000.0, radius=0.01), [[0, 0, 0.5], [0.5, 0, 0.5]])
    with scene.build(device="cpu") as world:
        velocities = world.velocities
        velocities[0, 1] = 3e38
        world.set_grains(velocities=velocities)
        before = world.positions
        world.step(1e-3, 5)
        assert world.stats["diverged"][0] == 1 and np.isfinite(world.stats["speed_max"]).all()
        np.testing.assert_array_equal(world.positions, before)
        np.testing.assert_array_equal(world.velocities[0, 1], velocities[0, 1])
