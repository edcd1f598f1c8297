"""grain_colors.py: colours of grains in pictures."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from granular_gym.base.types import Floats


def sand_colors(grain_count: int) -> Floats:
    """Quartz, ochre and a few brown grains, (n, 3) in 0 .. 255; the same for every picture."""
    draw = np.random.Generator(np.random.PCG64(1))
    share = draw.random((grain_count, 1))
    colors = (1.0 - share) * np.array([209.0, 176.0, 128.0]) + share * np.array([220.0, 200.0, 165.0])
    brown = draw.random(grain_count) < 0.09
    colors[brown] = [161.0, 126.0, 93.0]
    result: Floats = colors
    return result


def linear(colors: Any) -> NDArray[np.uint8]:
    """sRGB colours (n, 3) in linear light, 0 .. 255, as glTF has those of vertices, and the browser those of
    instances, unlike of meshes."""
    return np.round(255.0 * (np.asarray(colors, np.float64) / 255.0) ** 2.2).astype(np.uint8)
