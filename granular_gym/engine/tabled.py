"""tabled.py: a scene with the tables that its grains move by."""

from __future__ import annotations

import dataclasses
import math

import numpy as np

from granular_gym.engine.frozen import FrozenScene
from granular_gym.engine.pair_table import PairTable
from granular_gym.errors import ArgumentError


def with_table(frozen: FrozenScene, table: PairTable) -> FrozenScene:
    """The scene as a world of mode "table" takes it.

    Raises:
        ArgumentError: grains of a material that no kind has the name of, or bonded grains without forces.
    """
    arrays, names = frozen.arrays, frozen.material_names
    found = table.arrays(names, np.unique(arrays["grain_material"]).tolist())
    if arrays["bonds"] is not None:
        owners = np.repeat(np.arange(frozen.grain_count), np.diff(arrays["bonds"]["first"]))
        material = arrays["grain_material"]
        bare = np.flatnonzero(found["of"][material[owners], material[arrays["bonds"]["other"]], 1] < 0)
        if len(bare):
            a, b = int(owners[bare[0]]), int(arrays["bonds"]["other"][bare[0]])
            raise ArgumentError(
                f"table: expected forces of bonded {names[material[a]]} and {names[material[b]]}, as of grains {a} and "
                f"{b}, got {list(table.forces)}"
            )
    return dataclasses.replace(frozen, arrays=arrays | {"table": found})


def calm_step(table: PairTable, frozen: FrozenScene) -> float:
    """The longest time step with which piles of a scene are calm [s], see `PairTable.calm_step`."""
    arrays = frozen.arrays
    masses = [math.inf] * len(table.kinds)
    for material in np.unique(arrays["grain_material"]).tolist():
        name = frozen.material_names[material]
        kind = table.kinds.index(name) if name in table.kinds else 0
        if not arrays["material_fixed"][material]:
            radius = float(arrays["radius"][arrays["grain_material"] == material].min())
            mass = 4.0 / 3.0 * math.pi * radius**3 * float(arrays["density"][material])
            masses[kind] = min(masses[kind], mass)
    return table.calm_step(masses)
