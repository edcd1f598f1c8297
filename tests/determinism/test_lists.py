"""SIMD kernels find the contacts of the scalar code in special cases: many neighbours, speed, cohesion."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import granular_gym as gg
from testbed.beds import DENSITY, RADIUS
from testbed.parity import heap

KERNELS = ["vector128", "avx2", "avx512"]


def crowd() -> gg.Scene:
    """A grain with more neighbours than the SIMD sort holds, some of them in a second size class."""
    scene = gg.Scene(((-1.0, -1.0, -1.0), (1.0, 1.0, 1.0)), gravity=(0.0, 0.0, 0.0))
    sand = scene.add_material(density=DENSITY, friction=0.5)
    count, big = 700, 12.0 * RADIUS
    # a Fibonacci lattice on the sphere
    z = 1.0 - (2.0 * np.arange(count) + 1.0) / count
    turn = np.arange(count) * np.pi * (3.0 - np.sqrt(5.0))
    shell = np.column_stack((np.sqrt(1.0 - z * z) * np.cos(turn), np.sqrt(1.0 - z * z) * np.sin(turn), z))
    scene.add_grains(sand, [[0.0, 0.0, 0.0]], big)
    scene.add_grains(sand, shell * (big + RADIUS), RADIUS, velocities=-0.3 * shell)
    scene.add_grains(sand, shell[::20] * (big + 6.0 * RADIUS), 2.0 * RADIUS, velocities=-3.0 * shell[::20])
    return scene


def storm(cohesion: float = 0.0) -> gg.Scene:
    """Grains with speeds of up to more than a radius per substep, in a periodic box of few cells."""
    scene = gg.Scene(
        ((-0.05, -0.06, -0.07), (0.05, 0.06, 0.07)),
        boundary={"x": "periodic", "y": "periodic", "z": "periodic"},
    )
    sand = scene.add_material(density=DENSITY, friction=0.3, restitution=0.9)
    if cohesion:
        scene.set_pair(sand, sand, cohesion=cohesion, cohesion_range=0.4 * RADIUS)
    rng = np.random.default_rng(3)
    axes = [np.arange(low, -low - 1e-6, 2.4 * RADIUS) for low in (-0.05, -0.06, -0.07)]
    places = np.stack(np.meshgrid(*axes, indexing="ij"), -1).reshape(-1, 3)
    speeds = rng.uniform(0.0, 8.0, (len(places), 1)) ** 2 / 8.0
    scene.add_grains(sand, places, RADIUS, velocities=rng.standard_normal(places.shape) * speeds)
    return scene


SCENES: dict[str, Callable[[], gg.Scene]] = {"crowd": crowd, "storm": storm, "moist": lambda: storm(5.0)}


def hashes(name: str, kernel: str) -> list[int]:
    with SCENES[name]().build(device="cpu", num_threads=1, overlaps="ignore") as world:
        world._core.set_kernel(kernel)
        found = []
        for _ in range(12):
            world.step(1e-3, 1)
            found.append(world.state_hash())
        assert world.stats["contact_count"][0] > 50 and not world.stats["diverged"][0]
    return found


@pytest.mark.filterwarnings("ignore::granular_gym.errors.StabilityWarning")
@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("name", SCENES)
def test_vectors_find_what_a_single_lane_finds(name: str, kernel: str) -> None:
    try:
        found = hashes(name, kernel)
    except gg.BackendError as error:
        pytest.skip(f"{error}")
    alone = hashes(name, "scalar")
    assert found == alone and len(set(found)) == len(found)


def test_the_crowd_is_one() -> None:
    """The large grain has more neighbours than one search notes (search.h, GG_FOUND)."""
    with crowd().build(device="cpu", overlaps="ignore") as world:
        near = np.linalg.norm(world.positions[0, 1:], axis=1) < 13.3 * RADIUS
    assert near.sum() > 300


@pytest.mark.parametrize("broad_phase", ["cells", "linked_hash"])
@pytest.mark.parametrize("values", [{"twisting_friction": 0.7}, {"cohesion": 1.0, "cohesion_range": 0.5 * RADIUS}])
def test_materials_of_another_env_change_nothing(values: dict[str, float], broad_phase: str) -> None:
    """Neither how rolling and twisting are bounded, nor in which cells grains are sorted."""
    solver = gg.Solver(broad_phase=broad_phase)
    with (
        heap().build(2, device="cpu", num_threads=1, solver=solver) as both,
        heap().build(device="cpu", num_threads=1, solver=solver) as alone,
    ):
        both.set_pair(0, 0, envs=[0], **values)
        for _ in range(25):
            both.step(2.5e-4, 5)
            alone.step(2.5e-4, 5)
            assert both.state_hash(1) == alone.state_hash(0)
            assert both.stats["kinetic_energy"][1] == alone.stats["kinetic_energy"][0]
        assert alone.stats["contact_count"][0] > 100 and both.state_hash(0) != alone.state_hash(0)
