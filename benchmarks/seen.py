"""seen.py: what segmentations and colours of cameras take beside depths.

Processor time of one thread [ms], medians; grains are set anew before each, so that all is drawn. The columns: depth
alone, segmentation, colours after a segmentation, segmentation after a depth that brought it along.
"""

from __future__ import annotations

import statistics
import time

import granular_gym as gg
from granular_gym.envs.bulldozer import BulldozerTask
from testbed.continuum import shown

ROUNDS = 60
#: what is read before, not timed, and what is timed
COLUMNS = {"depth": (), "segmentation": (), "color": ("segmentation",), "then segmentation": ("depth",)}


def measured(world: gg.World, camera: str) -> dict[str, float]:
    """Median of each column [ms]."""
    places, found = world.positions, {}
    for name, before in COLUMNS.items():
        times = []
        for _ in range(ROUNDS):
            world.set_grains(positions=places)
            for first in before:
                getattr(world, first)(camera)
            start = time.process_time()
            getattr(world, name.split()[-1])(camera)
            times.append(time.process_time() - start)
        found[name] = 1e3 * statistics.median(times)
    return found


def row(world: gg.World, camera: str) -> str:
    """A row of the table."""
    _, height, width = world.depth(camera).shape
    cells = " | ".join(f"{value:.3f}" for value in measured(world, camera).values())
    return f"| `{camera}`, {height} x {width}, {world.grain_count} grains | {cells} |"


def main() -> None:
    """Prints the table."""
    print("| camera | " + " | ".join(COLUMNS) + " |\n|---|" + "---|" * len(COLUMNS))
    task = BulldozerTask(1, grain_count=500, num_threads=1)
    with task.build() as world:
        world.step(task.pace.dt, 20)
        print("\n".join(row(world, camera) for camera in ("ego", "sky")))
    with shown().build(num_threads=1) as world:
        print(row(world, "perspective"))


if __name__ == "__main__":
    main()
