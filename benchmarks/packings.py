"""packings.py: a world that is stepped and watched, and measures of the packing it ends with."""

from __future__ import annotations

import time
import warnings
from typing import Any

import numpy as np

import granular_gym as gg
from benchmarks import measure
from benchmarks.measure import Row
from testbed.beds import DENSITY, GRAVITY, RADIUS
from testbed.beds import mass as mass_of
from validation import bulk

#: distance of the core of a bed from floor and surface [d]
CORE = 3.0
#: contacts with less than this fraction of the mean force do not count, as in validation
PRESSING = bulk.PRESSING


class Watch:
    """Steps a world; counts work and time, and remembers the worst of what it saw.

    Attributes:
        seconds: simulated time [s].
        cpu: processor time in steps [s].
        work: iterations times pairs in contact.
        overlap_max: largest overlap [d].
        rise: largest relative increase of energy in a step, of the steps that were taken one by one; None: none were.
        broken: whether the world ran out of memory or stopped being finite: grains lay inside each other.
    """

    def __init__(self, world: gg.World, dt: float, masses: Any = None) -> None:
        self.world, self.dt = world, dt
        self.masses = mass_of(world.radii[0]) if masses is None else masses
        self.seconds = self.cpu = self.work = self.overlap_max = 0.0
        self.rise: float | None = None
        self.broken = False

    def run(self, seconds: float, every: float = 5e-3, tool_poses: Any = None) -> None:
        """Steps; looks at the counters at intervals [s]. Tools are at `tool_poses` in the end."""
        count = round(seconds / self.dt)
        block = max(1, round(every / self.dt))
        start = None if tool_poses is None else self.world.tool_poses[0].copy()
        for done in range(0, count, block):
            substeps = min(block, count - done)
            goal = None
            if tool_poses is not None:
                share = (done + substeps) / count
                goal = start + share * (np.asarray(tool_poses, np.float32) - start)
            if not self._step(substeps, goal):
                return

    def run_with_energy(self, seconds: float) -> None:
        """Steps one by one; notes the largest rise of energy."""
        last = self.energy()
        for _ in range(round(seconds / self.dt)):
            if not self._step(1, None):
                return
            now = self.energy()
            self.rise, last = max(self.rise or 0.0, now / last - 1.0), now

    def _step(self, substeps: int, tool_poses: Any) -> bool:
        if self.broken:
            return False
        begin = time.process_time()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", gg.StabilityWarning)
            try:
                self.world.step(self.dt, substeps, tool_poses)
            except gg.CapacityError:
                self.broken = True
                return False
        self.cpu += time.process_time() - begin
        self.seconds += substeps * self.dt
        stats = self.world.stats
        # a contact of two grains counts twice
        with_tools = int(stats["tool_contact_count"][0])
        pairs = 0.5 * (int(stats["contact_count"][0]) + with_tools)
        self.work += pairs * int(stats["iteration_count"][0])
        self.overlap_max = max(self.overlap_max, float(stats["overlap_max"][0]))
        self.broken = bool(stats["diverged"][0])
        return not self.broken

    def energy(self) -> float:
        """Translational, rotational and potential energy of all grains [J]."""
        v, w = (x[0].astype(np.float64) for x in (self.world.velocities, self.world.angular_velocities))
        radii, height = self.world.radii[0].astype(np.float64), self.world.positions[0, :, 2].astype(np.float64)
        kinetic = 0.5 * (v**2).sum(axis=1) + 0.2 * radii**2 * (w**2).sum(axis=1)
        return float((self.masses * (kinetic + GRAVITY * height)).sum())

    def drift(self, seconds: float) -> float:
        """Speed of the mean height over the next seconds [r/s]; the time counts as simulated."""
        before = measure.mean_height(self.world)
        self.run(seconds)
        return abs(measure.mean_height(self.world) - before) / seconds / RADIUS

    def costs(self) -> Row:
        """Work per simulated second, and processor time per grain and simulated second."""
        seconds = max(self.seconds, self.dt)
        return {
            "pair_iterations_per_s": self.work / seconds,
            "cpu_ms_per_grain_s": 1e3 * self.cpu / seconds / self.world.grain_count,
        }

    def worst(self) -> Row:
        """What went wrong on the way; overlaps in %."""
        rows = {"overlap_max_pct": 100.0 * self.overlap_max, "broken": float(self.broken)}
        return rows if self.rise is None else {**rows, "energy_rise_pct": 100.0 * self.rise}


def pressing_counts(world: gg.World) -> np.ndarray:
    """Contacts of each grain that carry force, walls and tools included."""
    found = world.contacts()
    force = np.linalg.norm(found.forces, axis=1)
    mean = float(force[force > 0.0].mean()) if (force > 0.0).any() else 0.0
    return found.pressing(PRESSING * mean).counts(world.grain_count)


def bed_measures(world: gg.World, side: float) -> Row:
    """Mean height [d], solid fraction and force-bearing contacts of a bed, 3 d off floor and surface.

    Args:
        world: a bed that is periodic sideways, its floor at z = 0.
        side: of the periodic square [d].
    """
    diameter = 2.0 * RADIUS
    z = world.positions[0, :, 2].astype(np.float64) / diameter
    surface = float(np.sort(z)[-max(len(z) // 24, 20) :].mean())
    lower, upper = CORE, surface - CORE
    core = (z > lower) & (z < upper)
    row: Row = {"height": float(z.mean())}
    if core.any():
        edges = np.array([lower, upper]) * diameter
        radii = world.radii[0].astype(np.float64)[:, None]
        row["fraction"] = float(bulk.slab_profile(z * diameter, edges, (side * diameter) ** 2, radii)[0])
        row["contacts"] = float(pressing_counts(world)[core].mean())
    return row


def motion(world: gg.World, dt: float) -> Row:
    """Root mean square speed over g dt, and mean overlap of what overlaps [% d]."""
    speed = float(np.sqrt((world.velocities[0].astype(np.float64) ** 2).sum(axis=1).mean()))
    stats = world.stats
    overlap = float(stats["overlap_sum"][0]) / max(int(stats["overlap_count"][0]), 1)
    return {"rms_over_g_dt": speed / (GRAVITY * dt), "overlap_mean_pct": 100.0 * overlap}


def masses(world: gg.World, ratios: Any = 1.0) -> np.ndarray:
    """Masses of the grains [kg], where some are denser than the standard grain by ratios."""
    return np.asarray(mass_of(world.radii[0], DENSITY) * ratios, np.float64)
