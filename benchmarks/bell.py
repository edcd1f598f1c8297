"""bell.py: what accuracy costs in mode bell: velocity Verlet beside Runge-Kutta-Fehlberg, in evaluations of the forces.

    python -m benchmarks.bell

impact: restitution of a central impact of two spheres, as found by SciPy. heap: 40 tetrahedra that fall into a box; the
error is the root mean square distance of their centres from those of a run of velocity Verlet with a twentieth of the
shortest step, after the first impacts, before chaos takes over. An evaluation finds all forces of an env once: velocity
Verlet has one per step, Runge-Kutta-Fehlberg six, also for steps that are taken back. `cpu_s`: processor time, one
thread.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

import granular_gym as gg
from benchmarks.run import table
from testbed.bell import LAW, MASS, RADIUS, impact, solved, solver
from testbed.clumps import SIZE, box_of_clumps

#: steps per contact, and tolerances [m/s]
SHARES = (20, 50, 100, 200, 400, 800)
TOLERANCES = (1e-2, 1e-3, 1e-4, 1e-5, 1e-6)
#: of the heap: simulated time, time steps of velocity Verlet and of the reference, substep of adaptive steps [s]
DURATION, STEPS, FINEST, SUBSTEP = 0.08, (8e-5, 4e-5, 2e-5, 1e-5), 5e-7, 2e-4


def evaluations(world: gg.World, settings: dict[str, Any]) -> int:
    """Of the forces in the last call of `step`."""
    stats = world.stats
    taken, rejected = int(stats["step_count"][0]), int(stats["rejected_count"][0])
    return 6 * (taken + rejected) if settings else taken


def settings_of(tolerance: float) -> dict[str, Any]:
    """Of adaptive steps."""
    return {"integrator": "rkf45", "tolerance": tolerance}


def impacts() -> Iterator[dict[str, Any]]:
    """Rows of the impact."""
    wanted, duration = solved(LAW, MASS, LAW.stiffness_of(RADIUS, RADIUS), 1.0)
    runs: list[tuple[str, dict[str, Any], float, int]] = [
        (f"verlet, dt = contact / {share}", {}, duration / share, round(1.5 * share)) for share in SHARES
    ]
    runs += [(f"rkf45, {each:g} m/s", settings_of(each), 1.5 * duration, 1) for each in TOLERANCES]
    for name, settings, dt, count in runs:
        with impact(LAW, 1.0, **settings) as world:
            world.step(dt, count)
            motion = world.clump_velocities[0, :, 0]
            error = abs(float(motion[1] - motion[0]) - wanted)
            rejected = int(world.stats["rejected_count"][0])
            yield {
                "name": name,
                "evaluations": evaluations(world, settings),
                "rejected": rejected,
                "error": f"{error:.1e}",
            }


def fallen(dt: float, settings: dict[str, Any]) -> tuple[NDArray[np.float64], int, int, float]:
    """Centres of the clumps after the fall, evaluations, rejected steps, processor time [s]."""
    scene = box_of_clumps(gg.Clump.tetrahedron(SIZE), 40, friction=0.5)
    with scene.build(num_threads=1, solver=solver(LAW, **settings)) as world:
        begin = time.process_time()
        world.step(dt, round(DURATION / dt))
        spent = time.process_time() - begin
        rejected = int(world.stats["rejected_count"][0])
        return world.clump_poses[0, :, :3], evaluations(world, settings), rejected, spent


def heaps() -> Iterator[dict[str, Any]]:
    """Rows of the heap."""
    wanted = fallen(FINEST, {})[0]
    runs: list[tuple[str, float, dict[str, Any]]] = [(f"verlet, {dt:g} s", dt, {}) for dt in STEPS]
    runs += [(f"rkf45, {each:g} m/s", SUBSTEP, settings_of(each)) for each in TOLERANCES]
    for name, dt, settings in runs:
        points, count, rejected, spent = fallen(dt, settings)
        error = float(np.sqrt(((points - wanted) ** 2).sum(axis=1).mean()))
        yield {
            "name": name,
            "evaluations": count,
            "rejected": rejected,
            "error_m": f"{error:.1e}",
            "cpu_s": f"{spent:.2f}",
        }


def main() -> None:
    """Prints both tables."""
    columns = "evaluations", "rejected", "error", "error_m", "cpu_s"
    with warnings.catch_warnings():
        # the longest steps are beyond the rule
        warnings.simplefilter("ignore", gg.StabilityWarning)
        for name, rows in (("impact", impacts()), ("heap", heaps())):
            print(f"{name}\n{table(list(rows), columns)}\n", flush=True)


if __name__ == "__main__":
    main()
