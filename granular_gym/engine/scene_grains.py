"""scene_grains.py: the grains of a scene: placed one by one or filled into a box."""

from __future__ import annotations

from typing import Any

import numpy as np

from granular_gym.base import checks
from granular_gym.engine.bounds import LARGEST_LENGTH, vector, vectors
from granular_gym.engine.clumps import ClumpGroup, group, random_orientations
from granular_gym.engine.lattice import LARGEST_GRAIN_COUNT, fill_box, fill_rectangle
from granular_gym.engine.scene_arrays import GrainGroup
from granular_gym.engine.scene_materials import SceneMaterials
from granular_gym.engine.sizes import SizeDistribution
from granular_gym.errors import ArgumentError
from granular_gym.shapes.clump import Clump

_NO_RADIUS = "expected a radius, neither the call nor the material gives one"


class SceneGrains(SceneMaterials):
    """The part of a `Scene` that knows grains: spheres, clumps of them, and shapes of the plane."""

    spacing: float | None
    _grains: list[GrainGroup]

    @property
    def grain_count(self) -> int:
        """Grains added so far."""
        return sum(len(group.radii) for group in self._grains)

    def add_grains(
        self,
        material: int | str,
        positions: Any,
        radius: Any = None,
        velocities: Any = None,
        angles: Any = None,
        orientations: Any = None,
        angular_velocities: Any = None,
    ) -> range:
        """Adds grains and returns their ids; of clumps those of all their spheres, clump after clump.

        Args:
            material: name or index.
            positions: (n, 3) centres, of clumps centres of mass [m]; in the plane (n, 2) centres of mass.
            radius: one for all or (n,), of clumps that of the ball that holds each [m]; None: that of the material.
            velocities: (n, 3), in the plane (n, 2) [m/s]; None: at rest.
            angles: of planar grains, one for all or (n,) [rad]; None: 0.
            orientations: of clumps, w x y z of the frame of their shape, one for all or (n, 4); None: not turned.
            angular_velocities: of clumps (n, 3) [rad/s]; None: 0.
        """
        index = self._material("material", material)
        points = vectors("positions", positions, None, self.planar)
        if self.planar and (self.materials[index].shape is None or radius is not None):
            raise ArgumentError("material: expected one with a shape and no radius, as the scene is planar")
        if angles is not None and not self.planar:
            raise ArgumentError("angles: spheres and clumps have none; clumps have orientations")
        shape = self.materials[index].shape
        clump = shape if isinstance(shape, Clump) else None
        if clump is None and (orientations is not None or angular_velocities is not None):
            raise ArgumentError("orientations, angular_velocities: expected a material whose shape is a Clump")
        if self.materials[index].continuum is not None or self.spacing is not None:
            raise ArgumentError("add_grains: a scene has grains or continuous matter; see add_continuum")
        count = len(points)
        first = self.grain_count
        if first + count > LARGEST_GRAIN_COUNT:
            raise ArgumentError(f"positions: expected at most {LARGEST_GRAIN_COUNT} grains, got {first + count}")
        if radius is None:
            radius = self.materials[index].radius
            if radius is None:
                raise ArgumentError(f"radius: {_NO_RADIUS}")
        radii = checks.floats("radius", radius, (), (count,))
        if radii.size and not 0.0 < float(radii.min()) <= float(radii.max()) <= LARGEST_LENGTH:
            worst = radii.min() if radii.min() <= 0.0 else radii.max()
            raise ArgumentError(f"radius: expected lengths > 0 up to {LARGEST_LENGTH:g} m, got {float(worst):g}")
        radii = np.array(np.broadcast_to(radii, (count,)))
        if velocities is None:
            motion = np.zeros((count, 3), np.float32)
        else:
            motion = vectors("velocities", velocities, count, self.planar)
        turned = np.array(
            np.broadcast_to(checks.angles("angles", 0.0 if angles is None else angles, (), (count,)), count)
        )
        if clump is None:
            self._grains.append(GrainGroup(index, points, radii, motion, turned))
            return range(first, first + count)
        return self._add_clumps(index, group(clump, radii, points, orientations, motion, angular_velocities))

    def fill_box(
        self,
        material: int | str,
        lower: Any,
        upper: Any,
        count: int | None = None,
        seed: int = 0,
        radius: Any = None,
        *,
        size_seed: int | None = None,
    ) -> range:
        """Fills a box with grains on a jittered lattice, bottom up and without overlap, and returns their ids.

        Clumps lie in any orientation, each in a ball of its own.

        Args:
            material: name or index.
            lower: corner of the box; grains stay inside with their surface (3,) [m].
            upper: other corner (3,) [m].
            count: number of grains, of clumps not of their spheres; None: as many as the lattice takes.
            seed: of jitter, radii and orientations, >= 0.
            radius: one for all, (smallest, largest) to draw them evenly [m], or a SizeDistribution; None: that of the
                material.
            size_seed: of the radii, >= 0: grain k of as many has the same radius whatever `seed` and box are, so that
                worlds of the one scene take states of the other. None: `seed` is that of the radii, too.

        Raises:
            ArgumentError: more grains than fit; the message says how many do. Or `count` is None and none fits.
        """
        index = self._material("material", material)
        if self.materials[index].continuum is not None:
            name = self.materials[index].name
            raise ArgumentError(f"material: expected one of grains, {name!r} is continuous matter; see add_continuum")
        low, high = (vector(n, v, self.planar).astype(np.float64) for n, v in (("lower", lower), ("upper", upper)))
        key = checks.seed("seed", seed)
        if size_seed is not None and self.planar:
            raise ArgumentError("size_seed: expected None, planar grains have the size of their shape")
        if radius is None or self.planar:
            radius = self.materials[index].radius
        if radius is None:
            what = "material: expected one with a shape, as the scene is planar"
            raise ArgumentError(what if self.planar else f"radius: {_NO_RADIUS}")
        if size_seed is not None:
            radius = _sizes(radius).seeded(checks.seed("size_seed", size_seed))
        if self.planar:
            points, angles = fill_rectangle(low[:2], high[:2], radius, count, key)
            return self.add_grains(index, points, angles=angles)
        points, radii = fill_box(low, high, radius, count, key)
        if isinstance(self.materials[index].shape, Clump):
            return self.add_grains(index, points, radii, orientations=random_orientations(key, len(points)))
        return self.add_grains(index, points, radii)

    def _add_clumps(self, material: int, clumps: ClumpGroup) -> range:
        first, spheres = self.grain_count, len(clumps.radii) * len(clumps.shape.radii)
        if first + spheres > LARGEST_GRAIN_COUNT:
            raise ArgumentError(f"positions: expected at most {LARGEST_GRAIN_COUNT} grains, got {first + spheres}")
        centers, sizes = (np.asarray(each, np.float32) for each in clumps.spheres())
        none = np.zeros(spheres, np.float32)
        self._grains.append(GrainGroup(material, centers, sizes, np.zeros((spheres, 3), np.float32), none, clumps))
        return range(first, first + spheres)


def _sizes(radius: Any) -> SizeDistribution:
    """The distribution of one radius, of an even range (smallest, largest), or as it was given."""
    if isinstance(radius, SizeDistribution):
        return radius
    ends = checks.floats("radius", radius, (), (2,)).astype(np.float64).reshape(-1)
    if not 0.0 < ends[0] <= ends[-1]:
        raise ArgumentError(f"radius: expected 0 < smallest <= largest, got {radius!r}")
    return SizeDistribution.uniform(float(ends[0]), float(ends[-1]))
