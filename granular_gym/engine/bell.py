"""bell.py: constants of the law of Bell, Yu and Mucha (SCA 2005): contacts as forces of the moment.

What the law is and how it is integrated: docs/bell.md. The engine takes the constants as they are; found here is how
stiff they are, how long contacts last with them and which restitution follows.
"""

from __future__ import annotations

import dataclasses
import math
from typing import Any

import numpy as np

from granular_gym.base import checks
from granular_gym.engine.clumps import clump_arrays
from granular_gym.errors import ArgumentError

#: [Pa], [N/m^b], [N s/m^(1+a)], [N s/m] that the engine takes
LARGEST = 1e15
#: steps of an impact in units of the time in which an undamped one turns, and how many at most
_STEP, _STEPS = 2e-3, 200_000
#: the dimensionless damping beyond which no impact is looked for
_MOST_DAMPING = 1e3


@dataclasses.dataclass(frozen=True)
class Bell:
    """Constants of `Solver(mode="bell")`: f = k_r x^b + k_d x^a v along the normal, min(mu f, k_t |v_t|) across it.

    x is the overlap [m], v its rate, v_t the velocity of sliding [m/s]; mu is the friction of the two materials.
    Source: Bell, Yu, Mucha, Particle-based simulation of granular materials (SCA 2005), equations 7 to 18.

    Attributes:
        sliding: k_t, which friction grows with up to mu f [N s/m]; spheres at rest creep by their load over it.
        young: elastic modulus of grains and tools [Pa]; k_r of a contact is then 4/3 E sqrt(R) with the effective
            modulus and radius of both (the paper's equations 13 to 15). This or `stiffness` must be given.
        poisson: Poisson's ratio, above -1 up to 0.5.
        stiffness: k_r of every contact in place of `young` [N/m^b].
        damping: k_d [N s/m^(1+a)]; `with_restitution` finds it.
        damping_exponent: a, a multiple of 1/4 from 0 to 4.
        stiffness_exponent: b, a multiple of 1/4 from 1 to 4; with `young` 3/2.
        speed: of the fastest impacts that are expected [m/s]: contacts last the shorter the faster they are, and a step
            must be a share of that (`Solver.force_dangers`). Changes no result.

    Raises:
        ArgumentError: a value out of range, or neither or both of `young` and `stiffness`.
    """

    sliding: float
    young: float | None = None
    poisson: float = 0.3
    stiffness: float | None = None
    damping: float = 0.0
    damping_exponent: float = 0.5
    stiffness_exponent: float = 1.5
    speed: float = 1.0

    def __post_init__(self) -> None:
        if (self.young is None) == (self.stiffness is None):
            raise ArgumentError(
                f"young, stiffness: expected one of them [Pa], [N/m^b], got {self.young!r} and {self.stiffness!r}"
            )
        for name in ("young", "stiffness", "speed"):
            if getattr(self, name) is not None:
                checks.number(name, getattr(self, name), 0.0, LARGEST, above=True)
        for name in ("sliding", "damping"):
            checks.number(name, getattr(self, name), 0.0, LARGEST)
        checks.number("poisson", self.poisson, -1.0, 0.5, above=True)
        for name, least in (("damping_exponent", 0.0), ("stiffness_exponent", 1.0)):
            value = checks.number(name, getattr(self, name), least, 4.0)
            if 4.0 * value != round(4.0 * value):
                raise ArgumentError(f"{name}: expected a multiple of 0.25 in [{least:g}, 4], got {value:g}")
        if self.young is not None and self.stiffness_exponent != 1.5:
            raise ArgumentError(
                f"stiffness_exponent: expected 1.5 with young, the contact of Hertz, got {self.stiffness_exponent:g}"
            )

    @property
    def modulus(self) -> float:
        """Effective modulus of a contact, 1/E = 2 (1 - nu^2) / young [Pa]; 0 where `stiffness` is given."""
        return 0.0 if self.young is None else self.young / (2.0 * (1.0 - self.poisson**2))

    def fields(self) -> dict[str, Any]:
        """The constants as the engine takes them."""
        return {
            "bell_modulus": self.modulus,
            "bell_stiffness": self.stiffness or 0.0,
            "bell_damping": self.damping,
            "bell_sliding": self.sliding,
            "bell_damping_quarters": round(4.0 * self.damping_exponent),
            "bell_stiffness_quarters": round(4.0 * self.stiffness_exponent),
        }

    def stiffness_of(self, radius: float, other: float = math.inf) -> float:
        """k_r of two spheres of these radii [m], or of a sphere and a tool (other: infinite) [N/m^b]."""
        if self.stiffness is not None:
            return self.stiffness
        return 4.0 / 3.0 * self.modulus * math.sqrt(1.0 / (1.0 / radius + 1.0 / other))

    def depth(self, mass: float, radius: float, other: float = math.inf, speed: float | None = None) -> float:
        """Deepest overlap of an undamped impact [m]; arguments as in `contact_time`."""
        fast, power = self.speed if speed is None else speed, self.stiffness_exponent + 1.0
        return math.pow(0.5 * power * mass * fast**2 / self.stiffness_of(radius, other), 1.0 / power)

    def contact_time(self, mass: float, radius: float, other: float = math.inf, speed: float | None = None) -> float:
        """How long an undamped impact lasts [s].

        Args:
            mass: effective mass of both sides, m1 m2 / (m1 + m2) [kg].
            radius: of one sphere [m].
            other: of the other; infinite: a tool.
            speed: of the impact; None: `speed` of the law [m/s].
        """
        fast, share = self.speed if speed is None else speed, 1.0 / (self.stiffness_exponent + 1.0)
        turns = math.sqrt(math.pi) * math.gamma(1.0 + share) / math.gamma(0.5 + share)
        return 2.0 * self.depth(mass, radius, other, speed) / fast * turns

    def restitution(self, mass: float, radius: float, other: float = math.inf, speed: float | None = None) -> float:
        """Speed after over speed before a central impact; arguments as in `contact_time`."""
        fast = self.speed if speed is None else speed
        length = math.pow(mass * fast**2 / self.stiffness_of(radius, other), 1.0 / (self.stiffness_exponent + 1.0))
        scaled = self.damping * math.pow(length, self.damping_exponent + 1.0) / (mass * fast)
        return _restitution(scaled, self.damping_exponent, self.stiffness_exponent)

    def with_restitution(
        self, restitution: float, mass: float, radius: float, other: float = math.inf, speed: float | None = None
    ) -> Bell:
        """The same law with the damping for which a central impact has this restitution.

        With a = 1/4 and b = 3/2 it is then that of all speeds; with the default exponents faster impacts lose more.

        Args:
            restitution: 0.05 .. 1.
            mass: effective mass of both sides [kg].
            radius: of one sphere [m].
            other: of the other; infinite: a tool.
            speed: of the impact; None: `speed` of the law [m/s].

        Raises:
            ArgumentError: a value out of range, or a restitution that no damping gives.
        """
        wanted = checks.number("restitution", restitution, 0.05, 1.0)
        mass = checks.number("mass", mass, 0.0, above=True)
        radius = checks.number("radius", radius, 0.0, above=True)
        fast = self.speed if speed is None else checks.number("speed", speed, 0.0, above=True)
        low, high = 0.0, 1.0
        while _restitution(high, self.damping_exponent, self.stiffness_exponent) > wanted:
            low, high = high, 2.0 * high
            if high > _MOST_DAMPING:
                raise ArgumentError(f"restitution: expected one that damping can give, got {wanted:g}")
        for _ in range(40 if wanted < 1.0 else 0):
            middle = 0.5 * (low + high)
            bouncy = _restitution(middle, self.damping_exponent, self.stiffness_exponent) > wanted
            low, high = (middle, high) if bouncy else (low, middle)
        scaled = 0.5 * (low + high) if wanted < 1.0 else 0.0
        length = math.pow(mass * fast**2 / self.stiffness_of(radius, other), 1.0 / (self.stiffness_exponent + 1.0))
        return dataclasses.replace(self, damping=scaled * mass * fast / math.pow(length, self.damping_exponent + 1.0))


def _restitution(damping: float, a: float, b: float) -> float:
    """Restitution of x'' = -x^b - damping x^a x' from x = 0, x' = 1 until x = 0 again, by Runge-Kutta steps."""

    def slope(x: float, v: float) -> float:
        x = max(x, 0.0)
        return -math.pow(x, b) - damping * math.pow(x, a) * v

    x, v, h = 0.0, 1.0, _STEP
    for _ in range(_STEPS):
        k1 = slope(x, v)
        v2 = v + 0.5 * h * k1
        k2 = slope(x + 0.5 * h * v, v2)
        v3 = v + 0.5 * h * k2
        k3 = slope(x + 0.5 * h * v2, v3)
        v4 = v + h * k3
        k4 = slope(x + h * v3, v4)
        next_x = x + h / 6.0 * (v + 2.0 * v2 + 2.0 * v3 + v4)
        next_v = v + h / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4)
        if next_x <= 0.0:
            # the velocity hardly changes over the last bit of the contact
            share = x / (x - next_x)
            return -(v + share * (next_v - v))
        x, v = next_x, next_v
    return 0.0


def lone_clumps(arrays: dict[str, Any]) -> dict[str, Any]:
    """The arrays of a frozen scene, every grain a clump where none is: the law moves clumps.

    Args:
        arrays: of a frozen scene (`FrozenScene.arrays`).
    """
    if arrays["clumps"] is not None or arrays["planar"] is not None:
        return arrays
    spheres = _Spheres(arrays["position"], arrays["radius"], arrays["velocity"])
    return arrays | {"clumps": clump_arrays([spheres], always=True)}


@dataclasses.dataclass(frozen=True)
class StiffestContact:
    """The contact of a scene that asks for the shortest steps.

    Attributes:
        duration: of an undamped impact at `Bell.speed` [s]; infinite: no grain moves.
        response: time in which damping or friction takes a velocity, over e [s].
    """

    duration: float = math.inf
    response: float = math.inf


def stiffest(law: Bell, arrays: dict[str, Any]) -> StiffestContact:
    """The stiffest contact of two equal clumps, both hit where they turn most easily.

    Args:
        law: the constants.
        arrays: of a frozen scene with clumps.
    """
    clumps = arrays["clumps"]
    first = clumps["first"][:-1]
    material = arrays["grain_material"][first]
    free = arrays["material_fixed"][material] == 0
    if not free.any():
        return StiffestContact()
    shape, density = clumps["shape"][free], arrays["density"][material][free].astype(np.float64)
    arm = np.maximum.reduceat(np.linalg.norm(clumps["offset"].astype(np.float64), axis=1), first)[free]
    radius = np.maximum.reduceat(arrays["radius"].astype(np.float64), first)[free]
    mass, inertia = density * shape[:, 0], density * shape[:, 1:4].min(axis=1)
    # inverse effective masses of one side, along the normal and across it
    normal, across = 1.0 / mass + arm**2 / inertia, 1.0 / mass + (arm + radius) ** 2 / inertia
    stiffness = np.sqrt(radius) if law.stiffness is None else np.ones_like(radius)
    worst = int(np.argmax(normal * stiffness))
    pair = 0.5 / float(normal[worst]), float(radius[worst]), float(radius[worst])
    damping = law.damping * law.depth(*pair) ** law.damping_exponent / pair[0]
    rate = max(damping, law.sliding * 2.0 * float(across.max()))
    return StiffestContact(law.contact_time(*pair), 1.0 / rate if rate > 0.0 else math.inf)


@dataclasses.dataclass(frozen=True)
class _Spheres:
    """Lone spheres, as `clump_arrays` takes them."""

    positions: Any
    radii: Any
    velocities: Any
