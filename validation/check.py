"""check.py: what a check is: cases that are measured, rows that judge them, a plot that shows them.

A check is three functions. `measure` simulates one case and returns plain numbers and curves; it is the only one that
takes time, and its results are kept (store.py), so that an interrupted run goes on where it stopped. `judge` turns the
results into rows, each with a target and a verdict. `draw` plots the same results.
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
SEEDS = (1, 2, 3)


@dataclasses.dataclass(frozen=True)
class Result:
    """A case that was measured.

    Attributes:
        params: what was simulated: seed, dt [s], spin, and what the check varies.
        values: what came out: numbers and curves.
        seconds: processor time it took [s].
    """

    params: Params
    values: Values
    seconds: float


@dataclasses.dataclass(frozen=True)
class Row:
    """A line of the page.

    Attributes:
        setup: what was simulated, in a few words.
        measure: what was measured, with its unit.
        value: the figure, or None where there is none.
        target: what it should be, in words.
        tolerance: how far off it may be, in words.
        source: of the target.
        verdict: one of PASS, FAIL, REPORT (no target, or a target that is no gate), NOT_RUN, SKIPPED.
        spin: "on", "off" (the model of the GranularGym paper) or "-".
        seed: of the start; "all" for figures over several seeds.
        dt: step [s]; None: several.
        seconds: processor time behind it [s].
        note: a few words more, e.g. why it was skipped.
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
    """Pass where low <= value <= high; a figure that is missing or not finite fails."""
    return PASS if value is not None and math.isfinite(value) and low <= value <= high else FAIL


def from_results(results: Sequence[Result] | Result) -> dict[str, Any]:
    """The columns of a row that follow from what was simulated: spin, seed, dt, seconds."""
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
    """A figure that should equal a target within a tolerance (relative: a share of the target)."""
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
    """A comparison with another code that did not take place."""
    return Row("all", "comparison", None, "-", "-", source, SKIPPED, note=why or "no case was run")


@dataclasses.dataclass(frozen=True)
class Check:
    """A law, or a few that share their simulations.

    Attributes:
        name: on the command line.
        title: on the page.
        about: set-up and law in a few sentences.
        number: in the list of checks this page started from; "" for one of our own.
        cases: what to simulate, from "quick" or "full" and the seeds.
        measure: simulates one case with so many threads.
        judge: rows from what was measured; must cope with missing cases.
        draw: plots it on a matplotlib figure.
        causes: why rows fail, by the beginning of their measure; shown beside them.
        same: quick and full are the same cases.
        available: why it cannot run here, or "".
        panels: width of the plot in panels.
    """

    name: str
    title: str
    about: str
    number: str
    cases: Callable[[str, Sequence[int]], list[Params]]
    measure: Callable[[Params, int], Values]
    judge: Callable[[list[Result]], list[Row]]
    draw: Callable[[Any, list[Result]], None]
    causes: dict[str, str] = dataclasses.field(default_factory=dict)
    same: bool = False
    available: Callable[[], str] = lambda: ""
    panels: int = 1

    def sizes(self) -> tuple[str, ...]:
        """The sizes that it knows."""
        return ("any",) if self.same else ("quick", "full")


def pick(results: Iterable[Result], **wanted: Any) -> list[Result]:
    """Results whose parameters have these values."""
    return [r for r in results if all(r.params.get(k) == v for k, v in wanted.items())]


def groups(results: Iterable[Result], *names: str) -> dict[tuple[Any, ...], list[Result]]:
    """Results by the values of some parameters, in the order they come."""
    found: dict[tuple[Any, ...], list[Result]] = {}
    for r in results:
        found.setdefault(tuple(r.params.get(n) for n in names), []).append(r)
    return found


def mean(results: Sequence[Result], name: str) -> float:
    """Of a value over results."""
    return float(sum(r.values[name] for r in results) / len(results))
