"""calibrate.py: finds the friction and rolling friction with which simulated grains do what real ones were seen to do.

An experiment is simulated for many candidates at once, one env each; SciPy's differential evolution chooses them. The
best few are then measured again from other starts, so that what is reported is not the luck of one start. One target
does not pin down two coefficients: `plausible` says between which values all candidates lie that fit as well.

Lengths are counted in grain radii r and times in sqrt(r / g): a calibration costs the same for sand and for gravel.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from granular_gym.base import checks, rng
from granular_gym.engine.scene import Scene
from granular_gym.engine.sizes import SizeDistribution
from granular_gym.engine.solver import Solver
from granular_gym.engine.world import World
from granular_gym.errors import ArgumentError, CalibrationError, GranularError
from granular_gym.shapes.mesh import Mesh
from granular_gym.shapes.sdf import Sdf

Floats = NDArray[np.float64]
GRAVITY = 9.81  # [m/s2]
#: what is searched for
PARAMETERS = ("friction", "rolling_friction")
#: candidates of the search that are measured again
_FINALISTS = 4


@dataclasses.dataclass(frozen=True)
class Grains:
    """The grains of a calibration: all but what is searched for.

    Attributes:
        density: [kg/m3].
        radius: one, or a SizeDistribution [m].
        restitution: see `Scene.add_material`.
        cohesion: likewise [N/m].
        cohesion_range: likewise [m].
    """

    density: float
    radius: float | SizeDistribution
    restitution: float = 0.0
    cohesion: float = 0.0
    cohesion_range: float = 0.0

    @property
    def sizes(self) -> SizeDistribution:
        """Of the radii."""
        if isinstance(self.radius, SizeDistribution):
            return self.radius
        radius = checks.number("radius", self.radius, 0.0, above=True)
        return SizeDistribution.uniform(radius, radius)

    def add_to(self, scene: Scene) -> int:
        """Adds the material to a scene."""
        return scene.add_material(
            density=self.density,
            restitution=self.restitution,
            cohesion=self.cohesion,
            cohesion_range=self.cohesion_range,
            name="grains",
        )


class Experiment(Protocol):
    """What is simulated and measured; `measure` gives one value per candidate."""

    @property
    def target(self) -> float:
        """Wanted."""
        ...

    @property
    def name(self) -> str:
        """For reports."""
        ...

    @property
    def unit(self) -> str:
        """Of target and values."""
        ...

    def measure(self, grains: Grains, candidates: Floats, seeds: Sequence[int]) -> Floats:
        """Values (n,) of candidates (n, 2): friction and rolling friction of everything with everything.

        What is random about candidate k follows from seeds[k].
        """
        ...


def _checked(experiment: Any, upper: float) -> None:
    checks.number("target", experiment.target, 0.0, upper, above=True)
    checks.integer("grain_count", experiment.grain_count, 50, 1_000_000)


@dataclasses.dataclass(frozen=True)
class ReposeAngle:
    """The slope of the heap that a slowly lifted cylinder leaves on a floor of the same material.

    Attributes:
        target: [deg].
        grain_count: grains of the heap.
    """

    target: float
    grain_count: int = 600
    name = "angle of repose"
    unit = "deg"

    def __post_init__(self) -> None:
        _checked(self, 89.0)

    def measure(self, grains: Grains, candidates: Floats, seeds: Sequence[int]) -> Floats:
        """Slope of the cone with the heap's centre of mass and median distance from the axis [deg]."""
        r = grains.sizes.largest
        inner = r * max(6.0, 0.95 * self.grain_count ** (1.0 / 3.0))
        filling = _Filling(grains, self.grain_count, inner, cylinder=True)
        far = 12.0 * inner
        scene = Scene(((-far, -far, 0.0), (far, far, 3.0 * filling.height)), gravity=(0, 0, -GRAVITY))
        filling.add_to(scene)
        smooth = scene.add_material(density=grains.density, friction=0.0, rolling_friction=0.0, name="cylinder")
        tube = Sdf.from_mesh(_tube(inner, inner + 4.0 * r, filling.height), spacing=r)
        scene.add_tool(tube, name="cylinder", material=smooth)
        with _world(scene, filling, candidates, seeds) as world:
            _run(world, r, 30.0)
            _run(world, r, 0.9 * filling.height / r, tool_poses=[[0, 0, 0.9 * filling.height, 1, 0, 0, 0]])
            world.set_tool_poses([[0, 0, 2.0 * filling.height, 1, 0, 0, 0]])
            _run(world, r, 40.0)
            return np.array([_slope(places) for places in world.positions.astype(np.float64)])


@dataclasses.dataclass(frozen=True)
class BulkDensity:
    """Mass over volume of a bed that was poured, away from walls.

    Attributes:
        target: [kg/m3].
        grain_count: grains of the bed.
    """

    target: float
    grain_count: int = 600
    name = "bulk density"
    unit = "kg/m3"

    def __post_init__(self) -> None:
        _checked(self, 1e6)

    def measure(self, grains: Grains, candidates: Floats, seeds: Sequence[int]) -> Floats:
        """Of the middle half of a bed that is periodic along x and y [kg/m3]."""
        r = grains.sizes.largest
        half = r * max(5.0, 0.75 * self.grain_count ** (1.0 / 3.0))
        filling = _Filling(grains, self.grain_count, half, cylinder=False)
        boundary = {"x": "periodic", "y": "periodic", "z": ("wall", "open")}
        bounds = ((-half, -half, 0.0), (half, half, 1.2 * filling.height))
        scene = Scene(bounds, gravity=(0, 0, -GRAVITY), boundary=boundary)
        filling.add_to(scene)
        with _world(scene, filling, candidates, seeds) as world:
            _run(world, r, 12.0 + 6.0 * math.sqrt(filling.height / r))
            radii = world.radii[0].astype(np.float64)
            values = []
            for places in world.positions.astype(np.float64):
                low, high = np.quantile(places[:, 2], 0.97) * np.array([0.2, 0.7])
                solid = _volume_below(places[:, 2], radii, high) - _volume_below(places[:, 2], radii, low)
                values.append(grains.density * solid / (4.0 * half**2 * (high - low)))
            return np.array(values)


@dataclasses.dataclass(frozen=True)
class DischargeRate:
    """Mass flow through a square opening in the flat floor of a bin that is 2.5 times as wide.

    Attributes:
        target: [kg/s].
        opening: side of the square [m]; at least 10 radii of the largest grain, or it clogs.
        grain_count: grains in the bin.
    """

    target: float
    opening: float
    grain_count: int = 2000
    name = "discharge rate"
    unit = "kg/s"

    def __post_init__(self) -> None:
        _checked(self, 1e9)
        checks.number("opening", self.opening, 0.0, above=True)

    def measure(self, grains: Grains, candidates: Floats, seeds: Sequence[int]) -> Floats:
        """Mean flow between a fifth and 45 % of the grains that leave; a clogged bin has none [kg/s]."""
        r = grains.sizes.largest
        hole = 0.5 * self.opening
        if self.opening < 10.0 * r:
            raise ArgumentError(f"opening: expected at least 10 radii ({10 * r:g} m), got {self.opening:g}")
        half = 2.5 * hole
        filling = _Filling(grains, self.grain_count, half, cylinder=False)
        deep, thick = 12.0 * r, 2.0 * r
        bounds = ((-half, -half, -deep), (half, half, 1.2 * filling.height))
        boundary = {"x": "wall", "y": "wall", "z": ("open", "open")}
        scene = Scene(bounds, gravity=(0, 0, -GRAVITY), boundary=boundary)
        filling.add_to(scene)
        rim = 0.5 * (half - hole)
        sides = [Sdf.box((rim, half, thick)).at((s * (hole + rim), 0.0, -thick)) for s in (-1.0, 1.0)] + [
            Sdf.box((hole, rim, thick)).at((0.0, s * (hole + rim), -thick)) for s in (-1.0, 1.0)
        ]
        scene.add_tool(Sdf.union(sides), name="floor")
        scene.add_tool(Sdf.box((hole, hole, thick)).at((0.0, 0.0, -thick)), name="gate")
        # the column above the opening, a sixth of all, may fall out at once
        begun, wanted, pace = 0.2, 0.45, 0.5
        with _world(scene, filling, candidates, seeds) as world:
            _run(world, r, 40.0)
            floor, gate = [0, 0, 0, 1, 0, 0, 0], [0, 0, -100.0 * deep, 1, 0, 0, 0]
            world.set_tool_poses([floor, gate])
            mass = grains.density * 4.0 / 3.0 * math.pi * world.radii[0].astype(np.float64) ** 3
            left = [np.zeros(len(candidates))]
            for step in range(1, 4000):
                _run(world, r, pace)
                left.append((world.positions[:, :, 2] < -thick) @ mass / mass.sum())
                # a bin from which nothing came for 50 of these times is clogged
                clogged = left[-1] == left[max(step - 50, 0)] if step > 100 else np.zeros(len(candidates), bool)
                if ((left[-1] >= wanted) | clogged).all():
                    break
        rates = np.zeros(len(candidates))
        times = pace * math.sqrt(r / GRAVITY) * np.arange(len(left))
        for k, share in enumerate(np.array(left).T):
            if share[-1] >= wanted:
                begin, end = np.interp([begun, wanted], share, times)
                rates[k] = (wanted - begun) * mass.sum() / (end - begin)
        return rates


@dataclasses.dataclass(frozen=True)
class Calibration:
    """What a calibration found.

    Attributes:
        friction: of everything with everything.
        rolling_friction: likewise.
        experiments: names, in the order of the next fields.
        units: of each.
        targets: wanted.
        achieved: mean over fresh starts.
        uncertainty: standard error of that mean.
        tolerance: relative; `met` asks for it.
        plausible: lowest and highest value of each parameter among the candidates that met all targets as well, or came
            as close as the best one does, to within the tolerance.
        candidates: all that were tried (n, 2).
        values: what they gave (n, experiments).
    """

    friction: float
    rolling_friction: float
    experiments: tuple[str, ...]
    units: tuple[str, ...]
    targets: tuple[float, ...]
    achieved: tuple[float, ...]
    uncertainty: tuple[float, ...]
    tolerance: float
    plausible: dict[str, tuple[float, float]]
    candidates: Floats
    values: Floats

    @property
    def evaluations(self) -> int:
        """Candidates that were simulated."""
        return len(self.candidates)

    @property
    def misses(self) -> tuple[float, ...]:
        """Achieved over target minus one, of each experiment."""
        return tuple(a / t - 1.0 for a, t in zip(self.achieved, self.targets, strict=True))

    @property
    def met(self) -> bool:
        """Whether every target is met within the tolerance."""
        return all(abs(miss) <= self.tolerance for miss in self.misses)

    def require(self) -> Calibration:
        """Itself.

        Raises:
            CalibrationError: a target is not met; the message says how close it came.
        """
        if not self.met:
            raise CalibrationError(self.describe())
        return self

    def describe(self) -> str:
        """A few lines for people."""
        lines = [f"friction {self.friction:.3f}, rolling friction {self.rolling_friction:.3f}"]
        rows = zip(
            self.experiments, self.units, self.targets, self.achieved, self.uncertainty, self.misses, strict=True
        )
        for name, unit, target, achieved, error, miss in rows:
            verdict = "met" if abs(miss) <= self.tolerance else "not met"
            got = f"{achieved:.4g} +- {error:.2g} {unit} ({miss:+.1%})"
            lines.append(f"{name}: wanted {target:.4g} {unit}, got {got}: {verdict} within {self.tolerance:.1%}")
        ranges = ", ".join(f"{name} {a:.3f} .. {b:.3f}" for name, (a, b) in self.plausible.items())
        lines.append(f"fits as well: {ranges}; {self.evaluations} candidates")
        return "\n".join(lines)


def calibrate(
    experiments: Experiment | Sequence[Experiment],
    grains: Grains,
    *,
    friction: Any = (0.05, 1.0),
    rolling_friction: Any = (0.0, 0.6),
    tolerance: float = 0.03,
    candidates: int = 12,
    rounds: int = 6,
    repeats: int = 4,
    seed: int = 0,
) -> Calibration:
    """Searches for the friction and rolling friction that meet the targets of one or more experiments.

    Args:
        experiments: `ReposeAngle`, `BulkDensity`, `DischargeRate`, or anything else with their members.
        grains: all the rest about the material.
        friction: (lowest, highest) of the search, or one value that is held.
        rolling_friction: likewise.
        tolerance: relative; the search ends early where a candidate meets every target within half of it.
        candidates: simulated at once, >= 5.
        rounds: of candidates after the first one, >= 0.
        repeats: fresh starts over which the best few candidates are measured, >= 2.
        seed: of starts and search, >= 0.

    Raises:
        ArgumentError: a value that makes no sense.
        ImportError: SciPy is not installed (pip install "granular_gym[calibrate]").

    Returns:
        The best candidate, whether or not it meets the targets: see `Calibration.met` and `Calibration.require`.
    """
    try:
        from scipy.optimize import differential_evolution  # type: ignore[import-untyped, unused-ignore]
    except ImportError:
        raise ImportError('calibrate needs SciPy: pip install "granular_gym[calibrate]"') from None
    tests: list[Experiment] = list(experiments) if isinstance(experiments, Sequence) else [experiments]
    if not tests:
        raise ArgumentError("experiments: expected at least one, got none")
    share = checks.number("tolerance", tolerance, 0.0, 1.0, above=True)
    size = checks.integer("candidates", candidates, 5, 4096)
    generations = checks.integer("rounds", rounds, 0, 10_000)
    fresh = checks.integer("repeats", repeats, 2, 4096)
    start = checks.integer("seed", seed, 0, 2**31 - 1)
    ends = np.array([_ends(n, v) for n, v in zip(PARAMETERS, (friction, rolling_friction), strict=True)])
    targets = np.array([test.target for test in tests])
    tried: list[Floats] = []
    found: list[Floats] = []

    def run(table: Floats, seeds: Sequence[int]) -> Floats:
        return np.stack([test.measure(grains, table, seeds) for test in tests], axis=1)

    def misfit(values: Floats) -> Floats:
        return np.sqrt(((values / targets - 1.0) ** 2).mean(axis=1))

    free = np.flatnonzero(ends[:, 0] < ends[:, 1])

    def objective(x: Floats) -> Floats:
        table = np.repeat(ends[:, :1].T, x.shape[1], axis=0)
        table[:, free] = x.T
        # all start alike, so that candidates differ by nothing but themselves
        values = run(table, [start] * len(table))
        tried.append(table)
        found.append(values)
        return misfit(values)

    def near_enough(*_: Any, **__: Any) -> bool:
        last = np.concatenate(found)
        return bool((np.abs(last / targets - 1.0).max(axis=1) <= 0.5 * share).any())

    if free.size:
        population = np.array([rng.uniform(start, 41 + int(k), size) for k in free]).T
        population = (
            population + np.array([np.argsort(c) for c in population.T]).T
        ) / size  # one in each row and column
        scaled = ends[free, 0] + np.clip(population, 0.0, 1.0) * (ends[free, 1] - ends[free, 0])
        try:
            differential_evolution(
                objective,
                list(map(tuple, ends[free])),
                init=scaled,
                maxiter=generations,
                vectorized=True,
                updating="deferred",
                polish=False,
                tol=0.0,
                atol=0.0,
                callback=near_enough,
                rng=np.random.default_rng(start),
            )
        except RuntimeError as error:
            # SciPy wraps what an experiment raises
            raise error.__cause__ if isinstance(error.__cause__, GranularError) else error from None
    else:
        objective(np.zeros((0, 1)))
    table, values = np.concatenate(tried), np.concatenate(found)
    scores = misfit(values)
    # the best of one start may have been lucky: the few best ones meet again, from other starts
    finalists = table[np.argsort(scores, kind="stable")[:_FINALISTS]]
    seeds = list(range(start + 1, start + 1 + fresh))
    finals = run(np.repeat(finalists, fresh, axis=0), seeds * len(finalists))
    finals = finals.reshape(len(finalists), fresh, len(tests))
    winner = int(np.argmin(misfit(finals.mean(axis=1))))
    best, again = finalists[winner], finals[winner]
    fits = scores <= scores.min() + share
    return Calibration(
        friction=float(best[0]),
        rolling_friction=float(best[1]),
        experiments=tuple(test.name for test in tests),
        units=tuple(test.unit for test in tests),
        targets=tuple(map(float, targets)),
        achieved=tuple(map(float, again.mean(axis=0))),
        uncertainty=tuple(map(float, again.std(axis=0, ddof=1) / math.sqrt(fresh))),
        tolerance=share,
        plausible={n: (float(table[fits, k].min()), float(table[fits, k].max())) for k, n in enumerate(PARAMETERS)},
        candidates=table,
        values=values,
    )


# ---- what the experiments share ----


class _Filling:
    """Grains on a loose lattice above z = 0 in a cylinder or a box, about to fall."""

    def __init__(self, grains: Grains, count: int, half: float, *, cylinder: bool) -> None:
        self.grains, self.count = grains, count
        self.radii = grains.sizes.sample(count, 1)
        self.step = 2.3 * grains.sizes.largest
        side = int(2.0 * half / self.step)
        ticks = (np.arange(side) - 0.5 * (side - 1)) * self.step
        x, y = (a.ravel() for a in np.meshgrid(ticks, ticks))
        inside = np.hypot(x, y) < half - 1.1 * grains.sizes.largest if cylinder else np.ones(len(x), bool)
        base = np.stack([x[inside], y[inside]], axis=1)
        k = np.arange(count)
        self.places = np.c_[base[k % len(base)], (0.55 + k // len(base)) * self.step]
        self.height = float(self.places[:, 2].max()) + self.step

    def add_to(self, scene: Scene) -> None:
        """Adds the grains."""
        scene.add_grains(self.grains.add_to(scene), self.places, self.radii)

    def start(self, seeds: Sequence[int]) -> tuple[Floats, Floats]:
        """Places and velocities by seed: shifted within the lattice and stirred, so that no column of it stands."""
        random = np.stack([[rng.uniform(seed, axis, self.count) - 0.5 for axis in range(6)] for seed in seeds])
        shifts, speeds = random[:, :3].swapaxes(1, 2), random[:, 3:].swapaxes(1, 2)
        pace = 4.0 * math.sqrt(GRAVITY * self.grains.sizes.largest)
        return self.places + 0.12 * self.step * shifts, pace * speeds


def _world(scene: Scene, filling: _Filling, candidates: Floats, seeds: Sequence[int]) -> World:
    """One env per candidate. A tool of a material of its own keeps it."""
    world = scene.build(env_count=len(candidates), solver=Solver(iterations=20))
    world.set_pair("grains", "grains", friction=candidates[:, 0], rolling_friction=candidates[:, 1])
    world.set_grains(*filling.start(seeds))
    return world


def _run(world: World, radius: float, times: float, tool_poses: Any = None) -> None:
    """Steps for so many sqrt(r / g)."""
    # at the speeds of a fall from 60 radii no grain moves by more than a third of a radius
    unit = math.sqrt(radius / GRAVITY)
    substeps = max(round(times / 0.045), 1)
    world.step(times * unit / substeps, substeps, tool_poses)


def _slope(places: Floats) -> float:
    """Of the cone that has the heap's height of the centre of mass and its median distance from the axis [deg].

    In a cone of height H and radius R these are H / 4 and R / 2. The median does not notice the few that rolled away.
    """
    away = np.hypot(*(places[:, :2] - np.median(places[:, :2], axis=0)).T)
    return float(np.degrees(np.arctan(2.0 * places[:, 2].mean() / np.median(away))))


def _volume_below(z: Floats, radii: Floats, level: float) -> float:
    """Volume of the parts of spheres below a level."""
    t = np.clip(level - z, -radii, radii)
    return float((np.pi * (radii**2 * t - t**3 / 3.0) + 2.0 / 3.0 * np.pi * radii**3).sum())


def _tube(inner: float, outer: float, height: float, sides: int = 48) -> Mesh:
    """A cylinder without ends that stands on z = 0."""
    angle = 2.0 * np.pi * np.arange(sides) / sides
    circle = np.stack([np.cos(angle), np.sin(angle)], axis=1)
    profile = [(inner, 0.0), (outer, 0.0), (outer, height), (inner, height)]
    vertices = np.concatenate([np.c_[radius * circle, np.full(sides, z)] for radius, z in profile])
    near = np.arange(sides)
    after = (near + 1) % sides
    faces = []
    for k in range(4):
        a, b = k * sides, (k + 1) % 4 * sides
        faces += [np.stack([a + near, b + after, a + after], 1), np.stack([a + near, b + near, b + after], 1)]
    return Mesh(vertices, np.concatenate(faces).astype(np.int32))


def _ends(name: str, value: Any) -> tuple[float, float]:
    checks.floats(name, value, (), (2,))
    ends = np.asarray(value, np.float64).reshape(-1)
    low, high = float(ends[0]), float(ends[-1])
    if not 0.0 <= low <= high <= 1e3:
        raise ArgumentError(f"{name}: expected one value or (lowest, highest) from 0 to 1000, got {value!r}")
    return low, high
