"""Saved states from anywhere: what an env can be goes back in to the bit, anything else is refused whole."""

from __future__ import annotations

import copy
import hashlib
import pickle
import subprocess
import sys
from pathlib import Path

import gymnasium
import numpy as np
import pytest

import granular_gym as gg
from granular_gym.engine.state import joined
from tests.determinism.golden_scenes import SCENES
from tests.hostile.state_mutations import HEADER, OTHERS, mended, world_of

HERE = Path(__file__).parent
#: where the state of an env begins, with its gravity
GRAVITY = HEADER
SPHERES: dict[str, dict] = {
    "gauss_seidel": {},
    "tolerance": {"tolerance": 1e-3, "iterations": 40},
    "paper": {"mode": "paper"},
    "no spin": {"spin": False},
    "jacobi": {"mode": "jacobi"},
}


def foreign(state: gg.State) -> gg.State:
    """The same state as if it came out of a file: nothing vouches for it."""
    return gg.State.from_bytes(state.to_bytes())


def check_goes_on(world: gg.World, dt: float, substeps: int = 7) -> None:
    """The world goes on from its own state, read from bytes, as it goes on by itself."""
    state, now = world.save_state(), world.state_hash()
    assert state.checked and not foreign(state).checked
    world.step(dt, substeps)
    later = world.state_hash()
    world.load_state(foreign(state))
    assert world.state_hash() == now
    world.step(dt, substeps)
    assert world.state_hash() == later


@pytest.mark.parametrize("name", SCENES)
@pytest.mark.parametrize("solver", SPHERES)
def test_what_spheres_can_be_is_accepted(name: str, solver: str):
    with SCENES[name]().build(device="cpu", solver=gg.Solver(**SPHERES[solver])) as world:
        check_goes_on(world, 1e-3)
        world.step(1e-3, 60)
        check_goes_on(world, 1e-3)
        world.transform_grains(translation=(0.0, 0.0, 0.01), yaw=0.3)
        check_goes_on(world, 1e-3)
        world.set_grains(velocities=np.full((world.grain_count, 3), 0.3, np.float32))
        check_goes_on(world, 1e-3)


@pytest.mark.parametrize("law", ["planar", "springs"])
def test_what_planar_grains_can_be_is_accepted(law: str):
    with world_of(law, "cpu") as world:
        for _ in range(12):
            check_goes_on(world, 1e-4, 150)


def test_what_moist_grains_can_be_is_accepted():
    scene = gg.Scene(((-0.05, -0.05, 0.0), (0.05, 0.05, 0.2)))
    sand = scene.add_material(density=2500.0, cohesion=1.0, cohesion_range=5e-4, rolling_friction=0.1)
    scene.fill_box(sand, (-0.05, -0.05, 0.0), (0.05, 0.05, 0.1), count=60, radius=0.005)
    for solver in (gg.Solver(), gg.Solver(skin=1.0)):
        with scene.build(device="cpu", solver=solver) as world:
            check_goes_on(world, 1e-3, 100)
            world.set_materials(pairs=[[[0.5, 0.1, 0.3, 0.2, 0.0, 0.0]]])
            check_goes_on(world, 1e-3, 20)


def test_a_frozen_env_is_accepted(world):
    velocities = np.zeros((60, 3), np.float32)
    velocities[3] = 3e38
    world.set_grains(velocities=velocities, envs=[1])
    world.step(1e-3, 3)
    assert world.stats["diverged"].tolist() == [0, 1, 0]
    state = world.save_state()
    world.load_state(foreign(state))
    assert world.save_state() == state


#: where a step from a mutated state may take all iterations
MUTATIONS = {"continuum": 100, "continuum_tools": 100, "liquid": 12}


@pytest.mark.parametrize("law", ["planar", "springs", *OTHERS])
def test_mutated_states(law: str, backend: str, full: bool):
    count = 30 if full and law == "liquid" else MUTATIONS.get(law, 400)
    command = [sys.executable, str(HERE / "state_mutations.py"), law, backend, str(count if backend == "cpu" else 60)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr[-2000:]
    refused, accepted = map(int, done.stdout.split())
    assert refused > 0 and accepted > 0


def test_the_message_names_field_and_fault(world):
    state = world.save_state(env=0)
    data = bytearray(state.envs[0])
    data[GRAVITY : GRAVITY + 4] = np.float32(np.nan).tobytes()
    with pytest.raises(gg.StateError, match=r"^state: env\[0\]: expected a finite gravity"):
        world.load_state(gg.State((mended(bytes(data)),), state.layout))


def test_one_bad_state_of_several(world):
    before = world.save_state()
    world.step(1e-3, 5)
    expected = world.save_state()
    bad = bytearray(before.envs[2])
    bad[GRAVITY + 3] = 0x7F
    bad[GRAVITY + 2] = 0xC0
    with pytest.raises(gg.StateError):
        world.load_state(gg.State((*before.envs[:2], mended(bytes(bad))), before.layout))
    assert world.save_state() == expected


def test_nothing_vouches_for_a_copy(world):
    state = world.save_state()
    assert state.checked and state.env(1).checked and joined([state.env(0), state.env(1)]).checked
    assert not pickle.loads(pickle.dumps(state)).checked and not copy.copy(state).checked
    buffer = bytearray(state.envs[0])
    own = gg.State((buffer,), state.layout)
    world.load_state(own)
    assert own.checked
    buffer[100] ^= 1
    assert own.envs == state.envs[:1]


@pytest.mark.parametrize(
    "envs, layout, words",
    [
        ((), "0" * 64, "envs: expected"),
        (10**15, "0" * 64, "envs: expected"),
        ((10**15,), "0" * 64, "envs: expected"),
        (("text",), "0" * 64, "envs: expected"),
        ((b"",), "layout", "layout: expected"),
        ((b"",), None, "layout: expected"),
    ],
)
def test_arguments_of_a_state(envs, layout, words):
    with pytest.raises(gg.ArgumentError, match=words):
        gg.State(envs, layout)


def test_mutated_files_of_states(world):
    """Bytes of the container, its checksum mended or not: reading it or loading it raises StateError."""
    whole = world.save_state().to_bytes()
    draw = np.random.default_rng(3)
    expected = world.state_hash()
    for k in range(2000):
        data = bytearray(whole[:-32])
        for at in draw.integers(0, 88 + 24, 2):
            data[at] ^= 1 << int(draw.integers(8))
        if k % 5 == 0 or data == whole[:-32]:
            del data[int(draw.integers(len(data))) :]
        made = bytes(data) + (hashlib.sha256(data).digest() if k % 4 else whole[-32:])
        with pytest.raises(gg.StateError):
            world.load_state(gg.State.from_bytes(made, "file"))
        assert k % 100 or world.state_hash() == expected
    with pytest.raises(gg.ArgumentError, match="data: expected bytes"):
        gg.State.from_bytes(10**12)


@pytest.mark.parametrize(
    "change, words",
    [
        (lambda s: [], r"saved: expected a dict of \["),
        (lambda s: {**s, "seeds": None}, r"saved\['seeds'\]: expected a list of 1, got NoneType"),
        (lambda s: {**s, "world": []}, r"saved\['world'\]: expected a list of 1, got list of 0"),
        (lambda s: {**s, "world": [b""]}, r"saved\['world'\]\[0\]: expected a State of one env, got bytes"),
        (lambda s: {**s, "generators": [3]}, r"saved\['generators'\]\[0\]: expected a Generator or None"),
        (lambda s: {**s, "friction": np.zeros(3)}, r"saved 'friction': expected an array of float64 \(1,\), got"),
        (lambda s: {**s, "episode": {}}, r"saved\['episode'\]: expected a dict of"),
        (lambda s: {k: v for k, v in s.items() if k != "fresh"}, "saved: expected a dict of"),
        (lambda s: {**s, "world": [gg.State((s["world"][0].envs[0][:-1],), s["world"][0].layout)]}, "truncated"),
    ],
)
def test_a_task_goes_back_to_what_one_like_it_saved(change, words):
    env = gymnasium.make("granular_gym/Level-v0", preset="fast", device="cpu")
    try:
        env.reset(seed=1)
        task = env.unwrapped.task
        env.step(env.action_space.sample())
        saved, expected = task.save(), task.world.state_hash()
        with pytest.raises(gg.StateError, match=words):
            task.load(change(saved))
        assert task.world.state_hash() == expected
        task.load(saved)
        assert task.world.state_hash() == expected
    finally:
        env.close()
