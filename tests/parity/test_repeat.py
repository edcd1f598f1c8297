"""Same bits in every run on a GPU, at sizes that fill it; tiny ones where CUDA is emulated."""

from __future__ import annotations

import numpy as np
import pytest

import granular_gym as gg
from testbed.beds import DENSITY, RADIUS, lattice

KERNELS = ("block", "team", "graph")


@pytest.fixture
def emulated() -> bool:
    """Whether kernels run on the CPU."""
    return "emulating" in gg.info()["devices"]["cuda"]["gpus"][0]["name"]


def falling(count: int, half_width: float) -> gg.Scene:
    """Grains that fall onto a floor between walls."""
    side = (half_width + 1.0) * 2.0 * RADIUS
    places = lattice(count, half_width)
    top = float(np.max(places[:, 2])) + 4.0 * RADIUS
    scene = gg.Scene(((-side, -side, 0.0), (side, side, top)))
    sand = scene.add_material(density=DENSITY, friction=0.5, rolling_friction=0.1)
    scene.add_grains(sand, places, RADIUS)
    return scene


@pytest.mark.parametrize("kernel", KERNELS)
def test_twenty_runs(kernel: str, emulated: bool) -> None:
    """One large world, twenty times from its initial state; fewer times in the emulator, which is deterministic."""
    count, half_width, steps, runs = (60, 2.0, 60, 3) if emulated else (20_000, 14.0, 60, 20)
    scene, hashes = falling(count, half_width), set()
    for _ in range(runs):
        with scene.build(device="cuda") as world:
            world._core.set_kernel(kernel)
            world.step(1e-3, steps)
            assert world.stats["contact_count"][0] > 0
            hashes.add(world.state_hash())
    assert len(hashes) == 1


@pytest.mark.parametrize("kernel", KERNELS)
def test_alone_and_among_many(kernel: str, emulated: bool) -> None:
    """Env k alone equals env k of 1,024, where other envs have other gravity."""
    envs, count, steps = (5, 40, 60) if emulated else (1024, 500, 80)
    scene = falling(count, 2.0 if emulated else 4.0)
    pull = np.zeros((envs, 3), np.float32)
    pull[:, 0], pull[:, 2] = np.linspace(-3.0, 3.0, envs), -9.81
    chosen = sorted({0, envs // 3, envs - 1})
    with scene.build(env_count=envs, device="cuda") as many:
        many._core.set_kernel(kernel)
        many.set_gravity(pull)
        many.step(1e-3, steps)
        among = [many.state_hash(env) for env in chosen]
    for env, expected in zip(chosen, among, strict=True):
        with scene.build(device="cuda") as alone:
            alone.set_gravity(pull[env])
            alone.step(1e-3, steps)
            assert alone.state_hash() == expected
    assert len(set(among)) == len(chosen)
