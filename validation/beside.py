"""beside.py: scenes that LAMMPS and this engine run from the same positions, and what is measured of both.

Spheres of d = 10 mm, friction .5, restitution .5, no rolling friction. The check `lammps` compares where grains go, and
`benchmarks.alike` what that costs.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

import granular_gym as gg
from testbed.beds import DENSITY, DIAMETER, RADIUS, lattice
from validation import bulk, peer, slot

Floats = NDArray[Any]
Frames = list[Floats]
#: a flow through a slit is steady after this time [s]
STEADY = 0.15


@dataclass(frozen=True)
class Start:
    """Where a scene starts, for both codes.

    Attributes:
        positions: (n, 3) [m].
        scene: for this engine.
        lower: corner of the bounds [m].
        upper: corner of the bounds [m].
        velocities: (n, 3) [m/s]; None: at rest.
        more: further arguments of `peer.run`.
    """

    positions: Floats
    scene: gg.Scene
    lower: Any
    upper: Any
    velocities: Floats | None = None
    more: dict[str, Any] = field(default_factory=dict)

    def lammps(self, seconds: float, frames: int) -> tuple[list[float], Frames, float]:
        """Runs LAMMPS: times [s], positions of the remaining grains at each, processor seconds."""
        return peer.run(
            self.positions,
            self.lower,
            self.upper,
            seconds=seconds,
            frames=frames,
            velocities=self.velocities,
            **self.more,
        )


def collapse(length: float, width: float, height: float, seed: int) -> Start:
    """A column at the wall of a long slot, its gate gone; lengths [d]."""
    positions = slot.packing(length, width, height, seed, restitution=peer.RESTITUTION)
    wide = run_out(length, height)
    scene = slot.open_slot(positions, wide, width, restitution=peer.RESTITUTION)
    upper = (wide * DIAMETER, width * DIAMETER, _top(positions))
    return Start(positions, scene, (0, 0, 0), upper, more={"periodic_y": True})


def run_out(length: float, height: float) -> float:
    """Length of the slot [d]: more than a column runs out."""
    return length * (3.0 + 4.0 * height / length)


def silo(length: float, width: float, height: float, opening: float, seed: int) -> Start:
    """A slot filled with grains over a slit in its floor; lengths [d]."""
    positions = slot.packing(length, width, height, seed, restitution=peer.RESTITUTION)
    floor = slot.slit(length, opening, width)
    scene = slot.open_slot(positions, length, width, restitution=peer.RESTITUTION, floor=floor)
    side = 0.5 * (length - opening) * DIAMETER
    blocks = [((a, -1.0, -2 * DIAMETER), (b, 1.0, 0.0)) for a, b in ((-1.0, side), (length * DIAMETER - side, 1.0))]
    upper = (length * DIAMETER, width * DIAMETER, _top(positions))
    more = {"periodic_y": True, "floor": False, "blocks": blocks}
    return Start(positions, scene, (0, 0, -10 * DIAMETER), upper, more=more)


def settled(count: int, half: float, seed: int) -> Start:
    """A lattice that falls into a box of half a width [d] and settles."""
    positions = lattice(count, half, seed)
    velocities = np.random.default_rng(seed).uniform(-0.1, 0.1, positions.shape)
    side = half * DIAMETER
    lower, upper = (-side, -side, 0.0), (side, side, _top(positions))
    scene = gg.Scene((lower, upper))
    sand = scene.add_material(density=DENSITY, friction=0.5, restitution=peer.RESTITUTION, rolling_friction=0.0)
    scene.add_grains(sand, positions, RADIUS, velocities)
    return Start(positions, scene, lower, upper, velocities)


def _top(positions: Floats) -> float:
    return float(positions[:, 2].max()) + 2 * DIAMETER


def deposit(depth: Floats) -> dict[str, float]:
    """Of the depth of a deposit in cells of one diameter from the wall on: how far it lies.

    Returns:
        x with nine tenths ("most") and with half of the grains, mean depth of the three cells at the wall ("height").
    """
    passed = np.cumsum(depth) / depth.sum()
    half, most = np.interp([0.5, 0.9], passed, np.arange(len(passed)) + 1.0)
    return {"most": float(most), "height": float(depth[:3].mean()), "half": float(half)}


def above_slit(frames: Frames) -> list[int]:
    """Grains not yet below the floor with the slit, of each frame."""
    return [int((frame[:, 2] > -2 * DIAMETER).sum()) for frame in frames]


def rate(times: Any, left: Any) -> float:
    """Grains per second through the slit, while the flow is steady."""
    part = np.array(times) > STEADY
    return -float(np.polyfit(np.array(times)[part], np.array(left)[part], 1)[0])


def bed(x: Floats, pairs: NDArray[Any], half: float) -> dict[str, float]:
    """Of grains in a box: height of their surface [d], solid fraction and mean contacts of their core.

    Args:
        x: positions (n, 3) [m].
        pairs: grains in contact (k, 2).
        half: half the width of the box [m].
    """
    level = float(np.sort(x[:, 2])[-max(len(x) // 100, 20) :].mean()) + RADIUS
    inner = half - 2 * DIAMETER
    lower, upper = [-inner, -inner, 2 * DIAMETER], [inner, inner, level - 3 * DIAMETER]
    inside = bulk.core(x, lower, upper)
    return {
        "level": level / DIAMETER,
        "phi": bulk.solid_fraction(x, lower, upper),
        "Z": bulk.mean_degree(pairs, len(x), inside),
        "Z_gap": bulk.coordination(x, inside),
    }
