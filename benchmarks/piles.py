"""piles.py: settled piles of planar grains: cost of a step against their number, shape and kinds."""

from __future__ import annotations

import math

import granular_gym as gg

from . import measure
from .measure import Row

TARGET_GRAINS, TARGET_MS = 11_000, 10.0  # # grains, wall time of a step on two cores
SETTLE = 3.0, 10.0  # [s] of one kind, of ten kinds in layers, which fall from higher
RADIUS = 0.5  # [m] of the circle round a grain
ITERATIONS = 20
#: ten kinds, 55 pairs
MIXTURE = "heart U N O D G R L M A"


def shapes(name: str) -> list[gg.Shape2D]:
    """Shapes by name: one, or the mixture."""
    kinds = {"#": gg.Shape2D.hash, "octagon": gg.Shape2D.octagon, "heart": gg.Shape2D.heart}
    names = MIXTURE.split() if name == "ten kinds" else [name]
    return [kinds[one](RADIUS) if one in kinds else gg.Shape2D.letter(one, RADIUS) for one in names]


def pile(name: str, count: int, threads: int) -> gg.World:
    """A pile at rest in a box about as wide as it is high."""
    width = math.ceil(1.1 * math.sqrt(count))
    scene = gg.Scene(bounds=((0.0, 0.0), (width, 4.0 * width)))
    kinds = [scene.add_material(density=1000.0, friction=0.4, shape=shape) for shape in shapes(name)]
    # each kind a layer, all of them ten times
    layers = 10 if len(kinds) > 1 else 1
    low = 0.0
    for k in range(layers * len(kinds)):
        share = count // (layers * len(kinds))
        share += 1 if k < count - share * layers * len(kinds) else 0
        high = low + math.ceil(share / math.floor(width / (2.1 * RADIUS)) + 1) * 2.1 * RADIUS
        scene.fill_box(kinds[k % len(kinds)], (0.0, low), (width, high), count=share, seed=k)
        low = high
    world = scene.build(solver=gg.Solver(iterations=ITERATIONS), num_threads=threads)
    world.step(1e-3, round(SETTLE[len(kinds) > 1] / 1e-3))
    return world


def planar(quick: bool) -> list[Row]:
    """Piles by number, by shape and by threads; dt 1 ms, 20 iterations."""
    cases = [("#", 500, 1), ("#", 2_000, 1), ("octagon", 2_000, 1), ("U", 2_000, 1), ("ten kinds", 2_000, 1)]
    if not quick:
        cases += [("#", TARGET_GRAINS, 1), ("#", TARGET_GRAINS, 2)]
    rows = []
    for shape, count, threads in cases:
        block = max(20, 200_000 // count)
        name = f"{shape}, {count:,} grains, {threads} thread{'s' if threads > 1 else ''}"
        subject = measure.world_subject(
            name, lambda s=shape, c=count, t=threads: pile(s, c, t), block, shape=shape, grains=count
        )
        row = measure.run(subject)
        row["ms_per_step"] = {key: 1e3 * value / block for key, value in row["wall_seconds"].items()}
        row["cpu_ms_per_step"] = {key: 1e3 * value / block for key, value in row["cpu_seconds"].items()}
        rows.append(row)
    return rows
