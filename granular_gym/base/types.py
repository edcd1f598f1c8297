"""types.py: names for the arrays that pass between modules."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

#: an array of float32 or float64
Floats = NDArray[np.floating[Any]]
#: arrays by name
Arrays = dict[str, NDArray[Any]]
