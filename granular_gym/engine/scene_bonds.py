"""scene_bonds.py: the bonds between grains of a scene."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from granular_gym.base import checks
from granular_gym.engine.bonds import check_pairs
from granular_gym.engine.bounds import LARGEST_LENGTH
from granular_gym.engine.scene_grains import SceneGrains
from granular_gym.errors import ArgumentError


class SceneBonds(SceneGrains):
    """The part of a `Scene` that knows bonds."""

    _bonds: list[tuple[NDArray[np.int32], NDArray[np.float32]]]
    _bonded: set[tuple[int, int]]

    def add_bonds(self, pairs: Any, lengths: Any = None) -> None:
        """Bonds pairs of grains, for `Solver(mode="table")` alone, which reads their forces from tables of their own.

        A bond lasts: where it is longer than its table reaches no force acts, until it is short enough again.

        Args:
            pairs: (n, 2) ids of grains, each pair once.
            lengths: at rest, distances of centres, one for all or (n,) [m]; None: the distances as placed.

        Raises:
            ArgumentError: no such grain, a pair twice, a length that is not above 0, or a scene without spheres.
        """
        if self.planar or self.spacing is not None or any(each.clumps is not None for each in self._grains):
            raise ArgumentError("add_bonds: expected a scene of lone spheres")
        ids = checks.integers("pairs", pairs, (None, 2), 0, max(self.grain_count - 1, 0))
        new = check_pairs(ids, self._bonded)
        if lengths is None and len(ids):
            points = np.concatenate([each.positions for each in self._grains]).astype(np.float64)
            lengths = np.linalg.norm(points[ids[:, 0]] - points[ids[:, 1]], axis=1)
        rest = checks.floats("lengths", 0.0 if lengths is None else lengths, (), (len(ids),))
        if len(ids) and not 0.0 < float(rest.min()) <= float(rest.max()) <= LARGEST_LENGTH:
            worst = rest.min() if rest.min() <= 0.0 else rest.max()
            raise ArgumentError(f"lengths: expected lengths > 0 up to {LARGEST_LENGTH:g} m, got {float(worst):g}")
        if len(ids):
            self._bonds.append((ids, np.array(np.broadcast_to(rest, (len(ids),)))))
            self._bonded |= new
