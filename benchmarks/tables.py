"""tables.py: what a step of mode table costs, beside the same step in NumPy, and how far the two are apart.

    python -m benchmarks.tables

Sand that falls on bonded clay (`testbed.tabled`). `engine`, `numpy`: processor time of a step, one thread [ms]; of
NumPy all pairs, with the interpolation of SciPy. `apart`: largest distance of a grain between the two after 40 steps,
over the radius.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import numpy as np

import granular_gym as gg
from benchmarks.run import table as show
from testbed.tabled import DT, RADIUS, Reference, heap, table

#: grains of sand beside 27 of clay, and steps that NumPy is timed for
SIZES, STEPS = (69, 229, 485, 973), 10


def rows() -> Iterator[dict[str, Any]]:
    """One of each size."""
    for count in SIZES:
        law = table()
        with heap(count, height=0.35 * count / 60 + 0.25).build(
            device="cpu", solver=gg.Solver(mode="table", table=law), num_threads=1
        ) as world:
            world.step(DT, 300)
            other = Reference(world, law)
            start = time.process_time()
            for _ in range(STEPS):
                other.step(DT)
            numpy = (time.process_time() - start) / STEPS
            for _ in range(40 - STEPS):
                other.step(DT)
            world.step(DT, 40)
            apart = float(np.abs(world.positions[0] - other.x).max()) / RADIUS
            contacts = int(world.stats["contact_count"][0])
            start = time.process_time()
            world.step(DT, 1000)
            engine = (time.process_time() - start) / 1000
        yield {
            "name": f"{count + 27} grains",
            "contacts": contacts,
            "engine [ms]": round(1e3 * engine, 4),
            "numpy [ms]": round(1e3 * numpy, 1),
            "times": round(numpy / engine),
            "apart [radii]": f"{apart:.1e}",
        }


if __name__ == "__main__":
    print(show(list(rows()), ("contacts", "engine [ms]", "numpy [ms]", "times", "apart [radii]")))
