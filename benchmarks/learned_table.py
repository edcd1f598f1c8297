"""learned_table.py: a discrete element learner beside its own table in the engine: time, and how far the two part.

    python -m benchmarks.learned_table RUN DATA [DATA ...]
    python -m benchmarks.learned_table RUN DATA [DATA ...] --device cuda    # both on a GPU, many episodes at once

RUN: folder of a run, or a checkpoint. DATA: datasets; the first says how deep and how fast the table is sampled.
The engine takes the steps of the model, or more where the table is not stable with them. Time: processor time of a
frame, one thread, first test episode, 40 frames; of the engine in one call, and in a call a frame. `truth`: Chamfer
distance to the grains of the data, mean over 40 frames of the test episodes [diameters]. `apart`: largest distance of a
particle between two rollouts after 1, 5, 10, 20 and 40 frames [radii], median of four test episodes, from a model in
double precision: to the same from a start moved by up to 1e-6 radii, to the model in single precision, and, where the
engine takes the steps of the model, to the engine, and to the engine that begins each frame at a state of the model.
On a GPU: wall time of a frame of one episode, and of as many at once, the rest being the same there.
"""

from __future__ import annotations

import argparse
import copy
import time
import warnings
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

import granular_gym as gg
from benchmarks.run import table as show
from granular_gym.learned import checkpoints, metrics
from granular_gym.learned.data import Dataset
from granular_gym.learned.discrete_element import DiscreteElementLearner
from granular_gym.learned.export import export_model
from granular_gym.learned.ranges import met_ranges
from granular_gym.learned.simulator import Matter, State
from testbed.learned_scene import episode_world

FRAMES, SHOWN, EPISODES = 40, [1, 5, 10, 20, 40], 4
#: episodes at once on a GPU
BATCHES = (1, 32, 1024)
TOLERANCES = (3e-3, 1e-3)
Floats = NDArray[np.float64]


def rollout(model: Any, data: Any, episode: Any, double: bool, kick: float = 0.0) -> tuple[Floats, Floats]:
    """Positions and velocities of all frames."""
    kind = torch.float64 if double else torch.float32
    matter, start = Matter.of(data, [episode]), State.of([episode], 0)
    given = {name: getattr(matter, name).to(kind) for name in ("rest_lengths", "gravity", "bounds")}
    matter = Matter(matter.kinds, matter.bodies, matter.bonds, radius=matter.radius, **given)
    moved = kick * data.radius * np.random.default_rng(0).uniform(-1.0, 1.0, tuple(start.positions.shape))
    state = State(start.positions.to(kind) + torch.as_tensor(moved).to(kind), start.velocities.to(kind))
    states = [state]
    with torch.no_grad():
        for _ in range(FRAMES):
            states.append(state := model.step(state, matter))
    positions, velocities = (
        np.stack([getattr(each, name)[0].double().numpy() for each in states]) for name in ("positions", "velocities")
    )
    return positions, velocities


def steps_of(model: Any, law: gg.PairTable) -> int:
    """Steps of the engine in a frame: those of the model, or as many as the table needs."""
    longest = law.longest_step(law.masses or ())
    return max(int(model.scale.substeps), int(np.ceil(model.scale.dt / longest)))


def truth(model: Any, data: Any, law: gg.PairTable) -> tuple[float, float]:
    """Chamfer distance of model and engine to the data [diameters]."""
    apart: list[list[float]] = [[], []]
    for episode in data.test:
        world, grains = episode_world(data, episode, law)
        with world:
            mine = frames_of(world, grains, data.dt, steps_of(model, law), None)
        for found, places in zip(apart, (rollout(model, data, episode, False)[0], mine), strict=True):
            found += [metrics.chamfer(places[t], episode.positions[t]) for t in range(1, FRAMES + 1)]
    one, two = (float(np.mean(each)) / (2.0 * data.radius) for each in apart)
    return one, two


def frames_of(world: gg.World, grains: Any, dt: float, steps: int, begin: tuple[Floats, Floats] | None) -> Floats:
    """Positions after each frame; begin: states that the frames begin at, None: on from where the last one ended."""
    found = [world.positions[0][grains].astype(float)]
    for frame in range(FRAMES):
        if begin is not None:
            places, moving = (np.empty_like(each[frame]) for each in begin)
            places[grains], moving[grains] = (each[frame] for each in begin)
            world.set_grains(positions=places, velocities=moving)
        world.step(dt / steps, steps)
        found.append(world.positions[0][grains].astype(float))
    return np.stack(found)


def fidelity(model: Any, data: Any, laws: dict[str, gg.PairTable]) -> dict[str, Floats]:
    """How far rollouts are apart at the frames shown, by name."""
    found: dict[str, list[Floats]] = {}
    double = copy.deepcopy(model).double()
    for episode in data.test[:EPISODES]:
        exact = rollout(double, data, episode, True)
        others = {
            "model, start moved by 1e-6": rollout(double, data, episode, True, 1e-6)[0],
            "model, single precision": rollout(model, data, episode, False)[0],
        }
        for name, law in laws.items():
            for words, begin in ((f"engine, {name}", None), (f"engine, {name}, each frame from the model's", exact)):
                world, grains = episode_world(data, episode, law)
                with world:
                    others[words] = frames_of(world, grains, data.dt, steps_of(model, law), begin)
        for name, other in others.items():
            apart = np.abs(other - exact[0]).max(axis=(1, 2)) / data.radius
            found.setdefault(name, []).append(np.maximum.accumulate(apart) if "each" in name else apart)
    return {name: np.median(each, axis=0)[SHOWN] for name, each in found.items()}


def cost(model: Any, data: Any, law: gg.PairTable) -> dict[str, Any]:
    """Processor time of a frame [ms]."""
    episode, steps, took = data.test[0], steps_of(model, law), []
    for calls in (1, FRAMES):
        best = np.inf
        for _ in range(5):
            world, _ = episode_world(data, episode, law)
            with world:
                start = time.process_time()
                for _ in range(calls):
                    world.step(data.dt / steps, FRAMES // calls * steps)
                best = min(best, time.process_time() - start)
                contacts, outside = (int(world.stats[name][0]) for name in ("contact_count", "unsampled_count"))
        took.append(1e3 * best / FRAMES)
    best = np.inf
    for _ in range(2):
        start = time.process_time()
        rollout(model, data, episode, False)
        best = min(best, time.process_time() - start)
    learner = 1e3 * best / FRAMES
    return {
        "name": f"{len(episode.kinds)} grains",
        "contacts": contacts,
        "model [ms]": round(learner, 2),
        "engine [ms]": round(took[0], 3),
        "a call a frame [ms]": round(took[1], 3),
        "times": round(learner / took[0], 1),
        "unsampled": outside,
    }


def batch_cost(model: Any, data: Any, law: gg.PairTable, envs: int) -> dict[str, Any]:
    """Wall time of a frame of many episodes at once, both on a GPU [ms]."""
    episode, steps = data.test[0], steps_of(model, law)
    engine = learner = np.inf
    for _ in range(3):
        world, _ = episode_world(data, episode, law, "cuda", envs)
        with world:
            start = time.perf_counter()
            world.step(data.dt / steps, FRAMES * steps)
            engine = min(engine, time.perf_counter() - start)
            contacts, outside = (int(world.stats[name][0]) for name in ("contact_count", "unsampled_count"))
    for _ in range(2):
        matter, state = (
            each.of(*of, "cuda") for each, of in ((Matter, (data, [episode] * envs)), (State, ([episode] * envs, 0)))
        )
        torch.cuda.synchronize()
        start = time.perf_counter()
        with torch.no_grad():
            for _ in range(FRAMES):
                state = model.step(state, matter)
        torch.cuda.synchronize()
        learner = min(learner, time.perf_counter() - start)
    return {
        "name": f"{envs} x {len(episode.kinds)} grains",
        "contacts": contacts,
        "model [ms]": round(1e3 * learner / FRAMES, 3),
        "engine [ms]": round(1e3 * engine / FRAMES, 4),
        "times": round(learner / engine, 1),
        "unsampled": outside,
    }


def main() -> None:
    """Prints the tables."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("run", help="folder of a run, or a checkpoint")
    parser.add_argument("data", nargs="+", help="datasets")
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cpu")
    options = parser.parse_args()
    torch.set_num_threads(1)
    warnings.simplefilter("ignore", gg.StabilityWarning)
    model = checkpoints.load(options.run)
    assert isinstance(model, DiscreteElementLearner)
    sets = [Dataset.load(each) for each in options.data]
    bonded = [(k, k) for k in range(model.scale.kinds) if any((e.kinds[e.bonds] == k).any() for e in sets[0].test[:1])]
    laws = {}
    for tolerance in TOLERANCES:
        ranges = met_ranges(model, sets[0], sets[0].train[:8], tolerance=tolerance)
        law = export_model(model, bonded=bonded, tolerance=tolerance, ranges=ranges).table
        size = sum(each.samples().nbytes for each in law.forces.values()) / 1e6
        print(f"tolerance {tolerance:g}: {size:.1f} MB, steps up to {1e3 * law.longest_step(law.masses or ()):.4g} ms")
        laws[f"tolerance {tolerance:g}"] = law
    columns = ("contacts", "model [ms]", "engine [ms]", "a call a frame [ms]", "times", "unsampled")
    first = next(iter(laws.values()))
    print(f"steps a frame: {model.scale.substeps} of the model, {steps_of(model, first)} of the engine")
    if options.device == "cuda":
        model = model.cuda()
        print(show([batch_cost(model, data, first, envs) for data in sets for envs in BATCHES], columns))
        return
    print(show([cost(model, data, first) for data in sets], columns))
    for data in sets:
        print("truth: model {:.3f}, engine {:.3f}".format(*truth(model, data, first)))
    laws = {name: law for name, law in laws.items() if steps_of(model, law) == model.scale.substeps}
    for name, apart in fidelity(model, sets[0], laws).items():
        print(f"{name:60s}", "  ".join(f"{each:.1e}" for each in apart))


if __name__ == "__main__":
    main()
