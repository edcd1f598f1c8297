"""scene.py: the description a world is built from: bounds and air, and the whole of what its parts add.

The parts: scene_materials.py, scene_grains.py, scene_continuum.py, scene_bonds.py, scene_tools.py (with cameras),
scene_bodies.py. A Scene is plain data in Python; nothing is simulated here. `Scene.freeze` turns it into the arrays
that the engine takes, and `Scene.build` makes a world of them. Every value is checked where it is given.
"""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from granular_gym.base import checks
from granular_gym.engine.bonds import bond_arrays
from granular_gym.engine.bounds import boundary_faces, corners, vector
from granular_gym.engine.clumps import clump_arrays
from granular_gym.engine.continuum import Continuum, continuum_arrays, warn_of_thin_tools
from granular_gym.engine.frozen import FrozenScene, Mounted
from granular_gym.engine.materials import NO_AIR, Air, Material, meet
from granular_gym.engine.overlaps import judge, judge_matter
from granular_gym.engine.scene_arrays import (
    GrainGroup,
    Tool,
    camera_arrays,
    grain_arrays,
    largest_diameter,
    mass_arrays,
    shape_arrays,
    tool_arrays,
)
from granular_gym.engine.scene_bodies import SceneBodies
from granular_gym.engine.scene_bonds import SceneBonds
from granular_gym.engine.scene_continuum import SceneContinuum
from granular_gym.engine.solver import Solver
from granular_gym.engine.world import World
from granular_gym.errors import ArgumentError
from granular_gym.shapes.pair_field import PairField


class Scene(SceneBodies, SceneBonds, SceneContinuum):
    """The description of one env.

    With corners of two numbers the scene is planar: its grains are shapes (`Shape2D`) in the plane z = 0, positions and
    velocities are given as (x, y), tools are cut by that plane, masses are per metre of depth, and y is up. What a
    world reads and sets has three components as always, z being 0.

    Args:
        bounds: ((x0, y0, z0), (x1, y1, z1)) lower and upper corner [m], finite; or ((x0, y0), (x1, y1)).
        gravity: (3,) or, in the plane, (2,) [m/s2]; None: 9.81 downwards.
        boundary: what happens at the faces of x, y, z: "wall" closes a face, "open" lets grains leave (they are counted
            as escaped), "cyclic" carries them to the other face without contacts across, "periodic" with contacts
            across. One name for both faces or a pair; cyclic and periodic only for both. Default: walls all round, open
            at the top. Tools have no images beyond a face, as grains and bodies have: one that reaches across a
            periodic face is added twice, one length of the bounds apart; cameras draw no images.
        wall_material: name or index of a material for the walls; None: the first material. May be set later as an
            attribute.
        air: what slows grains in flight; None: nothing does. May be set later as an attribute.

    Raises:
        ArgumentError: a value that makes no sense; the message names it.
    """

    def __init__(
        self,
        bounds: Any,
        gravity: Any = None,
        boundary: Mapping[str, Any] | None = None,
        wall_material: int | str | None = None,
        air: Air | None = None,
    ) -> None:
        given = corners(bounds)
        self.planar: bool = given.shape[1] == 2
        half = np.float32(0.5) * (given[1] - given[0]).min()
        # as deep as it is wide or high: grains never leave the plane
        self.bounds: NDArray[np.float32] = np.column_stack([given, [-half, half]]) if self.planar else given
        if gravity is None:
            gravity = (0.0, -9.81) if self.planar else (0.0, 0.0, -9.81)
        self.gravity: NDArray[np.float32] = vector("gravity", gravity, self.planar)
        if float(np.abs(self.gravity).max()) > 1e6:
            raise ArgumentError(f"gravity: expected at most 1e6 m/s2, got {self.gravity.tolist()}")
        self.boundary: NDArray[np.int32] = boundary_faces(boundary, self.planar)
        if wall_material is not None and not isinstance(wall_material, str):
            checks.integer("wall_material", wall_material, 0)
        self.wall_material = wall_material
        self.air: Air | None = None if air is None else checks.instance("air", air, Air)
        self.materials: list[Material] = []
        self.tools: list[Tool] = []
        self.cameras: dict[str, Mounted] = {}
        self.bodies: dict[str, int] = {}
        self._pairs: dict[tuple[int, int], dict[str, float]] = {}
        self._fields: dict[tuple[str, str], PairField] = {}
        self._grains: list[GrainGroup] = []
        self._bonds: list[tuple[NDArray[np.int32], NDArray[np.float32]]] = []
        self._bonded: set[tuple[int, int]] = set()
        #: of the nodes of the grid of continuous matter [m]; None: there is none
        self.spacing: float | None = None

    def __repr__(self) -> str:
        """Bounds [m], number of grains, and names of what was added."""
        axes = 2 if self.planar else 3
        low, high = ([round(float(x), 6) for x in corner[:axes]] for corner in self.bounds)
        materials, tools = [each.name for each in self.materials], [each.name for each in self.tools]
        return (
            f"Scene({low} .. {high} m, grain_count={self.grain_count}, materials={materials}, tools={tools}, "
            f"cameras={list(self.cameras)})"
        )

    # ---- as continuous matter ----

    def as_continuum(
        self, material: int | str, continuum: Continuum, points: Any, solid_fraction: float, spacing: float
    ) -> Scene:
        """The same scene with continuous matter in place of its grains, which each become a particle.

        Args:
            material: name or index of that of the grains; there are no others.
            continuum: what it is made of instead. Friction with tools and walls stays.
            points: places of the particles (n, 3) [m], one for each grain in their order: where they lie at rest.
            solid_fraction: share of space that grains at rest fill, above 0, at most 1: the density of the matter is
                that of the grains times this, and a particle has the mass of its grain where `spacing` is twice the
                cube root of its share of space.
            spacing: of the nodes of the grid [m].

        Raises:
            ArgumentError: a value that makes no sense; grains of another material, clumps, or bonds.
        """
        index = self._material("material", material)
        if any(each.material != index or each.clumps is not None for each in self._grains):
            raise ArgumentError("material: expected that of all grains of the scene, which are single spheres")
        if self._bonds:
            raise ArgumentError("as_continuum: expected a scene without bonds")
        places = checks.floats("points", points, (self.grain_count, 3))
        share = checks.number("solid_fraction", solid_fraction, 0.0, 1.0, above=True)
        self._check_continuum(continuum, None, None, False)
        new = copy.copy(self)
        new.tools, new.cameras, new.bodies = list(self.tools), dict(self.cameras), dict(self.bodies)
        new._pairs, new._fields = {pair: dict(each) for pair, each in self._pairs.items()}, dict(self._fields)
        new.materials, new._grains = list(self.materials), []
        before = self.materials[index]
        new.materials[index] = dataclasses.replace(
            before, density=share * before.density, radius=None, shape=None, continuum=continuum
        )
        new.add_continuum(index, points=places, spacing=spacing)
        return new

    # ---- to the engine ----

    def freeze(self) -> FrozenScene:
        """The arrays a world is built from; later changes of the scene do not reach them."""
        materials = list(self.materials)
        if self.wall_material is not None:
            wall = self._material("wall_material", self.wall_material)
        else:
            wall = 0
        if not materials:
            # a scene without grains and tools still has walls
            materials = [Material(1000.0, None, 0.5, 0.0, 0.3, "wall")]
            pair = np.array([[meet(materials[0], materials[0], {})]], np.float32)
        else:
            every = range(len(materials))
            pair = np.array([[self.pair(a, b) for b in every] for a in every], np.float32)
        if self.air is not None:
            checks.instance("air", self.air, Air)
        arrays: dict[str, Any] = {
            "lower": self.bounds[0].copy(),
            "upper": self.bounds[1].copy(),
            "boundary": self.boundary.copy(),
            "wall_material": wall,
            "gravity": self.gravity.copy(),
            "air": np.array((self.air or NO_AIR).columns(), np.float32),
            "density": np.array([material.density for material in materials], np.float32),
            "material_fixed": np.array([material.fixed for material in materials], np.int32),
            "pair": pair,
            **grain_arrays(self._grains),
            "planar": shape_arrays(materials, self._fields, self._grains) if self.planar else None,
            "clumps": clump_arrays([each.clumps or each for each in self._grains]),
            "continuum": continuum_arrays(self.spacing, [each.continuum for each in materials]),
            "table": None,
            "bonds": bond_arrays(self._bonds, self.grain_count),
            **tool_arrays(self.tools, largest_diameter(self._grains)),
            **mass_arrays(self.tools, self.bounds, self.boundary),
            **camera_arrays(self.cameras.values()),
        }
        for array in arrays.values():
            if isinstance(array, np.ndarray):
                array.flags.writeable = False
        tool_names = {tool.name: k for k, tool in enumerate(self.tools)}
        material_names = tuple(material.name for material in materials)
        return FrozenScene(arrays, tool_names, dict(self.cameras), material_names, dict(self.bodies))

    def fingerprint(self) -> str:
        """Hash of everything this scene gives to a world."""
        return self.freeze().digest()

    def build(
        self,
        env_count: int = 1,
        device: str = "auto",
        solver: Solver | None = None,
        num_threads: int | None = None,
        overlaps: str = "error",
    ) -> World:
        """Makes a world of `env_count` isolated copies of the scene.

        Args:
            env_count: number of copies.
            device: "cpu", "cuda" (the first GPU) or "cuda:1"; "auto": the first GPU that works, else the CPU, or what
                the environment variable GG_DEVICE names.
            solver: None: the defaults.
            num_threads: threads of a step; they change no result. None: one for each env, or one for each 20,000 grains
                of all envs (each 10,000 in other modes than "gauss_seidel"), whichever gives more, and at most one per
                core that the process may use: the least of its affinity, the quota of its control group (cgroup v1 or
                v2, rounded up) and OMP_NUM_THREADS; one in daemon worker processes. More threads than cores do not
                work at a time. What they bring: docs/threads.md.
            overlaps: what to do where grains lie in each other, in a tool or in a wall by more than 10 % of a diameter,
                or wholly beyond a cyclic or periodic face, or where bodies of continuous matter share space: "error"
                refuses the scene, "warn" builds it with an OverlapWarning, "ignore" does not look. Settled beds overlap
                by a few percent and pass; so do fixed grains in each other and in tools, and grains beyond an open
                face. See `World.overlaps`, which does not know bodies of continuous matter.

        Raises:
            ArgumentError: a value outside what the engine accepts.
            OverlapError: see `overlaps`.
            BackendError: the device is missing.
            MemoryError: not enough memory.
        """
        checks.choice("overlaps", overlaps, ["error", "warn", "ignore"])
        frozen = self.freeze()
        warn_of_thin_tools(
            self.spacing, [each.continuum for each in self.materials], [(each.name, each.sdf) for each in self.tools]
        )
        world = World(frozen, env_count, device, solver, num_threads)
        if overlaps != "ignore":
            try:
                # all envs are alike
                judge(world.overlaps(env=0), frozen, overlaps == "error")
                if self.spacing is not None:
                    judge_matter(self._grains, self.materials, overlaps == "error")
            except BaseException:
                world.close()
                raise
        return world
