"""learned_scene.py: an episode of a dataset of learned models as a scene of the engine, for a model's table."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

import granular_gym as gg


def episode_world(
    dataset: Any, episode: Any, table: gg.PairTable, device: str = "cpu", env_count: int = 1
) -> tuple[gg.World, NDArray[np.intp]]:
    """The start of an episode, to be moved by a table, and which grain each particle is.

    Args:
        dataset, episode: as `learned.data` has them.
        table: exported of a model, with kinds in the order of the model's, and their masses.
        device: of the world.
        env_count: so many times the same episode.
    """
    radius, kinds = float(dataset.radius), np.asarray(episode.kinds)
    scene = gg.Scene(np.asarray(dataset.bounds, float), gravity=tuple(np.asarray(dataset.gravity, float)))
    grains, first = np.empty(len(kinds), np.intp), 0
    assert table.masses is not None
    for kind, (name, mass) in enumerate(zip(table.kinds, table.masses, strict=True)):
        material = scene.add_material(density=mass / (4.0 / 3.0 * np.pi * radius**3), friction=0.0, name=name)
        own = np.flatnonzero(kinds == kind)
        grains[own] = first + np.arange(len(own))
        first += len(own)
        if len(own):
            scene.add_grains(
                material,
                np.asarray(episode.positions)[0][own],
                radius,
                velocities=np.asarray(episode.velocities)[0][own],
            )
    scene.wall_material = 0
    if len(episode.bonds):
        scene.add_bonds(grains[np.asarray(episode.bonds)], np.asarray(episode.rest_lengths, float))
    solver = gg.Solver(mode="table", table=table)
    return scene.build(env_count, device=device, solver=solver, num_threads=1, overlaps="ignore"), grains
