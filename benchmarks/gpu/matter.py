"""matter.py: what a step of continuous matter costs on a GPU, with the certificate of its solve."""

from __future__ import annotations

import time
from collections.abc import Iterator

import numpy as np

from benchmarks import continuum, measure
from benchmarks.gpu.case import FULL, Run
from benchmarks.measure import Row

#: seconds of timed steps of a scene, after which no further one begins
SECONDS = 4.0
CERTIFICATE = ("iteration_count", "linear_count", "search_count", "unsolved_count", "residual", "overlap_max")


def matter(run: Run) -> Iterator[Row]:
    """Dough under a roller, blocks of sand of growing size, and many envs of sand; none goes on where the one before
    took longer than SECONDS."""
    full = run.sizes is FULL
    ladder = (1_000, 50_653, 1_000_000) if full else (100,)
    cases = [("rolling", continuum.rolling(), 1)] if full else []
    cases += [(f"sand of {count}", continuum.sand(count), 1) for count in ladder]
    cases.append(("envs of sand", continuum.sand(ladder[0]), run.sizes.envs))
    for name, case, envs in cases:
        row = _timed(run, name, case, envs, 8 if full else 1)
        yield row
        if row["us_per_step"]["median"] > 1e6 * SECONDS and envs == 1:
            break


def _timed(run: Run, name: str, case: continuum.Case, envs: int, most: int) -> Row:
    """Steps until `most` or SECONDS are reached, after one that is not timed."""
    with case.scene.build(envs, device=run.device, solver=case.solver) as world:
        walls, certificates = [], []
        for k in range(most + 1):
            start = time.perf_counter()
            world.step(case.dt, 1, tool_poses=case.pose(k + 1) if case.pose else None)
            walls.append(time.perf_counter() - start)
            certificates.append([float(np.max(world.stats[key])) for key in CERTIFICATE])
            if k > 0 and sum(walls) > SECONDS:
                break
        timed = [1e6 * wall for wall in walls[1:]]
        row: Row = {"name": f"{envs} x {world.grain_count}, {name}", "grains": world.grain_count, "envs": envs}
        row.update({"dt": case.dt, "steps": len(timed), "us_per_step": measure.spread(timed)})
        particles = world.grain_count * envs
        row["particle_steps_per_s"] = measure.spread([1e6 * particles / wall for wall in timed])
        row.update(dict(zip(CERTIFICATE, np.median(certificates[1:], axis=0).tolist(), strict=True)))
        row["bytes_per_particle"] = world.info["memory"] / particles
        row["diverged"] = int(world.stats["diverged"].sum())
        return row
