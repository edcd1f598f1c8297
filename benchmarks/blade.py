"""blade.py: the force on a blade that pushes sand, of grains and as a continuum at their angle of friction.

    python -m benchmarks.blade [--angles]

Each force is over .5 density g depth^2 width: Rankine's passive earth pressure on a smooth blade under a level surface
is (1 + sin(angle)) / (1 - sin(angle)). Means over quarters of a way of 8 cm; what is heaped up raises it. With
--angles: the angle of friction of the grains in plane compression, at tenths of a strain of .3.
"""

from __future__ import annotations

import argparse
from itertools import product

import numpy as np

import granular_gym as gg
from testbed.blade import ANGLES, RADIUS, compressed, of_continuum, of_grains, push, settled

SIZE = (0.5, 0.08, 0.12)  # [m] of the bed
WAY, PARTS = 0.08, 4
#: depth of the blade [m] and its friction; the last reaches down to the floor
BLADES = ((0.06, 0.0), (0.06, 0.3), (SIZE[2], 0.0))
SPACING = 0.015  # [m] of the grid


def row(name: str, forces: np.ndarray, unit: float, first: np.ndarray | None = None) -> np.ndarray:
    """Prints forces over the unit, and the mean as a share of the first's."""
    share = "" if first is None else f", {forces.mean() / unit / first.mean() - 1.0:+.0%}"
    print(
        f"  {name}: {' '.join(f'{each:.2f}' for each in forces / unit)}, mean {forces.mean() / unit:.2f}{share}",
        flush=True,
    )
    return forces / unit


def blades() -> None:
    """Prints forces on the blades."""
    beds = {rolling: [settled(SIZE, rolling, seed) for seed in (0, 1)] for rolling in ANGLES}
    for rolling, (depth, friction) in product(ANGLES, BLADES):
        angle = ANGLES[rolling]
        sine = np.sin(np.radians(angle))
        passive = (1.0 + sine) / (1.0 - sine)
        print(
            f"rolling friction {rolling:g}, {angle:g} degrees, blade {depth:g} m deep, of friction {friction:g}; "
            f"Rankine {passive:.2f}"
        )
        both, density = [], 0.0
        for bed in beds[rolling]:
            scene, density = of_grains(bed, depth, friction)
            with scene.build(device="cpu", num_threads=1, solver=gg.Solver(iterations=20)) as world:
                world.settle_impulses(1e-3)
                world.step(1e-3, 300)
                forces = push(world, 1e-3, WAY, PARTS)
            unit = 0.5 * density * 9.81 * depth**2 * SIZE[1]
            both.append(row(f"{scene.grain_count} grains, {depth / RADIUS / 2:g} diameters", forces, unit))
        size = (0.35, 2.0 * SPACING, SIZE[2])
        scene = of_continuum(size, angle, density, SPACING, depth, friction)
        with scene.build(device="cpu", num_threads=1, solver=gg.Solver(tolerance=1e-3)) as world:
            world.step(0.01, 20)
            forces = push(world, 0.01, WAY, PARTS)
        unit = 0.5 * density * 9.81 * depth**2 * size[1]
        row(f"{scene.grain_count} particles, {depth / SPACING:.1f} cells", forces, unit, np.array(both))


def main() -> None:
    """Reads the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--angles", action="store_true")
    if parser.parse_args().angles:
        for rolling, seed in product(ANGLES, (0, 1, 2)):
            found = compressed((0.14, 0.08, 0.2), rolling, seed)
            tenths = " ".join(f"{each:.1f}" for each in found)
            print(f"rolling friction {rolling:g}: {tenths}, from .09 on {found[3:].mean():.1f} degrees", flush=True)
        return
    blades()


if __name__ == "__main__":
    main()
