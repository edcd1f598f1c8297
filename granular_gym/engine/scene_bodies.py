"""scene_bodies.py: the bodies of a scene: clumps with a mass of their own, some with a tool for their surface."""

from __future__ import annotations

import dataclasses
import os
from typing import Any

import numpy as np

from granular_gym.base import checks
from granular_gym.engine.clumps import group
from granular_gym.engine.scene_grains import SceneGrains
from granular_gym.engine.scene_tools import SceneTools
from granular_gym.errors import ArgumentError
from granular_gym.shapes.clump import Clump
from granular_gym.shapes.covered import covered
from granular_gym.shapes.mesh import Mesh
from granular_gym.shapes.sdf import Sdf


class SceneBodies(SceneTools, SceneGrains):
    """The part of a `Scene` that knows bodies."""

    bodies: dict[str, int]

    def add_body(
        self,
        shape: Clump | Mesh | Sdf,
        mass: float,
        *,
        inertia: Any = None,
        name: str | None = None,
        material: int | str | None = None,
        pose: Any = (0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0),
        velocity: Any = (0.0, 0.0, 0.0),
        angular_velocity: Any = (0.0, 0.0, 0.0),
        spheres: int | None = None,
    ) -> int:
        """Adds a rigid body that grains, tools, walls and other bodies push, and returns the index of its clump.

        It falls, floats, rolls and is pushed as a clump of its own: its spheres are grains with ids, its motion is read
        and set as that of other clumps (`World.clump_poses`), forces on it by `World.set_clump_wrenches`.
        `World.bodies` gives the index by name.

        A Mesh or an Sdf is met as it is: its field is a tool of the body's name that goes with the body (rows
        for it in `tool_poses` are NaN; `World.wrenches` has the force on its field and the torque about the centre of
        mass). Grains touch the field. Walls, tools and the fields of other bodies are touched by spheres under its
        surface (`Clump.under_surface`; Bell, Yu, Mucha 2005, section 3.3): edges and corners are rounded by their
        radius there. Bodies with fields are for mode "gauss_seidel". A Clump has no field: its spheres touch
        everything.

        Args:
            shape: a solid in the body's frame; of a Clump its spheres.
            mass: [kg], > 0.
            inertia: about the centre of mass in the axes of the shape, tensor (3, 3) or principal moments (3,) [kg m2];
                None: the shape is filled evenly.
            name: for people; unique among bodies.
            material: name or index; None: the first one. Its friction and restitution are those of the surface; a
                change of its density changes the mass in proportion.
            pose: x y z of the centre of mass, qw qx qy qz of the shape's frame [m].
            velocity: of the centre of mass (3,) [m/s].
            angular_velocity: (3,) [rad/s].
            spheres: how many lie under the surface of a Mesh or an Sdf, 4 .. 1024; None: 300. A Clump has its own.

        Raises:
            ArgumentError: a value that makes no sense: a mass or an inertia that no body has, a field without an end.
            MeshError: the mesh is not closed.
        """
        name = f"body{len(self.bodies)}" if name is None else checks.text("name", name)
        if name in self.bodies:
            raise ArgumentError(f"name: expected a new name, {name!r} is taken by another body")
        if self.planar:
            raise ArgumentError("add_body: expected a scene in space, this one is planar")
        field: Sdf | None = None
        if isinstance(shape, (Mesh, Sdf)):
            solid, field = covered(shape, 300 if spheres is None else spheres)
        elif isinstance(shape, Clump):
            if spheres is not None:
                raise ArgumentError(f"spheres: expected None, a Clump has its own, got {spheres!r}")
            solid = shape
        else:
            named = isinstance(shape, (str, os.PathLike))
            hint = "gg.load_mesh(path) reads a file" if named else "gg.Mesh(vertices, faces) makes one of triangles"
            raise ArgumentError(f"shape: expected a Clump, a Mesh or an Sdf, got {type(shape).__name__}; {hint}")
        made_of = self._material("material", 0 if material is None else material)
        if self.materials[made_of].fixed:
            raise ArgumentError("material: expected one that is not fixed, bodies have a mass")
        density = self.materials[made_of].density
        heavy = checks.number("mass", mass, 0.0, above=True)
        tensor = None if inertia is None else checks.doubles("inertia", inertia, (3,), (3, 3))
        if tensor is not None:
            solid.with_mass_properties(heavy, tensor)  # its message has the numbers as they were given
            tensor = tensor / density
        solid = solid.with_mass_properties(heavy / density, tensor)
        at = checks.pose("pose", pose).astype(np.float64)
        motion = checks.vector("velocity", velocity)[None]
        spin = checks.vector("angular_velocity", angular_velocity)[None]
        index = sum(len(each.radii) if each.clumps is None else len(each.clumps.radii) for each in self._grains)
        one = group(solid, [solid.radius], at[None, :3], at[None, 3:], motion, spin)
        if field is not None:
            one = dataclasses.replace(one, surface=self.add_tool(field, name, made_of, at))
        self._add_clumps(made_of, one)
        self.bodies[name] = index
        return index
