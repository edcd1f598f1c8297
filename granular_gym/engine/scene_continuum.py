"""scene_continuum.py: the continuous matter of a scene."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from granular_gym.base import checks
from granular_gym.engine.bounds import vector
from granular_gym.engine.continuum import check_crowd, fill, fill_heights, fill_solid, sphere_of
from granular_gym.engine.lattice import LARGEST_GRAIN_COUNT
from granular_gym.engine.scene_arrays import GrainGroup
from granular_gym.engine.scene_grains import SceneGrains
from granular_gym.errors import ArgumentError
from granular_gym.shapes.mesh import Mesh
from granular_gym.shapes.sdf import Sdf


class SceneContinuum(SceneGrains):
    """The part of a `Scene` that knows continuous matter, whose particles are its grains."""

    bounds: NDArray[np.float32]
    spacing: float | None

    def add_continuum(
        self,
        material: int | str,
        lower: Any = None,
        upper: Any = None,
        *,
        spacing: float | None = None,
        shape: Mesh | Sdf | None = None,
        points: Any = None,
        heights: Any = None,
        particles_per_cell: float = 8,
        velocity: Any = (0.0, 0.0, 0.0),
    ) -> range:
        """Adds a body of continuous matter and returns the ids of its particles, which are the scene's grains.

        Matter is moved by the material point method (docs/continuum.md). A scene has grains or continuous matter;
        bodies of it that meet stick to each other as one.

        Args:
            material: name or index of one with a `continuum`.
            lower: corner of a box (3,) [m].
            upper: other corner (3,) [m].
            spacing: of the nodes of the grid [m], one for a scene: given with its first body.
            shape: in place of a box a solid: a Sdf, or a closed Mesh; its mass is that of its volume.
            points: in place of a box the places (n, 3) of its particles [m], each of which stands for its share of a
                cell; they are about spacing / cube root of particles_per_cell apart.
            heights: (rows, columns) [m], none above the box: it is filled up to these alone; they spread evenly over
                its x (columns) and y (rows), edges included.
            particles_per_cell: 1 to 1000; 8 is usual, and more make curved surfaces smoother.
            velocity: (3,) [m/s].

        Raises:
            ArgumentError: a value that makes no sense: matter that is thinner than a particle, or outside the bounds,
                points so near each other that it is more than twice as dense as its material.
            MeshError: the mesh is not closed.
        """
        index = self._material("material", material)
        if self.materials[index].continuum is None:
            raise ArgumentError(f"material: expected one with a continuum, {self.materials[index].name!r} has none")
        if any(self.materials[each.material].continuum is None for each in self._grains):
            raise ArgumentError("add_continuum: expected a scene without grains, this one has some")
        if [lower is not None and upper is not None, shape is not None, points is not None].count(True) != 1:
            raise ArgumentError("lower, upper, shape, points: expected both corners of a box, or a shape, or points")
        if (shape is not None or points is not None) and not (lower is None and upper is None):
            raise ArgumentError("lower, upper: expected none beside a shape or points, got one")
        if heights is not None and lower is None:
            raise ArgumentError("heights: expected with a box alone, got them with a shape or points")
        if spacing is None and self.spacing is None:
            raise ArgumentError("spacing: expected a length with the first body of continuous matter")
        h = self.spacing if spacing is None else checks.number("spacing", spacing, 1e-5, 1e3)
        assert h is not None
        if self.spacing is not None and h != self.spacing:
            raise ArgumentError(f"spacing: expected that of the scene, {self.spacing:g} m, got {h:g}")
        per_cell = checks.number("particles_per_cell", particles_per_cell, 1.0, 1000.0)
        distance = h / float(np.cbrt(per_cell))
        if shape is not None:
            if not isinstance(shape, (Mesh, Sdf)):
                raise ArgumentError(f"shape: expected a Mesh or an Sdf, got {type(shape).__name__}")
            places, radius = fill_solid(shape, distance)
        elif points is not None:
            places, radius = checks.floats("points", points, (None, 3)).astype(np.float64), sphere_of(distance)
            if len(places) == 0:
                raise ArgumentError("points: expected some, got none")
        else:
            low, high = (vector(n, v, self.planar).astype(np.float64) for n, v in (("lower", lower), ("upper", upper)))
            if heights is None:
                places, radius = fill(low, high, distance)
            else:
                places, radius = fill_heights(low, high, heights, distance)
        if not ((places > self.bounds[0]) & (places < self.bounds[1])).all():
            raise ArgumentError("lower, upper, shape, points: expected matter within the bounds, some of it is not")
        if points is not None:
            check_crowd(places, radius, distance)
        first = self.grain_count
        if first + len(places) > LARGEST_GRAIN_COUNT:
            raise ArgumentError(f"spacing: expected at most {LARGEST_GRAIN_COUNT} particles, got {first + len(places)}")
        motion = np.broadcast_to(checks.vector("velocity", velocity), places.shape)
        radii, none = np.full(len(places), radius, np.float32), np.zeros(len(places), np.float32)
        self._grains.append(GrainGroup(index, places.astype(np.float32), radii, np.array(motion, np.float32), none))
        self.spacing = h
        return range(first, first + len(places))
