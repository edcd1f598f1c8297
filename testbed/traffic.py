"""traffic.py: what kernels of small scenes move, how often they meet, and whether anything they read may be stale.

The scenes run on the emulated GPU with its instrument (`testbed.instrumented`), from states that a CPU has settled.
`measured` says all of one scene in numbers per grain and substep; it needs a process of its own, see `in_process`.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import Any

import granular_gym as gg
from testbed import parity
from testbed.beds import DT, column_scene
from testbed.continuum import kneaded, stirred
from testbed.heaps import STEP, blade_pose, trough
from testbed.instrumented import ROOT, build, lines, load, measure
from testbed.planar import pile
from testbed.standard import wide_bed

#: bytes of a sector
SECTOR = 32
#: what is told of global memory per grain and substep [bytes]
FLOWS = ("read", "written", "sectors", "cold", "missed")
#: what threads ask of shared memory [bytes], and instructions of warps that access memory, likewise
INSIDE = ("shared", "accesses")
#: kinds of barriers, from those of the blocks of a team down
BARRIERS = ("team", "block", "warp", "half warp")


@dataclass(frozen=True)
class Measurement:
    """A scene, the kernels that run it, and how many substeps are measured after as many on a CPU."""

    scene: Callable[[], gg.Scene]
    kernel: str
    substeps: int = 4
    settle: int = 200
    dt: float = DT
    envs: int = 1
    solver: dict[str, Any] = field(default_factory=dict)
    #: of the second-level cache of an H200 or H100, 50 MB, the part of a grain [bytes], as of 264 envs of 1,000
    cache: float = 190.0
    #: where tools are after step k; steps 0 to `pushed` - 1 are the CPU's, after it has settled, `pushed` is measured
    poses: Callable[[int], Any] | None = None
    pushed: int = 0

    def step(self, world: gg.World, k: int) -> None:
        """Step k."""
        world.step(self.dt, self.substeps, tool_poses=self.poses(k) if self.poses else None)


def _column() -> gg.Scene:
    return column_scene(300, 4.0)


def _pile() -> gg.Scene:
    return pile(gg.Shape2D.hash(0.05), 100)


SCENES = {
    "spheres, block": Measurement(_column, "block"),
    "spheres, team": Measurement(_column, "team", cache=1000.0),  # one world of 50,000
    "spheres, graph": Measurement(_column, "graph"),
    "4 envs of spheres, block": Measurement(lambda: column_scene(64, 2.5), "block", envs=4),
    "jacobi, team": Measurement(_column, "team", solver={"mode": "jacobi"}),
    "planar, team": Measurement(_pile, "team", dt=2e-3),
    "continuum, team": Measurement(lambda: kneaded(0.04), "team", substeps=1, settle=0),
}
#: scenes with features that those above lack, where only the order of accesses is of interest: they begin in the air
WIDE = {
    f"{name}, {kernel}": Measurement(getattr(parity, name), kernel, substeps=10, settle=settle)
    for name, settle in (("heap", 40), ("mixed", 40), ("rough", 0), ("clumped", 40), ("fielded", 40), ("wielded", 0))
    for kernel in ("team", "graph")
} | {
    "bell, team": Measurement(
        parity.forced, "team", substeps=10, settle=40, solver={"mode": "bell", "bell": parity.BELL}
    ),
    "bell by rkf45, team": Measurement(
        parity.forced,
        "team",
        substeps=2,
        settle=40,
        solver={"mode": "bell", "bell": parity.BELL, "integrator": "rkf45", "tolerance": 1e-3},
    ),
    "tabled, team": Measurement(
        parity.tabled, "team", substeps=10, settle=40, solver={"mode": "table", "table": parity.TABLE}
    ),
    "moist, team": Measurement(parity.moist, "team", substeps=10, settle=40),
    "heap until it converges, team": Measurement(
        lambda: parity.heap(60), "team", substeps=10, settle=40, solver={"tolerance": 2e-3, "iterations": 12}
    ),
    "heap by jacobi until it converges, team": Measurement(
        lambda: parity.heap(60),
        "team",
        substeps=10,
        settle=40,
        solver={"mode": "jacobi", "tolerance": 2e-3, "iterations": 12},
    ),
    "liquid, team": Measurement(stirred, "team", substeps=1, settle=2, dt=1e-3),
    "half asleep, team": Measurement(
        trough,
        "team",
        substeps=STEP,
        settle=1000,
        solver={"sleep": True},
        poses=lambda k: blade_pose(14 + k)[None],
        pushed=6,
    ),
    "springs, team": Measurement(_pile, "team", settle=1000, dt=2e-4, solver={"mode": "penalty", "stiffness": 1e5}),
}


def _bed() -> gg.Scene:
    """A settled bed of 1,000 grains, endless in x and y: as large ones are, grain by grain."""
    return wide_bed((1, 1), 10, "cpu")


#: sweeps of the beds below: those of the default, and as many as are no less accurate than ten Jacobi iterations
BED_SWEEPS = (10, 5)
#: the beds that speeds are promised for (tools/gpu_floors.py), with what a grain of them has of the second-level cache
BEDS = {
    f"{name}, {sweeps} sweeps": replace(bed, solver={"iterations": sweeps})
    for name, bed in {
        "1 x 50,000": Measurement(_bed, "team", substeps=2, cache=1000.0),
        "1 x 500,000": Measurement(_bed, "team", substeps=2, cache=100.0),
        "148 x 10,000": Measurement(_bed, "team", substeps=2, cache=76.0),  # 66 teams at a time
        "1,024 x 1,000": Measurement(_bed, "block", substeps=2),
    }.items()
    for sweeps in BED_SWEEPS
}


@dataclass(frozen=True)
class Known:
    """Accesses that nothing puts in order, and need not be: kind and distance ("": any), array ("": any), phases."""

    between: str
    kind: str
    array: str
    phases: tuple[str, ...]
    why: str

    def covers(self, race: dict[str, Any]) -> bool:
        """Whether a race is one of these."""
        return (
            self.between in ("", race["between"])
            and self.kind in ("", race["kind"])
            and self.array in ("", race["array"])
            and race["before"]["phase"] == race["after"]["phase"]
            and race["after"]["phase"] in self.phases
        )


KNOWN = (
    Known(
        *("lanes", "", "", ("prepare_colour", "sweep_colour", "prepare_clumps", "sweep_clumps")),
        why="lanes that fill up the last row of a colour repeat its last contact; nothing that they compute is kept",
    ),
    Known("", "write after write", "uncoloured_first", ("colour_contacts",), why="all write the same value"),
    *(
        Known(
            "", kind, "cell_first", ("choose_asleep",), why="marks are added by atomic operations beside the one read"
        )
        for kind in ("read after write", "write after read")
    ),
)


def _worlds(of: Measurement) -> gg.World:
    solver = gg.Solver(**of.solver)
    world = of.scene().build(env_count=of.envs, device="cuda", solver=solver, overlaps="ignore")
    if of.settle:
        with of.scene().build(
            env_count=of.envs, device="cpu", num_threads=1, solver=solver, overlaps="ignore"
        ) as settled:
            settled.step(of.dt, of.settle)
            for k in range(of.pushed):
                of.step(settled, k)
            world.load_state(settled.save_state())
    world._core.set_kernel(of.kernel)
    return world


def measured(of: Measurement, without: str = "") -> dict[str, Any]:
    """What happens in the substeps of a scene.

    Args:
        of: the scene.
        without: phase whose barriers are taken not to be there.

    Returns:
        By phase and by array, per grain and substep: FLOWS of global memory [bytes], and INSIDE. Per substep: kernels,
        and barriers that block 0 has, by phase and kind. Contacts: per grain, at both grains. Races: those that nothing
        in KNOWN explains.

    Raises:
        ValueError: there is no such phase.
    """
    meter = load()
    if not meter.gg_meter_forget(without.encode()) and without:
        raise ValueError(f"without: expected the name of a phase, got {without!r}")
    with _worlds(of) as world:
        grains = world.grain_count * of.envs
        raw = measure(meter, lambda: of.step(world, of.pushed), int(of.cache * grains))
        contacts = float(world.stats["contact_count"].sum()) / grains
    meter.gg_meter_forget(b"")
    share = 1.0 / (grains * of.substeps)
    phases: dict[str, Counter[str]] = defaultdict(Counter)
    arrays: dict[str, Counter[str]] = defaultdict(Counter)
    for flow in raw["traffic"]:
        shared = flow["array"] == "shared memory"
        told = {"shared" if shared else flow["side"]: flow["bytes"] * share}
        told |= {name: flow[name] * SECTOR * share for name in ("sectors", "cold", "missed") if not shared}
        told["accesses"] = flow["accesses"] * share
        for table, key in ((phases, flow["phase"]), (arrays, flow["array"])):
            table[key].update(told)
    for barrier in raw["barriers"]:
        phases[barrier["phase"]][barrier["kind"]] += barrier["count"] / of.substeps
    races = [race for race in raw["races"] if not any(known.covers(race) for known in KNOWN)]
    return {
        "kernels": raw["kernels"] / of.substeps,
        "contacts": contacts,
        "phases": {phase: dict(flows) for phase, flows in phases.items()},
        "arrays": {array: dict(flows) for array, flows in arrays.items()},
        "races": _named(races),
    }


def _named(races: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Races with source lines in place of addresses, those of the same lines added up."""
    found = lines({race[side]["code"] for race in races for side in ("before", "after")})
    sums: Counter[tuple[str, ...]] = Counter()
    for race in races:
        ends = [text for side in ("before", "after") for text in (race[side]["phase"], found[race[side]["code"]])]
        sums[(race["between"], race["kind"], race["array"], *ends)] += race["count"]
    keys = ("between", "kind", "array", "before_phase", "before", "after_phase", "after")
    return [{**dict(zip(keys, race, strict=True)), "count": count} for race, count in sorted(sums.items())]


def totals(of: dict[str, Any]) -> dict[str, float]:
    """The sums over all phases of what `measured` tells."""
    sums: Counter[str] = Counter()
    for flows in of["phases"].values():
        sums.update(flows)
    return {"kernels": of["kernels"], **{name: sums[name] for name in (*FLOWS, *INSIDE, *BARRIERS)}}


def in_process(names: Iterable[str], without: str = "", **environment: str) -> dict[str, dict[str, Any]]:
    """`measured` of scenes of SCENES, WIDE and BEDS, by another process that runs the instrumented package.

    Raises:
        RuntimeError: it failed.
    """
    package = build()
    code = (
        "from testbed.instrumented import load; load()\n"
        "from testbed import traffic; import json, sys\n"
        "print(json.dumps({n: traffic.measured({**traffic.SCENES, **traffic.WIDE, **traffic.BEDS}[n], sys.argv[1])"
        " for n in sys.argv[2:]}))"
    )
    settings = {**os.environ, "PYTHONPATH": os.pathsep.join((str(package), str(ROOT))), **environment}
    with tempfile.TemporaryDirectory() as elsewhere:
        done = subprocess.run(
            [sys.executable, "-c", code, without, *names], cwd=elsewhere, env=settings, capture_output=True, text=True
        )
    if done.returncode:
        raise RuntimeError(f"the instrumented package: {done.stderr[-2000:]}")
    result: dict[str, dict[str, Any]] = json.loads(done.stdout)
    return result
