"""matter.py: tasks in grains and in a continuum.

    python -m benchmarks.matter --angles     angles of friction for a continuum that spreads as grains do
    python -m benchmarks.matter              experts on both: returns, successes, speed, solves that failed

--angles: columns as high as wide or higher collapse beside a wall, between smooth side walls, on a floor as rough as they
are; what is compared is how far off the wall their centre of mass comes to rest.
"""

from __future__ import annotations

import argparse
from itertools import product

import numpy as np

import granular_gym as gg
from granular_gym.tasks.heights import PACKING
from granular_gym.tasks.matter import DISTANCE, FRICTIONS, POISSON, ROLLING, YOUNG

RADIUS = 0.025  # [m]
WIDTH, DEPTH, LENGTH = 20 * RADIUS, 12 * RADIUS, 100 * RADIUS  # [m] of the column, of both, of the field
COUNT = 900
ANGLES = (14.0, 20.0, 26.0, 32.0, 38.0, 44.0)  # [degrees]
OPEN = [[[0.0, 0.0, -0.05, 1.0, 0.0, 0.0, 0.0], [50.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0]]]  # floor, and gate out of the way


def column(friction: float, rolling: float, seed: int) -> gg.Scene:
    """Grains that fall behind a gate."""
    scene = gg.Scene(((0, 0, 0), (LENGTH, DEPTH, 3.0)))
    sand = scene.add_material(
        density=1600.0, radius=RADIUS, friction=friction, restitution=0.0, rolling_friction=rolling, name="sand"
    )
    glass = scene.add_material(density=2500.0, friction=0.0, rolling_friction=0.0, name="glass")
    scene.wall_material = glass
    scene.add_tool(gg.Sdf.box((10.0, 10.0, 0.05)), "floor", sand, (0.0, 0.0, -0.0499))
    scene.add_tool(gg.Sdf.box((0.05, 2.0 * DEPTH, 3.0)), "gate", glass, (WIDTH + 0.05, 0.5 * DEPTH, 0.0))
    scene.fill_box(sand, (0, 0, 0), (WIDTH, DEPTH, 2.9), COUNT, seed)
    return scene


def spread(world: gg.World, dt: float) -> float:
    """How far off the wall the centre of mass is 3 s after the gate went, over the width of the column."""
    world.set_tool_poses(np.array(OPEN, np.float32))
    world.step(dt, round(3.0 / dt))
    return float(world.positions[0, :, 0].mean()) / WIDTH


def angles(seeds: int) -> None:
    """Prints the table of matter.py."""
    for rolling, friction in product(ROLLING, FRICTIONS):
        found = []
        for seed in range(seeds):
            scene = column(friction, rolling, seed)
            with scene.build(device="cpu", num_threads=1) as world:
                world.step(2e-3, 1000)
                places = world.positions[0].copy()
                way = spread(world, 2e-3)
            curve = []
            for angle in ANGLES:
                matter = gg.DruckerPrager(YOUNG, POISSON, angle)
                same = scene.as_continuum("sand", matter, places, PACKING, 2.0 * DISTANCE * RADIUS)
                with same.build(device="cpu", solver=gg.Solver(tolerance=1e-3), num_threads=1) as world:
                    world.step(0.01, 20)
                    curve.append(spread(world, 0.01))
            found.append(float(np.interp(-way, -np.array(curve), ANGLES)))
        text = " ".join(f"{each:.1f}" for each in found)
        print(f"friction {friction:g}, rolling friction {rolling:g}: {text} degrees", flush=True)


def main() -> None:
    """Reads the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--angles", action="store_true")
    parser.add_argument("--seeds", type=int, default=2)
    options = parser.parse_args()
    angles(options.seeds)


if __name__ == "__main__":
    main()
