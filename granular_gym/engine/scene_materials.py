"""scene_materials.py: the materials of a scene, and how pairs of them and of their shapes meet."""

from __future__ import annotations

from typing import Any

from granular_gym.base import checks, names
from granular_gym.engine.continuum import CONTINUA, Continuum
from granular_gym.engine.materials import Material, Pair, meet, pair_value
from granular_gym.errors import ArgumentError
from granular_gym.shapes.clump import Clump
from granular_gym.shapes.pair_field import PairField
from granular_gym.shapes.shape2d import Shape2D


class SceneMaterials:
    """The part of a `Scene` that knows materials."""

    planar: bool
    materials: list[Material]
    _pairs: dict[tuple[int, int], dict[str, float]]
    _fields: dict[tuple[str, str], PairField]

    def add_material(
        self,
        *,
        density: float,
        radius: float | None = None,
        friction: float = 0.5,
        restitution: float = 0.0,
        rolling_friction: float | None = None,
        name: str | None = None,
        twisting_friction: float | None = None,
        cohesion: float = 0.0,
        cohesion_range: float = 0.0,
        shape: Shape2D | Clump | None = None,
        fixed: bool = False,
        continuum: Continuum | None = None,
    ) -> int:
        """Adds a material and returns its index.

        Args:
            density: [kg/m3], in the plane [kg/m2]; > 0.
            radius: of grains that are given none of their own [m], > 0; None for tools, and with a shape: that of the
                shape, for a `Clump` of the ball that holds it.
            friction: Coulomb coefficient, >= 0. A pair of materials takes the geometric mean.
            restitution: normal speed after over before an impact, 0 .. 1. A pair takes the larger one.
            rolling_friction: rolling torque over normal force and effective radius, >= 0; None: 0.3, with a shape 0, as
                that is what resists rolling. Geometric mean. Planar grains take none.
            name: for people; unique.
            twisting_friction: torque about the normal over the same, >= 0; None: like rolling friction, and both
                bounded together. Geometric mean.
            cohesion: largest attraction over effective radius [N/m], >= 0: moist grains; see `capillary_cohesion` and
                `cohesion_of_force`. Geometric mean, so that a dry material attracts nothing.
            cohesion_range: surfaces this far apart attract no more [m]; with cohesion from 0.001 to 1 radii of the
                smallest grain. A pair takes the larger one.
            shape: of its grains: in the plane a Shape2D, in space a Clump, a rigid union of spheres. Every sphere then
                is a grain with an id; World.clump_poses and its like tell of the unions.
            fixed: its grains have infinite mass: they stay, or move at the velocity they are given. They push other
                grains, pass through tools, walls and each other, and have no kinetic energy. Tools take no notice.
            continuum: what it is where it is no grains but continuous matter: `Elastic`, `VonMises` or `DruckerPrager`;
                see `add_continuum`. Its friction is that with tools and walls.
        """
        index = len(self.materials)
        wanted = Shape2D if self.planar else Clump
        if shape is not None and not isinstance(shape, wanted):
            where = "the plane, as the bounds have two axes" if self.planar else "space, as the bounds have three axes"
            raise ArgumentError(f"shape: expected a {wanted.__name__} or None in {where}, got {type(shape).__name__}")
        if shape is not None and radius is not None:
            raise ArgumentError("radius: a grain with a shape has that of the shape")
        if self.planar and (rolling_friction or twisting_friction or cohesion):
            raise ArgumentError("rolling_friction, twisting_friction, cohesion: planar grains have none")
        if checks.flag("fixed", fixed) and self.planar and shape is None:
            raise ArgumentError("fixed: expected a shape along with it, as the scene is planar")
        if continuum is not None:
            self._check_continuum(continuum, radius, shape, bool(fixed))
        if rolling_friction is None:
            rolling_friction = 0.0 if self.planar or shape is not None else 0.3
        name = f"material{index}" if name is None else checks.text("name", name)
        if any(material.name == name for material in self.materials):
            raise ArgumentError(f"name: expected a new name, {name!r} is taken by another material")
        material = Material(
            density=checks.number("density", density, 0.0, above=True),
            radius=shape.circumradius
            if isinstance(shape, Shape2D)
            else shape.radius
            if isinstance(shape, Clump)
            else None
            if radius is None
            else checks.number("radius", radius, 0.0, above=True),
            friction=pair_value("friction", friction),
            restitution=pair_value("restitution", restitution),
            rolling_friction=pair_value("rolling_friction", rolling_friction),
            name=name,
            twisting_friction=None if twisting_friction is None else pair_value("twisting_friction", twisting_friction),
            cohesion=pair_value("cohesion", cohesion),
            cohesion_range=pair_value("cohesion_range", cohesion_range),
            shape=shape,
            fixed=bool(fixed),
            continuum=continuum,
        )
        if material.cohesion > 0.0 and material.cohesion_range == 0.0:
            raise ArgumentError("cohesion_range: expected a length > 0 where there is cohesion, got 0")
        self.materials.append(material)
        return index

    def _check_continuum(self, continuum: Any, radius: Any, shape: Any, fixed: bool) -> None:
        if not isinstance(continuum, CONTINUA):
            wanted = ", ".join(each.__name__ for each in CONTINUA)
            raise ArgumentError(f"continuum: expected one of {wanted}, got {type(continuum).__name__}")
        if self.planar or radius is not None or shape is not None or fixed:
            raise ArgumentError("continuum: expected no radius, shape or fixed beside it, and a scene in space")

    def set_pair(
        self,
        first: int | str,
        second: int | str,
        *,
        friction: float | None = None,
        restitution: float | None = None,
        rolling_friction: float | None = None,
        twisting_friction: float | None = None,
        cohesion: float | None = None,
        cohesion_range: float | None = None,
    ) -> None:
        """Sets how two materials (or one with itself) meet, instead of what follows from each; None leaves a value.

        Materials are given by name or index, values as in `add_material`. Twisting friction follows rolling friction
        until it is given.
        """
        a, b = self._material("first", first), self._material("second", second)
        pair = self._pairs.setdefault((min(a, b), max(a, b)), {})
        given = {
            "friction": friction,
            "restitution": restitution,
            "rolling_friction": rolling_friction,
            "twisting_friction": twisting_friction,
            "cohesion": cohesion,
            "cohesion_range": cohesion_range,
        }
        pair.update({name: pair_value(name, value) for name, value in given.items() if value is not None})

    def pair(self, first: int | str, second: int | str) -> Pair:
        """How two materials meet."""
        a, b = self._material("first", first), self._material("second", second)
        return meet(self.materials[a], self.materials[b], self._pairs.get((min(a, b), max(a, b)), {}))

    def set_pair_field(self, field: PairField) -> None:
        """Uses this field for the pair of shapes it was built for, instead of the default (`PairField.build`).

        Args:
            field: of two shapes of this scene; the order does not matter to the scene, and it is turned as needed.
        """
        if not isinstance(field, PairField):
            raise ArgumentError(f"field: expected a PairField, got {type(field).__name__}")
        self._fields[field.a.digest(), field.b.digest()] = field

    def _material(self, name: str, value: Any) -> int:
        if not self.materials:
            raise ArgumentError(f"{name}: expected a material, the scene has none; call add_material first")
        return names.index(name, value, [material.name for material in self.materials], "material")
