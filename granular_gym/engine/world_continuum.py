"""world_continuum.py: continuous matter of a world: read and set."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from granular_gym import _core
from granular_gym.base import checks
from granular_gym.engine.frozen import FrozenScene
from granular_gym.errors import ArgumentError

#: place of xx yy zz xy xz yz in a matrix
_FULL = np.array([[0, 3, 4], [3, 1, 5], [4, 5, 2]])
_PACKED = ([0, 1, 2, 0, 0, 1], [0, 1, 2, 1, 2, 2])


class WorldContinuum:
    """The part of a `World` that knows continuous matter (`Scene.add_continuum`), whose particles are its grains."""

    _core: _core.World
    _frozen: FrozenScene
    env_count: int
    changes: int

    @property
    def grain_count(self) -> int:
        return self._frozen.grain_count

    @property
    def continuous(self) -> bool:
        """Whether the grains are particles of continuous matter."""
        return self._frozen.arrays["continuum"] is not None

    @property
    def spacing(self) -> float:
        """Of the nodes of the grid of continuous matter [m].

        Raises:
            ArgumentError: the world has none.
        """
        if not self.continuous:
            raise ArgumentError("spacing: expected a world of continuous matter")
        return float(self._frozen.arrays["continuum"]["spacing"])

    @property
    def stretches(self) -> NDArray[np.float64]:
        """Elastic left stretch V of each particle, F = V R, float64 (env_count, grain_count, 3, 3).

        Raises:
            ArgumentError: the world has no continuous matter.
        """
        return self._core.get_continuum()[0][..., _FULL]

    @property
    def stresses(self) -> NDArray[np.float64]:
        """Cauchy stress of each particle, viscosity left out, float64 (env_count, grain_count, 3, 3) [Pa].

        Raises:
            ArgumentError: the world has no continuous matter.
        """
        stretch, stress, _, dilation = self._core.get_continuum()
        volume = np.linalg.det(stretch[..., _FULL]) * (1.0 + dilation)
        cauchy: NDArray[np.float64] = stress[..., _FULL] / volume[..., None, None]
        return cauchy

    @property
    def plastic_strains(self) -> NDArray[np.float32]:
        """Equivalent plastic strain of each particle, summed over time, float32 (env_count, grain_count).

        Raises:
            ArgumentError: the world has no continuous matter.
        """
        return self._core.get_continuum()[2]

    @property
    def dilations(self) -> NDArray[np.float32]:
        """Volumetric strain of each particle by dilatancy, float32 (env_count, grain_count); see `DruckerPrager`.

        Raises:
            ArgumentError: the world has no continuous matter.
        """
        return self._core.get_continuum()[3]

    @property
    def densities(self) -> NDArray[np.float64]:
        """Density of the matter of each particle, float64 (env_count, grain_count) [kg/m3].

        Raises:
            ArgumentError: the world has no continuous matter.
        """
        stretch, _, _, dilation = self._core.get_continuum()
        at_rest = self._core.get_materials()[1][:, self._frozen.arrays["grain_material"]]
        densities: NDArray[np.float64] = at_rest / (np.linalg.det(stretch[..., _FULL]) * (1.0 + dilation))
        return densities

    def set_continuum(
        self, stretches: Any, plastic_strains: Any = 0.0, envs: Any = None, *, dilations: Any = 0.0
    ) -> None:
        """Sets the deformation of the particles of the listed envs. `set_grains` with positions leaves them undeformed.

        Args:
            stretches: (listed, grain_count, 3, 3) or (grain_count, 3, 3) for all of them, symmetric and positive
                definite, as in `stretches`.
            plastic_strains: (listed, grain_count), (grain_count,) or one for all, >= 0.
            envs: None (all), an index, a list of indices or a mask.
            dilations: as plastic_strains, as in `dilations`; 0 where no material of the world dilates.

        Raises:
            ArgumentError: the world has no continuous matter, or a value that it cannot have.
        """
        if not self.continuous:
            raise ArgumentError("set_continuum: expected a world of continuous matter")
        listed = checks.envs(envs, self.env_count)
        shape = (self.env_count if listed is None else len(listed), self.grain_count)
        given = checks.doubles("stretches", stretches, (*shape[1:], 3, 3), (*shape, 3, 3))
        if not np.allclose(given, np.swapaxes(given, -1, -2), atol=1e-9):
            raise ArgumentError("stretches: expected symmetric matrices")
        rows, columns = _PACKED
        packed = np.broadcast_to(given[..., rows, columns], (*shape, 6))
        histories = [
            np.ascontiguousarray(np.broadcast_to(checks.floats(name, value, (), shape[1:], shape), shape), np.float32)
            for name, value in (("plastic_strains", plastic_strains), ("dilations", dilations))
        ]
        self.changes += 1
        self._core.set_continuum(listed, np.ascontiguousarray(packed), *histories)
