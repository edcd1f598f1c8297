"""Same seed, same bits: for any threads, instruction sets, other envs, snapshots and processes; golden hashes."""

from __future__ import annotations

import functools
import json
import pickle
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import granular_gym as gg
from testbed.beds import DT

sys.path.insert(0, str(Path(__file__).parent))

import golden_scenes
from golden_scenes import CASES, GOLDEN, STEPS, build, drive, final_hash

NAMES = list(CASES)
JACOBI = {"mode": "jacobi", "spin": False, "nesterov": False, "tolerance": 1e-4}


@pytest.fixture(scope="module")
def golden() -> dict[str, int]:
    return {name: int(text, 16) for name, text in json.loads(GOLDEN.read_text()).items()}


@pytest.mark.parametrize("name", NAMES)
def test_golden_hash(name: str, golden: dict[str, int]) -> None:
    """The stored hashes of the scenes; after an intended change of results run golden_scenes.py --write."""
    assert f"{final_hash(name):016x}" == f"{golden[name]:016x}"


@pytest.mark.parametrize("name", NAMES)
def test_something_happens(name: str) -> None:
    """The golden scenes are in motion."""
    with build(name) as world:
        start = world.positions
        assert len(set(drive(world))) == STEPS
        assert np.abs(world.positions - start).max() > 0.01
        assert world.stats["contact_count"][0] > 500


@pytest.mark.parametrize("threads", [2, 3, 8])
@pytest.mark.parametrize("name", NAMES)
def test_threads(name: str, threads: int, golden: dict[str, int]) -> None:
    assert final_hash(name, num_threads=threads) == golden[name]


@pytest.mark.parametrize("kernel", ["scalar", "vector128", "avx2", "avx512"])
@pytest.mark.parametrize("name", NAMES)
def test_kernels(name: str, kernel: str, golden: dict[str, int]) -> None:
    try:
        assert final_hash(name, kernel=kernel) == golden[name]
    except gg.BackendError as error:
        pytest.skip(f"{error}")


@pytest.mark.parametrize("kernel", ["scalar", "vector128", "avx2"])
@pytest.mark.parametrize(
    "solver",
    [{"spin": False}, {"nesterov": False}, {"mode": "paper"}, {"tolerance": 1e-4}, JACOBI],
    ids=lambda s: next(reversed(s)),
)
def test_kernels_with_other_settings(kernel: str, solver: dict[str, object]) -> None:
    """The widest kernel of this machine and the others."""
    try:
        other = final_hash("mixed_sizes", kernel=kernel, **solver)
    except gg.BackendError as error:
        pytest.skip(f"{error}")
    assert other == of_the_widest(tuple(solver.items()))


@functools.cache
def of_the_widest(solver: tuple[tuple[str, object], ...]) -> int:
    """The hash that `test_kernels_with_other_settings` expects."""
    return final_hash("mixed_sizes", **dict(solver))


@pytest.mark.parametrize("name", NAMES)
def test_env_alone_and_among_many(name: str, golden: dict[str, int], full: bool) -> None:
    """An env of 8 (with --full 64), whose neighbours live under other gravity, has the bits of the env alone; so has
    env 0."""
    count, one = (64, 41) if full else (8, 6)
    with build(name, env_count=count, num_threads=2) as world:
        others = np.setdiff1d(np.arange(count), [0, one])
        pull = world.gravity[others]
        pull[:, 0] += np.linspace(-3.0, 3.0, len(others))
        world.set_gravity(pull, envs=others)
        # one of them diverges
        bad = world.positions[5]
        bad[0] = 1e30
        world.set_grains(positions=bad, velocities=np.full_like(bad, 1e38), envs=5)
        drive(world)
        hashes = [world.state_hash(env) for env in range(count)]
        assert world.stats["diverged"][5]
    assert hashes[one] == golden[name]
    assert hashes[0] == golden[name]
    assert len(set(hashes)) >= count - 4


@pytest.mark.parametrize("name", NAMES)
def test_snapshot_replay(name: str, golden: dict[str, int], tmp_path: Path) -> None:
    """Saved halfway to a file and loaded into another env of another world, with other threads."""
    half = STEPS // 2
    with build(name, num_threads=1) as world:
        straight = drive(world, 0, half)
        state = world.save_state()
        state.save(tmp_path / "half.ggstate")
        straight += drive(world, half)
        assert straight[-1] == golden[name]
        # back in time in the same world
        world.load_state(state)
        assert world.state_hash() == straight[half - 1]
        assert drive(world, half) == straight[half:]
    with build(name, env_count=3, num_threads=2) as world:
        drive(world, 0, 1)
        world.load_state(gg.State.load(tmp_path / "half.ggstate"), envs=[2, 0])
        assert drive(world, half) == straight[half:]
        assert world.state_hash(2) == straight[-1]
        assert world.state_hash(1) != straight[-1]


@pytest.mark.parametrize("name", NAMES)
def test_pickle_and_branch_go_on_with_the_same_bits(name: str, golden: dict[str, int]) -> None:
    half = STEPS // 2
    with build(name, num_threads=1) as world:
        drive(world, 0, half)
        with pickle.loads(pickle.dumps(world)) as copy, world.branch(3) as branches:
            assert drive(copy, half)[-1] == golden[name]
            drive(branches, half)
            assert [branches.state_hash(env) for env in range(3)] == [golden[name]] * 3


@pytest.mark.parametrize("threads", ["1", "2"])
def test_other_processes(threads: str, golden: dict[str, int]) -> None:
    command = [sys.executable, golden_scenes.__file__, threads]
    run = subprocess.run(command, stdout=subprocess.PIPE, text=True, timeout=300, check=True)
    assert {name: int(text, 16) for name, text in json.loads(run.stdout).items()} == golden


def test_substeps_are_steps() -> None:
    """Where no tool moves, n substeps in one call are n calls."""
    hashes = []
    for count, per in ((1, 60), (60, 1), (12, 5)):
        with build("column", num_threads=1) as world:
            for _ in range(count):
                world.step(DT, per)
            hashes.append(world.state_hash())
    assert len(set(hashes)) == 1


def test_reset_by_set_grains_forgets() -> None:
    """A world that was stepped and reset continues as a new one."""
    with build("column", num_threads=1) as fresh, build("column", num_threads=1) as old:
        places, speeds, spins = old.positions[0], old.velocities[0], old.angular_velocities[0]
        drive(old)
        old.set_grains(places, speeds, spins)
        assert drive(old, 0, 2) == drive(fresh, 0, 2)
