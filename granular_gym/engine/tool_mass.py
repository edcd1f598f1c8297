"""tool_mass.py: tools with a mass, which move as forces and grains make them: what a scene says of them."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

import numpy as np

from granular_gym.base import checks
from granular_gym.errors import ArgumentError

AXES = "xyz"


@dataclasses.dataclass(frozen=True)
class ToolMass:
    """What makes a tool dynamic.

    Attributes:
        mass: [kg].
        free: axes of the world along which it moves, of "xyz".
        travel: lower and upper end of the way of its origin by axis [m]; where none is given the walls of the bounds
            stop the tool.
        stiffness: of the spring that holds a compliant tool to its targets [N/m]; 0: it has none.
        damping: likewise [N s/m].
        inertia: about its origin in its axes, xx yy zz xy xz yz [kg m2]; all 0: it does not turn.
    """

    mass: float
    free: str
    travel: Mapping[str, tuple[float, float]]
    stiffness: float = 0.0
    damping: float = 0.0
    inertia: tuple[float, ...] = (0.0,) * 6


def tool_mass(
    mass: Any, free: Any, travel: Any, stiffness: Any, damping: Any, inertia: Any, planar: bool
) -> ToolMass | None:
    """What `Scene.add_tool` was told, checked; None: the tool has no mass."""
    if mass is None:
        given = {"free": free, "travel": travel, "stiffness": stiffness, "damping": damping, "inertia": inertia}
        if any(value is not None for value in given.values()):
            raise ArgumentError(f"mass: expected a mass along with {' and '.join(given)}, got None")
        return None
    kilograms = checks.number("mass", mass, 0.0, above=True)
    if planar:
        raise ArgumentError(f"mass: tools of planar scenes have none, got {mass!r}")
    axes = AXES if free is None else checks.text("free", free)
    if not set(axes) <= set(AXES) or len(set(axes)) != len(axes):
        raise ArgumentError(f'free: expected axes of "xyz", each once, got {free!r}')
    spring = _spring(stiffness, damping, free is not None or travel is not None)
    if inertia is not None and spring[0]:
        raise ArgumentError("inertia: expected a tool without a spring, one on a spring turns as it is told")
    return ToolMass(kilograms, axes, _travel({} if travel is None else travel, axes), *spring, _inertia(inertia))


def _inertia(value: Any) -> tuple[float, ...]:
    if value is None:
        return (0.0,) * 6
    given = checks.doubles("inertia", value, (3,), (3, 3))
    tensor = np.diag(given) if given.ndim == 1 else given
    if not np.allclose(tensor, tensor.T, rtol=0.0, atol=1e-9 * np.abs(tensor).max()):
        raise ArgumentError(f"inertia: expected a symmetric tensor, got {value!r}")
    moments = np.linalg.eigvalsh(tensor)
    if not (moments[0] > 0.0 and moments[2] <= (1.0 + 1e-6) * (moments[0] + moments[1])):
        raise ArgumentError(
            f"inertia: expected moments > 0, none above the sum of the others, got {np.array2string(moments)} kg m2"
        )
    return tuple(float(tensor[at]) for at in ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2)))


def _spring(stiffness: Any, damping: Any, held: bool) -> tuple[float, float]:
    if stiffness is None:
        if damping is not None:
            raise ArgumentError("damping: expected a stiffness along with it, got None")
        return 0.0, 0.0
    if held:
        raise ArgumentError("stiffness: expected a tool that is free along all axes, without free and travel")
    return (
        checks.number("stiffness", stiffness, 0.0, above=True),
        checks.number("damping", 0.0 if damping is None else damping, 0.0),
    )


def _travel(travel: Any, free: str) -> dict[str, tuple[float, float]]:
    if not isinstance(travel, Mapping):
        raise ArgumentError(f"travel: expected a dict of axes, got {type(travel).__name__}")
    ends = {}
    for axis, value in travel.items():
        checks.choice("travel: axis", axis, free)
        pair = checks.floats(f'travel["{axis}"]', value, (2,), finite=False)
        if not pair[0] < pair[1]:
            raise ArgumentError(f'travel["{axis}"]: expected a lower end below an upper one, got {value!r}')
        ends[axis] = float(pair[0]), float(pair[1])
    return ends
