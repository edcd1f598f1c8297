"""gears.py: the gear tower of GranularGym (2023), section III.B: speed over real time by gears and by grains.

The paper's figure 9 plots both. Gears turn at constant, uniformly random speeds; grains fall continuously. Here the
tower has 8 storeys (2.4 m) with 2 to 8 gears, dt 2 ms, 10 iterations, z periodic. One row has the cyclic boundary of
the paper, which finds no contacts across it, so that grains overlap there. Speed is simulated seconds per processor
second of one thread. Smaller grains and fewer gears mean faster falls; `fast_count` counts moves by more than half a
radius per substep.
"""

from __future__ import annotations

import numpy as np

import granular_gym as gg
from benchmarks import measure
from benchmarks.measure import Row, Subject
from granular_gym.envs.gear_tower import SPEED, gear_axes, tower_lattice, tower_scene
from granular_gym.tasks.vehicle import yaw_quaternions

STOREYS = 8
DT = 2e-3  # [s]
#: radius of 10,000 grains [m]; the total volume is the same for all numbers of grains
RADIUS_OF_10000 = 0.0195
WARM_UP = 0.5  # time before measurements, until grains fall [s]


class Tower:
    """A tower with turning gears."""

    def __init__(self, gear_count: int, grain_count: int, boundary: str, device: str = "cpu") -> None:
        radius = RADIUS_OF_10000 * (10_000 / grain_count) ** (1.0 / 3.0)
        grains = tower_lattice(gear_count, grain_count, radius, storeys=STOREYS, boundary=boundary)
        scene = tower_scene(gear_count, grains, radius, storeys=STOREYS, boundary=boundary)
        self.world = scene.build(device=device, solver=gg.Solver(iterations=10), num_threads=1)
        self.speeds = np.random.default_rng(0).uniform(-SPEED, SPEED, gear_count)
        self.angles = np.zeros(gear_count)
        self.poses = np.zeros((1 + gear_count, 7), np.float32)
        self.poses[:, 3] = 1.0
        self.poses[1:, :3] = gear_axes(gear_count, STOREYS)
        self.step(round(WARM_UP / DT))

    def step(self, substeps: int) -> None:
        """Turns the gears for `substeps` substeps, in steps of at most 0.1 s."""
        while substeps > 0:
            block = min(substeps, round(0.1 / DT))
            self.angles += self.speeds * block * DT
            self.poses[1:, 3:] = yaw_quaternions(self.angles)
            self.world.step(DT, block, tool_poses=self.poses)
            substeps -= block

    def close(self) -> None:
        """Frees the world."""
        self.world.close()


def gears(quick: bool) -> list[Row]:
    """By number of gears at a fixed number of grains, then by number of grains with all gears."""
    rows = []
    middle = 2_000 if quick else 10_000
    for gear_count in (2, 4, 6, 8):
        rows.append(_measured(gear_count, middle, "periodic", "gears"))
    rows.append(_measured(STOREYS, middle, "cyclic", "border"))
    for grain_count in (1_000, 4_000, 10_000) if quick else (2_000, 5_000, 20_000, 50_000):
        rows.append(_measured(STOREYS, grain_count, "periodic", "grains"))
    return rows


def _measured(gear_count: int, grain_count: int, boundary: str, axis: str) -> Row:
    substeps = max(5, 400_000 // grain_count)
    subject = Subject(
        f"{gear_count} gears, {grain_count} grains, {boundary}",
        lambda: Tower(gear_count, grain_count, boundary),
        lambda tower: tower.step(substeps),
        lambda tower: measure.quality(tower.world),
        substeps * DT,
        {"axis": axis, "gears": gear_count, "grains": grain_count, "boundary": boundary, "dt": DT},
        warm_up=0,
    )
    return measure.run(subject)
