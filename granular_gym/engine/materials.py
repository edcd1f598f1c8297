"""materials.py: what grains are made of, how two materials meet, and the air they fly through.

The laws behind the numbers are in docs/materials.md. Every value is checked where it is given.
"""

from __future__ import annotations

import dataclasses
import math
from typing import Any, NamedTuple

from granular_gym.base import checks
from granular_gym.engine.continuum import Continuum
from granular_gym.errors import ArgumentError
from granular_gym.shapes.clump import Clump
from granular_gym.shapes.shape2d import Shape2D

#: reach of the values, by name: lower, upper
LIMITS = {
    "friction": (0.0, 1e3),
    "restitution": (0.0, 1.0),
    "rolling_friction": (0.0, 1e3),
    "twisting_friction": (0.0, 1e3),
    "cohesion": (0.0, 1e6),
    "cohesion_range": (0.0, 1e3),
}


class Pair(NamedTuple):
    """How two materials meet; the columns of a table of pairs.

    Attributes:
        friction: Coulomb coefficient.
        restitution: normal speed after over before an impact.
        rolling_friction: rolling torque over normal force and effective radius.
        twisting_friction: torque about the normal over normal force and effective radius.
        cohesion: largest attraction over effective radius [N/m].
        cohesion_range: surfaces this far apart attract no more [m].
    """

    friction: float
    restitution: float
    rolling_friction: float
    twisting_friction: float
    cohesion: float
    cohesion_range: float


PAIR_FIELDS = Pair._fields


@dataclasses.dataclass(frozen=True, repr=False)
class Material:
    """What a grain or a tool is made of; see Scene.add_material."""

    density: float
    radius: float | None
    friction: float
    restitution: float
    rolling_friction: float
    name: str
    twisting_friction: float | None = None
    cohesion: float = 0.0
    cohesion_range: float = 0.0
    shape: Shape2D | Clump | None = None
    fixed: bool = False
    continuum: Continuum | None = None

    def __repr__(self) -> str:
        """All that is not as it is by default."""
        values = [(each.name, getattr(self, each.name), each.default) for each in dataclasses.fields(self)]
        given = [f"{name}={value!r}" for name, value, default in values if value is not None and value != default]
        return f"Material({', '.join(given)})"


def pair_value(name: str, value: Any) -> float:
    """A checked value of a pair, by its name."""
    return checks.number(name, value, *LIMITS[name])


def meet(one: Material, two: Material, given: dict[str, float]) -> Pair:
    """How two materials meet: what was given for the pair, the rest from both.

    Frictions and cohesion: geometric mean; restitution and range: the larger one; twisting friction: like rolling
    friction where neither material and not the pair gives it.
    """

    def mean(name: str) -> float:
        return math.sqrt(getattr(one, name) * getattr(two, name))

    rolling = given.get("rolling_friction", mean("rolling_friction"))
    twisting = rolling
    if one.twisting_friction is not None or two.twisting_friction is not None:
        a, b = (m.rolling_friction if m.twisting_friction is None else m.twisting_friction for m in (one, two))
        twisting = math.sqrt(a * b)
    values = {
        "friction": mean("friction"),
        "restitution": max(one.restitution, two.restitution),
        "rolling_friction": rolling,
        "twisting_friction": twisting,
        "cohesion": mean("cohesion"),
        "cohesion_range": max(one.cohesion_range, two.cohesion_range),
    }
    return Pair(**{**values, **given})


def cohesion_of_force(force: float, radius: float, other_radius: float = math.inf) -> float:
    """The cohesion [N/m] with which two grains attract each other by a force at contact.

    Args:
        force: largest attraction [N].
        radius: of one grain [m].
        other_radius: of the other one [m]; infinite: a flat wall.
    """
    pull = checks.number("force", force, 0.0)
    size = checks.number("radius", radius, 0.0, above=True)
    if isinstance(other_radius, float) and other_radius == math.inf:
        return pull / size
    other = checks.number("other_radius", other_radius, 0.0, above=True)
    return pull * (size + other) / (size * other)


def capillary_cohesion(surface_tension: float = 0.072, contact_angle: float = 0.0) -> float:
    """The cohesion [N/m] of a small liquid bridge: 4 pi gamma cos(theta).

    The force of a bridge between touching spheres is 4 pi gamma cos(theta) R_eff, whatever its volume, as long as it is
    small (Rabinovich, Esayanur, Moudgil, Langmuir 21:10992, 2005, in the limit of contact). It breaks at a distance of
    about the cube root of its volume (Lian, Thornton, Adams 1993), which is what `cohesion_range` stands for.

    Args:
        surface_tension: gamma [N/m]; that of water.
        contact_angle: theta [rad], 0 .. pi / 2.
    """
    tension = checks.number("surface_tension", surface_tension, 0.0)
    angle = checks.number("contact_angle", contact_angle, 0.0, 0.5 * math.pi)
    return 4.0 * math.pi * tension * math.cos(angle)


@dataclasses.dataclass(frozen=True)
class Air:
    """What grains fly through: drag towards the wind.

    With viscosity alone it is Stokes' drag, with density alone Newton's, with both Schiller and Naumann's law in
    between.

    Attributes:
        density: [kg/m3], >= 0; that of air at 20 degrees.
        viscosity: [Pa s], >= 0.
        wind: velocity of the air (3,) [m/s].
    """

    density: float = 1.204
    viscosity: float = 1.813e-5
    wind: Any = (0.0, 0.0, 0.0)

    def __post_init__(self) -> None:
        object.__setattr__(self, "density", checks.number("density", self.density, 0.0, 1e5))
        object.__setattr__(self, "viscosity", checks.number("viscosity", self.viscosity, 0.0, 1e5))
        wind = tuple(float(x) for x in checks.vector("wind", self.wind))
        if max(map(abs, wind)) > 1e5:
            raise ArgumentError(f"wind: expected at most 1e5 m/s, got {wind}")
        object.__setattr__(self, "wind", wind)

    def columns(self) -> list[float]:
        """Density, viscosity and wind x y z, as the engine takes them."""
        return [self.density, self.viscosity, *self.wind]


#: no drag
NO_AIR = Air(0.0, 0.0)
AIR_FIELDS = ("density", "viscosity", "wind_x", "wind_y", "wind_z")
