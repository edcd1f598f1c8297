"""pour_state.py: what `Pour-v1` shows with observation="state": lip, target and flow, and the grains in the cup."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from granular_gym.base.types import Floats
from granular_gym.tasks.state_vector import Entry, StateVector
from granular_gym.tasks.vehicle import sin_cos

CELLS = (4, 4)  # along the cup's floor, and up its walls
CELL_FULL = 0.1  # share of the grains that fills a cell
FLOW_WINDOW = 0.2  # [s] over which the flow is averaged

VECTOR = StateVector(
    [
        Entry("tilt", "of the cup, -1 .. 1 over its range; its cosine and sine", (1, 1, 1)),
        Entry("cup", "x and z of its centre, -1 .. 1 over their range", (1, 1)),
        Entry("lip", "x from the near and to the far wall of the target, z over its rim [0.5 m]", (1, 1, 1)),
        Entry("target", "half its width [0.4 m]", (1,)),
        Entry("dose", "share of the grains, -1: none, 1: all", (1,)),
        Entry("missing", "dose less received [0.5; 0.05]", (1, 1)),
        Entry("to pour", "dose less what has left the cup [0.5; 0.05]", (1, 1)),
        Entry("in the cup", "share, -1: none, 1: all", (1,)),
        Entry("falling", "share between cup and target [0.05]", (1,)),
        Entry("spilled", "share [0.02]", (1,)),
        Entry("flow", f"out of the cup, averaged over {FLOW_WINDOW} s [0.2 share/s]", (1,)),
        Entry(
            "in cells",
            f"share in {CELLS[0]} x {CELLS[1]} cells of the cup, from its back to its lip, each from the floor up "
            "[0.1, a full one]",
            (1,) * (CELLS[0] * CELLS[1]),
        ),
    ]
)


def cell_boxes(half_x: float, half_y: float, half_z: float) -> Floats:
    """The cells in the cup's frame: centre x, z, and half extents x, y, z (cells, 5) [m]."""
    size_x, size_z = half_x / CELLS[0], half_z / CELLS[1]
    x, z = np.meshgrid(*((2 * np.arange(count) + 1 - count) for count in CELLS), indexing="ij")
    rows = [x.ravel() * size_x, z.ravel() * size_z]
    return np.stack([*rows, *(np.full(x.size, half) for half in (size_x, half_y, size_z))], axis=1)


def state_of(
    *,
    cup: Floats,
    ranges: tuple[tuple[float, float], ...],
    lip: tuple[float, float],
    target: Floats,
    half_width: float,
    rim: float,
    dose: Floats,
    received: Floats,
    held: Floats,
    spilled: Floats,
    flow: Floats,
    cells: Floats,
) -> NDArray[np.float32]:
    """The vectors of n envs, (n, VECTOR.size).

    Args:
        cup: (n, 3) x, z [m] and tilt [rad].
        ranges: of the three.
        lip: its x and z in the cup's frame [m].
        target: (n,) x of its centre [m].
        half_width: of the target inside [m].
        rim: z of the target's rim [m].
        dose: (n,) share of the grains; so are `received`, `held` and `spilled`.
        received: likewise.
        held: likewise.
        spilled: likewise.
        flow: (n,) out of the cup [share/s].
        cells: (n, cells) shares in the cells of the cup.
    """
    x, z, tilt = ((2.0 * value - low - high) / (high - low) for value, (low, high) in zip(cup.T, ranges, strict=True))
    sine, cosine = sin_cos(cup[:, 2])
    lip_x = cup[:, 0] + cosine * lip[0] + sine * lip[1] - target
    lip_z = cup[:, 1] - sine * lip[0] + cosine * lip[1] - rim
    missing, to_pour = dose - received, dose - (1.0 - held)
    return VECTOR.joined(
        [
            np.stack([tilt, cosine, sine], axis=1),
            np.stack([x, z], axis=1),
            np.stack([lip_x + half_width, half_width - lip_x, lip_z], axis=1) / 0.5,
            np.full(len(cup), half_width / 0.4),
            2.0 * dose - 1.0,
            np.stack([missing / 0.5, missing / 0.05], axis=1),
            np.stack([to_pour / 0.5, to_pour / 0.05], axis=1),
            2.0 * held - 1.0,
            (1.0 - held - received - spilled) / 0.05,
            spilled / 0.02,
            flow / 0.2,
            cells / CELL_FULL,
        ]
    )
