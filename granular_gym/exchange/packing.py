"""packing.py: spheres in a box, as files of other programs hold them: from a world, and to a scene."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from granular_gym.base import checks, names
from granular_gym.engine.bounds import BOUNDARIES
from granular_gym.engine.scene import Scene
from granular_gym.engine.world import World
from granular_gym.errors import ArgumentError
from granular_gym.exchange.snapshot import grain_fields

Floats = NDArray[np.float64]

#: most materials that a scene gets: each pair of type and density is one
LARGEST_MATERIALS = 256


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class Packing:
    """Spheres in a box, in order of their ids.

    Attributes:
        ids: int64 (n,), ascending; of a world the grain id + 1.
        types: int32 (n,) from 1; of a world the index of the material + 1.
        positions: float64 (n, 3) [m].
        radii: float64 (n,) [m].
        densities: float64 (n,) [kg/m3].
        velocities: float64 (n, 3) [m/s]; 0 where a file has none.
        angular_velocities: float64 (n, 3) [rad/s]; likewise.
        bounds: float64 (2, 3): lower and upper corner of the box [m].
        boundary: what happens at the faces, as `gg.Scene` takes it; only the axes of which something is known.
        step: time step of a dump; None: not known.
        time: [s]; None: not known.
    """

    ids: NDArray[np.int64]
    types: NDArray[np.int32]
    positions: Floats
    radii: Floats
    densities: Floats
    velocities: Floats
    angular_velocities: Floats
    bounds: Floats
    boundary: dict[str, Any] = dataclasses.field(default_factory=dict)
    step: int | None = None
    time: float | None = None

    def __len__(self) -> int:
        return len(self.ids)

    def __repr__(self) -> str:
        """Number of spheres, their types, and the box [m]."""
        low, high = ([round(float(x), 6) for x in corner] for corner in self.bounds)
        return f"Packing({len(self)} spheres, types={np.unique(self.types).tolist()}, {low} .. {high} m)"

    @property
    def _kinds(self) -> tuple[list[tuple[int, float]], NDArray[np.int64]]:
        """Every pair of type and density, and which of them each sphere is."""
        columns = np.column_stack([self.types.astype(np.float64), self.densities.astype(np.float32)])
        kinds, of_sphere = np.unique(columns, axis=0, return_inverse=True)
        return [(int(kind), float(density)) for kind, density in kinds], of_sphere.reshape(-1)

    @property
    def order(self) -> NDArray[np.int64]:
        """Which sphere each grain of `scene` is: those of one material follow each other."""
        return np.argsort(self._kinds[1], kind="stable")

    def scene(
        self,
        materials: Mapping[int, Mapping[str, Any]] | None = None,
        *,
        gravity: Any = None,
        bounds: Any = None,
        boundary: Mapping[str, Any] | None = None,
    ) -> Scene:
        """A scene with these spheres as grains, in the order of `order`.

        Each pair of type and density becomes a material "type1", where a type has several densities "type1_2500".
        Spheres beyond a periodic face are carried to the other one. A scene knows no spin; a world of it takes it:

            world.set_grains(angular_velocities=packing.angular_velocities[packing.order])

        Args:
            materials: by type, arguments of `Scene.add_material` but density and name: friction, restitution and so on,
                which packings do not tell.
            gravity: see `gg.Scene`.
            bounds: likewise; None: the box.
            boundary: by axis what is not as in `self.boundary`; axes that neither names are as in `gg.Scene`.

        Raises:
            ArgumentError: a value that makes no sense, a type that no sphere has, or more than 256 materials.
        """
        kinds, of_sphere = self._kinds
        if len(kinds) > LARGEST_MATERIALS:
            raise ArgumentError(
                f"densities: expected at most {LARGEST_MATERIALS} pairs of type and density, got {len(kinds)}"
            )
        given = {} if materials is None else checks.mapping("materials", materials)
        types = [kind for kind, _ in kinds]
        names.refuse_unknown("materials: type", given, sorted(set(types)))
        faces = {**self.boundary, **({} if boundary is None else checks.mapping("boundary", boundary))}
        scene = Scene(self.bounds if bounds is None else bounds, gravity=gravity, boundary=faces)
        if scene.planar:
            raise ArgumentError("bounds: expected corners (x, y, z), packings lie in space")
        positions = wrapped(self.positions, scene)
        for index, (kind, density) in enumerate(kinds):
            arguments = checks.mapping(f"materials[{kind}]", given.get(kind, {}))
            taken = [name for name in ("density", "name") if name in arguments]
            if taken:
                raise ArgumentError(f"materials[{kind}]: expected no {taken[0]}, it follows from the packing")
            name = f"type{kind}" if types.count(kind) == 1 else f"type{kind}_{density:.9g}"
            try:
                material = scene.add_material(density=density, name=name, **arguments)
            except TypeError as error:
                raise ArgumentError(f"materials[{kind}]: {error}") from None
            some = of_sphere == index
            scene.add_grains(material, positions[some], self.radii[some], self.velocities[some])
        return scene


def packing_of(world: World, env: int) -> Packing:
    """The spheres of an env: grains, those of clumps, or particles of continuous matter.

    The box is the bounds, larger where a grain has left through an open face.

    Raises:
        ArgumentError: the grains are shapes in the plane, or one is where no number says.
    """
    if world.planar:
        raise ArgumentError("world: expected grains in space, those of this one are shapes in the plane")
    fields = {name: values.astype(np.float64) for name, values in grain_fields(world, env).items()}
    positions = world.positions[env].astype(np.float64)
    for name, values in {"positions": positions, **fields}.items():
        if not np.isfinite(values).all():
            grain = int(np.argwhere(~np.isfinite(values))[0][0])
            raise ArgumentError(f"world: expected finite {name}, that of grain {grain} is not; has the env diverged?")
    arrays = world._frozen.arrays
    bounds = np.stack([arrays["lower"], arrays["upper"]]).astype(np.float64)
    if len(positions):
        opened = (arrays["boundary"] == BOUNDARIES["open"]).T
        around = np.stack([positions.min(axis=0), positions.max(axis=0)])
        bounds[0] = np.where(opened[0], np.minimum(bounds[0], around[0]), bounds[0])
        bounds[1] = np.where(opened[1], np.maximum(bounds[1], around[1]), bounds[1])
    faces = {number: name for name, number in BOUNDARIES.items()}
    return Packing(
        ids=np.arange(1, len(positions) + 1, dtype=np.int64),
        types=(fields["material"] + 1).astype(np.int32),
        positions=positions,
        radii=fields["radius"],
        densities=_densities(world, env, fields),
        velocities=fields["velocity"],
        angular_velocities=fields["angular_velocity"],
        bounds=bounds,
        boundary={
            axis: tuple(faces[int(face)] for face in pair) for axis, pair in zip("xyz", arrays["boundary"], strict=True)
        },
    )


def _densities(world: World, env: int, fields: Mapping[str, Floats]) -> Floats:
    """Of each sphere [kg/m3]; those of clumps, whose spheres may lie in each other, are such that masses are right."""
    if world.clump_count:
        shared: Floats = fields["mass"] / (4.0 / 3.0 * np.pi * fields["radius"] ** 3)
        return shared
    density: Floats = world.materials[1][env].astype(np.float64)[fields["material"].astype(np.int64)]
    return density


def wrapped(positions: Floats, scene: Scene) -> NDArray[np.float32]:
    """Positions as a scene takes them, single precision, carried to the other face where a periodic one is passed."""
    lower, upper = scene.bounds.astype(np.float64)
    moved = positions.copy()
    for axis in range(3):
        if scene.boundary[axis, 0] < BOUNDARIES["cyclic"]:
            continue
        beyond = (moved[:, axis] < lower[axis]) | (moved[:, axis] >= upper[axis])
        length = upper[axis] - lower[axis]
        moved[beyond, axis] = lower[axis] + np.mod(moved[beyond, axis] - lower[axis], length)
    found: NDArray[np.float32] = moved.astype(np.float32)
    # rounding may end on the upper face, which is the lower one
    for axis in range(3):
        if scene.boundary[axis, 0] >= BOUNDARIES["cyclic"]:
            found[found[:, axis] >= scene.bounds[1, axis], axis] = scene.bounds[0, axis]
    return found
