"""colors.py: what surfaces look like: colours of grains, tools and background, and the light, checked."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
from numpy.typing import NDArray

from granular_gym.base import checks
from granular_gym.errors import ArgumentError

#: tools that the engine makes of the faces of the bounds, ahead of the user's
WALL_COUNT = 6
_WALL_COLOR = (205, 205, 210)
_TOOL_COLOR = (232, 164, 58)
Colors = NDArray[np.uint8]


@dataclasses.dataclass(frozen=True)
class Paint:
    """Colours of a world and its light, checked; see `World.paint`.

    Attributes:
        grain_colors: (grain_count, 3), or of each env (env_count, grain_count, 3), or None: sand.
        tool_colors: (6 + tool_count, 3), walls first.
        background: (3,)
        light: direction towards the light (3,).
        ambient: share of the light that comes from everywhere.
    """

    grain_colors: Colors | None
    tool_colors: Colors
    background: Colors
    light: NDArray[np.float32]
    ambient: float

    def of_env_0(self) -> Paint:
        """For a world of any number of envs, all painted as env 0."""
        own = self.grain_colors
        return self if own is None or own.ndim == 2 else dataclasses.replace(self, grain_colors=own[0])


def grain_colors(value: Any, grain_count: int, env_count: int | None = None) -> Colors | None:
    """(grain_count, 3) colours, with an env_count also those of each env (env_count, grain_count, 3), or None."""
    if value is None:
        return None
    if env_count is not None and checks.numbers("grain_colors", value).ndim == 3:
        return _integers("grain_colors", value, (env_count, grain_count, 3))
    return _colors("grain_colors", value, grain_count)


def tool_colors(value: Any, tool_count: int) -> Colors:
    """(6 + tool_count, 3) colours of walls and tools; value: of the tools, or None: one for all."""
    walls = np.array([_WALL_COLOR] * WALL_COUNT, np.uint8)
    own = [_TOOL_COLOR] * tool_count if value is None else value
    return np.concatenate([walls, _colors("tool_colors", own, tool_count)])


def background_color(value: Any) -> Colors:
    """(3,) colour."""
    return _integers("background", value, (3,))


def direction(value: Any) -> NDArray[np.float32]:
    """A direction towards the light (3,), of any length but 0."""
    light = checks.vector("light", value)
    if not float(np.abs(light).max()) > 0.0:
        raise ArgumentError(f"light: expected a direction, got {value!r}")
    return light


def _colors(name: str, value: Any, count: int) -> Colors:
    return _integers(name, np.asarray(value).reshape(-1, 3) if not count else value, (count, 3))


def _integers(name: str, value: Any, shape: tuple[int, ...]) -> Colors:
    return checks.integers(name, value, shape, 0, 255).astype(np.uint8)
