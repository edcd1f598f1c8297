"""calibrate.py: fits friction and rolling friction, so that simulated grains reproduce measurements.

An experiment simulates many candidates at once, one in each env; SciPy's differential evolution proposes them. The best
few are then measured again from other initial states, so that the result does not depend on one of them. One target
does not determine two coefficients: `plausible` is the range of the candidates that fit equally well.

Lengths are measured in grain radii r, times in sqrt(r / g): a calibration costs the same for sand and for gravel.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from granular_gym.base import checks, rng
from granular_gym.base.types import Floats
from granular_gym.calibration.experiments import Experiment
from granular_gym.calibration.grains import Grains
from granular_gym.errors import ArgumentError, CalibrationError, GranularError, MissingError

#: the coefficients that are fitted
PARAMETERS = ("friction", "rolling_friction")
#: best candidates of the search, which are measured again
_FINALISTS = 4


@dataclasses.dataclass(frozen=True)
class Calibration:
    """The result of a calibration.

    Attributes:
        friction: coefficient for all pairs of materials.
        rolling_friction: likewise.
        experiments: their names; the next four fields have this order.
        units: unit of each experiment's target.
        targets: target of each experiment.
        achieved: value of each experiment, the mean over `repeats` initial states.
        uncertainty: standard error of that mean.
        tolerance: relative error up to which a target counts as met.
        plausible: lowest and highest value of each coefficient among the candidates whose misfit (root mean square of
            the relative errors) exceeds the least one by at most the tolerance.
        candidates: all that were simulated (n, 2): friction, rolling friction.
        values: their values (n, experiments).
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
        """Number of candidates that were simulated."""
        return len(self.candidates)

    @property
    def misses(self) -> tuple[float, ...]:
        """Relative error of each experiment: achieved over target, minus one."""
        return tuple(a / t - 1.0 for a, t in zip(self.achieved, self.targets, strict=True))

    @property
    def met(self) -> bool:
        """Whether every target is met within the tolerance."""
        return all(abs(miss) <= self.tolerance for miss in self.misses)

    def require(self) -> Calibration:
        """Returns itself, or raises.

        Raises:
            CalibrationError: a target is not met; the message says how close it came.
        """
        if not self.met:
            raise CalibrationError(self.describe())
        return self

    def describe(self) -> str:
        """The result as a few lines of text."""
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
    """Searches for the friction and rolling friction that meet the targets of some experiments.

    Args:
        experiments: one or more of `ReposeAngle`, `BulkDensity`, `DischargeRate` or other `Experiment` objects.
        grains: the other properties of the grains.
        friction: (lowest, highest) of the search, or one fixed value.
        rolling_friction: likewise.
        tolerance: relative; the search ends early where a candidate meets every target within half of it.
        candidates: number simulated at once, >= 5.
        rounds: most rounds of candidates after the first one, >= 0.
        repeats: initial states over which the best candidates are measured again, >= 2.
        seed: of the initial states and the search, >= 0.

    Raises:
        ArgumentError: an invalid value, or an experiment that does not give a finite number for each candidate.
        MissingError: SciPy is not installed (pip install "granular_gym[calibrate]").

    Returns:
        The best candidate, whether or not it meets the targets: see `Calibration.met` and `Calibration.require`.
    """
    try:
        from scipy.optimize import differential_evolution  # type: ignore[import-untyped, unused-ignore]
    except ImportError:
        raise MissingError('calibrate needs SciPy: pip install "granular_gym[calibrate]"') from None
    tests: list[Experiment] = list(experiments) if isinstance(experiments, Sequence) else [experiments]
    if not tests:
        raise ArgumentError("experiments: expected at least one, got none")
    for test in tests:
        if not all(hasattr(test, name) for name in ("target", "name", "unit", "measure")):
            raise ArgumentError(f"experiments: expected experiments such as ReposeAngle, got {test!r}")
    checks.instance("grains", grains, Grains)
    relative = checks.number("tolerance", tolerance, 0.0, 1.0, above=True)
    size = checks.integer("candidates", candidates, 5, 4096)
    generations = checks.integer("rounds", rounds, 0, 10_000)
    repeats = checks.integer("repeats", repeats, 2, 4096)
    seed = checks.integer("seed", seed, 0, 2**31 - 1)
    bounds = np.array([_bounds(n, v) for n, v in zip(PARAMETERS, (friction, rolling_friction), strict=True)])
    search = _Search(tests, grains, bounds, seed, tolerance=0.5 * relative)
    search.evolve(differential_evolution, size, generations)
    table, values, misfits = search.results()
    best, achieved = search.measure_again(table[np.argsort(misfits, kind="stable")[:_FINALISTS]], repeats)
    fits = misfits <= misfits.min() + relative
    return Calibration(
        friction=float(best[0]),
        rolling_friction=float(best[1]),
        experiments=tuple(test.name for test in tests),
        units=tuple(test.unit for test in tests),
        targets=tuple(float(test.target) for test in tests),
        achieved=tuple(map(float, achieved.mean(axis=0))),
        uncertainty=tuple(map(float, achieved.std(axis=0, ddof=1) / math.sqrt(repeats))),
        tolerance=relative,
        plausible={n: (float(table[fits, k].min()), float(table[fits, k].max())) for k, n in enumerate(PARAMETERS)},
        candidates=table,
        values=values,
    )


class _Search:
    """The candidates tried so far and their values.

    Args:
        tests: the experiments.
        grains: the properties of the grains that are not fitted.
        bounds: lowest and highest value of each parameter (2, 2).
        seed: of the initial states and the search.
        tolerance: the search ends where a candidate meets every target within this relative error.
    """

    def __init__(
        self, tests: Sequence[Experiment], grains: Grains, bounds: Floats, seed: int, tolerance: float
    ) -> None:
        self.tests, self.grains, self.bounds, self.seed, self.tolerance = tests, grains, bounds, seed, tolerance
        self.targets = np.array([test.target for test in tests])
        self.free = np.flatnonzero(bounds[:, 0] < bounds[:, 1])
        self.tried: list[Floats] = []
        self.found: list[Floats] = []

    def run(self, table: Floats, seeds: Sequence[int]) -> Floats:
        """Values (n, experiments) of candidates (n, 2).

        Raises:
            ArgumentError: an experiment does not give a finite number for each; the message names it.
        """
        return np.stack([_values(test, test.measure(self.grains, table, seeds), len(table)) for test in self.tests], 1)

    def misfit(self, values: Floats) -> Floats:
        """Root mean square of the relative errors (n,) of values (n, experiments)."""
        result: Floats = np.sqrt(((values / self.targets - 1.0) ** 2).mean(axis=1))
        return result

    def results(self) -> tuple[Floats, Floats, Floats]:
        """All candidates (n, 2), their values (n, experiments) and their misfits (n,)."""
        values = np.concatenate(self.found)
        return np.concatenate(self.tried), values, self.misfit(values)

    def evolve(self, differential_evolution: Any, size: int, generations: int) -> None:
        """Simulates `size` candidates at a time: once, and up to `generations` times more."""
        if not self.free.size:
            self._objective(np.zeros((0, 1)))
            return
        free, bounds = self.free, self.bounds
        population = np.array([rng.uniform(self.seed, 41 + int(k), size) for k in free]).T
        # Latin hypercube sampling: one candidate in each interval of each parameter
        population = (population + np.array([np.argsort(c) for c in population.T]).T) / size
        scaled = bounds[free, 0] + np.clip(population, 0.0, 1.0) * (bounds[free, 1] - bounds[free, 0])
        try:
            differential_evolution(
                self._objective,
                list(map(tuple, bounds[free])),
                init=scaled,
                maxiter=generations,
                vectorized=True,
                updating="deferred",
                polish=False,
                tol=0.0,
                atol=0.0,
                callback=self._near_enough,
                rng=np.random.default_rng(self.seed),
            )
        except RuntimeError as error:
            # SciPy wraps exceptions of the objective
            raise error.__cause__ if isinstance(error.__cause__, GranularError) else error from None

    def measure_again(self, finalists: Floats, repeats: int) -> tuple[Floats, Floats]:
        """The best of some candidates by its mean over other initial states, and its values (repeats, experiments).

        The least of many noisy misfits is biased towards zero: it has to be measured again.
        """
        seeds = list(range(self.seed + 1, self.seed + 1 + repeats))
        values = self.run(np.repeat(finalists, repeats, axis=0), seeds * len(finalists))
        values = values.reshape(len(finalists), repeats, len(self.tests))
        winner = int(np.argmin(self.misfit(values.mean(axis=1))))
        return finalists[winner], values[winner]

    def _objective(self, x: Floats) -> Floats:
        """Misfits (n,) of candidates, given by their free parameters (free, n)."""
        table = np.repeat(self.bounds[:, :1].T, x.shape[1], axis=0)
        table[:, self.free] = x.T
        # the same initial state for all, so that values differ by the parameters only
        values = self.run(table, [self.seed] * len(table))
        self.tried.append(table)
        self.found.append(values)
        return self.misfit(values)

    def _near_enough(self, *_: Any, **__: Any) -> bool:
        """Whether a candidate meets every target; ends the search."""
        values = np.concatenate(self.found)
        return bool((np.abs(values / self.targets - 1.0).max(axis=1) <= self.tolerance).any())


def _values(test: Experiment, measured: Any, count: int) -> Floats:
    """What an experiment measured, one finite number for each candidate."""
    try:
        values = np.asarray(measured, np.float64)
    except (TypeError, ValueError):
        values = np.zeros(0)
    if values.shape != (count,):
        raise ArgumentError(f"experiments: expected {count} numbers of {test.name!r}, got {_short(measured)}")
    wrong = values[~np.isfinite(values)]
    if len(wrong):
        got = f"{wrong[0]} for {len(wrong)} of {count} candidates"
        raise ArgumentError(f"experiments: expected finite numbers of {test.name!r}, got {got}")
    return values


def _short(value: Any) -> str:
    """A value for a message: arrays by their shape."""
    return f"shape {value.shape}" if isinstance(value, np.ndarray) else repr(value)[:100]


def _bounds(name: str, value: Any) -> tuple[float, float]:
    """Lowest and highest value of a search; equal for a fixed value."""
    checks.floats(name, value, (), (2,))
    bounds = np.asarray(value, np.float64).reshape(-1)
    low, high = float(bounds[0]), float(bounds[-1])
    if not 0.0 <= low <= high <= 1e3:
        raise ArgumentError(f"{name}: expected one value or (lowest, highest) from 0 to 1000, got {value!r}")
    return low, high
