"""Clumps, bodies and coupled tools: the same bits alone and among 64 envs that live otherwise."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import granular_gym as gg
from testbed.parity import clumped, fielded, poses, wield, wielded


def bits(world: gg.World, env: int) -> bytes:
    """All that moves in an env, and what grains do to tools and walls."""
    arrays = [world.positions, world.velocities, world.angular_velocities]
    arrays += [world._core.get_wrenches(walls) for walls in (False, True)]
    arrays += [world.clump_poses, world.clump_velocities] if world.clump_count else []
    arrays += [*world.coupled_state()] if world.coupled_tools else []
    return b"".join(np.ascontiguousarray(array[env]).tobytes() for array in arrays)


@pytest.mark.parametrize("scene", [clumped, fielded, wielded])
def test_alone_and_among_64(scene: Callable[[], gg.Scene]) -> None:
    """Envs 0 and 41 are as the env is alone; gravity differs in the others, and one of them diverges."""
    others, found = np.setdiff1d(np.arange(64), [0, 41]), []
    for env_count in (1, 64):
        with scene().build(env_count=env_count, device="cpu", num_threads=2, overlaps="ignore") as world:
            if world.coupled_tools:
                wield(world)
            if env_count > 1:
                pull = world.gravity[others]
                pull[:, 0] += np.linspace(-3.0, 3.0, len(others))
                world.set_gravity(pull, envs=others)
            for k in range(3):
                world.step(1e-3, 25, None if world.coupled_tools else poses(k, world))
                if k == 0 and env_count > 1:
                    _throw(world, 5)
            assert world.counters()["contact_count"][0] > 50
            assert world.stats["diverged"].tolist() == [int(env == 5) for env in range(env_count)]
            found.append([bits(world, env) for env in range(env_count)])
    (alone,), many = found
    assert many[0] == many[41] == alone
    assert len(set(many)) == 63


def _throw(world: gg.World, env: int) -> None:
    """Lets an env diverge."""
    if world.clump_count:
        world.set_clump_wrenches(np.full((world.clump_count, 6), 1e38), envs=env)
    else:
        world.set_grains(velocities=np.full((world.grain_count, 3), 1e38), envs=env)
