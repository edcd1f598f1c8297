"""Saved states, their files, and cached beds: complete or refused."""

from __future__ import annotations

import copy
import hashlib
import pickle

import numpy as np
import pytest

import granular_gym as gg
from granular_gym.engine import beds


def test_time_travel(world):
    world.step(1e-3, 120)
    state = world.save_state()
    assert state.env_count == 3
    hashes = [world.state_hash(env=k) for k in range(3)]
    world.step(1e-3, 60)
    later = world.state_hash()
    world.load_state(state)
    assert [world.state_hash(env=k) for k in range(3)] == hashes
    world.step(1e-3, 60)
    assert world.state_hash() == later


def test_one_env_into_others(world):
    world.set_grains(velocities=np.full((60, 3), 0.1), envs=[1])
    world.step(1e-3, 30)
    assert world.state_hash(env=0) != world.state_hash(env=1)
    state = world.save_state(env=1)
    world.load_state(state, envs=[0, 2])
    assert len({world.state_hash(env=k) for k in range(3)}) == 1
    world.step(1e-3, 30)
    assert len({world.state_hash(env=k) for k in range(3)}) == 1


def test_file_round_trip(world, tmp_path):
    world.step(1e-3, 50)
    path = tmp_path / "bed.ggstate"
    world.save_state().save(path)
    expected = world.state_hash()
    world.step(1e-3, 50)
    world.load_state(gg.State.load(path))
    assert world.state_hash() == expected


def test_broken_files_are_refused_whole(world, tmp_path):
    path = tmp_path / "bed.ggstate"
    world.save_state().save(path)
    data = path.read_bytes()
    expected = world.state_hash()
    flipped = bytearray(data)
    flipped[len(data) // 2] ^= 1
    version = data[:8] + b"\x63" + data[9:]
    counted = data[:16] + (2**60).to_bytes(8, "little") + data[24:]
    for broken in (b"", b"GG", data[:-1], data[:100], data + b"\0", bytes(flipped), b"x" * len(data), version, counted):
        path.write_bytes(broken)
        with pytest.raises(gg.StateError):
            gg.State.load(path)
    with pytest.raises(FileNotFoundError):
        gg.State.load(tmp_path / "none")
    assert world.state_hash() == expected


def test_foreign_states_are_refused(world, scene):

    scene.add_grains(0, [[0.0, 0.0, 0.55]])
    with scene.build() as other:
        foreign = other.save_state()
    expected = world.state_hash()
    with pytest.raises(gg.StateError, match="another scene"):
        world.load_state(foreign)
    # the right scene, and bytes that the engine must refuse
    good = world.save_state(env=0)
    for data in (b"", good.envs[0][:-1], b"\0" * len(good.envs[0]), good.envs[0] + b"\0"):
        with pytest.raises(gg.StateError):
            world.load_state(gg.State((data,), good.layout))
    with pytest.raises(gg.StateError, match="expected 1 env or the 2 that are listed, got 3"):
        world.load_state(world.save_state(), envs=[0, 1])
    with pytest.raises(gg.ArgumentError, match="^state: expected"):
        world.load_state(b"bytes")
    assert world.state_hash() == expected


def test_beds_are_made_once(scene, tmp_path, monkeypatch):
    monkeypatch.setenv("GRANULAR_GYM_CACHE", str(tmp_path / "beds"))
    calls = []

    def make() -> gg.State:
        calls.append(1)
        with scene.build() as world:
            world.step(1e-3, 20)
            return world.save_state()

    first = beds.settled_bed(scene, {"dt": 1e-3, "steps": 20}, make)
    assert beds.settled_bed(scene, {"dt": 1e-3, "steps": 20}, make) is first
    beds.forget()
    assert beds.settled_bed(scene, {"steps": 20, "dt": 1e-3}, make) == first
    assert len(calls) == 1
    # every setting of the bed is part of its key
    beds.settled_bed(scene, {"dt": 1e-3, "steps": 21}, make)
    assert len(calls) == 2
    scene.set_pair(0, 0, friction=0.1)
    beds.settled_bed(scene, {"dt": 1e-3, "steps": 20}, make)
    assert len(calls) == 3
    assert len(list((tmp_path / "beds" / "beds").iterdir())) == 3


def test_damaged_beds_are_made_again(scene, tmp_path, monkeypatch):
    monkeypatch.setenv("GRANULAR_GYM_CACHE", str(tmp_path))

    def make() -> gg.State:
        with scene.build() as world:
            return world.save_state()

    good = beds.settled_bed(scene, "a", make)
    path = beds.bed_path(beds.bed_key(scene, "a"))
    whole = path.read_bytes()
    foreign = gg.State(good.envs, hashlib.sha256(b"other").hexdigest()).to_bytes()
    for broken in (b"", whole[:40], whole[:-3], foreign):
        beds.forget()
        path.write_bytes(broken)
        assert beds.settled_bed(scene, "a", make) == good
        assert path.read_bytes() == whole
    # a folder that cannot be written does not affect the result
    blocked = tmp_path / "file"
    blocked.write_text("")
    monkeypatch.setenv("GRANULAR_GYM_CACHE", str(blocked))
    beds.forget()
    assert beds.settled_bed(scene, "a", make) == good
    with pytest.raises(gg.ArgumentError, match="^key_extra: expected"):
        beds.settled_bed(scene, object(), make)


def _weighed(env_count: int = 1) -> gg.World:
    """Grains under a lid with a mass."""
    scene = gg.Scene(((-0.05, -0.05, 0.0), (0.05, 0.05, 0.2)))
    sand = scene.add_material(density=2000.0, radius=0.01)
    scene.fill_box(sand, (-0.05, -0.05, 0.0), (0.05, 0.05, 0.05), count=12)
    scene.add_tool(gg.Sdf.box((0.04, 0.04, 0.01)), name="lid", mass=0.5, pose=(0.0, 0.0, 0.1, 1.0, 0.0, 0.0, 0.0))
    return scene.build(env_count, device="cpu", num_threads=1)


def test_wrenches_are_those_of_the_step_that_the_state_was_saved_after():
    """Whatever steps the world made that loads it, if any: copies, branches, envs that were settled or interrupted."""
    with _weighed(2) as world:
        world.step(1e-3, 400)
        wanted, walls = world.wrenches, world.wall_wrenches
        assert np.abs(wanted).max() > 0.1 and np.abs(walls).max() > 0.1
        state = world.save_state()
        with copy.deepcopy(world) as same, pickle.loads(pickle.dumps(world)) as read, world.branch(2) as branch:
            for other in (same, read, branch):
                np.testing.assert_array_equal(other.wrenches, wanted)
                np.testing.assert_array_equal(other.wall_wrenches, walls)
        world.step(5e-4, 3)
        world.load_state(state.env(1), envs=[1])
        np.testing.assert_array_equal(world.wrenches[1], wanted[1])
        assert (world.wrenches[0] != wanted[0]).any()
        world.load_state(state)
        world.settle_impulses(1e-3, envs=[0])
        np.testing.assert_array_equal(world.wrenches[1], wanted[1])
        np.testing.assert_array_equal(world.wall_wrenches[1], walls[1])


#: small grains of the world of two sizes
SMALL = 14**3


def _of_two_sizes(env_count: int) -> gg.World:
    """Small grains apart from each other, and large ones, at rest."""
    scene = gg.Scene(((-3.0, -3.0, 0.0), (3.0, 3.0, 3.0)), gravity=(0.0, 0.0, 0.0))
    sand = scene.add_material(density=2500.0, friction=0.5)
    scene.add_grains(sand, _cube(0.03), 0.01)
    rows = [(-2.8 + 0.2 * (k % 25), 2.8 - 0.2 * (k // 25), 2.5) for k in range(150)]
    scene.add_grains(sand, [(1.0, 1.0, 0.5), (-1.0, 1.0, 0.5), (-2.0, 1.0, 0.5), *rows], 0.06)
    solver = gg.Solver(alpha=0.0, tool_alpha=0.0)
    return scene.build(env_count, device="cpu", num_threads=1, solver=solver, overlaps="ignore")


def _cube(spacing: float) -> np.ndarray:
    cells = np.stack(np.meshgrid(*[np.arange(14)] * 3, indexing="ij"), -1).reshape(-1, 3)
    return cells * spacing + (-2.0, -2.0, 0.05)


def test_no_contact_is_lost_where_lists_of_another_env_grow():
    """Lists of a state lie as the world that saved it laid them, which may hold more of a grain."""
    with _of_two_sizes(1) as first, _of_two_sizes(2) as second:
        places = first.positions[0]
        dense, around = places.copy(), np.random.default_rng(1).standard_normal((SMALL, 3))
        dense[:SMALL] = _cube(0.0095)
        first.set_grains(positions=dense)
        first.step(1e-7, 1)
        assert first.stats["growth_count"][0] > 0
        first.step(1e-7, 1)
        second.load_state(first.save_state(), envs=[0])
        # in the other env all small grains lie around a large one
        places[:SMALL] = places[SMALL] + around * (0.0708 / np.linalg.norm(around, axis=1)[:, None])
        second.set_grains(positions=places, envs=[1])
        for _ in range(3):
            first.step(1e-7, 1)
            second.step(1e-7, 1)
            assert second.stats["contact_count"][0] == first.stats["contact_count"][0] > SMALL
            assert second.state_hash(0) == first.state_hash(0)
        assert second.stats["rebuild_count"][0] == 0
