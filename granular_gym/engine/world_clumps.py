"""world_clumps.py: the clumps of a world: read and set."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from granular_gym import _core
from granular_gym.base import checks
from granular_gym.engine.clumps import to_axes, to_frames
from granular_gym.engine.frozen import FrozenScene
from granular_gym.errors import ArgumentError


class WorldClumps:
    """The part of a `World` that knows clumps: rigid unions of grains. A grain that is of no union is a clump of one.

    A world has clumps where a material of its grains has a `Clump` for its shape.
    """

    _core: _core.World
    _frozen: FrozenScene
    env_count: int
    changes: int

    def _clumps(self) -> dict[str, Any]:
        clumps: dict[str, Any] | None = self._frozen.arrays["clumps"]
        if clumps is None:
            raise ArgumentError("clumps: expected a world that has some, the grains of this one are lone")
        return clumps

    @property
    def clump_count(self) -> int:
        """Clumps of an env, lone spheres among them; 0: all grains are lone."""
        clumps = self._frozen.arrays["clumps"]
        return 0 if clumps is None else len(clumps["shape"])

    @property
    def clump_of_grain(self) -> NDArray[np.int32]:
        """The clump of each grain (grain_count,).

        Raises:
            ArgumentError: the world has no clumps.
        """
        first = self._clumps()["first"]
        return np.repeat(np.arange(len(first) - 1, dtype=np.int32), np.diff(first))

    @property
    def clump_poses(self) -> NDArray[np.float64]:
        """Centre of mass and orientation w x y z of the frame of each clump, float64 (env_count, clump_count, 7) [m].

        Raises:
            ArgumentError: the world has no clumps.
        """
        return to_frames(self._core.get_clumps()[0], self._clumps()["axes"])

    @property
    def clump_velocities(self) -> NDArray[np.float64]:
        """Velocity of the centre of mass and angular velocity in the axes of the world, float64 (env_count, clump_count,
        6) [m/s], [rad/s].

        Raises:
            ArgumentError: the world has no clumps.
        """
        self._clumps()
        return self._core.get_clumps()[1]

    @property
    def clump_masses(self) -> NDArray[np.float64]:
        """Mass of each clump, float64 (env_count, clump_count) [kg].

        Raises:
            ArgumentError: the world has no clumps.
        """
        clumps = self._clumps()
        material = self._frozen.arrays["grain_material"][clumps["first"][:-1]]
        return self._core.get_materials()[1].astype(np.float64)[:, material] * clumps["shape"][:, 0]

    def set_clumps(self, poses: Any = None, velocities: Any = None, envs: Any = None) -> None:
        """Sets what is given of the clumps of the listed envs; their stored impulses are dropped and `diverged` is
        cleared.

        Args:
            poses: (listed, clump_count, 7) or (clump_count, 7) for all of them, as in `clump_poses`.
            velocities: (.., 6) likewise, as in `clump_velocities`.
            envs: None (all), an index, a list of indices or a mask.

        Raises:
            ArgumentError: the world has no clumps, or a value that none can have.
        """
        clumps = self._clumps()
        listed = checks.envs(envs, self.env_count)
        count = self.env_count if listed is None else len(listed)
        given = []
        for name, value, width in (("poses", poses, 7), ("velocities", velocities, 6)):
            shape = (self.clump_count, width)
            array = None if value is None else checks.doubles(name, value, shape, (count, *shape))
            given.append(None if array is None else np.ascontiguousarray(np.broadcast_to(array, (count, *shape))))
        if given[0] is not None:
            lengths = np.linalg.norm(given[0][..., 3:], axis=-1, keepdims=True)
            if (lengths < 1e-6).any():
                raise ArgumentError("poses: expected quaternions w x y z in columns 3 to 6, got one of no length")
            unit = np.concatenate([given[0][..., :3], given[0][..., 3:] / lengths], axis=-1)
            given[0] = np.ascontiguousarray(to_axes(unit, clumps["axes"]))
        self.changes += 1
        self._core.set_clumps(listed, *given)
