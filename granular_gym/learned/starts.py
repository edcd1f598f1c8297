"""starts.py: what a model knows of an episode at its start: the true grains, or those that pictures show."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from granular_gym.learned import initial
from granular_gym.learned.layouts import bonds_of
from granular_gym.learned.settings import PICTURES, START_NAMES


@dataclass(frozen=True, eq=False)
class Begin:
    """An episode as a model may know it: what `data.Episode` has, without pictures.

    Attributes:
        positions, velocities: (T+1, n, 3) [m], [m/s]; where the start was found in pictures, NaN after the first frame.
        kinds, bodies: (n,).
        bonds: (m, 2).
        rest_lengths: (m,) [m].
        colors: (n, 3), 0 .. 1.
        known: whether grain i is grain i of the episode.
    """

    positions: NDArray[np.float32]
    velocities: NDArray[np.float32]
    kinds: NDArray[np.int8]
    bodies: NDArray[np.int32]
    bonds: NDArray[np.int32]
    rest_lengths: NDArray[np.float32]
    colors: NDArray[np.float32]
    known: bool


#: (dataset, episode, pictures as a key of PICTURES, number of cameras or None) -> what is known
Start = Callable[[Any, Any, str, "int | None"], Begin]


def known(dataset: Any, episode: Any, pictures: str, views: int | None) -> Begin:
    """The true grains and their motion."""
    names = (each.name for each in dataclasses.fields(Begin) if each.name != "known")
    return Begin(**{name: getattr(episode, name) for name in names}, known=True)


def from_pictures(dataset: Any, episode: Any, pictures: str, views: int | None) -> Begin:
    """Grains found in the first three frames, see `initial`; bonds are laid among the neighbours of each body.

    Known beforehand are the parts: sand and each body, their kind, their number of grains and their mean colour.

    Raises:
        ArgumentError: what `initial.start_state` refuses.
    """
    # a part is a kind and a body; sand has none
    labels = np.stack([episode.kinds.astype(np.int32), episode.bodies], axis=1)
    parts, number = np.unique(labels, axis=0, return_inverse=True)
    number = number.reshape(-1)
    color, depth = (getattr(episode, name)[:3, :views] for name in PICTURES[pictures])
    guesses = initial.parts_of(episode.colors, number)
    found = initial.start_state(
        color, depth, dataset.cameras[:views], dataset.bounds, dataset.radius, dataset.dt, guesses
    )
    kinds, bodies = (parts[found.parts, k] for k in (0, 1))
    tints = np.array([guess.color for guess in guesses], np.float32)
    bonds, lengths = bonds_of(found.positions, bodies.astype(np.int32), dataset.radius)

    def first(value: NDArray[np.float32]) -> NDArray[np.float32]:
        rest = np.full((len(episode.positions) - 1, *value.shape), np.nan, np.float32)
        return np.concatenate([value[None], rest])

    return Begin(
        first(found.positions),
        first(found.velocities),
        kinds.astype(np.int8),
        bodies.astype(np.int32),
        bonds,
        lengths,
        tints[found.parts],
        known=False,
    )


#: by the name that settings give
STARTS: dict[str, Start] = dict(zip(START_NAMES, (known, from_pictures), strict=True))
