"""grain_colors.py: colours of grains in pictures for people."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


def grain_colors(grain_count: int) -> NDArray[np.floating[Any]]:
    """Quartz, ochre and a few brown grains, (n, 3) in 0 .. 255; the same for every picture."""
    draw = np.random.Generator(np.random.PCG64(1))
    share = draw.random((grain_count, 1))
    colors = (1.0 - share) * np.array([209.0, 176.0, 128.0]) + share * np.array([220.0, 200.0, 165.0])
    brown = draw.random(grain_count) < 0.09
    colors[brown] = [161.0, 126.0, 93.0]
    return colors
