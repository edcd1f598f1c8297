"""Where pairs meet in rollouts, beside all pairs in NumPy; a table of these ranges follows its model."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import granular_gym as gg

torch = pytest.importorskip("torch", reason="torch is not installed")

from granular_gym.engine.pair_table import WALL  # noqa: E402
from granular_gym.learned.discrete_element import DiscreteElementLearner  # noqa: E402
from granular_gym.learned.export import export_model  # noqa: E402
from granular_gym.learned.ranges import met_ranges  # noqa: E402
from granular_gym.learned.rollout import rollout  # noqa: E402
from granular_gym.learned.simulator import Scale  # noqa: E402
from testbed.learned_scene import episode_world  # noqa: E402

sys.path.insert(0, str(Path(__file__).parent))
from made_matter import DT, GRAVITY, RADIUS, wake  # noqa: E402

FRAMES = 40
DATA = SimpleNamespace(dt=DT, radius=RADIUS, gravity=GRAVITY, bounds=((-0.15, -0.15, 0.0), (0.15, 0.15, 9.0)))

Note = Callable[..., None]


def episode(seed: int = 0) -> Any:
    """27 bonded particles of kind 1 with 20 of kind 0 above them, which fall."""
    rng = np.random.default_rng(seed)
    cube = np.stack(np.meshgrid(*[np.arange(3.0)] * 3, indexing="ij"), -1).reshape(-1, 3) - (1.0, 1.0, -0.5)
    sand = np.stack(np.meshgrid(np.arange(2.0), np.arange(2.0), np.arange(5.0), indexing="ij"), -1).reshape(-1, 3)
    places = np.concatenate([2.0 * cube, 2.3 * sand + (-1.5, -1.0, 8.0)]) * RADIUS
    places[27:] += rng.uniform(-0.1, 0.1, (20, 3)) * RADIUS
    speeds = rng.uniform(-0.2, 0.2, places.shape)
    apart = np.linalg.norm(places[:27, None] - places[None, :27], axis=-1)
    bonds = np.argwhere(np.triu((apart < 2.9 * RADIUS) & (apart > 0.0)))
    return SimpleNamespace(
        positions=np.repeat(places[None].astype(np.float32), FRAMES + 1, axis=0),
        velocities=np.repeat(speeds[None].astype(np.float32), FRAMES + 1, axis=0),
        kinds=np.repeat((1, 0), (27, 20)), bodies=np.repeat((0, -1), (27, 20)),
        bonds=bonds, rest_lengths=apart[tuple(bonds.T)].astype(np.float32),
    )  # fmt: skip


@pytest.fixture(scope="module")
def model() -> Any:
    """One that has learned nothing, but acts."""
    torch.manual_seed(1)
    torch.set_num_threads(1)
    return wake(DiscreteElementLearner(Scale(DT, RADIUS, 2), width=16), 3)


def test_ranges_are_those_of_the_rollout(model: Any) -> None:
    given = episode()
    found = met_ranges(model, DATA, [given], margin=2.0, tolerance=0.01)
    moved = rollout(model, DATA, given)
    lengths = {
        tuple(pair): length for pair, length in zip(given.bonds.tolist(), given.rest_lengths.tolist(), strict=True)
    }
    wanted: dict[Any, Any] = {}
    for x, v in zip(moved.positions[:-1].astype(float), moved.velocities[:-1].astype(float), strict=True):
        for i in range(47):
            meets = []
            for j in range(i + 1, 47):
                away, key = x[j] - x[i], (*sorted((given.kinds[i], given.kinds[j])), (i, j) in lengths)
                far = float(np.linalg.norm(away))
                # of bonds the gap is from their length
                meets.append((key, away / far, v[j] - v[i], far + 2.0 * RADIUS - lengths.get((i, j), 2.0 * RADIUS)))
            for axis in range(3):
                for side, way in ((DATA.bounds[0], -1.0), (DATA.bounds[1], 1.0)):
                    toward = np.eye(3)[axis] * way
                    meets.append(((given.kinds[i], WALL, False), toward, -v[i], float((side[axis] - x[i, axis]) * way)))
            for key, toward, moving, distance in meets:
                gap = distance - (RADIUS if key[1] == WALL else 2.0 * RADIUS)
                if key[2] or gap < 0.5 * RADIUS:
                    parting = float(moving @ toward)
                    sliding = float(np.linalg.norm(moving - parting * toward))
                    old = wanted.get(key, (0.05 * RADIUS, 0.0, 0.0))
                    wanted[key] = tuple(map(max, old, (-gap, abs(parting), sliding)))
    assert set(found) == set(wanted) and (1, 1, True) in found and (1, WALL, False) in found
    for key, (deepest, fastest, sliding) in wanted.items():
        least = 0.1 * model.scale.speed
        assert found[key].deepest == pytest.approx(-2.0 * deepest, rel=1e-3)
        assert found[key].speed == pytest.approx(2.0 * max(fastest, least), rel=1e-3)
        assert found[key].sliding == pytest.approx(2.0 * max(sliding, least), rel=1e-3)
        assert found[key].tolerance == 0.01
    with pytest.raises(gg.ArgumentError, match="^episodes: expected one or more, got none"):
        met_ranges(model, DATA, [])
    with pytest.raises(gg.ArgumentError, match="^margin: expected"):
        met_ranges(model, DATA, [given], margin=0.5)


@pytest.mark.filterwarnings("ignore:.*piles can fly apart.*:granular_gym.errors.StabilityWarning")
def test_each_frame_of_a_model_is_that_of_its_table(model: Any, measured: Note) -> None:
    """From each of 40 states of the model, one frame of the engine is within 1e-3 radii of one of the model; nothing
    meets outside of the samples."""
    given = episode()
    ranges = met_ranges(model, DATA, [given], tolerance=5e-4)
    law = export_model(model, bonded=[(1, 1)], ranges=ranges).table
    moved, worst, contacts = rollout(model, DATA, given), 0.0, 0
    world, grains = episode_world(DATA, given, law)
    with world:
        for frame in range(FRAMES):
            places, speeds = np.empty((47, 3)), np.empty((47, 3))
            places[grains], speeds[grains] = moved.positions[frame], moved.velocities[frame]
            world.set_grains(positions=places, velocities=speeds)
            world.step(DT)
            apart = np.abs(world.positions[0][grains] - moved.positions[frame + 1]).max()
            worst, contacts = max(worst, float(apart) / RADIUS), contacts + int(world.stats["contact_count"][0])
            assert world.stats["unsampled_count"][0] == 0
        measured(worst=worst, contacts=contacts)
        assert worst < 1e-3 and contacts > 4000
    # forces count: without them a frame is elsewhere
    still = moved.positions[1:-1] - moved.positions[:-2] + moved.positions[1:-1] - moved.positions[2:]
    assert np.abs(still).max() > 0.05 * RADIUS
