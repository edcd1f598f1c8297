"""bell.py: scenes for the law of Bell: impacts of two spheres, their equation solved by SciPy, slopes."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.integrate import solve_ivp

import granular_gym as gg
from testbed.beds import faces
from testbed.clumps import ROCK, SIZE

RADIUS = 0.005
#: effective mass of two spheres of ROCK and RADIUS [kg]
MASS = 0.5 * ROCK * 4.0 / 3.0 * np.pi * RADIUS**3
#: mass of a tetrahedron [kg]
GRAIN = ROCK * gg.Clump.tetrahedron(SIZE).volume
#: of soft rock, so that steps of 20 us are short
LAW = gg.Bell(sliding=2.0, young=1e7).with_restitution(0.6, MASS, RADIUS, RADIUS)


def solver(law: gg.Bell = LAW, **settings: Any) -> gg.Solver:
    """The settings of a world under this law."""
    return gg.Solver(mode="bell", bell=law, **settings)


def impact(
    law: gg.Bell, speed: float, radius: float = RADIUS, density: float = ROCK, offset: float = 0.0, **settings: Any
) -> gg.World:
    """Two spheres about to touch, in free space. offset: of their paths [m]."""
    scene = gg.Scene(((-1.0,) * 3, (1.0,) * 3), gravity=(0.0, 0.0, 0.0), boundary=faces("open"))
    scene.add_material(density=density, friction=0.5, radius=radius)
    half = np.sqrt(radius**2 - 0.25 * offset**2)
    motion = [(0.5 * speed, 0.0, 0.0), (-0.5 * speed, 0.0, 0.0)]
    scene.add_grains(0, [(-half, -0.5 * offset, 0.0), (half, 0.5 * offset, 0.0)], velocities=motion)
    return scene.build(num_threads=1, solver=solver(law, **settings))


def solved(law: gg.Bell, mass: float, stiffness: float, speed: float) -> tuple[float, float]:
    """Restitution and duration [s] of a central impact by SciPy. mass: effective [kg]"""

    def slope(_: float, y: np.ndarray) -> list[float]:
        x = max(float(y[0]), 0.0)
        force = law.damping * x**law.damping_exponent * y[1] + stiffness * x**law.stiffness_exponent
        return [y[1], -force / mass]

    def apart(t: float, y: np.ndarray) -> float:
        return float(y[0]) if t > 0.0 else 1.0

    apart.terminal, apart.direction = True, -1.0  # type: ignore[attr-defined]
    span = 20.0 * law.contact_time(mass, RADIUS, RADIUS, speed)
    found = solve_ivp(slope, (0.0, span), [1e-15, speed], rtol=1e-11, atol=1e-16, events=apart, method="DOP853")
    return float(-found.y[1, -1] / speed), float(found.t[-1])


def slope(kind: dict[str, Any], count: int, law: gg.Bell) -> gg.World:
    """Grains above a floor of fixed spheres, endless along x and y; the grains come last."""
    boundary = {"x": "periodic", "y": "periodic", "z": ("wall", "open")}
    scene = gg.Scene(((0.0, 0.0, 0.0), (0.05, 0.05, 0.3)), boundary=boundary)
    grain = scene.add_material(density=ROCK, friction=0.5, **kind)
    floor = scene.add_material(density=ROCK, friction=0.5, radius=0.003, fixed=True)
    places = (np.arange(8) + 0.5) * 0.05 / 8
    scene.add_grains(floor, [(x, y, 0.003) for x in places for y in places])
    scene.fill_box(grain, (0.0, 0.0, 0.007), (0.05, 0.05, 0.2), count=count)
    return scene.build(num_threads=1, solver=solver(law))
