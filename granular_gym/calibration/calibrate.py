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
from typing import Any

import numpy as np

from granular_gym.base import checks, rng
from granular_gym.calibration.experiments import Experiment
from granular_gym.calibration.grains import Floats, Grains
from granular_gym.errors import ArgumentError, CalibrationError, GranularError

#: what is searched for
PARAMETERS = ("friction", "rolling_friction")
#: candidates of the search that are measured again
_FINALISTS = 4


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
    search = _Search(tests, grains, ends, start, good=0.5 * share)
    search.evolve(differential_evolution, size, generations)
    table, values, scores = search.results()
    best, again = search.measure_again(table[np.argsort(scores, kind="stable")[:_FINALISTS]], fresh)
    fits = scores <= scores.min() + share
    return Calibration(
        friction=float(best[0]),
        rolling_friction=float(best[1]),
        experiments=tuple(test.name for test in tests),
        units=tuple(test.unit for test in tests),
        targets=tuple(float(test.target) for test in tests),
        achieved=tuple(map(float, again.mean(axis=0))),
        uncertainty=tuple(map(float, again.std(axis=0, ddof=1) / math.sqrt(fresh))),
        tolerance=share,
        plausible={n: (float(table[fits, k].min()), float(table[fits, k].max())) for k, n in enumerate(PARAMETERS)},
        candidates=table,
        values=values,
    )


class _Search:
    """The candidates tried so far and what they gave.

    Args:
        tests: experiments.
        grains: all but what is searched for.
        ends: lowest and highest value of each parameter (2, 2).
        start: seed.
        good: the search ends where a candidate misses no target by more, relative.
    """

    def __init__(self, tests: Sequence[Experiment], grains: Grains, ends: Floats, start: int, good: float) -> None:
        self.tests, self.grains, self.ends, self.start, self.good = tests, grains, ends, start, good
        self.targets = np.array([test.target for test in tests])
        self.free = np.flatnonzero(ends[:, 0] < ends[:, 1])
        self.tried: list[Floats] = []
        self.found: list[Floats] = []

    def run(self, table: Floats, seeds: Sequence[int]) -> Floats:
        """What each experiment gives for candidates (n, 2): (n, experiments)."""
        return np.stack([test.measure(self.grains, table, seeds) for test in self.tests], axis=1)

    def misfit(self, values: Floats) -> Floats:
        """Root mean square of the relative errors of (n, experiments): (n,)."""
        return np.sqrt(((values / self.targets - 1.0) ** 2).mean(axis=1))

    def results(self) -> tuple[Floats, Floats, Floats]:
        """Candidates, what they gave, and their misfits."""
        values = np.concatenate(self.found)
        return np.concatenate(self.tried), values, self.misfit(values)

    def evolve(self, differential_evolution: Any, size: int, generations: int) -> None:
        """Tries `size` candidates at a time, up to `generations` times after the first."""
        if not self.free.size:
            self._objective(np.zeros((0, 1)))
            return
        free, ends = self.free, self.ends
        population = np.array([rng.uniform(self.start, 41 + int(k), size) for k in free]).T
        # one in each row and column
        population = (population + np.array([np.argsort(c) for c in population.T]).T) / size
        scaled = ends[free, 0] + np.clip(population, 0.0, 1.0) * (ends[free, 1] - ends[free, 0])
        try:
            differential_evolution(
                self._objective,
                list(map(tuple, ends[free])),
                init=scaled,
                maxiter=generations,
                vectorized=True,
                updating="deferred",
                polish=False,
                tol=0.0,
                atol=0.0,
                callback=self._near_enough,
                rng=np.random.default_rng(self.start),
            )
        except RuntimeError as error:
            # SciPy wraps what an experiment raises
            raise error.__cause__ if isinstance(error.__cause__, GranularError) else error from None

    def measure_again(self, finalists: Floats, fresh: int) -> tuple[Floats, Floats]:
        """The best of a few candidates over fresh starts, and what it gave (fresh, experiments).

        The best of one start may have been lucky.
        """
        seeds = list(range(self.start + 1, self.start + 1 + fresh))
        values = self.run(np.repeat(finalists, fresh, axis=0), seeds * len(finalists))
        values = values.reshape(len(finalists), fresh, len(self.tests))
        winner = int(np.argmin(self.misfit(values.mean(axis=1))))
        return finalists[winner], values[winner]

    def _objective(self, x: Floats) -> Floats:
        """Misfits of candidates by their free parameters (free, n)."""
        table = np.repeat(self.ends[:, :1].T, x.shape[1], axis=0)
        table[:, self.free] = x.T
        # all start alike, so that candidates differ by nothing but themselves
        values = self.run(table, [self.start] * len(table))
        self.tried.append(table)
        self.found.append(values)
        return self.misfit(values)

    def _near_enough(self, *_: Any, **__: Any) -> bool:
        """Whether a candidate meets every target."""
        values = np.concatenate(self.found)
        return bool((np.abs(values / self.targets - 1.0).max(axis=1) <= self.good).any())


def _ends(name: str, value: Any) -> tuple[float, float]:
    checks.floats(name, value, (), (2,))
    ends = np.asarray(value, np.float64).reshape(-1)
    low, high = float(ends[0]), float(ends[-1])
    if not 0.0 <= low <= high <= 1e3:
        raise ArgumentError(f"{name}: expected one value or (lowest, highest) from 0 to 1000, got {value!r}")
    return low, high
