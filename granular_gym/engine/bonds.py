"""bonds.py: bonded pairs of grains of a scene as the arrays that the engine takes."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from granular_gym.errors import ArgumentError


def check_pairs(pairs: NDArray[np.int32], before: set[tuple[int, int]]) -> set[tuple[int, int]]:
    """Pairs as sorted ids.

    Args:
        pairs: (n, 2) ids.
        before: pairs that are bonded already.

    Raises:
        ArgumentError: a grain that is bonded to itself, or a pair twice.
    """
    found: set[tuple[int, int]] = set()
    for first, second in np.sort(pairs, axis=1).tolist():
        if first == second:
            raise ArgumentError(f"pairs: expected two grains, got {first} twice")
        if (first, second) in found or (first, second) in before:
            raise ArgumentError(f"pairs: expected each pair once, got {first}, {second} twice")
        found.add((first, second))
    return found


def bond_arrays(
    bonds: list[tuple[NDArray[np.int32], NDArray[np.float32]]], grain_count: int
) -> dict[str, NDArray[Any]] | None:
    """Each bond in the lists of both of its grains, in order of ids; None: there are none.

    Args:
        bonds: pairs (n, 2) and lengths (n,) [m] of each call.
        grain_count: of the scene.
    """
    if not bonds:
        return None
    pairs = np.concatenate([pair for pair, _ in bonds])
    lengths = np.concatenate([length for _, length in bonds])
    owner, other = np.concatenate([pairs, pairs[:, ::-1]]).T
    order = np.lexsort((other, owner))
    first = np.searchsorted(owner[order], np.arange(grain_count + 1))
    return {
        "first": first.astype(np.int32),
        "other": np.ascontiguousarray(other[order], np.int32),
        "length": np.ascontiguousarray(np.tile(lengths, 2)[order], np.float32),
    }
