"""clumps.py: what clumps and bodies cost, beside lone spheres and beside LAMMPS.

    python -m benchmarks.clumps [rest collapse bodies] [--quick] [--out FOLDER]

rest, collapse: columns of tetrahedra of four spheres, at rest between walls, and collapsing once these are gone; beside
them lone spheres of the same size, as many as there are clumps and as many as there are spheres, and LAMMPS (`lmp` on
the path; fix rigid/small) from the positions of the clumps. bodies: a bed of lone spheres with cubes that fall on it
and rest there, and with one large body half sunk in it.

Sleep is off, everything runs on one thread. The subjects of a table run a block each in turns, so that whatever else
the machine does falls on all alike; a figure is the median of the repeats, in processor time. Contacts are those that
carry a force between grains (LAMMPS: that overlap), each counted for both. Writes FOLDER/clumps.json.
"""

from __future__ import annotations

import argparse
import dataclasses
import functools
import statistics
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import granular_gym as gg
from benchmarks import lammps, measure
from benchmarks.measure import Row
from benchmarks.run import OUT, table
from benchmarks.speed import mostly
from testbed.beds import DENSITY, DIAMETER, DT, RADIUS
from testbed.standard import FRICTION, RESTITUTION, box_mesh

TARGET_RATIO = 10.0  # speed over that of LAMMPS
COUNTS = (2_500, 10_000)  # clumps
BODIES, BED = (1, 10, 100, 1_000), 5_000  # cubes, grains below them
#: half width of the box of 10,000 grains, in diameters of spheres of their volume; of fewer to scale
HALF_WIDTH = 10.0
#: half width of the bed [diameters]
BED_HALF_WIDTH = 12.5
#: width of the box of a collapse over that of the column
ROOM = 3.0
#: simulated times [s]: until a column rests, of a collapse, until the springs of LAMMPS rest
SETTLES, COLLAPSES, PEER_SETTLES = 1.2, 0.3, 0.05
#: simulated times [s]: until cubes meet, how long they are then watched as they fall, until they rest
MEETS, FALLS, LANDS = 0.1, 0.1, 0.7
#: half lengths of the large body [m], and number of its spheres
LARGE, LARGE_SPHERES = (0.08, 0.08, 0.03), 300
COLUMNS = (
    *("us_per_grain_substep", "ms_per_substep", "sim_per_cpu", "over_lammps", "clumps_over_this", "over_bed"),
    *("residual", "overlap_mean_pct", "overlap_max_pct", "contacts_per_clump", "contacts_of_body", "sinking_pct_per_s"),
    "mostly",
)


def of_standard_spheres(shape: gg.Clump) -> gg.Clump:
    """The clump, scaled to spheres of the size of the standard grain."""
    return shape.scaled(RADIUS / float(shape.radii[0]))


TETRAHEDRON = of_standard_spheres(gg.Clump.tetrahedron(1.0))
CUBE = of_standard_spheres(gg.Clump.cube(1.0))


@dataclasses.dataclass
class Subject:
    """A world that is stepped by the same block again and again.

    Attributes:
        name: of its row.
        world: single env.
        substeps: of a block.
        state: where each block starts; None: where the last one ended.
        facts: further columns.
    """

    name: str
    world: gg.World
    substeps: int
    state: gg.State | None = None
    facts: Row = dataclasses.field(default_factory=dict)
    cpu: list[float] = dataclasses.field(default_factory=list)
    heights: list[float] = dataclasses.field(default_factory=list)

    def run(self) -> None:
        """Runs a block, from its start."""
        if self.state is not None:
            self.world.load_state(self.state)
        self.heights.append(measure.mean_height(self.world))
        self.cpu.append(measure.time_block(lambda w: w.step(DT, self.substeps), self.world)[0])

    def phases(self) -> Row:
        """Shares of the phases in the time of a block, the largest first; those above 1 %."""
        if self.state is not None:
            self.world.load_state(self.state)
        self.world.profile(True)
        self.world.step(DT, self.substeps)
        seconds = self.world.profile(False)
        total = sum(seconds.values())
        shares = {name: value / total for name, value in seconds.items() if value > 0.01 * total}
        return dict(sorted(shares.items(), key=lambda item: -item[1]))

    def row(self) -> Row:
        """Its line of the table."""
        per_substep = statistics.median(self.cpu) / self.substeps
        row: Row = {"name": self.name, **self.facts, "cpu_seconds": measure.spread(self.cpu)}
        row["substeps"], row["repeats"] = self.substeps, len(self.cpu)
        row["ms_per_substep"] = 1e3 * per_substep
        row["us_per_grain_substep"] = 1e6 * per_substep / clumps_of(self.world)
        row["sim_per_cpu"] = DT / per_substep
        row.update(measure.quality(self.world))
        row["contacts_per_clump"] = 2.0 * len(touching(self.world)) / clumps_of(self.world)
        if self.state is None:
            rest = measure.mean_height(self.world)
            seconds = DT * self.substeps * len(self.cpu)
            row["sinking_pct_per_s"] = 100.0 * (self.heights[0] - rest) / self.heights[0] / seconds
        shares = self.phases()
        return {**row, "phase_shares": shares, "mostly": mostly(shares)}


def clumps_of(world: gg.World) -> int:
    """Number of clumps, lone spheres among them."""
    return world.clump_count or world.grain_count


def touching(world: gg.World) -> NDArray[np.int32]:
    """Pairs of spheres (n, 2) between which a force acts."""
    found = world.contacts()
    acts = (found.pairs[:, 1] >= 0) & (np.linalg.norm(found.impulses, axis=1) > 0.0)
    pairs: NDArray[np.int32] = found.pairs[acts]
    return pairs


def in_turns(subjects: list[Any]) -> None:
    """Runs a block of each in turns."""
    for _ in range(measure.REPEATS):
        for subject in subjects:
            subject.run()


def by_turn(first: Subject, second: Subject) -> Row:
    """Time of a substep of the first over that of the second, of the same turn."""
    scale = second.substeps / first.substeps
    return measure.spread([scale * a / b for a, b in zip(first.cpu, second.cpu, strict=True)])


# ---- columns ----


def material(scene: gg.Scene, shape: gg.Clump | None) -> int:
    """The material of all grains and walls; shape None: of spheres."""
    kind: Row = {"radius": RADIUS, "rolling_friction": 0.0} if shape is None else {"shape": shape}
    return scene.add_material(density=DENSITY, friction=FRICTION, restitution=RESTITUTION, **kind)


def half_width(count: int, shape: gg.Clump | None) -> float:
    """Of the box of a column [m]; columns of any number of grains have the same shape."""
    diameter = DIAMETER if shape is None else (6.0 * shape.volume / np.pi) ** (1.0 / 3.0)
    return float(HALF_WIDTH * (count / 10_000) ** (1.0 / 3.0) * diameter)


def between_walls(half: float, height: float) -> gg.Scene:
    """An empty box, open at the top."""
    boundary = {"x": "wall", "y": "wall", "z": ("wall", "open")}
    return gg.Scene(((-half, -half, 0.0), (half, half, height)), boundary=boundary)


@functools.lru_cache(maxsize=8)
def settled(count: int, lone: bool) -> tuple[gg.Scene, gg.State]:
    """A column at rest."""
    shape = None if lone else TETRAHEDRON
    half, radius = half_width(count, shape), RADIUS if shape is None else shape.radius
    per_layer = int(2.0 * half / (2.2 * radius)) ** 2
    height = 2.4 * radius * (count // per_layer + 2)
    scene = between_walls(half, height)
    scene.fill_box(material(scene, shape), (-half, -half, 0.0), (half, half, height), count=count)
    with scene.build(num_threads=1) as world:
        world.step(DT, round(SETTLES / DT))
        return scene, world.save_state(env=0)


def resting(count: int, lone: bool) -> gg.World:
    """A world with a column at rest."""
    scene, state = settled(count, lone)
    world = scene.build(num_threads=1)
    world.load_state(state)
    world.step(DT, 10)
    return world


def collapsing(count: int, lone: bool) -> gg.World:
    """The column without its walls."""
    shape = None if lone else TETRAHEDRON
    half = ROOM * half_width(count, shape)
    with resting(count, lone) as source:
        scene = between_walls(half, 2.0 * float(source.positions[0, :, 2].max()))
        grain = material(scene, shape)
        if shape is None:
            scene.add_grains(grain, source.positions[0], RADIUS)
        else:
            poses = source.clump_poses[0]
            scene.add_grains(grain, poses[:, :3], orientations=poses[:, 3:])
    return scene.build(num_threads=1)


class Peer:
    """LAMMPS from the same positions; it is run on, block after block."""

    def __init__(self, world: gg.World, half: float, folder: Path, rests: bool) -> None:
        mass = DENSITY * TETRAHEDRON.volume
        inertia = DENSITY * float(TETRAHEDRON.inertia[0, 0])
        arm = float(np.linalg.norm(TETRAHEDRON.centers[0]))
        kind = lammps.Grain(4, mass, lammps.shortest_step(mass, inertia, arm))
        self._lammps = lammps.Lammps(world.positions[0], half, folder, kind)
        self._dt, self._rests = kind.dt, rests
        self._clumps = world.clump_count
        # what moves is followed through all its motion, what rests is sampled
        moves = round(COLLAPSES / kind.dt / measure.REPEATS)
        self._steps = max(50, 2_000_000 // world.grain_count) if rests else moves
        self.rows: list[Row] = []
        try:
            if rests:
                self._lammps.run(round(PEER_SETTLES / kind.dt))
        except BaseException:
            self.close()
            raise

    def run(self) -> None:
        """Runs a block."""
        self.rows.append(self._lammps.run(self._steps))

    def speeds(self) -> list[float]:
        """Simulated over processor seconds of the blocks that a block of ours is compared with."""
        cpu = [one["cpu_seconds"] for one in self.rows]
        if not self._rests:
            cpu = [statistics.fmean(cpu)] * len(cpu)
        return [self._steps * self._dt / one for one in cpu]

    def row(self, name: str) -> Row:
        """Its line of the table."""
        last, speed = self.rows[-1], statistics.median(self.speeds())
        row: Row = {"name": name, "subject": "LAMMPS", "version": lammps.version(), "dt": self._dt}
        row["cpu_seconds"] = measure.spread([one["cpu_seconds"] for one in self.rows])
        row["substeps"], row["repeats"], row["sim_per_cpu"] = self._steps, len(self.rows), speed
        row["ms_per_substep"] = 1e3 * self._dt / speed
        row["us_per_grain_substep"] = 1e6 * self._dt / speed / self._clumps
        row.update({key: last[key] for key in ("overlap_mean_pct", "overlap_max_pct")})
        row["contacts_per_clump"] = 4.0 * last["contacts_per_grain"]
        if self._rests:
            first = self.rows[0]["mean_height"]
            seconds = self._steps * self._dt * (len(self.rows) - 1)
            row["sinking_pct_per_s"] = 100.0 * (first - last["mean_height"]) / first / seconds
        return row

    def close(self) -> None:
        """Ends LAMMPS."""
        self._lammps.close()


def columns(count: int, rests: bool) -> list[Row]:
    """Clumps, lone spheres and LAMMPS."""
    case, build = ("rest", resting) if rests else ("collapse", collapsing)
    subjects: list[Subject] = []
    peer: Peer | None = None
    with tempfile.TemporaryDirectory() as folder:
        try:
            for what, number, lone in (
                ("tetrahedra", count, False),
                ("spheres", count, True),
                ("spheres", 4 * count, True),
            ):
                world = build(number, lone)
                substeps = max(20, 800_000 // world.grain_count) if rests else round(COLLAPSES / DT)
                start = None if rests else world.save_state(env=0)
                facts = {"case": case, "subject": what, "clumps": number, "spheres": world.grain_count}
                beside = f" (of {count} clumps)" if number > count else ""
                subjects.append(Subject(f"{case}, {number} {what}{beside}", world, substeps, start, facts))
            ours = subjects[0]
            if lammps.program() is not None:
                side = half_width(count, TETRAHEDRON) * (1.0 if rests else ROOM)
                peer = Peer(ours.world, side, Path(folder), rests)
            else:
                print("LAMMPS (lmp) is not on the path, measured without it", flush=True)
            in_turns([*subjects, *([peer] if peer else [])])
            rows = [subject.row() for subject in subjects]
            for row, other in zip(rows[1:], subjects[1:], strict=True):
                row["clumps_over_this"] = by_turn(ours, other)
            if peer:
                rows.append(peer.row(f"{case}, {count} tetrahedra, LAMMPS"))
                pairs = zip(ours.cpu, peer.speeds(), strict=True)
                rows[0]["over_lammps"] = measure.spread([ours.substeps * DT / a / b for a, b in pairs])
            return rows
        finally:
            for subject in subjects:
                subject.world.close()
            if peer:
                peer.close()


# ---- bodies ----


@functools.lru_cache(maxsize=1)
def bed() -> NDArray[np.float64]:
    """Positions of a settled bed of lone spheres [m]."""
    half = BED_HALF_WIDTH * DIAMETER
    scene = between_walls(half, 0.5)
    scene.fill_box(material(scene, None), (-half, -half, 0.0), (half, half, 0.5), count=BED)
    with scene.build(num_threads=1) as world:
        world.step(DT, round(SETTLES / DT))
        points: NDArray[np.float64] = world.positions[0].astype(np.float64)
        return points


def bed_scene(positions: NDArray[np.float64]) -> gg.Scene:
    """A scene with grains of the bed."""
    scene = between_walls(BED_HALF_WIDTH * DIAMETER, 0.5)
    scene.add_grains(material(scene, None), positions, RADIUS)
    return scene


def with_cubes(count: int) -> gg.Scene:
    """The bed with cubes above it, turned anyhow, which fall."""
    points = bed()
    scene = bed_scene(points)
    draw = np.random.default_rng(count)
    pitch = 2.05 * CUBE.radius
    side = int(2.0 * BED_HALF_WIDTH * DIAMETER / pitch)
    cells = np.arange(count) if count >= side**2 else draw.permutation(side**2)[:count]
    place = np.stack([cells % side, cells // side % side, cells // side**2], axis=1) * pitch
    place[:, :2] -= 0.5 * pitch * (side - 1)
    place[:, 2] += float(points[:, 2].max()) + RADIUS + 0.5 * pitch
    turns = draw.normal(size=(count, 4))
    turns /= np.linalg.norm(turns, axis=1, keepdims=True)
    for at, turn in zip(place, turns, strict=True):
        scene.add_body(CUBE, DENSITY * CUBE.volume, pose=(*at, *turn))
    return scene


def with_large_body(field: bool) -> tuple[gg.Scene, int]:
    """The bed with a box half sunk in it, in the place of grains, as heavy as these, met by its spheres or its field;
    number of the grains left."""
    points = bed()
    surface = float(np.quantile(points[:, 2], 0.98))
    shape = gg.Clump.from_mesh(box_mesh(LARGE, 6), LARGE_SPHERES)
    away = np.linalg.norm(np.maximum(np.abs(points - (0.0, 0.0, surface)) - LARGE, 0.0), axis=1)
    left = points[away > RADIUS]
    scene = bed_scene(left)
    mass, pose = 0.58 * DENSITY * 0.5 * shape.volume, (0.0, 0.0, surface, 1.0, 0.0, 0.0, 0.0)
    scene.add_body(gg.Sdf.box(LARGE) if field else shape, mass, name="large", pose=pose, spheres=LARGE_SPHERES)
    return scene, len(left)


def released(scene: gg.Scene) -> gg.World:
    """The world of a scene, when its bodies begin to meet; its bed has found the impulses that carry it."""
    world = scene.build(num_threads=1)
    with warnings.catch_warnings():
        # that the bed is set in contact
        warnings.simplefilter("ignore", gg.StabilityWarning)
        world.step(DT, round(MEETS / DT))
    return world


def landed(scene: gg.Scene) -> gg.World:
    """The world of a scene, after the time in which bodies come to rest."""
    world = released(scene)
    world.step(DT, round(LANDS / DT))
    return world


def contacts_of_body(world: gg.World, first: int) -> int:
    """Contacts of the spheres from id `first` on and with tools, those that are foreseen among them."""
    pairs = world.contacts().pairs
    fields = (pairs < 0) & (pairs >= -world.tool_count)
    return int(((pairs >= first) | fields).any(axis=1).sum())


def bodies(quick: bool) -> list[Row]:
    """The bed without bodies, with cubes and with a large body."""
    subjects: list[Subject] = []

    def add(name: str, world: gg.World, count: int, state: gg.State | None = None) -> None:
        substeps = max(20, 300_000 // world.grain_count) if state is None else round(FALLS / DT)
        facts = {"case": "bodies", "bodies": count, "spheres": world.grain_count}
        subjects.append(Subject(f"bodies, {name}", world, substeps, state, facts))

    try:
        add("none", landed(bed_scene(bed())), 0)
        for count in BODIES[:3] if quick else BODIES:
            falls = released(with_cubes(count))
            add(f"{count} cubes fall", falls, count, falls.save_state(env=0))
            add(f"{count} cubes rest", landed(with_cubes(count)), count)
        left = []
        for kind in ("of", "with a field over"):
            scene, grains = with_large_body(kind != "of")
            left.append(grains)
            add(f"one {kind} {LARGE_SPHERES} spheres", landed(scene), 1)
        in_turns(subjects)
        rows = [subject.row() for subject in subjects]
        for row, subject in zip(rows, subjects, strict=True):
            row["over_bed"] = by_turn(subject, subjects[0])
        for k, grains in enumerate(left):
            rows[k - 2]["contacts_of_body"] = contacts_of_body(subjects[k - 2].world, grains)
        return rows
    finally:
        for subject in subjects:
            subject.world.close()


def in_columns(rests: bool, quick: bool) -> Iterator[list[Row]]:
    """Rows of columns, a table for each number of clumps."""
    for count in COUNTS[: 1 if quick else 2]:
        yield columns(count, rests)


#: by name: a line about the case, and its tables as a function of `quick`
CASES: dict[str, tuple[str, Callable[[bool], Iterable[list[Row]]]]] = {
    "rest": ("columns at rest between walls", lambda quick: in_columns(True, quick)),
    "collapse": ("columns that collapse", lambda quick: in_columns(False, quick)),
    "bodies": (f"bodies in a bed of {BED} spheres", lambda quick: [bodies(quick)]),
}


def verdict(row: Row) -> str:
    """Whether the goal is met."""
    ratio = row["over_lammps"]["median"]
    word = "met" if ratio >= TARGET_RATIO else "MISSED"
    return f"{word}: {row['name']}: {ratio:.3g} times LAMMPS per processor second (goal: at least {TARGET_RATIO:g})"


def main(arguments: list[str] | None = None) -> int:
    """Runs the command line; returns the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0], prog="benchmarks.clumps")
    parser.add_argument("cases", nargs="*", metavar="case", help=f"of {', '.join(CASES)}; none: all")
    parser.add_argument("--quick", action="store_true", help="fewer clumps and bodies")
    parser.add_argument("--out", type=Path, default=OUT, help="folder for clumps.json")
    args = parser.parse_args(arguments)
    unknown = [name for name in args.cases if name not in CASES]
    if unknown:
        parser.error(f"case: expected some of {', '.join(CASES)}, got {', '.join(unknown)}")
    facts = measure.facts()
    print("\n".join(f"{key:<14} {value}" for key, value in facts.items()))
    for name in args.cases or CASES:
        about, measured = CASES[name]
        for rows in measured(args.quick):
            print(f"\n{name}: {about}\n{table(rows, COLUMNS)}")
            print("\n".join(verdict(row) for row in rows if "over_lammps" in row), flush=True)
            measure.save(args.out / "clumps.json", facts, rows)
    return 0


if __name__ == "__main__":
    sys.exit(main())
