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
    def bodies(self) -> dict[str, int]:
        """Indices of the clumps that are bodies (`Scene.add_body`), by name."""
        return dict(self._frozen.bodies)

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
        """Velocity of the centre of mass [m/s] and angular velocity in the axes of the world [rad/s], float64
        (env_count, clump_count, 6).

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
        masses: NDArray[np.float64] = self._core.get_materials()[1][:, material] * clumps["shape"][:, 0]
        return masses

    @property
    def grain_masses(self) -> NDArray[np.float64]:
        """Mass of each grain, float64 (env_count, grain_count) [kg], of planar grains per metre of depth [kg/m]; the
        spheres of a clump share its mass evenly."""
        if self.clump_count:
            of_grain = self.clump_of_grain
            shares: NDArray[np.float64] = (self.clump_masses / np.bincount(of_grain))[:, of_grain]
            return shares
        arrays = self._frozen.arrays
        density = self._core.get_materials()[1].astype(np.float64)[:, arrays["grain_material"]]
        planar = arrays["planar"]
        if planar is None:
            size = 4.0 / 3.0 * np.pi * arrays["radius"].astype(np.float64) ** 3
        else:  # areas
            size = planar["outline_floats"][planar["material_outline"][arrays["grain_material"]], 1].astype(np.float64)
        masses: NDArray[np.float64] = density * size
        return masses

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
        turned = self._of_clumps("poses", poses, 7, count)
        motion = self._of_clumps("velocities", velocities, 6, count)
        if turned is not None:
            lengths = np.linalg.norm(turned[..., 3:], axis=-1, keepdims=True)
            if (lengths < 1e-6).any():
                raise ArgumentError("poses: expected quaternions w x y z in columns 3 to 6, got one of no length")
            unit = np.concatenate([turned[..., :3], turned[..., 3:] / lengths], axis=-1)
            turned = np.ascontiguousarray(to_axes(unit, clumps["axes"]))
        self.changes += 1
        self._core.set_clumps(listed, turned, motion)

    def _of_clumps(self, name: str, value: Any, width: int, count: int) -> NDArray[np.float64] | None:
        """Checked values of each clump of the listed envs (listed, clump_count, width)."""
        if value is None:
            return None
        shape = (count, self.clump_count, width)
        return np.ascontiguousarray(np.broadcast_to(checks.doubles(name, value, shape[1:], shape), shape))

    def set_clump_wrenches(self, wrenches: Any, envs: Any = None) -> None:
        """Sets the force and torque that act on clumps from now on, besides gravity, drag and contacts; at first none.

        Args:
            wrenches: force at the centre of mass [N] and torque [N m] in the axes of the world, (listed, clump_count,
                6) or (clump_count, 6) for all of them.
            envs: None (all), an index, a list of indices or a mask.

        Raises:
            ArgumentError: the world has no clumps, or a value that is not finite.
        """
        self._clumps()
        listed = checks.envs(envs, self.env_count)
        given = self._of_clumps("wrenches", wrenches, 6, self.env_count if listed is None else len(listed))
        if given is None:
            raise ArgumentError("wrenches: expected numbers, got None")
        self.changes += 1
        self._core.set_clump_wrenches(listed, given)

    @property
    def clump_wrenches(self) -> NDArray[np.float64]:
        """What `set_clump_wrenches` set, float64 (env_count, clump_count, 6).

        Raises:
            ArgumentError: the world has no clumps.
        """
        self._clumps()
        return self._core.get_clumps()[2]
