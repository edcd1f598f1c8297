"""check.py: the definition of a check: cases to measure, rows with verdicts, a plot.

A check has three functions. `measure` simulates one case and returns numbers and curves; only it takes time, and its
results are stored (store.py), so that an interrupted run can be resumed. `judge` makes rows of the results, each with a
target and a verdict. `draw` plots the results.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any

Params = dict[str, Any]
Values = dict[str, Any]

PASS, FAIL, REPORT, NOT_RUN, SKIPPED = "pass", "FAIL", "report", "not run", "skipped"
OWN = "own"
#: target of a statement that should hold
YES = "yes"
SEEDS = (1, 2, 3)


@dataclasses.dataclass(frozen=True)
class Result:
    """A measured case.

    Attributes:
        params: parameters of the simulation: seed, dt [s], spin, and those that the check varies.
        values: measured numbers and curves.
        seconds: processor time [s].
    """

    params: Params
    values: Values
    seconds: float


@dataclasses.dataclass(frozen=True)
class Row:
    """A row of a table on the page.

    Attributes:
        setup: the simulation, in a few words.
        measure: the measured quantity, with its unit.
        value: the figure; None: missing.
        target: its target, in words.
        tolerance: tolerance of the target, in words.
        source: source of the target.
        verdict: one of PASS, FAIL, REPORT (no target, or a target that is no gate), NOT_RUN, SKIPPED.
        spin: "on", "off" (the model of the GranularGym paper) or "-".
        seed: of the initial state; "all" for figures over several seeds.
        dt: time step [s]; None: several.
        seconds: processor time of its results [s].
        note: a remark, such as why it was skipped.
    """

    setup: str
    measure: str
    value: float | None
    target: str
    tolerance: str
    source: str
    verdict: str
    spin: str = "on"
    seed: int | str = "all"
    dt: float | None = None
    seconds: float = 0.0
    note: str = ""


def verdict(value: float | None, low: float, high: float) -> str:
    """PASS where low <= value <= high; a figure that is missing or not finite fails."""
    return PASS if value is not None and math.isfinite(value) and low <= value <= high else FAIL


def from_results(results: Sequence[Result] | Result) -> dict[str, Any]:
    """The columns of a row that follow from parameters: spin, seed, dt, seconds."""
    several = [results] if isinstance(results, Result) else list(results)

    def common(name: str, otherwise: Any, missing: Any) -> Any:
        found = {r.params.get(name, missing) for r in several}
        return found.pop() if len(found) == 1 else otherwise

    return {
        "spin": common("spin", "-", "on"),
        "seed": common("seed", "all", "-"),
        "dt": common("dt", None, None),
        "seconds": sum(r.seconds for r in several),
    }


def near(
    results: Sequence[Result] | Result,
    setup: str,
    measure: str,
    value: float | None,
    target: float,
    tolerance: float,
    source: str,
    *,
    relative: bool = False,
    **more: Any,
) -> Row:
    """A figure that should equal a target within a tolerance (relative: a fraction of the target)."""
    width = tolerance * abs(target) if relative else tolerance
    text = f"±{100 * tolerance:g} %" if relative else f"±{tolerance:g}"
    found = verdict(value, target - width, target + width)
    return Row(setup, measure, value, f"{target:.4g}", text, source, found, **{**from_results(results), **more})


def below(
    results: Sequence[Result] | Result,
    setup: str,
    measure: str,
    value: float | None,
    most: float,
    source: str,
    **more: Any,
) -> Row:
    """A figure that should not exceed a bound."""
    found = verdict(value, -math.inf, most)
    return Row(setup, measure, value, f"≤ {most:.4g}", "-", source, found, **{**from_results(results), **more})


def between(
    results: Sequence[Result] | Result,
    setup: str,
    measure: str,
    value: float | None,
    low: float,
    high: float,
    source: str,
    **more: Any,
) -> Row:
    """A figure that should lie in a range."""
    found = verdict(value, low, high)
    target = f"≥ {low:.4g}" if math.isinf(high) else f"{low:.4g} .. {high:.4g}"
    return Row(setup, measure, value, target, "-", source, found, **{**from_results(results), **more})


def holds(
    results: Sequence[Result] | Result, setup: str, measure: str, truth: bool, target: str, source: str, **more: Any
) -> Row:
    """A statement that should be true (value 1)."""
    columns = {**from_results(results), **more}
    return Row(setup, measure, float(truth), target, "-", source, PASS if truth else FAIL, **columns)


def report(
    results: Sequence[Result] | Result, setup: str, measure: str, value: float | None, source: str = OWN, **more: Any
) -> Row:
    """A figure without a gate."""
    return Row(setup, measure, value, "-", "-", source, REPORT, **{**from_results(results), **more})


def skipped(source: str, why: str) -> Row:
    """A comparison with another code that was not run."""
    return Row("all", "comparison", None, "-", "-", source, SKIPPED, note=why or "no case was run")


@dataclasses.dataclass(frozen=True)
class Check:
    """One physical law, or several that share simulations.

    Attributes:
        name: on the command line.
        title: on the page.
        about: set-up and law in a few sentences.
        number: in the list of checks (plan.py); "" for those that came later.
        headline: measure whose values stand for the check on the first page.
        cases: parameters of the cases, from "quick" or "full" and the seeds.
        measure: simulates one case with a number of threads.
        judge: rows of results, of which some may be missing.
        draw: plots results on a matplotlib figure.
        causes: causes of failing rows, by the beginning of their measure.
        same: quick and full have the same cases.
        available: why the check cannot run here, or "".
        panels: width of the plot in panels.
    """

    name: str
    title: str
    about: str
    number: str
    headline: str
    cases: Callable[[str, Sequence[int]], list[Params]]
    measure: Callable[[Params, int], Values]
    judge: Callable[[list[Result]], list[Row]]
    draw: Callable[[Any, list[Result]], None]
    causes: dict[str, str] = dataclasses.field(default_factory=dict)
    same: bool = False
    available: Callable[[], str] = lambda: ""
    panels: int = 1

    def sizes(self) -> tuple[str, ...]:
        """The sets of cases: quick and full, or any."""
        return ("any",) if self.same else ("quick", "full")


def pick(results: Iterable[Result], **wanted: Any) -> list[Result]:
    """Results whose parameters have these values."""
    return [r for r in results if all(r.params.get(k) == v for k, v in wanted.items())]


def groups(results: Iterable[Result], *names: str) -> dict[tuple[Any, ...], list[Result]]:
    """Results by the values of some parameters, in order."""
    found: dict[tuple[Any, ...], list[Result]] = {}
    for r in results:
        found.setdefault(tuple(r.params.get(n) for n in names), []).append(r)
    return found


def mean(results: Sequence[Result], name: str) -> float:
    """Mean of a value over results."""
    return float(sum(r.values[name] for r in results) / len(results))
